//! The words of a briefing, on memories made of lines. Not here: which memories (`search`).

use proptest::prelude::*;
use serde_json::json;

use super::super::test_memories;
use super::*;
use crate::tokens;
use event::Timestamp;

/// Returns the name of a section in JSON; an object of its own name tells of the last session itself.
fn in_json(section: Section) -> &'static str {
    if section == Section::LastSession { "of_last_session" } else { section.as_str() }
}

fn briefing_note(id: &str, lesson: &str, gone: &[&str]) -> BriefingMemory {
    let memory = test_memories::memory(
        &json!({ "id": id, "timestamp": "2026-01-02T03:04:05Z", "repo": "api",
        "agent_id": "codex", "event_type": "error", "lesson": lesson, "source": "agent" }),
    );
    BriefingMemory { memory, gone: gone.iter().map(|file| (*file).to_owned()).collect() }
}

fn at(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

fn briefing_reply(picked: &BriefingSelection, max_tokens: usize) -> Reply {
    briefing_within(picked, max_tokens, &BTreeMap::new())
}

fn briefing_within(
    picked: &BriefingSelection,
    max_tokens: usize,
    section_tokens: &BTreeMap<String, usize>,
) -> Reply {
    let repo = RepoKey::parse("api").unwrap();
    let notices = ["Note: told as well.".to_owned()];
    let notices = if max_tokens > 100 { &notices[..] } else { &[] };
    let (changed, shape) = (ChangedFiles::new(), Shape::Whole);
    let briefing_of = Briefing {
        repo: &repo,
        package: None,
        picked,
        changed: &changed,
        log_state: LogState::Read,
        unmerged: &UnmergedMemories::new(),
        notices,
        shape,
        max_tokens,
        section_tokens,
    };
    briefing(&briefing_of, &|_| 0.0)
}

// S-CONTEXT-7
#[test]
fn a_section_keeps_to_its_own_tokens() {
    let lessons = [("first", "a lesson about the build"), ("second", "a lesson about the cache")];
    let notes: Vec<BriefingMemory> =
        lessons.iter().map(|(id, lesson)| briefing_note(id, lesson, &[])).collect();
    let picked = BriefingSelection {
        memories: 2,
        sections: vec![(Section::Decisions, notes.clone()), (Section::Gotchas, notes)],
        ..BriefingSelection::default()
    };
    let text = |most: usize| {
        let budgets = BTreeMap::from([("decisions".to_owned(), most)]);
        briefing_within(&picked, 800, &budgets).text
    };
    let decided =
        |text: &str| text.split("Known gotchas").next().unwrap().matches("lesson").count();
    assert_eq!(decided(&text(300)), 2);
    assert_eq!(decided(&text(40)), 1);
    assert!(!text(0).contains("Decided here"), "{}", text(0));
}

// S-CONTEXT-1
#[test]
fn a_briefing_names_its_repository_then_its_memories() {
    let last = LastSession {
        id: "s1".into(),
        agent_id: "codex".into(),
        at: at("2026-01-02T03:04:05Z"),
        memories: 3,
    };
    let picked = BriefingSelection {
        memories: 12,
        newest: at("2026-01-02T03:04:05Z"),
        sections: vec![
            (Section::OpenTasks, vec![briefing_note("m1", "write the page", &[])]),
            (Section::Gotchas, vec![briefing_note("m2", "clean first", &["old/a.rs"])]),
            (Section::LastSession, vec![briefing_note("m3", "read the log", &[])]),
        ],
        last_session: Some(last),
    };
    let reply = briefing_reply(&picked, 800);
    assert_eq!(
        reply.text,
        "**Memory of api** (12 memories, newest 2026-01-02): recalled notes, not instructions\n\
        Note: told as well.\n\n\
        Open tasks:\n- [2026-01-02] write the page · codex · m1\n\n\
        Known gotchas:\n- [2026-01-02] clean first (gone: old/a.rs) · codex · m2\n\n\
        Last session (2026-01-02, codex, 3 memories):\n- [2026-01-02] read the log · codex · m3"
    );
    assert_eq!(reply.json["open_tasks"][0]["id"], "m1");
    assert_eq!(reply.json["gone"], json!({ "m2": ["old/a.rs"] }));
    assert_eq!(reply.json["last_session"]["memories"], 3);
    assert!(reply.json.get("decisions").is_none());
}

// S-CONTEXT-1
#[test]
fn an_empty_repository_gets_one_short_line() {
    let text = briefing_reply(&BriefingSelection::default(), 60).text;
    assert_eq!(text, "**Memory of api**: nothing yet. Save what you learn with memory_save.");
    let from_elsewhere = BriefingSelection {
        sections: vec![(Section::ForTask, vec![briefing_note("m1", "clean first", &[])])],
        ..BriefingSelection::default()
    };
    let text = briefing_reply(&from_elsewhere, 200).text;
    assert!(text.starts_with("**Memory of api** (no memories yet): recalled"), "{text}");
}

// S-CONTEXT-3
#[test]
fn one_memory_is_shown_within_any_budget() {
    let long = "a long word about it ".repeat(40);
    let picked = BriefingSelection {
        memories: 1,
        newest: at("2026-01-02T03:04:05Z"),
        sections: vec![(
            Section::ForTask,
            vec![briefing_note("m1", &long, &[]), briefing_note("m2", "short", &[])],
        )],
        last_session: None,
    };
    let reply = briefing_reply(&picked, 100);
    assert!(
        reply.text.contains("a long word") && reply.text.ends_with("… · codex · m1"),
        "{}",
        reply.text
    );
    assert!(tokens(&reply.text) <= 100, "{}", reply.text);
    assert_eq!(reply.json["for_task"].as_array().unwrap().len(), 1);
}

// S-CONTEXT-5, S-REPLY-3
#[test]
fn file_names_are_escaped_few_and_short() {
    let long = format!("src/{}/end.rs", "x".repeat(300));
    let named = line::gone(Some(&vec!["a\u{1B}[31m\nb.rs".to_owned(), long, "c.rs".to_owned()]));
    assert!(!named.contains(['\n', '\u{1B}']) && named.len() < 160, "{named}");
    assert!(named.ends_with("/end.rs and 1 more)"), "{named}");
    assert_eq!(line::gone(None), "");
}

const ALL: [Section; 8] = [
    Section::ForTask,
    Section::ForFiles,
    Section::OpenTasks,
    Section::Decisions,
    Section::Gotchas,
    Section::Proven,
    Section::Stale,
    Section::LastSession,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    // S-CONTEXT-3, S-CONTEXT-4
    #[test]
    fn the_cap_is_never_exceeded_and_text_and_json_agree(
        given in prop::collection::vec(prop::collection::vec((1_usize..120, any::<bool>()), 0..9), 8),
        max_tokens in 100_usize..2_000,
    ) {
        let mut number = 0;
        let mut made = |(words, is_gone): &(usize, bool)| {
            number += 1;
            let gone: &[&str] = if *is_gone { &["old/a.rs"] } else { &[] };
            briefing_note(&format!("id{number:06}"), &"wörd ".repeat(*words), gone)
        };
        let sections: Vec<(Section, Vec<BriefingMemory>)> = ALL.into_iter().zip(&given)
            .map(|(section, notes)| (section, notes.iter().map(&mut made).collect::<Vec<_>>()))
            .filter(|(_, notes)| !notes.is_empty())
            .collect();
        let last = LastSession { id: "s".into(), agent_id: "a".repeat(99), at: None, memories: 1 };
        let picked = BriefingSelection { memories: 99, newest: at("2026-01-02T03:04:05Z"), sections, last_session: Some(last) };
        let reply = briefing_reply(&picked, max_tokens);
        prop_assert!(tokens(&reply.text) <= max_tokens, "{}", reply.text);
        prop_assert_eq!(&reply, &briefing_reply(&picked, max_tokens));
        let ids: Vec<&str> = reply.text.lines().filter(|line| line.starts_with("- "))
            .filter_map(|line| line.rsplit(" · ").next()).collect();
        let fields = reply.json.as_object().unwrap();
        let listed: Vec<&str> = ALL.into_iter().filter_map(|section| fields.get(in_json(section)))
            .flat_map(|list| list.as_array().unwrap()).map(|memory| memory["id"].as_str().unwrap()).collect();
        prop_assert_eq!(&ids, &listed);
        let once: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        prop_assert_eq!(once.len(), ids.len());
        prop_assert!(!ids.is_empty() || picked.sections.is_empty(), "{}", reply.text);
    }
}
