//! Queries by the real program: a wrong option, value or path is reported with its remedy, writes nothing, and ends
//! with the documented code. Not here: saving (`door`), the same over MCP (`mcp`).

use std::process::Stdio;

use crate::world::{AGENT_KNOWLEDGE, Ran, World, bytes_under, run};

/// Runs a command in a world that holds one event; the store must not change.
fn refused(args: &[&str]) -> Ran {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "error", "--lesson", "the zebra"]).done();
    let before = bytes_under(&world.store());
    let ran = world.agent_knowledge(args);
    assert_eq!(bytes_under(&world.store()), before, "{args:?} changed the store");
    ran
}

#[track_caller]
fn refused_with(args: &[&str], exit: i32, words: &[&str]) {
    let ran = refused(args);
    let shown: Vec<String> = args.iter().map(|arg| arg.chars().take(40).collect()).collect();
    assert_eq!((ran.exit, ran.output.as_str()), (Some(exit), ""), "{shown:?}: {}", ran.messages);
    for word in words {
        assert!(ran.messages.contains(word), "{shown:?}: no {word:?} in {}", ran.messages);
    }
    // The full help is the longest of them.
    assert!(ran.messages.len() < 4_000, "{shown:?}: {} bytes of messages", ran.messages.len());
    assert!(ran.messages.starts_with("agent-knowledge: ") || exit == 64, "{}", ran.messages);
}

// S-EXIT-1
#[test]
fn a_wrong_option_ends_with_64() {
    refused_with(&["search", "x", "--limt", "3"], 64, &["--limt", "--limit"]);
    refused_with(&["serach", "x"], 64, &["search"]);
    refused_with(&["search"], 64, &["QUERY"]);
    refused_with(&["show"], 64, &["ID"]);
    refused_with(&["search", "x", "--mode", "magic"], 64, &["hybrid", "lexical", "dense"]);
    refused_with(&["search", "x", "--limit"], 64, &["--limit"]);
    refused_with(&["search", "x", "--repo", "a", "--this-repo"], 64, &["--this-repo"]);
    refused_with(&["model", "destroy"], 64, &["destroy"]);
}

// S-EXIT-2
#[test]
fn alone_it_shows_the_next_steps() {
    let world = World::new();
    let empty = world.agent_knowledge(&[]).done();
    assert!(empty.contains(": 0 memories\nall       0 memories in 0 repositories\n"), "{empty}");
    for step in ["agent-knowledge import ", "agent-knowledge add", "agent-knowledge model fetch"] {
        assert!(empty.contains(step), "{step}: {empty}");
    }
    assert!(!empty.contains("agent-knowledge search WORDS"), "there is nothing to find: {empty}");
    world.log_memory(&["--type", "error", "--lesson", "npm needs a lock file"]).done();
    let one = world.agent_knowledge(&[]).done();
    assert!(one.contains(": 1 memory\nall       1 memory in 1 repository\n"), "{one}");
    assert!(one.contains("agent-knowledge search WORDS") && !one.contains("log-memory"), "{one}");
}

// S-EXIT-1
#[test]
fn a_wrong_value_ends_with_65_and_names_what_is_allowed() {
    for limit in ["0", "21", "10000", "-1", "many", "1.5", "99999999999999999999999"] {
        let words = ["--limit: must be a whole number from 1 to 20, got"];
        refused_with(&["search", "x", "--limit", limit], 65, &words);
        refused_with(&["recent", "--limit", limit], 65, &words);
    }
    for tokens in ["0", "59", "8001", "-3", "all"] {
        let words = ["--max-tokens: must be a whole number from 100 to 8000, got"];
        refused_with(&["search", "x", "--max-tokens", tokens], 65, &words);
        refused_with(&["context", "--max-tokens", tokens], 65, &words);
    }
    for query in ["", " ", "\n\t", "\u{1B}[31m\u{1B}[0m"] {
        refused_with(&["search", query], 65, &["QUERY: is empty; say what you look for"]);
    }
    refused_with(&["show", ""], 65, &["ID: is empty"]);
    let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    let many: Vec<&str> = std::iter::once("show").chain(many.iter().map(String::as_str)).collect();
    refused_with(&many, 65, &["ID: has 21 entries; at most 20"]);
    let all = ["search", "", "--limit", "0", "--max-tokens", "1"];
    refused_with(&all, 65, &["QUERY: ", "--limit: ", "--max-tokens: "]);
}

// S-EXIT-1, S-REPO-1
#[test]
fn a_repository_that_leads_out_of_the_store_ends_with_65() {
    let long = "x".repeat(5_000);
    for repo in ["../../etc", "..", "/etc/passwd", "a/../b", ".hidden", "a\\b", "a+b", &long] {
        refused_with(&["search", "x", "--repo", repo], 65, &["--repo: "]);
        refused_with(&["context", "--repo", repo], 65, &["--repo: "]);
    }
    refused_with(&["search", "x", "--repo", "../../etc"], 65, &["github.com/acme/api"]);
}

#[test]
fn numbers_in_their_bounds_are_taken() {
    let world = World::new();
    for more in [["--limit", "5"], ["--limit", "1"], ["--limit", "20"], ["--max-tokens", "100"]] {
        world.agent_knowledge(&[&["search", "x"], &more[..]].concat()).done();
    }
}

// S-EXIT-1
#[test]
fn what_is_not_there_ends_with_1_and_nothing_found_with_0() {
    refused_with(&["show", "nope1234"], 1, &["no memory \"nope1234\"", "ends with an id"]);
    for args in [
        &["search", "qqxyzzy"][..],
        &["context"],
        &["recent"],
        &["search", "x", "--repo", "un/known"],
    ] {
        assert_eq!(refused(args).exit, Some(0), "{args:?}");
        assert_eq!(World::new().agent_knowledge(args).exit, Some(0), "{args:?} in an empty store");
    }
}

// S-EXIT-1
#[test]
fn a_missing_model_ends_with_69_where_it_is_needed() {
    refused_with(&["index"], 69, &["no embedding model in", "agent-knowledge model fetch"]);
    assert_eq!(refused(&["model", "status"]).exit, Some(0));
}

// S-EXIT-1
#[test]
fn a_store_that_cannot_be_read_ends_with_74() {
    let world = World::new();
    let file = world.path("file");
    std::fs::write(&file, "mine").unwrap();
    for place in [file.clone(), file.join("logs")] {
        let place = place.to_str().unwrap();
        for command in [&["search", "x"][..], &["context"], &["recent"], &["show", "m1"]] {
            let ran = world.agent_knowledge(&[command, &["--logs", place]].concat());
            assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""), "{command:?} {place}");
            assert!(ran.messages.contains(place), "{}", ran.messages);
        }
        let status = world.agent_knowledge(&["status", "--logs", place]).done();
        assert!(status.contains("trouble   "), "{status}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}

// S-EXIT-1, S-STORE-1
#[test]
fn a_wrong_configuration_ends_with_78_for_both_programs() {
    for (text, word) in [
        ("logs =", "line 1"),
        ("logs = 3", "logs is of a wrong type"),
        ("[aliases]\na = 1", "aliases.a is of a wrong type"),
    ] {
        let world = World::new();
        world.configure(text);
        for args in [&["search", "x"][..], &["status"], &["whoami"], &["mcp"]] {
            let ran = world.agent_knowledge(args);
            assert_eq!((ran.exit, ran.output.as_str()), (Some(78), ""), "{text} {args:?}");
            assert!(ran.messages.contains("config.toml"), "{}", ran.messages);
            assert!(ran.messages.contains(word), "no {word:?} in {}", ran.messages);
        }
    }
}

// S-STORE-1
#[test]
fn environment_overrides_configured_model_and_cache_paths() {
    let world = World::new();
    let [by_file, by_environment, by_flag] =
        ["by-file", "by-environment", "by-flag"].map(|name| world.path(name));
    world.configure(&format!("model = {by_file:?}\ncache = {by_file:?}"));
    let directory = |environment: bool, flag: bool| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["status", "--json"]).env_remove("AGENT_KNOWLEDGE_MODEL_DIR");
        if environment {
            command.env("AGENT_KNOWLEDGE_MODEL_DIR", &by_environment);
        }
        if flag {
            command.arg("--model").arg(&by_flag);
        }
        let status: serde_json::Value =
            serde_json::from_str(&run(&mut command, b"").done()).unwrap();
        status["model"]["directory"].as_str().unwrap().to_owned()
    };
    assert_eq!(directory(false, false), by_file.to_str().unwrap());
    assert_eq!(directory(true, false), by_environment.to_str().unwrap());
    assert_eq!(directory(true, true), by_flag.to_str().unwrap());
    let moved = world.path("moved.toml");
    std::fs::write(&moved, "nonsense").unwrap();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let ran = run(command.args(["status"]).env("AGENT_KNOWLEDGE_CONFIG", &moved), b"");
    assert_eq!(ran.exit, Some(78));
    assert!(ran.messages.contains("moved.toml"), "{}", ran.messages);
}

#[test]
fn help_tells_settings_and_exit_codes() {
    let world = World::new();
    let help = world.agent_knowledge(&["--help"]).done();
    let settings = ["LOGS", "CONFIG", "MODEL_DIR", "CACHE", "POLL_ONLY"]
        .map(|name| format!("AGENT_KNOWLEDGE_{name} "));
    for word in
        settings.iter().map(String::as_str).chain(["Exit codes:", "Never 2", "--logs", "--model"])
    {
        assert!(help.contains(word), "no {word:?} in {help}");
    }
    // S-EXIT-1
    for code in [
        "0 done",
        "1 no",
        "64 wrong",
        "65 wrong",
        "69 ",
        "70 internal error",
        "74 file",
        "75 busy",
        "78 wrong",
    ] {
        assert!(help.contains(code), "no {code:?} in {help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    let version = format!("agent-knowledge {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(world.agent_knowledge(&["--version"]).done(), version);
    for command in
        ["search", "context", "show", "list", "recent", "status", "whoami", "index", "mcp", "model"]
    {
        assert!(world.agent_knowledge(&[command, "--help"]).done().contains("Usage: "));
    }
}

#[test]
fn a_list_goes_on_page_by_page() {
    let world = World::new();
    for number in 0..5 {
        let lesson = format!("lesson {number}");
        world.log_memory(&["--repo", "acme/api", "--type", "fact", "--lesson", &lesson]).done();
    }
    world.log_memory(&["--repo", "acme/web", "--type", "error", "--lesson", "another"]).done();
    let lessons = |args: &[&str]| -> Vec<String> {
        let found = world.asked(&[&["list", "--repo", "api", "--limit", "3"], args].concat());
        let lessons = found["memories"].as_array().unwrap().iter();
        lessons.map(|memory| memory["lesson"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(lessons(&[]), ["lesson 4", "lesson 3", "lesson 2"]);
    let text = world.agent_knowledge(&["list", "--repo", "api", "--limit", "3"]).done();
    let next = "3 of 5. The next page: the same command with --cursor '";
    let (_, cursor) = text.trim_end().split_once(next).expect(&text);
    assert_eq!(lessons(&["--cursor", cursor.trim_matches('\'')]), ["lesson 1", "lesson 0"]);
    let wrong = world.agent_knowledge(&["list", "--cursor", "x"]);
    let told = "--cursor: must be the cursor that the page before gave";
    assert!(wrong.messages.contains(told), "{wrong:?}");
    assert_eq!(lessons(&["--kind", "error"]), Vec::<String>::new());
    assert_eq!(lessons(&["--state", "forgotten"]), Vec::<String>::new());
    let wrong = world.agent_knowledge(&["list", "--state", "old"]);
    assert!(wrong.exit == Some(65) && wrong.messages.contains("--state"), "{wrong:?}");
}

#[test]
fn a_query_may_be_piped_in_and_an_answer_piped_away() {
    let world = World::new();
    let lesson = ["--repo", "api", "--type", "error", "--lesson", "verify ownership", "--symptom"];
    world.log_memory(&[&lesson[..], &["EACCES: permission denied"]].concat()).done();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let screen = "\u{1B}[31mnpm ERR!\u{1B}[0m EACCES: permission denied, mkdir\r\n";
    let ran = run(command.args(["search", "-"]), screen.as_bytes());
    assert!(ran.done().contains("verify ownership"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = world.command(AGENT_KNOWLEDGE);
    let status = command.args(["recent"]).stdout(writer).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(0), "a reader that went away is no failure");
}
