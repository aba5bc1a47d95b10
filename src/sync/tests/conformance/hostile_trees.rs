//! What a member of the team, or somebody with their key, could publish: none of it is followed, and no other origin's part
//! suffers. The mirror of the pusher is all that a pusher can write.

use event::StoreOrigin;

use sync::Consent;

use crate::laptops::{API, Kind, Team, api, git, kinds};

fn mallory() -> StoreOrigin {
    StoreOrigin::mint("mallory", 7)
}

const LINE: &[u8] = b"{\"id\":\"m1\",\"lesson\":\"of mallory\"}\n";
const SEGMENT: &str = "github.com+acme+api/000000.jsonl";

// S-SYNC-6
#[test]
fn forged_lines_stay_in_the_mirror_of_their_origin() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let line = ana.write("true");
        ana.sync();
        let forged = line.replace("true", "false").replace("2026-03-04", "2020-01-01");
        let other = r#"{"id":"x","repo":"github.com/acme/web","host":"ana","lesson":"planted"}"#;
        let text = format!("{forged}\n{other}\n");
        team.publish(&mallory(), &[("FORMAT", b"1\n"), (SEGMENT, text.as_bytes())]);
        for laptop in [&ana, &bo] {
            laptop.sync();
            assert_eq!(laptop.mirror(&mallory()), [forged.as_str(), other], "{kind:?}");
        }
        assert_eq!(bo.mirror(&ana.origin()), [line.as_str()]);
        let own = std::fs::read_to_string(ana.store.root().join(API)).unwrap();
        assert_eq!(own, format!("{line}\n"));
        let web = event::RepoKey::parse("github.com/acme/web").unwrap();
        assert!(!bo.store.mirror_of(&mallory(), &web.file_name()).exists());
    }
}

// S-SYNC-3
#[test]
fn nobody_agrees_for_another() {
    for kind in kinds() {
        let team = Team::new(kind);
        let ana = team.laptop("ana");
        ana.write("one");
        ana.try_sync(Consent::AsBefore).unwrap();
        // An empty segment looks as if lines had been there before.
        team.publish(&ana.origin(), &[("FORMAT", b"1\n"), (SEGMENT, b"")]);
        for _ in 0..2 {
            let report = ana.try_sync(Consent::AsBefore).unwrap();
            assert_eq!((report.pushed, report.to_agree.len()), (0, 1), "{kind:?}");
        }
    }
}

// S-SYNC-1, S-SYNC-6
#[test]
fn only_repositories_that_are_shared_are_taken() {
    for kind in kinds() {
        let team = Team::new(kind);
        let mut ana = team.laptop("ana");
        let files: [(&str, &[u8]); 5] = [
            ("FORMAT", b"1\n"),
            (SEGMENT, LINE),
            ("global/000000.jsonl", LINE),
            ("github.com+me+own/000000.jsonl", LINE),
            ("api~0123abcd/000000.jsonl", LINE),
        ];
        team.publish(&mallory(), &files);
        assert_eq!(ana.sync().fetched, 1, "{kind:?}");
        assert_eq!(ana.store.mirrors().unwrap(), [ana.store.mirror_of(&mallory(), API)]);
        ana.policy.share = vec!["global".to_owned()];
        team.publish(&mallory(), &[&files[..], &[("x/000000.jsonl", LINE)]].concat());
        assert_eq!(ana.sync().fetched, 1, "{kind:?}");
    }
}

// S-SYNC-6, S-SYNC-9
#[test]
fn an_unreadable_own_part_cuts_nobody_off() {
    let team = Team::new(Kind::Git);
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    let line = ana.write("one");
    ana.sync();
    bo.write("of bo");
    bo.sync();
    let (before, remote) = (ana.origin(), team.remote_path());
    let blob = git(&remote, &["hash-object", "-w", "--stdin"], "x\n");
    // A check of what is fetched refuses this name.
    let tree = git(&remote, &["mktree"], &format!("100644 blob {blob}\t.git\n"));
    let commit = git(&remote, &["commit-tree", &tree, "-m", "x"], "");
    let reference = format!("refs/agent-knowledge/v1/{}", before.as_str());
    git(&remote, &["update-ref", &reference, &commit], "");
    let report = ana.sync();
    assert_eq!((report.fetched, report.renewed_from), (1, Some(before)), "{:?}", report.trouble);
    bo.sync();
    assert_eq!(bo.mirror(&ana.origin()), [line]);
}

// S-SYNC-4
#[test]
fn nothing_is_written_through_a_link_of_a_folder() {
    let team = Team::new(Kind::Folder);
    let ana = team.laptop("ana");
    let folder = team.remote_path().join("agent-knowledge/v1");
    let origin = ana.store.ensure_origin("ana", 1).unwrap();
    std::fs::create_dir_all(folder.join(origin.as_str())).unwrap();
    let target = team.folder.path().join("precious");
    std::fs::write(&target, "kept").unwrap();
    std::os::unix::fs::symlink(&target, folder.join(origin.as_str()).join("TREE.new")).unwrap();
    ana.write("one");
    assert_eq!(ana.sync().pushed, 1);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
}

// S-SYNC-6
#[test]
fn names_that_no_store_gives_are_skipped() {
    for kind in kinds() {
        let team = Team::new(kind);
        let ana = team.laptop("ana");
        let big = vec![b'x'; 5 * 1024 * 1024];
        team.publish(
            &mallory(),
            &[
                ("FORMAT", b"1\n"),
                ("README", b"x"),
                ("X/000000.jsonl", LINE),
                ("api/0.jsonl", LINE),
                ("api/a/000000.jsonl", LINE),
                ("api/000001.jsonl", &big),
                (SEGMENT, LINE),
            ],
        );
        let report = ana.sync();
        assert_eq!(report.fetched, 1, "{kind:?}");
        assert!(report.trouble[0].contains("5 files left out"), "{:?}", report.trouble);
        assert_eq!(ana.store.mirrors().unwrap(), [ana.store.mirror_of(&mallory(), API)]);
    }
}

// S-SYNC-6
#[test]
fn a_form_that_is_not_known_is_left() {
    for kind in kinds() {
        for format in [&b"2\n"[..], b"1", b"much too long"] {
            let team = Team::new(kind);
            let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
            team.publish(&mallory(), &[("FORMAT", format), (SEGMENT, LINE)]);
            bo.write("fine");
            bo.sync();
            let report = ana.sync();
            let is_reported =
                report.trouble.iter().any(|trouble| trouble.contains("nothing is taken"));
            assert!(is_reported, "{:?}", report.trouble);
            assert_eq!((report.fetched, ana.mirror(&bo.origin()).len()), (1, 1), "{kind:?}");
            assert!(ana.mirror(&mallory()).is_empty());
        }
    }
}

// S-SYNC-6
#[test]
fn a_tree_with_too_many_entries_is_left() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let paths: Vec<String> = (0..20_001).map(|n| format!("api/{n:06}.jsonl")).collect();
        let mut files: Vec<(&str, &[u8])> = vec![("FORMAT", b"1\n")];
        // Git writes each file with a call of its own, so there it is made by hand below.
        let is_stream = kind == Kind::Nats;
        if is_stream {
            {
                let names: Vec<String> =
                    (0..20_001).map(|n| format!("log{n:05}/000000.jsonl")).collect();
                files.extend(names.iter().map(|name| (name.as_str(), LINE)));
                team.server.borrow().as_ref().unwrap().publish(&mallory(), &files);
            }
        } else if kind == Kind::Folder {
            let origin = team.remote_path().join("agent-knowledge/v1").join(mallory().as_str());
            std::fs::create_dir_all(&origin).unwrap();
            let sum = "0".repeat(64);
            let tree: String = paths.iter().map(|path| format!("{sum} 1 {path}\n")).collect();
            std::fs::write(origin.join("TREE"), tree).unwrap();
        } else {
            files.push((SEGMENT, LINE));
            team.publish(&mallory(), &files);
            let remote = team.remote_path();
            let blob = git(&remote, &["hash-object", "-w", "--stdin"], "x\n");
            let names = (0..1_000).map(|n| format!("100644 blob {blob}\t{n:06}.jsonl\n"));
            let log = git(&remote, &["mktree"], &names.collect::<String>());
            // A million entries of three objects.
            let logs = (0..1_000).map(|n| format!("040000 tree {log}\tlog{n:04}\n"));
            let tree = git(&remote, &["mktree"], &logs.collect::<String>());
            set(&team, &git(&remote, &["commit-tree", &tree, "-m", "x"], ""));
        }
        bo.write("fine");
        bo.sync();
        let report = ana.sync();
        assert!(report.trouble.iter().any(|trouble| trouble.starts_with("mallory")), "{report:?}");
        assert_eq!((report.fetched, ana.mirror(&mallory()).len()), (1, 0), "{kind:?}");
    }
}

fn set(team: &Team, object: &str) {
    let reference = format!("refs/agent-knowledge/v1/{}", mallory().as_str());
    git(&team.remote_path(), &["update-ref", &reference, object], "");
}

// S-SYNC-6
#[test]
fn links_and_submodules_of_a_tree_are_skipped() {
    let team = Team::new(Kind::Git);
    let (ana, remote) = (team.laptop("ana"), team.remote_path());
    let blob = |text: &str| git(&remote, &["hash-object", "-w", "--stdin"], text);
    let (line, passwd) = (blob(std::str::from_utf8(LINE).unwrap()), blob("/etc/passwd"));
    let (format, commit) = (blob("1\n"), "1".repeat(40));
    let log = format!(
        "100644 blob {line}\t000000.jsonl\n120000 blob {passwd}\t000001.jsonl\n160000 commit {commit}\t000002.jsonl\n100755 blob {line}\t000003.jsonl\n"
    );
    let log = git(&remote, &["mktree", "--missing"], &log);
    let tree = format!("100644 blob {format}\tFORMAT\n040000 tree {log}\tgithub.com+acme+api\n");
    let tree = git(&remote, &["mktree"], &tree);
    set(&team, &git(&remote, &["commit-tree", &tree, "-m", "x"], ""));
    let report = ana.sync();
    assert!(report.trouble[0].contains("3 files left out"), "{:?}", report.trouble);
    assert_eq!(ana.mirror(&mallory()), [std::str::from_utf8(LINE).unwrap().trim_end()]);
}

// S-SYNC-6
#[test]
fn a_tree_that_climbs_out_is_refused_alone() {
    let team = Team::new(Kind::Git);
    let (ana, bo, remote) = (team.laptop("ana"), team.laptop("bo"), team.remote_path());
    let line = git(&remote, &["hash-object", "-w", "--stdin"], "x\n");
    let blob = line
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
    let mut tree = b"100644 ../../../000000.jsonl\0".to_vec();
    tree.extend(blob);
    let file = team.folder.path().join("tree");
    std::fs::write(&file, tree).unwrap();
    let file = file.to_str().unwrap();
    let tree = git(&remote, &["hash-object", "-t", "tree", "--literally", "-w", file], "");
    set(&team, &git(&remote, &["commit-tree", &tree, "-m", "x"], ""));
    bo.write("fine");
    bo.sync();
    let report = ana.sync();
    assert!(
        report.trouble.iter().any(|trouble| trouble.contains("mallory")),
        "{:?}",
        report.trouble
    );
    assert_eq!((report.fetched, ana.mirror(&bo.origin()).len()), (1, 1));
    assert!(ana.mirror(&mallory()).is_empty());
}

// S-SYNC-6
#[test]
fn references_that_are_no_origin_are_skipped() {
    let team = Team::new(Kind::Git);
    let (ana, remote) = (team.laptop("ana"), team.remote_path());
    team.publish(&mallory(), &[("FORMAT", b"1\n"), (SEGMENT, LINE)]);
    let reference = format!("refs/agent-knowledge/v1/{}", mallory().as_str());
    let tip = git(&remote, &["rev-parse", &reference], "");
    for name in ["x", "a/b-00000000000000ff", "X-00000000000000FF"] {
        git(&remote, &["update-ref", &format!("refs/agent-knowledge/v1/{name}"), &tip], "");
    }
    let blob = git(&remote, &["hash-object", "-w", "--stdin"], "x");
    let other = StoreOrigin::mint("blob", 8);
    let reference = format!("refs/agent-knowledge/v1/{}", other.as_str());
    git(&remote, &["update-ref", &reference, &blob], "");
    let report = ana.sync();
    assert_eq!(report.fetched, 1);
    assert!(
        report.trouble.iter().any(|trouble| trouble.starts_with("3 names")),
        "{:?}",
        report.trouble
    );
    assert!(report.trouble.iter().any(|trouble| trouble.contains("blob-")), "{:?}", report.trouble);
    assert_eq!(ana.store.team_folders().unwrap().len(), 1);
}

// S-SYNC-4
#[test]
fn nonsense_under_our_own_origin_is_not_ours() {
    let team = Team::new(Kind::Git);
    let (ana, remote) = (team.laptop("ana"), team.remote_path());
    let line = ana.write("one");
    ana.sync();
    let blob = git(&remote, &["hash-object", "-w", "--stdin"], "x");
    let own = ana.origin();
    let reference = format!("refs/agent-knowledge/v1/{}", own.as_str());
    git(&remote, &["update-ref", &reference, &blob], "");
    let report = ana.sync();
    assert_eq!((report.renewed_from, report.pushed), (Some(own), 1));
    let bo = team.laptop("bo");
    bo.sync();
    assert_eq!(bo.mirror(&ana.origin()), [line]);
}

// S-SYNC-6
#[test]
fn an_own_folder_among_the_mirrors_is_never_written() {
    for kind in kinds() {
        let team = Team::new(kind);
        let ana = team.laptop("ana");
        ana.write("one");
        ana.sync();
        let own = ana.origin();
        // Somebody else publishes under our origin: that is a twin, and what it has is theirs.
        team.publish(&own, &[("FORMAT", b"1\n"), (SEGMENT, LINE)]);
        let report = ana.sync();
        assert_eq!(report.renewed_from, Some(own.clone()), "{kind:?}");
        assert!(!ana.store.mirror_of(&ana.origin(), &api().file_name()).exists());
        assert_eq!(ana.mirror(&own).len(), 1);
    }
}
