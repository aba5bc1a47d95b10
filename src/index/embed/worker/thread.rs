//! The worker thread while the model is loaded: answers queries and embeds texts until it is stopped, or until nobody has used
//! the model for a while.
//!
//! What is not here: loading the model (`thread_start`), the order of texts (`waiting_texts`), the handle others hold, and the
//! counters both sides see (`worker`).

use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::query_thread::answer;
use super::waiting_texts::{LongTexts, WaitingTexts};
use super::worker_jobs::{
    EmbeddedDocument, Job, Pace, QueryJob, SIGNED_BYTES_MAX, TextsJob, WantedOutput, WorkerMessage,
};
use super::worker_state::{ModelResidence, WorkerParts, WorkerShared};
use crate::embed::cache::TextKey;
use crate::embed::{EmbedError, Embedder, Embedding, EmbeddingOutcomes};
use crate::late::{SignState, TokenSigns};

/// The first rest after a failure of a model that may work later, and the longest: an account that is out of credit stays so
/// for hours, and a server that restarts is back in seconds.
const REST_MIN: Duration = Duration::from_secs(1);
const REST_MAX: Duration = Duration::from_secs(120);

/// The state of the thread.
pub(super) struct EmbeddingThread<'a> {
    embedder: Box<dyn Embedder>,
    parts: WorkerParts,
    shared: &'a WorkerShared,
    waiting: WaitingTexts,
    /// When a text was embedded last.
    embedded_at: Instant,
    pace: Pace,
    /// No batch begins before that.
    rests_until: Option<Instant>,
    /// How long it rests after the next failure of a model that may work later.
    next_rest: Duration,
}

/// What the thread does after it took all messages.
enum NextStep {
    /// Embeds the texts that wait.
    Embed,
    /// Unloads the model, which nobody has used for a while.
    Unload,
    /// Ends.
    Stop,
}

impl<'a> EmbeddingThread<'a> {
    pub(super) fn new(
        embedder: Box<dyn Embedder>,
        parts: WorkerParts,
        shared: &'a WorkerShared,
    ) -> Self {
        let long_texts =
            if embedder.has_tokens() { LongTexts::BeginningsFirst } else { LongTexts::Once };
        let waiting = WaitingTexts::new(embedder.batch_limit(), long_texts);
        let (pace, rests_until, next_rest) = (Pace::Full, None, REST_MIN);
        let embedded_at = Instant::now();
        Self { embedder, parts, shared, waiting, embedded_at, pace, rests_until, next_rest }
    }

    /// Works until it is stopped, or until nobody has used the model for a while.
    pub(super) fn work(mut self) {
        loop {
            match self.take_messages() {
                NextStep::Embed if self.waiting.is_window_empty() => self.fill_window(),
                NextStep::Embed => {
                    match self.embed_batch() {
                        Ok(()) => self.rest(),
                        Err(trouble) => self.rest_longer(&trouble),
                    }
                    self.embedded_at = Instant::now();
                }
                NextStep::Unload => match self.park() {
                    Some(thread) => self = thread,
                    None => return,
                },
                NextStep::Stop => {
                    // Without a sender the thread for queries ends.
                    self.shared.slow().queries = None;
                    return;
                }
            }
        }
    }

    /// Leaves everything but the model for the next thread, unless a message has just come. Returns `None` where it did.
    fn park(mut self) -> Option<Self> {
        let mut parked = self.shared.parked();
        // Whoever sends a message looks here after it.
        if let Ok(message) = self.parts.receiver.try_recv() {
            drop(parked);
            if self.take_message(message) {
                return Some(self);
            }
            // Without a sender the thread for queries ends.
            self.shared.slow().queries = None;
            return None;
        }
        let mut slow = self.shared.slow();
        (slow.queries, slow.residence) = (None, ModelResidence::Unloaded);
        drop(slow);
        *parked = Some(self.parts);
        None
    }

    /// Rests as the pace says.
    fn rest(&mut self) {
        self.rests_until = match self.pace {
            Pace::Full => None,
            Pace::Held(rest) => Some(Instant::now() + rest),
        };
    }

    /// Rests because the model could not be asked, each time twice as long.
    fn rest_longer(&mut self, trouble: &EmbedError) {
        self.shared.slow().model_trouble = Some(trouble.to_string());
        self.rests_until = Some(Instant::now() + self.next_rest);
        self.next_rest = (self.next_rest * 2).min(REST_MAX);
    }

    /// Answers queries and queues texts. Waits when there is nothing else to do, and while it rests.
    fn take_messages(&mut self) -> NextStep {
        loop {
            if self.shared.stop.load(Ordering::Acquire) {
                return NextStep::Stop;
            }
            let is_idle = self.waiting.is_empty();
            let receiver = &self.parts.receiver;
            let message = match self.idle_left().filter(|_| is_idle) {
                None if is_idle => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                None => receiver.recv_timeout(self.rest_left()),
                Some(left) => receiver.recv_timeout(left),
            };
            match message {
                Ok(message) => {
                    if !self.take_message(message) {
                        return NextStep::Stop;
                    }
                }
                Err(RecvTimeoutError::Timeout) if !is_idle => return NextStep::Embed,
                Err(RecvTimeoutError::Timeout)
                    if self.idle_left().is_some_and(|left| left.is_zero()) =>
                {
                    return NextStep::Unload;
                }
                // A query came meanwhile.
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return NextStep::Stop,
            }
        }
    }

    /// Handles a message. Returns false to stop.
    fn take_message(&mut self, message: WorkerMessage) -> bool {
        match message {
            WorkerMessage::Embed(job) => self.waiting.push(job),
            WorkerMessage::Query(job) => self.answer(job),
            WorkerMessage::Texts(job) => {
                self.answer_texts(&job);
                self.embedded_at = Instant::now();
            }
            WorkerMessage::Pace(pace) => {
                self.pace = pace;
                self.rest();
            }
            WorkerMessage::Stop => return false,
        }
        true
    }

    /// Returns how long the model stays in memory if nobody uses it; `None` for ever.
    fn idle_left(&self) -> Option<Duration> {
        let after = self.parts.idle.as_ref()?.after;
        let used_at = self.shared.slow().asked_at.max(self.embedded_at);
        Some(after.saturating_sub(used_at.elapsed()))
    }

    fn rest_left(&self) -> Duration {
        let now = Instant::now();
        self.rests_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    fn answer_texts(&mut self, job: &TextsJob) {
        if Instant::now() < job.until {
            let texts: Vec<&str> = job.texts.iter().map(String::as_str).collect();
            let embeddings = self.embedder.embed(&texts);
            let vectors =
                |all: Vec<Embedding>| all.into_iter().map(|embedding| embedding.vector).collect();
            // The caller may have stopped waiting.
            let _ = job.reply.send(embeddings.map(vectors));
        }
    }

    fn answer(&mut self, job: QueryJob) {
        if let Err((job, error)) = answer(self.embedder.as_mut(), self.shared, job) {
            let _ = job.reply.send(Err(error));
            WorkerShared::leave(&self.shared.queries, 1);
        }
    }

    /// Moves the newest jobs into the window; those in the cache are done at once, even without their signs, which
    /// earlier versions did not store.
    fn fill_window(&mut self) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for job in self.waiting.newest() {
            let found = self
                .parts
                .cache
                .as_mut()
                .and_then(|cache| cache.get(TextKey::from_text(&job.text)));
            let signed = self.sign_state(&job);
            match found {
                Some(vector) if job.want == WantedOutput::Vector || signed != SignState::NotYet => {
                    known.push(embedded(&job, vector, signed));
                }
                _ => unknown.push(job),
            }
        }
        self.waiting.fill_window(unknown);
        self.shared.from_cache.fetch_add(known.len(), Ordering::AcqRel);
        let whole = known.len();
        self.hand_over(known, whole);
    }

    /// Embeds the next batch.
    ///
    /// # Errors
    /// The model may work later; what it did not embed then waits.
    fn embed_batch(&mut self) -> Result<(), EmbedError> {
        let mut batch = self.waiting.next_batch(match self.pace {
            Pace::Full => usize::MAX,
            Pace::Held(_) => 1,
        });
        let texts: Vec<&str> = batch.iter().map(|job| self.waiting.text_to_embed(job)).collect();
        let EmbeddingOutcomes { outcomes, trouble } = self.embedder.embed_each(&texts);
        if trouble.is_some() {
            let waiting = batch.split_off(outcomes.len().min(batch.len()));
            self.waiting.put_back(waiting);
        }
        if self.next_rest > REST_MIN && (trouble.is_none() || !outcomes.is_empty()) {
            self.next_rest = REST_MIN;
            self.shared.slow().model_trouble = None;
        }
        self.take_outcomes(&batch, outcomes);
        trouble.map_or(Ok(()), Err)
    }

    /// Keeps and hands over the embeddings of a batch, and gives up the texts without one.
    fn take_outcomes(&mut self, batch: &[Job], outcomes: Vec<Result<Embedding, EmbedError>>) {
        let mut done: Vec<(&Job, Embedding)> = Vec::with_capacity(batch.len());
        for (job, outcome) in batch.iter().zip(outcomes) {
            match outcome {
                Ok(embedding) => done.push((job, embedding)),
                Err(error) => self.shared.slow().model_trouble = Some(error.to_string()),
            }
        }
        give_up(self.shared, batch.len() - done.len());
        let is_whole =
            |(job, _): &(&Job, Embedding)| self.waiting.text_to_embed(job).len() == job.text.len();
        let (whole, beginnings): (Vec<_>, Vec<_>) = done.into_iter().partition(is_whole);
        self.remember(&whole);
        let mut all: Vec<EmbeddedDocument> = Vec::with_capacity(batch.len());
        for (job, Embedding { vector, .. }) in whole {
            let signed = match self.sign_state(job) {
                // It could not be stored, and another try would fail too.
                SignState::NotYet => SignState::Failed,
                other => other,
            };
            all.push(embedded(job, self.first_vector(job, vector), signed));
        }
        // A beginning is not stored: its text is embedded again, and its signs come then.
        let beginning = |(job, embedding): (&Job, Embedding)| {
            embedded(job, embedding.vector, SignState::NotYet)
        };
        let whole = all.len();
        all.extend(beginnings.into_iter().map(beginning));
        self.hand_over(all, whole);
    }

    /// Returns the vector that was stored first for a text: one computed again may differ in its last bits.
    fn first_vector(&mut self, job: &Job, vector: Vec<f32>) -> Vec<f32> {
        if job.want == WantedOutput::Vector {
            return vector;
        }
        let stored =
            self.parts.cache.as_mut().and_then(|cache| cache.get(TextKey::from_text(&job.text)));
        stored.unwrap_or(vector)
    }

    /// Returns the state of a text's signs.
    fn sign_state(&self, job: &Job) -> SignState {
        if !is_signed(job) || !self.embedder.has_tokens() {
            return SignState::Never;
        }
        match self.parts.cache.as_ref().filter(|cache| cache.tokens().is_ok()) {
            Some(cache) => {
                cache.place(TextKey::from_text(&job.text)).map_or(SignState::NotYet, SignState::At)
            }
            None => SignState::Failed,
        }
    }

    fn remember(&mut self, done: &[(&Job, Embedding)]) {
        let Some(cache) = self.parts.cache.as_mut() else { return };
        let key = |job: &Job| TextKey::from_text(&job.text);
        let rows: Vec<(TextKey, Vec<f32>)> =
            done.iter().map(|(job, embedding)| (key(job), embedding.vector.clone())).collect();
        let has_tokens = self.embedder.has_tokens();
        let to_sign = done.iter().filter(|(job, _)| has_tokens && is_signed(job));
        let signs: Vec<(TextKey, TokenSigns)> = to_sign
            .map(|(job, embedding)| (key(job), TokenSigns::from_tokens(&embedding.tokens)))
            .collect();
        let kept = cache.append(&rows).and_then(|()| cache.keep_signs(&signs));
        let trouble = kept.err().map(|error| error.to_string());
        let trouble = trouble.or_else(|| cache.tokens().err().map(str::to_owned));
        let mut slow = self.shared.slow();
        slow.cache = Some(cache.stats());
        slow.cache_trouble = trouble;
    }

    /// Hands over vectors, so many of which are of whole texts: those are done.
    fn hand_over(&mut self, vectors: Vec<EmbeddedDocument>, whole: usize) {
        if vectors.is_empty() {
            return;
        }
        let count = vectors.len();
        // Counted before the delivery, so that a reader of the delivery sees the count.
        self.shared.done.fetch_add(whole, Ordering::AcqRel);
        (self.parts.deliver)(vectors);
        WorkerShared::leave(&self.shared.queued, count);
    }
}

pub(super) fn give_up(shared: &WorkerShared, count: usize) {
    shared.failed.fetch_add(count, Ordering::AcqRel);
    WorkerShared::leave(&shared.queued, count);
}

/// Tells whether the tokens of a text are compared.
fn is_signed(job: &Job) -> bool {
    job.text.len() <= SIGNED_BYTES_MAX
}

fn embedded(job: &Job, vector: Vec<f32>, signed: SignState) -> EmbeddedDocument {
    EmbeddedDocument { doc: job.doc, generation: job.generation, vector, signed }
}
