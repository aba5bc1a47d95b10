//! Looking at memories in a real git repository, with real commits. Not here: the program (tests/integration).

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use event::{DecodedLine, EventId, codec};
use memory::{Fold, LinePlace};
use place::{Machine, place_by_files};

/// A work tree whose commits are a day apart.
struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let tree = Self { folder: tempfile::tempdir().unwrap() };
        tree.git(1, &["init", "--quiet", "--initial-branch=main"]);
        tree
    }

    fn top(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, day: u32, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.top()).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let date = format!("2026-01-{day:02}T12:00:00Z");
        git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        let ran = git.args(args).output().unwrap();
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.top().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits all that is there, on a day, and returns the commit.
    fn commit(&self, day: u32) -> String {
        self.git(day, &["add", "--all"]);
        self.git(day, &["commit", "--quiet", "--message", "x"]);
        self.git(day, &["rev-parse", "HEAD"])
    }

    fn look(&self, lines: &[Value]) -> StalenessReport {
        let at = place_by_files(self.top(), &Machine::default());
        let memories = folded(lines);
        StalenessCheck::prepare(&memories, &at.git().unwrap().top).run(at.git())
    }
}

fn folded(lines: &[Value]) -> Vec<Arc<Memory>> {
    let mut fold = Fold::default();
    for (offset, line) in (0..).zip(lines) {
        let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "api") else {
            panic!("{line}")
        };
        let repo = event.repo_key();
        fold.apply(*event, repo, LinePlace::own("a", offset));
    }
    fold.memories().iter().cloned().collect()
}

fn memory(id: &str, day: u32, more: &Value) -> Value {
    let mut line = json!({ "id": id, "timestamp": format!("2026-01-{day:02}T18:00:00Z"), "event_type": "error" });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

fn ids(report: &StalenessReport) -> Vec<&str> {
    report.stale.iter().map(|stale| stale.memory.id.as_str()).collect()
}

// S-STALE-1, S-STALE-3
#[test]
fn changed_and_deleted_files_are_listed_surest_first() {
    let tree = Tree::new();
    tree.write("src/kept.rs", "fn open_store() {}\nfn close_store() {}");
    tree.write("src/gone.rs", "");
    tree.write("src/same.rs", "");
    tree.commit(2);
    let lines = [
        memory(
            "both",
            3,
            &json!({ "lesson": "`open_store` and `old_name`", "files": ["src/kept.rs"] }),
        ),
        memory("there", 3, &json!({ "lesson": "`open_store()` in src/kept.rs:1 waits" })),
        memory("none", 3, &json!({ "lesson": "`cargo` says no", "files": ["src/kept.rs"] })),
        memory("gone", 3, &json!({ "lesson": "x", "files": ["src/gone.rs", "src/same.rs"] })),
        memory(
            "same",
            3,
            &json!({ "lesson": "x", "files": ["src/same.rs", "never/was.rs", "new.rs"] }),
        ),
        memory("later", 5, &json!({ "lesson": "x", "files": ["src/kept.rs", "src/gone.rs"] })),
        memory("before", 1, &json!({ "lesson": "x", "files": ["src/kept.rs"] })),
        memory(
            "task",
            3,
            &json!({ "event_type": "task", "lesson": "x", "files": ["src/gone.rs"] }),
        ),
        memory(
            "rule",
            3,
            &json!({ "lesson": "x", "files": ["src/gone.rs"], "tags": [AGENT_FILE] }),
        ),
        memory("other", 3, &json!({ "lesson": "names nothing" })),
    ];
    assert!(tree.look(&lines).stale.is_empty());
    tree.write("src/kept.rs", "fn open_store(path: &Path) {}");
    tree.write("new.rs", "");
    std::fs::remove_file(tree.top().join("src/gone.rs")).unwrap();
    // A change that is not committed does not count yet.
    assert!(tree.look(&lines).stale.is_empty());
    tree.commit(4);
    let report = tree.look(&lines);
    assert_eq!(ids(&report), ["none", "both", "gone", "there"]);
    assert_eq!((report.checked, report.git_error), (7, None));
    let [none, both, gone, present] = report.stale.as_slice() else { panic!("{report:?}") };
    assert_eq!((none.symbols.clone(), none.confidence), (Symbols::NotApplicable, 1.0));
    let missing = vec!["old_name".to_owned()];
    assert_eq!(both.symbols, Symbols::Found { present: 1, missing });
    assert_eq!((gone.gone.as_slice(), gone.confidence), (&["src/gone.rs".to_owned()][..], 0.5));
    assert_eq!(present.changed, ["src/kept.rs"]);
    assert!((present.confidence - 0.3).abs() < 1e-6);
}

// S-STALE-1
#[test]
fn a_memory_is_compared_from_its_commit_or_confirmation() {
    let tree = Tree::new();
    tree.write("a.rs", "1");
    let first = tree.commit(2);
    tree.write("a.rs", "2");
    tree.commit(3);
    // By its time it would be of today; by its commit it is of the first day.
    let lesson = memory("m1", 9, &json!({ "lesson": "x", "files": ["a.rs"], "commit": first }));
    assert_eq!(ids(&tree.look(std::slice::from_ref(&lesson))), ["m1"]);
    let say = |day: u32, verdict: &str| {
        memory(
            "f1",
            day,
            &json!({ "event_type": "feedback", "memory_id": "m1", "verdict": verdict }),
        )
    };
    assert_eq!(ids(&tree.look(&[lesson.clone(), say(10, "failed")])), ["m1"]);
    for good in ["confirmed", "worked"] {
        assert!(tree.look(&[lesson.clone(), say(10, good)]).stale.is_empty());
    }
    tree.write("a.rs", "3");
    tree.commit(11);
    assert_eq!(ids(&tree.look(&[lesson.clone(), say(10, "confirmed")])), ["m1"]);
    let pin = memory("p1", 10, &json!({ "event_type": "pin", "memory_id": "m1" }));
    let report = tree.look(&[lesson, pin]);
    assert_eq!((report.stale.len(), report.pinned), (0, 1));
}

// S-STALE-1
#[test]
fn a_commit_in_no_history_is_reported() {
    let tree = Tree::new();
    tree.write("a.rs", "1");
    let first = tree.commit(2);
    tree.write("a.rs", "2");
    let second = tree.commit(3);
    let at = |id: &str, commit: &str| memory(id, 9, &json!({ "lesson": "x", "commit": commit }));
    let nobodys = "0123456789012345678901234567890123456789";
    let lines = [
        at("first", &first),
        at("second", second.get(..10).unwrap()),
        at("nobodys", nobodys),
        at("option", "--output=x"),
        memory("text", 9, &json!({ "lesson": "x", "commit": "see the pull request" })),
    ];
    // Only others know a commit that was never here.
    assert!(tree.look(&lines).stale.is_empty());
    tree.git(4, &["reset", "--quiet", "--hard", &first]);
    let report = tree.look(&lines);
    assert_eq!(ids(&report), ["second"]);
    assert!(report.stale[0].is_commit_gone && (report.stale[0].confidence - 0.3).abs() < 1e-6);
    tree.git(4, &["branch", "elsewhere", &second]);
    assert!(tree.look(&lines).stale.is_empty(), "what a branch leads to is not gone");
    tree.git(4, &["branch", "--delete", "--force", "elsewhere"]);
    assert_eq!(ids(&tree.look(&lines)), ["second"]);
    // A shallow clone says nothing about the history it left out.
    std::fs::write(tree.top().join(".git/shallow"), "").unwrap();
    assert!(tree.look(&lines).stale.is_empty());
}

// S-STALE-5
#[cfg(unix)]
#[test]
fn git_never_runs_programs_of_a_repository() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    tree.write("a.rs", "1");
    let first = tree.commit(2);
    tree.write("a.rs", "2");
    tree.commit(3);
    let (script, ran) = (tree.top().join(".git/script"), tree.top().join(".git/ran"));
    std::fs::write(&script, format!("#!/bin/sh\necho ran >> '{}'\n", ran.display())).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let program = script.to_str().unwrap();
    for name in ["core.fsmonitor", "core.pager", "diff.external", "gpg.program", "diff.x.textconv"]
    {
        tree.git(4, &["config", name, program]);
    }
    tree.git(4, &["config", "log.showSignature", "true"]);
    std::fs::write(tree.top().join(".git/info/attributes"), "*.rs diff=x\n").unwrap();
    let lesson = memory("m1", 9, &json!({ "lesson": "x", "files": ["a.rs"], "commit": first }));
    assert_eq!(ids(&tree.look(&[lesson])), ["m1"]);
    assert!(!ran.exists());
    // The trap works: git's own command for people falls into it.
    tree.write("a.rs", "3");
    tree.git(5, &["diff"]);
    assert!(ran.exists());
}

// S-STALE-5
#[test]
fn without_git_only_missing_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/a.rs"), "").unwrap();
    let lines = [
        memory("gone", 3, &json!({ "lesson": "x", "files": ["src/a.rs", "src/b.rs"] })),
        memory("there", 3, &json!({ "lesson": "x", "files": ["src/a.rs"] })),
    ];
    let report = StalenessCheck::prepare(&folded(&lines), folder.path()).run(None);
    assert_eq!((ids(&report), report.git_error), (vec!["gone"], Some(GitError::NoRepository)));
    let good = memory(
        "f1",
        9,
        &json!({ "event_type": "feedback", "memory_id": "gone", "verdict": "worked" }),
    );
    let report =
        StalenessCheck::prepare(&folded(&[lines[0].clone(), good]), folder.path()).run(None);
    assert!(report.stale.is_empty());
    // A repository without a commit has no history.
    let tree = Tree::new();
    let report = tree.look(&[memory("m1", 3, &json!({ "lesson": "x", "files": ["src/b.rs"] }))]);
    assert_eq!((report.stale.len(), report.git_error), (0, Some(GitError::Failed)));
}

// S-STALE-6
#[test]
fn a_file_written_after_the_checkout_is_marked() {
    let tree = Tree::new();
    tree.write("src/a.rs", "");
    tree.write("src/b.rs", "");
    let made = tree.top().join(".git").metadata().unwrap().created().unwrap();
    let minutes = |minutes: u64| made + std::time::Duration::from_secs(60 * minutes);
    let touch = |path: &str, at| {
        let file = std::fs::File::options().write(true).open(tree.top().join(path)).unwrap();
        file.set_modified(at).unwrap();
    };
    let files = json!({ "lesson": "x", "files": ["src/a.rs", "src/b.rs", "../c", "none.rs"] });
    let marked = |lines: &[Value]| {
        let changed = changed_since(folded(lines).iter(), tree.top());
        changed.into_values().flatten().collect::<Vec<_>>()
    };
    let old = memory("m1", 3, &files);
    touch("src/a.rs", minutes(9));
    touch("src/b.rs", minutes(11));
    assert_eq!(marked(std::slice::from_ref(&old)), ["src/b.rs"], "a checkout says nothing");
    let year = Timestamp::try_from(minutes(12)).unwrap();
    let good = json!({ "id": "f1", "event_type": "feedback", "memory_id": "m1", "verdict": "confirmed",
        "timestamp": year.to_string() });
    assert!(marked(&[old, good]).is_empty(), "renewed");
    let mut rule = memory("m2", 3, &files);
    rule["tags"] = json!([AGENT_FILE]);
    assert!(marked(&[rule]).is_empty());
}

// S-STALE-6
#[test]
fn a_file_of_the_same_second_is_not_newer() {
    let tree = Tree::new();
    tree.write("a.rs", "");
    let made = tree.top().join(".git").metadata().unwrap().created().unwrap();
    let second = Timestamp::try_from(made).unwrap().as_second() + 60 * 60;
    let second = Timestamp::from_second(second).unwrap();
    let lesson = json!({ "id": "m1", "timestamp": second.to_string(), "event_type": "error", "lesson": "x",
        "files": ["a.rs"] });
    for (millis, count) in [(900, 0), (1_000, 1)] {
        let file = std::fs::File::options().write(true).open(tree.top().join("a.rs")).unwrap();
        let at = std::time::SystemTime::from(second) + std::time::Duration::from_millis(millis);
        file.set_modified(at).unwrap();
        let changed = changed_since(folded(std::slice::from_ref(&lesson)).iter(), tree.top());
        assert_eq!(changed.len(), count, "{millis}");
    }
}

// S-STALE-6
#[test]
fn many_files_of_one_memory_do_not_block_others() {
    let tree = Tree::new();
    tree.write("a.rs", "");
    let made = tree.top().join(".git").metadata().unwrap().created().unwrap();
    let file = std::fs::File::options().write(true).open(tree.top().join("a.rs")).unwrap();
    file.set_modified(made + std::time::Duration::from_secs(60 * 60)).unwrap();
    let many: Vec<String> = (0..100).map(|number| format!("{number}.rs")).collect();
    let lines = [
        memory("m1", 3, &json!({ "lesson": "x", "files": many })),
        memory("m2", 3, &json!({ "lesson": "y", "files": ["a.rs"] })),
    ];
    let changed = changed_since(folded(&lines).iter(), tree.top());
    assert_eq!(changed.keys().map(EventId::as_str).collect::<Vec<_>>(), ["m2"]);
}

// S-STALE-1
#[test]
fn a_memory_older_than_history_hides_no_other() {
    let tree = Tree::new();
    tree.write("a.rs", "1");
    tree.commit(2);
    tree.write("a.rs", "2");
    tree.commit(4);
    let old = json!({ "id": "old", "timestamp": "1960-01-02T03:04:05Z", "event_type": "error", "lesson": "x",
        "files": ["a.rs"] });
    let report = tree.look(&[old, memory("m1", 3, &json!({ "lesson": "y", "files": ["a.rs"] }))]);
    assert_eq!((ids(&report), report.git_error), (vec!["m1"], None));
}

/// A tree with a main line, and a branch with three commits that change one file again and again.
fn tree_with_branch() -> (Tree, [String; 3]) {
    let tree = Tree::new();
    tree.write("src/session.rs", "fn open() {}\nfn close() {}\nfn middle() {}\nfn last() {}\n");
    tree.write("README.md", "about\n");
    tree.commit(2);
    tree.git(3, &["checkout", "--quiet", "-b", "feat"]);
    let text = |ttl: &str| {
        format!(
            "use redis::{ttl};\nfn open() {{ {ttl} }}\nfn close() {{}}\nfn middle() {{}}\nfn last() {{}}\n"
        )
    };
    let commits = [(3, "first_try"), (4, "second_try"), (5, "third_try")].map(|(day, word)| {
        tree.write("src/session.rs", &text(word));
        tree.commit(day)
    });
    tree.git(6, &["checkout", "--quiet", "main"]);
    (tree, commits)
}

fn lessons_at(commits: &[String]) -> Vec<Value> {
    let at = |(number, commit): (usize, &String)| {
        memory(
            &format!("m{number}"),
            9,
            &json!({ "lesson": "sessions live in redis", "commit": commit }),
        )
    };
    commits.iter().enumerate().map(at).collect()
}

// S-STALE-3, S-STALE-10
#[test]
fn a_squashed_branch_is_no_evidence() {
    for is_moved_on in [false, true] {
        let (tree, commits) = tree_with_branch();
        if is_moved_on {
            tree.write(
                "src/session.rs",
                "fn open() {}\nfn close() {}\nfn middle() {}\nfn other() {}\n",
            );
            tree.write("README.md", "more\n");
            tree.commit(6);
        }
        tree.git(7, &["merge", "--quiet", "--squash", "feat"]);
        tree.commit(7);
        tree.git(8, &["branch", "--delete", "--force", "feat"]);
        assert_eq!(ids(&tree.look(&lessons_at(&commits))), [""; 0], "{is_moved_on}");
        // Later work on the same lines changes nothing about it.
        tree.write("src/session.rs", "fn all_new() {}\n");
        tree.commit(8);
        assert_eq!(ids(&tree.look(&lessons_at(&commits))), [""; 0], "{is_moved_on}");
    }
}

// S-STALE-3, S-STALE-10
#[test]
fn rebased_and_picked_commits_are_no_evidence() {
    let (tree, commits) = tree_with_branch();
    tree.write("README.md", "more\n");
    tree.commit(6);
    tree.git(7, &["checkout", "--quiet", "feat"]);
    tree.git(7, &["rebase", "--quiet", "main"]);
    tree.git(7, &["checkout", "--quiet", "main"]);
    tree.git(7, &["merge", "--quiet", "--ff-only", "feat"]);
    tree.git(8, &["branch", "--delete", "feat"]);
    assert_eq!(ids(&tree.look(&lessons_at(&commits))), [""; 0]);
    let (tree, commits) = tree_with_branch();
    tree.git(7, &["cherry-pick", &commits[0]]);
    tree.git(8, &["branch", "--delete", "--force", "feat"]);
    assert_eq!(ids(&tree.look(&lessons_at(&commits))), ["m2", "m1"], "the rest was dropped");
}

// S-STALE-3, S-STALE-10
#[test]
fn dropped_work_stays_evidence() {
    let (tree, commits) = tree_with_branch();
    tree.git(7, &["branch", "--delete", "--force", "feat"]);
    let report = tree.look(&lessons_at(&commits));
    assert_eq!(report.stale.len(), 3);
    assert!(report.stale.iter().all(|stale| (stale.confidence - 0.3).abs() < 1e-6));
    // Somebody else's fresh clone never had them.
    let clone = Tree { folder: tempfile::tempdir().unwrap() };
    let from = tree.top().to_str().unwrap();
    clone.git(8, &["clone", "--quiet", "--no-local", from, "."]);
    assert_eq!(ids(&clone.look(&lessons_at(&commits))), [""; 0]);
    let shallow = Tree { folder: tempfile::tempdir().unwrap() };
    shallow.git(8, &["clone", "--quiet", "--no-local", "--depth=1", from, "."]);
    assert_eq!(ids(&shallow.look(&lessons_at(&commits))), [""; 0]);
}

// S-STALE-12
#[test]
fn a_renamed_file_is_followed() {
    let tree = Tree::new();
    let text = (0..40).map(|number| format!("fn step_{number}() {{}}\n")).collect::<String>();
    for file in ["src/pool.rs", "src/gone.rs", "src/kept.rs"] {
        tree.write(file, &format!("// {file}\n{text}"));
    }
    tree.commit(2);
    let about = |id: &str, file: &str| {
        memory(id, 3, &json!({ "lesson": "`step_1` waits", "files": [file] }))
    };
    let lines =
        [about("pool", "src/pool.rs"), about("gone", "src/gone.rs"), about("kept", "src/kept.rs")];
    tree.git(4, &["mv", "src/pool.rs", "src/conn_pool.rs"]);
    tree.commit(4);
    assert_eq!(ids(&tree.look(&lines)), [""; 0], "only its name is new");
    tree.git(5, &["mv", "src/conn_pool.rs", "lib.rs"]);
    tree.git(5, &["rm", "--quiet", "src/gone.rs"]);
    tree.commit(5);
    let report = tree.look(&lines);
    assert_eq!(ids(&report), ["gone"]);
    assert_eq!(report.renamed.get("src/pool.rs").map(String::as_str), Some("lib.rs"));
    tree.write("lib.rs", &format!("{text}fn step_99() {{}}\n"));
    tree.commit(6);
    let report = tree.look(&lines);
    assert_eq!(ids(&report), ["gone", "pool"]);
    let pool = &report.stale[1];
    assert_eq!((pool.changed.as_slice(), pool.gone.len()), (&["lib.rs".to_owned()][..], 0));
    assert_eq!(pool.symbols, Symbols::Found { present: 1, missing: Vec::new() });
    // A squash has the rename and the change in one commit.
    tree.git(7, &["checkout", "--quiet", "-b", "feat"]);
    tree.git(7, &["mv", "src/kept.rs", "src/held.rs"]);
    tree.commit(7);
    tree.write("src/held.rs", &format!("{text}fn step_99() {{}}\n"));
    tree.commit(8);
    tree.git(9, &["checkout", "--quiet", "main"]);
    tree.git(9, &["merge", "--quiet", "--squash", "feat"]);
    tree.commit(9);
    let report = tree.look(&lines);
    assert_eq!(ids(&report), ["gone", "pool", "kept"]);
    assert_eq!(report.stale[2].changed, ["src/held.rs"]);
}

fn unmerged(tree: &Tree, stamps: &[(&str, &str)]) -> Vec<String> {
    let stamp = |(branch, commit): &(&str, &str)| CommitStamp {
        branch: (*branch).to_owned(),
        commit: (*commit).to_owned(),
    };
    let place = place_by_files(tree.top(), &Machine::default());
    let stamps = stamps.iter().map(stamp).collect();
    let time = std::time::Duration::from_secs(60);
    let found = unmerged_stamps(place.git().unwrap(), &stamps, time).unwrap();
    found.into_iter().map(|stamp| stamp.commit).collect()
}

// S-STALE-11
#[test]
fn a_branch_is_unmerged_until_its_work_has_landed() {
    let (tree, commits) = tree_with_branch();
    let main = tree.git(6, &["rev-parse", "main"]);
    let short = commits[1].get(..9).unwrap().to_owned();
    let nobodys = "0123456789012345678901234567890123456789";
    let stamps =
        [("feat", commits[0].as_str()), ("feat", &short), ("feat", nobodys), ("main", &main)];
    let mut expected = vec![commits[0].clone(), short.clone()];
    expected.sort();
    let sorted = |mut found: Vec<String>| {
        found.sort();
        found
    };
    assert_eq!(sorted(unmerged(&tree, &stamps)), expected);
    // A memory from before the first commit of the branch is of the branch.
    assert_eq!(unmerged(&tree, &[("feat", &main)]), std::slice::from_ref(&main));
    tree.git(7, &["checkout", "--quiet", "feat"]);
    assert!(unmerged(&tree, &stamps).is_empty(), "on the branch itself");
    tree.git(7, &["checkout", "--quiet", "-b", "feat-2"]);
    assert!(unmerged(&tree, &stamps).is_empty(), "on a branch of the branch");
    tree.git(7, &["checkout", "--quiet", "-b", "other", "main"]);
    assert_eq!(sorted(unmerged(&tree, &stamps)), expected);
    tree.git(7, &["checkout", "--quiet", "main"]);
    tree.git(7, &["merge", "--quiet", "--squash", "feat"]);
    let squash = tree.commit(7);
    assert!(unmerged(&tree, &stamps).is_empty());
    assert!(unmerged(&tree, &[("feat", &main)]).is_empty());
    // What the main line has is no news of a branch, also where the checked-out branch left it earlier.
    tree.git(8, &["checkout", "--quiet", "other"]);
    assert!(unmerged(&tree, &stamps).is_empty());
    assert!(unmerged(&tree, &[("main", &squash)]).is_empty());
    std::fs::write(tree.top().join(".git/shallow"), "").unwrap();
    assert!(unmerged(&tree, &stamps).is_empty());
}

// S-STALE-11
#[test]
fn a_merge_commit_merges_whatever_was_written_before() {
    let (tree, commits) = tree_with_branch();
    let main = tree.git(6, &["rev-parse", "main"]);
    tree.git(7, &["merge", "--quiet", "--no-ff", "--message", "x", "feat"]);
    let stamps = [("feat", commits[2].as_str()), ("feat", &main)];
    assert!(unmerged(&tree, &stamps).is_empty());
    // The branch goes on: what was merged stays merged.
    tree.git(8, &["checkout", "--quiet", "feat"]);
    tree.write("later.rs", "fn later_work() {}\n");
    let later = tree.commit(8);
    tree.git(8, &["checkout", "--quiet", "main"]);
    assert_eq!(unmerged(&tree, &[stamps[0], ("feat", &later)]), [later]);
}
