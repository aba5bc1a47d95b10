//! A hermetic world: a home, a store and a working directory of its own; nothing of the machine's
//! environment but `PATH`. Not here: anything a test asserts about a promise.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use event::{DecodedLine, Event, codec};
use serde_json::Value;

/// The writing program.
pub const LOG_MEMORY: &str = env!("CARGO_BIN_EXE_log-memory");
/// The reading program.
pub const AGENT_KNOWLEDGE: &str = env!("CARGO_BIN_EXE_agent-knowledge");

/// The measuring program, which belongs to another package and so stands beside the others.
pub fn agent_knowledge_eval() -> PathBuf {
    let name = format!("agent-knowledge-eval{}", std::env::consts::EXE_SUFFIX);
    let program = Path::new(AGENT_KNOWLEDGE).with_file_name(name);
    assert!(program.is_file(), "{} is missing: run the tests with --workspace", program.display());
    program
}

/// One machine with one user.
pub struct World {
    folder: tempfile::TempDir,
    model: PathBuf,
    retriever: &'static str,
}

/// How a program ended, and what it said.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; `None` where a signal ended it.
    pub exit: Option<i32>,
    /// What it printed as data.
    pub output: String,
    /// What it told the person in front of it.
    pub messages: String,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Words only, unless a test brings the model.
        let model = folder.path().join("no-model");
        // A process of its own for each question, unless a test is about sharing one.
        let world = Self { folder, model, retriever: "own" };
        for folder in [world.home(), world.work(), world.path("no-model")] {
            std::fs::create_dir(folder).unwrap();
        }
        world
    }

    /// A world with the embedding model of this directory.
    pub fn with_model(model: PathBuf) -> Self {
        let mut world = Self::new();
        world.model = model;
        world
    }

    /// A world in which all processes share one retriever, which ends with it.
    pub fn sharing() -> Self {
        let mut world = Self::new();
        world.retriever = "shared";
        world
    }

    /// A place in this world.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Where programs run unless told otherwise: a plain folder without git.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// The directory of the logs. Nothing makes it but the programs.
    pub fn store(&self) -> PathBuf {
        self.path("logs")
    }

    /// Where this world's configuration file is read from.
    pub fn config_file(&self) -> PathBuf {
        self.home().join(".config/agent-knowledge/config.toml")
    }

    pub fn configure(&self, text: &str) {
        std::fs::create_dir_all(self.config_file().parent().unwrap()).unwrap();
        std::fs::write(self.config_file(), text).unwrap();
    }

    /// Any program, with nothing of the machine's environment but `PATH`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.work()).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("HOME", self.home())
            .env("USER", "tester")
            .env("AGENT_KNOWLEDGE_HOST", "testbox");
        // Days are those of the user, wherever the tests run.
        command.env("TZ", "UTC");
        command.env("XDG_CONFIG_HOME", self.home().join(".config"));
        command.env("XDG_DATA_HOME", self.home().join(".local/share"));
        command.env("XDG_CACHE_HOME", self.home().join(".cache"));
        command.env("AGENT_KNOWLEDGE_LOGS", self.store());
        command.env("AGENT_KNOWLEDGE_MODEL_DIR", &self.model);
        command.env("AGENT_KNOWLEDGE_CACHE", self.path("cache"));
        command.env("AGENT_KNOWLEDGE_RETRIEVER", self.retriever);
        command.env("AGENT_KNOWLEDGE_RUNTIME", self.path("run"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Tester");
            command.env(format!("GIT_{who}_EMAIL"), "tester@example.org");
            command.env(format!("GIT_{who}_DATE"), "2026-01-02T03:04:05Z");
        }
        command
    }

    /// Runs `log-memory` in the working directory.
    pub fn log_memory(&self, args: &[&str]) -> Ran {
        run(self.command(LOG_MEMORY).args(args), b"")
    }

    /// Runs `log-memory` in another directory of this world.
    pub fn log_memory_in(&self, directory: &Path, args: &[&str]) -> Ran {
        run(self.command(LOG_MEMORY).current_dir(directory).args(args), b"")
    }

    /// Runs `log-memory --json -` on `input`.
    pub fn log_memory_json(&self, input: impl AsRef<[u8]>, args: &[&str]) -> Ran {
        run(self.command(LOG_MEMORY).args(["--json", "-"]).args(args), input.as_ref())
    }

    /// Runs `agent-knowledge` in the working directory.
    pub fn agent_knowledge(&self, args: &[&str]) -> Ran {
        self.agent_knowledge_in(&self.work(), args)
    }

    /// Runs `agent-knowledge` in another directory of this world.
    pub fn agent_knowledge_in(&self, directory: &Path, args: &[&str]) -> Ran {
        run(self.command(AGENT_KNOWLEDGE).current_dir(directory).args(args), b"")
    }

    /// Runs `agent-knowledge` with `--json` and returns its answer.
    pub fn asked(&self, args: &[&str]) -> Value {
        self.agent_knowledge(&[args, &["--json"]].concat()).json()
    }

    /// Runs `agent-knowledge-eval` in the working directory.
    pub fn agent_knowledge_eval(&self, args: &[&str]) -> Ran {
        run(self.command(agent_knowledge_eval()).args(args), b"")
    }

    /// Makes a log as other hands than ours might: whatever bytes.
    pub fn hand_write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.store()).unwrap();
        std::fs::write(self.store().join(name), bytes).unwrap();
    }

    /// Runs git in a directory of this world and returns what it printed.
    pub fn git(&self, directory: &Path, args: &[&str]) -> String {
        std::fs::create_dir_all(directory).unwrap();
        // Submodules and clones of this world come from its own folders.
        let mut command = self.command("git");
        command.args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]);
        let ran = run(command.current_dir(directory).args(args), b"");
        assert_eq!(ran.exit, Some(0), "git {args:?}: {}", ran.messages);
        ran.output.trim_end().to_owned()
    }

    /// The names of the logs, in order.
    pub fn log_names(&self) -> Vec<String> {
        let names = bytes_under(&self.store()).into_keys();
        names
            .filter(|path| path.extension() == Some(OsStr::new("jsonl")))
            .map(|path| path.to_str().unwrap().to_owned())
            .collect()
    }

    /// The complete lines of a log, as bytes; fails where the last one is torn.
    pub fn log_lines(&self, name: &str) -> Vec<Vec<u8>> {
        let bytes = std::fs::read(self.store().join(name)).unwrap();
        let bytes = bytes.strip_suffix(b"\n").expect("the last line has its line break");
        bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    /// The events of a log; fails at a line that holds none.
    pub fn events(&self, name: &str) -> Vec<Event> {
        self.log_lines(name).iter().map(|line| event(line).expect("a line without event")).collect()
    }

    /// The events of all logs.
    pub fn all_events(&self) -> Vec<Event> {
        self.log_names().iter().flat_map(|name| self.events(name)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.retriever == "shared" {
            // One that is gone already needs no ending.
            let _ = self.command(AGENT_KNOWLEDGE).args(["serve", "--stop"]).output();
        }
    }
}

impl Ran {
    /// Returns what it printed, as JSON.
    pub fn json(self) -> Value {
        let output = self.done();
        let line = output.strip_suffix('\n').expect("one line");
        serde_json::from_str(line).expect("JSON and nothing else")
    }

    /// What was printed, where the program ended well.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.exit, Some(0), "{}{}", self.output, self.messages);
        self.output
    }
}

/// Understands one line.
pub fn event(line: &[u8]) -> Option<Event> {
    match codec::decode(line, "") {
        DecodedLine::Event(event) => Some(*event),
        DecodedLine::Blank | DecodedLine::Skipped(_) => None,
    }
}

/// Runs a command to its end, feeding it `input`.
pub fn run(command: &mut Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program that ends without reading its input is none of our business.
        scope.spawn(move || stdin.write_all(input).ok());
        child.wait_with_output().unwrap()
    });
    Ran::from(&output)
}

impl From<&Output> for Ran {
    fn from(output: &Output) -> Self {
        let exit = output.status.code();
        assert_ne!(exit, Some(2), "agents' hooks read 2 as \"block\"");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { exit, output: text(&output.stdout), messages: text(&output.stderr) }
    }
}

/// Every file under a directory with its bytes; empty where there is no directory. A file that a running program
/// removes meanwhile is left out, such as one that is written whole and then renamed.
pub fn bytes_under(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_owned();
                match std::fs::read(&path) {
                    Ok(bytes) => {
                        found.insert(name, bytes);
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => panic!("{}: {error}", path.display()),
                }
            }
        }
    }
    found
}
