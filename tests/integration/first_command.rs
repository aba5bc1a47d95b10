//! The first command works: on a machine without anything, and in a directory that was removed. Each command does its job or says
//! in words what it needs; none ends in silence. Not here: what a command does (`by_hand`, `asking`), stores that were named
//! wrongly (`edges`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, Ran, World, run};

/// A command with arguments that it takes, and how it ends.
struct Tried {
    words: String,
    /// On a machine without anything.
    fresh: i32,
    /// In a directory that was removed.
    removed: i32,
}

/// Commands with arguments that they take; how they end on a machine without anything, and in a directory that was removed. 1: what it
/// asks for does not exist; 64: it needs a terminal; 65: it needs --repo; 69: it works on what is in the directory, or needs a model;
/// 78: no team is named. A command without a row is called without arguments and ends with 0.
const ROWS: &[(&str, i32, i32)] = &[
    ("", 0, 0),
    ("search zebra", 0, 0),
    ("context", 0, 65),
    ("show m1", 1, 1),
    ("pick", 64, 64),
    ("related m1", 1, 1),
    ("sessions search zebra", 0, 0),
    ("sessions import", 0, 0),
    ("sessions list", 0, 0),
    ("sessions show s1", 1, 1),
    ("sessions summary s1", 1, 1),
    ("sessions review", 1, 1),
    ("sessions check", 0, 0),
    ("sessions forget s1", 1, 1),
    ("ui --no-open", 0, 0),
    ("add zebra --type fact", 0, 65),
    ("edit m1", 1, 1),
    ("feedback m1 worked", 1, 1),
    ("forget m1 --reason old", 1, 1),
    ("supersede m1 --by m2", 1, 1),
    ("tag m1", 1, 1),
    ("review", 0, 65),
    ("stale", 0, 65),
    ("import CLAUDE.md", 1, 69),
    ("export", 0, 69),
    ("init --no-model", 0, 0),
    ("config show", 0, 0),
    ("config get logs", 0, 0),
    ("config set journal off", 0, 0),
    ("config unset journal", 1, 1),
    ("config path", 0, 0),
    ("model status", 0, 0),
    ("whoami", 0, 69),
    ("link m1 builds_on m2", 1, 1),
    ("unlink m1 builds_on m2", 1, 1),
    ("impact src/a.rs", 0, 65),
    ("analyze hubs", 0, 0),
    ("distinct m1 m2", 1, 1),
    ("completions bash", 0, 0),
    ("man-pages man", 0, 69),
    ("pin m1", 1, 1),
    ("purge --author a", 0, 0),
    ("sync", 78, 78),
    ("index", 69, 69),
    ("serve --stop", 0, 0),
    ("token create me --rights read", 0, 0),
    ("token list", 0, 0),
    ("token revoke me", 1, 1),
    ("hook --agent claude-code", 0, 0),
    ("complete-words bash", 0, 0),
];

/// Commands that are tried elsewhere, each with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("model fetch", "it downloads"),
    ("model use", "it needs the feature providers, and asks a person"),
    ("model calibrate", "it needs the feature providers"),
];

/// The names of all commands, from the command line itself.
fn names() -> Vec<String> {
    let mut whole = cli::args::help::command();
    whole.build();
    let mut names = vec![String::new()];
    for command in whole.get_subcommands().filter(|one| one.get_name() != "help") {
        let below: Vec<_> =
            command.get_subcommands().filter(|one| one.get_name() != "help").collect();
        match below.is_empty() {
            true => names.push(command.get_name().to_owned()),
            false => names.extend(
                below.iter().map(|one| format!("{} {}", command.get_name(), one.get_name())),
            ),
        }
    }
    names
}

/// Every command, as it is tried.
fn commands() -> Vec<Tried> {
    let is_row = |name: &str| {
        ROWS.iter().any(|(words, ..)| match name {
            "" => words.is_empty(),
            name => *words == name || words.starts_with(&format!("{name} ")),
        })
    };
    let is_left_out = |name: &str| LEFT_OUT.iter().any(|(words, _)| *words == name);
    let rows = ROWS.iter().map(|&(words, fresh, removed)| Tried {
        words: words.to_owned(),
        fresh,
        removed,
    });
    let others = names().into_iter().filter(|name| !is_row(name) && !is_left_out(name));
    rows.chain(others.map(|words| Tried { words, fresh: 0, removed: 0 })).collect()
}

/// A machine of somebody who has just installed the programs: a home, and nothing in it or said about it.
fn unprepared(world: &World, program: &str) -> Command {
    let mut command = world.command(program);
    for name in ["LOGS", "MODEL_DIR", "CACHE", "RUNTIME", "RETRIEVER", "HOST"] {
        command.env_remove(format!("AGENT_KNOWLEDGE_{name}"));
    }
    command
}

/// Runs a program in a directory that is removed before the program starts. `PWD` is what the shell says of it.
fn in_removed(world: &World, place: &Path, pwd: Option<&Path>, command: &Command) -> Command {
    std::fs::create_dir_all(place).unwrap();
    let mut shell = Command::new("sh");
    let pwd_line = if pwd.is_some() { "PWD=$2; export PWD" } else { "unset PWD" };
    let script = format!("cd \"$1\" && rmdir \"$1\" && {pwd_line}; shift 2; exec \"$@\"");
    shell.env_clear().current_dir(world.work()).args(["-c", &script, "sh"]);
    shell.arg(place).arg(pwd.unwrap_or(Path::new("")));
    shell.arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

/// Ends the retriever that a command has started.
struct Shared<'a>(&'a World);

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let _ = unprepared(self.0, AGENT_KNOWLEDGE).args(["serve", "--stop"]).output();
    }
}

#[track_caller]
fn ended_in_words(ran: &Ran, exit: i32, words: &str) {
    assert_eq!(ran.exit, Some(exit), "{words}: {}{}", ran.output, ran.messages);
    assert!(!ran.messages.contains("panicked"), "{words}: {}", ran.messages);
    let is_told = !ran.output.is_empty() || !ran.messages.is_empty();
    assert!(exit == 0 || is_told, "{words} ends with {exit} in silence");
    for hint in ["failed to find the logs", "did not start"] {
        assert!(!ran.messages.contains(hint), "{words}: {}", ran.messages);
    }
}

// S-EXIT-3
#[test]
fn each_command_works_on_a_machine_without_anything() {
    for Tried { words, fresh, .. } in commands() {
        let world = World::new();
        let _shared = Shared(&world);
        let mut command = unprepared(&world, AGENT_KNOWLEDGE);
        ended_in_words(&run(command.args(words.split_whitespace()), b""), fresh, &words);
    }
    let world = World::new();
    let saved = unprepared(&world, LOG_MEMORY).args(["--lesson", "x", "--type", "fact"]).output();
    ended_in_words(&Ran::from(&saved.unwrap()), 0, "log-memory");
}

// S-EXIT-3
#[test]
fn each_command_works_or_says_so_in_a_removed_directory() {
    for Tried { words, removed, .. } in commands() {
        let world = World::new();
        let _shared = Shared(&world);
        let place = world.work().join("gone");
        let mut command = unprepared(&world, AGENT_KNOWLEDGE);
        command.args(words.split_whitespace());
        let ran = run(&mut in_removed(&world, &place, Some(&place), &command), b"");
        ended_in_words(&ran, removed, &words);
        assert!(!place.exists(), "{words} made the directory again");
        // Said once, and only where the directory decides something.
        let told = "the working directory does not exist any more";
        let is_needed = [65, 69].contains(&removed) && words != "index";
        let told_len = ran.messages.matches(told).count();
        assert_eq!(told_len, usize::from(is_needed), "{words}: {}", ran.messages);
        let lines = ran.messages.lines().filter(|line| line.contains("directory")).count();
        assert!(lines <= 1, "{words}: {}", ran.messages);
        assert!(!ran.messages.contains("os error"), "{words}: {}", ran.messages);
    }
}

/// Commands that take the repository from the directory, or work on what is in it.
const OF_DIRECTORY: [&str; 12] = [
    "",
    "man-pages man",
    "init --no-model",
    "search zebra",
    "context",
    "add zebra --type fact",
    "review",
    "stale",
    "import CLAUDE.md",
    "export",
    "whoami",
    "impact src/a.rs",
];

// S-EXIT-3
#[test]
fn another_directory_is_told_only_where_it_decides_something() {
    let (world, repo) = with_lesson();
    let place = world.work().join("gone");
    let ran = |words: &[&str]| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(words);
        run(&mut in_removed(&world, &place, Some(&repo), &command), b"")
    };
    let told = "the working directory was removed";
    for Tried { words, .. } in commands() {
        let words: Vec<&str> = words.split_whitespace().collect();
        // A server is asked for whatever comes, and says it when it begins.
        let is_asked = OF_DIRECTORY.contains(&&*words.join(" ")) || words == ["mcp"];
        let ran = ran(&words);
        let told_len = ran.messages.matches(told).count();
        assert_eq!(told_len, usize::from(is_asked), "{words:?}: {}", ran.messages);
    }
    for words in [
        &["search", "zebra", "--repo", "acme/shop"][..],
        &["context", "--repo", "acme/shop"],
        &["add", "yak", "--type", "fact", "--repo", "acme/shop"],
        &["add", "yak", "--type", "fact", "--scope", "global"],
        &["review", "--repo", "acme/shop"],
        &["stale", "--repo", "acme/shop"],
        &["impact", "src/a.rs", "--repo", "acme/shop"],
    ] {
        let ran = ran(words);
        assert_eq!(ran.exit, Some(0), "{words:?}: {}", ran.messages);
        assert!(!ran.messages.contains("directory"), "{words:?}: {}", ran.messages);
    }
    for (args, is_asked) in
        [(&["--repo", "acme/app"][..], false), (&["--scope", "global"], false), (&[], true)]
    {
        let mut command = world.command(LOG_MEMORY);
        command.args(["--lesson", "x", "--type", "fact"]).args(args);
        let ran = run(&mut in_removed(&world, &place, Some(&repo), &command), b"");
        assert_eq!(ran.exit, Some(0), "{args:?}: {}", ran.messages);
        assert_eq!(ran.messages.contains(told), is_asked, "{args:?}: {}", ran.messages);
    }
}

// S-EXIT-3
#[test]
fn a_save_from_a_removed_directory_needs_a_repository() {
    let world = World::new();
    let place = world.work().join("gone");
    for (args, exit) in [
        (&["--version"][..], 0),
        (&["--help"], 0),
        (&["--repo", "acme/app", "--lesson", "x", "--type", "fact"], 0),
        (&["--scope", "global", "--lesson", "y", "--type", "fact"], 0),
        (&["--lesson", "z", "--type", "fact"], 65),
        (&["--lesson"], 64),
    ] {
        for pwd in [Some(&*place), None] {
            let mut command = world.command(LOG_MEMORY);
            command.args(args);
            let ran = run(&mut in_removed(&world, &place, pwd, &command), b"");
            ended_in_words(&ran, exit, &format!("log-memory {args:?}"));
            if exit == 65 {
                let told = ["--repo", "does not exist any more", "github.com/acme/api"];
                assert!(told.iter().all(|told| ran.messages.contains(told)), "{}", ran.messages);
            }
        }
    }
    let mut batch = world.command(LOG_MEMORY);
    batch.args(["--json", "-"]);
    let events = "{\"repo\":\"acme/app\",\"event_type\":\"fact\",\"lesson\":\"v\"}\n{\"event_type\":\"fact\",\"lesson\":\"w\"}";
    let ran = run(&mut in_removed(&world, &place, Some(&place), &batch), events.as_bytes());
    assert_eq!((ran.exit, ran.output.lines().count()), (Some(65), 2), "{}", ran.messages);
    assert!(ran.output.contains("does not exist any more"), "{}", ran.output);
    // Nothing went to a repository that somebody guessed.
    assert_eq!(world.log_names(), ["acme+app.jsonl", "global.jsonl"]);
    assert_eq!(world.log_lines("acme+app.jsonl").len(), 3);
}

/// A repository with a lesson, and a world around it.
fn with_lesson() -> (World, PathBuf) {
    let world = World::new();
    let repo = world.path("shop");
    world.git(&repo, &["init", "-q"]);
    world.git(&repo, &["remote", "add", "origin", "git@github.com:acme/shop.git"]);
    let lesson = ["--type", "decision", "--lesson", "the zebra pool has 8 connections"];
    world.log_memory_in(&repo, &lesson).done();
    (world, repo)
}

// S-EXIT-3
#[test]
fn the_directory_that_the_shell_names_counts_if_it_exists() {
    let (world, repo) = with_lesson();
    let place = world.work().join("gone");
    let whoami = |pwd: Option<&Path>| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.arg("whoami");
        run(&mut in_removed(&world, &place, pwd, &command), b"")
    };
    let ran = whoami(Some(&repo));
    assert!(ran.output.contains("github.com/acme/shop"), "{ran:?}");
    let told = format!("the working directory was removed; {}, which $PWD names", repo.display());
    assert!(ran.messages.contains(&told), "{}", ran.messages);
    // A folder that was made again under its name.
    let again = repo.join("again");
    let mut command = world.command(LOG_MEMORY);
    command.args(["--lesson", "made again", "--type", "fact"]);
    let script = "cd \"$1\" && rmdir \"$1\" && mkdir \"$1\"; shift; exec \"$@\"";
    let mut shell = Command::new("sh");
    std::fs::create_dir(&again).unwrap();
    shell.env_clear().args(["-c", script, "sh"]).arg(&again).arg(LOG_MEMORY);
    shell.args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let saved = run(&mut shell, b"");
    assert!(saved.exit == Some(0) && saved.messages.contains("was removed"), "{saved:?}");
    assert_eq!(world.log_lines("github.com+acme+shop.jsonl").len(), 2);
    for wrong in [None, Some(Path::new("shop")), Some(Path::new("")), Some(&*place)] {
        let ran = whoami(wrong);
        assert_eq!(ran.exit, Some(69), "{wrong:?}: {ran:?}");
    }
}

// S-HOOK-2, S-EXIT-3
#[test]
fn a_hook_answers_for_the_directory_of_its_input() {
    let (world, repo) = with_lesson();
    let place = world.work().join("gone");
    let below = repo.join("packages/web");
    let mut session = 0;
    let mut hook = |cwd: Option<&Path>, pwd: Option<&Path>, event: &str| {
        session += 1;
        let mut input = json!({ "hook_event_name": event, "session_id": format!("s{session}"), "source": "startup",
            "reason": "other", "prompt": "how many connections has the zebra pool" });
        if let Some(cwd) = cwd {
            input["cwd"] = json!(cwd);
        }
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["hook", "--agent", "claude-code"]);
        command.env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "20000");
        run(&mut in_removed(&world, &place, pwd, &command), input.to_string().as_bytes())
    };
    for event in ["SessionStart", "UserPromptSubmit", "PostToolUseFailure", "SessionEnd", "Other"] {
        for (cwd, pwd) in [(None, None), (Some(&*place), Some(&*place)), (Some(&*repo), None)] {
            let ran = hook(cwd, pwd, event);
            assert_eq!((ran.exit, ran.messages.as_str()), (Some(0), ""), "{event} {cwd:?} {pwd:?}");
        }
    }
    // What the input says, what the shell says, and the work tree above a directory that is gone.
    for (cwd, pwd) in [
        (Some(&*repo), Some(&*place)),
        (None, Some(&*repo)),
        (Some(&*place), Some(&*repo)),
        (Some(&*below), Some(&*place)),
        (None, Some(&*below)),
    ] {
        let ran = hook(cwd, pwd, "SessionStart");
        assert!(ran.output.contains("the zebra pool has 8"), "{cwd:?} {pwd:?}: {ran:?}");
    }
}

// S-EXIT-3
#[test]
fn a_server_in_a_removed_directory_asks_for_the_repository() {
    let world = World::new();
    let place = world.work().join("gone");
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.arg("mcp");
    let mut client =
        Client::open_with(Era::Legacy, &mut in_removed(&world, &place, Some(&place), &command));
    let save = json!({ "event_type": "fact", "lesson": "the zebra pool has 8 connections" });
    let (text, is_error) = client.call("memory_save", &save);
    assert!(is_error && text.starts_with("repo: is missing"), "{text}");
    assert!(text.contains("for example github.com/acme/api"), "{text}");
    assert_eq!((text.lines().count(), text.contains("--repo")), (1, false), "{text}");
    let mut named = save;
    named["repo"] = json!("acme/app");
    let (text, is_error) = client.call("memory_save", &named);
    assert!(!is_error, "{text}");
    let (text, _) = client.call("memory_search", &json!({ "query": "zebra pool" }));
    assert!(text.contains("zebra pool has 8"), "{text}");
}

// S-EXIT-3
#[test]
fn a_retriever_starts_without_a_temporary_folder() {
    let world = World::sharing();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "zebra"]).done();
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.env("TMPDIR", world.path("no-such-folder")).args(["status", "--json"]);
    let status = run(&mut command, b"").json();
    assert!(status["retriever"]["pid"].is_u64(), "{status}");
}
