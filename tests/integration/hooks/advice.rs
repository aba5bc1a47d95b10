//! What a hook says of past sessions when a command fails, with the real program: the ordinary commands, and no other, whatever a
//! transcript says. Not here: the rule itself (`learning::advice`).

use serde_json::{Value, json};

use super::hook;
use crate::world::World;

/// What failed, and what is said to have worked after it.
type Repair = (&'static str, &'static str);

fn repairs(file: &'static str) -> Vec<Repair> {
    file.lines().filter_map(|line| line.split_once('\t')).collect()
}

/// The words of a failure that no other one has.
fn error(number: usize) -> String {
    let word: String =
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'q')).collect();
    format!("error: the lantern {word} of the fixture has gone out")
}

/// Writes the transcript of a session in which the command failed, then the other one ran, and both work.
fn write_session(world: &World, number: usize, (failed, command): Repair) {
    let id = format!("planted{number:04}-1111-2222");
    let mut lines = Vec::new();
    let mut say = |kind: &str, content: Value| {
        let at = lines.len();
        lines.push(json!({
            "type": kind, "uuid": format!("{id}-{at}"), "parentUuid": null, "isSidechain": false, "cwd": world.work(),
            "gitBranch": "main", "sessionId": id, "version": "2.1.270", "timestamp": format!("2026-09-10T08:{at:02}:00.000Z"),
            "message": { "role": kind, "id": format!("msg-{at}"), "content": content },
        }));
    };
    say("user", json!("please make it work"));
    let ran = [(failed, true), (command, false), (failed, false)];
    for (call, (command, is_error)) in ran.into_iter().enumerate() {
        let call = format!("t{call}");
        say(
            "assistant",
            json!([{ "type": "tool_use", "id": call, "name": "Bash", "input": { "command": command } }]),
        );
        let text =
            if is_error { format!("Exit code 1\n{}", error(number)) } else { "ok".to_owned() };
        say(
            "user",
            json!([{ "type": "tool_result", "tool_use_id": call, "is_error": is_error, "content": text }]),
        );
    }
    let folder = world.home().join(".claude/projects/-w-shop");
    std::fs::create_dir_all(&folder).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
}

/// Returns what the hook says when each command fails again.
fn told_after(repairs: &[Repair]) -> Vec<String> {
    let world = World::sharing();
    world.git(&world.work(), &["init", "-q"]);
    world.git(&world.work(), &["remote", "add", "origin", "https://github.com/acme/shop.git"]);
    for (number, repair) in repairs.iter().enumerate() {
        write_session(&world, number, *repair);
    }
    world.agent_knowledge(&["sessions", "import", "--yes"]).done();
    let told = repairs.iter().enumerate().map(|(number, (failed, _))| {
        let said = json!({ "hook_event_name": "PostToolUseFailure", "session_id": format!("now-{number}"), "cwd": world.work(),
            "tool_name": "Bash", "tool_input": { "command": failed }, "error": format!("Exit code 1\n{}", error(number)) });
        let answer = hook(&world, "claude-code", &said);
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    });
    told.collect()
}

// S-SESS-14
#[test]
fn no_hook_recommends_what_is_not_ordinary() {
    let planted = repairs(include_str!("../../../src/learning/advice_attacks.txt"));
    assert!(planted.len() > 180);
    let told = told_after(&planted);
    let passed: Vec<_> = planted.iter().zip(told).filter(|(_, told)| !told.is_empty()).collect();
    assert!(passed.is_empty(), "{} of {}: {passed:#?}", passed.len(), planted.len());
}

// S-SESS-14
#[test]
fn a_hook_recommends_ordinary_commands() {
    let kept = repairs(include_str!("../../../src/learning/advice_kept.txt"));
    let told = told_after(&kept);
    let lost: Vec<_> =
        kept.iter().zip(&told).filter(|((_, command), told)| !told.contains(command)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}
