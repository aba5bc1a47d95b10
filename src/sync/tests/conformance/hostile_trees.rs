//! What a member of the team, or somebody with their key, could publish: none of it is followed, and no other origin's part
//! suffers. The mirror of the pusher is all that a pusher can write.

use event::StoreOrigin;

use crate::laptops::{API, KINDS, Kind, Team, api, git};

fn mallory() -> StoreOrigin {
    StoreOrigin::mint("mallory", 7)
}

const LINE: &[u8] = b"{\"id\":\"m1\",\"lesson\":\"of mallory\"}\n";
const SEGMENT: &str = "github.com+acme+api/000000.jsonl";

// S-SYNC-6
#[test]
fn forged_lines_stay_in_the_mirror_of_their_origin() {
    for kind in KINDS {
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

// S-SYNC-6
#[test]
fn names_that_no_store_gives_are_skipped() {
    for kind in KINDS {
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
        assert!(report.trouble[0].contains("5 entries are no part"), "{:?}", report.trouble);
        assert_eq!(ana.store.mirrors().unwrap(), [ana.store.mirror_of(&mallory(), API)]);
    }
}

// S-SYNC-6
#[test]
fn a_form_that_is_not_known_is_left() {
    for kind in KINDS {
        for format in [&b"2\n"[..], b"1", b"much too long"] {
            let team = Team::new(kind);
            let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
            team.publish(&mallory(), &[("FORMAT", format), (SEGMENT, LINE)]);
            bo.write("fine");
            bo.sync();
            let report = ana.sync();
            let told = report.trouble.iter().any(|told| told.contains("nothing is taken"));
            assert!(told, "{:?}", report.trouble);
            assert_eq!((report.fetched, ana.mirror(&bo.origin()).len()), (1, 1), "{kind:?}");
            assert!(ana.mirror(&mallory()).is_empty());
        }
    }
}

// S-SYNC-6
#[test]
fn a_tree_with_too_many_entries_is_left() {
    for kind in KINDS {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let paths: Vec<String> = (0..20_001).map(|n| format!("api/{n:06}.jsonl")).collect();
        let mut files: Vec<(&str, &[u8])> = vec![("FORMAT", b"1\n")];
        // Git writes each file with a call of its own, so there it is made by hand below.
        #[cfg(feature = "nats")]
        let is_stream = kind == Kind::Nats;
        #[cfg(not(feature = "nats"))]
        let is_stream = false;
        if is_stream {
            #[cfg(feature = "nats")]
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
        assert!(report.trouble.iter().any(|told| told.starts_with("mallory")), "{report:?}");
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
    assert!(report.trouble[0].contains("3 entries are no part"), "{:?}", report.trouble);
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
    assert!(report.trouble.iter().any(|told| told.contains("mallory")), "{:?}", report.trouble);
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
    assert!(report.trouble.iter().any(|told| told.starts_with("3 names")), "{:?}", report.trouble);
    assert!(report.trouble.iter().any(|told| told.contains("blob-")), "{:?}", report.trouble);
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
    for kind in KINDS {
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
