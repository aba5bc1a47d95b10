//! A small store with something of everything that an answer can tell, at a fixed time. Not here: what is asked of it (`answer_cases`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::journal::agent_delivery::{AgentDelivery, AgentPlace, DeliveryJournal};
use crate::local::{Core, Local};
use crate::query_log::QueryLog;
use engine::watch::WatchMode;
use engine::{Engine, EngineSetup};
use event::{RepoKey, Timestamp};
use guard::secrets::RedactedText;
use memory::MemoryBound;
use requests::caller::{Caller, Patience};
use sessions::import_scope::ImportScope;
use sessions::past_sessions::PastSessions;
use sessions::session_import::ImportPlan;
use sessions::session_store::SessionStore;
use settings::Config;
use store::Store;
use transcripts::readers::READERS;
use transcripts::source::TranscriptPlaces;
use writer::Moment;

/// When everything is asked.
const NOW: &str = "2026-03-01T12:00:00Z";

/// Files of this time changed after every memory that names them.
const LONG_AFTER: Duration = Duration::from_secs(4_102_444_800);

/// The lines of each repository.
const LOGS: &[(&str, &str)] = &[
    ("example.org/acme/api", include_str!("logs/api.jsonl")),
    ("example.org/acme/web", include_str!("logs/web.jsonl")),
    ("example.org/acme/shop", include_str!("logs/shop.jsonl")),
    ("global", include_str!("logs/global.jsonl")),
];

/// A past session; `TREE` stands for the work tree.
const SESSION: &str = include_str!("logs/session.jsonl");

/// A folder with a store, a work tree, kept sessions and a journal.
pub(super) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// Makes a folder without a store, in which nothing is known.
    pub(super) fn empty() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(world.tree()).unwrap();
        git(&world.tree(), &["init", "--quiet", "--initial-branch=main"]);
        // The address names the repository; without one its path would.
        git(&world.tree(), &["remote", "add", "origin", "https://example.org/acme/api.git"]);
        world
    }

    /// Makes a folder with everything.
    pub(super) fn full() -> Self {
        let world = Self::empty();
        world.make_tree();
        for (name, text) in LOGS {
            let repo = RepoKey::parse(name).unwrap();
            std::fs::create_dir_all(world.store().root()).unwrap();
            std::fs::write(world.store().log_of(&repo), text).unwrap();
        }
        world.keep_session();
        let queries = QueryLog::for_store(&world.cache(), world.store().root());
        for query in ["walrus build fails", "walrus build broken", "yak shaving"] {
            queries.record_search(&query.into(), RepoKey::parse(LOGS[0].0).ok().as_ref(), now());
        }
        world.record_delivery();
        world
    }

    /// Asks as an agent in the work tree.
    pub(super) fn agent(&self) -> Local {
        Local::new(self.core(), caller(Some(self.tree())))
    }

    /// Asks as an agent in a folder of the work tree.
    pub(super) fn agent_below(&self, folder: &str) -> Local {
        Local::new(self.core(), caller(Some(self.tree().join(folder))))
    }

    /// Writes the log of the repository.
    pub(super) fn write_log(&self, lines: &[Value]) {
        let repo = RepoKey::parse(LOGS[0].0).unwrap();
        std::fs::create_dir_all(self.store().root()).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(self.store().log_of(&repo), text).unwrap();
    }

    /// Writes a file of the work tree.
    pub(super) fn write_file(&self, path: &str, text: &str) {
        let path = self.tree().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Renames a file or folder of the work tree as git does.
    pub(super) fn rename(&self, from: &str, to: &str) {
        git(&self.tree(), &["mv", from, to]);
    }

    /// Removes a folder of the work tree.
    pub(super) fn remove(&self, folder: &str) {
        std::fs::remove_dir_all(self.tree().join(folder)).unwrap();
    }

    /// Commits all that is in the work tree.
    pub(super) fn commit(&self) {
        commit(&self.tree(), NOW);
    }

    /// Asks over a network: without a directory, after an agent came from the work tree.
    pub(super) fn network(&self) -> Local {
        let core = self.core();
        drop(Local::new(Arc::clone(&core), caller(Some(self.tree()))));
        Local::new(core, caller(None))
    }

    /// Returns an answer with the names of this folder and figures of this machine taken out.
    pub(super) fn without_place(&self, json: Value) -> Value {
        let place = self.folder.path().canonicalize().unwrap();
        let places = [place.as_path(), self.folder.path()].map(|path| path.display().to_string());
        without(json, &places)
    }

    fn store(&self) -> Store {
        Store::at(self.folder.path().join("logs"))
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("api")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn sessions(&self) -> PathBuf {
        self.folder.path().join("sessions")
    }

    fn core(&self) -> Arc<Core> {
        let (store, config) = (self.store(), Config::default());
        let setup = EngineSetup {
            store: store.clone(),
            config: config.clone(),
            bound: MemoryBound { bytes_max: 64 << 20, vector_bytes: 0 },
            watching: WatchMode::PollOnly,
            dense: None,
            checkpoints: None,
        };
        Arc::new(Core {
            engine: Engine::start(setup).unwrap(),
            watching: WatchMode::PollOnly,
            model_dir: self.folder.path().join("model"),
            query_log: Some(QueryLog::for_store(&self.cache(), store.root())),
            delivery_journal: DeliveryJournal::for_store(&self.cache(), &store, &config),
            links: <_>::default(),
            analysis_cache: <_>::default(),
            past_sessions: PastSessions::at(&self.sessions(), &self.cache()),
            work_trees: <_>::default(),
            past: <_>::default(),
            second_source: None,
            reranker: None,
            doctor: <_>::default(),
            clock: Box::new(|| Moment { now: now(), random: 7 }),
            store,
            config,
        })
    }

    /// Makes a work tree with a file that changed and one that is gone.
    fn make_tree(&self) {
        let tree = self.tree();
        std::fs::create_dir_all(tree.join("src")).unwrap();
        for name in ["net.rs", "gone.rs", "old.rs"] {
            std::fs::write(tree.join("src").join(name), "fn bind_port() {}\n").unwrap();
        }
        commit(&tree, "2026-01-05T12:00:00Z");
        std::fs::remove_file(tree.join("src/gone.rs")).unwrap();
        commit(&tree, "2026-01-25T12:00:00Z");
        let changed = std::fs::File::options().write(true).open(tree.join("src/net.rs")).unwrap();
        changed.set_modified(SystemTime::UNIX_EPOCH + LONG_AFTER).unwrap();
    }

    fn keep_session(&self) {
        let home = self.folder.path().join("home");
        let project = home.join(".claude/projects/api");
        std::fs::create_dir_all(&project).unwrap();
        let tree = self.tree().display().to_string().replace('\\', "/");
        std::fs::write(project.join("s1.jsonl"), SESSION.replace("TREE", &tree)).unwrap();
        let mut kept = SessionStore::create(&self.sessions()).unwrap();
        let (data, config) = (home.join("data"), home.join("config"));
        let places =
            TranscriptPlaces { home, data, config, work_trees: Vec::new(), lookup: &|_| None };
        let plan = ImportPlan::make(READERS, &places, Some(&kept), ImportScope::default()).unwrap();
        let done = plan.run(&mut kept, 1, &AtomicBool::new(false), &mut |_| {}).unwrap();
        assert_eq!((done.sessions, done.errors.len()), (1, 0), "{done:?}");
    }

    fn record_delivery(&self) {
        let teller =
            DeliveryJournal::for_store(&self.cache(), &self.store(), &Config::default()).unwrap();
        let delivery = AgentDelivery {
            agent: &"claude-code".into(),
            session: Some(&"s1".into()),
            place: AgentPlace::Named("example.org/acme/api"),
            by: crate::journal::agent_delivery::BY_TOOL,
            occasion: "memory_search",
            query: Some(&"port in use".into()),
            text: "1. Bind port 0",
            is_silent: false,
            memories: &["m1".to_owned(), "gone".to_owned()],
        };
        teller.record(&delivery, now());
        let hook = crate::journal::agent_delivery::BY_HOOK;
        teller.record(
            &AgentDelivery { occasion: "SessionStart", by: hook, query: None, ..delivery },
            now(),
        );
        teller
            .record(&AgentDelivery { is_silent: true, text: "", memories: &[], ..delivery }, now());
    }
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn caller(directory: Option<PathBuf>) -> Caller {
    let wait = Duration::from_secs(60);
    Caller {
        directory,
        agent_id: RedactedText::redact("claude-code"),
        session_id: Some(RedactedText::redact("s9")),
        source: Some("agent".to_owned()),
        host: None,
        patience: Patience { index: wait, query: wait, ..Patience::FOR_AGENT },
    }
}

/// Commits all that is there at a time.
fn commit(tree: &Path, at: &str) {
    git(tree, &["add", "--all"]);
    run_git(tree, &["commit", "--quiet", "--message", "x"], at);
}

fn git(tree: &Path, args: &[&str]) {
    run_git(tree, args, NOW);
}

fn run_git(tree: &Path, args: &[&str], at: &str) {
    let mut git = Command::new("git");
    git.arg("-C").arg(tree).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.env("GIT_AUTHOR_DATE", at).env("GIT_COMMITTER_DATE", at);
    let ran = git.args(args).output().unwrap();
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn without(json: Value, places: &[String]) -> Value {
    match json {
        Value::String(text) => {
            let plain =
                places.iter().fold(text.clone(), |text, place| text.replace(place, "<folder>"));
            if plain == text { text.into() } else { plain.replace('\\', "/").into() }
        }
        Value::Array(items) => items.into_iter().map(|item| without(item, places)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| match name.as_str() {
                "held_bytes" => (name, 0.into()),
                _ => (name, without(value, places)),
            })
            .collect(),
        plain => plain,
    }
}
