//! Lines that leave a store again: scrubbed, made private, no longer shared, or just gone.

use crate::laptops::{API, Kind, Team, git, kinds};

// S-SYNC-7
#[test]
fn what_is_scrubbed_is_replaced_everywhere() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let lines = [ana.write("the key is hunter2"), ana.write("other")];
        ana.sync();
        bo.sync();
        assert_eq!(bo.mirror(&ana.origin()), lines);
        ana.change(API, |text| text.replace("hunter2", "[REDACTED:password]"));
        let report = ana.sync();
        assert_eq!((report.pushed, report.withdrawn), (1, 1), "{kind:?} {:?}", report.trouble);
        let report = bo.sync();
        assert_eq!((report.fetched, &report.trouble[..]), (1, &[][..]));
        let masked = lines[0].replace("hunter2", "[REDACTED:password]");
        assert_eq!(bo.mirror(&ana.origin()), [lines[1].clone(), masked]);
        if kind == Kind::Git {
            let history = git(&team.remote_path(), &["rev-list", "--all", "--count"], "");
            assert_eq!(history, "1", "the history went, too");
        }
    }
}

// S-SYNC-7
#[test]
fn what_becomes_private_or_unshared_goes() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (mut ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let (first, second) = (ana.write("one"), ana.write("two"));
        ana.sync();
        bo.sync();
        ana.write_line(API, &first.replace("\"lesson\"", "\"private\":true,\"lesson\""));
        assert_eq!(ana.sync().withdrawn, 1);
        bo.sync();
        assert_eq!(bo.mirror(&ana.origin()), [second], "{kind:?}");
        ana.policy.share.clear();
        assert_eq!(ana.sync().withdrawn, 1);
        bo.sync();
        assert!(bo.mirror(&ana.origin()).is_empty(), "{kind:?}");
    }
}

// S-SYNC-7
#[test]
fn what_is_just_gone_stays_and_is_told() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let lines = [ana.write("one"), ana.write("two")];
        ana.sync();
        bo.sync();
        ana.change(API, |text| text.lines().skip(1).map(|line| format!("{line}\n")).collect());
        ana.sync();
        let report = bo.sync();
        assert_eq!(bo.mirror(&ana.origin()), lines, "{kind:?}");
        assert!(
            report.trouble[0].contains("1 line of github.com/acme/api: gone there"),
            "{report:?}"
        );
        assert!(bo.sync().trouble.is_empty(), "it is told once");
    }
}

// S-SYNC-7
#[test]
fn a_log_that_is_gone_takes_nothing_from_others() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let lines = [ana.write("one"), ana.write("two")];
        ana.sync();
        bo.sync();
        std::fs::remove_file(ana.store.root().join(API)).unwrap();
        let report = ana.sync();
        assert_eq!((report.withdrawn, report.pushed), (0, 0), "{kind:?}");
        assert!(report.trouble[0].contains("is gone from this store"), "{report:?}");
        bo.sync();
        assert_eq!(bo.mirror(&ana.origin()), lines, "{kind:?}");
        let cy = team.laptop("cy");
        assert_eq!(cy.sync().fetched, 2, "{kind:?}");
        std::fs::write(ana.store.root().join(API), lines.map(|line| line + "\n").concat()).unwrap();
        assert!(ana.sync().trouble.is_empty(), "{kind:?}");
    }
}

// S-SYNC-7
#[test]
fn what_is_shared_again_is_not_withdrawn_any_more() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (mut ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let lines = [ana.write("one"), ana.write("two")];
        let share = ana.policy.share.clone();
        for share in [share.clone(), Vec::new(), share] {
            ana.policy.share = share;
            ana.sync();
            let report = bo.sync();
            assert_eq!(report.dropped, if ana.policy.share.is_empty() { 2 } else { 0 });
        }
        ana.change(API, |_| String::new());
        ana.sync();
        bo.sync();
        assert_eq!(bo.mirror(&ana.origin()), lines, "{kind:?}");
    }
}

/// Lets the remote decide about each push by a command.
fn refuse_by(team: &Team, command: &str) -> std::path::PathBuf {
    let hook = team.remote_path().join("hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n{command}\n")).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    hook
}

// S-SYNC-7
#[test]
fn a_remote_that_keeps_its_history_is_told() {
    let team = Team::new(Kind::Git);
    let check = "case $2 in 0000*) exit 0;; esac; git merge-base --is-ancestor $2 $3";
    refuse_by(&team, check);
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    ana.write("hunter2");
    ana.sync();
    ana.change(API, |text| text.replace("hunter2", "[REDACTED:password]"));
    let report = ana.sync();
    assert_eq!((report.pushed, report.withdrawn, report.waiting), (1, 1, None));
    assert!(report.trouble[0].contains("drops no history"), "{:?}", report.trouble);
    bo.sync();
    assert!(bo.mirror(&ana.origin())[0].contains("[REDACTED:password]"));
    assert!(ana.sync().trouble.is_empty());
}

// S-SYNC-9
#[test]
fn lines_that_are_refused_wait() {
    let team = Team::new(Kind::Git);
    let hook = refuse_by(&team, "exit 1");
    let mut ana = team.laptop("ana");
    ana.write("one");
    let report = ana.sync();
    assert_eq!((report.pushed, report.waiting.unwrap().lines), (0, 1));
    assert!(report.trouble[0].contains("refused our lines"), "{:?}", report.trouble);
    std::fs::remove_file(hook).unwrap();
    let report = ana.sync();
    assert_eq!((report.pushed, report.waiting), (1, None));
    // That a line should go waits, too.
    refuse_by(&team, "exit 1");
    ana.policy.share.clear();
    let report = ana.sync();
    assert_eq!((report.withdrawn, report.waiting.unwrap().lines), (0, 0));
}
