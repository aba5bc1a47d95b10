//! Our own benchmark (`benches/lessons`): it is what was frozen, it holds nothing that the door would change,
//! and recall on its test split stays above floors. Not here: what it holds and how it was made (its README).

use std::path::PathBuf;

use event::clean::clean;
use event::{DecodedLine, codec};
use guard::secrets::redacted;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::pieces;
use crate::world::World;

/// What is frozen.
const FILES: [&str; 4] = ["corpus.jsonl", "queries.jsonl", "qrels.tsv", "stale.tsv"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/lessons")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// Returns the hash of a text, with line breaks as they are in the repository wherever it was checked out.
fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.replace("\r\n", "\n"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_benchmark_is_the_one_that_was_frozen() {
    let sums = read("SHA256SUMS");
    let expected: Vec<(&str, &str)> =
        sums.lines().map(|line| line.split_once("  ").expect("hash and name")).collect();
    assert_eq!(expected.iter().map(|(_, name)| *name).collect::<Vec<_>>(), FILES);
    for (expected, name) in expected {
        assert_eq!(
            hash(&read(name)),
            expected,
            "benches/lessons/{name} is not what was frozen. Undo the change; or, where another benchmark is \
             meant, run `sha256sum {} > SHA256SUMS` there, measure the floors of this file again, and say in \
             CHANGELOG.md that earlier numbers cannot be compared",
            FILES.join(" ")
        );
    }
}

#[test]
fn the_door_changes_no_lesson_and_no_query_of_the_benchmark() {
    let (mut lessons, mut queries, mut changed) = (0, 0, Vec::new());
    for line in read("corpus.jsonl").lines() {
        let DecodedLine::Event(event) = codec::decode(line.as_bytes(), "") else {
            panic!("no event: {line}")
        };
        if *clean((*event).clone()).event() != *event {
            changed.push(event.id.as_str().to_owned());
        }
        lessons += 1;
    }
    for line in read("queries.jsonl").lines() {
        let query: Value = serde_json::from_str(line).unwrap();
        if redacted(query["text"].as_str().unwrap()) != query["text"].as_str().unwrap() {
            changed.push(query["id"].to_string());
        }
        queries += 1;
    }
    assert!(changed.is_empty(), "{changed:?}");
    assert_eq!((lessons, queries), (303, 643));
}

/// What was measured on the test split, with queries asked from their own repository: R@5 of all queries and of
/// three types, and how often something stale stands above what is right.
struct Measured {
    mode: &'static str,
    recall: [(&'static str, f64); 4],
    stale: f64,
}

/// Floors lie two points below what was measured, and the ceiling two above, so that a query more or less of
/// some hundred is no alarm and a broken ranking is one. Who makes recall better raises them.
const SLACK: f64 = 0.02;

const WORDS: Measured = Measured {
    mode: "lexical",
    recall: [("all", 0.8249), ("error", 0.9206), ("identifier", 1.0), ("question", 0.9667)],
    stale: 0.3111,
};

const WORDS_AND_MEANING: Measured = Measured {
    mode: "hybrid",
    recall: [("all", 0.9257), ("error", 0.9683), ("identifier", 1.0), ("question", 1.0)],
    stale: 0.2444,
};

fn asked(world: &World, args: &[&str]) -> Value {
    let folder = folder();
    let all = [folder.to_str().unwrap(), "--split", "test", "--scope", "here", "--json"];
    world.agent_knowledge_eval(&[&all, args].concat()).json()
}

/// Asks for the rank alone: every hit in full.
const RANK_ALONE: [&str; 2] = ["--min-relevance", "0"];

/// The bounds of what a user sees, in each mode: unanswerable questions with a likely hit, tokens of their answers,
/// hits in full of an answerable question, and right ones among the likely hits where the answer has a right one.
/// Measured on 23 November 2026: see benches/runs.
fn shows_only_what_is_likely(world: &World, mode: &str, likely: f64) {
    let report = asked(world, &["--mode", mode]);
    let rows = report["sets"][0]["modes"][0]["rows"].as_array().unwrap();
    let of = |kind: &str, measure: &str| {
        let row = rows.iter().find(|row| row["type"] == kind).unwrap();
        row[measure].as_f64().unwrap()
    };
    assert!(of("all", "false") <= 0.2, "{mode}: {}", of("all", "false"));
    assert!(of("unanswerable", "tokens") <= 90.0, "{mode}: {}", of("unanswerable", "tokens"));
    assert!(of("all", "full") <= 2.5, "{mode}: {}", of("all", "full"));
    assert!(of("all", "likely") >= likely, "{mode}: {}", of("all", "likely"));
}

// S-RANK-6
#[test]
fn words_alone_show_only_what_is_likely() {
    shows_only_what_is_likely(&World::new(), "lexical", 0.78);
}

// S-RANK-6
#[test]
fn words_and_meaning_show_only_what_is_likely() {
    let Some(model) = pieces::model() else { return };
    shows_only_what_is_likely(&World::with_model(model), "hybrid", 0.85);
}

#[track_caller]
fn holds(world: &World, measured: &Measured) {
    let report = asked(world, &[&["--mode", measured.mode][..], &RANK_ALONE].concat());
    let rows = report["sets"][0]["modes"][0]["rows"].as_array().unwrap();
    let of = |kind: &str, measure: &str| {
        let row = rows.iter().find(|row| row["type"] == kind).unwrap();
        row[measure].as_f64().unwrap()
    };
    assert_eq!(report["sets"][0]["held_back"], 0, "an ordinary lesson reads like an instruction");
    for (kind, recall) in measured.recall {
        let found = of(kind, "R@5");
        assert!(found >= recall - SLACK, "{}, {kind}: R@5 {found}, was {recall}", measured.mode);
    }
    let found = of("all", "stale");
    assert!(found <= measured.stale + SLACK, "{}: stale {found}", measured.mode);
}

#[test]
fn words_alone_recall_no_less_than_was_measured() {
    holds(&World::new(), &WORDS);
}

#[test]
fn words_and_meaning_recall_no_less_than_was_measured() {
    let Some(model) = pieces::model() else { return };
    holds(&World::with_model(model), &WORDS_AND_MEANING);
}

#[test]
fn our_reply_costs_fewer_tokens_than_other_forms() {
    // The same hits in each form.
    let args = [&["--mode", "lexical", "--economy"][..], &RANK_ALONE].concat();
    let report = asked(&World::new(), &args);
    let of_mode = &report["sets"][0]["modes"][0];
    let forms = of_mode["economy"].as_array().unwrap();
    let of = |form: &Value, name: &str| form[name].as_f64().unwrap();
    let (ours, others) = forms.split_first().unwrap();
    assert_eq!((&ours["form"], others.len()), (&Value::from("our reply"), 5));
    let all = of_mode["rows"].as_array().unwrap().last().unwrap();
    assert_eq!(ours["tokens"], all["tokens"], "one reply, counted twice alike");
    assert!(of(ours, "tokens") <= 500.0);
    for other in others {
        assert!(of(ours, "tokens_per_answer") < of(other, "tokens_per_answer"), "{forms:#?}");
    }
}

/// The pairs of the benchmark of which one must not stand above the other: query, its repository, the one that is
/// outdated or badly proven, the right ones.
fn twins(kind: &str) -> Vec<(String, String, String, Vec<String>)> {
    let queries: Vec<Value> =
        read("queries.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let qrels = read("qrels.tsv");
    let right = |query: &str| -> Vec<String> {
        let rows = qrels.lines().map(|row| row.split('\t').collect::<Vec<_>>());
        rows.filter(|row| row[0] == query).map(|row| row[1].to_owned()).collect()
    };
    let rows = read("stale.tsv");
    let pairs = rows.lines().map(|row| row.split_once('\t').unwrap());
    let told = |(query, wrong): (&str, &str)| {
        let asked = queries.iter().find(|asked| asked["id"] == query).unwrap();
        let text = |name: &str| asked[name].as_str().unwrap_or_default().to_owned();
        (text("type") == kind)
            .then(|| (text("text"), text("group"), wrong.to_owned(), right(query)))
    };
    pairs.filter_map(told).collect()
}

/// How often what is wrong stands above all that is right, or with nothing right beside it; and how often it is
/// shown at all.
fn wrong_above_right(world: &World, kind: &str) -> (usize, usize, usize) {
    let (mut above, mut shown) = (0, 0);
    let twins = twins(kind);
    for (query, group, wrong, right) in &twins {
        let args = [
            "search",
            query,
            "--repo",
            group,
            "--mode",
            "lexical",
            "--limit",
            "20",
            "--max-tokens",
            "8000",
            "--min-relevance",
            "0",
        ];
        let answer = world.asked(&args);
        let ids: Vec<&str> = answer["memories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|memory| memory["id"].as_str().unwrap())
            .collect();
        let place = |id: &String| ids.iter().position(|found| found == id);
        if let Some(at) = place(wrong) {
            shown += 1;
            above += usize::from(right.iter().filter_map(place).all(|best| at < best));
        }
    }
    (above, shown, twins.len())
}

/// Events about the wrong one of each pair, as somebody who met it would have written them.
fn said_about(kind: &str, event: impl Fn(&str, &[String]) -> Vec<Value>) -> String {
    let mut lines = String::new();
    for (number, (_, group, wrong, right)) in twins(kind).into_iter().enumerate() {
        for (at, mut event) in event(&wrong, &right).into_iter().enumerate() {
            event["id"] = format!("said-{kind}-{number}-{at}").into();
            event["timestamp"] = "2026-10-31T00:00:00Z".into();
            event["repo"] = group.as_str().into();
            lines.push_str(&format!("{event}\n"));
        }
    }
    lines
}

// S-LIFE-2, S-LIFE-4
#[test]
fn verdicts_set_outdated_and_contradictory_twins_right() {
    let about = |memory: &str, kind: &str, verdict: &str, session: usize| json!({"event_type": kind, "memory_id": memory, "verdict": verdict, "agent_id": "codex", "session_id": format!("s{session}")});
    let world = World::sharing();
    world.hand_write("corpus.jsonl", read("corpus.jsonl"));
    let (stale_before, _, stale_pairs) = wrong_above_right(&world, "stale");
    let (rival_before, _, rival_pairs) = wrong_above_right(&world, "evidence");
    assert_eq!((stale_pairs, rival_pairs), (34, 16), "as its README says");
    let verdicts = said_about("stale", |wrong, _| vec![about(wrong, "feedback", "stale", 1)])
        + &said_about("evidence", |wrong, right| {
            vec![
                about(wrong, "feedback", "failed", 1),
                about(wrong, "feedback", "failed", 2),
                about(&right[0], "feedback", "worked", 3),
            ]
        });
    world.hand_write("said.jsonl", verdicts);
    let (stale_after, _, _) = wrong_above_right(&world, "stale");
    let (rival_after, _, _) = wrong_above_right(&world, "evidence");
    println!(
        "stale above right {stale_before} -> {stale_after} of {stale_pairs}, rivals {rival_before} -> {rival_after} of {rival_pairs}"
    );
    // Measured: 1 and 0. The one left has two candidates, of which the worse is at the end of the scale
    // (S-RANK-3), where no factor reaches it.
    assert!(stale_after <= 1 && rival_after == 0, "{stale_after} {rival_after}");
    // Measured: 0 and 0; 9 and 1 while an older note with reports stayed first, 21 and 6 before the better of two notes came
    // first (S-RANK-10).
    assert!(
        stale_before <= 2 && rival_before <= 1,
        "before any verdict: {stale_before} {rival_before}"
    );
    // What is replaced is in no answer.
    let replaced = said_about("stale", |wrong, right| {
        let mut event = about(wrong, "supersede", "", 4);
        event["superseded_by"] = right[0].as_str().into();
        vec![event]
    });
    world.hand_write("said.jsonl", replaced);
    let (above, shown, _) = wrong_above_right(&world, "stale");
    assert_eq!((above, shown), (0, 0));
}
