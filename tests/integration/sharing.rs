//! One retriever for all: real processes attach to it, it is killed, stopped, planted upon and asked to leave,
//! and every question has its answer. Not here: how fast (`benches`).

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::raw_client::{BOTH, Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World};

/// Longest anything may take: a debug build on a busy machine, but never for ever.
const STEP: Duration = Duration::from_secs(60);

/// Clients at once: what a busy developer has.
const CLIENTS: usize = 8;

/// The process of the retriever that answers, and those of its clients.
fn retriever(world: &World) -> (u64, BTreeSet<u64>) {
    let status = world.asked(&["status"]);
    let pid = |value: &Value| value["pid"].as_u64().unwrap();
    let clients = status["clients"]["attached"].as_array().unwrap();
    (pid(&status["retriever"]), clients.iter().map(pid).collect())
}

fn send(signal: &str, pid: u64) {
    let done = Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(done.success());
}

fn is_running(pid: u64) -> bool {
    // A zombie has ended; whoever started it has not looked yet.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.starts_with(" Z")))
}

#[track_caller]
fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < STEP, "{what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

fn learn(world: &World, lesson: &str) {
    world.log_memory(&["--repo", "api", "--type", "error", "--lesson", lesson]).done();
}

// S-SERVE-6
#[test]
fn what_somebody_left_open_is_not_held_open_by_the_retriever() {
    let world = World::sharing();
    let pipe = world.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut shell = world.command("sh");
    shell
        .args(["-c", "exec 9>\"$1\"; \"$2\" status >/dev/null", "sh"])
        .arg(&pipe)
        .arg(AGENT_KNOWLEDGE);
    let mut shell = shell.spawn().unwrap();
    // Whoever reads it, reads to the end: that of the last process that has it open.
    let (read, was_read) = std::sync::mpsc::channel();
    std::thread::spawn(move || read.send(std::fs::read(pipe).unwrap()));
    assert!(shell.wait().unwrap().success());
    assert_eq!(was_read.recv_timeout(STEP).expect("the pipe has its end"), b"");
    let (pid, _) = retriever(&world);
    assert!(is_running(pid));
}

// S-SERVE-1
#[test]
fn eight_clients_at_once_share_one_retriever() {
    let world = World::sharing();
    let mut clients: Vec<Client> = std::thread::scope(|scope| {
        let open = |era| {
            scope.spawn({
                let world = &world;
                move || Client::open(world, era)
            })
        };
        let opening: Vec<_> = (0..CLIENTS).map(|number| open(BOTH[number % 2])).collect();
        opening.into_iter().map(|client| client.join().unwrap()).collect()
    });
    for (number, client) in clients.iter_mut().enumerate() {
        let lesson = format!("the quasar{number}x needs a reset");
        let saved = client.told("memory_save", &json!({"event_type": "error", "lesson": lesson}));
        assert!(saved.starts_with("Saved as "), "{saved}");
    }
    for client in &mut clients {
        for number in 0..CLIENTS {
            let reply = client.search(&format!("quasar{number}x"));
            assert!(reply.contains(&format!("quasar{number}x needs a reset")), "{reply}");
        }
    }
    let (pid, attached) = retriever(&world);
    let own: BTreeSet<u64> = clients.iter().map(|client| client.process().into()).collect();
    assert!(attached.is_superset(&own), "{own:?} {attached:?}");
    assert!(!own.contains(&pid));
    drop(clients);
    wait_for("the clients are gone", || retriever(&world).1.is_disjoint(&own));
    assert_eq!(retriever(&world).0, pid, "it stays for those who come next");
}

// S-SERVE-1
#[test]
fn shared_answers_are_those_of_a_process_of_its_own() {
    let world = World::sharing();
    for lesson in ["run npm ci after a merge", "use npm run build -- --force", "restart the daemon"]
    {
        learn(&world, lesson);
    }
    let own = |args: &[&str]| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.env("AGENT_KNOWLEDGE_RETRIEVER", "own").args(args);
        crate::world::run(&mut command, b"")
    };
    for args in [
        &["search", "npm build"][..],
        &["search", "npm build", "--json", "--explain"],
        &["search", "zebra"],
        &["search", "kind:error", "since:1d", "--repo", "api"],
        &["search", "x", "--repo", "nowhere"],
        &["context", "--task", "npm"],
        &["recent", "--json"],
        &["show", "nosuchid"],
        &["whoami"],
        &["search", "x", "--limit", "99"],
    ] {
        assert_eq!(world.agent_knowledge(args), own(args), "{args:?}");
    }
    let id = world.asked(&["recent"])["memories"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.agent_knowledge(&["show", &id]), own(&["show", &id]));
}

// S-SERVE-1
#[test]
fn clients_with_an_empty_environment_share_a_retriever() {
    let world = World::sharing();
    learn(&world, "the graviton is shy");
    let pid_by = |change: &dyn Fn(&mut Command)| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.env_remove("AGENT_KNOWLEDGE_RUNTIME").args(["status", "--json"]);
        change(&mut command);
        let status: Value =
            serde_json::from_str(&crate::world::run(&mut command, b"").done()).unwrap();
        status["retriever"]["pid"].as_u64().unwrap()
    };
    let bare = pid_by(&|_| {});
    let session = pid_by(&|command| {
        command.env("XDG_RUNTIME_DIR", world.home());
    });
    let elsewhere = pid_by(&|command| {
        command.current_dir("/").env("TMPDIR", world.home());
    });
    send("-TERM", bare);
    assert_eq!((bare, bare), (session, elsewhere));
}

// S-SERVE-5
#[test]
fn cleaning_the_runtime_directory_starts_no_second_one() {
    let world = World::sharing();
    learn(&world, "the meson decays");
    let mut client = Client::open(&world, Era::Legacy);
    client.search("meson");
    let (first, _) = retriever(&world);
    std::fs::remove_dir_all(world.path("run")).unwrap();
    let (second, _) = retriever(&world);
    assert_ne!(first, second);
    wait_for("the first ends", || !is_running(first));
    assert_eq!(retriever(&world).0, second, "and leaves the sign of the second alone");
    assert!(client.search("meson").contains("decays"));
}

// S-SERVE-3
#[test]
fn a_retriever_that_is_killed_is_replaced_and_nobody_notices() {
    let world = World::sharing();
    let mut client = Client::open(&world, Era::Legacy);
    let mut seen = BTreeSet::new();
    for round in 0..5 {
        let saved = client.told(
            "memory_save",
            &json!({"event_type": "fact", "lesson": format!("pulsar{round}y")}),
        );
        assert!(saved.starts_with("Saved as "), "{saved}");
        let (pid, _) = retriever(&world);
        assert!(seen.insert(pid), "a new one each time");
        send("-KILL", pid);
        wait_for("it is dead", || !is_running(pid));
        let reply = client.search(&format!("pulsar{round}y"));
        assert!(reply.contains(&format!("pulsar{round}y")), "{reply}");
    }
    let lines = world.log_names().iter().map(|log| world.log_lines(log).len()).sum::<usize>();
    assert_eq!(lines, 5, "each was written once");
}

// S-SERVE-3
#[test]
fn a_retriever_that_is_stopped_keeps_nobody_from_an_answer() {
    let world = World::sharing();
    learn(&world, "the magnetar is asleep");
    let mut client = Client::open(&world, Era::Modern);
    client.search("magnetar");
    let (pid, _) = retriever(&world);
    send("-STOP", pid);
    let reply = client.search("magnetar");
    let other = Client::open(&world, Era::Legacy).search("magnetar");
    send("-CONT", pid);
    assert!(reply.contains("asleep") && other.contains("asleep"), "{reply} {other}");
}

// S-SERVE-2
#[test]
fn where_others_could_listen_in_the_answer_is_made_here() {
    let world = World::sharing();
    learn(&world, "the blazar flares");
    let run = world.path("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).unwrap();
    let reply = world.agent_knowledge(&["search", "blazar"]).done();
    assert!(reply.contains("the blazar flares"), "{reply}");
    assert_eq!(std::fs::read_dir(&run).unwrap().count(), 0, "nothing of ours is left there");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o700)).unwrap();
    world.agent_knowledge(&["search", "blazar"]).done();
    for entry in std::fs::read_dir(&run).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert!(mode & 0o077 == 0 || mode & 0o170_000 == 0o140_000, "{mode:o}");
    }
}

/// The retriever in the foreground.
fn foreground(world: &World) -> Child {
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.args(["serve", "--idle-minutes", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let is_up = || {
        std::fs::read_dir(world.path("run")).is_ok_and(|mut found| {
            found.any(|entry| entry.unwrap().path().extension().is_some_and(|is| is == "sock"))
        })
    };
    wait_for("it listens", is_up);
    child
}

// S-SERVE-5
#[test]
fn there_is_never_a_second_one_and_it_ends_when_asked_to() {
    let world = World::sharing();
    for how in ["signal", "command"] {
        let mut first = foreground(&world);
        let second = world.agent_knowledge(&["serve"]);
        assert_eq!(second.exit, Some(75), "{}", second.messages);
        assert!(second.messages.contains("is running already"), "{}", second.messages);
        assert_eq!(retriever(&world).0, u64::from(first.id()));
        match how {
            "signal" => send("-TERM", first.id().into()),
            _ => drop(world.agent_knowledge(&["serve", "--stop"]).done()),
        }
        wait_for("it ends", || first.try_wait().unwrap().is_some());
        assert!(first.wait().unwrap().success(), "{how}");
    }
    let stopped = world.agent_knowledge(&["serve", "--stop"]).done();
    assert!(stopped.contains("No retriever is running"), "{stopped}");
}

// S-ARCH-6
#[test]
fn a_retriever_archives_and_everything_is_still_found() {
    let world = World::sharing();
    world.configure("archive_above_lines = 100\n");
    let lines: String = (0..150).map(|number| format!("{}\n", json!({"id": format!("m{number}"), "lesson": format!("quark{number}z"), "timestamp": "2026-01-01T00:00:00Z"}))).collect();
    world.hand_write("api.jsonl", lines);
    world.agent_knowledge(&["search", "quark149z"]).done();
    wait_for("half of it stays", || world.log_lines("api.jsonl").len() == 50);
    for number in [0, 99, 100, 149] {
        let word = format!("quark{number}z");
        let reply = world.agent_knowledge(&["search", &word]).done();
        assert!(reply.contains(&word), "{reply}");
    }
    assert_eq!(world.asked(&["status"])["memories"], 150);
}

// S-READ-6
#[test]
fn a_restarted_retriever_knows_what_came_meanwhile() {
    let world = World::sharing();
    let digest = || world.agent_knowledge(&["digest"]).done();
    let known =
        |client: &mut Client| client.read("memory://digest")["digest"].as_str().unwrap().to_owned();
    learn(&world, "the boson is heavy");
    assert!(known(&mut Client::open(&world, Era::Legacy)).trim() == digest().trim());
    let (pid, _) = retriever(&world);
    world.agent_knowledge(&["serve", "--stop"]).done();
    wait_for("it ends", || !is_running(pid));
    let kept = crate::world::bytes_under(&world.path("cache").join("index"));
    assert!(!kept.is_empty(), "it left a checkpoint");
    learn(&world, "the fermion is shy");
    let mut client = Client::open(&world, Era::Modern);
    assert!(client.search("fermion").contains("shy") && client.search("boson").contains("heavy"));
    assert_eq!(known(&mut client).trim(), digest().trim());
}

// S-READ-7
#[test]
fn while_logs_are_read_the_newest_are_found_first() {
    let world = World::sharing();
    let line = |number: usize| {
        let lesson = format!("gluon{number}w binds the quarks in build step {}", number % 977);
        format!(
            "{}\n",
            json!({"id": format!("m{number}"), "lesson": lesson, "timestamp": "2026-01-01T00:00:00Z"})
        )
    };
    world.hand_write("api.jsonl", (0..20_000).map(line).collect::<String>());
    let mut client = Client::open(&world, Era::Legacy);
    // A machine that is quick enough may have read everything by now.
    let newest = client.search("gluon19999w");
    assert!(newest.contains("gluon19999w"), "{newest}");
    learn(&world, "the axion is elusive");
    let fresh = client.search("axion");
    assert!(fresh.contains("elusive"), "what was acknowledged is found: {fresh}");
    wait_for("the oldest is found", || {
        let reply = client.search("gluon0w");
        let is_partial = reply.contains("index is not complete yet");
        assert!(is_partial || reply.contains("gluon0w"), "{reply}");
        !is_partial
    });
}

// S-SERVE-6
#[test]
fn a_client_ends_when_its_parent_is_killed() {
    let world = World::sharing();
    // The shell is the parent, and we hold the other end of the input.
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 3<&0; '{AGENT_KNOWLEDGE}' mcp <&3 & echo $!; wait")]);
    shell.envs(world.command("sh").get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let pid: u64 = line.trim().parse().unwrap();
    wait_for("it is attached", || retriever(&world).1.contains(&pid));
    send("-KILL", child.id().into());
    child.wait().unwrap();
    wait_for("no orphan remains", || !is_running(pid));
}

// S-SERVE-6
#[test]
fn of_clients_that_are_killed_nothing_remains() {
    let world = World::sharing();
    let mut pids = BTreeSet::new();
    for number in 0..24 {
        let mut client = Client::open(&world, BOTH[number % 2]);
        if number % 3 == 0 {
            client.search("anything");
        }
        pids.insert(u64::from(client.process()));
        // Dropping it kills it.
    }
    wait_for("all are forgotten", || retriever(&world).1.is_disjoint(&pids));
    assert!(pids.iter().all(|pid| !is_running(*pid)));
}
