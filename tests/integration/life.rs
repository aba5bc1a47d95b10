//! What becomes of memories, by the real programs: verdicts, replacement, forgetting and its undoing, attached and
//! alone, over the command line and MCP. Not here: the laws of the fold (`projection::course`).

use serde_json::{Value, json};

use crate::raw_client::{BOTH, Client};
use crate::world::{World, event};

/// The repository that all tests here work in, and its log.
const REPO: &str = "github.com/acme/api";
const LOG: &str = "github.com+acme+api.jsonl";

/// A store with two lessons about one thing; returns their ids.
fn two_lessons(world: &World) -> (String, String) {
    let lesson = |lesson: &str| {
        let args = [
            "--repo",
            REPO,
            "--type",
            "error",
            "--context",
            "the walrus build hangs",
            "--lesson",
            lesson,
        ];
        world.log_memory(&args).done().trim().to_owned()
    };
    (lesson("restart the walrus daemon"), lesson("raise the walrus timeout to 90 seconds"))
}

fn found(world: &World) -> Vec<String> {
    let answer = world.asked(&["search", "walrus build hangs", "--repo", REPO]);
    let ids = answer["memories"].as_array().unwrap().iter();
    ids.map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
}

fn shown(world: &World, id: &str) -> Value {
    world.asked(&["show", id])["memories"][0].clone()
}

// S-LIFE-4, S-LIFE-7
#[test]
fn what_is_forgotten_is_in_no_answer_until_it_is_brought_back() {
    for world in [World::new(), World::sharing()] {
        let (old, new) = two_lessons(&world);
        assert_eq!(found(&world).len(), 2);
        let short = &old[old.len() - 8..];
        let said = world.agent_knowledge(&["forget", short, "--reason", "it never helped"]).done();
        assert!(said.contains("forgotten, its log keeps it"), "{said}");
        assert_eq!(found(&world), [new.clone()]);
        let briefing = world.agent_knowledge(&["context", "--repo", REPO]).done();
        assert!(!briefing.contains("daemon"), "{briefing}");
        let memory = shown(&world, &old);
        assert_eq!(
            (&memory["life"], &memory["history"][0]["lesson"]),
            (&json!("retracted"), &json!("it never helped"))
        );
        let again = world.agent_knowledge(&["forget", &old]).done();
        assert!(again.contains("nothing to do"), "{again}");
        world.agent_knowledge(&["forget", "--undo", &old]).done();
        assert_eq!(found(&world).len(), 2);
        assert_eq!(world.log_lines(LOG).len(), 4, "two lessons, one taken back and brought back");
    }
}

// S-LIFE-4, S-LIFE-7
#[test]
fn a_chain_of_replacements_leaves_its_end_and_never_closes() {
    let world = World::new();
    let (first, second) = two_lessons(&world);
    let (third, _) = two_lessons(&world);
    world.agent_knowledge(&["supersede", &first, "--by", &second]).done();
    world.agent_knowledge(&["supersede", &second, "--by", &third]).done();
    assert!(!found(&world).contains(&first) && !found(&world).contains(&second));
    let circle = world.agent_knowledge(&["supersede", &third, "--by", &first]);
    assert_eq!(circle.exit, Some(65));
    assert!(
        circle.messages.contains("--by: ") && circle.messages.contains("is replaced by"),
        "{}",
        circle.messages
    );
    let own = world.agent_knowledge(&["supersede", &third, "--by", &third]);
    assert_eq!(own.exit, Some(65));
    assert!(found(&world).contains(&third));
    assert_eq!(shown(&world, &first)["superseded_by"], *second);
}

// S-LIFE-7
#[test]
fn nothing_is_written_where_one_of_several_ids_is_wrong() {
    let world = World::new();
    let (old, _) = two_lessons(&world);
    for args in [
        &["forget", &old, "01NOSUCHID"][..],
        &["supersede", &old, "--by", "01NOSUCHID"],
        &["feedback", "01NOSUCHID", "worked"],
    ] {
        assert_eq!(world.agent_knowledge(args).exit, Some(1), "{args:?}");
    }
    let verdict = world.agent_knowledge(&["feedback", &old, "good"]);
    assert_eq!(verdict.exit, Some(65));
    assert!(
        verdict.messages.contains("VERDICT: must be one of worked, failed, stale, confirmed"),
        "{}",
        verdict.messages
    );
    assert_eq!(world.log_lines(LOG).len(), 2);
}

// S-LIFE-2, S-MCP-2
#[test]
fn verdicts_over_mcp_count_once_a_session_and_reorder_the_answers() {
    for era in BOTH {
        let world = World::new();
        let (old, new) = two_lessons(&world);
        let mut client = Client::open(&world, era);
        for verdict in ["failed", "worked"] {
            client.told(
                "memory_feedback",
                &json!({"ids": [old], "verdict": verdict, "note": "tried twice"}),
            );
        }
        client.told("memory_feedback", &json!({"ids": new, "verdict": "stale"}));
        assert_eq!(shown(&world, &old)["verdicts"], json!({"worked": 1}));
        assert_eq!(shown(&world, &old)["maturity"], "established");
        assert_eq!(found(&world), [old.clone(), new.clone()]);
        let text =
            client.told("memory_search", &json!({"query": "walrus build hangs", "repo": REPO}));
        assert!(text.contains("(1/1 success)") && text.contains("(said to be stale)"), "{text}");
        let (problem, is_error) =
            client.call("memory_feedback", &json!({"ids": [old], "verdict": "good"}));
        assert!(is_error && problem.contains("verdict: must be one of"), "{problem}");
        let forgotten = client.told("memory_forget", &json!({"ids": [new], "superseded_by": old}));
        assert!(forgotten.contains("superseded by"), "{forgotten}");
        assert_eq!(found(&world), [old]);
        // Who said it is told by the program, not by the text.
        let last = event(world.log_lines(LOG).last().unwrap()).unwrap();
        assert_eq!((last.source.as_deref(), last.repo.as_str()), (Some("agent"), REPO));
    }
}

// S-LIFE-4
#[test]
fn a_lesson_may_be_written_for_a_time_and_as_a_guess() {
    let world = World::new();
    let args = [
        "--repo",
        REPO,
        "--type",
        "fact",
        "--lesson",
        "the walrus build hangs until the release",
        "--confidence",
        "inferred",
    ];
    let old = [&args[..], &["--expires", "2020-01-01"]].concat();
    let new = [&args[..], &["--expires", "30d"]].concat();
    world.log_memory(&old).done();
    let id = world.log_memory(&new).done().trim().to_owned();
    assert_eq!(found(&world), [id.clone()]);
    let memory = shown(&world, &id);
    assert_eq!(memory["confidence"], "inferred");
    assert!(memory["expires"].as_str().unwrap().ends_with('Z'), "{memory}");
    let wrong = [&args[..6], &["--expires", "soon", "--confidence", "sure"]].concat();
    let wrong = world.log_memory(&wrong);
    assert_eq!(wrong.exit, Some(65));
    for told in
        ["--expires: must be a time, a day or an age", "--confidence: must be stated or inferred"]
    {
        assert!(wrong.messages.contains(told), "{}", wrong.messages);
    }
}
