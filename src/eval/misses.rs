//! Why a relevant document is not among the first five hits. Compares its score with that of the fifth hit,
//! part by part, and lists the query terms that each contains. Not here: how scores are computed. The parts are
//! those of `search --explain`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::EvalError;
use super::asker::{ModeRun, QueryOptions, engine_snapshot, hits};
use super::test_set::SetQuery;
use engine::ScopedQuery;
use index::lexical::DocId;
use reply::Explain;
use requests::Request;
use requests::{Flagged, Mode, SearchRequest};
use search::snapshot::Snapshot;

/// Requested hits: more than there are candidates.
const DEEP: usize = 100_000;
/// Number of candidates by words, and by meaning (S-RANK-3).
const CANDIDATES: usize = 200;
/// How long a query waits for its vector. The model is already loaded.
const VECTOR_WAIT_MS: u64 = 10_000;
/// The hits of a reply. A relevant document below them is missed.
const SHOWN: usize = requests::LIMIT_DEFAULT;

/// A document that was missed.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// The query's id.
    pub query: String,
    /// What it asks.
    pub text: String,
    /// The text of the query.
    pub document: String,
    /// Why, in a word.
    pub why: MissReason,
    /// The reason, in a word.
    pub missed: DocumentScores,
    /// The missed document.
    pub fifth: Option<DocumentScores>,
}

/// Why a document was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissReason {
    /// Neither its words nor its meaning are close enough to be ranked.
    NotACandidate,
    /// Other documents contain more of the query's words.
    OutScoredByWords,
    /// Other documents are closer in meaning.
    OutScoredByMeaning,
    /// It matches better than the fifth hit, but its age, success, source or repository lowered its rank.
    Prior,
    /// It is in another repository, or is held back because it reads like an instruction.
    Filtered,
    /// It is ranked, but its relevance is below the bar.
    Floor,
}

impl MissReason {
    /// All reasons.
    pub const ALL: [Self; 6] = [
        Self::NotACandidate,
        Self::OutScoredByWords,
        Self::OutScoredByMeaning,
        Self::Prior,
        Self::Filtered,
        Self::Floor,
    ];

    /// Returns the name of the reason in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotACandidate => "not-a-candidate",
            Self::OutScoredByWords => "out-scored-by-words",
            Self::OutScoredByMeaning => "out-scored-by-meaning",
            Self::Prior => "prior",
            Self::Filtered => "filtered",
            Self::Floor => "floor",
        }
    }
}

/// The scores of one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentScores {
    /// The document's id.
    pub document: String,
    /// Its rank among all candidates, from 1.
    pub rank: Option<usize>,
    /// Its score, part by part.
    pub score: Map<String, Value>,
    /// The query terms it contains, with the score of each.
    pub matched: Vec<(String, f32)>,
    /// The query terms it does not contain, with the number of memories that do.
    pub missing: Vec<(String, usize)>,
    /// The cosine of its vector and the query's, even if it is not a candidate.
    pub cosine: Option<f32>,
}

impl DocumentScores {
    fn part(&self, name: &str) -> f64 {
        self.score.get(name).and_then(Value::as_f64).unwrap_or(0.0)
    }

    pub(super) fn json(&self) -> Value {
        let matched: Map<String, Value> =
            self.matched.iter().map(|(term, score)| (term.clone(), json!(score))).collect();
        let missing: Map<String, Value> =
            self.missing.iter().map(|(term, count)| (term.clone(), json!(count))).collect();
        json!({
            "document": self.document, "rank": self.rank, "score": self.score,
            "matched": matched, "missing": missing, "cosine": self.cosine,
        })
    }
}

/// Explains the first missed document of each query.
pub(super) fn find_misses(run: &ModeRun<'_>) -> Result<Vec<Miss>, EvalError> {
    let snapshot = engine_snapshot(run.local)?;
    let mut misses = Vec::new();
    for (query, answer) in run.set.queries.iter().zip(run.answers) {
        // The miss with the best rank shows best what would have helped.
        let missed = query.relevant.iter().zip(&answer.relevant);
        let missed = missed.filter(|(_, judged)| judged.rank.is_none_or(|rank| rank > SHOWN));
        let nearest = missed.min_by_key(|(_, judged)| judged.rank.unwrap_or(usize::MAX));
        if let Some(((document, _), _)) = nearest {
            misses.push(explain(run, &snapshot, query, document)?);
        }
    }
    Ok(misses)
}

fn explain(
    run: &ModeRun<'_>,
    snapshot: &Snapshot,
    query: &SetQuery,
    document: &str,
) -> Result<Miss, EvalError> {
    let how = QueryOptions { mode: run.mode, limit: DEEP, explain: Explain::Components };
    let request = run.asker.request(query, how);
    let reply = run.asker.api().ask(&Request::Search(request.clone()))?;
    let ranked: Vec<(usize, &Map<String, Value>)> = hits(&reply)
        .iter()
        .filter_map(|hit| Some((run.asker.document_of(hit)?, hit.get("score")?.as_object()?)))
        .collect();
    let side = |number: Option<usize>| {
        let at = ranked.iter().position(|(other, _)| Some(*other) == number);
        let score = at.and_then(|at| ranked.get(at)).map(|(_, score)| (*score).clone());
        let id = number.and_then(|number| run.set.documents.get(number));
        DocumentScores {
            document: id.map(|document| document.id.clone()).unwrap_or_default(),
            rank: at.map(|at| at + 1),
            score: score.unwrap_or_default(),
            ..held(run, snapshot, &request.query, number)
        }
    };
    let missed = side(run.asker.number_of(document));
    let last_shown = ranked.get(..SHOWN.min(ranked.len())).and_then(<[_]>::last);
    let fifth = last_shown.map(|(number, _)| side(Some(*number)));
    let why = match (&fifth, missed.rank) {
        (Some(fifth), Some(_)) => behind(run.mode, &missed, fifth, &Ranges::over(&ranked)),
        _ => absent(run, &request, &missed, ranked.len())?,
    };
    let (query, text) = (query.id.clone(), query.text.clone());
    Ok(Miss { query, text, document: document.to_owned(), why, missed, fifth })
}

/// Returns why a ranked document is below another.
fn behind(
    mode: Mode,
    missed: &DocumentScores,
    fifth: &DocumentScores,
    ranges: &Ranges,
) -> MissReason {
    if missed.part("fit") > fifth.part("fit") {
        return MissReason::Prior;
    }
    if mode == Mode::Dense {
        return MissReason::OutScoredByMeaning;
    }
    let lead = |name: &str, range: f64| {
        let lead = fifth.part(name) - missed.part(name);
        if range > 0.0 { lead / range } else { 0.0 }
    };
    if lead("meaning", ranges.meaning) > lead("words", ranges.words) {
        MissReason::OutScoredByMeaning
    } else {
        MissReason::OutScoredByWords
    }
}

/// Returns why a document is not ranked.
fn absent(
    run: &ModeRun<'_>,
    request: &SearchRequest,
    missed: &DocumentScores,
    ranked: usize,
) -> Result<MissReason, EvalError> {
    let everywhere = SearchRequest {
        scope: requests::SearchScope::All(None),
        flagged: Flagged::Included,
        ..request.clone()
    };
    let number = run.asker.number_of(&missed.document);
    let reply = run.asker.api().ask(&Request::Search(everywhere))?;
    if hits(&reply).iter().any(|hit| run.asker.document_of(hit) == number) {
        return Ok(MissReason::Filtered);
    }
    // If the candidate list had room, the document was a candidate and was dropped later.
    let is_near = run.mode != Mode::Dense && !missed.matched.is_empty();
    Ok(if is_near && ranked < CANDIDATES { MissReason::Floor } else { MissReason::NotACandidate })
}

/// The score ranges of the two lists, which have different units.
struct Ranges {
    words: f64,
    meaning: f64,
}

impl Ranges {
    fn over(ranked: &[(usize, &Map<String, Value>)]) -> Self {
        let width = |name: &str| {
            let values = ranked.iter().filter_map(|(_, score)| score.get(name)?.as_f64());
            let start = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) =
                values.fold(start, |(low, high), value| (value.min(low), value.max(high)));
            (high - low).max(0.0)
        };
        Self { words: width("words"), meaning: width("meaning") }
    }
}

/// Finds the words and the meaning that a document shares with a query. Of a split document, the first part
/// counts.
fn held(
    run: &ModeRun<'_>,
    snapshot: &Snapshot,
    query: &str,
    number: Option<usize>,
) -> DocumentScores {
    let is_it = |id: &str| number.is_some() && run.corpus.documents.get(id).copied() == number;
    let place = snapshot.memories().iter().position(|memory| is_it(memory.id.as_str()));
    let Some(doc) = place.and_then(|place| u32::try_from(place).ok()) else {
        return DocumentScores::default();
    };
    let words = snapshot.lexical().prepare(query);
    let matched = words.matched_terms(DocId(doc));
    let is_held = |term: &str| matched.iter().any(|matched| &*matched.term == term);
    let missing = words.terms().filter(|term| !is_held(&term.term));
    DocumentScores {
        missing: missing.map(|term| (term.term.into_string(), term.documents)).collect(),
        matched: matched.iter().map(|matched| (matched.term.to_string(), matched.score)).collect(),
        cosine: cosine(run, snapshot, query, doc),
        ..DocumentScores::default()
    }
}

fn cosine(run: &ModeRun<'_>, snapshot: &Snapshot, query: &str, doc: u32) -> Option<f32> {
    if run.mode == Mode::Lexical {
        return None;
    }
    let wait = Duration::from_millis(VECTOR_WAIT_MS);
    let query = ScopedQuery { text: query, repos: Some(&[]) };
    let vector = run.local.engine().embed_query(&query, wait)?.ok()?.vector;
    snapshot.vectors()?.score(doc, &vector)
}
