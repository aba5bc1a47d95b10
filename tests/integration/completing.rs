//! Words that bash, zsh and fish complete, in the shells themselves, and the manual pages. Not here: what may stand at a place of
//! the command line (the crate `cli`).

use std::process::Command;

use serde_json::Value;

use crate::terminal::Typist;
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// A world with two memories, and the script of a shell; the ids as answers show them.
fn world(shell: &str) -> (World, [String; 2]) {
    let world = World::new();
    let save = |repo: &str, tag: &str| {
        let saved = ["--type", "error", "--repo", repo, "--tag", tag, "--lesson", "bind port 0"];
        let id = world.log_memory(&saved).done().trim().to_owned();
        id.split_at(id.len() - 8).1.to_owned()
    };
    let ids = [save("github.com/acme/api", "net"), save("web", "x;touch${IFS}pwned")];
    let script = world.agent_knowledge(&["completions", shell]).done();
    std::fs::write(world.path("script"), script).unwrap();
    (world, ids)
}

/// The shell, if it is on this machine. Some machines have none of them.
fn has(world: &World, shell: &str) -> bool {
    let mut command = world.command(shell);
    let is_here = command.arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_here {
        eprintln!("skipped: {shell} is not on this machine");
    }
    is_here
}

// S-COMPLETE-1
#[test]
fn bash_completes_commands_options_ids_and_repositories() {
    let (world, [first, second]) = world("bash");
    let completed = |words: &[&str]| {
        let mut command = world.command("bash");
        command.args(["--norc", "-c"]).arg(
            r#". "$0" || exit 1; COMP_WORDS=("$PROGRAM" "$@"); COMP_CWORD=$#
            function=$(complete -p agent-knowledge | sed 's/.*-F \([^ ]*\).*/\1/')
            "$function" "$PROGRAM" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\n' "${COMPREPLY[@]}""#,
        );
        command.env("PROGRAM", AGENT_KNOWLEDGE).arg(world.path("script")).args(words);
        run(&mut command, b"").done()
    };
    assert_eq!(completed(&["sea"]), "search\n");
    assert_eq!(completed(&["search", "--expl"]), "--explain\n");
    assert_eq!(completed(&["add", "--sym"]), "--symptom\n");
    assert_eq!(completed(&["sessions", "rev"]), "review\n");
    assert_eq!(completed(&["show", ""]), format!("{second}\n{first}\n"), "the newest first");
    assert_eq!(completed(&["rm", &first.split_at(5).0.to_lowercase()]), format!("{first}\n"));
    assert_eq!(completed(&["list", "--repo", "ap"]), "github.com/acme/api\n");
    assert_eq!(completed(&["list", "--repo", "=", "w"]), "web\n");
    assert_eq!(completed(&["list", "--repo", "\"ap"]), "github.com/acme/api\n");
    assert_eq!(completed(&["list", "--repo", "'w"]), "web\n");
    assert_eq!(completed(&["list", "--tag", ""]), "net\n", "no tag that a shell would run");
    assert_eq!(completed(&["search", "any"]), "\n");
    let other = world.path("empty");
    std::fs::create_dir(&other).unwrap();
    assert_eq!(completed(&["--logs", other.to_str().unwrap(), "show", ""]), "\n");
    let other = world.home().join("my logs");
    let saved = world.agent_knowledge(&["--logs", other.to_str().unwrap(), "add", "x"]).done();
    let third = saved.trim().split_at(saved.trim().len() - 8).1;
    for logs in [r"~/my\ logs", "~/'my logs'", "~/\"my logs\""] {
        assert_eq!(completed(&["--logs", logs, "show", ""]), format!("{third}\n"), "{logs}");
    }
    completed(&["--logs", "\"$(touch pwned)\"", "show", ""]);
    assert!(!world.work().join("pwned").exists());
}

// S-COMPLETE-1
#[test]
fn zsh_completes_ids_and_repositories_as_people_type() {
    let (world, [first, _]) = world("zsh");
    if !has(&world, "zsh") {
        return;
    }
    let mut command = world.command("zsh");
    on_path(&mut command);
    command.env("TERM", "xterm").args(["-f", "-i"]);
    let mut typist = Typist::at(&mut command, 24, 100);
    let script = world.path("script");
    let lines = [
        "PS1='ready> '".to_owned(),
        "autoload -U compinit && compinit -u -D".to_owned(),
        format!("source {}", script.display()),
        "print begin >&2".to_owned(),
    ];
    for line in lines {
        typist.types(&format!("{line}\n"));
    }
    typist.sees("\nbegin");
    typist.types(&format!("agent-knowledge show {}\t", first.split_at(6).0));
    typist.sees(&format!("show {first}"));
    typist.types("\u{15}agent-knowledge list --repo ap\t");
    typist.sees("github.com/acme/api");
    // Control-D lists; the tab key would rather insert what both ids begin with.
    typist.types("\u{15}agent-knowledge show \u{4}");
    typist.sees(&format!("{first}  bind port 0"));
    std::fs::write(world.work().join("notes.md"), "x").unwrap();
    typist.types("\u{15}agent-knowledge context --file=not\t");
    typist.sees("--file=notes.md");
    typist.types("\u{15}exit\n");
    assert_eq!(typist.ends().0, Some(0));
}

// S-COMPLETE-1
#[test]
fn fish_completes_with_what_each_word_means() {
    let (world, [first, second]) = world("fish");
    if !has(&world, "fish") {
        return;
    }
    let completed = |typed: &str| {
        let mut command = world.command("fish");
        on_path(&mut command);
        let asked = "source $argv[1]; complete -C $argv[2]";
        run(command.args(["-N", "-c", asked]).arg(world.path("script")).arg(typed), b"").done()
    };
    let shown = completed("agent-knowledge show ");
    assert_eq!(shown, format!("{second}\tbind port 0\n{first}\tbind port 0\n"));
    assert!(completed("agent-knowledge list --repo we").starts_with("web"), "{shown}");
    assert!(completed("agent-knowledge rec").starts_with("recent\tList the newest"), "{shown}");
    std::fs::write(world.work().join("notes.md"), "x").unwrap();
    assert!(completed("agent-knowledge import not").starts_with("notes.md"), "a path");
    assert_eq!(completed("agent-knowledge context --file=not").trim_end(), "--file=notes.md");
    assert_eq!(completed("agent-knowledge context --file=nothing").trim_end(), "");
}

/// Puts the program where a shell finds it.
fn on_path(command: &mut Command) {
    let folder = std::path::Path::new(AGENT_KNOWLEDGE).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders).unwrap());
}

// S-COMPLETE-1
#[test]
fn other_shells_have_a_script_or_are_refused() {
    let world = World::new();
    let script = world.agent_knowledge(&["completion", "powershell"]).done();
    assert!(script.contains("agent-knowledge") && script.contains("supersede"), "{script}");
    assert_eq!(world.agent_knowledge(&["completions", "csh"]).exit, Some(64));
    let nothing = world.agent_knowledge(&["complete-words", "bash", "--", "show", ""]);
    assert_eq!(
        (nothing.exit, nothing.output.as_str(), nothing.messages.as_str()),
        (Some(0), "", "")
    );
}

// S-COMPLETE-2
#[test]
fn manual_pages_are_read_without_warnings() {
    let world = World::new();
    let folder = world.path("man");
    let written = world.asked(&["man-pages", folder.to_str().unwrap()]);
    let files: Vec<&str> =
        written["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    for file in ["agent-knowledge.1", "agent-knowledge-search.1", "log-memory.1"] {
        assert!(files.contains(&file), "{files:?}");
    }
    if !has(&world, "man") {
        return;
    }
    for file in files {
        let mut command = world.command("man");
        command.env("LC_ALL", "C.UTF-8").env("MANWIDTH", "100");
        command.args(["--warnings", "-P", "cat", "-l"]).arg(folder.join(file));
        let read = run(&mut command, b"");
        assert_eq!((read.exit, read.messages.as_str()), (Some(0), ""), "{file}");
        assert!(read.output.contains("NAME") && read.output.contains("--help"), "{file}");
    }
}

// S-JSON-1
#[test]
fn a_failure_is_told_as_json_too() {
    let world = World::new();
    let failed = |args: &[&str]| {
        let ran = world.agent_knowledge(args);
        assert!(ran.messages.starts_with("agent-knowledge: "), "the words too: {ran:?}");
        let json: Value = serde_json::from_str(&ran.output).unwrap();
        assert_eq!(json["error"]["exit"], ran.exit.unwrap());
        json["error"].clone()
    };
    let wrong = failed(&["search", "x", "--limit", "99", "--json"]);
    assert_eq!(wrong["problems"][0]["field"], "--limit");
    assert!(failed(&["show", "NONE", "--json"])["message"].as_str().unwrap().contains("NONE"));
    assert_eq!(failed(&["search", "--nope", "--json"])["exit"], 64);
    let secret = failed(&["show", "--json", "password=hunter2secretX9"]).to_string();
    assert!(!secret.contains("hunter2"), "{secret}");
    let words = world.agent_knowledge(&["show", "NONE"]);
    assert_eq!(words.output, "");
    assert!(world.asked(&[])["next"].is_array(), "without a command");
    assert_eq!(world.asked(&["model", "status"])["ready"], false);
    let early = world.agent_knowledge(&["--json", "status"]);
    assert!(early.exit == Some(64) && early.messages.contains("after the command"), "{early:?}");
}
