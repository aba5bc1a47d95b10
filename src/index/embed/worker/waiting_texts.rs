//! The texts that wait for the model, and their order: the newest first, and every text before the second vector of any. Where
//! many wait, a long text first gets a vector of its beginning, which takes half the time; the whole of it follows when no
//! text is without a vector. Not here: embedding them (`thread`).

use super::worker_jobs::{Job, WantedOutput};
use crate::embed::BatchLimit;

/// Texts per batch.
pub(super) const BATCH_TEXTS: usize = 16;
/// Longest text times number of texts in a batch, in bytes: short texts are padded to the longest, so this is what is
/// computed. A kilobyte is some 220 tokens and 60 ms on one core. Larger batches are no faster per text and make
/// queries wait longer. A single longer text is a batch of its own.
pub(super) const BATCH_BYTES: usize = 1024;
/// Newest jobs that are sorted together: enough to find texts of similar length, few enough that a new job waits for
/// two seconds of older ones at most.
pub(super) const WINDOW_JOBS: usize = 32;

/// The beginning of a long text that is embedded first where many wait, in bytes: half of what the model reads. Of 484 lessons of
/// 2,000 characters it finds nearly as many by meaning alone as the whole text does (benches/runs/2026-11-28-meaning-soon.md).
pub(super) const BEGINNING_BYTES: usize = 512;

/// What becomes of long texts where many wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LongTexts {
    /// Their beginnings go first.
    BeginningsFirst,
    /// They are embedded once: an external model is paid for each text.
    Once,
}

/// The texts that wait.
pub(super) struct WaitingTexts {
    /// The texts without a vector, oldest first; taken from the end.
    backlog: Vec<Job>,
    /// The texts that have one and are embedded again, oldest first.
    again: Vec<Job>,
    /// The newest of them that are not in the cache, longest first; taken from the end.
    window: Vec<Job>,
    /// Whether more texts than a window hold wait for their first vector.
    is_crowded: bool,
    long_texts: LongTexts,
    limit: BatchLimit,
}

impl WaitingTexts {
    /// Texts of a model that takes so many at once; `None` for the best number on this machine.
    pub(super) fn new(limit: Option<BatchLimit>, long_texts: LongTexts) -> Self {
        let limit = limit.unwrap_or(BatchLimit { texts: BATCH_TEXTS, bytes: BATCH_BYTES });
        let (backlog, again, window) = (Vec::new(), Vec::new(), Vec::new());
        Self { backlog, again, window, is_crowded: false, long_texts, limit }
    }

    pub(super) fn push(&mut self, job: Job) {
        match job.want {
            WantedOutput::Vector => self.backlog.push(job),
            WantedOutput::Signs => self.again.push(job),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.backlog.is_empty() && self.again.is_empty() && self.window.is_empty()
    }

    pub(super) fn is_window_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// Takes the newest jobs for a window.
    pub(super) fn newest(&mut self) -> Vec<Job> {
        let jobs = if self.backlog.is_empty() { &mut self.again } else { &mut self.backlog };
        let newest = jobs.split_off(jobs.len().saturating_sub(WINDOW_JOBS.max(self.limit.texts)));
        self.is_crowded = !self.backlog.is_empty();
        newest
    }

    /// Fills the window with those of the newest jobs that are to be embedded.
    pub(super) fn fill_window(&mut self, jobs: Vec<Job>) {
        let mut window = jobs;
        // Texts of similar length share a batch, so that little padding is computed; the shortest go first.
        window.sort_by_key(|job| std::cmp::Reverse(self.text_to_embed(job).len()));
        self.window = window;
    }

    /// Takes texts off the window while they fit in one batch; always at least one.
    pub(super) fn next_batch(&mut self, texts_max: usize) -> Vec<Job> {
        let texts_max = texts_max.min(self.limit.texts);
        let mut batch: Vec<Job> = Vec::new();
        while let Some(next) = self.window.last() {
            // The window is sorted, so the next text is the longest so far.
            let padded_bytes = self.text_to_embed(next).len() * (batch.len() + 1);
            if !batch.is_empty() && (batch.len() == texts_max || padded_bytes > self.limit.bytes) {
                break;
            }
            batch.extend(self.window.pop());
        }
        batch
    }

    /// Puts back what was not embedded.
    pub(super) fn put_back(&mut self, jobs: Vec<Job>) {
        self.window.extend(jobs.into_iter().rev());
    }

    /// Returns what is embedded of the text of a job now: all of it, or its beginning.
    pub(super) fn text_to_embed<'a>(&self, job: &'a Job) -> &'a str {
        let is_beginning = self.is_crowded
            && self.long_texts == LongTexts::BeginningsFirst
            && job.want == WantedOutput::Vector;
        if is_beginning { beginning(&job.text) } else { &job.text }
    }
}

/// Returns the beginning of a long text, up to a space where there is one near; a shorter text is returned whole.
fn beginning(text: &str) -> &str {
    if text.len() <= BEGINNING_BYTES {
        return text;
    }
    let start = text.get(..text.floor_char_boundary(BEGINNING_BYTES)).unwrap_or(text);
    let words = start.rsplit_once(char::is_whitespace).map_or(start, |(words, _)| words);
    if words.len() < BEGINNING_BYTES / 2 { start } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_at_a_word_or_a_character() {
        assert_eq!(beginning("short"), "short");
        let words = "word ".repeat(200);
        assert_eq!(beginning(&words).len(), 509);
        assert!(beginning(&words).ends_with("word"));
        let unbroken = "€".repeat(400);
        assert_eq!(beginning(&unbroken).len(), 510);
        let late = format!("a {}", "x".repeat(600));
        assert_eq!(beginning(&late).len(), BEGINNING_BYTES);
    }
}
