//! How an external model is set: the cost is told first, nothing private and nothing of a repository that is left out is sent, and
//! what cannot work changes nothing.

use std::time::{Duration, Instant};

use super::stand_in_provider::{StandInProvider, model_a};
use crate::world::World;

fn taught(world: &World) {
    for (repo, lesson) in [
        ("shop", "memory 1 the cart forgets its items when the session cookie is renewed"),
        ("shop", "memory 2 the payment page needs a longer timeout in the test bench"),
        ("secret-lab", "memory 3 the prototype overheats when both pumps run at once"),
    ] {
        world.log_memory(&["--repo", repo, "--type", "fact", "--lesson", lesson]).done();
    }
    let private = ["--repo", "shop", "--type", "fact", "--private", "--lesson"];
    let lesson = "memory 4 my own note about the manager";
    world.log_memory(&[&private[..], &[lesson]].concat()).done();
}

// S-PROVIDER-6
#[test]
fn model_use_tells_the_cost_and_asks() {
    let (world, provider) = (World::new(), StandInProvider::start(model_a));
    taught(&world);
    let args = ["model", "use", "openai", "m", "--url", &provider.url, "--off", "secret-*"];
    let told = world.agent_knowledge(&args);
    assert_eq!(told.exit, Some(64), "nobody is there to ask: {told:?}");
    assert!(told.messages.contains("sends   3 texts of memories, about"), "{}", told.messages);
    assert!(told.messages.contains("to this machine alone"), "{}", told.messages);
    assert!(told.messages.contains("keeps   1 memories here"), "{}", told.messages);
    assert!(told.messages.contains("add --yes"), "{}", told.messages);
    assert!(!world.config_file().exists() && provider.texts() == 0, "nothing is changed or sent");
    world.agent_knowledge(&[&args[..], &["--yes"]].concat()).done();
    let text = std::fs::read_to_string(world.config_file()).unwrap();
    assert!(text.contains("off_repos = [\"secret-*\"]"), "{text}");
    let set_up = world.agent_knowledge(&["setup"]).done();
    assert!(set_up.contains(&format!("are sent to {} (openai)", provider.url)), "{set_up}");
    assert_eq!(provider.texts(), 1, "one fixed sentence tries the provider");
}

// S-PROVIDER-2
#[test]
fn what_cannot_work_changes_nothing() {
    let (world, provider) = (World::new(), StandInProvider::start(model_a));
    let why = |args: &[&str]| {
        let ran =
            world.agent_knowledge(&[&["model", "use", "openai", "m", "--yes"], args].concat());
        assert_ne!(ran.exit, Some(0), "{args:?}");
        assert!(!world.config_file().exists(), "{args:?}");
        ran.messages
    };
    assert!(why(&["--url", "http://example.com/v1"]).contains("must begin with https://"));
    assert!(why(&["--url", "http://127.0.0.1:1/v1"]).contains("failed to reach 127.0.0.1:1"));
    let inside = why(&["--url", "https://me:hunter2secret@example.com/v1"]);
    assert!(inside.contains("url must be") && !inside.contains("hunter2secret"), "{inside}");
    let unset = why(&["--url", &provider.url, "--key-env", "NO_SUCH_KEY"]);
    assert!(unset.contains("the variable NO_SUCH_KEY"), "{unset}");
    let pasted = why(&["--url", &provider.url, "--key-env", "sk-live-0123456789abcdef"]);
    assert!(pasted.contains("never the key itself") && !pasted.contains("0123456789"), "{pasted}");
}

// S-PROVIDER-7
#[test]
fn nothing_private_and_nothing_left_out_is_sent() {
    let world = World::new();
    taught(&world);
    // A program may send anything anywhere, so it sees as little as a server elsewhere.
    let log = world.path("seen.txt");
    let script = format!(
        "cat >> {log}; echo >> {log}; tail -n 1 {log} | {{ read -r line; python3 -c \
         'import json,sys; n=len(json.loads(sys.argv[1])[\"input\"]); print(json.dumps({{\"embeddings\": [[1.0, 0.5]]*n}}))' \"$line\"; }}",
        log = log.display()
    );
    let args = [
        "model",
        "use",
        "command",
        "m",
        "--yes",
        "--off",
        "secret-lab",
        "--command",
        "sh",
        "-c",
        &script,
    ];
    world.agent_knowledge(&args).done();
    let told = world.agent_knowledge(&["index"]).done();
    assert!(told.starts_with("2 memories embedded now"), "{told}");
    let lab = ["search", "memory of the pumps", "--repo", "secret-lab"];
    let asked = world.agent_knowledge(&lab);
    assert!(asked.output.contains("nothing of this repository"), "{asked:?}");
    world.agent_knowledge(&["search", "the lost cart of a customer", "--repo", "shop"]).done();
    let seen = std::fs::read_to_string(&log).unwrap();
    assert!(seen.contains("cookie is renewed") && seen.contains("the lost cart"), "{seen}");
    for kept in ["prototype", "my own note", "memory of the pumps"] {
        assert!(!seen.contains(kept), "{kept}: {seen}");
    }
}

// S-PROVIDER-6
#[test]
fn words_answer_while_the_provider_is_away() {
    let world = World::new();
    taught(&world);
    world.configure(
        "[embedding]\nprovider = \"openai\"\nmodel = \"m\"\nurl = \"http://127.0.0.1:1/v1\"\n",
    );
    let begun = Instant::now();
    let found = world.agent_knowledge(&["search", "cart forgets its items"]).done();
    assert!(found.contains("cookie is renewed"), "{found}");
    assert!(found.contains("searched by words only (failed to reach 127.0.0.1:1"), "{found}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}
