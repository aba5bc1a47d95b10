//! Rounds of several machines, and what happens without a network, without the cache, and without the remote.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use sync::Consent;

use crate::laptops::{API, Kind, Laptop, Team, git, kinds, noon};

fn assert_equal(laptops: &[&Laptop]) {
    let first = laptops[0].all_lines();
    assert!(first.values().all(|count| *count == 1), "{first:?}");
    for laptop in laptops {
        assert_eq!(laptop.all_lines(), first, "{}", laptop.host);
    }
}

// S-SYNC-4, S-SYNC-6
#[test]
fn many_stores_end_with_the_same_lines() {
    for kind in kinds() {
        let team = Team::new(kind);
        let laptops: Vec<Laptop> =
            ["ana", "bo", "cy", "di"].iter().map(|host| team.laptop(host)).collect();
        for round in 0..3 {
            for laptop in &laptops {
                for lesson in 0..5 {
                    laptop.write(&format!("{} {round} {lesson}", laptop.host));
                }
                laptop.sync();
            }
        }
        let reports: Vec<usize> = laptops.iter().map(|laptop| laptop.sync().fetched).collect();
        assert_eq!(
            reports,
            [15, 10, 5, 0],
            "{kind:?}: what the later ones wrote in the last round"
        );
        let all: Vec<&Laptop> = laptops.iter().collect();
        assert_equal(&all);
        assert_eq!(all[0].all_lines().len(), 60);
        for laptop in &laptops {
            let report = laptop.sync();
            assert_eq!((report.pushed, report.fetched), (0, 0));
            assert_eq!((report.waiting, report.trouble), (None, Vec::<String>::new()));
        }
    }
}

// S-SYNC-1, S-SYNC-2
#[test]
fn the_dry_run_tells_the_very_lines() {
    for kind in kinds() {
        let team = Team::new(kind);
        let ana = team.laptop("ana");
        let first = ana.write("one");
        ana.write_line("gitlab.com+ana+notes.jsonl", r#"{"id":"n1","lesson":"mine"}"#);
        let preview = ana.preview();
        assert_eq!(preview.lines.iter().map(|(_, line)| line).collect::<Vec<_>>(), [&first]);
        assert_eq!(preview.to_agree.len(), 1);
        assert!(ana.store.origin().unwrap().is_none(), "nothing was changed");
        ana.sync();
        assert!(ana.preview().lines.is_empty());
        let second = ana.write("two");
        let preview = ana.preview();
        assert_eq!(preview.lines.iter().map(|(_, line)| line).collect::<Vec<_>>(), [&second]);
        assert!(preview.to_agree.is_empty());
        let bo = team.laptop("bo");
        ana.sync();
        bo.sync();
        assert_eq!(bo.mirror(&ana.origin()), [first, second]);
        assert_eq!(bo.all_lines().len(), 2);
    }
}

// S-SYNC-9
#[test]
fn lines_wait_for_a_remote_that_does_not_answer() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        ana.write("before");
        ana.sync();
        team.take_remote_away();
        let lines = [ana.write("one"), ana.write("two")];
        let report = ana.sync();
        let waiting = report.waiting.unwrap();
        assert_eq!((report.is_reached, waiting.lines, waiting.since), (false, 2, noon()));
        assert_eq!(report.trouble.len(), 1, "{:?}", report.trouble);
        ana.now.set(noon() + SignedDuration::from_hours(1));
        ana.write("three");
        let waiting = ana.sync().waiting.unwrap();
        assert_eq!((waiting.lines, waiting.since), (3, noon()), "since the first try");
        team.bring_remote_back();
        let report = ana.sync();
        assert_eq!((report.is_reached, report.pushed, report.waiting), (true, 3, None));
        bo.sync();
        assert!(lines.iter().all(|line| bo.mirror(&ana.origin()).contains(line)));
    }
}

// S-SYNC-9
#[test]
fn a_lost_cache_costs_only_a_look() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        for laptop in [&ana, &bo, &ana] {
            laptop.write("one");
            laptop.sync();
        }
        let (origin, before) = (ana.origin(), ana.all_lines());
        ana.forget_cache();
        let report = ana.sync();
        assert_eq!((report.pushed, report.fetched, report.renewed_from), (0, 0, None), "{kind:?}");
        assert_eq!((ana.origin(), ana.all_lines()), (origin.clone(), before));
        // What it published without its history goes on, too.
        ana.forget_cache();
        ana.write("two");
        let report = ana.sync();
        assert_eq!((report.pushed, report.renewed_from, &report.trouble[..]), (1, None, &[][..]));
        bo.sync();
        assert_equal(&[&ana, &bo]);
        std::fs::remove_dir_all(ana.store.root().join("team")).unwrap();
        assert_eq!(ana.sync().fetched, 1, "a mirror comes back");
        assert_equal(&[&ana, &bo]);
    }
}

// S-SYNC-9
#[test]
fn a_lost_record_is_no_copy() {
    for kind in kinds() {
        let team = Team::new(kind);
        let ana = team.laptop("ana");
        ana.write("one");
        ana.sync();
        std::fs::remove_file(ana.store.root().join(".sync.json")).unwrap();
        ana.forget_cache();
        ana.change(API, |text| text.replace("one", "changed"));
        let report = ana.sync();
        assert_eq!(
            (report.renewed_from, report.pushed, report.withdrawn),
            (None, 1, 1),
            "{kind:?}"
        );
    }
}

// S-SYNC-9
#[test]
fn a_damaged_cache_is_made_anew() {
    let team = Team::new(Kind::Git);
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    ana.write("one");
    ana.sync();
    bo.write("two");
    bo.sync();
    let repository = ana.cache.join("sync").join(format!("{}.git", ana.remote.hash()));
    let tip = git(&repository, &["for-each-ref", "--format=%(objectname)"], "");
    let (folder, name) = tip.split_at(2);
    let object = repository.join("objects").join(folder).join(name);
    std::fs::remove_file(&object).unwrap();
    std::fs::write(&object, "").unwrap();
    // A git that was killed leaves these.
    std::fs::write(repository.join("shallow.lock"), "").unwrap();
    ana.write("three");
    let report = ana.sync();
    assert_eq!((report.pushed, report.fetched, report.renewed_from), (1, 1, None));
    bo.sync();
    assert_equal(&[&ana, &bo]);
}

// S-SYNC-9
#[test]
fn a_lost_remote_heals_from_the_machines() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        for laptop in [&ana, &bo] {
            laptop.write("one");
            laptop.sync();
            laptop.write("two");
            laptop.sync();
        }
        // One has its history, the other one only what it fetched.
        bo.forget_cache();
        bo.sync();
        team.lose_remote();
        for laptop in [&ana, &bo] {
            let report = laptop.sync();
            assert_eq!((report.pushed, &report.trouble[..]), (2, &[][..]), "{kind:?}");
        }
        let cy = team.laptop("cy");
        assert_eq!(cy.sync().fetched, 4);
        ana.sync();
        assert_equal(&[&ana, &bo, &cy]);
    }
}

// S-SYNC-8
#[test]
fn more_lines_than_a_day_allows_wait() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let line = |n: usize| format!("{{\"id\":\"a{n}\",\"lesson\":\"x{n}\"}}\n");
        // Whoever joins takes the past at once.
        let write = |lines: std::ops::Range<usize>| {
            let text: String = lines.map(line).collect();
            std::fs::write(ana.store.root().join(API), text).unwrap();
        };
        write(0..100);
        assert_eq!(ana.sync().pushed, 100);
        assert_eq!(bo.sync().fetched, 100);
        bo.now.set(noon() + SignedDuration::from_hours(24));
        write(0..10_150);
        assert_eq!(ana.sync().pushed, 10_050);
        let report = bo.sync();
        assert_eq!((report.fetched, report.held), (10_000, vec![(ana.origin(), 50)]));
        let report = bo.sync();
        assert_eq!(report.fetched, 0);
        assert!(report.trouble[0].contains("no more lines are taken today"), "{report:?}");
        bo.now.set(noon() + SignedDuration::from_hours(48));
        let report = bo.sync();
        assert_eq!((report.fetched, report.held), (50, Vec::new()));
        let distinct: BTreeSet<String> = bo.mirror(&ana.origin()).into_iter().collect();
        assert_eq!((distinct.len(), bo.mirror(&ana.origin()).len()), (10_150, 10_150));
    }
}

// S-SYNC-9
#[test]
fn an_origin_that_fell_silent_is_told() {
    let team = Team::new(Kind::Folder);
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    ana.write("one");
    ana.sync();
    bo.sync();
    let written = bo.store.mirror_of(&ana.origin(), API).metadata().unwrap().modified().unwrap();
    let written = jiff::Timestamp::try_from(written).unwrap();
    bo.now.set(written + SignedDuration::from_hours(13 * 24));
    assert!(bo.sync().silent.is_empty());
    bo.now.set(written + SignedDuration::from_hours(15 * 24));
    assert_eq!(bo.sync().silent, [(ana.origin(), written)]);
}

// S-SYNC-1
#[test]
fn a_store_that_shares_nothing_still_receives() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, mut bo) = (team.laptop("ana"), team.laptop("bo"));
        ana.write("one");
        ana.sync();
        bo.policy.share.clear();
        bo.write("mine");
        let report = bo.try_sync(Consent::Given).unwrap();
        assert_eq!((report.pushed, report.fetched), (0, 1));
        assert_eq!(ana.sync().fetched, 0);
        assert!(ana.store.mirrors().unwrap().is_empty());
    }
}

// S-SYNC-1
#[test]
fn a_wider_share_brings_what_was_skipped() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, mut bo) = (team.laptop("ana"), team.laptop("bo"));
        let line = ana.write("one");
        ana.write_line("github.com+acme+web.jsonl", r#"{"id":"w1","lesson":"x"}"#);
        ana.sync();
        bo.policy.share = vec!["github.com/acme/web".to_owned()];
        assert_eq!((bo.sync().fetched, bo.sync().fetched), (1, 0), "{kind:?}");
        assert!(bo.mirror(&ana.origin()).is_empty(), "{kind:?}");
        bo.policy.share = vec!["github.com/acme/*".to_owned()];
        assert_eq!((bo.sync().fetched, bo.sync().fetched), (1, 0), "{kind:?}");
        assert_eq!(bo.mirror(&ana.origin()), [line], "{kind:?}");
    }
}

// S-SYNC-1, S-SYNC-7
#[test]
fn a_narrower_share_still_drops() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, mut bo) = (team.laptop("ana"), team.laptop("bo"));
        ana.write("the key is hunter2");
        let other = ana.write("other");
        ana.sync();
        bo.sync();
        bo.policy.share = vec!["github.com/acme/web".to_owned()];
        assert_eq!((bo.sync().fetched, bo.mirror(&ana.origin()).len()), (0, 2), "{kind:?}");
        ana.change(API, |text| text.replace("hunter2", "[REDACTED:password]"));
        let third = ana.write("three");
        ana.sync();
        let report = bo.sync();
        assert_eq!((report.dropped, report.fetched, report.held), (1, 0, Vec::new()), "{kind:?}");
        assert_eq!(bo.mirror(&ana.origin()), [other.as_str()], "{kind:?}");
        // What is just gone from a log that is not wanted is no news, however often the origin publishes.
        ana.change(API, |text| text.replace(&format!("{other}\n"), ""));
        for round in 0..2 {
            ana.write_line(
                "github.com+acme+x.jsonl",
                &format!(r#"{{"id":"x{round}","lesson":"x"}}"#),
            );
            ana.sync();
            assert_eq!(bo.sync().trouble, Vec::<String>::new(), "{kind:?}");
        }
        // A mirror that was deleted does not come back, and everything does once it is shared.
        std::fs::remove_file(bo.store.mirror_of(&ana.origin(), API)).unwrap();
        assert_eq!((bo.sync().fetched, bo.sync().trouble), (0, Vec::new()), "{kind:?}");
        bo.policy.share = vec!["github.com/acme/*".to_owned()];
        assert_eq!(bo.sync().fetched, 4, "{kind:?}");
        assert!(bo.mirror(&ana.origin()).contains(&third), "{kind:?}");
    }
}
