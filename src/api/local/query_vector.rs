//! The vector of a query, or why there is none, and the state of the model. Not here: embedding (`index::embed`),
//! searching.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Local;
use crate::{ApiError, Mode};
use index::embed::worker::{PendingQuery, Progress, QueryEmbedding, QueryError, WorkerState};
use index::embed::{EmbedError, model};
use index::late::QueryToken;
use reply::Model;
use search::snapshot::Snapshot;
use writer::exit::Exit;

/// The vector of a query, and a notice where there is none.
pub(super) type Meaning = (Option<QueryEmbedding>, Option<String>);

/// A query that was given to the model.
pub(super) enum Put {
    /// The search needs no vector.
    NotAsked,
    /// This build has no model.
    NoModel,
    /// The model is working on it, or could not start.
    Asked(Result<PendingQuery, QueryError>),
    /// The model has answered.
    Answered(Result<QueryEmbedding, QueryError>),
}

impl Put {
    /// Tells whether an answer will come.
    pub(super) fn is_coming(&self) -> bool {
        matches!(self, Self::Asked(Ok(_)))
    }

    /// Waits at most `wait` for the answer from now on.
    pub(super) fn hurried(self, wait: Duration) -> Self {
        match self {
            Self::Asked(Ok(asking)) => Self::Asked(Ok(asking.hurried(Instant::now() + wait))),
            other => other,
        }
    }

    /// Waits for the answer.
    pub(super) fn answered(self) -> Self {
        match self {
            Self::Asked(asking) => Self::Answered(asking.and_then(PendingQuery::answer)),
            other => other,
        }
    }
}

/// Returns the vector of a query and its tokens, as searches take them.
pub(super) fn parts(meant: Option<&QueryEmbedding>) -> (Option<&[f32]>, &[QueryToken]) {
    let vector = meant.map(|meant| meant.vector.as_slice());
    (vector, meant.map_or(&[], |meant| &meant.tokens))
}

/// Whether the reason for a missing vector will remain.
#[derive(PartialEq)]
enum Lasts {
    Yes,
    No,
}

/// Asks the model for the vector of a query. The caller can search words meanwhile.
pub(super) fn put(local: &Local, text: &str, mode: Mode) -> Put {
    if mode == Mode::Lexical || text.is_empty() {
        return Put::NotAsked;
    }
    let asked = local.core.engine.begin_query(text, local.patience.query, local.patience.model);
    asked.map_or(Put::NoModel, Put::Asked)
}

/// Returns the vector of a query where there is one, and a notice where the reader should know that there is none.
///
/// # Errors
/// [`ApiError::Failed`] where only meaning was to count and nothing can be searched: "nothing
/// found" would be taken for an answer.
pub(super) fn meaning_of(local: &Local, put: Put, mode: Mode) -> Result<Meaning, ApiError> {
    let answer = match put {
        Put::NotAsked => return Ok((None, None)),
        Put::NoModel => None,
        Put::Asked(asking) => Some(asking.and_then(PendingQuery::answer)),
        Put::Answered(answer) => Some(answer),
    };
    let (why, lasts) = match answer {
        Some(Ok(meant)) => return Ok((Some(meant), None)),
        None => ("no embedding model in this build".to_owned(), Lasts::Yes),
        Some(Err(QueryError::Failed(error))) => (error.to_string(), Lasts::Yes),
        Some(Err(passing)) => (passing.to_string(), Lasts::No),
    };
    if mode == Mode::Dense {
        let message =
            format!("failed to search by meaning: {why}; use lexical mode to search words");
        return Err(ApiError::Failed { exit: Exit::Unavailable, message });
    }
    // A missing model is reported once; agents need not read it with every answer.
    let is_told = lasts == Lasts::Yes && local.told_about_model.swap(true, Ordering::Relaxed);
    Ok((None, (!is_told).then(|| format!("Note: searched by words only ({why})."))))
}

/// Says that some memories have no vector yet. Only people are told: a server catches up by itself.
pub(super) fn partial(
    local: &Local,
    snapshot: &Snapshot,
    meant: Option<&QueryEmbedding>,
) -> Option<String> {
    let (embedded, memories) = (snapshot.embedded(), snapshot.memories().len());
    let is_told = meant.is_some() && !local.patience.embed.is_zero() && embedded < memories;
    is_told.then(|| {
        format!(
            "Note: {} of {memories} memories are not embedded yet; run agent-knowledge index.",
            memories - embedded
        )
    })
}

/// Returns the state of the embedding.
pub(super) fn model(local: &Local) -> Model {
    let directory = local.core.model_dir.display().to_string();
    let none = |line: String| Model {
        line,
        works: false,
        directory: directory.clone(),
        cache_trouble: None,
    };
    let Some(progress) = local.core.engine.embedding() else {
        // A command that needs no vectors does not load the model.
        let is_ready = model::status(&local.core.model_dir).is_ready();
        return none(if is_ready {
            "model installed".to_owned()
        } else {
            format!("off: {}", EmbedError::NotInstalled(local.core.model_dir.clone()))
        });
    };
    let Progress { state, queued, cache_trouble, .. } = progress;
    let line = match state {
        WorkerState::Loading => "loading the model".to_owned(),
        WorkerState::Ready { model, dims } if queued > 0 => {
            format!("{model}, {dims} dimensions; {queued} memories waiting to be embedded")
        }
        WorkerState::Ready { model, dims } => format!("{model}, {dims} dimensions"),
        WorkerState::Failed(error) => return none(format!("off: {error}")),
    };
    Model { line, works: true, directory, cache_trouble }
}
