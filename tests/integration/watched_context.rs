//! `context --watch`, which keeps a briefing in a file, and tags that suggest themselves. Not here: what a briefing tells (`briefing`).

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::{AGENT_KNOWLEDGE, World};

/// How long something may take on a busy machine.
const SECONDS_MAX: u64 = 60;

/// Waits until the file says this; returns its text.
fn holds(file: &Path, text: &str) -> String {
    let until = Instant::now() + Duration::from_secs(SECONDS_MAX);
    loop {
        let now = std::fs::read_to_string(file).unwrap_or_default();
        if now.contains(text) {
            return now;
        }
        assert!(Instant::now() < until, "{text} is not in {now:?}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn save(world: &World, lesson: &str) {
    world.log_memory(&["--repo", "api", "--type", "decision", "--lesson", lesson]).done();
}

fn watching(world: &World, file: &Path) -> Child {
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.args(["context", "--repo", "api", "--json", "--watch"]).arg(file);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Stops it as a terminal does; returns its exit and how often it wrote.
fn stopped(child: Child) -> (Option<i32>, u64) {
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), json["writes"].as_u64().unwrap())
}

// S-CONTEXT-9
#[test]
fn a_watched_briefing_follows_the_memories() {
    let world = World::new();
    let file = world.work().join("memories.md");
    save(&world, "we chose the walrus");
    let (child, start) = (watching(&world, &file), Instant::now());
    let first = holds(&file, "walrus");
    assert!(first.starts_with("<!-- agent-knowledge context --watch"), "{first}");
    for number in 0..12 {
        save(&world, &format!("we chose the seal {number}"));
    }
    holds(&file, "seal 11");
    std::fs::remove_file(&file).unwrap();
    holds(&file, "seal 11");
    let (exit, writes) = stopped(child);
    let most = start.elapsed().as_secs() + 2;
    assert!(exit == Some(0) && (3..=most).contains(&writes), "{exit:?} {writes} of {most}");
    let names: Vec<_> =
        std::fs::read_dir(world.work()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(names, ["memories.md"], "no half of a file stays");
}

// S-CONTEXT-9
#[test]
fn a_file_of_somebody_is_not_overwritten() {
    let world = World::new();
    save(&world, "we chose the walrus");
    let own = world.work().join("CLAUDE.md");
    std::fs::write(&own, "# Mine\n").unwrap();
    let ran =
        world.agent_knowledge(&["context", "--repo", "api", "--watch", own.to_str().unwrap()]);
    assert!(ran.exit == Some(65) && ran.messages.contains("is not overwritten"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "# Mine\n");
    let (target, link) = (world.path("target"), world.work().join("link.md"));
    std::fs::write(&target, "").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let ran =
        world.agent_knowledge(&["context", "--repo", "api", "--watch", link.to_str().unwrap()]);
    assert!(ran.exit == Some(74) && std::fs::read(&target).unwrap().is_empty(), "{ran:?}");
    // The trouble is told once.
    let inside = target.join("x.md");
    let ran =
        world.agent_knowledge(&["context", "--repo", "api", "--watch", inside.to_str().unwrap()]);
    let told = (ran.messages.matches("failed to").count(), ran.messages.matches("x.md").count());
    assert!(ran.exit == Some(74) && told == (1, 1), "{ran:?}");
}

// S-TAG-1
#[test]
fn tags_are_suggested_and_added_as_a_new_version() {
    let world = World::new();
    let save = |lesson: &str, tags: &str| {
        let saved = ["--repo", "api", "--type", "error", "--tags", tags, "--lesson", lesson];
        world.log_memory(&saved).done().trim().to_owned()
    };
    save("run the database migrations before the tests", "db,ci");
    save("the database migrations of the tests need a lock", "db,lock");
    let id = save("database migrations run twice in the tests: EACCES", "odd");
    world.agent_knowledge(&["pin", &id]).done();
    let suggested = world.asked(&["tag", &id]);
    let tags: Vec<&str> = suggested["suggested"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["tag"].as_str().unwrap())
        .collect();
    assert_eq!(tags, ["eacces", "db"], "{suggested}");
    assert_eq!(world.all_events().len(), 4, "nothing is written");
    let words = world.agent_knowledge(&["tag", &id]).done();
    assert!(words.contains("2 similar memories have it") && words.contains("--apply"), "{words}");
    let done = world.asked(&["tag", &id, "--apply"]);
    let new = done["id"].as_str().unwrap();
    let memory = world.asked(&["show", new])["memories"][0].clone();
    assert_eq!(memory["tags"], serde_json::json!(["odd", "eacces", "db"]), "{memory}");
    assert_eq!(memory["pinned"], true);
    let old = world.agent_knowledge(&["tag", &id, "x"]);
    assert!(old.exit == Some(65) && old.messages.contains("was replaced by"), "{old:?}");
    let own = world.asked(&["tag", new, "mine,ODD", "two"]);
    assert_eq!(own["added"], serde_json::json!(["mine", "two"]));
    let again = world.agent_knowledge(&["tag", own["id"].as_str().unwrap(), "two"]);
    assert!(
        again.exit == Some(65) && again.messages.contains("has these tags already"),
        "{again:?}"
    );
    let both = world.asked(&["tag", own["id"].as_str().unwrap(), "Gate", "gate,GATE"]);
    assert_eq!(both["added"], serde_json::json!(["Gate"]));
    // The guard takes a secret out of the log; the answer must not bring it back.
    let secret = ["password=", "hunter2secretX9"].concat();
    let told = world.agent_knowledge(&["tag", both["id"].as_str().unwrap(), &secret]).done();
    assert!(told.contains("it also has") && !told.contains("hunter2"), "{told}");
}

// S-TAG-2
#[cfg(unix)]
#[test]
fn a_model_suggests_tags_when_asked() {
    let world = World::new();
    let save = |lesson: &str, more: &[&str]| {
        let args = ["--repo", "api", "--type", "error", "--tags", "db", "--lesson", lesson];
        world.log_memory(&[&args, more].concat()).done().trim().to_owned()
    };
    let id = save("the walrus migrations need a lock", &[]);
    let without = world.agent_knowledge(&["tag", &id, "--ask"]);
    assert!(without.exit == Some(78) && without.messages.contains("[judge]"), "{without:?}");
    let asked = world.home().join("asked.json");
    let judge = format!(
        "cat > {}; echo '{{\"tags\": [\"DB\", \"locks\", \"two words\", \"sql\"]}}'",
        asked.display()
    );
    world.configure(&format!("[judge]\ncommand = ['sh', '-c', {judge:?}]\n"));
    let told = world.agent_knowledge(&["tag", &id, "--ask"]).done();
    assert!(told.contains("  locks\n  sql\n") && told.contains(" locks sql\n"), "{told}");
    assert!(std::fs::read_to_string(&asked).unwrap().contains("walrus migrations"));
    assert_eq!(world.all_events().len(), 1, "nothing is written");
    let done = world.asked(&["tag", &id, "--ask", "--apply", "--limit", "1"]);
    assert_eq!(done["added"], serde_json::json!(["locks"]));
    // Nothing of a private memory reaches the model.
    std::fs::remove_file(&asked).unwrap();
    let private = save("the walrus vault is below the stairs", &["--private"]);
    let refused = world.agent_knowledge(&["tag", &private, "--ask"]);
    assert!(refused.exit == Some(65) && refused.messages.contains("is private"), "{refused:?}");
    assert!(!asked.exists());
}
