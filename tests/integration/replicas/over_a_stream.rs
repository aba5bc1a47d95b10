//! Replicas over a cluster of three real NATS servers (`scripts/test` installs them), the way for a big team. Not here: what a stream does
//! in every case (the tests of the crate `sync`), the same over a folder (`replicas`).

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::{SETTLED, STEP, replicas_answer_alike};
use crate::pieces;
use crate::world::World;

/// Three servers that are one cluster. They end with this value.
struct Cluster {
    servers: Vec<Child>,
    ports: Vec<u16>,
}

impl Cluster {
    fn start(program: &Path, team: &World) -> Self {
        let ports: Vec<(u16, u16)> = (0..3).map(|_| (free_port(), free_port())).collect();
        let routes: Vec<String> =
            ports.iter().map(|(_, route)| format!("\"nats://127.0.0.1:{route}\"")).collect();
        let servers = ports.iter().enumerate().map(|(place, (port, route))| {
            let (data, file) = (team.path(format!("n{place}")), team.path(format!("n{place}.conf")));
            let text = format!(
                "server_name: n{place}\nlisten: 127.0.0.1:{port}\njetstream {{ store_dir: {data:?} }}\n\
                 cluster {{ name: team, listen: 127.0.0.1:{route}, routes: [{}] }}\n",
                routes.join(", ")
            );
            std::fs::write(&file, text).unwrap();
            let mut command = Command::new(program);
            command.arg("-c").arg(&file).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        });
        let servers = servers.collect();
        Self { servers, ports: ports.into_iter().map(|(port, _)| port).collect() }
    }

    fn url(&self) -> String {
        let hosts: Vec<String> =
            self.ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("nats://{}/AK1", hosts.join(","))
    }

    /// Makes the stream, as an administrator does, as soon as the servers can.
    fn make_stream(&self) {
        let config = json!({"name": "AK1", "subjects": ["ak1.e.>"], "retention": "limits", "discard": "new",
            "storage": "file", "num_replicas": 3, "max_msg_size": 131_072, "max_consumers": -1, "max_msgs": -1,
            "max_bytes": -1, "max_age": 0, "max_msgs_per_subject": -1, "duplicate_window": 120_000_000_000_u64,
            "allow_direct": true});
        let start = Instant::now();
        loop {
            let made = self
                .ports
                .first()
                .and_then(|port| asked(*port, "$JS.API.STREAM.CREATE.AK1", &config));
            if made.as_ref().is_some_and(|made| made["error"].is_null()) {
                return;
            }
            assert!(start.elapsed() < STEP, "{made:?}");
            std::thread::park_timeout(SETTLED);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // It may have ended by itself.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Asks a server for something, in its own protocol.
fn asked(port: u16, subject: &str, body: &Value) -> Option<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    let body = body.to_string();
    let text = format!(
        "CONNECT {{\"verbose\":false}}\r\nSUB _INBOX.test 1\r\nPUB {subject} _INBOX.test {}\r\n{body}\r\n",
        body.len()
    );
    stream.write_all(text.as_bytes()).ok()?;
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.find(|line| line.starts_with("MSG "))?;
    serde_json::from_str(&lines.next()?).ok()
}

// S-REPLICA-1, S-REPLICA-3
#[test]
fn three_replicas_over_a_cluster_answer_alike() {
    let Some(program) = pieces::nats_server() else { return };
    let team = World::new();
    let cluster = Cluster::start(&program, &team);
    cluster.make_stream();
    replicas_answer_alike(&cluster.url());
}
