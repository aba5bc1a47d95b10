//! The worker thread: loads the model, then answers queries and embeds texts until it is stopped.
//!
//! What is not here: the handle others hold, and the counters both sides see (`worker`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::priority::give_way;
use super::query_thread::{QueryThread, answer};
use super::worker_jobs::{
    EmbeddedDocument, Job, Pace, QueryJob, SIGNED_BYTES_MAX, TextsJob, WantedOutput, WorkerMessage,
};
use super::worker_state::{CacheConfig, WorkerConfig, WorkerShared, WorkerState};
use crate::embed::cache::{TextKey, VectorCache};
use crate::embed::{BatchLimit, EmbedError, Embedder, Embedding, EmbeddingOutcomes};
use crate::late::{SignState, SignStore, TokenSigns};

/// Texts per batch.
pub(super) const BATCH_TEXTS: usize = 16;
/// Longest text times number of texts in a batch, in bytes: short texts are padded to the longest, so this is what is
/// computed. A kilobyte is some 220 tokens and 60 ms on one core. Larger batches are no faster per text and make
/// queries wait longer. A single longer text is a batch of its own.
pub(super) const BATCH_BYTES: usize = 1024;
/// Newest jobs that are sorted together: enough to find texts of similar length, few enough that a new job waits for
/// two seconds of older ones at most.
pub(super) const WINDOW_JOBS: usize = 32;

/// The first rest after a failure of a model that may work later, and the longest: an account that is out of credit stays so
/// for hours, and a server that restarts is back in seconds.
const REST_MIN: Duration = Duration::from_secs(1);
const REST_MAX: Duration = Duration::from_secs(120);

/// The life of the thread. `returned` is its own sender.
pub(super) fn run(
    config: WorkerConfig,
    shared: &Arc<WorkerShared>,
    receiver: &Receiver<WorkerMessage>,
    returned: Sender<WorkerMessage>,
) {
    let mut embedder = match (config.load)() {
        Ok(embedder) => embedder,
        Err(error) => return fail(error, shared, receiver),
    };
    let cache = config.cache.and_then(|cache| open_cache(cache, embedder.as_ref(), shared));
    let ready = WorkerState::Ready { model: embedder.description(), dims: embedder.dims() };
    let queries = embedder
        .split_off_queries()
        .and_then(|network| QueryThread { network, shared: Arc::clone(shared), returned }.start());
    let (sender, thread) = queries.unzip();
    if sender.is_some() {
        // Nobody waits for texts; the thread for queries has its own priority by now.
        give_way();
    }
    let mut slow = shared.slow();
    (slow.state, slow.queries) = (ready, sender);
    drop(slow);
    let usual = BatchLimit { texts: BATCH_TEXTS, bytes: BATCH_BYTES };
    let limit = embedder.batch_limit().unwrap_or(usual);
    let thread_state = Thread {
        embedder,
        cache,
        deliver: config.deliver,
        shared,
        backlog: Vec::new(),
        window: Vec::new(),
        pace: Pace::Full,
        rests_until: None,
        limit,
        next_rest: REST_MIN,
    };
    thread_state.work(receiver);
    // Without a sender its thread ends.
    shared.slow().queries = None;
    // A panic over there was reported there.
    let _ = thread.map(JoinHandle::join);
}

/// Reports why, and drops what was queued meanwhile.
fn fail(error: EmbedError, shared: &WorkerShared, receiver: &Receiver<WorkerMessage>) {
    shared.slow().state = WorkerState::Failed(error);
    let waiting = receiver.try_iter().filter(|message| matches!(message, WorkerMessage::Embed(_)));
    give_up(shared, waiting.count());
}

fn give_up(shared: &WorkerShared, count: usize) {
    shared.failed.fetch_add(count, Ordering::AcqRel);
    WorkerShared::leave(&shared.queued, count);
}

fn open_cache(
    config: CacheConfig,
    embedder: &dyn Embedder,
    shared: &WorkerShared,
) -> Option<VectorCache> {
    match VectorCache::open(&config.dir, embedder.model_id(), embedder.dims(), config.lock) {
        Ok(cache) => {
            let mut slow = shared.slow();
            slow.cache = Some(cache.stats());
            match cache.tokens() {
                Ok(tokens) => {
                    let sign_store: Arc<dyn SignStore> = tokens.clone();
                    slow.sign_store = Some(sign_store);
                }
                Err(why) => slow.cache_trouble = Some(why.to_owned()),
            }
            drop(slow);
            Some(cache)
        }
        Err(error) => {
            shared.slow().cache_trouble = Some(error.to_string());
            None
        }
    }
}

/// The state of the thread.
struct Thread<'a> {
    embedder: Box<dyn Embedder>,
    cache: Option<VectorCache>,
    deliver: Box<dyn FnMut(Vec<EmbeddedDocument>) + Send>,
    shared: &'a WorkerShared,
    /// The waiting jobs, oldest first; taken from the end.
    backlog: Vec<Job>,
    /// The newest of them that are not in the cache, longest first; taken from the end.
    window: Vec<Job>,
    pace: Pace,
    /// No batch begins before that.
    rests_until: Option<Instant>,
    limit: BatchLimit,
    /// How long it rests after the next failure of a model that may work later.
    next_rest: Duration,
}

impl Thread<'_> {
    fn work(mut self, receiver: &Receiver<WorkerMessage>) {
        while self.take_messages(receiver) {
            if self.window.is_empty() {
                self.fill_window();
            } else {
                match self.embed_batch() {
                    Ok(()) => self.rest(),
                    Err(trouble) => self.rest_longer(&trouble),
                }
            }
        }
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

    /// Answers queries and queues texts. Waits when there is nothing else to do, and while it rests. Returns false to
    /// stop.
    fn take_messages(&mut self, receiver: &Receiver<WorkerMessage>) -> bool {
        loop {
            if self.shared.stop.load(Ordering::Acquire) {
                return false;
            }
            let idle = self.backlog.is_empty() && self.window.is_empty();
            let message = if idle {
                receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                receiver.recv_timeout(self.rest_left())
            };
            match message {
                Ok(WorkerMessage::Embed(job)) => self.backlog.push(job),
                Ok(WorkerMessage::Query(job)) => self.answer(job),
                Ok(WorkerMessage::Texts(job)) => self.answer_texts(&job),
                Ok(WorkerMessage::Pace(pace)) => {
                    self.pace = pace;
                    self.rest();
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(WorkerMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn rest_left(&self) -> Duration {
        let now = Instant::now();
        self.rests_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    fn answer_texts(&mut self, job: &TextsJob) {
        if Instant::now() < job.until {
            let texts: Vec<&str> = job.texts.iter().map(String::as_str).collect();
            let embeddings = self.embedder.embed(&texts);
            let vectors = |all: Vec<Embedding>| all.into_iter().map(|one| one.vector).collect();
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
        let newest = self
            .backlog
            .split_off(self.backlog.len().saturating_sub(WINDOW_JOBS.max(self.limit.texts)));
        let mut known = Vec::new();
        for job in newest {
            let found =
                self.cache.as_mut().and_then(|cache| cache.get(TextKey::from_text(&job.text)));
            let signed = self.signed(&job);
            match found {
                Some(vector) if job.want == WantedOutput::Vector || signed != SignState::NotYet => {
                    known.push(embedded(&job, vector, signed));
                }
                _ => self.window.push(job),
            }
        }
        // Texts of similar length share a batch, so that little padding is computed; the shortest go first.
        self.window.sort_by_key(|job| std::cmp::Reverse(job.text.len()));
        self.shared.from_cache.fetch_add(known.len(), Ordering::AcqRel);
        self.hand_over(known);
    }

    /// Embeds the next batch.
    ///
    /// # Errors
    /// The model may work later; what it did not embed then waits.
    fn embed_batch(&mut self) -> Result<(), EmbedError> {
        let mut batch = self.next_batch();
        let texts: Vec<&str> = batch.iter().map(|job| job.text.as_str()).collect();
        let EmbeddingOutcomes { outcomes, trouble } = self.embedder.embed_each(&texts);
        if trouble.is_some() {
            let waiting = batch.split_off(outcomes.len().min(batch.len()));
            self.window.extend(waiting.into_iter().rev());
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
        self.remember(&done);
        let hand = |(job, Embedding { vector, .. })| {
            let signed = match self.signed(job) {
                // It could not be stored, and another try would fail too.
                SignState::NotYet => SignState::Failed,
                other => other,
            };
            embedded(job, vector, signed)
        };
        let embedded = done.into_iter().map(hand).collect();
        self.hand_over(embedded);
    }

    /// Returns the state of a text's signs.
    fn signed(&self, job: &Job) -> SignState {
        if !is_signed(job) || !self.embedder.has_tokens() {
            return SignState::Never;
        }
        match self.cache.as_ref().filter(|cache| cache.tokens().is_ok()) {
            Some(cache) => {
                cache.place(TextKey::from_text(&job.text)).map_or(SignState::NotYet, SignState::At)
            }
            None => SignState::Failed,
        }
    }

    /// Takes texts off the window while they fit in one batch; always at least one.
    fn next_batch(&mut self) -> Vec<Job> {
        let texts_max = if self.pace == Pace::Full { self.limit.texts } else { 1 };
        let mut batch: Vec<Job> = Vec::new();
        while let Some(next) = self.window.last() {
            // The window is sorted, so the next text is the longest so far.
            let padded_bytes = next.text.len() * (batch.len() + 1);
            if !batch.is_empty() && (batch.len() == texts_max || padded_bytes > self.limit.bytes) {
                break;
            }
            batch.extend(self.window.pop());
        }
        batch
    }

    fn remember(&mut self, done: &[(&Job, Embedding)]) {
        let Some(cache) = self.cache.as_mut() else { return };
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

    fn hand_over(&mut self, vectors: Vec<EmbeddedDocument>) {
        if vectors.is_empty() {
            return;
        }
        let count = vectors.len();
        // Counted before the delivery, so that a reader of the delivery sees the count.
        self.shared.done.fetch_add(count, Ordering::AcqRel);
        (self.deliver)(vectors);
        WorkerShared::leave(&self.shared.queued, count);
    }
}

/// Tells whether the tokens of a text are compared.
fn is_signed(job: &Job) -> bool {
    job.text.len() <= SIGNED_BYTES_MAX
}

fn embedded(job: &Job, vector: Vec<f32>, signed: SignState) -> EmbeddedDocument {
    EmbeddedDocument { doc: job.doc, generation: job.generation, vector, signed }
}
