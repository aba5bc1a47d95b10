//! Tests of sessions whose directory is gone, with real repositories, real transcripts and a store that is empty: which repository
//! each gets, and that none gets a wrong one.

use serde_json::json;

use super::removed_tree_disk::{Call, Disk, SHOP};
use super::removed_tree_samples::{IN_SHOP, Sample};

// S-SESS-16
#[test]
fn sessions_of_removed_trees_find_their_repository() {
    let mut wrong = Vec::new();
    for (name, set_up) in IN_SHOP {
        let mut disk = set_up();
        disk.import();
        let found = disk.repo_of("past");
        if found.as_deref() != Some(SHOP) {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), IN_SHOP.len());
}

/// Sessions that may be about another repository than the one that is there.
const ELSEWHERE: &[Sample] = &[
    ("another repository with a longer name stood on main", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop-admin", Some("main"), &[]);
        disk
    }),
    ("its branch was never one of the repository", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop-admin", Some("feature/roles"), &[]);
        disk
    }),
    ("two repositories have the name", || {
        let disk = Disk::with_shop();
        disk.repository("~/forks/shop", Some("git@github.com:ben/shop.git"));
        for (id, directory) in [("one", "~/code/shop"), ("two", "~/forks/shop")] {
            disk.claude(id, directory, Some("main"), &[]);
        }
        disk.codex("past", "~/.codex/worktrees/1a4b/shop", &json!({}));
        disk
    }),
    ("the branch is in two repositories", || {
        let disk = Disk::with_shop();
        disk.repository("~/code/blog", Some("git@github.com:acme/blog.git"));
        for directory in ["~/code/shop", "~/code/blog"] {
            disk.git(directory, &["branch", "retry-queue"]);
        }
        disk.claude("one", "~/code/shop", Some("main"), &[]);
        disk.claude("two", "~/code/blog", Some("main"), &[]);
        disk.claude("past", "~/tasks/retry-queue", Some("retry-queue"), &[]);
        disk
    }),
    ("only the branch is the same", || {
        let disk = Disk::with_shop();
        disk.git("~/code/shop", &["branch", "retry-queue"]);
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        disk.claude("past", "~/code/payments", Some("retry-queue"), &[]);
        disk
    }),
    ("edits in two repositories", || {
        let disk = Disk::with_shop();
        disk.repository("~/code/blog", Some("git@github.com:acme/blog.git"));
        let calls = [Call::Edit("~/code/shop/a.ts"), Call::Edit("~/code/blog/b.md")];
        disk.claude("past", "~/scratch/x1", None, &calls);
        disk
    }),
    ("a folder on the way is called as the owner of the branch", || {
        let disk = Disk::with_shop();
        disk.git("~/code/shop", &["branch", "ana/retry-queue"]);
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        disk.claude("past", "~/code/payments", Some("ana/retry-queue"), &[]);
        disk
    }),
    ("most edits were in the directory that is gone", || {
        let disk = Disk::with_shop();
        let calls = [
            Call::Edit("~/code/payments/a.ts"),
            Call::Edit("src/b.ts"),
            Call::Edit("~/code/shop/README.md"),
        ];
        disk.claude("past", "~/code/payments", Some("refunds"), &calls);
        disk
    }),
    ("another repository was built from the directory that is gone", || {
        let disk = Disk::with_shop();
        disk.claude(
            "past",
            "~/code/payments",
            Some("main"),
            &[Call::Run("cd ~/code/shop && make build")],
        );
        disk
    }),
    ("another session in the same folder edited the repository", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/scratch/x1", None, &[Call::Edit("~/code/shop/a.ts")]);
        disk.claude("past", "~/scratch/x1", Some("refunds"), &[]);
        disk
    }),
    ("one word of its name is also in the branch", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop-api", Some("feature/new-api"), &[]);
        disk
    }),
    ("who began at home only looked around", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/", None, &[Call::Run("cd ~/code/shop && make run")]);
        disk
    }),
    ("nothing is known", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/notes-of-last-year", None, &[]);
        disk
    }),
    ("the settings in the home are a repository", || {
        let disk = Disk::new();
        disk.repository("~/", Some("git@github.com:acme/shop.git"));
        disk.claude("past", "~/code/payments", Some("retry-queue"), &[]);
        disk
    }),
    ("a plan in the folder of the tool", || {
        let disk = Disk::new();
        disk.repository("~/", Some("git@github.com:acme/shop.git"));
        disk.claude("past", "~/scratch/x1", None, &[Call::Edit("~/.claude/plans/calm-otter.md")]);
        disk
    }),
];

// S-SESS-16
#[test]
fn no_session_gets_a_repository_by_chance() {
    let mut wrong = Vec::new();
    for (name, set_up) in ELSEWHERE {
        let mut disk = set_up();
        disk.import();
        let found = disk.repo_of("past");
        if found.as_ref().is_some_and(|repo| !repo.contains('~')) {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), ELSEWHERE.len());
}

// S-SESS-16
#[test]
fn a_repository_without_remote_is_found_as_well() {
    let mut disk = Disk::new();
    disk.repository("~/code/shop", None);
    disk.claude("other", "~/code/shop", Some("main"), &[]);
    disk.codex("past", "~/.codex/worktrees/1a4b/shop", &json!({}));
    disk.import();
    assert_eq!(disk.repo_of("past"), Some(disk.key_at("~/code/shop")));
}

// S-SESS-16
#[test]
fn a_later_import_corrects_an_earlier_one() {
    let mut disk = Disk::new();
    disk.codex("past", "~/.codex/worktrees/1a4b/shop", &json!({}));
    disk.import();
    assert!(
        disk.repo_of("past").is_some_and(|repo| repo.starts_with("shop~")),
        "{:?}",
        disk.repo_of("past")
    );
    disk.repository("~/code/shop", Some("git@github.com:acme/shop.git"));
    disk.claude("later", "~/code/shop", Some("main"), &[]);
    disk.import();
    assert_eq!(disk.repo_of("past").as_deref(), Some(SHOP));
    // What was certain stays, though the transcript grows when nothing is left of it.
    std::fs::remove_dir_all(disk.path("~/code/shop")).unwrap();
    let path = disk.home().join(".claude/projects/-w/later.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let more =
        text.lines().next().unwrap().replace("later-0", "later-9").replace("please", "again");
    std::fs::write(&path, format!("{text}{more}\n")).unwrap();
    disk.import();
    assert_eq!(disk.repo_of("later").as_deref(), Some(SHOP));
}
