//! What only a stream can suffer: a leader that is killed, messages that vanish, another publisher, rights, and a stream that is
//! not as it must be. Not here: what every remote must do, which the other files show for a stream, too.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use sync::{Consent, RemoteAddress, SyncError, SyncReport};

use crate::laptops::{API, Kind, Laptop, Team};
use crate::nats_server::{
    Cluster, NatsServer, free_port, make_stream, program, right, with_stream,
};

/// How often a machine tries while servers come and go.
const TRIES_MAX: usize = 40;

/// Syncs until nothing waits, and returns how many lines came.
fn until_done(laptop: &Laptop) -> usize {
    let mut fetched = 0;
    for _ in 0..TRIES_MAX {
        let report = laptop.sync();
        fetched += report.fetched;
        if report.is_reached && report.waiting.is_none() && report.trouble.is_empty() {
            return fetched;
        }
        std::thread::park_timeout(Duration::from_millis(250));
    }
    panic!("the servers did not come back");
}

fn write_many(laptop: &Laptop, count: usize) -> Vec<String> {
    let line = |n: usize| format!(r#"{{"id":"{}-{n:05}","lesson":"learnt {n}"}}"#, laptop.host);
    let lines: Vec<String> = (0..count).map(line).collect();
    std::fs::write(laptop.store.root().join(API), lines.join("\n") + "\n").unwrap();
    lines
}

// S-NATS-5
#[test]
fn killed_servers_of_a_cluster_lose_nothing() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Folder);
    let cluster = RefCell::new(Cluster::start(team.folder.path()));
    make_stream(&cluster.borrow().servers[0].server(), &right(3));
    let url = cluster.borrow().url();
    let (ana, bo) = (team.laptop_at("ana", &url), team.laptop_at("bo", &url));
    let lines = write_many(&ana, 3_000);
    let (windows, killed) = (Cell::new(0), Cell::new(None));
    let steps = |step: &'static str| {
        windows.set(windows.get() + usize::from(step == "send"));
        if windows.get() == 5 && killed.get().is_none() {
            killed.set(Some(cluster.borrow_mut().kill_leader()));
        }
    };
    let began = Instant::now();
    // Whether the round ends well depends on the moment.
    let _ = ana.sync_with_steps(Consent::Given, &steps);
    until_done(&ana);
    println!("3,000 lines with a killed leader: {:?}", began.elapsed());
    cluster.borrow_mut().servers[killed.get().unwrap()].run();
    assert_eq!(until_done(&bo), 3_000);
    assert_eq!(bo.mirror(&ana.origin()), lines);

    for server in &mut cluster.borrow_mut().servers {
        server.kill();
    }
    for server in &mut cluster.borrow_mut().servers {
        server.run();
    }
    let cy = team.laptop_at("cy", &url);
    assert_eq!(until_done(&cy), 3_000);
    assert_eq!(cy.mirror(&ana.origin()), lines);
    assert_eq!(ana.sync().pushed, 0);
}

// S-NATS-6
#[test]
fn messages_that_vanish_come_back_from_their_machine() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Nats);
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    let lines = [ana.write("one"), ana.write("two"), ana.write("three")];
    ana.sync();
    bo.sync();
    bo.write("of bo");
    bo.sync();
    assert_eq!(ana.sync().fetched, 1, "it has read its own lines back, too");
    let server = team.server.borrow().as_ref().unwrap().server();
    with_stream(&server, async |context| {
        let stream = context.get_stream("AK1").await.unwrap();
        let subject = format!("ak1.e.{}.github%2Ecom+acme+api", ana.origin().as_str());
        let last = stream.get_last_raw_message_by_subject(&subject).await.unwrap();
        assert!(stream.delete_message(last.sequence).await.unwrap());
    });
    let report = ana.sync();
    assert_eq!((report.pushed, report.renewed_from, &report.trouble[..]), (1, None, &[][..]));
    let cy = team.laptop("cy");
    cy.sync();
    assert_eq!(
        (cy.mirror(&ana.origin()), bo.mirror(&ana.origin())),
        (lines.to_vec(), lines.to_vec())
    );
}

// S-NATS-5
#[test]
fn a_second_publisher_of_an_origin_is_noticed() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Nats);
    let ana = team.laptop("ana");
    ana.write("one");
    ana.sync();
    let (own, second) = (ana.origin(), ana.write("two"));
    let done = Cell::new(false);
    let steps = |step: &'static str| {
        if step == "send" && !done.replace(true) {
            let files =
                [("github.com+acme+api/000000.jsonl", &b"{\"id\":\"t1\",\"lesson\":\"twin\"}"[..])];
            team.server.borrow().as_ref().unwrap().publish(&own, &files);
        }
    };
    let report = ana.sync_with_steps(Consent::Given, &steps).unwrap();
    assert_eq!((report.renewed_from, report.pushed), (Some(own.clone()), 2));
    let bo = team.laptop("bo");
    bo.sync();
    assert!(bo.mirror(&ana.origin()).contains(&second) && !bo.mirror(&own).contains(&second));
}

/// A server with an administrator, and a member with rights for one origin.
fn guarded(folder: &Path, origin: &str, more: &str) -> NatsServer {
    let (port, data) = (free_port(), folder.join("data"));
    let text = format!(
        r#"listen: 127.0.0.1:{port}
jetstream {{ store_dir: {data:?} }}
accounts {{ TEAM: {{ jetstream: enabled, users: [
  {{ user: admin, password: p }},
  {{ user: ana, password: p, permissions: {{
    publish: ["ak1.e.{origin}.>", "$JS.API.STREAM.INFO.AK1", "$JS.API.CONSUMER.CREATE.AK1",
      "$JS.API.CONSUMER.CREATE.AK1.>", "$JS.API.CONSUMER.MSG.NEXT.AK1.>"{more}],
    subscribe: ["_INBOX.>"] }} }} ] }} }}
"#
    );
    let server = NatsServer::configured(&folder.join("guarded.conf"), &text, port);
    make_stream(&server.server().replace("//", "//admin:p@"), &right(1));
    server
}

const MAY_ERASE: &str = r#", "$JS.API.STREAM.MSG.DELETE.AK1""#;

// S-NATS-2
#[test]
fn a_member_publishes_only_under_its_own_origin() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Folder);
    let mut ana = team.laptop("ana");
    let origin = ana.store.ensure_origin("ana", 7).unwrap();
    let server = guarded(team.folder.path(), origin.as_str(), MAY_ERASE);
    let url = server.url().replace("//", "//ana:p@");
    ana.remote = RemoteAddress::parse(&url).unwrap();
    assert_eq!(ana.remote.shown(), server.url(), "no password is shown");
    ana.write("the key is hunter2");
    let report = ana.sync();
    assert_eq!((report.pushed, &report.trouble[..]), (1, &[][..]));
    ana.change(API, |text| text.replace("hunter2", "[REDACTED:password]"));
    let report = ana.sync();
    assert_eq!((report.withdrawn, &report.trouble[..]), (1, &[][..]));

    let mallory = team.laptop_at("mallory", &url);
    mallory.write("forged");
    let began = Instant::now();
    let report = mallory.sync();
    assert!(report.trouble[0].contains("Permissions Violation"), "{:?}", report.trouble);
    assert_eq!((report.pushed, report.waiting.unwrap().lines, report.fetched), (0, 1, 1));
    assert!(began.elapsed() < Duration::from_secs(8), "it is told at once");
}

// S-NATS-2, S-SYNC-7
#[test]
fn a_member_that_may_not_erase_is_told() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Folder);
    let mut ana = team.laptop("ana");
    let origin = ana.store.ensure_origin("ana", 7).unwrap();
    let server = guarded(team.folder.path(), origin.as_str(), "");
    ana.remote = RemoteAddress::parse(&server.url().replace("//", "//ana:p@")).unwrap();
    ana.write("the key is hunter2");
    assert_eq!(ana.sync().trouble, [""; 0]);
    ana.change(API, |text| text.replace("hunter2", "[REDACTED:password]"));
    let report = ana.sync();
    assert!(report.waiting.is_some());
    assert!(report.trouble[0].contains("could not be erased"), "{:?}", report.trouble);
}

fn refusal(laptop: &Laptop) -> String {
    match laptop.try_sync(Consent::Given) {
        Err(SyncError::Setup(why)) => why,
        other => panic!("{other:?}"),
    }
}

// S-NATS-3
#[test]
fn a_stream_that_is_missing_or_off_is_told() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Folder);
    let server = NatsServer::start(&team.folder.path().join("data"), None);
    let ana = team.laptop_at("ana", &server.url());
    ana.write("one");
    let why = refusal(&ana);
    assert!(why.contains("there is no stream AK1") && why.contains("nats stream add AK1"), "{why}");
    let limited = async_nats::jetstream::stream::Config { max_messages: 9, ..right(1) };
    make_stream(&server.server(), &limited);
    let why = refusal(&ana);
    assert!(why.contains("number of messages"), "{why}");
}

// S-NATS-5, S-SYNC-9
#[test]
fn a_full_stream_refuses_and_is_told() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Folder);
    let server = NatsServer::start(&team.folder.path().join("data"), None);
    let full = async_nats::jetstream::stream::Config { max_bytes: 60_000, ..right(1) };
    make_stream(&server.server(), &full);
    let ana = team.laptop_at("ana", &server.url());
    let lines = write_many(&ana, 2_000);
    let report: SyncReport = ana.sync();
    assert!(report.trouble[0].contains("maximum bytes"), "{:?}", report.trouble);
    assert!(report.waiting.is_some());
    with_stream(&server.server(), async |context| {
        context.update_stream(right(1)).await.unwrap();
    });
    assert_eq!(ana.sync().waiting, None);
    let bo = team.laptop_at("bo", &server.url());
    bo.sync();
    let there: BTreeSet<String> = bo.mirror(&ana.origin()).into_iter().collect();
    assert_eq!(there, lines.into_iter().collect());
}

// S-NATS-4
#[test]
fn a_line_longer_than_the_stream_takes_stays() {
    let Some(_) = program() else { return };
    let team = Team::new(Kind::Nats);
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    let short = ana.write("short");
    ana.write(&"long ".repeat(30_000));
    let report = ana.sync();
    assert_eq!((report.pushed, report.left_out.too_long), (1, 1));
    assert_eq!((ana.preview().lines.len(), bo.sync().fetched), (0, 1));
    assert_eq!(bo.mirror(&ana.origin()), [short]);
}
