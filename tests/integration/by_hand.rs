//! What people do from a terminal: they save a lesson and correct it in their editor, and are told the right command when
//! they guess a wrong one. Not here: what agents do with tools (`mcp`).

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, World, run};

const LESSON: [&str; 6] =
    ["--repo", "api", "--symptom", "relation does not exist", "--tags", "db,ci"];

/// A world with a temporary directory of its own, in which forms are.
fn world() -> World {
    let world = World::new();
    std::fs::create_dir(world.path("tmp")).unwrap();
    world
}

// S-ADD-1
#[test]
fn add_saves_what_log_memory_saves() {
    let world = world();
    let text = "run the migrations first";
    let with =
        |begin: Vec<&'static str>| [begin, vec!["--type", "error"], LESSON.to_vec()].concat();
    let by_add = world.agent_knowledge(&with(vec!["add", text])).done();
    let by_log_memory = world.log_memory(&with(vec!["--lesson", text])).done();
    let [mut added, logged] = <[_; 2]>::try_from(world.events("api.jsonl")).unwrap();
    assert_eq!(format!("{}\n{}\n", added.id, logged.id), by_add + &by_log_memory);
    (added.id, added.timestamp) = (logged.id.clone(), logged.timestamp);
    assert_eq!(added, logged);
}

// S-ADD-1
#[test]
fn add_says_which_type_it_chose_and_what_it_removed() {
    let world = world();
    let guessed = world.agent_knowledge(&["add", "npm ci failed: chown first", "--repo", "web"]);
    assert!(guessed.messages.contains("saved as error, which its words suggest"), "{guessed:?}");
    let ran =
        world.agent_knowledge(&["add", "the password=hunter2secretX9 is", "old", "--repo", "api"]);
    assert_eq!(ran.exit, Some(0));
    assert!(ran.messages.contains("1 secret removed (password)"), "{}", ran.messages);
    assert!(ran.messages.contains("saved as pattern, which its words suggest"), "{}", ran.messages);
    let [event] = <[_; 1]>::try_from(world.events("api.jsonl")).unwrap();
    assert_eq!(event.event_type.as_str(), "pattern");
    assert!(event.lesson.ends_with(" is old"), "{}", event.lesson);
    let mut command = world.command(AGENT_KNOWLEDGE);
    let json = run(command.args(["add", "-", "--repo", "api", "--json"]), b"from a pipe\n").json();
    assert_eq!((&json["status"], &json["event_type"]), (&"written".into(), &"pattern".into()));
}

// S-ADD-1
#[test]
fn add_without_a_lesson_or_with_a_wrong_field_saves_nothing() {
    let world = world();
    let ran = world.agent_knowledge(&["add", "--repo", "api"]);
    assert_eq!((ran.exit, ran.output.as_str()), (Some(65), ""));
    assert!(ran.messages.contains("LESSON: is missing; for example"), "{}", ran.messages);
    let ran = world.agent_knowledge(&["add", "x", "--type", "No!", "--success-rate", "often"]);
    assert_eq!(ran.exit, Some(65));
    for told in ["--type: must be", "--success-rate: must be"] {
        assert!(ran.messages.contains(told), "{}", ran.messages);
    }
    assert!(!world.store().exists());
}

#[test]
fn the_help_of_add_has_every_option_of_log_memory() {
    let world = world();
    let ours = world.agent_knowledge(&["add", "--help"]).done();
    assert!(ours.lines().count() <= 48, "{ours}");
    let theirs = run(world.command(LOG_MEMORY).arg("--help"), b"").done();
    let options = theirs.lines().filter_map(|line| line.strip_prefix("  --")?.split(' ').next());
    // A file of many events is for scripts, and three options are for imports.
    let options = options.filter(|option| !["json", "id"].contains(option));
    for option in options {
        assert!(ours.contains(&format!("--{option}")), "{option}\n{ours}");
    }
}

#[test]
fn a_guessed_command_is_answered_with_the_right_one() {
    let world = world();
    for (guess, right) in [
        ("serach", "search"),
        ("choose", "pick"),
        ("labels", "tag"),
        ("manual", "man-pages"),
        ("remember", "add"),
        ("new", "add"),
        ("save", "add"),
        ("remove", "forget"),
        ("history", "show"),
        ("configure", "config"),
        ("settings", "config"),
        ("set", "config"),
        ("options", "config"),
        ("undo", "forget"),
        ("restore", "forget"),
        ("push", "sync"),
        ("pull", "sync"),
        ("share", "sync"),
    ] {
        let ran = world.agent_knowledge(&[guess, "x"]);
        assert_eq!(ran.exit, Some(64));
        let tip = format!("tip: a similar subcommand exists: '{right}'");
        assert!(ran.messages.contains(&tip), "{guess}: {}", ran.messages);
    }
    for guess in ["login", "version", "update", "upgrade"] {
        let ran = world.agent_knowledge(&[guess]);
        assert_eq!((ran.exit, ran.messages.contains("tip:")), (Some(64), false), "{guess}");
    }
    let ran = world.agent_knowledge(&["token", "remove", "ci"]);
    assert!(ran.exit == Some(64) && !ran.messages.contains("'forget'"), "{}", ran.messages);
}

#[test]
fn other_names_of_commands_do_the_same() {
    let world = world();
    let id = world.agent_knowledge(&["add", "migrations come first", "--repo", "api"]).done();
    for (other, name) in [(["find", "migrations"], "search"), (["ls", ""], "list")] {
        let help = world.agent_knowledge(&[name, "--help"]).done();
        assert!(help.contains(&format!("Also called: {}", other[0])), "{help}");
    }
    assert!(
        world.agent_knowledge(&["find", "migrations"]).done().contains("migrations come first")
    );
    assert!(world.agent_knowledge(&["ls"]).done().contains("migrations come first"));
    world.agent_knowledge(&["rm", id.trim()]).done();
    assert!(!world.agent_knowledge(&["ls"]).done().contains("migrations come first"));
    let short = world.agent_knowledge(&["-h"]).done();
    assert!(!short.contains("Also called") && !short.contains(" rm"), "{short}");
}

// S-CONFIG-1
#[test]
fn config_shows_each_value_and_what_set_it() {
    let world = world();
    world.configure("memory_mib = 32\n[aliases]\nold = \"github.com/acme/new\"\n[judge]\nurl = \"http://me:hunter2secretX9@localhost/v1\"\nmodel = \"m\"\n");
    let json = world.asked(&["config"]);
    let row = |key: &str| {
        let rows = json["settings"].as_array().unwrap();
        rows.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("{key}: {json}")).clone()
    };
    for (key, value, origin, from) in [
        ("memory_mib", json!(32), "file", json!(world.config_file())),
        ("aliases.old", json!("github.com/acme/new"), "file", json!(world.config_file())),
        ("logs", json!(world.store()), "environment", json!("AGENT_KNOWLEDGE_LOGS")),
        ("embedding", json!("fp32"), "default", Value::Null),
        ("archive_older_than", Value::Null, "default", Value::Null),
    ] {
        let expected = json!({ "key": key, "value": value, "origin": origin, "from": from });
        assert_eq!(row(key), expected);
    }
    let mut command = world.command(AGENT_KNOWLEDGE);
    let shown = run(
        command.args(["config", "show"]).env("AGENT_KNOWLEDGE_TOKEN", "tokentokentoken12"),
        b"",
    )
    .done();
    assert!(shown.contains("AGENT_KNOWLEDGE_TOKEN") && !shown.contains("tokentoken"), "{shown}");
    assert!(!shown.contains("hunter2") && !json.to_string().contains("hunter2"), "{shown}");
    assert_eq!(world.agent_knowledge(&["config", "get", "memory_mib"]).done(), "32\n");
    assert_eq!(world.agent_knowledge(&["config", "get", "archive_older_than"]).exit, Some(1));
    let path = world.agent_knowledge(&["config", "path"]).done();
    assert_eq!(path.trim(), world.config_file().to_str().unwrap());
}

// S-CONFIG-3
#[test]
fn a_project_decides_how_much_is_told() {
    let world = world();
    let project = world.work().join(".agent-knowledge");
    std::fs::create_dir(&project).unwrap();
    let lesson = ["--type", "decision", "--lesson", "we chose the walrus for its tusks"];
    world.log_memory(&lesson).done();
    let is_told = || world.agent_knowledge(&["context"]).done().contains("walrus");
    assert!(is_told());
    let file = project.join("config.toml");
    std::fs::write(&file, "[section_budgets]\ndecisions = 0\ngotchas = 9\n").unwrap();
    assert!(!is_told());
    let shown = world.agent_knowledge(&["config"]);
    assert!(shown.output.contains("section_budgets.gotchas") && shown.messages.is_empty());
    world.configure("[section_budgets]\ndecisions = 300\n");
    assert!(is_told());
    let rows = world.asked(&["config"])["settings"].clone();
    let rows = rows.as_array().unwrap().clone();
    let origin = |key: &str| {
        let named: Vec<_> = rows.iter().filter(|row| row["key"] == key).collect();
        assert_eq!(named.len(), 1, "{key}");
        named[0]["origin"].as_str().unwrap().to_owned()
    };
    assert_eq!(origin("section_budgets.decisions"), "file");
    assert_eq!(origin("section_budgets.gotchas"), "project");
    world.configure("");
    std::fs::write(&file, "logs = \"/tmp/x\"\n[section_budgets]\ndecisions = 0\n").unwrap();
    assert!(is_told(), "the whole file is ignored");
    let shown = world.agent_knowledge(&["config"]);
    assert!(shown.messages.contains("no setting of a project"), "{}", shown.messages);
    assert!(shown.output.contains("logs"));
}

// S-CONFIG-2
#[test]
fn config_set_changes_the_file_and_nothing_else_in_it() {
    let world = world();
    world.agent_knowledge(&["config", "set", "memory_mib", "64"]).done();
    assert_eq!(std::fs::read_to_string(world.config_file()).unwrap(), "memory_mib = 64\n");
    let text = "# mine\nmemory_mib = 64 # small\n\n[sessions] # why\nexclude_tools = [\"codex\"]\n";
    world.configure(text);
    let pairs = ["judge.url", "http://localhost:1/v1", "judge.model", "m"];
    world.agent_knowledge(&[&["config", "set", "memory_mib", "128"], &pairs[..]].concat()).done();
    let expected =
        text.replace("64", "128") + "\n[judge]\nurl = \"http://localhost:1/v1\"\nmodel = \"m\"\n";
    assert_eq!(std::fs::read_to_string(world.config_file()).unwrap(), expected);
    world.agent_knowledge(&["config", "unset", "judge.url", "judge.model"]).done();
    world.agent_knowledge(&["config", "set", "sessions.exclude_tools", "codex,cline"]).done();
    let expected = text.replace("64", "128").replace("[\"codex\"]", "[\"codex\", \"cline\"]");
    assert_eq!(std::fs::read_to_string(world.config_file()).unwrap(), expected);
    let ran = world.agent_knowledge(&["config", "set", "logs", "~/elsewhere"]);
    assert!(
        ran.messages.contains("AGENT_KNOWLEDGE_LOGS is set, so it wins over logs"),
        "{}",
        ran.messages
    );
    assert_eq!(ran.exit, Some(0));
}

// S-CONFIG-2
#[test]
fn a_wrong_setting_is_refused_before_a_byte_is_written() {
    let world = world();
    for (key, value, told) in [
        ("memory_mib", "much", "from 16 to 1048576"),
        ("memory_mib", "4", "for example: agent-knowledge config set memory_mib 2048"),
        ("embedding", "int4", "fp32 or int8"),
        ("journal", "perhaps", "must be on or off"),
        ("archive_older_than", "soon", "must be an age, got \"soon\"; for example: agent"),
        ("logs", "", "must be an absolute path, or one that begins with ~/, got \"\"; for"),
        ("cache", "tmp/x", "~/.cache/agent-knowledge; nothing is changed"),
        ("judge.url", "http://localhost", "judge.model"),
        ("aliases.a", "../b", "github.com/acme/new-name"),
        ("section_budgets.nothing", "1", "they are user, everywhere"),
        (
            "section_budgets.nothing",
            "1",
            ": agent-knowledge config set section_budgets.decisions 120;",
        ),
        (
            "log",
            "x",
            "\"log\" is no setting; did you mean logs? For example: agent-knowledge config set logs ~/",
        ),
        (
            "embxdding",
            "int8",
            "did you mean embedding? For example: agent-knowledge config set embedding int8. All",
        ),
        ("colour", "red", "\"colour\" is no setting. All settings: agent-knowledge config"),
        (
            "embedding.batch",
            "0",
            "embedding: batch must be a whole number from 1 to 512, for example 16;",
        ),
        ("embedding.url", "ftp://x", "embedding: url must begin with https://"),
    ] {
        let ran = world.agent_knowledge(&["config", "set", key, value]);
        assert_eq!(ran.exit, Some(65), "{key}");
        assert!(ran.messages.contains(told), "{key}: {}", ran.messages);
        assert!(!world.config_file().exists(), "{key}");
        let told = ran.messages.matches(": agent-knowledge config set").count();
        assert!(told <= 1 && ran.messages.lines().count() == 1, "{}", ran.messages);
    }
    let ran = world.agent_knowledge(&["config", "set", "memory_mib"]);
    assert_eq!(ran.exit, Some(65));
    assert!(ran.messages.contains("has no value; it takes a number of MiB"), "{}", ran.messages);
    for verb in ["get", "unset"] {
        let ran = world.agent_knowledge(&["config", verb, "journl"]);
        assert!(ran.messages.contains("did you mean journal? For example: "), "{}", ran.messages);
    }
    // One key is a value or a table.
    world.configure("[embedding]\nprecision = \"fp32\"\n");
    let ran = world.agent_knowledge(&["config", "set", "embedding", "int8"]);
    let told = "embedding: the file has a table [embedding]; use agent-knowledge config set embedding.precision int8; nothing is changed";
    assert!(ran.exit == Some(65) && ran.messages.contains(told), "{}", ran.messages);
    world.agent_knowledge(&["config", "set", "embedding.precision", "int8"]).done();
    world.configure("embedding = \"int8\"\n");
    let ran = world.agent_knowledge(&["config", "set", "embedding.batch", "8"]);
    assert!(ran.messages.contains("agent-knowledge config unset embedding;"), "{}", ran.messages);
    world.configure("log = \"x\"\n");
    world.agent_knowledge(&["config", "set", "journal", "off"]).done();
    assert!(std::fs::read_to_string(world.config_file()).unwrap().starts_with("log = \"x\"\n"));
    world.configure("# mine\nlogs = ");
    let ran = world.agent_knowledge(&["config", "set", "journal", "off"]);
    assert_eq!(ran.exit, Some(78));
    assert_eq!(std::fs::read_to_string(world.config_file()).unwrap(), "# mine\nlogs = ");
}

#[cfg(unix)]
#[test]
fn a_changed_configuration_keeps_its_mode_and_its_link() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    world.agent_knowledge(&["config", "set", "journal", "off"]).done();
    assert_eq!(mode(&world.config_file()), 0o600);
    assert_eq!(mode(world.config_file().parent().unwrap()), 0o700);
    let kept = world.path("dotfile.toml");
    std::fs::rename(world.config_file(), &kept).unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&kept, world.config_file()).unwrap();
    world.agent_knowledge(&["config", "set", "journal", "on"]).done();
    assert!(world.config_file().symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "journal = true\n");
    assert_eq!(mode(&kept), 0o640);
    let folder = world.config_file();
    assert_eq!(std::fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
}

// S-CONFIG-2
#[test]
fn no_concurrent_change_of_the_configuration_is_lost() {
    let world = world();
    let keys: Vec<String> = (0..8).map(|number| format!("aliases.old-{number}")).collect();
    std::thread::scope(|scope| {
        for key in &keys {
            scope.spawn(|| world.agent_knowledge(&["config", "set", key, "acme/new"]).done());
        }
    });
    let text = std::fs::read_to_string(world.config_file()).unwrap();
    assert_eq!(text.matches("acme/new").count(), keys.len(), "{text}");
}

// S-CONFIG-1
#[test]
fn a_value_of_the_configuration_cannot_command_a_terminal() {
    let world = world();
    world.configure("[judge]\nurl = \"http://localhost/v1\"\nmodel = \"a\\u001b[31mb\\u0007\"\n");
    for args in [&["config"][..], &["config", "get", "judge.model"]] {
        let shown = world.agent_knowledge(args).done();
        assert!(shown.contains("ab") && !shown.contains(['\u{1B}', '\u{7}']), "{shown:?}");
    }
    let ran = world.agent_knowledge(&["config", "unset", "aliases.\u{1B}[31mx"]);
    assert!(ran.exit == Some(1) && !ran.messages.contains('\u{1B}'), "{:?}", ran.messages);
}

// S-TOKEN-1
#[test]
fn a_new_token_is_in_the_json_too() {
    let world = world();
    let mut create = world.command(AGENT_KNOWLEDGE);
    create.args(["token", "create", "ci", "--rights", "read", "--json"]);
    let json = run(&mut create, b"").json();
    assert_eq!(json["token"].as_str().map(str::len), Some(64), "{json}");
}

// S-ADD-1 S-ADD-2
#[test]
fn a_form_is_filled_up_by_options_and_the_usual_type() {
    let world = world();
    let add = |form: &str, args: &[&str]| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["add", "--repo", "api", "--form", "-"]).args(args);
        run(&mut command, form.as_bytes())
    };
    let ran = add("lesson: one\ntags:\n", &["--type", "fact", "--tags", "zzz", "--private"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.messages);
    let ran = add("lesson: two\ntags: yyy\n", &["--tags", "zzz"]);
    assert!(ran.messages.contains("saved as pattern, which its words suggest"), "{}", ran.messages);
    let [one, two] = <[_; 2]>::try_from(world.events("api.jsonl")).unwrap();
    assert_eq!((one.event_type.as_str(), two.event_type.as_str()), ("fact", "pattern"));
    assert!(one.is_private() && !two.is_private());
    assert_eq!((one.tags, two.tags), (vec!["zzz".into()], vec!["yyy".into()]));
    let ran = add(&"some other file\n".repeat(3_916), &[]);
    assert_eq!((ran.exit, ran.messages.lines().count()), (Some(65), 1), "{}", ran.messages);
    let ran = add("lesson: a\nsymptoms: boom\n", &[]);
    assert!(ran.messages.contains("did you mean symptom?"), "{}", ran.messages);
    assert_eq!(world.events("api.jsonl").len(), 2);
}

// S-STATS-1
#[test]
fn stats_tell_what_the_memory_did() {
    let world = world();
    let text = world.agent_knowledge(&["stats"]).done();
    for told in [
        "added           0 memories",
        "told            nothing yet",
        "helped          no report yet",
    ] {
        assert!(text.contains(told), "{told}\n{text}");
    }
    assert!(!text.contains("By agent"), "{text}");

    let id = world.agent_knowledge(&["add", "run the migrations first", "--type", "error"]).done();
    world.agent_knowledge(&["add", "elsewhere", "--repo", "api"]).done();
    let said = json!({ "session_id": "s", "cwd": world.work(), "hook_event_name": "SessionStart", "source": "startup" });
    let mut hook = world.command(AGENT_KNOWLEDGE);
    hook.args(["hook", "--agent", "claude-code"]).env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    assert!(
        run(&mut hook, said.to_string().as_bytes()).done().contains("run the migrations first")
    );
    let mut feedback = world.command(AGENT_KNOWLEDGE);
    feedback.args(["feedback", id.trim(), "worked"]).env("AGENT_KNOWLEDGE_AGENT", "claude-code");
    run(feedback.env("AGENT_KNOWLEDGE_SESSION", "s"), b"").done();

    let stats = world.asked(&["stats", "--days", "2"]);
    let counts =
        ["days", "added", "told", "answers", "helped", "failed"].map(|name| stats[name].as_u64());
    assert_eq!(counts, [2, 2, 1, 1, 1, 0].map(Some), "{stats}");
    let rows = |name: &str| stats[name].as_array().unwrap().clone();
    let agent = rows("by_agent").into_iter().find(|row| row["agent"] == "claude-code").unwrap();
    assert_eq!(
        (&agent["told"], &agent["helped"], &agent["added"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!(agent["tokens_given"], stats["tokens_given"]);
    let api = rows("by_repo").into_iter().find(|row| row["repo"] == "api").unwrap();
    assert_eq!((&api["added"], &api["told"]), (&json!(1), &json!(0)));
    let text = world.agent_knowledge(&["stats"]).done();
    assert!(text.contains("told            1 memory in 1 answer"), "{text}");
    assert!(text.contains("By agent") && text.contains("claude-code"), "{text}");
    for wrong in ["0", "x"] {
        let ran = world.agent_knowledge(&["stats", "--days", wrong]);
        let told = "must be a whole number from 1 to 366, for example 30";
        assert!(ran.exit == Some(64) && ran.messages.contains(told), "{ran:?}");
    }
}

#[cfg(unix)]
mod in_an_editor {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;
    use crate::terminal::on_terminal;

    /// Runs our program on a terminal, where this script is the editor. Its end must not fail the test.
    fn edited(world: &World, args: &[&str], script: &str) -> String {
        let editor = world.path("editor");
        std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).unwrap();
        let mut command: Command = world.command("sh");
        command.args(["-c", "\"$@\"; echo exit $?", "sh", AGENT_KNOWLEDGE]).args(args);
        command
            .env("TMPDIR", world.path("tmp"))
            .env("EDITOR", format!("{} --wait", editor.display()));
        on_terminal(&mut command, "")
    }

    fn forms(world: &World) -> Vec<std::path::PathBuf> {
        std::fs::read_dir(world.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    // S-ADD-2
    #[test]
    fn add_opens_a_private_form() {
        let world = world();
        let script = format!(
            "[ \"$1\" = --wait ] || exit 9\nls -l \"$2\" | cut -c1-10 > {}\nsed -i.bak 's/^lesson:.*/lesson: run it twice/; s/^tags:.*/tags: a, b/' \"$2\"; rm -f \"$2.bak\"",
            world.path("mode").display()
        );
        let shown = edited(&world, &["add", "--repo", "api", "--symptom", "boo"], &script);
        assert!(shown.contains("exit 0"), "{shown}");
        let [event] = <[_; 1]>::try_from(world.events("api.jsonl")).unwrap();
        assert!(shown.contains(event.id.as_str()), "{shown}");
        assert_eq!((event.lesson.as_str(), event.event_type.as_str()), ("run it twice", "error"));
        assert_eq!(
            (event.tags, event.symptoms),
            (vec!["a".into(), "b".into()], vec!["boo".into()])
        );
        assert_eq!(std::fs::read_to_string(world.path("mode")).unwrap(), "-rw-------\n");
        assert_eq!(forms(&world), [] as [std::path::PathBuf; 0]);
    }

    // S-ADD-2
    #[test]
    fn nothing_is_lost_and_nothing_is_saved_by_mistake() {
        let world = world();
        let shown = edited(&world, &["add", "--repo", "api"], "true");
        assert!(shown.contains("nothing is saved: the lesson is empty"), "{shown}");
        assert!(forms(&world).is_empty() && !world.store().exists());

        let wrong = "sed -i.bak 's/^lesson:.*/lesson: keep me/; s/^type:.*/type: No!/' \"$2\"; rm -f \"$2.bak\"";
        let shown = edited(&world, &["add", "--repo", "api"], wrong);
        let [form] = <[_; 1]>::try_from(forms(&world)).unwrap();
        assert!(shown.contains("exit 65") && shown.contains("--type: must be"), "{shown}");
        assert!(shown.contains(&format!("--form {}", form.display())), "{shown}");
        let text = std::fs::read_to_string(&form).unwrap();
        assert!(text.contains("lesson: keep me") && !world.store().exists(), "{text}");
        std::fs::write(&form, text.replace("No!", "fact")).unwrap();
        world.agent_knowledge(&["add", "--repo", "api", "--form", form.to_str().unwrap()]).done();
        assert_eq!(world.events("api.jsonl").len(), 1);
        std::fs::remove_file(form).unwrap();

        let shown = edited(&world, &["add"], "echo 'lesson: more' >> \"$2\"; exit 3");
        let [form] = <[_; 1]>::try_from(forms(&world)).unwrap();
        assert!(shown.contains(&format!("kept in {}", form.display())), "{shown}");
        assert!(shown.contains("exit 69"), "{shown}");
        std::fs::remove_file(form).unwrap();

        edited(&world, &["add"], "printf 'lesson: caf\\351\\n' > \"$2\"; exit 3");
        let [form] = <[_; 1]>::try_from(forms(&world)).unwrap();
        assert_eq!(std::fs::read(form).unwrap(), b"lesson: caf\xE9\n", "also if it is no UTF-8");
    }

    /// An editor that puts another lesson into the form.
    const OTHER: &str = "sed -i.bak 's/^lesson:.*/lesson: second/' \"$2\"; rm -f \"$2.bak\"";

    // S-COLOR-1
    #[test]
    fn a_search_is_bold_only_for_a_person() {
        let world = world();
        world.agent_knowledge(&["add", "run the migrations first", "--repo", "api"]).done();
        let words = ["search", "migrations"];
        let plain = world.agent_knowledge(&words).done();
        assert!(plain.contains("migrations") && !plain.contains('\u{1B}'), "{plain}");
        let always = world.agent_knowledge(&[&words[..], &["--color", "always"]].concat()).done();
        assert!(always.contains("\u{1B}[1mmigrations\u{1B}[0m"), "{always}");
        assert_eq!(always.replace("\u{1B}[1m", "").replace("\u{1B}[0m", ""), plain);
        let json = [&words[..], &["--color", "always", "--json"]].concat();
        assert!(!world.agent_knowledge(&json).done().contains('\u{1B}'));
        let on = |name: &str, value: &str, args: &[&str]| {
            let mut command = world.command(AGENT_KNOWLEDGE);
            on_terminal(command.args(words).args(args).env(name, value), "")
        };
        assert!(on("TERM", "xterm", &[]).contains("\u{1B}[1mmigrations"));
        for shown in [
            on("NO_COLOR", "1", &[]),
            on("TERM", "dumb", &[]),
            on("TERM", "xterm", &["--color", "never"]),
        ] {
            assert!(shown.contains("migrations") && !shown.contains('\u{1B}'), "{shown}");
        }
    }

    // S-EDIT-1
    #[test]
    fn edit_replaces_a_memory_by_its_new_version() {
        let world = world();
        let fields =
            ["--type", "error", "--symptom", "two\nlines", "--private", "--confidence", "inferred"];
        let old = world
            .agent_knowledge(&[&["add", "first", "--repo", "api"], &fields[..]].concat())
            .done();
        let old = old.trim();
        let (_, short) = old.split_at(old.len() - 8);
        let shown = edited(&world, &["edit", short], OTHER);
        let new =
            world.asked(&["show", old])["memories"][0]["standing"]["replaced_by"]["id"].clone();
        let new = new.as_str().unwrap().to_owned();
        assert!(shown.contains(&format!("{new} replaces {old}")), "{shown}");
        let events = world.events("api.jsonl");
        let [first, second, _] = <[_; 3]>::try_from(events).unwrap();
        assert_eq!((second.id.as_str(), second.lesson.as_str()), (new.as_str(), "second"));
        assert_eq!((&first.symptoms, &first.event_type), (&second.symptoms, &second.event_type));
        assert_eq!(second.confidence(), first.confidence());
        assert!(second.is_private() && forms(&world).is_empty());

        let ran = world.agent_knowledge(&["edit", old]);
        assert_eq!(ran.exit, Some(65));
        assert!(
            ran.messages.contains(&format!("was replaced by {new}; edit that one")),
            "{}",
            ran.messages
        );
        world.agent_knowledge(&["forget", &new]).done();
        let ran = world.agent_knowledge(&["edit", &new]);
        assert!(
            ran.messages.contains(&format!("agent-knowledge forget --undo {new}")),
            "{}",
            ran.messages
        );
    }

    // S-EDIT-1
    #[test]
    fn the_new_version_is_pinned_and_links_are_told() {
        let world = world();
        let add = |text| world.agent_knowledge(&["add", text, "--repo", "api"]).done();
        let (old, other) = (add("first"), add("other"));
        world.agent_knowledge(&["pin", old.trim()]).done();
        let shown = edited(&world, &["edit", old.trim()], OTHER);
        let memory = |id: &str| world.asked(&["show", id])["memories"][0].clone();
        let new = memory(old.trim())["standing"]["replaced_by"]["id"].as_str().unwrap().to_owned();
        assert_eq!(memory(&new)["standing"]["pinned"], true, "{shown}");
        assert!(shown.contains("and is pinned too") && !shown.contains("links"), "{shown}");
        world.agent_knowledge(&["pin", "--undo", &new]).done();
        world.agent_knowledge(&["link", &new, "depends-on", other.trim()]).done();
        let third = "sed -i.bak 's/^lesson:.*/lesson: third/' \"$2\"; rm -f \"$2.bak\"";
        let shown = edited(&world, &["edit", &new], third);
        assert!(shown.contains("links stay") && !shown.contains("pinned"), "{shown}");
        let empty = "sed -i.bak 's/^lesson:.*/lesson:/' \"$2\"; rm -f \"$2.bak\"";
        let shown = edited(&world, &["edit", other.trim()], empty);
        let [form] = <[_; 1]>::try_from(forms(&world)).unwrap();
        let told =
            format!("go on with agent-knowledge edit {} --form {}", other.trim(), form.display());
        assert!(shown.contains(&told), "{shown}");
    }

    // S-EDIT-1
    #[test]
    fn edit_writes_nothing_without_a_change() {
        let world = world();
        let id =
            world.agent_knowledge(&["add", "first", "--tags", "a,b", "--expires", "30d"]).done();
        let id = id.trim();
        let before = crate::world::bytes_under(&world.store());
        let shown = edited(&world, &["edit", id], "true");
        assert!(shown.contains("nothing is saved: the text is unchanged"), "{shown}");
        assert!(forms(&world).is_empty());
        let shown = edited(
            &world,
            &["edit", id],
            "sed -i.bak 's/^tags:.*/tags: a b!\\x01/' \"$2\"; rm -f \"$2.bak\"",
        );
        let [form] = <[_; 1]>::try_from(forms(&world)).unwrap();
        assert!(shown.contains(&format!("edit {id} --form {}", form.display())), "{shown}");
        let ran = world.agent_knowledge(&["edit", id]);
        assert_eq!(ran.exit, Some(64));
        assert!(ran.messages.contains("needs a terminal"), "{}", ran.messages);
        assert_eq!(world.agent_knowledge(&["edit", "ZZZZZZZZ"]).exit, Some(1));
        assert_eq!(crate::world::bytes_under(&world.store()), before);
    }
}
