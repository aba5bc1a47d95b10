//! `agent-knowledge pick` on a real terminal. Not here: how well a word fits, and what a screen shows (the crate `terminal`).

use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

use crate::terminal::{Typist, on_terminal};
use crate::world::{AGENT_KNOWLEDGE, World};

const DOWN: &str = "\u{1B}[B";
const ESCAPE: &str = "\u{1B}";

fn world() -> (World, [String; 2]) {
    let world = World::new();
    let save = |lesson: &str| {
        let saved = ["--type", "error", "--repo", "api", "--tag", "ci", "--lesson", lesson];
        world.log_memory(&saved).done().trim().to_owned()
    };
    let ids = [save("bind port 0 and read it back"), save("漢字 need two columns each")];
    (world, ids)
}

fn picking(world: &World, args: &[&str], rows: u16, columns: u16) -> Typist {
    let mut command = world.command(AGENT_KNOWLEDGE);
    Typist::at(command.env("TERM", "xterm").arg("pick").args(args), rows, columns)
}

// S-PICK-1
#[test]
fn enter_prints_the_id_of_what_was_typed() {
    let (world, [port, wide]) = world();
    let mut typist = picking(&world, &[], 24, 80);
    typist.sees("2/2");
    typist.types("prt");
    typist.sees("1/2");
    typist.sees(&format!("id: {port}"));
    typist.sees("lesson: bind port 0");
    typist.types("\r");
    assert_eq!(typist.ends(), (Some(0), format!("{port}\n")));
    let mut typist = picking(&world, &["--text", "ci", "--color", "never"], 24, 80);
    typist.sees("> ci▏  2/2");
    let rows = typist.sees("bind port 0");
    typist.types(&format!("{DOWN}\r"));
    let (exit, text) = typist.ends();
    assert!(exit == Some(0) && text.contains(&format!("id: {port}")), "{text}");
    assert!(!rows.contains("\u{1B}[7m") && rows.contains("漢字"), "{rows:?}");
    let mut typist = picking(&world, &["漢", "--json", "--color", "never"], 3, 12);
    typist.sees("> 漢字 need…");
    typist.types("\r");
    assert_eq!(typist.ends(), (Some(0), format!("{{\"id\":\"{wide}\"}}\n")));
}

// S-PICK-1
#[test]
fn leaving_prints_nothing_and_exits_with_1() {
    let (world, _) = world();
    for leave in [ESCAPE, "\u{3}", "nothing fits\r\u{4}"] {
        let mut typist = picking(&world, &[], 24, 80);
        typist.sees("2/2");
        typist.types(leave);
        let shown = typist.sees("\u{1B}[?1049l");
        assert!(shown.contains("\u{1B}[?25h"), "the cursor is back: {shown:?}");
        assert_eq!(typist.ends(), (Some(1), String::new()));
    }
    let without = world.agent_knowledge(&["pick"]);
    assert_eq!((without.exit, without.output.as_str()), (Some(64), ""));
    assert!(without.messages.contains("needs a terminal"), "{}", without.messages);
}

// S-PICK-1
#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let (world, _) = world();
    for signal in ["TERM", "HUP", "INT"] {
        let mut typist = picking(&world, &[], 24, 80);
        typist.sees("2/2");
        assert!(typist.is_raw(), "{signal}");
        let sent =
            Command::new("kill").args(["-s", signal, &typist.process().to_string()]).status();
        assert!(sent.unwrap().success(), "{signal}");
        let shown = typist.sees("\u{1B}[?1049l");
        assert!(shown.contains("\u{1B}[?25h"), "the cursor is back: {shown:?}");
        assert_eq!(typist.ends(), (Some(1), String::new()), "{signal}");
        assert!(!typist.is_raw(), "{signal}");
    }
}

// S-PICK-1
#[test]
fn a_terminal_is_taken_only_to_choose() {
    let world = World::new();
    let mut typist = picking(&world, &[], 24, 80);
    let shown = typist.sees("no memory to choose from");
    assert!(!shown.contains('\u{1B}'), "{shown:?}");
    assert_eq!(typist.ends(), (Some(1), String::new()));
}

// S-PICK-1
#[test]
fn a_new_size_is_drawn_again_and_no_color_is_plain() {
    let (world, _) = world();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let mut typist = Typist::at(command.env("NO_COLOR", "1").args(["pick", "--tag", "ci"]), 24, 80);
    let wide = typist.sees("Esc leaves");
    assert!(!wide.contains("\u{1B}[7m") && !wide.contains("\u{1B}[1m"), "{wide:?}");
    typist.resizes(10, 20);
    typist.sees("> 漢字 need two col…");
    typist.sees("── type to filter");
    typist.types(ESCAPE);
    assert_eq!(typist.ends().0, Some(1));
    let none = world.agent_knowledge(&["pick", "--state", "often"]);
    assert!(none.exit == Some(65) && none.messages.contains("--state: must be"), "{none:?}");
}

// S-COLOR-2
#[test]
fn show_reads_well_on_a_terminal_only() {
    let world = World::new();
    let lesson = "check who owns the folder\n```\nnpm ci\n```";
    let saved = ["--type", "error", "--repo", "api", "--context", "npm fails", "--lesson", lesson];
    let id = world.log_memory(&saved).done().trim().to_owned();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let shown = on_terminal(command.env("TERM", "xterm").args(["show", &id]), "").replace('\r', "");
    let card = "\u{1B}[1mnpm fails\u{1B}[0m\n  check who owns the folder\n  ```\n  npm ci\n  ```\n\n  id: ";
    assert!(shown.contains(card), "{shown:?}");
    let mut command = world.command(AGENT_KNOWLEDGE);
    let plain = on_terminal(command.env("NO_COLOR", "1").args(["show", &id]), "");
    assert!(plain.contains("npm fails") && !plain.contains("\u{1B}[1m"), "{plain:?}");
    let piped = world.agent_knowledge(&["show", &id]).done();
    assert!(piped.contains("\ncontext: npm fails\nlesson: check who"), "{piped}");
}

/// Longest time from a key to the screen, in milliseconds, in a build without optimisation on a busy machine. A release build
/// takes some 20.
const KEY_MS_MAX: u128 = 5_000;

// S-PICK-1
#[test]
fn ten_thousand_memories_do_not_lag() {
    let world = World::new();
    let mut lines = String::new();
    for number in 0..10_000 {
        let lesson =
            format!("lesson {number} says what to do when the build of part {} fails", number % 97);
        let _ = writeln!(
            lines,
            "{{\"event_type\":\"error\",\"repo\":\"api\",\"lesson\":\"{lesson}\",\"context\":\"in a long run of a test of the thing\"}}"
        );
    }
    world.log_memory_json(&lines, &[]).done();
    let mut typist = picking(&world, &["--color", "never"], 40, 120);
    typist.sees("10000/10000");
    for (typed, count) in [("p", "10000/10000"), ("art 96 9990", "1/10000")] {
        let start = Instant::now();
        typist.types(typed);
        typist.sees(&format!("▏  {count}"));
        let took = start.elapsed().as_millis();
        assert!(took < KEY_MS_MAX, "{typed:?} took {took} ms");
    }
    typist.types("\r");
    assert_eq!(typist.ends().0, Some(0));
}
