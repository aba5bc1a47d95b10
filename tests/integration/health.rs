//! What the memory says about itself: what it could not read, which repository this is, and that it
//! has no model. Not here: the model at work (`model`).

use serde_json::{Value, json};

use crate::raw_client::{BOTH, Client};
use crate::world::World;

// S-LINE-8
#[test]
fn status_shows_each_skipped_line_with_file_offset_and_reason() {
    let world = World::new();
    let good = "{\"lesson\":\"the zebra one\"}\n";
    let long = format!("{{\"lesson\":\"{}\"}}\n", "x".repeat(2 << 20));
    let deep = format!("{{\"lesson\":\"x\",\"y\":{}{}}}\n", "[".repeat(200), "]".repeat(200));
    let skipped = [
        ("not json\n", "not JSON"),
        ("[1]\n", "an array, not a JSON object"),
        ("\"text\"\n", "a string, not a JSON object"),
        ("\0\0\0\n", "nothing but NUL bytes"),
        ("{\"repo\":\"api\",\"tags\":[\"x\"]}\n", "no lesson, context, command or symptoms"),
        (&deep, "nested deeper than 128 levels"),
        (&long, "lines over 2097152 bytes are not read"),
    ];
    let mut bytes = good.to_owned();
    let mut offsets = Vec::new();
    for (line, _) in skipped {
        offsets.push(bytes.len());
        // Blank lines are nothing; every good one counts.
        bytes.push_str(&format!("{line}\n  \n{}", good.replace("one", &offsets.len().to_string())));
    }
    world.hand_write("api.jsonl", &bytes);
    world.hand_write("other.jsonl", "torn in the mid");
    let status = world.asked(&["status"]);
    assert_eq!((&status["memories"], &status["skipped"]), (&json!(8), &json!(7)), "{status}");
    assert_eq!(status["lines"], 15, "a line without its end is none yet: {status}");
    let log = world.store().join("api.jsonl");
    let text = world.agent_knowledge(&["status"]).done();
    let shown = status["skips"].as_array().unwrap();
    for (((_, reason), offset), skip) in skipped.iter().zip(&offsets).zip(shown) {
        assert_eq!(skip["offset"], *offset, "{skip}");
        assert_eq!(skip["log"], log.to_str().unwrap());
        let told = skip["reason"].as_str().unwrap();
        assert!(told.contains(reason), "no {reason:?} in {told:?}");
        let line = format!("{} at byte {offset}: {told}", log.display());
        assert!(text.contains(&line), "no {line:?} in {text}");
    }
}

// S-LINE-7
#[test]
fn damage_at_the_edges_loses_no_memory() {
    let world = World::new();
    let mut bytes =
        b"\xEF\xBB\xBF{\"lesson\":\"zebra mark\"}\r\n\0\0{\"lesson\":\"zebra nul\"}\0\n".to_vec();
    bytes.extend(
        b"{\"lesson\":\"zebra caf\xE9\"}\n{\"lesson\":\"zebra tags\",\"tags\":\"ci, npm\"}\n",
    );
    world.hand_write("acme.jsonl", bytes);
    let status = world.asked(&["status"]);
    assert_eq!((&status["memories"], &status["skipped"]), (&json!(4), &json!(0)), "{status}");
    assert_eq!(status["repos"], json!({"acme": 4}), "a line without repo is of its file's");
    let found = world.asked(&["search", "zebra", "--tag", "npm"]);
    assert_eq!(found["memories"][0]["lesson"], "zebra tags");
}

#[test]
fn a_log_that_cannot_be_read_is_told_and_the_others_answer() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    std::fs::create_dir(world.store().join("folder.jsonl")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", world.store().join("link.jsonl")).unwrap();
    let found = world.agent_knowledge(&["search", "zebra"]).done();
    assert!(found.contains("the zebra"), "{found}");
    let status = world.asked(&["status"]);
    assert_eq!(status["memories"], 1, "{status}");
    // S-STORE-2: a link in the place of a log is left alone, and not followed either.
    assert_eq!(status["lines"], 1, "{status}");
}

#[test]
fn whoami_tells_the_repository_and_why() {
    let world = World::new();
    let top = world.path("clone");
    world.git(&top, &["init", "--quiet"]);
    world.git(&top, &["remote", "add", "upstream", "git@github.com:Acme/API.git"]);
    world.log_memory_in(&top, &["--type", "fact", "--lesson", "x"]).done();
    world.log_memory(&["--repo", "gitlab.com/other/api", "--type", "fact", "--lesson", "y"]).done();
    let inside = top.join("src");
    std::fs::create_dir(&inside).unwrap();
    let told = world.agent_knowledge_in(&inside, &["whoami", "--json"]).done();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["repo"], &told["memories"]), (&json!("github.com/acme/api"), &json!(1)));
    let log = world.store().join("github.com+acme+api.jsonl");
    assert_eq!(told["log"], log.to_str().unwrap());
    assert_eq!(told["agent"], "Tester");
    assert_eq!(told["alike"], json!(["gitlab.com/other/api"]));
    let because = told["because"].as_str().unwrap();
    assert!(because.contains("upstream") && because.contains("github.com"), "{because}");
    let text = world.agent_knowledge_in(&inside, &["whoami"]).done();
    assert!(text.starts_with("repo      github.com/acme/api\nbecause   "), "{text}");
    let nowhere = world.agent_knowledge(&["whoami"]).done();
    assert!(
        nowhere.contains("repo      work~") && nowhere.contains("no git repository"),
        "{nowhere}"
    );
}

// S-RANK-2
#[test]
fn a_missing_model_is_reported_once_and_in_status() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    let status = world.agent_knowledge(&["status"]).done();
    let told = status.lines().filter(|line| line.contains("model fetch"));
    let [line] = told.collect::<Vec<_>>()[..] else { panic!("{status}") };
    assert!(line.starts_with("meaning   off: no embedding model in "), "{line}");
    let note = |reply: &str| {
        reply.lines().filter(|line| line.starts_with("Note: searched by words only")).count()
    };
    let first = world.agent_knowledge(&["search", "zebra"]).done();
    assert_eq!(note(&first), 1, "{first}");
    let told = "(no embedding model; agent-knowledge model fetch installs one).";
    assert!(first.contains("the zebra") && first.trim_end().ends_with(told), "{first}");
    for era in BOTH {
        let mut client = Client::open(&world, era);
        let replies = [client.search("zebra"), client.search("zebra"), client.search("zebra")];
        assert_eq!(replies.each_ref().map(|reply| note(reply)), [1, 0, 0], "{replies:?}");
        assert!(replies.iter().all(|reply| reply.contains("the zebra")));
        // An agent pays for every word, and installs no model.
        assert!(
            replies[0].ends_with("words only (no embedding model is installed)."),
            "{replies:?}"
        );
    }
    // There are no stand-in vectors, and "nothing found" would be taken for an answer.
    let dense = world.agent_knowledge(&["search", "zebra", "--mode", "dense"]);
    assert_eq!((dense.exit, dense.output.as_str()), (Some(69), ""), "{}", dense.messages);
    assert!(dense.messages.contains("agent-knowledge model fetch"), "{}", dense.messages);
}

// S-STORE-1
#[test]
fn a_status_without_a_store_blames_no_watching() {
    let world = World::new();
    let status = world.agent_knowledge(&["status"]).done();
    assert!(status.contains("\nwatching  starts once there is a store"), "{status}");
}

// S-RANK-2
#[test]
fn a_damaged_model_is_named_and_words_go_on() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    let files = world.agent_knowledge(&["model", "status"]).done();
    let files: Vec<&str> = files
        .lines()
        .filter_map(|line| line.strip_prefix("          ")?.split(':').next())
        .collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        std::fs::write(world.path("no-model").join(file), "damaged").unwrap();
    }
    let status = world.agent_knowledge(&["status"]).done();
    assert!(status.contains("meaning   off: "), "{status}");
    let told = world.agent_knowledge(&["model", "status"]).done();
    assert!(told.contains("model.safetensors: ") && told.contains("ready     no: run"), "{told}");
    let found = world.agent_knowledge(&["search", "zebra"]).done();
    assert!(found.contains("the zebra"), "{found}");
    let note = found.lines().find(|line| line.starts_with("Note: ")).expect("a note");
    assert!(note.contains("checksum") && note.contains("model fetch"), "{note}");
    let ran = world.agent_knowledge(&["index"]);
    assert_eq!(ran.exit, Some(69));
    assert!(ran.messages.contains("checksum"), "{}", ran.messages);
}
