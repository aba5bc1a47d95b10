//! The worker thread: loads the model, then answers queries and embeds texts until it is stopped.
//!
//! What is not here: the handle others hold, and the counters both sides see (`worker`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::priority::give_way;
use super::{
    CacheConfig, Embedded, Job, Message, Pace, QueryEmbedding, QueryJob, SIGNED_BYTES_MAX, Want,
    WorkerConfig, WorkerShared, WorkerState,
};
use crate::embed::cache::{TextKey, VectorCache};
use crate::embed::{EmbedError, Embedder, Embedding};
use crate::late::{QueryToken, SignState, SignStore, TokenSigns};

/// Texts per batch.
pub(super) const BATCH_TEXTS: usize = 16;
/// Longest text times number of texts in a batch, in bytes: short texts are padded to the longest, so this is what is
/// computed. A kilobyte is some 220 tokens and 60 ms on one core. Larger batches are no faster per text and make
/// queries wait longer. A single longer text is a batch of its own.
pub(super) const BATCH_BYTES: usize = 1024;
/// Newest jobs that are sorted together: enough to find texts of similar length, few enough that a new job waits for
/// two seconds of older ones at most.
pub(super) const WINDOW_JOBS: usize = 32;

/// The life of the thread. `returned` is its own sender.
pub(super) fn run(
    config: WorkerConfig,
    shared: &Arc<WorkerShared>,
    receiver: &Receiver<Message>,
    returned: Sender<Message>,
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
    let (backlog, window, pace, rests_until) = (Vec::new(), Vec::new(), Pace::Full, None);
    let deliver = config.deliver;
    Thread { embedder, cache, deliver, shared, backlog, window, pace, rests_until }.work(receiver);
    // Without a sender its thread ends.
    shared.slow().queries = None;
    // A panic over there was reported there.
    let _ = thread.map(JoinHandle::join);
}

/// The thread that embeds queries while texts are embedded.
struct QueryThread {
    network: Box<dyn Embedder>,
    shared: Arc<WorkerShared>,
    /// Takes the queries back if the network fails.
    returned: Sender<Message>,
}

impl QueryThread {
    /// Returns `None` where the system refuses a thread; then there is no network for queries any more.
    fn start(self) -> Option<(Sender<QueryJob>, JoinHandle<()>)> {
        let (sender, receiver) = mpsc::channel();
        let named = std::thread::Builder::new().name("embed-query".to_owned());
        Some((sender, named.spawn(move || self.work(&receiver)).ok()?))
    }

    fn work(mut self, receiver: &Receiver<QueryJob>) {
        while let Ok(job) = receiver.recv() {
            if let Err((job, _)) = answer(self.network.as_mut(), &self.shared, job) {
                // It would fail again; the network for texts embeds this query and all later ones.
                self.shared.slow().queries = None;
                std::iter::once(job).chain(receiver.try_iter()).for_each(|job| self.give_back(job));
                break;
            }
        }
        receiver.try_iter().for_each(|job| self.give_back(job));
    }

    fn give_back(&self, job: QueryJob) {
        if self.returned.send(Message::Query(job)).is_err() {
            WorkerShared::leave(&self.shared.queries, 1);
        }
    }
}

/// Answers a query; gives it back where the network fails.
fn answer(
    network: &mut dyn Embedder,
    shared: &WorkerShared,
    job: QueryJob,
) -> Result<(), (QueryJob, EmbedError)> {
    if Instant::now() < job.until {
        // Another caller may just have sent the same query.
        let known = shared.query_cache().get(&job.text);
        let meant = match known {
            Some(known) => known,
            None => match network.embed_query(&job.text) {
                Ok(embedding) => {
                    let meant = query_embedding(embedding);
                    shared.query_cache().insert(&job.text, &meant);
                    meant
                }
                Err(error) => return Err((job, error)),
            },
        };
        // The caller may have stopped waiting.
        let _ = job.reply.send(Ok(meant));
    }
    WorkerShared::leave(&shared.queries, 1);
    Ok(())
}

fn query_embedding(Embedding { vector, tokens }: Embedding) -> QueryEmbedding {
    QueryEmbedding { vector, tokens: tokens.iter().filter_map(QueryToken::of).collect() }
}

/// Reports why, and drops what was queued meanwhile.
fn fail(error: EmbedError, shared: &WorkerShared, receiver: &Receiver<Message>) {
    shared.slow().state = WorkerState::Failed(error);
    let waiting = receiver.try_iter().filter(|message| matches!(message, Message::Embed(_)));
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
    deliver: Box<dyn FnMut(Vec<Embedded>) + Send>,
    shared: &'a WorkerShared,
    /// The waiting jobs, oldest first; taken from the end.
    backlog: Vec<Job>,
    /// The newest of them that are not in the cache, longest first; taken from the end.
    window: Vec<Job>,
    pace: Pace,
    /// No batch begins before that.
    rests_until: Option<Instant>,
}

impl Thread<'_> {
    fn work(&mut self, receiver: &Receiver<Message>) {
        while self.take_messages(receiver) {
            if self.window.is_empty() {
                self.fill_window();
            } else {
                self.embed_batch();
                self.rest();
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

    /// Answers queries and queues texts. Waits when there is nothing else to do, and while it rests. Returns false to
    /// stop.
    fn take_messages(&mut self, receiver: &Receiver<Message>) -> bool {
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
                Ok(Message::Embed(job)) => self.backlog.push(job),
                Ok(Message::Query(job)) => self.answer(job),
                Ok(Message::Pace(pace)) => {
                    self.pace = pace;
                    self.rest();
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn rest_left(&self) -> Duration {
        let now = Instant::now();
        self.rests_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
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
        let newest = self.backlog.split_off(self.backlog.len().saturating_sub(WINDOW_JOBS));
        let mut known = Vec::new();
        for job in newest {
            let found = self.cache.as_mut().and_then(|cache| cache.get(TextKey::of(&job.text)));
            let signed = self.signed(&job);
            match found {
                Some(vector) if job.want == Want::Vector || signed != SignState::NotYet => {
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

    fn embed_batch(&mut self) {
        let batch = self.next_batch();
        let texts: Vec<&str> = batch.iter().map(|job| job.text.as_str()).collect();
        let embeddings: Vec<Option<Embedding>> = match self.embedder.embed(&texts) {
            Ok(embeddings) => embeddings.into_iter().map(Some).collect(),
            // One text may have failed the whole batch.
            Err(_) => texts.iter().map(|text| self.embedder.embed(&[text]).ok()?.pop()).collect(),
        };
        let pairs = batch.iter().zip(embeddings);
        let done: Vec<(&Job, Embedding)> =
            pairs.filter_map(|(job, embedding)| Some((job, embedding?))).collect();
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
        if !is_signed(job) {
            return SignState::Never;
        }
        match self.cache.as_ref().filter(|cache| cache.tokens().is_ok()) {
            Some(cache) => {
                cache.place(TextKey::of(&job.text)).map_or(SignState::NotYet, SignState::At)
            }
            None => SignState::Failed,
        }
    }

    /// Takes texts off the window while they fit in one batch; always at least one.
    fn next_batch(&mut self) -> Vec<Job> {
        let texts_max = if self.pace == Pace::Full { BATCH_TEXTS } else { 1 };
        let mut batch: Vec<Job> = Vec::new();
        while let Some(next) = self.window.last() {
            // The window is sorted, so the next text is the longest so far.
            let padded_bytes = next.text.len() * (batch.len() + 1);
            if !batch.is_empty() && (batch.len() == texts_max || padded_bytes > BATCH_BYTES) {
                break;
            }
            batch.extend(self.window.pop());
        }
        batch
    }

    fn remember(&mut self, done: &[(&Job, Embedding)]) {
        let Some(cache) = self.cache.as_mut() else { return };
        let key = |job: &Job| TextKey::of(&job.text);
        let rows: Vec<(TextKey, Vec<f32>)> =
            done.iter().map(|(job, embedding)| (key(job), embedding.vector.clone())).collect();
        let to_sign = done.iter().filter(|(job, _)| is_signed(job));
        let signs: Vec<(TextKey, TokenSigns)> =
            to_sign.map(|(job, embedding)| (key(job), TokenSigns::of(&embedding.tokens))).collect();
        let kept = cache.append(&rows).and_then(|()| cache.keep_signs(&signs));
        let trouble = kept.err().map(|error| error.to_string());
        let trouble = trouble.or_else(|| cache.tokens().err().map(str::to_owned));
        let mut slow = self.shared.slow();
        slow.cache = Some(cache.stats());
        slow.cache_trouble = trouble;
    }

    fn hand_over(&mut self, vectors: Vec<Embedded>) {
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

fn embedded(job: &Job, vector: Vec<f32>, signed: SignState) -> Embedded {
    Embedded { doc: job.doc, generation: job.generation, vector, signed }
}
