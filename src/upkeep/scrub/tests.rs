//! Scrubbing, with the recogniser of the tests, which finds `hush-` words.

use serde_json::{Value, json};

use super::super::secret_lines::tests::TEST;
use super::*;
use crate::surfaces::OwnFolders;
use event::RepoKey;

struct ScrubFixture {
    folder: tempfile::TempDir,
    store: Store,
}

impl ScrubFixture {
    fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        for (name, bytes) in files {
            let path = store.root().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        Self { folder, store }
    }

    fn scrub_as(&self, how: ScrubMode, repo: Option<&str>) -> CheckReport {
        let request = ScrubRequest {
            store: &self.store,
            repo: repo.map(|repo| RepoKey::parse(repo).unwrap()),
            how,
            recogniser: &TEST,
            places: OwnFolders {
                store: self.store.root(),
                cache: &self.folder.path().join("cache"),
                sessions: &self.folder.path().join("past"),
            },
        };
        scrub(&request).unwrap()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.store.root().join(name)).unwrap()
    }
}

const FILES: [(&str, &[u8]); 4] = [
    ("api.jsonl", b"{\"id\":\"m1\",\"lesson\":\"a hush-1\"}\r\n\ntorn hush-2\n{\"id\":\"m2\",\"lesson\":\"fine\"}\n{\"half hush-3"),
    ("web.jsonl", b"{\"id\":\"m3\",\"lesson\":\"fine\"}\n"),
    (".spool/api@00.jsonl", b"{\"id\":\"m4\",\"lesson\":\"hush-4\"}\n"),
    (".quarantine/api.jsonl", b"{\"log\":\"api.jsonl\",\"offset\":0,\"reason\":\"r\",\"line\":\"x hush-5\"}\n{\"log\":\"api.jsonl\",\"offset\":1,\"reason\":\"r\",\"line_hex\":\"ff20687573682d36\"}\n"),
];

// S-SCRUB-1, S-SCRUB-2
#[test]
fn every_secret_goes_and_nothing_else_does() {
    let world = ScrubFixture::with(&FILES);
    let CheckReport { verdict, reply } = world.scrub_as(ScrubMode::Change, None);
    assert_eq!(
        (verdict, &reply.json["removed"]),
        (CheckVerdict::Fine, &json!(6)),
        "{}",
        reply.text
    );
    assert_eq!(
        world.bytes("api.jsonl"),
        b"{\"id\":\"m1\",\"lesson\":\"a [REDACTED:test-word]\"}\r\n\ntorn [REDACTED:test-word]\n{\"id\":\"m2\",\"lesson\":\"fine\"}\n{\"half [REDACTED:test-word]"
    );
    assert_eq!(world.bytes("web.jsonl"), FILES[1].1);
    assert!(world.bytes(".spool/api@00.jsonl").ends_with(b"\"[REDACTED:test-word]\"}\n"));
    let kept = String::from_utf8(world.bytes(".quarantine/api.jsonl")).unwrap();
    assert!(kept.contains("\"line\":\"x [REDACTED:test-word]\"}\n"), "{kept}");
    assert!(kept.contains("\"line_hex\":\"ff205b52454441435445443a"), "{kept}");
    let again = world.scrub_as(ScrubMode::Change, None);
    assert_eq!(
        (again.verdict, again.reply.text.as_str()),
        (CheckVerdict::Fine, "no secrets found")
    );
}

// S-SCRUB-1
#[test]
fn the_report_lists_removals_and_steps_but_no_secret() {
    let world = ScrubFixture::with(&FILES);
    let CheckReport { reply, .. } = world.scrub_as(ScrubMode::Change, None);
    assert!(!reply.text.contains("hush-") && !reply.json.to_string().contains("hush-"));
    let log = world.store.root().join("api.jsonl");
    for told in [
        format!("removed {}: line 1, lesson: test-word\n", log.display()),
        format!("removed {}: line 3: test-word\n", log.display()),
        "6 secrets removed".to_owned(),
        "revoke or rotate".to_owned(),
        format!("rm -r {}", world.folder.path().join("cache").display()),
    ] {
        assert!(reply.text.contains(&told), "no {told:?} in {}", reply.text);
    }
    // The spool is scrubbed first.
    let of_log = &reply.json["files"][1]["secrets"];
    assert_eq!(of_log[1], json!({ "line": 3, "offset": 34, "field": "", "rule": "test-word" }));
}

// S-SCRUB-1
#[test]
fn a_dry_run_changes_nothing_and_says_that_something_is_wrong() {
    let world = ScrubFixture::with(&FILES);
    let CheckReport { verdict, reply } = world.scrub_as(ScrubMode::DryRun, None);
    assert_eq!((verdict, &reply.json["found"]), (CheckVerdict::Wrong, &json!(6)));
    assert!(reply.text.contains("6 secrets found; nothing was changed"), "{}", reply.text);
    for (name, bytes) in FILES {
        assert_eq!(world.bytes(name), bytes);
    }
}

#[test]
fn one_repository_can_be_scrubbed_alone() {
    let world = ScrubFixture::with(&[
        ("api.jsonl", b"{\"lesson\":\"hush-1\"}\n"),
        ("web.jsonl", b"{\"lesson\":\"hush-2\"}\n"),
    ]);
    world.scrub_as(ScrubMode::Change, Some("web"));
    assert_eq!(world.bytes("api.jsonl"), b"{\"lesson\":\"hush-1\"}\n");
    assert!(!world.bytes("web.jsonl").windows(4).any(|bytes| bytes == b"hush"));
}

#[test]
fn git_is_asked_which_commits_hold_the_file() {
    let world = ScrubFixture::with(&[("api.jsonl", b"{\"lesson\":\"hush-1\"}\n")]);
    let root = world.store.root();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(root).args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        assert!(git.args(args).output().unwrap().status.success(), "{args:?}");
    };
    assert_eq!(CommitHistory::ask_git(&root.join("api.jsonl")), None);
    git(&["init", "--quiet"]);
    git(&["add", "api.jsonl"]);
    git(&["commit", "--quiet", "--message", "one"]);
    let CheckReport { reply, .. } = world.scrub_as(ScrubMode::Change, None);
    assert_eq!(reply.json["files"][0]["commits"], 1, "{}", reply.text);
    let commits: &[Value] = reply.json["files"][0]["newest_commits"].as_array().unwrap();
    let commit = commits[0].as_str().unwrap();
    assert!(reply.text.contains(&format!("in 1 commits ({commit})")), "{}", reply.text);
    assert!(reply.text.contains("git filter-repo --replace-text"), "{}", reply.text);
}
