//! The cost of an answer for an agent: the tokens of our reply, compared with the whole log, with full notes of the
//! same hits, and with the same hits in other tools' formats. Not here: those formats (`forms`), what a token
//! is (`real_tokens`).
//!
//! Every query costs tokens, even one without an answer. A format answers a query if it shows at least part of
//! one relevant document. Tokens per answer are all tokens divided by the number of answered queries.

mod forms;

use requests::Request;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::EvalError;
use super::asker::{ModeRun, QueryOptions, engine_snapshot, hits};
use super::corpus::EvalCorpus;
use super::measure::as_f64;
use super::test_set::SetQuery;
use crate::real_tokens::tokens;
use event::clean::clean;
use event::{Event, RepoKey, codec};
use reply::{Explain, Reply};
use search::snapshot::Snapshot;

/// A format in which memories can be given to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputForm {
    /// Our reply, unchanged.
    Reply,
    /// The log of the query's repository, or all logs if it has none. This is what an agent without search
    /// reads.
    WholeLog,
    /// The lines of the hits, as in the log.
    FullNotes,
    /// The hits in the format of server-memory.
    ServerMemory,
    /// The hits in the format of mem0.
    Mem0,
    /// The hits in the format of basic-memory.
    BasicMemory,
}

impl OutputForm {
    /// All formats, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Reply,
        Self::WholeLog,
        Self::FullNotes,
        Self::ServerMemory,
        Self::Mem0,
        Self::BasicMemory,
    ];

    /// Returns its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reply => "our reply",
            Self::WholeLog => "the whole log",
            Self::FullNotes => "five full notes",
            Self::ServerMemory => "in the form of server-memory",
            Self::Mem0 => "in the form of mem0",
            Self::BasicMemory => "in the form of basic-memory",
        }
    }
}

/// The totals of a format over some queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnswerCost {
    /// The number of queries.
    pub queries: usize,
    /// The number of queries with a relevant document.
    pub answerable: usize,
    /// The number of those that were answered.
    pub answered: usize,
    /// The tokens of all replies.
    pub tokens: usize,
}

impl AnswerCost {
    /// Returns the mean tokens of a reply; `None` without queries.
    #[must_use]
    pub fn mean_tokens(&self) -> Option<f64> {
        ratio(self.tokens, self.queries)
    }

    /// Returns the share of answerable queries that were answered, 0 to 1; `None` if none is answerable.
    #[must_use]
    pub fn share_answered(&self) -> Option<f64> {
        ratio(self.answered, self.answerable)
    }

    /// Returns all tokens divided by the number of answered queries; `None` if none was answered.
    #[must_use]
    pub fn tokens_per_answer(&self) -> Option<f64> {
        ratio(self.tokens, self.answered)
    }

    /// Adds the reply to one query with these relevant documents.
    fn add(&mut self, text: &str, shown: &BTreeSet<usize>, right: &BTreeSet<usize>) {
        self.queries += 1;
        self.answerable += usize::from(!right.is_empty());
        self.answered += usize::from(!right.is_disjoint(shown));
        self.tokens += tokens(text);
    }
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| as_f64(part) / as_f64(whole))
}

/// Computes the cost of each format over the queries of a run.
pub(super) fn count_costs(run: &ModeRun<'_>) -> Result<Vec<(OutputForm, AnswerCost)>, EvalError> {
    let snapshot = engine_snapshot(run.local)?;
    let store = Written::read(&snapshot, run.corpus);
    let mut costs: BTreeMap<OutputForm, AnswerCost> = BTreeMap::new();
    let usual =
        QueryOptions { mode: run.mode, limit: requests::LIMIT_DEFAULT, explain: Explain::Silent };
    for query in &run.set.queries {
        let reply = run.asker.api().ask(&Request::Search(run.asker.request(query, usual)))?;
        let right: BTreeSet<usize> =
            query.relevant.iter().filter_map(|(id, _)| run.asker.number_of(id)).collect();
        for shape in OutputForm::ALL {
            let (text, shown) = store.handed(shape, &reply, run, query);
            costs.entry(shape).or_default().add(&text, &shown, &right);
        }
    }
    Ok(costs.into_iter().collect())
}

/// The content of the store, as an agent without search would read it.
struct Written<'a> {
    events: HashMap<&'a str, Event>,
    /// The log of each repository, and the documents in it.
    logs: BTreeMap<&'a RepoKey, (String, BTreeSet<usize>)>,
    all: (String, BTreeSet<usize>),
}

impl<'a> Written<'a> {
    fn read(snapshot: &'a Snapshot, corpus: &EvalCorpus) -> Self {
        let mut store =
            Self { events: HashMap::new(), logs: BTreeMap::new(), all: Default::default() };
        for memory in snapshot.memories().iter() {
            let id = memory.id.as_str();
            let event = memory.event();
            let (line, document) = (line(&event), corpus.documents.get(id));
            store.events.insert(id, event);
            for log in [&mut store.all, store.logs.entry(&memory.repo).or_default()] {
                log.0.push_str(&line);
                log.1.extend(document);
            }
        }
        store
    }

    /// Returns what an agent would read in a format, and the documents it shows.
    fn handed(
        &self,
        shape: OutputForm,
        reply: &Reply,
        run: &ModeRun<'_>,
        query: &SetQuery,
    ) -> (String, BTreeSet<usize>) {
        let documents = |ids: Vec<&str>| -> BTreeSet<usize> {
            ids.iter().filter_map(|id| run.corpus.documents.get(*id)).copied().collect()
        };
        let ids = hits(reply).iter().filter_map(|hit| hit.get("id")?.as_str());
        let found: Vec<&Event> = ids.filter_map(|id| self.events.get(id)).collect();
        let text = match shape {
            OutputForm::Reply => {
                let cited = found.iter().filter(|event| is_cited(&reply.text, event));
                let cited = cited.map(|event| event.id.as_str()).collect();
                return (reply.text.clone(), documents(cited));
            }
            OutputForm::WholeLog => {
                let log = run.asker.repo_of(query).and_then(|repo| self.logs.get(repo));
                return log.unwrap_or(&self.all).clone();
            }
            OutputForm::FullNotes => found.iter().map(|event| line(event)).collect(),
            OutputForm::ServerMemory => forms::server_memory(&found),
            OutputForm::Mem0 => forms::mem0(&found),
            OutputForm::BasicMemory => forms::basic_memory(&found),
        };
        (text, documents(found.iter().map(|event| event.id.as_str()).collect()))
    }
}

fn line(event: &Event) -> String {
    codec::encode(&clean(event.clone())).as_str().to_owned()
}

/// Tells whether a reply shows an event. Each of its lines ends with the event's citation.
fn is_cited(text: &str, event: &Event) -> bool {
    let end = format!(" · {}", event.id.short());
    text.lines().any(|line| line.ends_with(&end))
}

#[cfg(test)]
mod tests;
