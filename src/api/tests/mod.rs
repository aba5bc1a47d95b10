//! Every answer of the table of verbs, and of the requests that only programs of ours send, as it was when its format was set: text, names of
//! fields, their order, and what is absent or null. Not here: whether an answer is right (a test beside each file).

mod answer_cases;
mod answer_types;
mod file_surfaces;
mod fixture_world;
mod named_folders;

use std::path::PathBuf;

use serde_json::json;

use self::answer_cases::{Case, Question, StartState, cases};
use self::fixture_world::World;
use requests::verbs::VERBS;
use requests::{Api, Reply, Voice};

/// Writes the fixtures instead of comparing them, as `settings` does its page.
const WRITE: &str = "AGENT_KNOWLEDGE_WRITE_PAGES";

/// How often a read is asked: a search waits 20 ms for past sessions, which a busy processor may miss.
const ATTEMPTS: usize = 50;

fn fixtures() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/answers").into()
}

fn ask(case: &Case, api: &dyn Api) -> Reply {
    match &case.question {
        Question::Verb(given) => {
            let verb = VERBS.iter().find(|verb| verb.name == case.name).unwrap();
            let given = given.as_object().unwrap().clone();
            verb.call(api, given, &Voice::Caller)
                .unwrap_or_else(|error| panic!("{case:?}: {error}"))
        }
        Question::Request(request) => {
            api.ask(request).unwrap_or_else(|error| panic!("{case:?}: {error}"))
        }
    }
}

/// Asks a case and returns its fixture: text by lines, and JSON.
fn fixture(case: &Case, world: &World) -> String {
    let local = if case.is_over_network { world.network() } else { world.agent() };
    let reply = ask(case, &local);
    let lines: Vec<&str> = reply.text.lines().collect();
    let both = world.without_place(json!({ "text": lines, "json": reply.json }));
    format!("{}\n", serde_json::to_string_pretty(&both).unwrap())
}

/// Compares an answer with its fixture, or writes that.
fn differs(case: &Case, world: &World) -> Option<String> {
    let path = fixtures().join(format!("{}-{}.json", case.name, case.variant));
    let before = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let first = fixture(case, world);
    let is_asked_again = case.state != StartState::Fresh && first != before;
    let attempts = if is_asked_again { ATTEMPTS } else { 0 };
    let same = (0..attempts).map(|_| fixture(case, world)).find(|now| *now == before);
    let now = same.unwrap_or(first);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let line = |(place, (now, before)): (usize, (&str, &str))| {
        (now != before).then(|| format!("{}:{}: {now}", path.display(), place + 1))
    };
    (now != before).then(|| {
        let lines = now.lines().chain([""]).zip(before.lines().chain([""]));
        lines.enumerate().find_map(line).unwrap_or_else(|| path.display().to_string())
    })
}

fn assert_same(state: StartState) {
    let shared = match state {
        StartState::Empty => World::empty(),
        StartState::Shared | StartState::Fresh => World::full(),
    };
    let wrong: Vec<String> = cases()
        .iter()
        .filter(|case| case.state == state)
        .filter_map(|case| match state {
            StartState::Fresh => differs(case, &World::full()),
            StartState::Shared | StartState::Empty => differs(case, &shared),
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "an answer changed; its format is a promise.\n{}\n{WRITE}=1 cargo nextest run -p api answers writes them anew",
        wrong.join("\n")
    );
}

#[test]
fn answers_that_read_are_as_recorded() {
    assert_same(StartState::Shared);
}

#[test]
fn answers_that_change_are_as_recorded() {
    assert_same(StartState::Fresh);
}

#[test]
fn answers_about_nothing_are_as_recorded() {
    assert_same(StartState::Empty);
}

#[test]
fn every_recorded_answer_is_of_a_case() {
    let named: Vec<String> =
        cases().iter().map(|case| format!("{}-{}.json", case.name, case.variant)).collect();
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(named.contains(&name), "{name} is of no case");
    }
}
