//! The program with an engine: one store feeds it, another asks it, and where it does not answer the reply says so. A server
//! of each engine takes part (`scripts/test-engine`). Not here: what the engine finds (the tests of the crate `corpus`).
#![cfg(test)]
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The address of a server on which databases can be made.
const POSTGRES: &str = "AGENT_KNOWLEDGE_TEST_POSTGRES";
/// The address of a server in which collections can be made, and its key, if it asks for one.
const QDRANT: &str = "AGENT_KNOWLEDGE_TEST_QDRANT";
const QDRANT_KEY: &str = "AGENT_KNOWLEDGE_TEST_QDRANT_KEY";
/// How long feeding may take.
const FED_WITHIN: Duration = Duration::from_secs(60);

/// A user with a store, a configuration and nothing else.
struct World(tempfile::TempDir);

impl World {
    fn new(configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("config/agent-knowledge")).unwrap();
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        let file = folder.path().join("config/agent-knowledge/config.toml");
        std::fs::write(file, configuration).unwrap();
        Self(folder)
    }

    fn writes(&self, lines: &[Value]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(self.path().join("logs/github.com+acme+api.jsonl"), text).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-knowledge"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("AGENT_KNOWLEDGE_LOGS", self.path().join("logs"))
            .env("AGENT_KNOWLEDGE_CACHE", self.path().join("cache"))
            .env("AGENT_KNOWLEDGE_RETRIEVER", "own")
            .envs(std::env::var_os(QDRANT_KEY).map(|key| ("ENGINE_KEY", key)));
        command
    }

    fn finds(&self, query: &str) -> String {
        let done = self.command(&["search", query, "--mode", "lexical"]).output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr)
    }
}

/// A server that is stopped at the end.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lesson(id: &str, repo: &str, lesson: &str) -> Value {
    serde_json::json!({"id": id, "timestamp": "2026-03-01T00:00:00Z", "agent_id": "codex", "repo": repo,
        "event_type": "fact", "context": "walrus deployment", "command": "", "lesson": lesson, "source": "agent"})
}

/// Returns the address of a server. `None` where there is none.
fn server_in(variable: &str) -> Option<String> {
    let server = std::env::var_os(variable);
    if server.is_none() {
        let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!is_ci, "{variable} is missing, and CI may not skip what needs it");
        eprintln!("skipped: {variable} is missing; scripts/test-engine starts a server");
    }
    server.map(|server| server.into_string().unwrap())
}

/// A new database.
fn database() -> Option<String> {
    let (server, name) = (server_in(POSTGRES)?, format!("p{}", std::process::id()));
    let address = corpus::postgres::EngineAddress::parse(&format!("{server}/postgres"), None);
    let admin = corpus::postgres::PostgresCorpus::at(address.unwrap()).unwrap();
    admin.make_database(&name).unwrap();
    Some(format!("{server}/{name}"))
}

// S-CORPUS-5, S-CORPUS-9, S-CORPUS-10
#[test]
fn what_one_store_feeds_another_finds() {
    let Some(url) = database() else { return };
    fed_and_found(&url, &[], &format!("[engine]\nurl = {url:?}\n"));
}

// S-CORPUS-5, S-CORPUS-8, S-CORPUS-9, S-CORPUS-10
#[test]
fn what_one_feeds_qdrant_another_finds() {
    let Some(server) = server_in(QDRANT) else { return };
    let url = format!("{server}/test-p{}", std::process::id());
    let named: &[&str] = match std::env::var_os(QDRANT_KEY) {
        Some(_) => &["--index-password-env", "ENGINE_KEY"],
        None => &[],
    };
    let key = if named.is_empty() { "" } else { "password_env = \"ENGINE_KEY\"\n" };
    fed_and_found(&url, named, &format!("[engine]\nurl = {url:?}\n{key}"));
}

fn fed_and_found(url: &str, named: &[&str], engine: &str) {
    let team = tempfile::tempdir().unwrap();
    let remote = format!("folder:{}", team.path().display());
    let sync = format!("[sync]\nremote = {remote:?}\nshare = [\"github.com/acme/*\"]\n");
    let (author, feeding) = (World::new(&sync), World::new(&sync));
    let shared = "github.com/acme/api";
    let mut private = lesson("m2", shared, "the walrus of another customer needs helm");
    private["private"] = true.into();
    author.writes(&[lesson("m1", shared, "the walrus needs kubernetes 1.29 and a quota"), private]);
    assert!(author.command(&["sync", "--yes"]).status().unwrap().success());
    let mut serve =
        feeding.command(&["serve", "--team", "--http", "127.0.0.1:0", "--index-to", url]);
    serve.args(named).env("AGENT_KNOWLEDGE_TOKEN", "a-token-of-more-than-thirty-two-characters");
    let _serving = Served(serve.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap());

    let asking = World::new(engine);
    asking.writes(&[lesson("own", shared, "the walrus is deployed on fridays only")]);
    let begun = Instant::now();
    let found = loop {
        let found = asking.finds("what does the walrus need");
        if found.contains("kubernetes 1.29") || begun.elapsed() > FED_WITHIN {
            break found;
        }
        std::thread::park_timeout(Duration::from_millis(200));
    };
    assert!(found.contains("kubernetes 1.29"), "{found}");
    assert!(found.contains("[own]"), "this machine answers too: {found}");
    assert!(!found.contains("only the memories of this machine"), "{found}");
    assert!(!found.contains("helm"), "what is private does not leave: {found}");
    let then = asking.command(&["search", "walrus", "--as-of", "2026-05-01"]).output().unwrap();
    let then = String::from_utf8_lossy(&then.stdout).into_owned();
    assert!(then.contains("knows only the present") && !then.contains("1.29"), "{then}");
}

// S-CORPUS-6, S-CORPUS-9
#[test]
fn without_its_engine_a_search_says_so() {
    for url in ["postgres://me@127.0.0.1:9/nothing", "http://127.0.0.1:9/nothing"] {
        let world = World::new(&format!("[engine]\nurl = {url:?}\n"));
        let own = lesson("own", "github.com/acme/api", "the walrus is deployed on fridays only");
        world.writes(&[own]);
        let found = world.finds("walrus");
        assert!(found.contains("on fridays only"), "{url}: {found}");
        let notice = "only the memories of this machine were searched; the engine cannot be asked";
        assert!(found.contains(notice), "{url}: {found}");
    }
}
