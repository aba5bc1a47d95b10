//! What callers ask of the models: vectors of queries and texts, their progress, and to let another one answer. Not here: the models
//! themselves (`models`), how one takes the place of another (`run::switching`).

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::dense_setup::DenseSetup;
use super::engine_input::{EngineInput, EngineStopped};
use super::model_worker::start_worker;
use super::next_model::{InterimSearch, NextModel, SwitchCallback};
use super::{Engine, LOADING_PAUSE_MS};
use crate::model_access::ScopedQuery;
use index::embed::worker::{PendingQuery, Progress, QueryEmbedding, QueryError};
use search::CosineScale;

impl Engine {
    /// Returns the embedding of a query. `None` when there is no model. Waits at most `wait` for
    /// it.
    ///
    /// # Errors
    /// [`QueryError`]. The query then runs on words alone.
    pub fn embed_query(
        &self,
        query: &ScopedQuery<'_>,
        wait: Duration,
    ) -> Option<Result<QueryEmbedding, QueryError>> {
        Some(self.begin_query(query, wait, Duration::ZERO)?.and_then(PendingQuery::answer))
    }

    /// Sends the query of [`Self::embed_query`]: waits at most `loading_wait` for a model that is loading, not for the
    /// embedding. A model that may not see the query is not asked.
    pub fn begin_query(
        &self,
        query: &ScopedQuery<'_>,
        wait: Duration,
        loading_wait: Duration,
    ) -> Option<Result<PendingQuery, QueryError>> {
        let deadline = Instant::now() + loading_wait;
        loop {
            // The same model is checked and asked: another one may answer a moment later.
            let model = self.models.now()?;
            match model.may_see.as_ref().map(|may_see| query.is_visible_to(may_see)) {
                None | Some(Some(true)) => {}
                Some(Some(false)) => return Some(Err(QueryError::Withheld)),
                // The caller took it for a model of this machine, which has made room meanwhile.
                Some(None) => return Some(Err(QueryError::Stopped)),
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match model.worker.begin_query(query.text, wait) {
                Err(QueryError::Loading | QueryError::Reloading) if !left.is_zero() => {
                    std::thread::park_timeout(Duration::from_millis(LOADING_PAUSE_MS).min(left));
                }
                other => return Some(other),
            }
        }
    }

    /// Returns the progress of embedding. `None` when there is no model.
    #[must_use]
    pub fn embedding(&self) -> Option<Progress> {
        self.models.now().map(|model| model.worker.progress())
    }

    /// Returns the progress of the model that is to answer next, where there is one.
    #[must_use]
    pub fn next_embedding(&self) -> Option<Progress> {
        self.models.next().map(|model| model.worker.progress())
    }

    /// Sets the scale of the model that answers, if it is one of others, to what `scale_of` says of its name.
    pub fn set_scale(&self, scale_of: impl FnOnce(&str) -> CosineScale) {
        if let Some(model) = self.models.now().filter(|model| model.may_see.is_some()) {
            let scale = scale_of(&model.name);
            *model.scale.lock().unwrap_or_else(PoisonError::into_inner) = scale;
        }
    }

    /// Tells whether the model that answers is one of others.
    #[must_use]
    pub fn asks_others(&self) -> bool {
        self.models.now().is_some_and(|model| model.may_see.is_some())
    }

    /// Embeds texts of somebody else with the model that answers. `None` where that is none of this machine: to ask a model of
    /// others is for those who configured it. Waits at most `wait`.
    ///
    /// # Errors
    /// [`QueryError`].
    #[must_use]
    pub fn embed_texts(
        &self,
        texts: &[String],
        wait: Duration,
    ) -> Option<Result<Vec<Vec<f32>>, QueryError>> {
        let model = self.models.now().filter(|model| model.may_see.is_none())?;
        Some(model.worker.embed_texts(texts, wait))
    }

    /// Lets another model answer once it has a vector of every memory. `on_whole` is called when it does. A model of the same
    /// name only starts again.
    ///
    /// # Errors
    /// The system refused a thread, or the engine has stopped.
    pub fn switch(
        &self,
        dense: DenseSetup,
        on_whole: SwitchCallback,
        meanwhile: InterimSearch,
    ) -> std::io::Result<()> {
        let pending = Arc::clone(&self.pending_batches);
        let model = Arc::new(start_worker(dense, self.inbox.clone(), pending)?);
        let next =
            EngineInput::Switch(NextModel { model, on_switched: on_whole, interim: meanwhile });
        self.inbox.send(next).map_err(|_| std::io::Error::other(EngineStopped))
    }
}
