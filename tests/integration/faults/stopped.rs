//! P6: an append never hangs the agent. While a stopped process holds the lock of a log, events wait in
//! the spool: acknowledged, private, found by every query; and they are in the log, once each and in
//! order, when the lock is free again. Not here: waits that end in time (`many_writers`).

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::holder::Holder;
use super::{contents, signal, sized, tell};
use crate::many_writers::Random;
use crate::raw_client::{Client, Era};
use crate::world::{LOG_MEMORY, World, bytes_under};

/// The promise is just under two seconds; asserted twice that, for a machine that does other things.
const WAIT_MAX: Duration = Duration::from_secs(4);
/// Longest that draining may take after the lock is free.
const STEP: Duration = Duration::from_secs(60);

/// A process that holds the lock of the log `api`, and is stopped.
fn stopped_holder(world: &World) -> Holder {
    let holder = Holder::of(&world.store().join(".locks/api.jsonl.lock"));
    signal("STOP", holder.process());
    holder
}

/// Writes one event while the lock is held, and returns its id and how long it took.
fn write_in_time(world: &World, lesson: &str) -> (String, Duration) {
    let start = Instant::now();
    let ran = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", lesson]);
    let took = start.elapsed();
    assert!(took < WAIT_MAX, "{took:?}");
    assert!(ran.messages.contains("spool"), "{}", ran.messages);
    (ran.done().trim_end().to_owned(), took)
}

/// The files of the spool that hold any of these ids.
fn spooled(world: &World, ids: &[String]) -> Vec<PathBuf> {
    let holds = |bytes: &[u8]| ids.iter().any(|id| String::from_utf8_lossy(bytes).contains(id));
    let files = bytes_under(&world.store().join(".spool")).into_iter();
    files.filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

/// The places in the log, in order of the ids; fails where one is missing or stands there twice.
fn places(log: &Path, ids: &[String]) -> Vec<usize> {
    let found = contents(log);
    assert!(found.torn.is_empty());
    let place = |id: &String| {
        let events = found.events.iter().enumerate();
        let places: Vec<usize> = events
            .filter(|(_, event)| event.id.as_str() == id.as_str())
            .map(|(place, _)| place)
            .collect();
        let [place] = places[..] else { panic!("{id} stands {} times in the log", places.len()) };
        place
    };
    ids.iter().map(place).collect()
}

#[track_caller]
fn assert_drained_in_order(world: &World, ids: &[String]) {
    let places = places(&world.store().join("api.jsonl"), ids);
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(spooled(world, ids), Vec::<PathBuf>::new(), "the spool is not empty");
}

#[cfg(unix)]
fn assert_private(world: &World) {
    use std::os::unix::fs::PermissionsExt;
    let spool = world.store().join(".spool");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&spool), 0o700);
    let events =
        bytes_under(&spool).into_keys().filter(|path| path.extension() == Some("jsonl".as_ref()));
    for path in events {
        assert_eq!(mode(&spool.join(&path)) & 0o077, 0, "{}", path.display());
    }
}

// S-STORE-6, S-READ-1
#[test]
fn a_stopped_lock_holder_makes_nobody_hang_and_costs_nothing() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    let mut server = Client::open(&world, Era::Modern);
    assert!(server.search("first").contains("first"));
    let holder = stopped_holder(&world);
    let (mut ids, mut longest) = (Vec::new(), Duration::ZERO);
    for number in 0..sized(3, 10) {
        let (id, took) = write_in_time(&world, &format!("quasar{number}x"));
        longest = longest.max(took);
        ids.push(id);
        // Found while it is only in the spool, by a fresh reader and by one that runs.
        let fresh = world.agent_knowledge(&["search", &format!("quasar{number}x")]).done();
        assert!(fresh.contains(&format!("quasar{number}x")), "{fresh}");
        let running = server.search(&format!("quasar{number}x"));
        assert!(running.contains(&format!("quasar{number}x")), "{running}");
    }
    assert!(!spooled(&world, &ids).is_empty(), "nothing is in the spool");
    assert_eq!(contents(&world.store().join("api.jsonl")).events.len(), 1);
    #[cfg(unix)]
    assert_private(&world);
    // Without the server, which could drain as well.
    assert!(server.leave().status.success());
    drop(holder);
    let last = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "last"]).done();
    ids.push(last.trim_end().to_owned());
    assert_drained_in_order(&world, &ids);
    let status = world.asked(&["status"]);
    assert_eq!(status["memories"], json!(ids.len() + 1), "{status}");
    tell(
        "P6",
        &format!("lock holder stopped (SIGSTOP), {} runs of log-memory", ids.len() - 1),
        &format!(
            "each acknowledged within {:.2} s, found in the spool, drained by the next writer once and in order",
            longest.as_secs_f64()
        ),
    );
}

// S-STORE-6
#[test]
fn a_running_server_drains_the_spool_when_the_lock_is_free() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    let holder = stopped_holder(&world);
    let ids = vec![write_in_time(&world, "quasar1x").0, write_in_time(&world, "quasar2x").0];
    let mut server = Client::open(&world, Era::Modern);
    assert!(server.search("quasar2x").contains("quasar2x"));
    drop(holder);
    let start = Instant::now();
    while !spooled(&world, &ids).is_empty() {
        assert!(start.elapsed() < STEP, "the server does not drain the spool");
        assert!(server.search("quasar1x").contains("quasar1x"), "not found for a moment");
    }
    assert_drained_in_order(&world, &ids);
    assert!(server.search("quasar2x").contains("quasar2x"));
    tell(
        "P6",
        "lock free again, no writer, a server running",
        "the server drained the spool: once, in order",
    );
}

// S-STORE-6
#[test]
fn writers_killed_while_they_drain_lose_nothing() {
    let rounds = sized(2, 30);
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    let (mut ids, mut random, mut killed) = (Vec::new(), Random(1), 0);
    for round in 0..rounds {
        let holder = stopped_holder(&world);
        for number in 0..2 {
            ids.push(write_in_time(&world, &format!("quasar{round}n{number}x")).0);
        }
        drop(holder);
        for _ in 0..5 {
            let mut command = world.command(LOG_MEMORY);
            command.args(["--repo", "api", "--type", "fact", "--lesson", "killed"]);
            let command = command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            thread::park_timeout(Duration::from_micros(u64::from(random.below(4_000))));
            // Killing one that has ended is no failure.
            child.kill().unwrap();
            killed += usize::from(child.wait().unwrap().code().is_none());
        }
        world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "done"]).done();
    }
    assert_drained_in_order(&world, &ids);
    tell(
        "P6",
        &format!(
            "{killed} writers killed (SIGKILL) while {} spooled events were drained",
            ids.len()
        ),
        "each in the log once, in order; spool empty",
    );
}
