//! Tests of what counts in a query: backticks, the maximum score, passages and the text nearby. Not here: equality
//! of scores with the `bm25` crate (`tests`).

use super::tests::{all, found, indexed, put_passages};
use super::*;

// S-RANK-1
#[test]
fn what_stands_in_backticks_counts_half_unless_it_is_all() {
    let index = indexed(["cannot find macro", "Foo is deprecated", "nothing of it"]);
    let score = |query: &str, doc: u32| {
        all(&index, query).iter().find(|scored| scored.doc == DocId(doc)).unwrap().score
    };
    let (plain, quoted) = (score("macro Foo", 1), score("macro `Foo`", 1));
    assert!((quoted - 0.5 * plain).abs() < 1e-6, "{quoted} {plain}");
    assert!((score("`Foo`", 1) - score("Foo", 1)).abs() < 1e-6);
    assert!((score("macro `Foo`", 0) - score("macro Foo", 0)).abs() < 1e-6);
}

// S-RANK-1
#[test]
fn no_score_reaches_its_upper_bound() {
    let mut index = indexed(["npm install", "docker build"]);
    put_passages(&mut index, 7, vec![Passage::from_text("npm ".repeat(4_000))]);
    let best = all(&index, "npm")[0].score;
    assert!(best < index.prepare("npm").utmost() && best > 0.9 * index.prepare("npm").utmost());
    assert!(index.prepare("npm zebra").utmost() > index.prepare("npm").utmost() * 1.5);
    assert!(index.prepare("the of").utmost().abs() < 1e-6);
}

// S-RANK-5
#[test]
fn a_document_is_as_good_as_its_best_passage_and_leaves_as_one() {
    let mut index = indexed(["alpha beta", "gamma"]);
    put_passages(
        &mut index,
        5,
        ["alpha beta", "delta", "delta alpha"].map(Passage::from_text).into(),
    );
    assert_eq!(found(&index, "delta"), [5]);
    assert_eq!(found(&index, "alpha beta"), [0, 5]);
    let scores: Vec<f32> = all(&index, "alpha beta").iter().map(|scored| scored.score).collect();
    assert!((scores[0] - scores[1]).abs() < 1e-6, "{scores:?}");
    let matched = index.prepare("beta delta").matched_terms(DocId(5));
    assert_eq!(matched.len(), 1, "no passage holds both: {matched:?}");
    assert_eq!(index.len(), 5);
    assert!(index.remove(DocId(5)) && found(&index, "delta").is_empty());
    assert_eq!(index.len(), 2);
}

// S-RANK-5
#[test]
fn what_is_nearby_counts_half() {
    let mut index = indexed([]);
    let passage =
        |own: &str, nearby: &str| Passage { nearby: nearby.into(), ..Passage::from_text(own) };
    put_passages(&mut index, 0, vec![passage("alpha beta", "gamma delta")]);
    put_passages(&mut index, 1, vec![passage("gamma delta", "alpha beta")]);
    assert_eq!(found(&index, "alpha"), [0, 1]);
    assert_eq!(found(&index, "gamma"), [1, 0]);
}

// S-RANK-6
#[test]
fn the_only_memory_covers_what_it_says_as_it_would_among_many() {
    let text = "verify ownership EACCES permission denied";
    let query = "npm ERR! EACCES: permission denied, mkdir";
    let alone = indexed([text]).prepare(query).overlap(DocId(0)).coverage;
    let others = (0..400).map(|number| format!("lesson {number} on something else altogether"));
    let texts: Vec<String> = std::iter::once(text.to_owned()).chain(others).collect();
    let among = indexed(texts.iter().map(String::as_str)).prepare(query).overlap(DocId(0)).coverage;
    assert!((0.15..0.4).contains(&alone) && (alone - among).abs() < 0.1, "{alone} {among}");
    assert!(indexed([text]).prepare("zebra").overlap(DocId(0)).coverage.abs() < 1e-6);
}
