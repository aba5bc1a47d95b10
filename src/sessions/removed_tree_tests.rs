//! Tests of sessions whose directory is gone, with real repositories, real transcripts and a store that is empty: which repository
//! each gets, and that none gets a wrong one.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::import_scope::ImportScope;
use crate::session_import::ImportPlan;
use crate::session_rows::SessionFilter;
use crate::session_store::SessionStore;
use place::Machine;
use transcripts::readers::READERS;
use transcripts::source::TranscriptPlaces;

const SHOP: &str = "github.com/acme/shop";

/// A made-up home with repositories and transcripts.
struct Disk {
    root: tempfile::TempDir,
    kept: SessionStore,
}

/// A call of an agent.
enum Call<'a> {
    Edit(&'a str),
    Run(&'a str),
}

impl Disk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let kept = SessionStore::create(&root.path().join("kept")).unwrap();
        let disk = Self { root, kept };
        std::fs::create_dir_all(disk.home()).unwrap();
        disk
    }

    /// A disk with the repository `~/code/shop`.
    fn with_shop() -> Self {
        let disk = Self::new();
        disk.repository("~/code/shop", Some("git@github.com:acme/shop.git"));
        disk
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home/ana")
    }

    fn path(&self, text: &str) -> PathBuf {
        match text.strip_prefix("~/") {
            Some(below) => self.home().join(below),
            None => self.root.path().canonicalize().unwrap().join(text.trim_start_matches('/')),
        }
    }

    fn git(&self, directory: &str, args: &[&str]) {
        let path = self.path(directory);
        std::fs::create_dir_all(&path).unwrap();
        let mut command = Command::new("git");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GIT_")) {
            command.env_remove(name);
        }
        let who = [
            "-c",
            "user.name=Ana",
            "-c",
            "user.email=ana@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        let done = command
            .args(who)
            .args(args)
            .current_dir(path)
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn repository(&self, directory: &str, remote: Option<&str>) {
        self.git(directory, &["init", "--quiet"]);
        self.git(directory, &["commit", "--quiet", "--allow-empty", "-m", "begin"]);
        if let Some(remote) = remote {
            self.git(directory, &["remote", "add", "origin", remote]);
        }
    }

    /// Makes a work tree as a tool does, and removes it as tools and people do.
    fn removed_tree(&self, repository: &str, tree: &str, branch: &str) {
        let path = self.path(tree);
        self.git(repository, &["worktree", "add", "--quiet", "-b", branch, path.to_str().unwrap()]);
        self.git(repository, &["worktree", "remove", "--force", path.to_str().unwrap()]);
    }

    fn write(&self, below: &str, lines: &[Value]) {
        let path = self.home().join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path, text).unwrap();
    }

    fn content(&self, calls: &[Call<'_>]) -> Vec<Value> {
        let whole = |text: &str| text.replace("~/", &format!("{}/", self.home().display()));
        let calls = calls.iter().enumerate().map(|(number, call)| {
            let (name, input) = match call {
                Call::Edit(path) => ("Write", json!({"file_path": whole(path), "content": "x"})),
                Call::Run(command) => ("Shell", json!({"command": whole(command)})),
            };
            json!({"type": "tool_use", "id": format!("t{number}"), "name": name, "input": input})
        });
        calls.collect()
    }

    /// Writes a session of Claude Code.
    fn claude(&self, id: &str, directory: &str, branch: Option<&str>, calls: &[Call<'_>]) {
        let mut content = self.content(calls);
        for call in &mut content {
            if call["name"] == "Shell" {
                call["name"] = json!("Bash");
            }
        }
        let line = |kind: &str, number: u8, content: Value| {
            let mut line = json!({"type": kind, "uuid": format!("{id}-{number}"), "parentUuid": null, "isSidechain": false,
                "cwd": self.path(directory), "sessionId": id, "version": "2.1.270",
                "timestamp": format!("2026-10-01T09:0{number}:00.000Z"),
                "message": {"role": kind, "id": format!("{id}-m{number}"), "content": content}});
            if let Some(branch) = branch {
                line["gitBranch"] = json!(branch);
            }
            line
        };
        let mut lines = vec![line("user", 0, json!(format!("please look into {id}")))];
        if !content.is_empty() {
            lines.push(line("assistant", 1, json!(content)));
        }
        lines.push(line("assistant", 2, json!([{"type": "text", "text": "done"}])));
        self.write(&format!(".claude/projects/-w/{id}.jsonl"), &lines);
    }

    /// Writes a session of Codex, with what it records of git.
    fn codex(&self, id: &str, directory: &str, more: &Value) {
        let mut meta = json!({"id": id, "timestamp": "2026-10-01T09:00:00.000Z", "cwd": self.path(directory),
            "originator": "codex_cli_rs", "cli_version": "0.120.0"});
        for (name, value) in more.as_object().unwrap() {
            meta[name] = value.clone();
        }
        let line = |kind: &str, payload: Value| json!({"timestamp": "2026-10-01T09:00:01.000Z", "type": kind, "payload": payload});
        let text = format!("please look into {id}");
        let lines = [
            line("session_meta", meta),
            line("event_msg", json!({"type": "user_message", "message": text})),
            line("event_msg", json!({"type": "agent_message", "message": "done"})),
        ];
        self.write(
            &format!(".codex/sessions/2026/10/01/rollout-2026-10-01T09-00-00-{id}.jsonl"),
            &lines,
        );
    }

    /// Writes a transcript of Cursor in the folder that Cursor names after a directory.
    fn cursor(&self, id: &str, directory: &str, calls: &[Call<'_>]) {
        let path = self.path(directory);
        let text = path.to_string_lossy();
        let words =
            text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.collect::<Vec<_>>().join("-");
        let asked = json!([{"type": "text", "text": "<user_query>\nplease look\n</user_query>"}]);
        let lines = [
            json!({"role": "user", "message": {"content": asked}}),
            json!({"role": "assistant", "message": {"content": self.content(calls)}}),
        ];
        self.write(&format!(".cursor/projects/{slug}/agent-transcripts/{id}/{id}.jsonl"), &lines);
    }

    fn import(&mut self) {
        let home = self.home();
        let mut machine = Machine::default();
        machine.home = Some(home.clone());
        let (data, config) = (home.join(".local/share"), home.join(".config"));
        let places =
            TranscriptPlaces { home, data, config, work_trees: Vec::new(), lookup: &|_| None };
        let scope = ImportScope { machine, ..<_>::default() };
        let plan = ImportPlan::make(READERS, &places, Some(&self.kept), scope).unwrap();
        plan.run(&mut self.kept, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
    }

    fn repo_of(&self, id: &str) -> Option<String> {
        let all = SessionFilter { is_with_programs: true, ..<_>::default() };
        let sessions = self.kept.sessions(&all, 0, 100).unwrap();
        sessions
            .into_iter()
            .find(|session| session.native_id == id)
            .and_then(|session| session.repo)
    }

    fn key_at(&self, directory: &str) -> String {
        let mut machine = Machine::default();
        machine.home = Some(self.home());
        place::place_by_files(&self.path(directory), &machine).own_key.unwrap().to_string()
    }
}

/// The name of a sample, and its disk before the import. The session is called `past`.
type Sample = (&'static str, fn() -> Disk);

const IN_SHOP: &[Sample] = &[
    ("Claude Code keeps work trees in the repository", || {
        let disk = Disk::with_shop();
        disk.claude(
            "past",
            "~/code/shop/.claude/worktrees/calm-otter",
            Some("worktree-calm-otter"),
            &[],
        );
        disk
    }),
    ("Crystal's folder of work trees is gone with them", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop/worktrees/fix-cart/packages/web", Some("fix-cart"), &[]);
        disk
    }),
    ("Conductor's newer folder", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop/.conductor/lisbon", Some("ana/lisbon"), &[]);
        disk
    }),
    ("Codex, where another session worked in the repository", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.codex("past", "~/.codex/worktrees/1a4b/shop", &json!({}));
        disk
    }),
    ("Codex below a package of the work tree", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop/src", Some("main"), &[]);
        disk.codex("past", "~/.codex/worktrees/77aa/shop/packages/api", &json!({}));
        disk
    }),
    ("Codex records the remote", || {
        let disk = Disk::new();
        let git = json!({"git": {"repository_url": "ssh://git@github.com/acme/shop"}});
        disk.codex("past", "~/.codex/worktrees/1a4b/anything", &git);
        disk
    }),
    ("the folder has another name than the remote", || {
        let disk = Disk::new();
        disk.repository("~/code/storefront", Some("https://github.com/acme/shop"));
        disk.claude("other", "~/code/storefront", Some("main"), &[]);
        disk.codex("past", "~/.codex/worktrees/1a4b/storefront", &json!({}));
        disk
    }),
    ("Cursor's work tree, by the paths of its edits", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        let edit = Call::Edit("~/.cursor/worktrees/shop/a1b2c/src/cart.ts");
        disk.cursor("past", "~/.cursor/worktrees/shop/a1b2c", &[edit]);
        disk
    }),
    ("Conductor's folder of workspaces", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.claude("past", "~/conductor/workspaces/shop/lisbon", Some("ana/lisbon"), &[]);
        disk
    }),
    ("Vibe Kanban, which names the repository last", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.claude(
            "past",
            "/var/tmp/vibe-kanban/worktrees/9f2c-fix-login/shop",
            Some("vk/9f2c-fix-login"),
            &[],
        );
        disk
    }),
    ("Vibe Kanban's older folder, by a branch that is still there", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.git("~/code/shop", &["branch", "vk/9f2c-fix-login"]);
        disk.claude(
            "past",
            "/var/tmp/vibe-kanban/worktrees/vk-9f2c-fix-login",
            Some("vk/9f2c-fix-login"),
            &[],
        );
        disk
    }),
    ("a folder beside the repository", || {
        let disk = Disk::with_shop();
        disk.removed_tree("~/code/shop", "~/code/shop-login", "login");
        disk.claude("past", "~/code/shop-login", Some("login"), &[]);
        disk
    }),
    ("a folder beside the repository, whose branch has another name", || {
        let disk = Disk::with_shop();
        disk.removed_tree("~/code/shop", "~/code/shop-2", "ana/queue-retries");
        disk.claude("past", "~/code/shop-2", Some("ana/queue-retries"), &[]);
        disk
    }),
    ("a folder for work trees beside the repository", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop.worktrees/login/packages/api", Some("login"), &[]);
        disk
    }),
    ("a folder for all work trees, by repositories", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.claude("past", "~/worktrees/shop/login", Some("login"), &[]);
        disk
    }),
    ("a folder for all work trees, beside the repository", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/worktrees/shop-login", Some("feature/login"), &[]);
        disk
    }),
    ("git still lists the work tree", || {
        let disk = Disk::with_shop();
        let tree = disk.path("~/code/quick-fix");
        disk.git(
            "~/code/shop",
            &["worktree", "add", "--quiet", "-b", "odd", tree.to_str().unwrap()],
        );
        std::fs::remove_dir_all(tree).unwrap();
        disk.codex("past", "~/code/quick-fix/src", &json!({}));
        disk
    }),
    ("the branch is still there, and the folder is called so", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        disk.removed_tree("~/code/shop", "~/tasks/retry-queue", "ana/retry-queue");
        disk.claude("past", "~/tasks/retry-queue", Some("ana/retry-queue"), &[]);
        disk
    }),
    ("the branch was merged and deleted", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        disk.git("~/code/shop", &["checkout", "--quiet", "-b", "ana/retry-queue"]);
        disk.git("~/code/shop", &["commit", "--quiet", "--allow-empty", "-m", "retry"]);
        disk.git("~/code/shop", &["checkout", "--quiet", "main"]);
        disk.git("~/code/shop", &["merge", "--quiet", "ana/retry-queue"]);
        disk.git("~/code/shop", &["branch", "--quiet", "-D", "ana/retry-queue"]);
        disk.claude("past", "~/tasks/retry-queue", Some("ana/retry-queue"), &[]);
        disk
    }),
    ("another tool recorded the remote in the same directory", || {
        let disk = Disk::new();
        let git = json!({"git": {"repository_url": "https://github.com/acme/shop.git"}});
        disk.codex("other", "/srv/agents/7f/ws", &git);
        disk.claude("past", "/srv/agents/7f/ws", Some("main"), &[]);
        disk
    }),
    ("a session on the same branch recorded the remote", || {
        let disk = Disk::new();
        let git = json!({"git": {"repository_url": "https://github.com/acme/shop.git", "branch": "cart-totals"}});
        disk.codex("other", "/srv/agents/7f/ws", &git);
        disk.claude("past", "/srv/agents/cart-totals", Some("cart-totals"), &[]);
        disk
    }),
    ("the session that started it worked in the repository", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        let spawn = json!({"git": {"branch": "HEAD"},
            "source": {"subagent": {"thread_spawn": {"parent_thread_id": "other", "depth": 1}}}});
        disk.codex("past", "/srv/scratch/agent-3", &spawn);
        disk
    }),
    ("edits in the repository, from a directory that is gone", || {
        let disk = Disk::with_shop();
        let calls =
            [Call::Edit("~/code/shop/src/cart.ts"), Call::Run("cd ~/code/shop && npm test")];
        disk.claude("past", "~/scratch/x1", None, &calls);
        disk
    }),
    ("commands in the repository, from a directory that is gone", || {
        let disk = Disk::with_shop();
        disk.git("~/code/shop", &["branch", "ws-9"]);
        let calls = [Call::Run("git -C ~/code/shop merge ws-9"), Call::Edit("src/cart.ts")];
        disk.claude("past", "~/scratch/ws-9", Some("ws-9"), &calls);
        disk
    }),
    ("Cursor in the repository itself, by its edits", || {
        let disk = Disk::with_shop();
        disk.cursor("past", "~/code/shop", &[Call::Edit("~/code/shop/src/cart.ts")]);
        disk
    }),
    ("work trees of a bare repository", || {
        let disk = Disk::new();
        disk.git("~/code/shop/.bare", &["init", "--quiet", "--bare"]);
        disk.git(
            "~/code/shop/.bare",
            &["remote", "add", "origin", "https://github.com/acme/shop.git"],
        );
        disk.claude("past", "~/code/shop/login", Some("login"), &[]);
        disk
    }),
    ("two repositories have the name, one the branch", || {
        let disk = Disk::with_shop();
        disk.repository("~/forks/shop", Some("git@github.com:ben/shop.git"));
        disk.git("~/code/shop", &["branch", "task/42"]);
        for (id, directory) in [("one", "~/code/shop"), ("two", "~/forks/shop")] {
            disk.claude(id, directory, Some("main"), &[]);
        }
        disk.claude("past", "~/.codex/worktrees/1a4b/shop", Some("task/42"), &[]);
        disk
    }),
];

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
