//! P11: a server whose hints were dropped by the system, or that cannot have any, finds everything by
//! the very next query. Not here: one change at a time (`freshness`).

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{signal, sized, tell};
use crate::pieces;
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World};

const LOGS: usize = 200;
/// What P11 allows where hints fail. Measured generously: a debug build on a busy machine.
const FOUND_WITHIN: Duration = Duration::from_secs(60);

/// A server that was told to poll, or whose watcher cannot be made because this call fails.
fn server_without_hints(world: &World, inject: Option<&str>) -> Option<Command> {
    let Some(inject) = inject else {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.env("AGENT_KNOWLEDGE_POLL_ONLY", "1");
        return Some(command);
    };
    let mut command = world.command(pieces::strace()?);
    // Only the calls that matter stop the server.
    command.args(["--seccomp-bpf", "-f", "-o", "/dev/null"]);
    command.args(["-e", "trace=inotify_init1,inotify_add_watch"]);
    command.args(["-e", &format!("inject={inject}")]).arg(AGENT_KNOWLEDGE);
    Some(command)
}

/// Appends to all logs in turn, each time opening and closing the file as writers do.
fn append_everywhere(world: &World, appends: usize) {
    for number in 0..appends {
        let log = world.store().join(format!("repo{}.jsonl", number % LOGS));
        let line = json!({ "id": format!("id{number}"), "lesson": format!("quasar{number}x") });
        let mut file = OpenOptions::new().create(true).append(true).open(log).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

/// Asks for the last event of every so many logs; returns how long the first answer took.
fn assert_all_found(client: &mut Client, appends: usize, every: usize) -> Duration {
    let start = Instant::now();
    let last = format!("quasar{}x", appends - 1);
    let reply = client.search(&last);
    let took = start.elapsed();
    assert!(reply.contains(&last), "{reply}");
    for number in (0..LOGS).step_by(every).map(|log| appends - LOGS + log) {
        let reply = client.search(&format!("quasar{number}x"));
        assert!(reply.contains(&format!("quasar{number}x")), "{reply}");
    }
    took
}

#[cfg(target_os = "linux")]
fn queue_length_max() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").ok()?;
    text.trim().parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn queue_length_max() -> Option<usize> {
    None
}

// S-READ-1
#[test]
fn hints_that_overflowed_hide_nothing_from_the_next_query() {
    let appends = sized(6_000, 20_000);
    let world = World::new();
    world.log_memory(&["--repo", "repo0", "--type", "fact", "--lesson", "first"]).done();
    let mut client = Client::open(&world, Era::Modern);
    assert!(client.search("first").contains("first"));
    signal("STOP", client.process());
    append_everywhere(&world, appends);
    signal("CONT", client.process());
    let took = assert_all_found(&mut client, appends, sized(20, 1));
    assert!(took < FOUND_WITHIN, "{took:?}");
    if let Some(queue) = queue_length_max() {
        // Each append opens, changes and closes another file than the one before: three hints.
        assert!(3 * appends > queue, "no overflow: {queue} hints fit into the queue");
    }
    tell(
        "P11",
        &format!("server stopped (SIGSTOP), {appends} appends over {LOGS} logs, then continued"),
        &format!("all found by the first query, after {:.2} s", took.as_secs_f64()),
    );
}

// S-READ-1
#[test]
fn a_server_without_a_watcher_finds_what_was_just_written() {
    let appends = sized(400, 2_000);
    let cases = [
        ("poll only", None),
        ("no inotify instance left", Some("inotify_init1:error=EMFILE")),
        ("no inotify watch left", Some("inotify_add_watch:error=ENOSPC")),
    ];
    for (name, inject) in cases {
        let world = World::new();
        world.log_memory(&["--repo", "repo0", "--type", "fact", "--lesson", "first"]).done();
        let Some(mut command) = server_without_hints(&world, inject) else { return };
        let mut client = Client::open_with(Era::Modern, command.arg("mcp"));
        assert!(client.search("first").contains("first"), "{name}");
        append_everywhere(&world, appends);
        let took = assert_all_found(&mut client, appends, 20);
        assert!(client.leave().status.success(), "{name}");
        tell(
            "P11",
            &format!("dead watcher ({name}): {appends} appends over {LOGS} logs"),
            &format!("all found by the first query, after {:.2} s", took.as_secs_f64()),
        );
    }
}
