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
use crate::event::{Decoded, RepoKey, SkipReason, codec};
use crate::store::{Change, Config, Line, Store, StoreError, Tail};

/// Skipped lines that are kept to be shown; the rest are only counted.
const SKIPS_SHOWN_MAX: usize = 1_000;

/// Follows a store.
pub struct Follower {
    store: Store,
    config: Config,
    tails: BTreeMap<PathBuf, Tail>,
    built: Built,
    /// Told apart by it: vectors asked for before the last start-over.
    generation: u64,
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
}

/// What catching up brought.
#[derive(Debug, Default)]
pub struct Followed {
    /// Texts that need a vector.
    pub to_embed: Vec<Job>,
}

impl Follower {
    /// Follows a store from the beginning; nothing is read yet.
    #[must_use]
    pub fn new(store: Store, config: Config, watch_trouble: Option<String>) -> Self {
        let (tails, built) = (BTreeMap::new(), Built::default());
        Self { store, config, tails, built, generation: 0, watch_trouble }
    }

    /// Reads what is new in every log.
    pub fn catch_up(&mut self) -> Followed {
        let mut troubles = BTreeMap::new();
        match self.store.logs() {
            Ok(logs) => {
                for log in logs {
                    self.tails.entry(log).or_insert_with_key(|log| Tail::of(log.clone()));
                }
            }
            Err(error) => drop(troubles.insert(self.store.root().to_owned(), error.to_string())),
        }
        let changes: Vec<(PathBuf, Result<Change, StoreError>)> =
            self.tails.iter().map(|(log, tail)| (log.clone(), tail.look())).collect();
        let starts_over =
            changes.iter().any(|(_, change)| matches!(change, Ok(Change::Replaced | Change::Gone)));
        if starts_over {
            self.start_over();
        }
        for (log, change) in changes {
            let read = match change {
                Ok(Change::None) if !starts_over => Ok(()),
                Ok(_) => match self.read(&log) {
                    // Since the look. After the start-over that this brings no read can say so again.
                    Ok(Change::Replaced | Change::Gone) => return self.catch_up(),
                    read => read.map(drop),
                },
                Err(error) => Err(error),
            };
            if let Err(error) = read {
                troubles.insert(log, error.to_string());
            }
        }
        self.note(troubles);
        Followed { to_embed: std::mem::take(&mut self.built.to_embed) }
    }

    /// Takes in a vector, unless it was asked for before the last start-over.
    pub fn embedded(&mut self, embedded: &Embedded) {
        if embedded.generation == self.generation {
            let vectors =
                self.built.vectors.get_or_insert_with(|| VectorIndex::new(embedded.vector.len()));
            // The model never changes under a running worker, so the length always fits.
            let _ = vectors.set(embedded.doc, &embedded.vector);
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
        self.built = Built::default();
        self.generation += 1;
        self.tails.retain(|log, _| log.exists());
        self.tails.values_mut().for_each(Tail::rewind);
    }

    fn read(&mut self, log: &Path) -> Result<Change, StoreError> {
        let Some(tail) = self.tails.get_mut(log) else { return Ok(Change::None) };
        let shared: Arc<Path> = log.into();
        let file_repo = Store::repo_of(log).to_string();
        let (built, config, generation) = (&mut self.built, &self.config, self.generation);
        tail.read(|line| match codec::decode(line.bytes, &file_repo) {
            Decoded::Blank => {}
            Decoded::Skipped(reason) => built.skip(&shared, line, reason),
            Decoded::Event(event) => {
                Arc::make_mut(&mut built.health).lines += 1;
                let repo = config.current(&event.repo_key());
                let origin = Origin { log: Arc::clone(&shared), offset: line.offset };
                let effect = built.fold.apply(*event, repo, origin);
                built.index(effect, generation);
            }
        })
    }

    fn note(&mut self, troubles: BTreeMap<PathBuf, String>) {
        let (logs, early) = (self.tails.len(), self.built.fold.early_len());
        let now = &self.built.health;
        let is_same = (now.logs, now.early, &now.troubles) == (logs, early, &troubles);
        if !is_same || now.watch_trouble != self.watch_trouble {
            let health = Arc::make_mut(&mut self.built.health);
            (health.logs, health.early, health.troubles) = (logs, early, troubles);
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

    fn index(&mut self, effect: Effect, generation: u64) {
        let (number, is_new) = match effect {
            Effect::Added(number) => (number, true),
            Effect::Changed(number) => (number, false),
            Effect::Nothing => return,
        };
        let memories = Arc::clone(self.fold.memories());
        let Some(memory) = usize::try_from(number).ok().and_then(|place| memories.get(place))
        else {
            return;
        };
        let text = memory.index_text();
        if is_new {
            *Arc::make_mut(&mut self.repos).entry(memory.repo.clone()).or_default() += 1;
            // Numbers only grow, so the index has nothing to refuse.
            let _ = self.lexical.insert(DocId(number), &text);
        } else {
            self.lexical.replace(DocId(number), &text);
            // The content that counts may be of another repository than the one read before it.
            let mut repos = BTreeMap::new();
            memories.iter().for_each(|memory| *repos.entry(memory.repo.clone()).or_default() += 1);
            self.repos = Arc::new(repos);
        }
        self.to_embed.push(Job { doc: number, generation, text: memory.meaning_text() });
    }
}
