//! A retriever and its clients in one process. The integration tests use real processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::endpoint::Endpoint;
use crate::host::{Host, HostEnd};
use crate::process::RetrieverCommand;
use crate::protocol::PROTOCOL;
use crate::retriever_client::RetrieverClient;
use crate::retriever_connection::ask_to_leave;
use crate::stream::ListenerTransport;
use api::local::Core;
use engine::watch::WatchMode;
use engine::{Engine, EngineSetup};
use event::{Draft, EventId};
use guard::secrets::RedactedText;
use memory::MemoryBound;
use requests::Request;
use requests::caller::{Caller, Patience};
use requests::fake_api::FakeApi;
use requests::{Api, ApiError, SearchRequest, Voice};
use settings::Config;
use store::Store;
use writer::Moment;

const VERSION: &str = "1.2.3";

struct World {
    folder: tempfile::TempDir,
    /// How often a client answered in its own process.
    alone: Arc<AtomicUsize>,
}

fn moment() -> Moment {
    Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random: 7 }
}

/// Each id is another one; otherwise the second save would repeat the first.
fn fresh_id() -> EventId {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    let number = COUNT.fetch_add(1, Ordering::SeqCst);
    EventId::mint(moment().now, u128::try_from(number).unwrap())
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), alone: Arc::default() };
        std::fs::create_dir(world.folder.path().join("work")).unwrap();
        world
    }

    fn endpoint(&self) -> Endpoint {
        let endpoint = Endpoint::for_settings(self.folder.path().join("run"), &["settings"]);
        endpoint.create_folder().unwrap();
        endpoint
    }

    fn host(
        &self,
        transport: ListenerTransport,
        version: &str,
        idle: Option<Duration>,
    ) -> std::thread::JoinHandle<HostEnd> {
        let elected = self.endpoint().elect().unwrap();
        let host = self.listening(transport, version, idle);
        std::thread::spawn(move || {
            let _until_the_end = elected;
            host.run()
        })
    }

    fn listening(
        &self,
        transport: ListenerTransport,
        version: &str,
        idle: Option<Duration>,
    ) -> Host {
        let store = Store::at(self.folder.path().join("logs"));
        let config = Config::default();
        let setup = EngineSetup {
            store: store.clone(),
            config: config.clone(),
            bound: MemoryBound::NONE,
            watching: WatchMode::PollOnly,
            dense: None,
            checkpoints: None,
        };
        let engine = Engine::start(setup).unwrap();
        let model_dir = self.folder.path().join("model");
        let clock = Box::new(moment);
        let core = Core {
            doctor: <_>::default(),
            work_trees: <_>::default(),
            past: <_>::default(),
            second_source: None,
            reranker: None,
            engine,
            store,
            config,
            model_dir,
            query_log: None,
            delivery_journal: None,
            watching: WatchMode::PollOnly,
            past_sessions: <_>::default(),
            links: <_>::default(),
            analysis_cache: <_>::default(),
            clock,
        };
        Host::listen_with(transport, self.endpoint(), Arc::new(core), version, idle).unwrap()
    }

    /// Makes a client that would start a retriever with this program.
    fn remote(&self, program: &str) -> RetrieverClient {
        let patience = Patience { query: Duration::ZERO, ..Patience::FOR_PERSON };
        let caller = Caller {
            directory: Some(self.folder.path().join("work")),
            agent_id: "tester".into(),
            session_id: None,
            source: Some("agent".to_owned()),
            host: None,
            patience: Patience { model: Duration::ZERO, embed: Duration::ZERO, ..patience },
        };
        let alone = Arc::clone(&self.alone);
        RetrieverClient {
            endpoint: self.endpoint(),
            retriever_command: RetrieverCommand {
                program: program.into(),
                args: Vec::new(),
                environment: Vec::new(),
                directory: self.folder.path().to_owned(),
                clock: moment,
            },
            program: "test".to_owned(),
            version: VERSION.to_owned(),
            caller,
            open_local: Arc::new(move |_: &Caller| {
                alone.fetch_add(1, Ordering::SeqCst);
                Ok(FakeApi::new())
            }),
            fresh_id: Arc::new(fresh_id),
            state: <_>::default(),
        }
    }

    fn answers_alone(&self) -> usize {
        self.alone.load(Ordering::SeqCst)
    }
}

fn lesson(text: &str) -> Draft {
    let text = Some(text.to_owned());
    Draft { lesson: text, event_type: Some("error".to_owned()), ..Draft::default() }
}

fn found(remote: &RetrieverClient, query: &str) -> String {
    let request = SearchRequest { query: query.into(), ..SearchRequest::default() };
    remote.ask(&Request::Search(request)).unwrap().text
}

// S-SERVE-1
#[test]
fn one_client_finds_what_another_saved_over_any_transport() {
    for transport in [ListenerTransport::Best, ListenerTransport::Loopback] {
        let world = World::new();
        let host = world.host(transport, VERSION, None);
        let (one, other) = (world.remote("/nowhere"), world.remote("/nowhere"));
        let codex = Voice::Model { client: Some(RedactedText::stamp("codex")), session: None };
        let save = Request::Save(Box::new(lesson("restart the flux capacitor")));
        one.ask_as(&save, &codex).unwrap();
        assert!(found(&other, "flux capacitor").contains("restart the flux"), "{transport:?}");
        let error = other.ask(&Request::Save(Box::default())).unwrap_err();
        assert!(matches!(error, ApiError::Invalid(_)), "{error}");
        let status = other.ask(&Request::Status).unwrap();
        assert!(!status.text.contains("process"), "{}", status.text);
        assert_eq!(status.json["clients"]["attached"].as_array().map(Vec::len), Some(1));
        assert_eq!(status.json["clients"]["attached"][0]["connections"], 2);
        assert_eq!(world.answers_alone(), 0);
        assert!(ask_to_leave(&other));
        assert_eq!(host.join().unwrap(), HostEnd::StopRequested);
        assert!(!world.endpoint().has_socket_file(), "the socket file must be gone");
    }
}

// S-SERVE-2
#[test]
fn a_client_without_the_token_is_refused() {
    use std::io::{Read, Write};
    let world = World::new();
    let host = world.host(ListenerTransport::Loopback, VERSION, None);
    let text = std::fs::read_to_string(world.endpoint().port_file()).unwrap();
    let (port, token) = text.trim().split_once(' ').unwrap();
    let wrong: String = token.chars().rev().collect();
    let mut other = std::net::TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    other.write_all(format!("{wrong}{{\"protocol\":1}}\n").as_bytes()).unwrap();
    let mut received = String::new();
    let _ = other.read_to_string(&mut received);
    assert_eq!(received, "");
    assert!(ask_to_leave(&world.remote("/nowhere")));
    host.join().unwrap();
}

// S-SERVE-2
#[test]
fn a_stale_token_is_sent_to_nobody() {
    let world = World::new();
    let other = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    other.set_nonblocking(true).unwrap();
    let text = format!("{} {}\n", other.local_addr().unwrap().port(), "a".repeat(64));
    std::fs::write(world.endpoint().port_file(), text).unwrap();
    assert!(found(&world.remote("/nowhere"), "x").contains("search \"x\""));
    let accepted = other.accept().map(|_| ());
    assert_eq!(accepted.unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "a client connected");
}

// S-SERVE-3
#[test]
fn without_a_retriever_the_client_answers_itself() {
    for program in ["/nowhere/at/all", "false"] {
        let world = World::new();
        assert!(found(&world.remote(program), "x").contains("search \"x\""));
        assert_eq!(world.answers_alone(), 1, "{program}");
    }
}

// S-SERVE-3
#[test]
fn after_a_failure_the_client_waits_before_a_retry() {
    let world = World::new();
    let remote = world.remote("/nowhere");
    found(&remote, "x");
    let host = world.host(ListenerTransport::Best, VERSION, None);
    found(&remote, "x");
    assert_eq!(world.answers_alone(), 1, "the memory was opened once, without a retry");
    remote.state.expire_last_attempt();
    assert!(found(&remote, "x").contains("No relevant memories"), "the retriever answers");
    assert!(ask_to_leave(&world.remote("/nowhere")));
    host.join().unwrap();
}

// S-SERVE-3
#[test]
fn a_retriever_that_left_is_replaced() {
    let world = World::new();
    let host = world.host(ListenerTransport::Best, VERSION, None);
    let remote = world.remote("/nowhere");
    remote.ask(&Request::Save(Box::new(lesson("alpha")))).unwrap();
    assert!(ask_to_leave(&world.remote("/nowhere")));
    host.join().unwrap();
    let host = world.host(ListenerTransport::Best, VERSION, None);
    assert!(found(&remote, "alpha").contains("alpha"));
    assert_eq!(world.answers_alone(), 0);
    assert!(ask_to_leave(&remote));
    host.join().unwrap();
}

// S-SERVE-4
#[test]
fn an_older_retriever_leaves_and_a_newer_one_is_used() {
    let world = World::new();
    let host = world.host(ListenerTransport::Best, "1.10.0", None);
    found(&world.remote("/nowhere"), "x");
    assert_eq!(world.answers_alone(), 0, "1.10.0 is newer than 1.2.3");
    assert!(ask_to_leave(&world.remote("/nowhere")));
    host.join().unwrap();
    let host = world.host(ListenerTransport::Best, "1.2.2", None);
    found(&world.remote("/nowhere"), "x");
    assert_eq!(host.join().unwrap(), HostEnd::StopRequested);
    assert_eq!(world.answers_alone(), 1, "there is no program to start");
}

// S-SERVE-4
#[test]
fn another_protocol_can_only_ask_to_leave() {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixStream;
    let world = World::new();
    let host = world.host(ListenerTransport::Best, VERSION, None);
    let mut other = UnixStream::connect(world.endpoint().socket()).unwrap();
    other.write_all(b"{\"protocol\":99,\"unheard\":\"of\"}\n\"leave\"\n").unwrap();
    let mut welcome = String::new();
    BufReader::new(other).read_line(&mut welcome).unwrap();
    assert!(welcome.contains(&format!("\"protocol\":{PROTOCOL}")), "{welcome}");
    assert_eq!(host.join().unwrap(), HostEnd::StopRequested);
}

// S-SERVE-5
#[test]
fn it_stops_when_idle_and_not_before() {
    let world = World::new();
    let host = world.host(ListenerTransport::Best, VERSION, Some(Duration::from_millis(50)));
    assert_eq!(host.join().unwrap(), HostEnd::Idle);
    let host = world.host(ListenerTransport::Best, VERSION, Some(Duration::from_millis(50)));
    let remote = world.remote("/nowhere");
    let attached = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| remote.prepare()));
    assert!(attached.is_ok());
    if world.answers_alone() == 0 && !host.is_finished() {
        // The client connected in time: while it stays attached, the retriever runs.
        std::thread::park_timeout(Duration::from_millis(150));
        assert!(!host.is_finished());
    }
    drop(remote);
    assert_eq!(host.join().unwrap(), HostEnd::Idle);
}

#[test]
fn only_one_is_elected() {
    let world = World::new();
    let endpoint = world.endpoint();
    let elected = endpoint.elect_now().unwrap();
    assert!(endpoint.elect_now().is_err());
    drop(elected);
    assert!(endpoint.elect_now().is_ok());
}

// S-HTTP-6
#[test]
fn guests_keep_it_running_and_their_calls_finish() {
    let world = World::new();
    let idle = Duration::from_millis(50);
    let mut host = world.listening(ListenerTransport::Best, VERSION, Some(idle));
    let (guests, stop) = (host.guests(), host.stopper());
    let (sender, closing) = std::sync::mpsc::channel();
    host.on_end(move || sender.send(()).unwrap());
    guests.add_status(|status| status.with_line("http", "here"));
    let visit = guests.visit();
    let running = std::thread::spawn(move || host.run());
    assert!(closing.recv_timeout(4 * idle).is_err(), "a guest is attached");
    drop(visit);
    closing.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(running.join().unwrap(), HostEnd::Idle);
    drop(stop);
    let host = world.listening(ListenerTransport::Best, VERSION, None);
    let (guests, stop) = (host.guests(), host.stopper());
    let call = guests.call();
    let running = std::thread::spawn(move || host.run());
    stop();
    // The retriever cannot stop before, so the length of this wait only decides how soon a fault
    // would show.
    std::thread::park_timeout(2 * idle);
    assert!(!running.is_finished());
    drop(call);
    assert_eq!(running.join().unwrap(), HostEnd::StopRequested);
}
