//! HTTPS for others: what keeps clients from connecting is told at the start, strangers and slow handshakes keep nobody out, and
//! a renewed certificate needs no restart. The client is Python's. Not here: what tokens allow (`tokens`), plain HTTP (`http`).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use serde_json::{Value, json};

use super::client::{STEP, Server};
use super::tokens::token;
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// The name of the server of the team.
const TEAM: &str = "memory.team.example";

/// An authority that clients trust, and the files of a server.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(world: &World) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "The authority of the team");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let own = params.self_signed(&key).unwrap();
        std::fs::write(world.path("authority.pem"), own.pem()).unwrap();
        Self { issuer: Issuer::new(params, key) }
    }

    /// Writes a certificate that is valid in these years, and its key.
    fn certify(&self, world: &World, (from, to): (i32, i32)) {
        let names = [TEAM.to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, TEAM);
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        replace(&world.path("cert.pem"), &certificate.pem());
        replace(&world.path("key.pem"), &key.serialize_pem());
    }
}

/// Replaces a file as a whole, as programs do that renew certificates.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::set_permissions(&new, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::rename(&new, path).unwrap();
}

const VALID: (i32, i32) = (2020, 2090);

/// The options of a server with the files that the authority wrote.
fn options(world: &World) -> Vec<String> {
    let file = |name: &str| world.path(name).to_str().unwrap().to_owned();
    let (cert, key) = (file("cert.pem"), file("key.pem"));
    let options = ["--listen", "127.0.0.1:0", "--cert", &cert, "--key", &key];
    options.map(str::to_owned).to_vec()
}

fn served() -> (World, Authority, Server) {
    let world = World::sharing();
    let authority = Authority::new(&world);
    authority.certify(&world, VALID);
    let options = options(&world);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let server = Server::of(&mut Server::command(&world, &options));
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.said);
    (world, authority, server)
}

fn question(host: &str, shown: &str, method: &str, path: &str) -> Value {
    let shown = format!("Bearer {shown}");
    let both = "application/json, text/event-stream";
    let headers = [("Host", host), ("Authorization", &*shown), ("Accept", both)];
    json!({ "server": TEAM, "method": method, "path": path, "headers": headers, "body": "" })
}

/// Adds a header to a question.
fn with(mut question: Value, name: &str, value: &str) -> Value {
    question["headers"].as_array_mut().unwrap().push(json!([name, value]));
    question
}

/// Asks all questions, each on a connection of its own.
#[track_caller]
fn answers(world: &World, server: &Server, questions: &[Value]) -> Vec<Value> {
    let mut python = world.command("python3");
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/ask_https.py"));
    python.arg(server.port().to_string()).arg(world.path("authority.pem"));
    let ran = run(&mut python, json!(questions).to_string().as_bytes()).done();
    ran.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn answer(world: &World, server: &Server, question: Value) -> Value {
    answers(world, server, &[question]).remove(0)
}

// S-HTTP-7, S-TOKEN-3
#[test]
fn tls_answers_whoever_shows_a_token() {
    let (world, _, server) = served();
    let tokens = ["read", "write", "admin"].map(|rights| token(&world, rights, rights));
    let save = json!({ "event_type": "fact", "lesson": "walruses wear hats", "repo": "acme/web" });
    let mut questions = Vec::new();
    for token in &tokens {
        let mut saving = question(TEAM, token, "POST", "/api/v1/memories");
        saving["body"] = save.to_string().into();
        questions.extend([
            question(TEAM, token, "GET", "/api/v1/search?query=walruses"),
            with(saving, "Content-Type", "application/json"),
            question(TEAM, token, "GET", "/api/v1/doctor"),
        ]);
    }
    let asked = answers(&world, &server, &questions);
    let statuses: Vec<u64> = asked.iter().map(|one| one["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 403, 403, 200, 201, 403, 200, 201, 200], "{asked:?}");
    assert!(asked.iter().all(|one| one["tls"] == "TLSv1.3 http/1.1"), "{asked:?}");
    assert_eq!(world.all_events()[0].agent_id, "write");
    let mut ping = question(TEAM, &tokens[0], "POST", "/mcp");
    ping["body"] = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string().into();
    let ping = with(ping, "Content-Type", "application/json");
    let page = question(TEAM, "none", "GET", "/");
    let wrong = question(TEAM, &"0".repeat(64), "GET", "/api/v1/status");
    let [ping, page, wrong]: [Value; 3] =
        answers(&world, &server, &[ping, page, wrong]).try_into().unwrap();
    assert_eq!((&ping["status"], &wrong["status"]), (&json!(200), &json!(401)), "{ping} {wrong}");
    assert_eq!(page["status"], 200, "{page}");
    let policy = page["headers"]["content-security-policy"].as_str().unwrap();
    assert!(policy.contains("connect-src 'self'"), "{policy}");
    world.agent_knowledge(&["token", "revoke", "read"]).done();
    let revoked = question(TEAM, &tokens[0], "GET", "/api/v1/status");
    assert_eq!(answer(&world, &server, revoked)["status"], 401);
    let status = world.agent_knowledge(&["status"]).done();
    assert!(status.contains(&server.url), "{status}");
}

// S-REMOTE-1, S-REMOTE-2
#[test]
fn tls_reaches_only_a_server_that_is_believed() {
    let (world, _, server) = served();
    let shown = token(&world, "container", "write");
    let (container, other) = (World::new(), World::new());
    Authority::new(&other);
    let agent = |believed: &World| {
        let mut command = container.command(AGENT_KNOWLEDGE);
        command.args(["mcp", "--remote", &format!("https://127.0.0.1:{}", server.port())]);
        command.env("AGENT_KNOWLEDGE_TOKEN", &shown);
        command.env("SSL_CERT_FILE", believed.path("authority.pem"));
        Client::open_with(Era::Legacy, &mut command)
    };
    let mut client = agent(&other);
    let lesson =
        json!({ "event_type": "fact", "lesson": "walruses wear hats", "repo": "acme/web" });
    client.told("memory_save", &lesson);
    let told = client.search("walruses wear hats");
    assert!(told.contains("hats") && told.contains("did not answer"), "{told}");
    drop(client);
    assert!(!world.store().join("acme+web.jsonl").exists());
    let _client = agent(&world);
    let began = Instant::now();
    while !world.store().join("acme+web.jsonl").exists() {
        assert!(began.elapsed() < STEP, "not delivered");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let events = world.all_events();
    assert_eq!((&*events[0].lesson, &*events[0].agent_id), ("walruses wear hats", "container"));
}

// S-HTTP-10
#[test]
fn tls_shares_no_store_with_private_memories() {
    let (world, _, server) = served();
    let admin = token(&world, "admin", "admin");
    world
        .log_memory(&["--repo", "acme/web", "--type", "fact", "--lesson", "walruses wear hats"])
        .done();
    let ask = |path: &str| question(TEAM, &admin, "GET", path);
    let found = answer(&world, &server, ask("/api/v1/search?query=walruses"));
    assert_eq!(found["status"], 200, "{found}");
    let mut saving = question(TEAM, &admin, "POST", "/api/v1/memories");
    let private =
        json!({ "event_type": "fact", "lesson": "mine", "repo": "acme/web", "private": true });
    saving["body"] = private.to_string().into();
    let refused = answer(&world, &server, with(saving, "Content-Type", "application/json"));
    assert_eq!(refused["status"], 400, "{refused}");
    assert!(refused.to_string().contains("never leaves its machine"), "{refused}");
    let private = ["--repo", "acme/web", "--type", "fact", "--private", "--lesson", "seals hum"];
    let (heard, id) = std::thread::scope(|scope| {
        let listening = scope.spawn(|| answer(&world, &server, ask("/api/v1/events")));
        let requests = || world.asked(&["status"])["https"]["requests"].as_u64().unwrap();
        let before = requests();
        while requests() == before && !listening.is_finished() {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        let id = world.log_memory(&private).done();
        (listening.join().unwrap(), id)
    });
    assert_eq!(heard["status"], 200, "{heard}");
    let heard = heard["body"].as_str().unwrap();
    assert!(!heard.contains(id.trim()), "an open stream ends instead: {heard}");
    let mut ping = question(TEAM, &admin, "POST", "/mcp");
    ping["body"] = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string().into();
    let asked = [
        ask("/api/v1/search?query=seals"),
        ask("/api/v1/audit"),
        ask("/api/v1/events"),
        with(ping, "Content-Type", "application/json"),
    ];
    for refused in answers(&world, &server, &asked) {
        assert_eq!(refused["status"], 403, "{refused}");
        assert!(!refused.to_string().contains("hum"), "{refused}");
    }
    let here = world.asked(&["search", "seals"]);
    assert_eq!(here["memories"][0]["lesson"], "seals hum", "its own machine is answered");
}

// S-HTTP-2, S-HTTP-7
#[test]
fn tls_knows_only_the_names_of_its_certificate() {
    let (world, _, server) = served();
    let token = token(&world, "ci", "read");
    let status = |host: &str| question(host, &token, "GET", "/api/v1/status");
    let own = format!("{TEAM}:{}", server.port());
    let cases = [
        (status(TEAM), 200),
        (status(&own), 200),
        (status("127.0.0.1"), 200),
        (status("localhost:1"), 200),
        (status("evil.example"), 403),
        (status("team.example"), 403),
        (status(&format!("{TEAM}.evil.example")), 403),
        (status("192.0.2.1"), 403),
        (with(status(&own), "Origin", &format!("https://{own}")), 200),
        (with(status(TEAM), "Origin", &format!("https://{TEAM}")), 200),
        (with(status(&own), "Origin", &format!("http://{own}")), 403),
        (with(status(&own), "Origin", &format!("https://{TEAM}:1")), 403),
        (with(status(&own), "Origin", "https://evil.example"), 403),
        (with(status(&own), "Sec-Fetch-Site", "cross-site"), 403),
    ];
    let questions: Vec<Value> = cases.iter().map(|(question, _)| question.clone()).collect();
    for (answer, (question, status)) in answers(&world, &server, &questions).iter().zip(&cases) {
        assert_eq!(answer["status"], *status, "{question} {answer}");
    }
    let mut elsewhere = status(TEAM);
    elsewhere["server"] = "evil.example".into();
    let refused = answer(&world, &server, elsewhere);
    assert!(refused["refused"].as_str().unwrap().contains("CERTIFICATE_VERIFY"), "{refused}");
}

// S-HTTP-7
#[test]
fn tls_slow_handshakes_keep_nobody_out() {
    let (world, _, server) = served();
    let token = token(&world, "ci", "read");
    let begun = |_| {
        let mut stream = server.connect();
        stream.write_all(&[0x16, 3, 1]).unwrap();
        stream
    };
    let slow: Vec<TcpStream> = (0..200).map(begun).collect();
    let silent: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let status = question(TEAM, &token, "GET", "/api/v1/status");
    assert_eq!(answer(&world, &server, status)["status"], 200);
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.process())).unwrap().count();
    assert!(threads < 64, "{threads} threads");
    drop((slow, silent));
}

// S-HTTP-7
#[test]
fn tls_tells_who_speaks_without_it() {
    let (_world, _, server) = served();
    let plain = server.send(b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(plain.status == 400 && plain.body.contains("https"), "{plain:?}");
    for noise in [&b"\x16\x03\x01\x00\x02hi"[..], b"\x16\x03\x01\xff\xff", b"\0\0\0\0", b"\n"] {
        let mut stream = server.connect();
        stream.write_all(noise).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // A connection that is reset is one that ended, too.
        let _ = stream.read_to_end(&mut answer);
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"), "{answer:?}");
    }
}

// S-HTTP-7
#[test]
fn tls_takes_a_renewed_certificate_without_restart() {
    let (world, authority, server) = served();
    let token = token(&world, "ci", "read");
    let status = || question(TEAM, &token, "GET", "/api/v1/status");
    let first = answer(&world, &server, status());
    authority.certify(&world, VALID);
    let second = answer(&world, &server, status());
    assert!(second["status"] == 200 && second["serial"] != first["serial"], "{second}");
    std::fs::write(world.path("cert.pem"), "half").unwrap();
    let third = answer(&world, &server, status());
    assert_eq!(third["serial"], second["serial"], "the old one goes on");
    let told = world.agent_knowledge(&["status"]).done();
    assert!(told.contains("the old certificate is used"), "{told}");
    authority.certify(&world, VALID);
    assert_eq!(answer(&world, &server, status())["status"], 200);
    assert!(!world.agent_knowledge(&["status"]).done().contains("old certificate"));
}

// S-HTTP-1, S-HTTP-7
#[test]
fn tls_that_no_client_could_use_does_not_start() {
    let world = World::sharing();
    let authority = Authority::new(&world);
    authority.certify(&world, VALID);
    let good = options(&world);
    let start = |options: &[String]| {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        world.agent_knowledge(&[&["serve"], &*options].concat())
    };
    let refused = |exit: i32, told: &str| {
        let ran = start(&good);
        assert_eq!(ran.exit, Some(exit), "{told}: {}", ran.messages);
        assert!(ran.messages.contains(told), "{told}: {}", ran.messages);
    };
    let key = world.path("key.pem");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    refused(78, "as --key: other users can read it");
    let other = KeyPair::generate().unwrap().serialize_pem();
    replace(&key, &other);
    refused(78, "is not the key of the certificate");
    replace(&key, "no key");
    refused(78, "holds no private key");
    authority.certify(&world, (2020, 2021));
    refused(78, "as --cert: its certificate has expired");
    authority.certify(&world, (2089, 2090));
    refused(78, "its certificate is not valid yet");
    replace(&world.path("cert.pem"), "");
    refused(78, "holds no certificate in PEM");
    std::fs::remove_file(world.path("cert.pem")).unwrap();
    refused(78, "No such file");
    // Not without both files, nor without a token.
    for further in [&good[..2], &good[..4]] {
        assert_eq!(start(further).exit, Some(64), "{further:?}");
    }
    assert_eq!(start(&[&good[..], &["--no-token".to_owned()]].concat()).exit, Some(64));
    let elsewhere = world.agent_knowledge(&["serve", "--http", "0.0.0.0:7421"]);
    assert!(elsewhere.exit == Some(65) && elsewhere.messages.contains("--listen"), "{elsewhere:?}");
}

// S-HTTP-1, S-UI-5
#[test]
fn tls_and_this_machine_are_served_side_by_side() {
    let world = World::sharing();
    Authority::new(&world).certify(&world, VALID);
    let options = options(&world);
    let mut options: Vec<&str> = options.iter().map(String::as_str).collect();
    let alone = Server::of(&mut Server::command(&world, &options));
    let ui = world.agent_knowledge(&["ui", "--no-open"]);
    assert!(ui.exit == Some(75) && ui.messages.contains("start it with --http"), "{ui:?}");
    drop(alone);
    options.extend(["--http", "127.0.0.1:0"]);
    let server = Server::of(&mut Server::command(&world, &options));
    assert!(server.url.starts_with("http://"), "{}", server.said);
    let status = world.asked(&["status"]);
    assert_eq!(status["http"]["url"], json!(server.url));
    assert!(status["https"]["url"].as_str().unwrap().starts_with("https://"), "{status}");
    assert!(world.agent_knowledge(&["ui", "--no-open"]).done().contains("/#code="));
}
