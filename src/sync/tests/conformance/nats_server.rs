//! Real servers of JetStream on loopback, with their data in the folder of a test. Not here: anything a test asserts.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use event::StoreOrigin;

/// Names the program, which `scripts/test` installs.
const PROGRAM: &str = "AGENT_KNOWLEDGE_TEST_NATS_SERVER";

/// How long a server or a cluster takes to answer.
const READY: Duration = Duration::from_secs(60);

/// The longest payload that a test sends.
const PAYLOAD_BYTES_MAX: usize = 100_000;

/// Returns the program. A test that lacks it says so and returns; with `CI=true` it fails.
pub fn program() -> Option<PathBuf> {
    let program = std::env::var_os(PROGRAM).map(PathBuf::from);
    if program.is_none() {
        let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!is_ci, "{PROGRAM} is missing, and CI may not skip what needs it");
        eprintln!("skipped: {PROGRAM} is missing");
    }
    program
}

/// A server. It ends with this value.
pub struct NatsServer {
    child: Option<Child>,
    args: Vec<String>,
    port: u16,
}

impl NatsServer {
    /// Starts a server with its data in a folder, at a port or at one that is free.
    pub fn start(folder: &Path, port: Option<u16>) -> Self {
        let data = folder.display().to_string();
        let port = port.unwrap_or_else(free_port);
        let args = ["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd", &data];
        Self::with(args.map(str::to_owned).to_vec(), port)
    }

    /// Starts a server from a configuration, which names the port.
    pub fn configured(path: &Path, text: &str, port: u16) -> Self {
        std::fs::write(path, text).unwrap();
        Self::with(vec!["-c".to_owned(), path.display().to_string()], port)
    }

    fn with(args: Vec<String>, port: u16) -> Self {
        let mut server = Self { child: None, args, port };
        server.run();
        server
    }

    pub fn run(&mut self) {
        let program = program().expect("a test without the server does not get here");
        let mut command = Command::new(program);
        command.args(&self.args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        let deadline = Instant::now() + READY;
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < deadline, "the server did not start");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Ends the server with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}/AK1", self.port)
    }

    pub fn server(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Makes the stream, as an administrator does.
    pub fn make_stream(&self, replicas: usize) {
        make_stream(&self.server(), &right(replicas));
    }

    /// Publishes any files under any origin: each of their lines under a subject made from the path.
    pub fn publish(&self, origin: &StoreOrigin, files: &[(&str, &[u8])]) {
        with_stream(&self.server(), async |context| {
            for part in files.chunks(1_000) {
                let mut acks = Vec::new();
                for (path, bytes) in part {
                    let log =
                        path.strip_suffix("/000000.jsonl").unwrap_or(path).replace('.', "%2E");
                    let subject = format!("ak1.e.{}.{log}", origin.as_str());
                    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        let line = line[..line.len().min(PAYLOAD_BYTES_MAX)].to_vec();
                        acks.push(context.publish(subject.clone(), line.into()).await.unwrap());
                    }
                }
                for ack in acks {
                    ack.await.unwrap();
                }
            }
        });
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Three servers that are one cluster.
pub struct Cluster {
    pub servers: Vec<NatsServer>,
}

impl Cluster {
    pub fn start(folder: &Path) -> Self {
        let ports: Vec<(u16, u16)> = (0..3).map(|_| (free_port(), free_port())).collect();
        let routes: Vec<String> =
            ports.iter().map(|(_, route)| format!("\"nats://127.0.0.1:{route}\"")).collect();
        let routes = routes.join(", ");
        let server = |(place, (port, route)): (usize, &(u16, u16))| {
            let data = folder.join(format!("n{place}"));
            let text = format!(
                "server_name: n{place}\nlisten: 127.0.0.1:{port}\njetstream {{ store_dir: {data:?} }}\n\
                 cluster {{ name: team, listen: 127.0.0.1:{route}, routes: [{routes}] }}\n"
            );
            NatsServer::configured(&data.with_extension("conf"), &text, *port)
        };
        Self { servers: ports.iter().enumerate().map(server).collect() }
    }

    pub fn url(&self) -> String {
        let hosts: Vec<String> =
            self.servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        format!("nats://{}/AK1", hosts.join(","))
    }

    /// Ends the server that leads the stream, and returns which one it was.
    pub fn kill_leader(&mut self) -> usize {
        let server = self.servers[0].server();
        let leader = with_stream(&server, async |context| {
            let stream = context.get_stream("AK1").await.unwrap();
            stream.cached_info().cluster.as_ref().unwrap().leader.clone().unwrap()
        });
        let place: usize = leader.trim_start_matches('n').parse().unwrap();
        self.servers[place].kill();
        place
    }
}

/// A stream as it must be.
pub fn right(replicas: usize) -> Config {
    Config {
        name: "AK1".to_owned(),
        subjects: vec!["ak1.e.>".to_owned()],
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        num_replicas: replicas,
        max_message_size: 131_072,
        ..Config::default()
    }
}

/// Makes a stream as soon as the servers can.
pub fn make_stream(server: &str, config: &Config) {
    with_stream(server, async |context| {
        let deadline = Instant::now() + READY;
        while let Err(error) = context.create_stream(config.clone()).await {
            assert!(Instant::now() < deadline, "no stream: {error}");
        }
    });
}

/// Does something as an administrator.
pub fn with_stream<T>(server: &str, work: impl AsyncFnOnce(jetstream::Context) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let member = server.strip_prefix("nats://").unwrap().split_once('@');
        let member = member.and_then(|(member, _)| member.split_once(':'));
        let (name, password) = member.unwrap_or_default();
        let options = async_nats::ConnectOptions::new();
        let options = match member {
            Some(_) => options.user_and_password(name.to_owned(), password.to_owned()),
            None => options,
        };
        let client = options.connect(server).await.unwrap();
        work(jetstream::new(client)).await
    })
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
