//! Writes, for each query and each of its best candidates, the numbers that the program itself computes, and whether
//! the candidate is right: what a likelihood or a rank is fitted on. Not here: the numbers (`search`), fitting.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::EvalError;
use super::asker::{ModeRun, QueryOptions, engine_snapshot, mode_name};
use super::test_set::{QueryScope, SetQuery};
use engine::ScopedQuery;
use event::Timestamp;
use index::embed::worker::QueryEmbedding;
use index::lexical::SharedRarity;
use reply::Explain;
use requests::{ApiError, Mode};
use search::snapshot::Snapshot;
use search::{Filter, Hit, Query, Score, Tiers, WordMatching};
use writer::exit::Exit;

/// The names of the numbers, in order: those of the likelihood (S-RANK-6), the fit and its words, the rarity of the
/// words that query and memory share, and the size of the memory.
const NAMES: [&str; 9] =
    ["covered", "rarity", "terms", "meaning", "tokens", "fit", "words", "shared", "bytes"];

/// How long a query waits for its vector. The model is already loaded.
const VECTOR_WAIT_MS: u64 = 10_000;

/// How the queries of a set are asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeatureOptions {
    pub(super) scope: QueryScope,
    pub(super) now: Timestamp,
    pub(super) candidates_max: usize,
}

/// Returns the first line of a file, which names the numbers.
pub(super) fn names_line() -> String {
    format!("{}\n", json!({ "features": NAMES }))
}

/// Returns one line of JSON for each query, in the order of the set.
pub(super) fn query_lines(run: &ModeRun<'_>, options: FeatureOptions) -> Result<String, EvalError> {
    let snapshot = engine_snapshot(run.local)?;
    let mut text = String::new();
    for query in &run.set.queries {
        let _ = writeln!(text, "{}", query_row(run, &snapshot, query, options)?);
    }
    Ok(text)
}

fn query_row(
    run: &ModeRun<'_>,
    snapshot: &Snapshot,
    query: &SetQuery,
    FeatureOptions { scope, now, candidates_max }: FeatureOptions,
) -> Result<Value, EvalError> {
    let how = QueryOptions { mode: run.mode, limit: 1, explain: Explain::Silent };
    let request = run.asker.request(query, how);
    let text: &str = &request.query;
    let embedding = embedding(run, text)?;
    let here = run.asker.repo_of(query).cloned();
    let repos = here.clone().filter(|_| scope == QueryScope::Group);
    let asked = Query {
        text,
        vector: embedding.as_ref().map(|embedding| embedding.vector.as_slice()),
        tokens: embedding.as_ref().map_or(&[], |embedding| embedding.tokens.as_slice()),
        words: if run.mode == Mode::Dense { WordMatching::Off } else { WordMatching::On },
        filter: Filter { repos: repos.map(|repo| [repo].into()), ..Filter::default() },
        here,
        min_likelihood: 0.0,
        tiers: Tiers::Both,
        ..Query::default()
    };
    let found = search::find(snapshot, &asked, now, candidates_max);
    let words = snapshot.lexical().prepare(text);
    let shared = words.shared(text, "");
    let candidates = found.hits.iter().map(|hit| candidate_row(run, query, &shared, hit));
    Ok(json!({
        "set": run.set.name, "mode": mode_name(run.mode), "query": query.id, "kind": query.kind,
        "split": query.split, "group": query.group, "relevant": query.relevant.len(),
        "possible": words.rarity_possible(), "candidates": candidates.collect::<Vec<_>>(),
    }))
}

fn candidate_row(
    run: &ModeRun<'_>,
    query: &SetQuery,
    shared: &SharedRarity<'_>,
    hit: &Hit,
) -> Value {
    let ids = std::iter::once(&hit.memory).chain(&hit.duplicates).map(|memory| &memory.id);
    let mut documents = ids.filter_map(|id| run.corpus.documents.get(id.as_str()));
    let is_right = documents.any(|document| {
        query.relevant.iter().any(|(id, _)| run.asker.number_of(id) == Some(*document))
    });
    let Score { covered, rarity, terms, dense, late, fit, lexical, .. } = hit.score;
    let shared = shared.with(&hit.memory.index_text());
    json!({
        "id": hit.memory.id.as_str(), "right": is_right, "total": hit.score.total,
        "likelihood": hit.score.likelihood,
        "x": (covered, rarity, terms, dense, late, fit, lexical, shared, hit.memory.record_bytes()),
    })
}

/// Returns the vector of a query; `None` where the mode needs none.
fn embedding(run: &ModeRun<'_>, text: &str) -> Result<Option<QueryEmbedding>, EvalError> {
    if run.mode == Mode::Lexical {
        return Ok(None);
    }
    let wait = Duration::from_millis(VECTOR_WAIT_MS);
    let answer = run.local.engine().embed_query(&ScopedQuery { text, repos: Some(&[]) }, wait);
    let why = match answer {
        Some(Ok(embedding)) => return Ok(Some(embedding)),
        Some(Err(error)) => error.to_string(),
        None => "no embedding model in this build".to_owned(),
    };
    let message = format!("failed to embed a query: {why}; --mode lexical needs no model");
    Err(ApiError::Failed { exit: Exit::Unavailable, message }.into())
}
