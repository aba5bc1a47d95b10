//! What people do from a terminal: they save a lesson and correct it in their editor, and are told the right command when
//! they guess a wrong one. Not here: what agents do with tools (`mcp`).

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
    let ran =
        world.agent_knowledge(&["add", "the password=hunter2secretX9 is", "old", "--repo", "api"]);
    assert_eq!(ran.exit, Some(0));
    assert!(ran.messages.contains("1 secret removed (password)"), "{}", ran.messages);
    assert!(ran.messages.contains("saved as pattern, because no --type"), "{}", ran.messages);
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
        ("remember", "add"),
        ("new", "add"),
        ("save", "add"),
        ("remove", "forget"),
        ("history", "show"),
    ] {
        let ran = world.agent_knowledge(&[guess, "x"]);
        assert_eq!(ran.exit, Some(64));
        let tip = format!("tip: a similar subcommand exists: '{right}'");
        assert!(ran.messages.contains(&tip), "{guess}: {}", ran.messages);
    }
    for guess in ["login", "sync"] {
        let ran = world.agent_knowledge(&[guess]);
        assert_eq!((ran.exit, ran.messages.contains("tip:")), (Some(64), false), "{guess}");
    }
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
        assert_eq!((event.lesson.as_str(), event.event_type.as_str()), ("run it twice", "pattern"));
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
    }

    /// An editor that puts another lesson into the form.
    const OTHER: &str = "sed -i.bak 's/^lesson:.*/lesson: second/' \"$2\"; rm -f \"$2.bak\"";

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
        let short = &old[old.len() - 8..];
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
