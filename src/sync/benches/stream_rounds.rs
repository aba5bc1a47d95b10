//! Rounds over a stream, compared with the bare client. Not here: git (`team_rounds`).

use std::time::{Duration, Instant};

use crate::laptops::{API, Kind, Laptop, Team};
use crate::nats_server::{Cluster, make_stream, right, with_stream};

/// One server, and three with each line on all.
pub(super) fn measure_all(lines: usize) {
    let team = Team::new(Kind::Nats);
    let server = team.server.borrow().as_ref().unwrap().server();
    println!("one server, {lines} lines:");
    measure(&team, &server, &team.address(), lines);
    let team = Team::new(Kind::Folder);
    let cluster = Cluster::start(team.folder.path());
    let server = cluster.servers[0].server();
    make_stream(&server, &right(3));
    println!("three servers, {lines} lines:");
    measure(&team, &server, &cluster.url(), lines);
}

/// Publishes lines as fast as the client can: 256 at a time, and nothing else.
fn publish_bare(server: &str, lines: &[String]) -> Duration {
    with_stream(server, async |context| {
        let began = Instant::now();
        for window in lines.chunks(256) {
            let mut acks = Vec::new();
            for line in window {
                let payload = line.clone().into_bytes().into();
                acks.push(context.publish("ak1.e.bare-0000000000000000.x", payload).await.unwrap());
            }
            for ack in acks {
                ack.await.unwrap();
            }
        }
        began.elapsed()
    })
}

/// Prints how long rounds take, and how long the bare client takes.
fn measure(team: &Team, server: &str, url: &str, count: usize) {
    let (ana, bo) = (team.laptop_at("ana", url), team.laptop_at("bo", url));
    let lines = write_many(&ana, count);
    let timed = |work: &dyn Fn() -> usize| {
        let began = Instant::now();
        let count = work();
        (count, began.elapsed())
    };
    let pushed = timed(&|| ana.sync().pushed);
    let fetched = timed(&|| bo.sync().fetched);
    assert_eq!((pushed.0, fetched.0), (count, count));
    bo.sync();
    let idle = timed(&|| bo.sync().fetched);
    ana.write("one more");
    let single = timed(&|| ana.sync().pushed);
    let one_came = timed(&|| bo.sync().fetched);
    assert_eq!((idle.0, single.0, one_came.0), (0, 1, 1));
    let bare = publish_bare(server, &lines);
    println!(
        "  bare {bare:?}, pushed {:?}, fetched {:?}; idle {:?}; one line pushed {:?}, fetched {:?}",
        pushed.1, fetched.1, idle.1, single.1, one_came.1
    );
}

fn write_many(laptop: &Laptop, count: usize) -> Vec<String> {
    let line = |n: usize| format!(r#"{{"id":"{}-{n:05}","lesson":"learnt {n}"}}"#, laptop.host);
    let lines: Vec<String> = (0..count).map(line).collect();
    std::fs::write(laptop.store.root().join(API), lines.join("\n") + "\n").unwrap();
    lines
}
