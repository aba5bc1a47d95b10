//! Who is told what, and how often: the agent of a session, its subagents, after a briefing and after the conversation was emptied.
//! Not here: which lesson fits (`silence`).

use std::path::Path;

use serde_json::{Value, json};

use super::{COMMAND, FAILED, FORMATS, hook, repo, specific};
use crate::world::World;

/// Two lessons about one failure.
fn world_with_lessons() -> (World, std::path::PathBuf) {
    let world = World::new();
    let folder = repo(&world, "one");
    for lesson in [
        "install with --legacy-peer-deps, react 18 conflicts",
        "pin react to 17 until the date picker supports 18",
    ] {
        let context = "npm install fails with ERESOLVE unable to resolve dependency tree, Found: react@18.2.0";
        let save =
            ["--type", "error", "--context", context, "--lesson", lesson, "--agent", "codex"];
        world.log_memory_in(&folder, &save).done();
    }
    (world, folder)
}

/// An event of Claude Code, in the session or in one of its subagents.
fn event(name: &str, folder: &Path, subagent: Option<&str>, more: &Value) -> Value {
    let mut said = json!({"session_id": "s1", "cwd": folder, "hook_event_name": name});
    let fields = said.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    fields.extend(subagent.map(|id| ("agent_id".to_owned(), json!(id))));
    said
}

fn told(world: &World, said: &Value) -> Option<String> {
    let answer = hook(world, "claude-code", said);
    (!answer.is_empty()).then(|| specific(&serde_json::from_str(&answer).unwrap()).to_owned())
}

fn lessons_in(text: Option<&str>) -> (bool, bool) {
    let has = |words| text.is_some_and(|text| text.contains(words));
    (has("legacy-peer-deps"), has("pin react"))
}

// S-HOOK-4, S-HOOK-9
#[test]
fn a_failure_is_told_what_the_briefing_listed_one_at_a_time() {
    let (world, folder) = world_with_lessons();
    let start = told(&world, &(FORMATS[0].start)("s1", &folder));
    assert_eq!(lessons_in(start.as_deref()), (true, true), "{start:?}");
    let failed = (FORMATS[0].failed)("s1", &folder, COMMAND, FAILED);
    let (first, second, third) =
        (told(&world, &failed), told(&world, &failed), told(&world, &failed));
    let (one, other) = (lessons_in(first.as_deref()), lessons_in(second.as_deref()));
    assert!(one.0 != one.1 && other == (one.1, one.0), "one each: {first:?} {second:?}");
    assert_eq!(third, None, "a third time nothing");
}

// S-HOOK-3, S-HOOK-9
#[test]
fn a_subagent_is_briefed_though_its_parent_was() {
    let (world, folder) = world_with_lessons();
    assert!(told(&world, &(FORMATS[0].start)("s1", &folder)).is_some());
    let begins = |id, kind| event("SubagentStart", &folder, Some(id), &json!({"agent_type": kind}));
    let briefed = told(&world, &begins("a1", "general-purpose"));
    assert_eq!(lessons_in(briefed.as_deref()), (true, true), "{briefed:?}");
    assert!(briefed.unwrap().len() < 1_000);
    assert_eq!(told(&world, &begins("a2", "Explore")), None, "it only looks");
    assert_eq!(told(&world, &begins("a1", "general-purpose")), None, "never twice");
    let prompt = |id, words| event("UserPromptSubmit", &folder, id, &json!({"prompt": words}));
    let ask = "npm install fails with ERESOLVE unable to resolve dependency tree for react";
    assert!(told(&world, &prompt(Some("a3"), ask)).is_some(), "a reader of its own");
    let note =
        "<task-notification> npm install ERESOLVE react dependency tree done</task-notification>";
    assert_eq!(told(&world, &prompt(None, note)), None, "no person wrote it");
}

// S-HOOK-9
#[test]
fn an_emptied_conversation_may_be_told_again() {
    let (world, folder) = world_with_lessons();
    let failed = (FORMATS[0].failed)("s1", &folder, COMMAND, FAILED);
    for _ in 0..3 {
        let _ = told(&world, &failed);
    }
    let emptied = event("SessionStart", &folder, None, &json!({"source": "compact"}));
    assert_eq!(lessons_in(told(&world, &emptied).as_deref()), (true, true));
    assert!(told(&world, &failed).is_some(), "the first answer is gone from the conversation");
}
