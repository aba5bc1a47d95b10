//! The vector of a query, or why there is none. The model computes it while words are searched. Not here: embedding
//! (`index::embed`), searching, the state of the model (`look::status`).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::local::{Local, repositories, snapshots};
use engine::{EngineView, ScopedQuery};
use event::RepoKey;
use index::embed::model::{FetchState, fetch_state};
use index::embed::worker::{PendingQuery, QueryEmbedding, QueryError};
use index::embed::{EmbedError, SpaceId};
use index::late::QueryToken;
use place::RepositoryWord;
use reply::ReplyReader;
use requests::{ApiError, Explain, Mode};
use search::snapshot::Snapshot;
use writer::exit::Exit;

/// How often a query is sent again because another model began to answer: it takes two changes in a moment to need more.
const SENT_AGAIN_MAX: u32 = 2;

/// How often a waiting search checks whether everything is embedded.
const EMBED_LOOK_MS: u64 = 10;

/// What the model answers to a query.
type EmbeddingAnswer = Result<QueryEmbedding, QueryError>;

/// A text whose vector is wanted, and the repositories that it may tell of.
#[derive(Clone, Copy)]
pub(super) struct VectorQuery<'a> {
    pub(super) local: &'a Local,
    pub(super) text: &'a str,
    /// The repository that the request names, as it was written.
    pub(super) named: Option<&'a str>,
    /// Those of filters in the query.
    pub(super) filters: &'a [String],
}

/// A query that may be with the model.
pub(super) enum PendingVector {
    /// The search needs no vector.
    NotAsked,
    /// This build has no model.
    NoModel,
    /// The model is working on it, or could not start.
    Asked(Result<PendingQuery, QueryError>),
    /// The model has answered.
    Answered(EmbeddingAnswer),
}

/// The vector of a query, and a notice where there is none.
#[derive(Default)]
pub(super) struct QueryMeaning {
    embedding: Option<QueryEmbedding>,
    pub(super) notice: Option<String>,
}

impl<'a> VectorQuery<'a> {
    /// Asks the model for the vector. The caller can search words meanwhile.
    pub(super) fn send(self, mode: Mode) -> PendingVector {
        if mode == Mode::Lexical || self.text.is_empty() {
            return PendingVector::NotAsked;
        }
        let engine = &self.local.core.engine;
        // A model of this machine sees everything, so that nobody waits to learn what a name means.
        let repos = if engine.asks_others() {
            let view = self.names().next().and_then(|_| snapshots::answerable(self.local).ok());
            let Some(repos) = self.asked_repos(view.as_ref().map(|view| &view.snapshot)) else {
                return PendingVector::Asked(Err(QueryError::Withheld));
            };
            Some(repos)
        } else {
            None
        };
        let query = ScopedQuery { text: self.text, repos: repos.as_deref() };
        let patience = &self.local.patience;
        let asked = engine.begin_query(&query, patience.query, patience.model);
        asked.map_or(PendingVector::NoModel, PendingVector::Asked)
    }

    /// Asks the model once more; nothing is sent where it could not be told which repositories the query may tell of.
    fn send_again(self, snapshot: &Snapshot) -> Option<EmbeddingAnswer> {
        let Some(repos) = self.asked_repos(Some(snapshot)) else {
            return Some(Err(QueryError::Withheld));
        };
        let query = ScopedQuery { text: self.text, repos: Some(&repos) };
        self.local.core.engine.embed_query(&query, self.local.patience.query)
    }

    fn names(self) -> impl Iterator<Item = &'a str> {
        self.named.into_iter().chain(self.filters.iter().map(String::as_str))
    }

    /// Returns the keys of the repositories that the query may tell of: the caller's, and whatever each name can mean in a snapshot.
    /// `None` where that is not clear.
    pub(super) fn asked_repos(self, snapshot: Option<&Snapshot>) -> Option<Vec<RepoKey>> {
        let mut repos: Vec<RepoKey> = self.local.here.iter().cloned().collect();
        for name in self.names() {
            let snapshot = snapshot?;
            repos.extend(
                snapshot.keys_of(&repositories::named_repo(self.local, name, snapshot).ok()?),
            );
            let is_word = RepositoryWord::read(name).is_some();
            repos.extend(RepoKey::parse(name).ok().filter(|_| !is_word));
        }
        Some(repos)
    }

    /// Waits for the vector. Where another model than that of the snapshot has begun to answer since the query was sent, it is sent once
    /// more.
    ///
    /// # Errors
    /// [`ApiError::Failed`] where only meaning was to count and nothing can be searched: "nothing
    /// found" would be taken for an answer.
    pub(super) fn meaning(
        self,
        pending: PendingVector,
        mode: Mode,
        snapshot: &Snapshot,
    ) -> Result<QueryMeaning, ApiError> {
        let answer = match pending {
            PendingVector::NotAsked => return Ok(QueryMeaning::default()),
            PendingVector::NoModel => None,
            PendingVector::Asked(pending) => Some(pending.and_then(PendingQuery::answer)),
            PendingVector::Answered(answer) => Some(answer),
        };
        let send_again = || self.send_again(snapshot);
        let error = match in_space(answer, snapshot.space, send_again) {
            Some(Ok(embedding)) => {
                return Ok(QueryMeaning { embedding: Some(embedding), notice: None });
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        let notice = words_only_notice(self.local, mode, error.as_ref())?;
        Ok(QueryMeaning { embedding: None, notice })
    }
}

impl QueryMeaning {
    pub(super) fn vector(&self) -> Option<&[f32]> {
        self.embedding.as_ref().map(|embedding| embedding.vector.as_slice())
    }

    pub(super) fn tokens(&self) -> &[QueryToken] {
        self.embedding.as_ref().map_or(&[], |embedding| &embedding.tokens)
    }

    /// Says that some memories have no vector yet. Only people are told: a server catches up by itself.
    pub(super) fn partial_notice(&self, local: &Local, snapshot: &Snapshot) -> Option<String> {
        let (embedded, memories) = (snapshot.embedded_count(), snapshot.memories().len());
        let is_for_people = self.embedding.is_some() && !local.patience.embed.is_zero();
        (is_for_people && embedded < memories).then(|| {
            format!(
                "Note: {} of {memories} memories are not embedded yet and are found by words alone.",
                memories - embedded
            )
        })
    }
}

/// Says in an explained search that cosines were mapped before they counted.
pub(super) fn scale_notice(explain: Explain, snapshot: &Snapshot) -> Option<String> {
    let (offset, factor) = snapshot.scale.parts();
    let is_shown = explain == Explain::Components && !snapshot.scale.is_plain();
    is_shown.then(|| {
        format!("Note: meaning is {factor:.3} x cosine {offset:+.3}, as agent-knowledge model calibrate found.")
    })
}

impl PendingVector {
    /// Waits at most `wait` for the answer from now on.
    pub(super) fn with_wait(self, wait: Duration) -> Self {
        match self {
            Self::Asked(Ok(query)) => Self::Asked(Ok(query.hurried(Instant::now() + wait))),
            other => other,
        }
    }

    /// Waits for the answer.
    fn wait(self) -> Self {
        match self {
            Self::Asked(query) => Self::Answered(query.and_then(PendingQuery::answer)),
            other => other,
        }
    }

    /// Returns a snapshot to search. Where the vector counts, this waits a moment for memories that are being embedded. It is called
    /// after the model was asked, when the model is loaded. If some memories are still not embedded, the model may embed them before
    /// it answers the query, so the query's vector is waited for first.
    pub(super) fn catch_up(self, local: &Local) -> Result<(EngineView, Self), ApiError> {
        let deadline = Instant::now() + local.patience.embed;
        let is_coming = matches!(self, Self::Asked(Ok(_)));
        loop {
            let view = snapshots::answerable(local)?;
            let (embedded, memories) =
                (view.snapshot.embedded_count(), view.snapshot.memories().len());
            if !is_coming || embedded >= memories {
                return Ok((view, self));
            }
            if Instant::now() >= deadline {
                let answered = self.wait();
                return Ok((snapshots::answerable(local)?, answered));
            }
            std::thread::park_timeout(Duration::from_millis(EMBED_LOOK_MS));
        }
    }
}

/// Sends a query again while an answer is of another space, or of a model that has ended: vectors of two models are never compared.
fn in_space(
    mut answer: Option<EmbeddingAnswer>,
    space: SpaceId,
    mut send_again: impl FnMut() -> Option<EmbeddingAnswer>,
) -> Option<EmbeddingAnswer> {
    for _ in 0..SENT_AGAIN_MAX {
        match &answer {
            Some(Ok(embedding)) if embedding.space != space => {}
            Some(Err(QueryError::Stopped)) => {}
            _ => return answer,
        }
        answer = send_again();
    }
    let fits = |embedding: QueryEmbedding| (embedding.space == space).then_some(embedding);
    answer.map(|answer| answer.and_then(|embedding| fits(embedding).ok_or(QueryError::Busy)))
}

/// Says why words alone were searched, unless the caller knows; without an error of the model there is none.
fn words_only_notice(
    local: &Local,
    mode: Mode,
    error: Option<&QueryError>,
) -> Result<Option<String>, ApiError> {
    let is_prepared = error.is_none() && local.core.engine.next_embedding().is_some();
    let mut reason = match error {
        Some(error) => error.to_string(),
        None if is_prepared => "another embedding model is being prepared".to_owned(),
        None => "no embedding model in this build".to_owned(),
    };
    if mode == Mode::Dense {
        let message =
            format!("failed to search by meaning: {reason}; use lexical mode to search words");
        return Err(ApiError::Failed { exit: Exit::Unavailable, message });
    }
    let is_known = match error {
        // A missing model is reported once; agents need not read it with every answer.
        Some(QueryError::Withheld | QueryError::Failed(_)) => is_reported_already(local),
        None if !is_prepared => is_reported_already(local),
        // It passes.
        Some(_) | None => false,
    };
    if let Some(QueryError::Failed(EmbedError::NotInstalled(_))) = error {
        missing_model(local).clone_into(&mut reason);
    }
    Ok((!is_known).then(|| format!("Note: searched by words only ({reason}).")))
}

fn is_reported_already(local: &Local) -> bool {
    local.missing_model_reported.swap(true, Ordering::Relaxed)
}

/// Says in a reply that there is no model. Where it belongs is for `status` and `doctor`, and how it is installed for people:
/// agents pay for every word.
fn missing_model(local: &Local) -> &'static str {
    if matches!(fetch_state(&local.core.model_dir), FetchState::Running(_)) {
        return "the embedding model is being fetched";
    }
    match local.reader() {
        ReplyReader::Caller => "no embedding model is installed",
        ReplyReader::CommandLine => "no embedding model; agent-knowledge model fetch installs one",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_of(model: &str) -> EmbeddingAnswer {
        Ok(QueryEmbedding {
            space: SpaceId::from_name(model),
            vector: vec![1.0],
            tokens: Vec::new(),
        })
    }

    /// What becomes of a first answer, and how often the model was asked again.
    fn asked(
        first: EmbeddingAnswer,
        again: &[fn() -> EmbeddingAnswer],
    ) -> (Result<SpaceId, String>, usize) {
        let mut count = 0;
        let send_again = || {
            count += 1;
            again.get(count - 1).map(|answer| answer())
        };
        let answer = in_space(Some(first), SpaceId::from_name("new"), send_again).unwrap();
        let answer = answer.map(|embedding| embedding.space).map_err(|error| error.to_string());
        (answer, count)
    }

    // S-PROVIDER-6
    #[test]
    fn a_query_is_asked_again_after_an_exchange() {
        let (new, busy) = (Ok(SpaceId::from_name("new")), Err(QueryError::Busy.to_string()));
        assert_eq!(asked(answer_of("new"), &[]), (new.clone(), 0));
        assert_eq!(asked(answer_of("old"), &[|| answer_of("new")]), (new.clone(), 1));
        assert_eq!(
            asked(Err(QueryError::Stopped), &[|| answer_of("old"), || answer_of("new")]),
            (new, 2)
        );
        assert_eq!(
            asked(answer_of("old"), &[|| answer_of("old"), || answer_of("old")]),
            (busy, 2),
            "words answer"
        );
    }
}
