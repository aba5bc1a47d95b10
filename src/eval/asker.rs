//! Asks the engine the same questions as agents do, and records the ranks of the relevant documents. Not here:
//! what a rank is worth (`measure`).

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde_json::Value;

use super::EvalError;
use super::corpus::EvalCorpus;
use super::measure::{ExaminedHit, QueryAnswer, RelevantDocument, as_f64, mean};
use super::test_set::{QueryScope, SetQuery, TestSet};
use crate::real_tokens::tokens;
use api::local::Local;
use engine::EngineStopped;
use event::RepoKey;
use guard::text::{Layout, neutralise};
use reply::{Explain, Reply};
use requests::Request;
use requests::{Api, ApiError, Mode, SearchRequest};
use search::Tier;
use search::snapshot::Snapshot;
use writer::exit::Exit;

/// Hits that are compared with each other.
const DIVERSE_HITS: usize = 5;

/// How often a query is asked until its vector is there.
const ASKED_MAX: usize = 3;

/// Asks the queries of one set.
pub struct Asker<'a> {
    api: &'a dyn Api,
    corpus: &'a EvalCorpus,
    /// The index of each document by its id.
    numbers: HashMap<&'a str, usize>,
    asking: AskOptions,
}

/// The options of all queries of a run.
#[derive(Debug, Clone, Copy)]
pub struct AskOptions {
    /// Where queries search.
    pub scope: QueryScope,
    /// Hits examined for each query.
    pub limit: usize,
    /// The lowest relevance of the best hit, in hundredths.
    pub min_relevance_percent: u8,
}

/// The options of one query.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryOptions {
    pub(super) mode: Mode,
    pub(super) limit: usize,
    pub(super) explain: Explain,
}

impl<'a> Asker<'a> {
    /// Prepares the queries of a set.
    #[must_use]
    pub fn new(
        api: &'a dyn Api,
        set: &'a TestSet,
        corpus: &'a EvalCorpus,
        asking: AskOptions,
    ) -> Self {
        let ids = set.documents.iter().map(|document| document.id.as_str());
        Self { api, corpus, numbers: ids.zip(0..).collect(), asking }
    }

    /// Asks one query twice: once as an agent does, for time and tokens, and once for all examined hits.
    ///
    /// # Errors
    /// [`ApiError`], for example if there is no model to rank by meaning.
    pub fn ask(&self, query: &SetQuery, mode: Mode) -> Result<QueryAnswer, ApiError> {
        let usual = QueryOptions { mode, limit: requests::LIMIT_DEFAULT, explain: Explain::Silent };
        let request = self.request(query, usual);
        let start = Instant::now();
        let reply = self.api.ask(&Request::Search(request))?;
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        let all = self.ask_for_all(query, mode)?;
        let found = self.documents(&all);
        let rank = |id: &str| {
            let number = self.numbers.get(id)?;
            found.iter().position(|found| found == number).map(|place| place + 1)
        };
        let judged =
            |(id, grade): &(String, u32)| RelevantDocument { grade: *grade, rank: rank(id) };
        let best_stale = || query.stale.iter().filter_map(|id| rank(id)).min();
        Ok(QueryAnswer {
            id: query.id.clone(),
            kind: query.kind.clone(),
            relevant: query.relevant.iter().map(judged).collect(),
            stale: (!query.stale.is_empty()).then(best_stale),
            depth: self.asking.limit,
            returned: hits(&reply).len(),
            right: self.right_tier(query, &reply),
            diversity: diversity(hits(&all)),
            tokens: tokens(&reply.text),
            micros,
            hits: both_tiers(&all).map(|hit| self.examined_hit(query, hit)).collect(),
        })
    }

    /// Asks for all examined hits. On a busy machine a vector may come too late for one search, which then finds by words
    /// alone; such an answer would count for another mode.
    fn ask_for_all(&self, query: &SetQuery, mode: Mode) -> Result<Reply, ApiError> {
        let (limit, explain) = (self.asking.limit, Explain::Components);
        for _ in 0..ASKED_MAX {
            let request = self.request(query, QueryOptions { mode, limit, explain });
            let all = self.api.ask(&Request::Search(request))?;
            if mode != Mode::Hybrid || has_meaning(&all) {
                return Ok(all);
            }
        }
        let message = format!(
            "{} was answered by words alone {ASKED_MAX} times, since its vector came too late; measure on a quieter machine, or with --mode lexical",
            query.id
        );
        Err(ApiError::Failed { exit: Exit::Unavailable, message })
    }

    /// Returns the best tier of a reply with a relevant document.
    fn right_tier(&self, query: &SetQuery, reply: &Reply) -> Option<Tier> {
        let tiers = [(Tier::Likely, "memories"), (Tier::Possible, "possible")];
        let is_right = |hit: &Value| self.examined_hit(query, hit).grade > 0;
        let found = tiers.into_iter().find(|(_, name)| hits_of(reply, name).iter().any(is_right));
        found.map(|(tier, _)| tier)
    }

    fn examined_hit(&self, query: &SetQuery, hit: &Value) -> ExaminedHit {
        let also = hit.get("also").and_then(Value::as_array).into_iter().flatten();
        let ids = hit.get("id").into_iter().chain(also).filter_map(Value::as_str);
        let documents: Vec<usize> =
            ids.filter_map(|id| self.corpus.documents.get(id).copied()).collect();
        let is_here = |id: &str| self.numbers.get(id).is_some_and(|at| documents.contains(at));
        let right = query.relevant.iter().filter(|(id, _)| is_here(id));
        ExaminedHit {
            grade: right.map(|(_, grade)| *grade).max().unwrap_or(0),
            likelihood: hit.get("likelihood").and_then(Value::as_f64).unwrap_or(0.0),
            score: hit.get("score").cloned().unwrap_or_default(),
        }
    }

    pub(super) fn request(&self, query: &SetQuery, how: QueryOptions) -> SearchRequest {
        // Every interface neutralises the text in this way before it asks.
        let text = neutralise(&query.text.replace("\r\n", "\n"), Layout::Block);
        let text = text.trim();
        let end = text.floor_char_boundary(requests::QUERY_BYTES_MAX);
        SearchRequest {
            query: text.get(..end).unwrap_or(text).into(),
            scope: self.scope_of(query),
            limit: how.limit,
            mode: how.mode,
            explain: how.explain,
            min_relevance_percent: self.asking.min_relevance_percent,
            ..SearchRequest::default()
        }
    }

    fn scope_of(&self, query: &SetQuery) -> requests::SearchScope {
        let repo = self.repo_of(query).map(RepoKey::to_string);
        match self.asking.scope {
            QueryScope::Store => requests::SearchScope::All(None),
            QueryScope::Group => requests::SearchScope::Only(repo),
            QueryScope::Here => requests::SearchScope::All(repo),
        }
    }

    /// Returns the repository of a query, if it has one.
    pub(super) fn repo_of(&self, query: &SetQuery) -> Option<&RepoKey> {
        let group = query.group.as_ref().filter(|_| self.asking.scope != QueryScope::Store)?;
        self.corpus.repos.get(group)
    }

    /// Returns the indexes of the documents found, best first, without repetition. Documents that a hit
    /// represents come right after it.
    fn documents(&self, reply: &Reply) -> Vec<usize> {
        let mut found = Vec::new();
        for hit in both_tiers(reply) {
            let also = hit.get("also").and_then(Value::as_array).into_iter().flatten();
            let ids = hit.get("id").into_iter().chain(also).filter_map(Value::as_str);
            for number in ids.filter_map(|id| self.corpus.documents.get(id)) {
                if !found.contains(number) {
                    found.push(*number);
                }
            }
        }
        found
    }

    /// Returns the index of a hit's document.
    pub(super) fn document_of(&self, hit: &Value) -> Option<usize> {
        self.corpus.documents.get(hit.get("id")?.as_str()?).copied()
    }

    /// Returns the index of the document with this id.
    pub(super) fn number_of(&self, id: &str) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    pub(super) fn api(&self) -> &dyn Api {
        self.api
    }
}

/// Tells whether a reply was ranked by meaning too, or has no hit that could show it.
fn has_meaning(reply: &Reply) -> bool {
    let meaning = |hit: &Value| hit.pointer("/score/meaning").is_some_and(Value::is_number);
    both_tiers(reply).next().is_none() || both_tiers(reply).any(meaning)
}

/// Returns the likely hits of a reply, which are shown in full.
pub(super) fn hits(reply: &Reply) -> &[Value] {
    hits_of(reply, "memories")
}

/// Returns how different the first five hits are ([`super::measure`]); `None` for fewer than two.
fn diversity(hits: &[Value]) -> Option<f64> {
    let words = |hit: &Value| -> HashSet<String> {
        let texts = ["context", "lesson"].map(|name| hit.get(name).and_then(Value::as_str));
        let texts =
            texts.into_iter().flatten().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
        texts.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
    };
    let sets: Vec<HashSet<String>> = hits.iter().take(DIVERSE_HITS).map(words).collect();
    let pairs = sets
        .iter()
        .enumerate()
        .flat_map(|(place, one)| sets.iter().skip(place + 1).map(move |other| (one, other)));
    mean(pairs.map(|(one, other)| {
        let (shared, all) = (one.intersection(other).count(), one.union(other).count());
        1.0 - as_f64(shared) / as_f64(all.max(1))
    }))
}

/// Returns the hits of one tier of a reply.
fn hits_of<'a>(reply: &'a Reply, tier: &str) -> &'a [Value] {
    reply.json.get(tier).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Iterates over the hits of both tiers of a reply, likely ones first.
fn both_tiers(reply: &Reply) -> impl Iterator<Item = &Value> {
    hits(reply).iter().chain(hits_of(reply, "possible"))
}

/// Returns the name of a mode, as on the command line and in reports.
#[must_use]
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Lexical => "lexical",
        Mode::Dense => "dense",
        Mode::Hybrid => "hybrid",
    }
}

/// The answers of a set in one mode.
pub(super) struct ModeRun<'a> {
    pub(super) local: &'a Local,
    pub(super) asker: &'a Asker<'a>,
    pub(super) set: &'a TestSet,
    pub(super) corpus: &'a EvalCorpus,
    pub(super) answers: &'a [QueryAnswer],
    pub(super) mode: Mode,
}

/// Returns a snapshot of the engine.
pub(super) fn engine_snapshot(local: &Local) -> Result<Snapshot, EvalError> {
    let stopped = |error: EngineStopped| ApiError::Failed {
        exit: Exit::Internal,
        message: error.to_string(),
    };
    Ok(local.engine().snapshot().map_err(stopped)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // S-EVAL-4
    #[test]
    fn an_answer_by_words_alone_is_none_of_meaning() {
        let reply = |meaning: Value| {
            let hit = json!({ "id": "m", "score": { "words": 1.0, "meaning": meaning } });
            Reply::new(String::new(), json!({ "memories": [hit], "possible": [] }))
        };
        assert!(has_meaning(&reply(json!(0.5))) && !has_meaning(&reply(Value::Null)));
        let nothing = json!({ "memories": [], "possible": [] });
        assert!(has_meaning(&Reply::new(String::new(), nothing)), "nothing to tell it by");
    }
}
