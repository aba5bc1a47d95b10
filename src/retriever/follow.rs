//! From files to memories and indexes: follows every log of the store, folds what is new, and starts
//! over when a log was replaced. Owned by the engine's thread. Not here: the thread (`engine`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index::embed::worker::{Embedded, Job};
use super::index::lexical::{DocId, LexicalIndex};
use super::index::vector::VectorIndex;
use super::projection::{Effect, Fold, Origin};
use super::snapshot::{Health, Skip, Snapshot};
use crate::event::{Decoded, RepoKey, SkipReason, codec, redact};
use crate::store::{Change, Config, Line, Store, StoreError, Tail};

/// Skipped lines that are kept to be shown; the rest are only counted.
const SKIPS_SHOWN_MAX: usize = 1_000;

/// Follows a store.
pub struct Follower {
    store: Store,
    config: Config,
    tails: BTreeMap<PathBuf, Tail>,
    built: Built,
    waiting: usize,
    watch_trouble: Option<String>,
}

/// Everything that is made from the logs and nothing else.
#[derive(Default)]
struct Built {
    fold: Fold,
    lexical: LexicalIndex,
    vectors: Option<VectorIndex>,
    repos: Arc<BTreeMap<RepoKey, usize>>,
    health: Arc<Health>,
    to_embed: Vec<Job>,
    asked: Asked,
}

/// Which vector is awaited for each memory, so that one for an older text is not taken. Numbers only
/// grow, also over a start-over.
#[derive(Default)]
struct Asked {
    last: u64,
    since_start: u64,
    changed: BTreeMap<u32, u64>,
}

/// What catching up brought.
#[derive(Debug, Default)]
pub struct Followed {
    /// Texts that need a vector, in the order they were read.
    pub to_embed: Vec<Job>,
    /// Whether everything was read anew, so that texts asked for before are of no use.
    pub started_over: bool,
}

/// A file that was read is no longer the same, so what was read counts no more.
struct Stale;

impl Follower {
    /// Follows a store from the beginning; nothing is read yet.
    #[must_use]
    pub fn new(store: Store, config: Config, watch_trouble: Option<String>) -> Self {
        let (tails, built) = (BTreeMap::new(), Built::default());
        Self { store, config, tails, built, waiting: 0, watch_trouble }
    }

    /// Reads what is new in every log, and in the spool.
    pub fn catch_up(&mut self) -> Followed {
        // Where that fails, what waits is read where it is.
        let _ = self.store.bring_in_what_waits();
        let mut started_over = false;
        let troubles = loop {
            match self.sweep() {
                Ok(troubles) => break troubles,
                Err(Stale) => {
                    // After this no file can be another than it was, so it happens once in a sweep.
                    self.start_over();
                    started_over = true;
                }
            }
        };
        self.note(troubles);
        Followed { to_embed: std::mem::take(&mut self.built.to_embed), started_over }
    }

    /// Reads the spool and then the logs: what leaves the one meanwhile is in the other by then.
    fn sweep(&mut self) -> Result<BTreeMap<PathBuf, String>, Stale> {
        let mut troubles = BTreeMap::new();
        let mut failed = |path: &Path, error: &StoreError| {
            troubles.entry(path.to_owned()).or_insert_with(|| error.to_string());
        };
        let waiting = self.store.spooled();
        self.waiting = waiting.as_ref().map_or(0, Vec::len);
        let logs = self.store.logs();
        for listed in [waiting, logs] {
            match listed {
                Ok(paths) => paths.into_iter().for_each(|path| self.follow(path)),
                Err(error) => failed(self.store.root(), &error),
            }
        }
        let (waiting, logs): (Vec<PathBuf>, Vec<PathBuf>) =
            self.tails.keys().cloned().partition(|path| Store::is_waiting(path));
        for path in waiting.iter().chain(&logs) {
            match self.read(path) {
                Ok(Change::Replaced | Change::Gone) => return Err(Stale),
                Ok(Change::None | Change::Grown) => {}
                Err(error) => failed(path, &error),
            }
        }
        // What left the spool before it was read was read in its log.
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        self.tails
            .retain(|path, tail| !Store::is_waiting(path) || tail.was_read() || is_there(path));
        Ok(troubles)
    }

    fn follow(&mut self, path: PathBuf) {
        self.tails.entry(path).or_insert_with_key(|path| Tail::of(path.clone()));
    }

    /// Takes in a vector, unless it was asked for before the last start-over.
    pub fn embedded(&mut self, embedded: &Embedded) {
        if embedded.generation == self.built.asked.awaited(embedded.doc) {
            let vectors =
                self.built.vectors.get_or_insert_with(|| VectorIndex::new(embedded.vector.len()));
            // A vector that is no direction cannot be compared; its memory is found by words.
            if vectors.set(embedded.doc, &embedded.vector).is_err() {
                Arc::make_mut(&mut self.built.health).without_vector += 1;
            }
        }
    }

    /// Returns the present state, frozen.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            fold: self.built.fold.clone(),
            lexical: self.built.lexical.clone(),
            vectors: self.built.vectors.clone(),
            repos: Arc::clone(&self.built.repos),
            health: Arc::clone(&self.built.health),
        }
    }

    /// Memories of a replaced log cannot be told from copies of them in other logs, so everything is
    /// read again. Rare, and vectors come from the cache.
    fn start_over(&mut self) {
        let last = self.built.asked.last + 1;
        let asked = Asked { last, since_start: last, changed: BTreeMap::new() };
        self.built = Built { asked, ..Built::default() };
        self.tails.retain(|log, _| log.exists());
        self.tails.values_mut().for_each(Tail::rewind);
    }

    fn read(&mut self, log: &Path) -> Result<Change, StoreError> {
        let Some(tail) = self.tails.get_mut(log) else { return Ok(Change::None) };
        match tail.look()? {
            Change::Grown => {}
            other => return Ok(other),
        }
        let shared: Arc<Path> = log.into();
        let file_repo = Store::repo_of(log).to_string();
        let (built, config) = (&mut self.built, &self.config);
        tail.read(|line| match codec::decode(line.bytes, &file_repo) {
            Decoded::Blank => {}
            Decoded::Skipped(reason) => built.skip(&shared, line, reason),
            Decoded::Event(event) => {
                Arc::make_mut(&mut built.health).lines += 1;
                // Others write lines by hand: no secret gets further than this.
                let event = redact::without_secrets(*event);
                let repo = config.current(&event.repo_key());
                let origin = Origin { log: Arc::clone(&shared), offset: line.offset };
                let effect = built.fold.apply(event, repo, origin);
                built.index(effect);
            }
        })
    }

    fn note(&mut self, troubles: BTreeMap<PathBuf, String>) {
        let logs = self.tails.keys().filter(|path| !Store::is_waiting(path)).count();
        let (waiting, early) = (self.waiting, self.built.fold.early_len());
        let now = &self.built.health;
        let is_same = (now.logs, now.waiting, now.early) == (logs, waiting, early);
        if !is_same || now.troubles != troubles || now.watch_trouble != self.watch_trouble {
            let health = Arc::make_mut(&mut self.built.health);
            (health.logs, health.waiting, health.early) = (logs, waiting, early);
            health.troubles = troubles;
            health.watch_trouble.clone_from(&self.watch_trouble);
        }
    }
}

impl Built {
    fn skip(&mut self, log: &Arc<Path>, line: Line<'_>, reason: SkipReason) {
        let health = Arc::make_mut(&mut self.health);
        health.lines += 1;
        health.skipped += 1;
        if health.skips.len() < SKIPS_SHOWN_MAX {
            let reason = match reason {
                SkipReason::TooLong { .. } => SkipReason::TooLong { line_bytes: line.line_bytes },
                other => other,
            };
            health.skips.push(Skip { log: Arc::clone(log), offset: line.offset, reason });
        }
    }

    fn index(&mut self, effect: Effect) {
        let number = match &effect {
            Effect::Added(number) | Effect::Changed { number, .. } => *number,
            Effect::Nothing => return,
        };
        let memories = Arc::clone(self.fold.memories());
        let place = usize::try_from(number).ok();
        let Some(memory) = place.and_then(|place| memories.get(place)) else { return };
        let text = memory.index_text();
        let repos = Arc::make_mut(&mut self.repos);
        *repos.entry(memory.repo.clone()).or_default() += 1;
        if let Effect::Changed { old_repo, .. } = effect {
            if let Some(count) = repos.get_mut(&old_repo) {
                *count -= 1;
            }
            repos.retain(|_, count| *count > 0);
            self.lexical.replace(DocId(number), &text);
            self.asked.changed(number);
            if let Some(vectors) = &mut self.vectors {
                vectors.remove(number);
            }
        } else {
            // Numbers only grow, so the index has nothing to refuse.
            let _ = self.lexical.insert(DocId(number), &text);
        }
        let generation = self.asked.awaited(number);
        self.to_embed.push(Job { doc: number, generation, text: memory.meaning_text() });
    }
}

impl Asked {
    fn awaited(&self, number: u32) -> u64 {
        self.changed.get(&number).copied().unwrap_or(self.since_start)
    }

    fn changed(&mut self, number: u32) {
        self.last += 1;
        self.changed.insert(number, self.last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(second: u8, lesson: &str) -> String {
        format!(
            "{{\"id\":\"m1\",\"timestamp\":\"2026-01-01T00:00:0{second}Z\",\"lesson\":\"{lesson}\"}}\n"
        )
    }

    fn vector(job: &Job, vector: Vec<f32>) -> Embedded {
        Embedded { doc: job.doc, generation: job.generation, vector }
    }

    #[test]
    fn a_memory_that_changed_never_takes_the_vector_of_its_old_text() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, line(2, "old")).unwrap();
        let mut follower = Follower::new(Store::at(folder.path()), Config::default(), None);
        let old = follower.catch_up().to_embed.remove(0);
        follower.embedded(&vector(&old, vec![1.0, 0.0]));
        // The earlier content wins; the log has only grown.
        std::fs::write(&log, line(2, "old") + &line(1, "new")).unwrap();
        let followed = follower.catch_up();
        assert!(!followed.started_over);
        let new = &followed.to_embed[0];
        let holds = |follower: &Follower| follower.built.vectors.as_ref().unwrap().contains(0);
        assert!(!holds(&follower), "the old vector must be gone at once");
        follower.embedded(&vector(&old, vec![1.0, 0.0]));
        assert!(!holds(&follower), "a late old vector must not come back");
        follower.embedded(&vector(new, vec![0.0, 1.0]));
        assert!(holds(&follower));
    }
}
