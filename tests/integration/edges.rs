//! Edges that a trial found: a retriever that is starting or suspended, peers that drip, mistyped places, long logs and
//! full disks. Not here: the promises that these belong to.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::faults::disk_full::Small;
use crate::world::{AGENT_KNOWLEDGE, World};

fn runs(world: &World) -> bool {
    let told = world.agent_knowledge(&["serve", "--stop"]);
    !told.output.contains("No retriever is running")
}

// S-SERVE-8
#[test]
fn a_retriever_that_is_just_starting_is_stopped_too() {
    let world = World::sharing();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "zebra"]).done();
    for pause_ms in [0, 2, 5, 10, 20, 40, 80] {
        let mut client = world.command(AGENT_KNOWLEDGE);
        client.args(["search", "zebra"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut client = client.spawn().unwrap();
        std::thread::park_timeout(Duration::from_millis(pause_ms));
        world.agent_knowledge(&["serve", "--stop"]).done();
        // The client may have started another one after the stop, and answers in any case.
        assert!(client.wait().unwrap().success());
        let _ = runs(&world);
        let deadline = Instant::now() + Duration::from_secs(20);
        while runs(&world) {
            assert!(Instant::now() < deadline, "one is left after {pause_ms} ms");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

// S-SERVE-8
#[test]
fn a_suspended_retriever_is_named_with_the_remedy() {
    let world = World::sharing();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "zebra"]).done();
    let process = world.asked(&["status"])["retriever"]["pid"].to_string();
    let signal = |name: &str| Command::new("kill").args([name, &process]).status().unwrap();
    signal("-STOP");
    let told = world.agent_knowledge(&["serve", "--stop"]);
    signal("-CONT");
    assert_eq!(told.exit, Some(75), "{told:?}");
    assert!(told.messages.contains(&format!("kill -CONT {process}")), "{told:?}");
    assert!(runs(&world));
}

// S-SERVE-3
#[test]
fn a_peer_that_drips_delays_a_search_for_seconds_only() {
    let world = World::sharing();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    world.asked(&["status"]);
    world.agent_knowledge(&["serve", "--stop"]).done();
    let run = world.path("run");
    let deadline = Instant::now() + Duration::from_secs(20);
    let name = loop {
        let names = std::fs::read_dir(&run).unwrap().flatten().map(|entry| entry.path());
        let mut locks = names.filter(|path| path.extension().is_some_and(|end| end == "lock"));
        let socket = locks.next().unwrap().with_extension("sock");
        if !socket.exists() {
            break socket;
        }
        assert!(Instant::now() < deadline);
        std::thread::park_timeout(Duration::from_millis(10));
    };
    let listener = UnixListener::bind(&name).unwrap();
    std::thread::spawn(move || {
        for peer in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut peer = peer;
                while peer.write_all(b" ").is_ok() {
                    std::thread::park_timeout(Duration::from_millis(100));
                }
            });
        }
    });
    let start = Instant::now();
    let found = world.agent_knowledge(&["search", "zebra"]).done();
    assert!(found.contains("the zebra"), "{found}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

// S-STORE-1
#[test]
fn a_mistyped_store_is_neither_made_nor_believed() {
    let world = World::new();
    let (typo, deep) = (world.path("typo"), world.path("no/such/place"));
    let (shown, shown_deep) = (typo.to_str().unwrap(), deep.to_str().unwrap());
    let told = world.agent_knowledge(&["--logs", shown, "search", "zebra"]);
    assert!(told.output.contains(&format!("there is no store at {shown}")), "{told:?}");
    assert!(!typo.exists());
    let save = ["--repo", "api", "--type", "fact", "--lesson", "x", "--logs"];
    let refused = world.log_memory(&[&save[..], &[shown_deep]].concat());
    assert_eq!(refused.exit, Some(78), "{refused:?}");
    assert!(refused.messages.contains("mkdir -p") && !world.path("no").exists(), "{refused:?}");
    assert_eq!(world.agent_knowledge(&["--logs", shown_deep, "search", "x"]).exit, Some(78));
    let made = world.log_memory(&[&save[..], &[shown]].concat());
    assert!(made.messages.contains(&format!("made the store {shown}")), "{made:?}");
    assert!(world.log_memory(&[&save[..], &[shown]].concat()).messages.is_empty());
}

// S-STORE-1
#[test]
fn a_file_is_no_store() {
    let world = World::new();
    let file = world.path("file");
    std::fs::write(&file, "x").unwrap();
    let (file, below) = (file.to_str().unwrap(), file.join("logs"));
    let below = below.to_str().unwrap();
    let save = ["--repo", "api", "--type", "fact", "--lesson", "x", "--logs"];
    for (logs, what) in [(file, "it"), (below, file)] {
        let told = format!(
            "failed to use {logs}: {what} is a file, and a directory is needed; correct --logs"
        );
        for ran in [
            world.log_memory(&[&save[..], &[logs]].concat()),
            world.agent_knowledge(&["--logs", logs, "add", "x"]),
            world.agent_knowledge(&["--logs", logs, "search", "x"]),
        ] {
            assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""), "{ran:?}");
            assert!(ran.messages.contains(&told), "{ran:?}");
        }
        // What is asked for the state tells it.
        let status = world.agent_knowledge(&["--logs", logs, "status"]).done();
        assert!(
            status.contains(&format!("{what} is a file, and a directory is needed")),
            "{status}"
        );
    }
}

// S-STORE-1
#[test]
fn a_folder_of_something_else_is_told() {
    let world = World::new();
    let save = ["--repo", "api", "--type", "fact", "--lesson", "x", "--logs"];
    for (folder, is_added) in [("shop", false), ("farm", true)] {
        let folder = world.path(folder);
        std::fs::create_dir_all(folder.join("src")).unwrap();
        let shown = folder.to_str().unwrap();
        for args in [&["--logs", shown, "status"][..], &["--logs", shown, "search", "x"]] {
            let told = world.agent_knowledge(args).done();
            assert!(told.contains("has other files, such as src, and no logs"), "{told}");
        }
        // Nothing is lost by a guess: the lesson is saved, and the person told.
        let first = if is_added {
            world.agent_knowledge(&["--logs", shown, "add", "x"])
        } else {
            world.log_memory(&[&save[..], &[shown]].concat())
        };
        let told = format!("{shown} has other files, such as \"src\", and had no logs; if it is");
        assert!(first.exit == Some(0) && first.messages.contains(&told), "{first:?}");
        let second = world.log_memory(&[&save[..], &[shown]].concat());
        assert!(second.exit == Some(0) && !second.messages.contains("other files"), "{second:?}");
        let status = world.agent_knowledge(&["--logs", shown, "status"]).done();
        assert!(!status.contains("other files"), "{status}");
    }
}

// S-VERIFY-1
#[test]
fn a_line_cut_off_by_a_killed_writer_is_a_note() {
    let world = World::new();
    world.hand_write("api.jsonl", "{\"lesson\":\"zebra\"}\n{\"lesson\":\"half of\n");
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "x"]).done();
    let told = world.agent_knowledge(&["verify"]);
    assert!(told.exit == Some(0) && told.output.contains("cut off by a writer"), "{told:?}");
    world.hand_write("web.jsonl", "{\"lesson\":\"zebra\"}\nnot JSON\n");
    assert_eq!(world.agent_knowledge(&["verify"]).exit, Some(1));
}

// S-DOCTOR-1
#[test]
fn the_doctor_tells_of_long_logs_and_full_disks() {
    let world = World::new();
    let line =
        "{\"lesson\":\"zebra and a good deal more text, so that a line has a usual length\"}\n";
    world.hand_write("api.jsonl", line.repeat(10_001));
    let told = world.agent_knowledge(&["doctor"]);
    assert!(told.output.contains("has 10001 lines"), "{told:?}");
    let told = world.agent_knowledge(&["status"]);
    assert!(told.output.contains("api.jsonl has 10001 lines"), "{told:?}");
    let Some(small) = Small::mounted_at(world.path("small")) else { return };
    let logs = small.path().join("logs");
    world
        .log_memory(&[
            "--logs",
            logs.to_str().unwrap(),
            "--repo",
            "a",
            "--type",
            "fact",
            "--lesson",
            "x",
        ])
        .done();
    let _ = std::fs::write(small.path().join("filler"), vec![0; 2 << 20]);
    let told = world.agent_knowledge(&["--logs", logs.to_str().unwrap(), "doctor"]);
    assert!(told.output.contains("is full"), "{told:?}");
}

// S-LINK-2
#[test]
fn a_link_to_a_file_that_does_not_exist_is_refused() {
    let world = World::new();
    let repo = world.path("repo");
    world.git(&repo, &["init", "-q"]);
    std::fs::write(repo.join("real.rs"), "").unwrap();
    let args = ["--type", "fact", "--lesson", "zebra", "--id", "m1"];
    world.log_memory_in(&repo, &args).done();
    let link = |file: &str| world.agent_knowledge_in(&repo, &["link", "m1", "touches", file]);
    link("real.rs").done();
    let refused = link("nope.rs");
    assert_ne!(refused.exit, Some(0), "{refused:?}");
    assert!(refused.messages.contains("no such file: nope.rs"), "{refused:?}");
}
