//! Archiving loses nothing: with writers that go on, killed at any moment and before any system call, on
//! a full disk, with calls that fail, and beside a stopped lock holder. Not here: what it does on a good
//! day (`archive`).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use store::{Store, lines_of};

use super::disk_full::Small;
use super::holder::Holder;
use super::worker::Worker;
use super::{signal, sized, tell};
use crate::many_writers::Random;
use crate::pieces;
use crate::world::{AGENT_KNOWLEDGE, World, bytes_under, event, run};

/// The promise of a wait is under two seconds for each of two locks; asserted twice that and more.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Give up when archiving has not moved anything for so long.
const RUN_MAX: Duration = Duration::from_mins(5);

/// How much oftener a writer may have written than archiving has moved something. On busy processors writers may be
/// faster than an unoptimised build reads, and each run would find more than the one before.
const AHEAD_MAX: usize = 2;

/// How often each id stands in the log and in its segments.
fn ids_in(store: &Path) -> BTreeMap<String, usize> {
    let store = Store::at(store);
    let mut found = BTreeMap::new();
    for path in [store.logs().unwrap(), store.segments().unwrap()].concat() {
        let damaged = lines_of(&path, |line| {
            let event = event(line.bytes).expect("a line without event");
            *found.entry(event.id.as_str().to_owned()).or_insert(0) += 1;
        });
        assert_eq!(damaged.unwrap(), 0, "{}", path.display());
    }
    found
}

/// Files that only a run in the making has.
fn unfinished(store: &Path) -> Vec<String> {
    let names = bytes_under(store).into_keys().map(|path| path.to_str().unwrap().to_owned());
    let is_unfinished = |name: &String| {
        [".sealing", ".rewrite", ".archiving"].iter().any(|end| name.ends_with(end))
    };
    // The lock of those who rewrite has the ending of their copies, and is empty.
    names.filter(is_unfinished).filter(|name| name != ".locks/api.jsonl.rewrite").collect()
}

fn text(numbers: std::ops::Range<usize>) -> String {
    let line = |number| json!({ "id": format!("m{number}"), "lesson": format!("lesson {number}") });
    numbers.map(|number| format!("{}\n", line(number))).collect()
}

fn append(log: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

// S-ARCH-3, S-STORE-5
#[test]
fn writers_lose_nothing_during_repeated_archiving() {
    let (writers, each, runs_wanted) = (8, sized(10, 200), sized(5, 100));
    let world = World::new();
    let (is_over, runs, store) = (AtomicBool::new(false), AtomicUsize::new(0), world.store());
    let (is_running, beside) = (AtomicBool::new(false), AtomicUsize::new(0));
    let write = |writer: usize| {
        let (mut printed, mut wave) = (Vec::new(), 0);
        // It goes on until it was archived beside often enough, on any machine.
        while wave == 0 || runs.load(Ordering::Acquire) < runs_wanted {
            let number = writer + wave * writers;
            printed.extend(Worker::appending(&store, number, each).acknowledged());
            wave += 1;
            beside.fetch_add(usize::from(is_running.load(Ordering::Acquire)), Ordering::Release);
            let begun = Instant::now();
            while wave >= runs.load(Ordering::Acquire) + AHEAD_MAX {
                assert!(begun.elapsed() < RUN_MAX, "archive never comes to its end");
                thread::park_timeout(Duration::from_millis(1));
            }
        }
        printed
    };
    let write = &write;
    let printed: Vec<String> = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                is_running.store(true, Ordering::Release);
                let ran = world.agent_knowledge(&["archive", "--keep", "100"]);
                is_running.store(false, Ordering::Release);
                // On a machine that is busy enough its turn may not come in time.
                assert!(matches!(ran.exit, Some(0 | 75)), "{ran:?}");
                // A run that comes before there is anything to move shows nothing.
                let has_moved = ran.exit == Some(0) && ran.output.starts_with("archived ");
                runs.fetch_add(usize::from(has_moved), Ordering::Release);
            }
        });
        let working: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        // Told before anything is judged, so that the other thread ends in any case.
        let printed: Vec<_> = working.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Release);
        printed.into_iter().flat_map(Result::unwrap).collect()
    });
    let last = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "last"]).done();
    world.agent_knowledge(&["archive", "--keep", "100"]).done();
    let found = ids_in(&store);
    assert_eq!(found.len(), printed.len() + 1);
    assert!(found.values().all(|times| *times == 1), "an id stands twice");
    let lost = printed.iter().filter(|id| !found.contains_key(*id)).count();
    assert!(lost == 0 && found.contains_key(last.trim_end()), "{lost} lost");
    assert_eq!(world.events("api.jsonl").len(), 100);
    assert_eq!(world.asked(&["status"])["memories"], json!(printed.len() + 1));
    let segments = Store::at(&store).segments().unwrap().len();
    let beside = beside.load(Ordering::Acquire);
    assert!(segments > 0 && beside > 0, "{segments} segments, {beside} times beside");
    tell(
        "P21",
        &format!(
            "{writers} writers beside {} runs of archive --keep 100, {beside} times {each} events ended in the middle of one",
            runs.load(Ordering::Acquire)
        ),
        &format!("{} events in {segments} segments and the log, each once: 0 lost", found.len()),
    );
}

/// Kills of one store: every line is read after each, so a store that grew for all of them would be read for hours.
const KILLS_OF_A_STORE: usize = 100;

// S-ARCH-3
#[test]
fn it_is_killed_at_any_moment_and_nothing_is_lost() {
    let kills = sized(25, 1_000);
    let mut random = Random(3);
    let (mut killed, mut in_both, mut events) = (0, 0, 0);
    while killed < kills {
        let more = (kills - killed).min(KILLS_OF_A_STORE);
        let (written, both) = killed_times(more, &mut random);
        (killed, in_both, events) = (killed + more, in_both + both, events + written);
    }
    assert!(in_both > 0 || kills < KILLS_OF_A_STORE, "never killed between the two steps");
    tell(
        "P21",
        &format!("archive killed (SIGKILL) {killed} times, {in_both} times with lines in both"),
        &format!("{events} events: 0 lost, each once after the next run"),
    );
}

/// Kills it so many times, on a new store; returns the events written, and after how many kills lines stood in both.
fn killed_times(kills: usize, random: &mut Random) -> (usize, usize) {
    let world = World::new();
    let log = world.store().join("api.jsonl");
    world.hand_write("api.jsonl", text(0..200));
    let (mut written, mut killed, mut in_both, mut latest_us) = (200, 0, 0, 60_000);
    while killed < kills {
        assert!(written < 200 + kills * 200, "it ends before it is killed");
        append(&log, &text(written..written + 20));
        written += 20;
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["archive", "--keep", "50"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::park_timeout(Duration::from_micros(u64::from(random.below(latest_us))));
        // Killing one that has ended is no failure.
        child.kill().unwrap();
        let is_killed = child.wait().unwrap().code().is_none();
        killed += usize::from(is_killed);
        latest_us = if is_killed { latest_us / 4 * 5 } else { latest_us / 5 * 4 }.max(1_000);
        let found = ids_in(&world.store());
        assert_eq!(found.len(), written, "after {killed} kills");
        in_both += usize::from(found.values().any(|times| *times > 1));
    }
    world.agent_knowledge(&["archive", "--keep", "50"]).done();
    assert_whole(&world, written);
    (written, in_both)
}

#[track_caller]
fn assert_whole(world: &World, written: usize) {
    let found = ids_in(&world.store());
    assert_eq!(found.len(), written);
    assert!(found.values().all(|times| *times == 1), "an id stands twice");
    assert_eq!(unfinished(&world.store()), Vec::<String>::new());
    assert_eq!(world.asked(&["status"])["memories"], json!(written));
}

/// Every call by which it changes a file system, and how often it may be called in a run.
const STEPS: [&str; 4] =
    ["write", "fsync,fdatasync", "rename,renameat,renameat2", "unlink,unlinkat"];
const TIMES_MAX: usize = 60;

/// Archives, and kills that before the call of this number; returns whether there was one.
fn is_killed_before(world: &World, strace: &Path, calls: &str, time: usize) -> bool {
    let mut command = world.command(strace);
    command.arg("-f").arg("-o").arg(world.path("trace"));
    let inject = format!("inject={calls}:signal=KILL:when={time}");
    command.args(["-e", &format!("trace={calls}"), "-e", &inject]);
    command.arg(AGENT_KNOWLEDGE).args(["archive", "--keep", "50"]);
    run(&mut command, b"").exit != Some(0)
}

// S-ARCH-3
#[test]
fn it_is_killed_before_each_of_its_steps_and_nothing_is_lost() {
    let Some(strace) = pieces::strace() else { return };
    let world = World::new();
    let log = world.store().join("api.jsonl");
    world.hand_write("api.jsonl", text(0..60));
    let (mut written, mut kills, mut in_both) = (60, 0, 0);
    for calls in STEPS {
        for time in 1..=TIMES_MAX {
            append(&log, &text(written..written + 5));
            written += 5;
            let is_killed = is_killed_before(&world, &strace, calls, time);
            let found = ids_in(&world.store());
            assert_eq!(found.len(), written, "{calls} {time}");
            let is_in_both = found.values().any(|times| *times > 1);
            in_both += usize::from(is_in_both);
            // Told beforehand, then done.
            let dry = world.asked(&["archive", "--keep", "50", "--dry-run"]);
            assert_eq!(dry["cleaned"].as_u64().is_some_and(|lines| lines > 0), is_in_both, "{dry}");
            world.agent_knowledge(&["archive", "--keep", "50"]).done();
            assert_whole(&world, written);
            if !is_killed {
                break;
            }
            kills += 1;
            assert!(time < TIMES_MAX, "{calls}: it never ends");
        }
    }
    assert!(kills > 8 && in_both > 0, "{kills} kills, {in_both} times in both");
    tell(
        "P21",
        &format!(
            "archive killed before each write, sync, rename and removal: {kills} kills (strace), {in_both} with lines in both"
        ),
        "told by the next run, which cleans up; 0 lost, none twice",
    );
}

/// A line without an id of its own, as a shell script writes it, again and again.
const PLAIN: &str = "{\"lesson\":\"chown first\"}\n";

/// How often each line stands in the log and in its segments.
fn copies_in(store: &Path) -> BTreeMap<Vec<u8>, usize> {
    let store = Store::at(store);
    let mut copies = BTreeMap::new();
    for path in [store.logs().unwrap(), store.segments().unwrap()].concat() {
        lines_of(&path, |line| *copies.entry(line.bytes.to_vec()).or_insert(0) += 1).unwrap();
    }
    copies
}

// S-ARCH-3
#[test]
fn a_log_that_is_edited_after_each_kill_has_no_line_twice() {
    let Some(strace) = pieces::strace() else { return };
    let (mut kills, mut in_both) = (0, 0);
    for calls in STEPS {
        let world = World::new();
        let log = world.store().join("api.jsonl");
        world.hand_write("api.jsonl", PLAIN.repeat(2) + &text(0..60));
        let (mut written, mut plain) = (60, 2);
        for time in 1..=TIMES_MAX {
            append(&log, &(text(written..written + 5) + PLAIN));
            (written, plain) = (written + 5, plain + 1);
            let is_killed = is_killed_before(&world, &strace, calls, time);
            let is_double =
                |(line, times): (Vec<u8>, usize)| times > 1 && line.starts_with(b"{\"id\"");
            in_both += usize::from(copies_in(&world.store()).into_iter().any(is_double));
            // An editor puts its own file in the log's place, with one line more.
            let (edited, by_hand) = (log.with_extension("edited"), text(written..written + 1));
            std::fs::write(&edited, by_hand + &std::fs::read_to_string(&log).unwrap()).unwrap();
            std::fs::rename(&edited, &log).unwrap();
            written += 1;
            world.agent_knowledge(&["archive", "--keep", "50"]).done();
            let mut copies = copies_in(&world.store());
            assert_eq!(copies.remove(PLAIN.trim_end().as_bytes()), Some(plain), "{calls} {time}");
            assert!(copies.len() == written && copies.values().all(|times| *times == 1));
            let verified = world.agent_knowledge(&["verify"]);
            assert!(!verified.output.contains("also in segment"), "{verified:?}");
            if !is_killed {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 8 && in_both > 0, "{kills} kills, {in_both} times in both");
    tell(
        "P21",
        &format!("archive killed before each step, then the log edited: {kills} kills (strace)"),
        "the next run takes out what the segment has; each line as often as it was written",
    );
}

/// Runs it with calls on one path failing.
fn archive_with(world: &World, strace: &Path, on: &Path, inject: &str) -> crate::world::Ran {
    let call = inject.split(':').next().unwrap();
    let mut command = world.command(strace);
    command.arg("-f").arg("-o").arg(world.path("trace")).arg("-P").arg(on);
    command.args(["-e", &format!("trace={call}"), "-e", &format!("inject={inject}")]);
    run(command.arg(AGENT_KNOWLEDGE).args(["archive", "--keep", "10"]), b"")
}

// S-ARCH-3
#[test]
fn a_call_that_fails_is_told_and_leaves_the_log_as_it_was() {
    let Some(strace) = pieces::strace() else { return };
    let faults = [
        ("archive/api/.sealing", "write:error=ENOSPC", "No space left"),
        ("archive/api/.sealing", "write:error=EIO", "Input/output error"),
        ("archive/api/.sealing", "openat:error=EROFS", "Read-only file system"),
        ("archive/api/.sealing", "fsync:error=EIO", "Input/output error"),
        ("archive/api/.sealing", "rename:error=ENOSPC", "No space left"),
        (".api.jsonl.rewrite", "write:error=ENOSPC", "No space left"),
        (".api.jsonl.rewrite", "fsync:error=EIO", "Input/output error"),
        (".locks/api.jsonl.archiving", "write:error=ENOSPC", "No space left"),
        ("api.jsonl", "read:error=EIO", "Input/output error"),
    ];
    for (on, inject, told) in faults {
        let world = World::new();
        world.hand_write("api.jsonl", text(0..60));
        // Its folders are there already.
        world.agent_knowledge(&["archive", "--keep", "40"]).done();
        let before = std::fs::read(world.store().join("api.jsonl")).unwrap();
        let ran = archive_with(&world, &strace, &world.store().join(on), inject);
        assert_eq!(ran.exit, Some(74), "{inject} on {on}: {ran:?}");
        assert!(ran.output.contains(told), "{inject} on {on}: {ran:?}");
        assert_eq!(std::fs::read(world.store().join("api.jsonl")).unwrap(), before);
        assert_eq!(Store::at(world.store()).segments().unwrap().len(), 1);
        world.agent_knowledge(&["archive", "--keep", "10"]).done();
        assert_whole(&world, 60);
    }
    tell(
        "P21",
        &format!("{} system calls of archive made to fail (strace)", faults.len()),
        "told (exit 74), log untouched, next run works",
    );
}

// S-ARCH-3
#[test]
fn a_full_disk_leaves_the_log_as_it_was() {
    let world = World::new();
    // After the world, so that it is unmounted before the world is removed.
    let Some(small) = Small::mounted_at(world.path("small")) else { return };
    let (store, ballast) = (small.path().join("logs"), small.path().join("ballast"));
    Store::at(&store).ensure().unwrap();
    let log = store.join("api.jsonl");
    let text = text(0..6_000);
    std::fs::write(&log, &text).unwrap();
    let args = ["archive", "--keep", "3000", "--logs", store.to_str().unwrap()];
    // Room for ever more of what it writes, until it is enough.
    let mut refused = 0;
    let free = 1_048_576 - text.len() - 64 * 1024;
    for ballast_bytes in (0..=free).rev().step_by(48 * 1024) {
        std::fs::write(&ballast, vec![b'x'; ballast_bytes]).unwrap();
        let ran = world.agent_knowledge(&args);
        if ran.exit == Some(0) {
            break;
        }
        refused += 1;
        assert_eq!(ran.exit, Some(74), "{ran:?}");
        assert!(ran.output.contains("No space left"), "{ran:?}");
        assert!(std::fs::read(&log).unwrap() == text.as_bytes());
        assert_eq!(Store::at(&store).segments().unwrap().len(), 0);
    }
    let found = ids_in(&store);
    assert!(found.len() == 6_000 && found.values().all(|times| *times == 1));
    assert_eq!((refused > 0, Store::at(&store).segments().unwrap().len()), (true, 1));
    tell(
        "P21",
        &format!("archive on a tmpfs of 1 MiB that is full: {refused} refusals"),
        "exit 74, log untouched; archived when there was room",
    );
}

// S-ARCH-3
#[test]
fn a_stopped_lock_holder_is_told_and_nothing_is_done() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    append(&world.store().join("api.jsonl"), &text(0..20));
    let before = std::fs::read(world.store().join("api.jsonl")).unwrap();
    for lock in [".locks/api.jsonl.lock", ".locks/api.jsonl.rewrite"] {
        let holder = Holder::of(&world.store().join(lock));
        signal("STOP", holder.process());
        let start = Instant::now();
        let ran = world.agent_knowledge(&["archive", "--keep", "5"]);
        assert!(start.elapsed() < WAIT_MAX, "{:?}", start.elapsed());
        assert_eq!(ran.exit, Some(75), "{ran:?}");
        assert!(ran.output.contains("another process holds it"), "{ran:?}");
        drop(holder);
        assert_eq!(std::fs::read(world.store().join("api.jsonl")).unwrap(), before);
        assert_eq!(Store::at(world.store()).segments().unwrap().len(), 0);
    }
    world.agent_knowledge(&["archive", "--keep", "5"]).done();
    assert_whole(&world, 21);
    tell("P21", "lock holder stopped (SIGSTOP)", "archive says busy (exit 75), log untouched");
}
