//! The vector of a query, or why there is none, and the state of the model. Not here: embedding (`index::embed`),
//! searching.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Local, repositories, snapshots};
use engine::{EngineView, ScopedQuery};
use event::RepoKey;
use index::embed::worker::{PendingQuery, Progress, QueryEmbedding, QueryError, WorkerState};
use index::embed::{EmbedError, RUNS_MODEL, SpaceId, model};
use index::late::QueryToken;
use reply::{ModelPlace, ModelReport, NextModelState, ReplyReader};
use requests::{ApiError, Explain, Mode};
use search::snapshot::Snapshot;
use writer::exit::Exit;

/// How often a query is sent again because another model began to answer: it takes two changes in a moment to need more.
const ASKED_AGAIN_MAX: u32 = 2;

/// How often a waiting search checks whether everything is embedded.
const EMBED_LOOK_MS: u64 = 10;

/// What the model says of a query.
type EmbeddingAnswer = Result<QueryEmbedding, QueryError>;

/// The vector of a query, and a notice where there is none.
pub(super) type QueryMeaning = (Option<QueryEmbedding>, Option<String>);

/// A query that was given to the model.
pub(super) enum VectorQuery {
    /// The search needs no vector.
    NotAsked,
    /// This build has no model.
    NoModel,
    /// The model is working on it, or could not start.
    Asked(Result<PendingQuery, QueryError>),
    /// The model has answered.
    Answered(Result<QueryEmbedding, QueryError>),
}

impl VectorQuery {
    /// Tells whether an answer will come.
    pub(super) fn is_coming(&self) -> bool {
        matches!(self, Self::Asked(Ok(_)))
    }

    /// Waits at most `wait` for the answer from now on.
    pub(super) fn with_wait(self, wait: Duration) -> Self {
        match self {
            Self::Asked(Ok(asking)) => Self::Asked(Ok(asking.hurried(Instant::now() + wait))),
            other => other,
        }
    }

    /// Waits for the answer.
    pub(super) fn wait(self) -> Self {
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
enum Permanence {
    Permanent,
    Passing,
    InThisBuild,
}

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct QueryAbout<'a> {
    /// What is searched for.
    pub(super) text: &'a str,
    /// The repository that the request names, as it was written.
    pub(super) named: Option<&'a str>,
    /// Those of filters in the query.
    pub(super) filters: &'a [String],
}

impl<'a> QueryAbout<'a> {
    fn names(self) -> impl Iterator<Item = &'a str> {
        self.named.into_iter().chain(self.filters.iter().map(String::as_str))
    }
}

/// Asks the model for the vector of a query. The caller can search words meanwhile.
pub(super) fn ask_model(local: &Local, about: QueryAbout<'_>, mode: Mode) -> VectorQuery {
    if mode == Mode::Lexical || about.text.is_empty() {
        return VectorQuery::NotAsked;
    }
    let (wait, loading_wait) = (local.patience.query, local.patience.model);
    let begin = |query: &ScopedQuery<'_>| local.core.engine.begin_query(query, wait, loading_wait);
    let asked = if local.core.engine.asks_others() {
        let view = about.names().next().and_then(|_| snapshots::answerable(local).ok());
        asked_of(about, asked_repos(local, about, view.as_ref().map(|view| &view.snapshot)), begin)
    } else {
        // A model of this machine sees everything, so that nobody waits to learn what a name means.
        begin(&ScopedQuery { text: about.text, repos: None })
    };
    asked.map_or(VectorQuery::NoModel, VectorQuery::Asked)
}

/// Returns a snapshot and the query's vector. Where the vector counts, this waits a moment for memories that are
/// being embedded. It is called after the model was asked, when the model is loaded. If some memories are still not
/// embedded, the model may embed them before it answers the query, so the query's vector is waited for first.
pub(super) fn view_for(
    local: &Local,
    put: VectorQuery,
) -> Result<(EngineView, VectorQuery), ApiError> {
    let deadline = Instant::now() + local.patience.embed;
    loop {
        let view = snapshots::answerable(local)?;
        let (embedded, memories) = (view.snapshot.embedded_count(), view.snapshot.memories().len());
        let is_ready = !put.is_coming() || embedded >= memories;
        if is_ready {
            return Ok((view, put));
        }
        if Instant::now() >= deadline {
            let put = put.wait();
            return Ok((snapshots::answerable(local)?, put));
        }
        std::thread::park_timeout(Duration::from_millis(EMBED_LOOK_MS));
    }
}

/// Asks about repositories; `None` where it could not be told which they are: then nothing is sent.
fn asked_of<T>(
    about: QueryAbout<'_>,
    repos: Option<Vec<RepoKey>>,
    ask: impl FnOnce(&ScopedQuery<'_>) -> Option<Result<T, QueryError>>,
) -> Option<Result<T, QueryError>> {
    let Some(repos) = repos else { return Some(Err(QueryError::Withheld)) };
    ask(&ScopedQuery { text: about.text, repos: Some(&repos) })
}

/// Returns the keys of the repositories that a query may tell of: the caller's, and whatever each name can mean in a snapshot. `None`
/// where that is not clear.
pub(super) fn asked_repos(
    local: &Local,
    about: QueryAbout<'_>,
    snapshot: Option<&Snapshot>,
) -> Option<Vec<RepoKey>> {
    let mut repos: Vec<RepoKey> = local.here.iter().cloned().collect();
    for name in about.names() {
        let snapshot = snapshot?;
        repos.extend(snapshot.keys_of(&repositories::named_repo(local, name, snapshot).ok()?));
        repos.extend(RepoKey::parse(name));
    }
    Some(repos)
}

/// Returns the answer of the model whose vectors the snapshot has. Where another model has begun to answer since the query was sent, it
/// is sent once more.
fn answered_in_space(
    local: &Local,
    put: VectorQuery,
    about: QueryAbout<'_>,
    snapshot: &Snapshot,
) -> Option<EmbeddingAnswer> {
    let answer = match put {
        VectorQuery::NotAsked | VectorQuery::NoModel => None,
        VectorQuery::Asked(asking) => Some(asking.and_then(PendingQuery::answer)),
        VectorQuery::Answered(answer) => Some(answer),
    };
    let embed =
        |query: &ScopedQuery<'_>| local.core.engine.embed_query(query, local.patience.query);
    let ask_again = || asked_of(about, asked_repos(local, about, Some(snapshot)), embed);
    in_space(answer, snapshot.space, ask_again)
}

/// Asks again while an answer is of another space, or of a model that has ended: vectors of two models are never compared.
fn in_space(
    mut answer: Option<EmbeddingAnswer>,
    space: SpaceId,
    mut ask_again: impl FnMut() -> Option<EmbeddingAnswer>,
) -> Option<EmbeddingAnswer> {
    for _ in 0..ASKED_AGAIN_MAX {
        match &answer {
            Some(Ok(meant)) if meant.space != space => {}
            Some(Err(QueryError::Stopped)) => {}
            _ => return answer,
        }
        answer = ask_again();
    }
    let fits = |meant: QueryEmbedding| (meant.space == space).then_some(meant);
    answer.map(|answer| answer.and_then(|meant| fits(meant).ok_or(QueryError::Busy)))
}

/// Returns the vector of a query where there is one, and a notice where the reader should know that there is none.
///
/// # Errors
/// [`ApiError::Failed`] where only meaning was to count and nothing can be searched: "nothing
/// found" would be taken for an answer.
pub(super) fn query_meaning(
    local: &Local,
    put: VectorQuery,
    mode: Mode,
    about: QueryAbout<'_>,
    snapshot: &Snapshot,
) -> Result<QueryMeaning, ApiError> {
    if matches!(put, VectorQuery::NotAsked) {
        return Ok((None, None));
    }
    let answer = answered_in_space(local, put, about, snapshot);
    let is_missing = matches!(&answer, Some(Err(QueryError::Failed(EmbedError::NotInstalled(_)))));
    let (why, lasts) = match answer {
        Some(Ok(meant)) => return Ok((Some(meant), None)),
        None if local.core.engine.next_embedding().is_some() => {
            ("another embedding model is being prepared".to_owned(), Permanence::Passing)
        }
        None => ("no embedding model in this build".to_owned(), Permanence::Permanent),
        Some(Err(withheld @ QueryError::Withheld)) => (withheld.to_string(), Permanence::Permanent),
        Some(Err(QueryError::Failed(error @ EmbedError::RunsNoModel))) => {
            (error.to_string(), Permanence::InThisBuild)
        }
        Some(Err(QueryError::Failed(error))) => (error.to_string(), Permanence::Permanent),
        Some(Err(passing)) => (passing.to_string(), Permanence::Passing),
    };
    if mode == Mode::Dense {
        let message =
            format!("failed to search by meaning: {why}; use lexical mode to search words");
        return Err(ApiError::Failed { exit: Exit::Unavailable, message });
    }
    // A missing model is reported once; agents need not read it with every answer. That a build runs none is for `status`.
    let is_told = match lasts {
        Permanence::Passing => false,
        Permanence::Permanent => local.missing_model_reported.swap(true, Ordering::Relaxed),
        Permanence::InThisBuild => true,
    };
    let why = if is_missing { missing_model(local).to_owned() } else { why };
    Ok((None, (!is_told).then(|| format!("Note: searched by words only ({why})."))))
}

/// Says in a reply that there is no model. Where it belongs is for `status` and `doctor`, and how it is installed for people:
/// agents pay for every word.
fn missing_model(local: &Local) -> &'static str {
    match local.reader() {
        ReplyReader::Caller => "no embedding model is installed",
        ReplyReader::CommandLine => "no embedding model; agent-knowledge model fetch installs one",
    }
}

/// Says that some memories have no vector yet. Only people are told: a server catches up by itself.
pub(super) fn partial_notice(
    local: &Local,
    snapshot: &Snapshot,
    meant: Option<&QueryEmbedding>,
) -> Option<String> {
    let (embedded, memories) = (snapshot.embedded_count(), snapshot.memories().len());
    let is_told = meant.is_some() && !local.patience.embed.is_zero() && embedded < memories;
    is_told.then(|| {
        format!(
            "Note: {} of {memories} memories are not embedded yet; run agent-knowledge index.",
            memories - embedded
        )
    })
}

/// Says what a reader should know of the vectors that were searched.
pub(super) fn vector_notice(
    local: &Local,
    snapshot: &Snapshot,
    meant: Option<&QueryEmbedding>,
    explain: Explain,
) -> Option<String> {
    partial_notice(local, snapshot, meant).or_else(|| scale_note(explain, snapshot))
}

/// Says in an explained search that cosines were mapped before they counted.
fn scale_note(explain: Explain, snapshot: &Snapshot) -> Option<String> {
    let (offset, factor) = snapshot.scale.parts();
    let is_told = explain == Explain::Components && !snapshot.scale.is_plain();
    is_told.then(|| {
        format!("Note: meaning is {factor:.3} x cosine {offset:+.3}, as agent-knowledge model calibrate found.")
    })
}

/// Returns the state of the embedding.
pub(super) fn model_state(local: &Local, snapshot: &Snapshot) -> ModelReport {
    let directory = local.core.model_dir.display().to_string();
    let next = next_model(local, snapshot);
    let none = |line: String| ModelReport {
        line,
        works: false,
        directory: directory.clone(),
        cache_trouble: None,
        trouble: None,
        place: ModelPlace::Here,
        next: next.clone(),
    };
    let Some(progress) = local.core.engine.embedding() else {
        if next.is_some() {
            return none("words alone, until the next model is ready".to_owned());
        }
        // A command that needs no vectors does not load the model.
        let is_ready = model::status(&local.core.model_dir).is_ready();
        return none(if !RUNS_MODEL {
            "off: this build runs no model".to_owned()
        } else if is_ready {
            "model installed".to_owned()
        } else {
            format!("off: {}", EmbedError::NotInstalled(local.core.model_dir.clone()))
        });
    };
    let Progress { state, queued, cache_trouble, model_trouble, .. } = progress;
    let line = match state {
        WorkerState::Loading => "loading the model".to_owned(),
        WorkerState::Ready { model, dims } if queued > 0 => {
            format!("{model}, {dims} dimensions; {queued} memories waiting to be embedded")
        }
        WorkerState::Ready { model, dims } => format!("{model}, {dims} dimensions"),
        WorkerState::Failed(error) => return none(format!("off: {error}")),
    };
    let place = if local.core.engine.asks_others() { ModelPlace::Others } else { ModelPlace::Here };
    ModelReport { line, works: true, directory, cache_trouble, trouble: model_trouble, place, next }
}

/// Returns the state of the model that is to answer next.
fn next_model(local: &Local, snapshot: &Snapshot) -> Option<NextModelState> {
    let progress = local.core.engine.next_embedding()?;
    let line = match progress.state {
        WorkerState::Loading => "being opened".to_owned(),
        WorkerState::Ready { model, .. } => model,
        WorkerState::Failed(error) => format!("not yet: {error}"),
    };
    let done = snapshot.next_embedded.unwrap_or_default();
    Some(NextModelState { line, done, trouble: progress.model_trouble })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding_of_model(model: &str) -> EmbeddingAnswer {
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
        let ask_again = || {
            count += 1;
            again.get(count - 1).map(|answer| answer())
        };
        let answer = in_space(Some(first), SpaceId::from_name("new"), ask_again).unwrap();
        let answer = answer.map(|meant| meant.space).map_err(|error| error.to_string());
        (answer, count)
    }

    // S-PROVIDER-6
    #[test]
    fn a_query_is_asked_again_after_an_exchange() {
        let (new, busy) = (Ok(SpaceId::from_name("new")), Err(QueryError::Busy.to_string()));
        assert_eq!(asked(embedding_of_model("new"), &[]), (new.clone(), 0));
        assert_eq!(
            asked(embedding_of_model("old"), &[|| embedding_of_model("new")]),
            (new.clone(), 1)
        );
        assert_eq!(
            asked(
                Err(QueryError::Stopped),
                &[|| embedding_of_model("old"), || embedding_of_model("new")]
            ),
            (new, 2)
        );
        assert_eq!(
            asked(
                embedding_of_model("old"),
                &[|| embedding_of_model("old"), || embedding_of_model("old")]
            ),
            (busy, 2),
            "words answer"
        );
    }
}
