//! Measuring how well it recalls, as people run it: on a set whose numbers were worked out by hand, and on
//! small files in the forms of two published sets. Not here: what the numbers are on real sets.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::pieces;
use crate::world::{Ran, World, agent_knowledge_eval, bytes_under, run};

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/eval").join(name);
    path.to_str().unwrap().to_owned()
}

fn measured(world: &World, args: &[&str]) -> Value {
    // What is measured here are ranks; that nothing is answered where nothing fits is measured elsewhere.
    let all = [&["--min-relevance", "0", "--json"], args].concat();
    world.agent_knowledge_eval(&all).json()
}

/// The row of a type in the first mode of the first set.
fn row<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let rows = report["sets"][0]["modes"][0]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["type"] == kind).unwrap_or_else(|| panic!("{kind}: {report}"))
}

#[track_caller]
fn near(row: &Value, expected: &[(&str, f64)]) {
    for (measure, expected) in expected {
        let found = row[measure].as_f64().unwrap_or_else(|| panic!("{measure}: {row}"));
        assert!((found - expected).abs() < 1e-9, "{measure}: {found}, {expected} expected");
    }
}

/// A copy of the small set in which a file may be another.
fn changed(world: &World, file: &str, change: impl Fn(&str) -> String) -> String {
    let folder = world.path("tiny");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in bytes_under(Path::new(&fixture("tiny"))) {
        let text = String::from_utf8(bytes).unwrap();
        let text = if name == Path::new(file) { change(&text) } else { text };
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

// S-EVAL-1
#[test]
fn numbers_of_a_small_set_are_those_worked_out_by_hand() {
    let world = World::new();
    let report = measured(&world, &[&fixture("tiny"), "--mode", "lexical"]);
    let set = &report["sets"][0];
    assert_eq!(
        (&set["set"], &set["documents"], &set["scope"]),
        (&json!("tiny"), &json!(4), &json!("store"))
    );
    // Ranks of what is relevant: q1 1; q2 2 (graded 2) and 1; q3 1; q4 2, behind the stale one; q7 none.
    // q5 finds nothing and q6 something, though neither has an answer.
    let graded = (1.0 + 2.0 / 3_f64.log2()) / (2.0 + 1.0 / 3_f64.log2());
    let second = 1.0 / 3_f64.log2();
    let all = row(&report, "all");
    near(
        all,
        &[
            ("queries", 7.0),
            ("R@1", 0.5),
            ("R@5", 0.8),
            ("R@10", 0.8),
            ("hit@1", 0.6),
            ("MRR", 0.7),
            ("nDCG@10", (1.0 + graded + 1.0 + second) / 5.0),
            ("answered", 0.8),
            ("false", 0.5),
            ("stale", 0.5),
        ],
    );
    assert!(
        all["tokens"].as_f64().unwrap() > 5.0 && all["p99_ms"].as_f64().unwrap() > 0.0,
        "{all}"
    );
    near(row(&report, "stale"), &[("R@1", 0.0), ("R@5", 1.0), ("MRR", 0.5), ("stale", 1.0)]);
    near(row(&report, "unanswerable"), &[("queries", 2.0), ("false", 0.5)]);
    assert_eq!(row(&report, "unanswerable")["R@5"], Value::Null);
    let table = world
        .agent_knowledge_eval(&[&fixture("tiny"), "--mode", "lexical", "--min-relevance", "0"])
        .done();
    let row = table.lines().find(|line| line.starts_with("  all ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().take(13).collect();
    assert_eq!(
        cells,
        [
            "all", "7", "0.5000", "0.8000", "0.8000", "0.6000", "0.7000", "0.6981", "0.8000",
            "0.5000", "1.6000", "1.0000", "0.5000"
        ]
    );
}

#[test]
fn a_split_and_a_scope_change_what_is_asked_and_where() {
    let world = World::new();
    let tiny = fixture("tiny");
    let tune = measured(&world, &[&tiny, "--mode", "lexical", "--split", "tune"]);
    near(row(&tune, "all"), &[("queries", 3.0), ("R@1", 0.75), ("false", 0.0)]);
    // In its own group, what q6 finds elsewhere is not there.
    let group = measured(&world, &[&tiny, "--mode", "lexical", "--scope", "group"]);
    near(row(&group, "all"), &[("R@5", 0.8), ("false", 0.0)]);
    assert_eq!(group["sets"][0]["scope"], "group");
    let here = measured(&world, &[&tiny, "--mode", "lexical", "--scope", "here", "--limit", "5"]);
    near(row(&here, "all"), &[("R@5", 0.8), ("false", 0.5)]);
    assert_eq!(row(&here, "all")["R@10"], Value::Null, "only five hits were looked at");
}

// S-EVAL-2
#[test]
fn a_run_is_compared_query_by_query_with_one_that_was_saved() {
    let world = World::new();
    let saved = world.path("saved.json").to_str().unwrap().to_owned();
    let (tiny, words) = (fixture("tiny"), ["--mode", "lexical"]);
    measured(&world, &[&[&*tiny, "--save", &saved], &words[..]].concat());
    let again = measured(&world, &[&[&*tiny, "--against", &saved], &words[..]].concat());
    let rows = again["sets"][0]["modes"][0]["against"].as_array().unwrap();
    let all = rows.iter().find(|row| row["type"] == "all").unwrap();
    assert_eq!(all["queries"], 7);
    assert_eq!(all["MRR"], json!({"mean": 0.0, "low": 0.0, "high": 0.0, "sure": false}));
    // From where it is asked may be what is compared: a boost of its own repository, say.
    let args = [&*tiny, "--against", &saved, "--scope", "group"];
    let group = measured(&world, &[&args, &words[..]].concat());
    let rows = group["sets"][0]["modes"][0]["against"].as_array().unwrap();
    let fewer = rows.iter().find(|row| row["type"] == "unanswerable").unwrap();
    assert_eq!(fewer["false"]["mean"], -0.5, "{fewer}");
    // A difference that is the same for every query is one that no resampling hides.
    let text = std::fs::read_to_string(&saved).unwrap();
    let worse = text.replace("[1,1]", "[1,3]").replace("[1,2]", "[1,4]").replace("[2,2]", "[2,3]");
    std::fs::write(&saved, worse.replace("[1,null]", "[1,1]")).unwrap();
    let args = [&[&*tiny, "--against", &saved, "--split", "tune"], &words[..]].concat();
    let table = world.agent_knowledge_eval(&args);
    assert_eq!(table.exit, Some(65), "other queries are another set: {}", table.messages);
    let args = [&[&*tiny, "--against", &saved], &words[..]].concat();
    let table = world.agent_knowledge_eval(&args).done();
    let plain = table.lines().filter(|line| line.starts_with("  plain ")).nth(1).unwrap();
    assert!(plain.contains("+0.6667 [+0.667 +0.667]*"), "{table}");
}

#[test]
fn a_miss_is_explained_beside_the_hit_that_took_its_place() {
    let world = World::new();
    let report = measured(&world, &[&fixture("tiny"), "--mode", "lexical", "--explain-misses"]);
    let misses = &report["sets"][0]["modes"][0]["misses"];
    assert_eq!(misses["reasons"], json!({"not-a-candidate": 1}));
    let miss = &misses["queries"][0];
    assert_eq!((&miss["query"], &miss["document"]), (&json!("q7"), &json!("d2")));
    // Six better fits before the one that is right, and one with more of the words elsewhere.
    let more = |text: &str| {
        let other =
            |n| format!("{{\"id\":\"x{n}\",\"text\":\"penguin colony, zebra penguin {n}\"}}\n");
        let others: String = (0..6).map(other).collect();
        format!(
            "{}\n{others}",
            text.replace(
                "zebra stripes repeat",
                "zebra stripes repeat, one penguin in a long row of them"
            )
        )
    };
    let folder = changed(&world, "corpus.jsonl", more);
    let report = measured(&world, &[&folder, "--mode", "lexical", "--explain-misses=1"]);
    let misses = &report["sets"][0]["modes"][0]["misses"];
    let miss =
        misses["queries"].as_array().unwrap().iter().find(|miss| miss["query"] == "q7").unwrap();
    assert_eq!(
        (&miss["why"], &miss["missed"]["rank"]),
        (&json!("out-scored-by-words"), &json!(7)),
        "{miss}"
    );
    assert!(
        miss["missed"]["matched"]["penguin"].as_f64()
            < miss["fifth"]["matched"]["penguin"].as_f64()
    );
    assert_eq!(miss["fifth"]["rank"], 5);
    // Asked only in its group, what is right elsewhere is filtered out.
    let elsewhere = changed(&world, "qrels.tsv", |text| text.replace("q1\td1", "q1\td3"));
    let queries = Path::new(&elsewhere).join("queries.jsonl");
    let text = std::fs::read_to_string(&queries).unwrap().replace("zebra handshake", "walrus");
    std::fs::write(queries, text).unwrap();
    let args = [&*elsewhere, "--mode", "lexical", "--scope", "group", "--explain-misses"];
    let text = world.agent_knowledge_eval(&args).done();
    assert!(text.contains("q1: walrus\n    filtered\n    missed d3 (not ranked)"), "{text}");
}

#[test]
fn the_cost_of_an_answer_is_shown_beside_alternatives() {
    let world = World::new();
    let tiny = fixture("tiny");
    let args = ["--mode", "lexical", "--economy"];
    let cost =
        |report: &Value, place: usize| report["sets"][0]["modes"][0]["economy"][place].clone();
    let store = measured(&world, &[&[&*tiny], &args[..]].concat());
    let (ours, log) = (cost(&store, 0), cost(&store, 1));
    assert_eq!((&ours["form"], &log["form"]), (&json!("our reply"), &json!("the whole log")));
    // Seven queries, five of them with an answer; words find that of four, and the log holds it always.
    near(&ours, &[("answered", 0.8), ("tokens", row(&store, "all")["tokens"].as_f64().unwrap())]);
    near(&ours, &[("tokens_per_answer", ours["tokens"].as_f64().unwrap() * 7.0 / 4.0)]);
    near(
        &log,
        &[("answered", 1.0), ("tokens_per_answer", log["tokens"].as_f64().unwrap() * 7.0 / 5.0)],
    );
    // Asked from a repository, only its own log would be read.
    let here = measured(&world, &[&[&*tiny, "--scope", "here"], &args[..]].concat());
    assert!(cost(&here, 1)["tokens"].as_f64() < log["tokens"].as_f64());
    near(&cost(&here, 1), &[("answered", 1.0)]);
    let text = world.agent_knowledge_eval(&[&[&*tiny], &args[..]].concat()).done();
    assert!(text.contains("\n  in the form of mem0 "), "{text}");
}

#[test]
fn published_files_are_read_in_their_own_forms() {
    let world = World::new();
    let report = measured(&world, &[&fixture("longmemeval.json"), "--mode", "lexical"]);
    assert_eq!(
        (&report["sets"][0]["scope"], &report["sets"][0]["documents"]),
        (&json!("group"), &json!(4))
    );
    near(row(&report, "all"), &[("queries", 2.0), ("R@1", 1.0), ("false", 0.0)]);
    let pool =
        measured(&world, &[&fixture("longmemeval.json"), "--mode", "lexical", "--scope", "store"]);
    assert_eq!(pool["sets"][0]["documents"], 3);
    let ran = world.agent_knowledge_eval(&[&fixture("locomo.json"), "--mode", "lexical", "--json"]);
    assert!(ran.messages.contains("1 questions name no existing turn"), "{}", ran.messages);
    let report: Value = serde_json::from_str(&ran.done()).unwrap();
    near(row(&report, "all"), &[("queries", 3.0), ("R@5", 1.0)]);
    near(row(&report, "single-hop"), &[("R@1", 1.0)]);
}

#[test]
fn eval_leaves_nothing_and_spares_the_users_store() {
    let world = World::new();
    let temporary = world.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = world.command(agent_knowledge_eval());
    command.env("TMPDIR", &temporary).args([&fixture("tiny")]);
    let ran = run(&mut command, b"");
    assert!(ran.messages.contains("words only, without meaning: "), "{}", ran.messages);
    assert!(ran.done().contains("\nlexical "));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    assert!(!world.store().exists());
}

#[test]
fn what_cannot_be_measured_is_refused_with_the_remedy() {
    let world = World::new();
    let tiny = fixture("tiny");
    let bare = |text: &str| text.replace("\"group\":\"alpha\",", "");
    let homeless = changed(&world, "queries.jsonl", bare);
    let not_saved = world.path("not-saved.json").to_str().unwrap().to_owned();
    std::fs::write(&not_saved, "{}").unwrap();
    let check = |args: &[&str], exit: i32, expected: &str| {
        let Ran { exit: found, output, messages } = world.agent_knowledge_eval(args);
        assert_eq!((found, output.as_str()), (Some(exit), ""), "{args:?} {messages}");
        assert!(messages.contains(expected), "{args:?}: {messages}");
    };
    check(&[], 64, "<PATH>");
    check(&["nowhere"], 1, "there is no file or folder nowhere");
    check(&[&tiny, "--mode", "fuzzy"], 64, "lexical");
    check(
        &[&tiny, "--limit", "0", "--seed", "x"],
        65,
        "--limit: must be a whole number from 1 to 20",
    );
    check(&[&tiny, "--limit", "0", "--seed", "x"], 65, "--seed: must be a whole number");
    check(&[&tiny, "--now", "soon"], 65, "--now: must be a time such as");
    check(&[&tiny, "--explain-misses=many"], 65, "--explain-misses: must be a whole number");
    check(&[&homeless, "--scope", "group"], 65, "--scope: group needs a group for every query");
    check(&[&fixture("longmemeval.json"), "--split", "test"], 65, "--split: test leaves no query");
    check(&[&tiny, "--mode", "dense"], 69, "--mode lexical needs no model");
    check(&[&tiny, "--against", &not_saved], 65, "not-saved.json: format: must be");
    check(&[&tiny, "--against", "nowhere.json"], 74, "nowhere.json");
    check(&[&tiny, "--save", "no/such/folder", "--mode", "lexical"], 74, "failed to write");
    let broken = changed(&world, "corpus.jsonl", |text| {
        text.replace("\"lesson\":", "\"mood\":7,\"lesson\":")
    });
    check(&[&broken], 65, "corpus.jsonl:5: mood: ");
}

#[test]
fn model_ranks_by_meaning_and_a_second_run_embeds_nothing() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    let folder =
        changed(&world, "queries.jsonl", |text| text.replace("penguin", "horse with a pattern"));
    let modes = |report: &Value| -> Vec<(String, f64)> {
        let modes = report["sets"][0]["modes"].as_array().unwrap().iter();
        let all = modes.map(|of_mode| {
            let last = of_mode["rows"].as_array().unwrap().last().unwrap().clone();
            (of_mode["mode"].as_str().unwrap().to_owned(), last["R@5"].as_f64().unwrap())
        });
        all.collect()
    };
    let first = modes(&measured(&world, &[&folder]));
    let names: Vec<&str> = first.iter().map(|(mode, _)| mode.as_str()).collect();
    assert_eq!(names, ["lexical", "dense", "hybrid"]);
    assert!(first[2].1 > first[0].1, "meaning finds what words do not: {first:?}");
    let vectors = bytes_under(&world.path("cache/eval"));
    assert_eq!(
        vectors.values().filter(|bytes| bytes.len() > 1_000).count(),
        2,
        "{:?}",
        vectors.keys()
    );
    assert_eq!(modes(&measured(&world, &[&folder])), first);
    assert_eq!(bytes_under(&world.path("cache/eval")), vectors, "a vector was made again");
}
