//! Lines of other origins: nobody takes the place of another's memory, and nobody's actions count without trust.

use serde_json::json;

use super::world::World;

const OTHER: &str = "laptop-3fa9c1d2e5b60718";

fn line(id: &str, lesson: &str) -> String {
    let line = json!({"id": id, "timestamp": "2026-01-01T00:00:00Z", "repo": "api", "event_type": "error",
        "lesson": lesson, "source": "human", "agent_id": "ana"});
    format!("{line}\n")
}

/// Writes lines as the exchange with a team leaves them.
fn mirror(world: &World, lines: &str) {
    std::fs::create_dir_all(world.store().join("team").join(OTHER)).unwrap();
    world.hand_write(&format!("team/{OTHER}/api.jsonl"), lines);
}

// S-ORIGIN-2, S-ORIGIN-3, S-ORIGIN-5
#[test]
fn origins_keep_their_memories_apart() {
    let world = World::new();
    let id = "01K00000000000000000000001";
    let ours = line(id, "the walrus port is 7000").replace("2026-01-01", "2026-01-09");
    world.hand_write("api.jsonl", ours);
    mirror(&world, &line(id, "the walrus port is 9999"));
    let found = world.agent_knowledge(&["search", "walrus port"]).done();
    assert!(found.contains("7000") && found.contains("9999"), "{found}");
    assert!(found.contains("ana, team"), "{found}");
    let shown = world.agent_knowledge(&["show", id]).done();
    let (ours, theirs) = (shown.find("7000").unwrap(), shown.find("9999").unwrap());
    assert!(ours < theirs && shown.contains("origins: laptop-3fa9c1d2e5b60718\n"), "{shown}");
    // A short id means the own one, and is not called ambiguous.
    world.agent_knowledge(&["feedback", "00000001", "worked"]).done();
    let verdicts = world.asked(&["show", id]);
    assert_eq!(verdicts["memories"].as_array().unwrap().len(), 2);
    assert_eq!(verdicts["memories"][1]["standing"]["verdicts"]["worked"], 1);
}

// S-ORIGIN-4
#[test]
fn deeds_of_a_team_need_trust() {
    let world = World::new();
    world.hand_write("api.jsonl", line("m1", "the walrus port is 7000"));
    let deed = json!({"id": "e1", "memory_id": "m1", "event_type": "retract", "repo": "api",
        "timestamp": "2026-01-02T00:00:00Z"});
    mirror(&world, &format!("{deed}\n"));
    let count = |world: &World| {
        world.asked(&["search", "walrus port"])["memories"].as_array().unwrap().len()
    };
    assert_eq!(count(&world), 1);
    assert_eq!(world.asked(&["show", "m1"])["memories"][0]["standing"]["verdicts"]["stale"], 1);
    world.configure("[sync]\ntrust = [\"laptop-3fa9c1d2e5b60718\"]\n");
    assert_eq!(count(&world), 0);
}

// S-ORIGIN-4, S-LIFE-6
#[test]
fn history_tells_whose_words_they_are() {
    let world = World::new();
    world.hand_write("api.jsonl", line("m1", "the walrus port is 7000"));
    let said = json!({"id": "e1", "memory_id": "m1", "event_type": "feedback", "verdict": "failed",
        "repo": "api", "agent_id": "human reviewer (you)", "source": "human",
        "timestamp": "2026-01-02T00:00:00Z"});
    mirror(&world, &format!("{said}\n"));
    let shown = world.agent_knowledge(&["show", "m1"]).done();
    assert!(
        shown.contains("failed · said by laptop-3fa9c1d2") && !shown.contains("reviewer"),
        "{shown}"
    );
    let history = world.asked(&["show", "m1"])["memories"][0]["history"][0].clone();
    assert_eq!((&history["source"], &history["origin"]), (&json!("team"), &json!(OTHER)));
}

// S-ORIGIN-3
#[test]
fn no_page_ends_between_two_memories_of_one_id() {
    let world = World::new();
    let ids: Vec<String> = (0..4).map(|number| format!("m{number}")).collect();
    let lines = |whose: &str| -> String { ids.iter().map(|id| line(id, whose)).collect() };
    world.hand_write("api.jsonl", lines("ours"));
    mirror(&world, &lines("theirs"));
    let mut lessons = Vec::new();
    let mut cursor = None::<String>;
    loop {
        let mut args = vec!["list", "--repo", "api", "--limit", "1"];
        args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor]));
        let page = world.asked(&args);
        let shown = page["memories"].as_array().unwrap().iter();
        lessons.extend(shown.map(|memory| format!("{} {}", memory["id"], memory["lesson"])));
        match page["next"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(lessons.len(), 8, "{lessons:?}");
    lessons.sort();
    lessons.dedup();
    assert_eq!(lessons.len(), 8, "each comes once: {lessons:?}");
}

// S-LIFE-10, S-ORIGIN-3
#[test]
fn a_purge_leaves_what_others_have_under_the_same_id() {
    let world = World::new();
    let of_bo = |line: String| line.replace("\"ana\"", "\"bo\"");
    world.hand_write("api.jsonl", of_bo(line("m1", "ours")) + &line("m2", "of ana"));
    mirror(&world, &line("m1", "planted"));
    world.agent_knowledge(&["purge", "--author", "ana", "--apply"]).done();
    let state = |id: &str| world.asked(&["show", id])["memories"][0]["standing"]["state"].clone();
    assert_eq!((state("m1"), state("m2")), (json!("live"), json!("retracted")));
}
