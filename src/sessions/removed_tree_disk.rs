//! A made-up disk with real repositories and transcripts, for the tests of sessions whose directory is gone. Not here: the samples
//! (`removed_tree_samples`), what each must give (`removed_tree_tests`).

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

pub(crate) const SHOP: &str = "github.com/acme/shop";

/// A made-up home with repositories and transcripts.
pub(crate) struct Disk {
    root: tempfile::TempDir,
    kept: SessionStore,
}

/// A call of an agent.
pub(crate) enum Call<'a> {
    Edit(&'a str),
    Run(&'a str),
}

impl Disk {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let kept = SessionStore::create(&root.path().join("kept")).unwrap();
        let disk = Self { root, kept };
        std::fs::create_dir_all(disk.home()).unwrap();
        disk
    }

    /// A disk with the repository `~/code/shop`.
    pub(crate) fn with_shop() -> Self {
        let disk = Self::new();
        disk.repository("~/code/shop", Some("git@github.com:acme/shop.git"));
        disk
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home/ana")
    }

    pub(crate) fn path(&self, text: &str) -> PathBuf {
        match text.strip_prefix("~/") {
            Some(below) => self.home().join(below),
            None => self.root.path().canonicalize().unwrap().join(text.trim_start_matches('/')),
        }
    }

    pub(crate) fn git(&self, directory: &str, args: &[&str]) {
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

    pub(crate) fn repository(&self, directory: &str, remote: Option<&str>) {
        self.git(directory, &["init", "--quiet"]);
        self.git(directory, &["commit", "--quiet", "--allow-empty", "-m", "begin"]);
        if let Some(remote) = remote {
            self.git(directory, &["remote", "add", "origin", remote]);
        }
    }

    /// Makes a work tree as a tool does, and removes it as tools and people do.
    pub(crate) fn removed_tree(&self, repository: &str, tree: &str, branch: &str) {
        let path = self.path(tree);
        self.git(repository, &["worktree", "add", "--quiet", "-b", branch, path.to_str().unwrap()]);
        self.git(repository, &["worktree", "remove", "--force", path.to_str().unwrap()]);
    }

    pub(crate) fn write(&self, below: &str, lines: &[Value]) {
        let path = self.home().join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn content(&self, calls: &[Call<'_>]) -> Vec<Value> {
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
    pub(crate) fn claude(
        &self,
        id: &str,
        directory: &str,
        branch: Option<&str>,
        calls: &[Call<'_>],
    ) {
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
    pub(crate) fn codex(&self, id: &str, directory: &str, more: &Value) {
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
    pub(crate) fn cursor(&self, id: &str, directory: &str, calls: &[Call<'_>]) {
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

    pub(crate) fn import(&mut self) {
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

    pub(crate) fn repo_of(&self, id: &str) -> Option<String> {
        let all = SessionFilter { is_with_programs: true, ..<_>::default() };
        let sessions = self.kept.sessions(&all, 0, 100).unwrap();
        sessions
            .into_iter()
            .find(|session| session.native_id == id)
            .and_then(|session| session.repo)
    }

    pub(crate) fn key_at(&self, directory: &str) -> String {
        let mut machine = Machine::default();
        machine.home = Some(self.home());
        place::place_by_files(&self.path(directory), &machine).own_key.unwrap().to_string()
    }
}
