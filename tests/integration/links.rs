//! Links that are made and ended, by the real programs, alone and with a shared retriever. Not here: the laws of
//! links (`search::links`), relations that are found (`related`).

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, World, run};

/// The repository that all tests here work in, and its log.
const REPO: &str = "github.com/acme/api";
const LOG: &str = "github.com+acme+api.jsonl";

/// The end of an id, as replies show it.
fn short(id: &str) -> &str {
    id.get(id.len() - 8..).unwrap()
}

/// A store with lessons on these subjects; returns their ids.
fn lessons<const N: usize>(world: &World, subjects: [&str; N]) -> [String; N] {
    subjects.map(|subject| {
        let lesson = format!("mind the {subject}");
        let args = ["--repo", REPO, "--type", "error", "--context", subject, "--lesson", &lesson];
        world.log_memory(&args).done().trim().to_owned()
    })
}

fn last_event(world: &World) -> Value {
    serde_json::from_slice(world.log_lines(LOG).last().unwrap()).unwrap()
}

// S-LINK-1, S-LINK-6
#[test]
fn repeating_a_link_writes_no_second_event() {
    for world in [World::new(), World::sharing()] {
        let [one, other] = lessons(&world, ["walrus", "heron"]);
        let short = short(&other);
        let args =
            ["link", &one, "depends-on", short, "--strength", "0.8", "--valid-from", "2026-01-02"];
        let said = world.agent_knowledge(&args).done();
        assert!(said.contains("depends_on") && said.contains(": linked."), "{said}");
        let line = last_event(&world);
        assert_eq!(
            (&line["event_type"], &line["memory_id"], &line["target"], &line["relation"]),
            (&json!("link"), &json!(one), &json!(other), &json!("depends_on"))
        );
        assert_eq!(
            (&line["strength"], &line["valid_from"], &line["origin"]),
            (&json!(0.8), &json!("2026-01-02T00:00:00Z"), &json!("manual"))
        );
        assert!(world.agent_knowledge(&args).done().contains("nothing to do, already so"));
        assert_eq!(world.log_lines(LOG).len(), 3);
        let ended = world.agent_knowledge(&["unlink", &one, "depends_on", &other]).done();
        assert!(ended.contains("no longer linked"), "{ended}");
        assert_eq!(last_event(&world)["event_type"], "unlink");
        let again = world.agent_knowledge(&["unlink", &one, "depends_on", &other]).done();
        assert!(again.contains("no such link"), "{again}");
        assert_eq!(world.log_lines(LOG).len(), 4);
        let history = world.agent_knowledge(&["show", &one]).done();
        assert!(
            history.contains("] depends_on ") && history.contains("] no longer depends_on "),
            "{history}"
        );
    }
}

// S-LINK-2, S-LINK-6
#[test]
fn files_are_linked_by_their_place_in_the_repository() {
    let world = World::new();
    let [one] = lessons(&world, ["walrus"]);
    world
        .agent_knowledge(&[
            "link",
            "src/my dir/a.rs::parse",
            "imports",
            "code:Makefile",
            "--repo",
            REPO,
        ])
        .done();
    let line = last_event(&world);
    assert_eq!(
        (&line["memory_id"], &line["target"]),
        (&json!("code:src/my%20dir/a.rs::parse"), &json!("code:Makefile"))
    );
    world.agent_knowledge(&["link", &one, "touches", "src/a.rs"]).done();
    assert_eq!(last_event(&world)["target"], "code:src/a.rs");
    // Events about code need no memory.
    assert_eq!(world.asked(&["status"])["orphans"], 0);
    assert_eq!(world.asked(&["verify"])["orphan_count"], 0);
    let long = format!("src/{}.rs", "x".repeat(140));
    let refused = world.agent_knowledge(&["link", &one, "touches", &long]);
    assert_eq!(refused.exit, Some(65));
    assert!(
        refused.messages.contains("TARGET: makes an id of")
            && refused.messages.contains("at most 128"),
        "{}",
        refused.messages
    );
    let unknown = world.agent_knowledge(&["link", &one, "touches", "nosuch"]);
    assert_eq!(unknown.exit, Some(1));
    assert!(unknown.messages.contains("no memory \"nosuch\""), "{}", unknown.messages);
    let wrong = world.agent_knowledge(&["link", &one, "adores", "src/a.rs", "--strength", "2"]);
    assert_eq!(wrong.exit, Some(65));
    for told in ["RELATION: must be one of related_to,", "--strength: must be a number from 0 to 1"]
    {
        assert!(wrong.messages.contains(told), "{}", wrong.messages);
    }
    assert_eq!(world.log_lines(LOG).len(), 3);
}

// S-LINK-4
#[test]
fn a_cycle_is_refused_for_ordered_relations() {
    let world = World::new();
    let [a, b, c] = lessons(&world, ["walrus", "heron", "otter"]);
    world.agent_knowledge(&["link", &a, "caused_by", &b]).done();
    world.agent_knowledge(&["link", &b, "caused_by", &c]).done();
    let refused = world.agent_knowledge(&["link", &c, "caused_by", &a]);
    assert_eq!(refused.exit, Some(65));
    let way = format!("{} → {} → {}", short(&a), short(&b), short(&c));
    assert!(
        refused.messages.contains("TARGET: closes a cycle") && refused.messages.contains(&way),
        "{}",
        refused.messages
    );
    assert_eq!(world.agent_knowledge(&["link", &a, "part_of", &a]).exit, Some(65));
    // Another relation, and one without an order, may form a cycle.
    world.agent_knowledge(&["link", &c, "led_to", &a]).done();
    world.agent_knowledge(&["link", &a, "related_to", &b]).done();
    world.agent_knowledge(&["link", &b, "related_to", &a]).done();
    // A link that was ended closes no cycle.
    world.agent_knowledge(&["unlink", &a, "caused_by", &b]).done();
    world.agent_knowledge(&["link", &c, "caused_by", &a]).done();
}

// S-LINK-5
#[test]
fn superseding_has_one_form_in_the_log() {
    let world = World::new();
    let [old, new] = lessons(&world, ["walrus", "heron"]);
    let said = world.agent_knowledge(&["link", &new, "supersedes", &old]).done();
    assert!(said.contains("superseded by"), "{said}");
    let line = last_event(&world);
    assert_eq!(
        (&line["event_type"], &line["memory_id"], &line["superseded_by"]),
        (&json!("supersede"), &json!(old), &json!(new))
    );
    assert_eq!(world.agent_knowledge(&["link", &old, "supersedes", &new]).exit, Some(65));
    assert_eq!(world.agent_knowledge(&["link", &new, "supersedes", "src/a.rs"]).exit, Some(65));
    world.agent_knowledge(&["unlink", &new, "supersedes", &old]).done();
    assert_eq!(last_event(&world)["event_type"], "restore");
    let again = world.agent_knowledge(&["unlink", &new, "supersedes", &old]).done();
    assert!(again.contains("no such link"), "{again}");
}

// S-LINK-5, S-LINK-7
#[test]
fn a_supersedes_link_of_another_program_can_be_ended() {
    let world = World::new();
    let [old, new] = lessons(&world, ["walrus", "heron"]);
    let told = |id: &str, source: &str, target: &str| {
        let line = json!({"id": id, "repo": REPO, "event_type": "link", "memory_id": source, "relation": "supersedes",
            "timestamp": "2026-01-02T00:00:00Z", "target": target, "origin": "tool"});
        let mut lines = world.log_lines(LOG);
        lines.extend([line.to_string().into_bytes(), Vec::new()]);
        world.hand_write(LOG, lines.join(&b'\n'));
    };
    told("x1", &new, &old);
    let ended = world.agent_knowledge(&["unlink", &new, "supersedes", &old]).done();
    assert!(ended.contains("no longer linked"), "{ended}");
    assert_eq!(last_event(&world)["event_type"], "unlink");
    let [other] = lessons(&world, ["otter"]);
    world.agent_knowledge(&["supersede", &old, "--by", &other]).done();
    told("x2", &other, &new);
    let ended = world.agent_knowledge(&["unlink", "--origin", "tool"]).done();
    assert!(ended.starts_with("1 links of origin"), "{ended}");
    let none = world.agent_knowledge(&["unlink", "--origin", "manual"]).done();
    assert!(
        none.starts_with("No links have the origin"),
        "a replacement is ended by its name: {none}"
    );
}

// S-LINK-7
#[test]
fn the_last_of_repeated_links_in_one_input_counts() {
    let world = World::new();
    let [one, other] = lessons(&world, ["walrus", "heron"]);
    let text: String = (1..=9)
        .map(|tenth| {
            json!({"source": one, "relation": "calls", "target": other, "strength": f64::from(tenth) / 10.0})
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let ran = run(command.args(["link", "--bulk", "-"]), text.as_bytes()).done();
    assert_eq!(
        ran.trim_end(),
        "1 written, 0 unchanged, 0 refused. 8 overtaken: a later line is about the same link."
    );
    assert_eq!(last_event(&world)["strength"], 0.9);
    assert_eq!(world.log_lines(LOG).len(), 3);
}

// S-LINK-7
#[test]
fn valid_bulk_links_are_written_and_end_by_origin() {
    for world in [World::new(), World::sharing()] {
        let [one, other] = lessons(&world, ["walrus", "heron"]);
        let lines = [
            json!({"source": one, "relation": "touches", "target": "code:src/a.rs"}),
            json!({"source": "code:src/a.rs", "relation": "imports", "target": "code:src/b.rs", "repo": REPO, "strength": 1}),
            json!({"source": one, "relation": "part_of", "target": other, "origin": "bob"}),
            json!({"source": other, "relation": "part_of", "target": one}),
            json!({"source": one, "relation": "adores", "target": other}),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let text = format!("{text}torn\n");
        let mut command = world.command(AGENT_KNOWLEDGE);
        let ran = run(
            command.args(["link", "--bulk", "-", "--origin", "tree-sitter:api"]),
            text.as_bytes(),
        );
        assert_eq!(ran.exit, Some(65), "{ran:?}");
        assert!(ran.output.starts_with("3 written, 0 unchanged, 3 refused."), "{}", ran.output);
        for told in [
            "line 4: target: closes a cycle",
            "line 5: relation: must be one of",
            "line 6: line: is not JSON",
        ] {
            assert!(ran.output.contains(told), "{told}: {}", ran.output);
        }
        assert_eq!(world.log_lines(LOG).len(), 5);
        let file = world.path("links.jsonl");
        std::fs::write(&file, format!("{}\n", lines[0])).unwrap();
        let file = file.to_str().unwrap();
        let again =
            world.agent_knowledge(&["link", "--bulk", file, "--origin", "tree-sitter:api"]).done();
        assert!(again.starts_with("0 written, 1 unchanged, 0 refused."), "{again}");
        let ended = world.agent_knowledge(&["unlink", "--origin", "tree-sitter:api"]).done();
        assert!(ended.starts_with("2 links of origin"), "{ended}");
        let none = world.agent_knowledge(&["unlink", "--origin", "tree-sitter:api"]).done();
        assert!(none.starts_with("No links have the origin"), "{none}");
        assert_eq!(world.log_lines(LOG).len(), 7, "bob's is still there");
        assert_eq!(world.agent_knowledge(&["link", "--bulk", "/nowhere/at-all"]).exit, Some(74));
    }
}
