//! Answers as of a past time over REST, compared with those of a store that is as it was then. Not here: the option of the
//! command line (`life`).

use serde_json::{Value, json};

use super::client::{Server, request};
use super::events::{read, start};
use crate::world::World;

const LOG: &str = "github.com+acme+api.jsonl";

fn line(id: &str, day: u32, lesson: &str) -> String {
    let at = format!("2026-01-{day:02}T12:00:00Z");
    json!({ "id": id, "timestamp": at, "event_type": "decision", "agent_id": "codex", "source": "agent", "lesson": lesson,
        "repo": "github.com/acme/api" })
    .to_string()
}

fn gone(id: &str, day: u32, memory: &str) -> String {
    let at = format!("2026-01-{day:02}T12:00:00Z");
    json!({ "id": id, "timestamp": at, "event_type": "retract", "agent_id": "bob", "memory_id": memory }).to_string()
}

fn ids(answer: &Value, list: &str) -> Vec<String> {
    let memories = answer[list].as_array().cloned().unwrap_or_default();
    memories.iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
}

// S-REST-14
#[test]
fn http_a_briefing_of_then_is_what_it_was() {
    let world = World::sharing();
    let lines = [
        line("01ONE", 1, "walrus builds run with pnpm"),
        gone("01GONE", 3, "01ONE"),
        line("01TWO", 5, "walrus builds run with bun"),
    ];
    world.hand_write(LOG, lines.join("\n") + "\n");
    let server = start(&world);
    let briefing = |day: &str| read(&server, &format!("context?repo=api&as_of={day}"));
    let found = |day: &str| read(&server, &format!("search?query=walrus+builds&as_of={day}"));
    for (day, known) in [
        ("2025-12-31", &[][..]),
        ("2026-01-01", &["01ONE"]),
        ("2026-01-02T00:00:00Z", &["01ONE"]),
        ("2026-01-03", &[]),
        ("2026-01-05", &["01TWO"]),
        ("2026-01-01", &["01ONE"]),
    ] {
        let then = briefing(day);
        assert_eq!(ids(&then, "decisions"), known, "{day}: {then}");
        assert_eq!(ids(&found(day), "memories"), known, "{day}");
        let date = day.split('T').next().unwrap();
        assert!(then["as_of"].as_str().unwrap().starts_with(date), "{then}");
    }
    let now = read(&server, "context?repo=api");
    assert_eq!(ids(&now, "decisions"), ["01TWO"]);
    assert_eq!(briefing("2999-01-01"), now, "what is to come is the present");
    for wrong in ["context?repo=api&as_of=gestern", "search?query=x&mode=dense&as_of=2026-01-02"] {
        let path = format!("/api/v1/{wrong}");
        let answer = server.send(&request("GET", &path, &[("Host", "localhost")], ""));
        assert_eq!((answer.status, answer.body.contains("as_of")), (400, true), "{answer:?}");
    }
}

// S-REST-14
#[test]
fn http_many_questions_about_the_past_are_bounded() {
    let world = World::sharing();
    world.hand_write(
        LOG,
        (0..500)
            .map(|at| line(&format!("m{at:04}"), 1 + at % 28, "walrus") + "\n")
            .collect::<String>(),
    );
    let server = start(&world);
    let asked = |server: &Server, day: u32| {
        let path = format!("/api/v1/search?query=walrus&as_of=2026-01-{day:02}");
        server.send(&request("GET", &path, &[("Host", "localhost")], "")).status
    };
    let others: Vec<_> = (0..12)
        .map(|number| {
            let server = server.again();
            std::thread::spawn(move || asked(&server, 1 + number))
        })
        .collect();
    let statuses: Vec<u16> = others.into_iter().map(|one| one.join().unwrap()).collect();
    assert!(statuses.contains(&200), "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 503)), "{statuses:?}");
    assert_eq!(asked(&server, 9), 200, "then there is room again");
}
