//! Several machines with a store each, and a remote between them. Not here: anything a test asserts about a promise.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use event::{RepoKey, StoreOrigin};
use jiff::Timestamp;
use settings::SyncPolicy;
use store::Store;
use sync::{
    Consent, FilePart, FolderRemote, GitRemote, NextTree, Preview, PublishOutcome, RemoteAddress,
    RemoteHistory, RemoteKind, SyncError, SyncReport, SyncRequest, Tip, Transport, preview,
    sync_round,
};

/// Returns the ways to a remote that this machine has.
pub fn kinds() -> impl Iterator<Item = Kind> {
    let nats = crate::nats_server::program().map(|_| Kind::Nats);
    [Kind::Folder, Kind::Git].into_iter().chain(nats)
}

/// A way to a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Folder,
    Git,
    Nats,
}

/// The log that the tests write to.
pub const API: &str = "github.com+acme+api.jsonl";

pub fn api() -> RepoKey {
    RepoKey::parse("github.com/acme/api").unwrap()
}

/// The time at which tests begin, unless they change it.
pub fn noon() -> Timestamp {
    "2026-03-04T12:00:00Z".parse().unwrap()
}

/// A remote, and a folder for everything.
pub struct Team {
    pub folder: tempfile::TempDir,
    pub kind: Kind,
    pub server: std::cell::RefCell<Option<crate::nats_server::NatsServer>>,
}

impl Team {
    pub fn new(kind: Kind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let team = Self { folder, kind, server: std::cell::RefCell::new(None) };
        team.make_remote();
        team
    }

    pub fn remote_path(&self) -> PathBuf {
        self.folder.path().join("remote")
    }

    pub fn make_remote(&self) {
        std::fs::create_dir(self.remote_path()).unwrap();
        match self.kind {
            Kind::Folder => {}
            Kind::Git => drop(git(&self.remote_path(), &["init", "--quiet", "--bare"], "")),
            Kind::Nats => {
                let port = self.server.borrow_mut().take().map(|server| server.port());
                let server = crate::nats_server::NatsServer::start(&self.remote_path(), port);
                server.make_stream(1);
                self.server.replace(Some(server));
            }
        }
    }

    /// Takes the remote away, so that nobody answers.
    pub fn take_remote_away(&self) {
        if let Some(server) = self.server.borrow_mut().as_mut() {
            return server.kill();
        }
        std::fs::rename(self.remote_path(), self.folder.path().join("away")).unwrap();
    }

    pub fn bring_remote_back(&self) {
        if let Some(server) = self.server.borrow_mut().as_mut() {
            return server.run();
        }
        std::fs::rename(self.folder.path().join("away"), self.remote_path()).unwrap();
    }

    /// Makes another remote in the place of the one that there was.
    pub fn lose_remote(&self) {
        if let Some(server) = self.server.borrow_mut().as_mut() {
            server.kill();
        }
        std::fs::remove_dir_all(self.remote_path()).unwrap();
        self.make_remote();
    }

    /// The address of the remote.
    pub fn address(&self) -> String {
        let path = self.remote_path().display().to_string();
        match self.kind {
            Kind::Folder => format!("folder:{path}"),
            Kind::Git => path,
            Kind::Nats => self.server.borrow().as_ref().unwrap().url(),
        }
    }

    /// A machine with an empty store.
    pub fn laptop(&self, host: &str) -> Laptop {
        self.laptop_at(host, &self.address())
    }

    /// A machine that reaches the remote at an address of its own.
    pub fn laptop_at(&self, host: &str, address: &str) -> Laptop {
        let folder = self.folder.path().join(host);
        std::fs::create_dir(&folder).unwrap();
        let share = vec!["github.com/acme/*".to_owned()];
        let laptop = Laptop {
            store: Store::at(folder.join("logs")),
            cache: folder.join("cache"),
            host: host.to_owned(),
            remote: RemoteAddress::parse(address).unwrap(),
            policy: SyncPolicy { share, ..SyncPolicy::default() },
            now: Cell::new(noon()),
            written: Cell::new(0),
        };
        laptop.store.ensure().unwrap();
        std::fs::create_dir(&laptop.cache).unwrap();
        laptop
    }

    /// Publishes any files under any origin, as a program of somebody else could.
    pub fn publish(&self, origin: &StoreOrigin, files: &[(&str, &[u8])]) -> PublishOutcome {
        let stranger = self.laptop(&format!("stranger-{}", origin.as_str()));
        let published = stranger.with_transport(&|_| {}, |transport| {
            let tips = transport.tips().unwrap();
            let there: Vec<_> = tips.tips.clone().into_iter().collect();
            transport.bring(&there).unwrap();
            let next = NextTree {
                origin,
                on: tips.tips.get(origin),
                history: RemoteHistory::Keep,
                files: files.iter().map(|(path, bytes)| (*path, FilePart::New(bytes))).collect(),
                at: noon(),
            };
            let tip: Tip = transport.prepare(&next).unwrap();
            transport.publish(&next, &tip).unwrap()
        });
        std::fs::remove_dir_all(stranger.cache.parent().unwrap()).unwrap();
        if let (Kind::Nats, PublishOutcome::Refused(_)) = (self.kind, &published) {
            let server = self.server.borrow();
            server.as_ref().unwrap().publish(origin, files);
        }
        published
    }
}

/// One machine.
pub struct Laptop {
    pub store: Store,
    pub cache: PathBuf,
    pub host: String,
    pub remote: RemoteAddress,
    pub policy: SyncPolicy,
    pub now: Cell<Timestamp>,
    written: Cell<usize>,
}

impl Laptop {
    /// Writes a lesson, and returns its line.
    pub fn write(&self, lesson: &str) -> String {
        let id = format!("{}-{}", self.host, self.written.replace(self.written.get() + 1));
        let line = format!(
            r#"{{"id":"{id}","timestamp":"2026-03-04T11:00:00Z","repo":"github.com/acme/api","lesson":"{lesson}"}}"#
        );
        self.write_line(API, &line);
        line
    }

    pub fn write_line(&self, log: &str, line: &str) {
        let path = self.store.root().join(log);
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// Changes the text of a log, as `scrub` and editors do.
    pub fn change(&self, log: &str, change: impl Fn(&str) -> String) {
        let path = self.store.root().join(log);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, change(&text)).unwrap();
    }

    /// One round, in which everything shared is agreed to.
    pub fn sync(&self) -> SyncReport {
        self.try_sync(Consent::Given).unwrap()
    }

    pub fn try_sync(&self, consent: Consent) -> Result<SyncReport, SyncError> {
        self.sync_with_steps(consent, &|_| {})
    }

    /// One round that tells its steps.
    pub fn sync_with_steps(
        &self,
        consent: Consent,
        steps: &dyn Fn(&'static str),
    ) -> Result<SyncReport, SyncError> {
        self.with_transport(steps, |transport| {
            self.with_request((consent, steps), |request| sync_round(request, transport))
        })
    }

    /// One round over a transport of the test, in which everything shared is agreed to.
    pub fn sync_over(&self, transport: &mut dyn Transport) -> SyncReport {
        let round = |request: &SyncRequest<'_>| sync_round(request, transport);
        self.with_request((Consent::Given, &|_| {}), round).unwrap()
    }

    pub fn preview(&self) -> Preview {
        let steps = |_| {};
        self.with_transport(&steps, |transport| {
            self.with_request((Consent::AsBefore, &steps), |request| preview(request, transport))
        })
        .unwrap()
    }

    fn with_request<T>(
        &self,
        (consent, steps): (Consent, &dyn Fn(&'static str)),
        work: impl FnOnce(&SyncRequest<'_>) -> T,
    ) -> T {
        let random = || u64::from_le_bytes(random_bytes());
        work(&SyncRequest {
            store: &self.store,
            policy: &self.policy,
            remote: &self.remote,
            cache: &self.cache,
            host: &self.host,
            now: self.now.get(),
            random: &random,
            consent,
            steps,
        })
    }

    pub fn with_transport<T>(
        &self,
        steps: &dyn Fn(&'static str),
        work: impl FnOnce(&mut dyn Transport) -> T,
    ) -> T {
        match self.remote.kind() {
            RemoteKind::Folder(folder) => work(&mut FolderRemote::at(folder, steps)),
            RemoteKind::Git(_) => {
                let remote = GitRemote::open(&self.cache, &self.remote, &|_| None, steps);
                work(&mut remote.unwrap())
            }
            RemoteKind::Nats(address) => {
                let named = (address, &self.remote);
                work(&mut sync::NatsRemote::at(named, None, &self.cache, steps))
            }
        }
    }

    pub fn origin(&self) -> StoreOrigin {
        self.store.origin().unwrap().unwrap()
    }

    /// The lines of a mirror, in order; nothing if there is none.
    pub fn mirror(&self, origin: &StoreOrigin) -> Vec<String> {
        let path = self.store.mirror_of(origin, API);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        assert!(text.is_empty() || text.ends_with('\n'), "a line is torn");
        text.lines().map(str::to_owned).collect()
    }

    /// How often each line is here, in the own logs and in all mirrors.
    pub fn all_lines(&self) -> BTreeMap<String, usize> {
        let mut lines = BTreeMap::new();
        let files = self.store.logs().unwrap().into_iter().chain(self.store.mirrors().unwrap());
        for file in files {
            for line in std::fs::read_to_string(file).unwrap().lines() {
                *lines.entry(line.to_owned()).or_default() += 1;
            }
        }
        lines
    }

    pub fn forget_cache(&self) {
        std::fs::remove_dir_all(&self.cache).unwrap();
        std::fs::create_dir(&self.cache).unwrap();
    }
}

/// Unlike a clock, no two machines of a test have the same.
fn random_bytes() -> [u8; 8] {
    let mut bytes = [0; 8];
    let mut file = std::fs::File::open("/dev/urandom").unwrap();
    std::io::Read::read_exact(&mut file, &mut bytes).unwrap();
    bytes
}

/// Runs git as somebody else, without the settings of this machine, and returns what it printed.
pub fn git(directory: &Path, args: &[&str], input: &str) -> String {
    let mut git = Command::new("git");
    git.current_dir(directory).args(args);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Tester");
        git.env(format!("GIT_{who}_EMAIL"), "tester@example.org");
    }
    git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = git.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {words}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
