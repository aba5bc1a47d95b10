//! A server that runs while logs grow, are replaced, shortened, rewritten and deleted, with writers
//! that die: every answer is of the logs as they are at that moment. Not here: commands that read
//! afresh each time (`recall`), what the writers lose (`many_writers`).

use std::collections::BTreeSet;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, World};

/// A server whose watcher is dead.
fn polling(world: &World) -> Client {
    let mut command = world.command(AGENT_KNOWLEDGE);
    Client::open_with(Era::Modern, command.arg("mcp").env("AGENT_KNOWLEDGE_POLL_ONLY", "1"))
}

fn line(lesson: &str) -> String {
    format!("{}\n", json!({ "lesson": lesson, "context": "zebra" }))
}

/// The lessons that a server finds for the word they all share.
#[track_caller]
fn found(client: &mut Client) -> BTreeSet<String> {
    let recent = client.read("memory://recent");
    let memories = recent["memories"].as_array().unwrap().iter();
    let listed: BTreeSet<String> =
        memories.map(|memory| memory["lesson"].as_str().unwrap().to_owned()).collect();
    let reply = client.told("memory_search", &json!({"query": "zebra", "limit": 20}));
    let count = reply.lines().filter(|line| line.contains(". [")).count();
    assert_eq!(count, listed.len(), "words and memories differ: {reply}");
    assert!(listed.iter().all(|lesson| reply.contains(lesson)), "{reply}");
    listed
}

fn set(lessons: &[&str]) -> BTreeSet<String> {
    lessons.iter().map(|lesson| (*lesson).to_owned()).collect()
}

// S-READ-1
#[test]
fn what_another_process_wrote_is_found_by_the_very_next_call() {
    let world = World::new();
    for mut client in [polling(&world), Client::open(&world, Era::Legacy)] {
        for number in 0..20 {
            // A new log now and then.
            let (word, repo) = (format!("quasar{number}x"), format!("repo{}", number / 4));
            let lesson = format!("unplug the {word}");
            world.log_memory(&["--repo", &repo, "--type", "fact", "--lesson", &lesson]).done();
            let reply = client.search(&word);
            assert!(reply.contains(&lesson), "{reply}");
        }
    }
}

// S-READ-2, S-LINE-1
#[test]
fn whatever_happens_to_a_log_shows_in_the_very_next_answer() {
    let world = World::new();
    let log = world.store().join("a.jsonl");
    for poll_only in [true, false] {
        let _ = std::fs::remove_dir_all(world.store());
        world.hand_write("a.jsonl", line("one"));
        let mut client =
            if poll_only { polling(&world) } else { Client::open(&world, Era::Modern) };
        let append = |text: &str| {
            use std::io::Write;
            let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        assert_eq!(found(&mut client), set(&["one"]));
        append(&line("two"));
        assert_eq!(found(&mut client), set(&["one", "two"]), "grown");
        let (half, rest) = ("{\"lesson\":\"thr", "ee\",\"context\":\"zebra\"}\n");
        append(half);
        assert_eq!(found(&mut client), set(&["one", "two"]), "a line without its end is none yet");
        append(rest);
        assert_eq!(found(&mut client), set(&["one", "two", "three"]));
        world.hand_write("b.jsonl", line("four"));
        assert_eq!(found(&mut client), set(&["one", "two", "three", "four"]), "a new log");
        std::fs::write(world.path("other"), line("five")).unwrap();
        std::fs::rename(world.path("other"), &log).unwrap();
        assert_eq!(found(&mut client), set(&["five", "four"]), "replaced");
        append(&line("six"));
        let whole = std::fs::metadata(&log).unwrap().len();
        assert_eq!(found(&mut client), set(&["five", "six", "four"]));
        let file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
        file.set_len(u64::try_from(line("five").len()).unwrap()).unwrap();
        assert_eq!(found(&mut client), set(&["five", "four"]), "truncated");
        append(&line("six"));
        assert_eq!(found(&mut client), set(&["five", "six", "four"]));
        file.set_len(u64::try_from(line("five").len()).unwrap()).unwrap();
        append(&line("7ix"));
        assert_eq!(std::fs::metadata(&log).unwrap().len(), whole, "the length alone tells nothing");
        assert_eq!(found(&mut client), set(&["five", "7ix", "four"]));
        std::fs::write(&log, format!("{}{}", line("eigh"), line("nin"))).unwrap();
        assert_eq!(found(&mut client), set(&["eigh", "nin", "four"]), "rewritten");
        std::fs::remove_file(&log).unwrap();
        assert_eq!(found(&mut client), set(&["four"]), "deleted");
        world.hand_write("a.jsonl", line("ten"));
        assert_eq!(found(&mut client), set(&["ten", "four"]), "come back");
        std::fs::rename(&log, world.store().join("c.jsonl")).unwrap();
        assert_eq!(found(&mut client), set(&["ten", "four"]), "renamed");
        std::fs::remove_dir_all(world.store()).unwrap();
        assert_eq!(found(&mut client), set(&[]), "the whole store went");
        world.hand_write("a.jsonl", line("eleven"));
        assert_eq!(found(&mut client), set(&["eleven"]), "and came back");
        client.told(
            "memory_save",
            &json!({"event_type": "fact", "lesson": "twelve", "context": "zebra"}),
        );
        assert_eq!(found(&mut client), set(&["eleven", "twelve"]));
    }
}

const STORM_WRITERS: usize = 60;

// S-STORE-4, S-READ-1
#[test]
fn a_server_shows_everything_killed_writers_acknowledged() {
    let world = World::new();
    let mut client = polling(&world);
    let start = Instant::now();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    let whole_run = start.elapsed();
    let lesson = format!("walrus {}", "x".repeat(30_000));
    let mut killed = 0;
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..STORM_WRITERS {
        let mut command = world.command(LOG_MEMORY);
        command.args(["--repo", "api", "--type", "fact", "--lesson", &lesson]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let share = u32::try_from(round * 37 % 150).unwrap();
        let moment = Instant::now() + whole_run * share / 100;
        while Instant::now() < moment {
            thread::yield_now();
        }
        // Killing one that has ended is no failure.
        child.kill().unwrap();
        // The server reads while the next writers write.
        let id = client
            .send("tools/call", json!({"name": "memory_search", "arguments": {"query": "walrus"}}));
        let output = child.wait_with_output().unwrap();
        killed += usize::from(output.status.code().is_none());
        let printed = String::from_utf8(output.stdout).unwrap();
        acknowledged.extend(printed.lines().filter(|id| id.len() == 26).map(str::to_owned));
        assert_ne!(client.answer_to(id)["result"]["isError"], true);
        if let Some(newest) = acknowledged.last() {
            client.told("memory_search", &json!({"ids": [newest]}));
        }
    }
    assert!(killed > 5, "a storm that kills nobody shows nothing");
    let last =
        world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the last"]).done();
    acknowledged.push(last.trim_end().to_owned());
    for some in acknowledged.chunks(20) {
        let shown = client.told("memory_search", &json!({"ids": some}));
        assert!(some.iter().all(|id| shown.contains(id)), "an acknowledged event is lost");
    }
    let left = client.leave();
    assert!(left.status.success() && left.took < Duration::from_secs(10), "{}", left.messages);
}
