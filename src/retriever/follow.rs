//! From files to memories and indexes: follows every log of the store, folds what is new, and starts
//! over when a log was replaced. Owned by the engine's thread. Not here: the thread (`engine`).

mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index::embed::worker::{Embedded, Job};
use super::index::lexical::{DocId, LexicalIndex, Passage};
use super::index::vector::VectorIndex;
use super::projection::{Bound, Census, Effect, Fold, Gone, Memory, Near, Origin, Sessions};
use super::snapshot::{Health, Skip, Snapshot};
use crate::event::{Decoded, RepoKey, SkipReason, codec, redact};
use crate::store::{Change, Config, Line, Store, StoreError, Tail};

use wanted::Asked;
pub use wanted::Wanted;

/// Skipped lines that are kept to be shown; the rest are only counted.
const SKIPS_SHOWN_MAX: usize = 1_000;

/// Follows a store.
pub struct Follower {
    store: Store,
    config: Config,
    bound: Bound,
    /// The logs, and each one's name as memories share it.
    tails: BTreeMap<PathBuf, (Tail, Arc<Path>)>,
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
    sessions: Sessions,
    near: Arc<Vec<Near>>,
    /// Memories whose words are to be indexed anew; also numbers that are free now.
    unindexed: BTreeSet<u32>,
    repos: Arc<BTreeMap<RepoKey, usize>>,
    health: Arc<Health>,
    to_embed: Vec<Wanted>,
    asked: Asked,
}

/// What catching up brought.
#[derive(Debug, Default)]
pub struct Followed {
    /// Memories that need a vector, in the order they were read.
    pub to_embed: Vec<Wanted>,
    /// Whether everything was read anew, so that texts asked for before are of no use.
    pub started_over: bool,
}

/// How often in one look the ages of all memories are taken. Once is enough unless lines come meanwhile
/// that put them in doubt again; those can wait for the next look.
const CENSUSES_MAX: usize = 2;

/// How much more than the bound may be held while lines are read, as a share of it: leaving out many at
/// once costs little more than one.
const SLACK_SHARE: u64 = 64;

/// How many memories wait for their words to be indexed while logs are read: enough that what is learned
/// side by side is indexed once, few enough that their texts are some megabytes.
const UNINDEXED_MAX: usize = 1_024;

/// So much of each neighbour is indexed with a memory, in bytes: a whole lesson of the usual length.
const NEARBY_BYTES_MAX: usize = 1_000;

/// A file that was read is no longer the same, so what was read counts no more.
struct Stale;

impl Follower {
    /// Follows a store from the beginning; nothing is read yet.
    #[must_use]
    pub fn new(store: Store, config: Config, bound: Bound, watch_trouble: Option<String>) -> Self {
        let built = Built { fold: Fold::within(bound, None), ..Built::default() };
        Self { store, config, bound, tails: BTreeMap::new(), built, waiting: 0, watch_trouble }
    }

    /// Reads what is new in every log, and in the spool.
    pub fn catch_up(&mut self) -> Followed {
        // Where that fails, what waits is read where it is.
        let _ = self.store.bring_in_what_waits();
        let mut started_over = false;
        let mut censuses = 0;
        let troubles = loop {
            let swept = self.sweep();
            let is_sure = !self.built.fold.is_in_doubt() || censuses == CENSUSES_MAX;
            let census = match swept {
                Ok(troubles) if is_sure => break troubles,
                Ok(_) => {
                    censuses += 1;
                    Some(Arc::new(self.census()))
                }
                // After this no file can be another than it was, so it happens once in a sweep.
                Err(Stale) => None,
            };
            self.start_over(census);
            started_over = true;
        };
        self.built.fold.settle();
        self.built.trim(0);
        self.built.index_words();
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
        self.tails.retain(|path, (tail, _)| {
            !Store::is_waiting(path) || tail.was_read() || is_there(path)
        });
        Ok(troubles)
    }

    fn follow(&mut self, path: PathBuf) {
        self.tails
            .entry(path)
            .or_insert_with_key(|path| (Tail::of(path.clone()), path.as_path().into()));
    }

    /// Returns the text whose vector is wanted, unless it has become another one since.
    #[must_use]
    pub fn job(&self, wanted: Wanted) -> Option<Job> {
        let Wanted { doc, generation } = wanted;
        let memory =
            self.built.memory(doc).filter(|_| generation == self.built.asked.awaited(doc))?;
        Some(Job { doc, generation, text: memory.meaning_text() })
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
            near: Arc::clone(&self.built.near),
            repos: Arc::clone(&self.built.repos),
            health: Arc::clone(&self.built.health),
        }
    }

    /// Memories of a replaced log cannot be told from copies of them in other logs, so everything is
    /// read again. Rare, and vectors come from the cache.
    fn start_over(&mut self, census: Option<Arc<Census>>) {
        let last = self.built.asked.last + 1;
        let asked = Asked { last, since_start: last, changed: BTreeMap::new() };
        let fold = Fold::within(self.bound, census);
        self.built = Built { asked, fold, ..Built::default() };
        self.tails.retain(|log, _| log.exists());
        self.tails.values_mut().for_each(|(tail, _)| tail.rewind());
    }

    /// Takes the ages of all memories. What cannot be read now is told of when it is read again.
    fn census(&mut self) -> Census {
        let mut census = Census::default();
        for (log, (tail, _)) in &mut self.tails {
            let file_repo = Store::repo_of(log).to_string();
            tail.rewind();
            let _ = tail.read(|line| {
                if let Decoded::Event(event) = codec::decode(line.bytes, &file_repo) {
                    census.note(&redact::without_secrets(*event));
                }
            });
        }
        census
    }

    fn read(&mut self, log: &Path) -> Result<Change, StoreError> {
        let Some((tail, shared)) = self.tails.get_mut(log) else { return Ok(Change::None) };
        match tail.look()? {
            Change::Grown => {}
            other => return Ok(other),
        }
        let file_repo = Store::repo_of(log).to_string();
        let (built, config) = (&mut self.built, &self.config);
        let slack_bytes = self.bound.bytes_max / SLACK_SHARE;
        tail.read(|line| match codec::decode(line.bytes, &file_repo) {
            Decoded::Blank => {}
            Decoded::Skipped(reason) => built.skip(shared, line, reason),
            Decoded::Event(event) => {
                Arc::make_mut(&mut built.health).lines += 1;
                // Others write lines by hand: no secret gets further than this.
                let event = redact::without_secrets(*event);
                let repo = built.shared(config.current(&event.repo_key()));
                let origin = Origin { log: Arc::clone(shared), offset: line.offset };
                let effect = built.fold.apply(event, repo, origin);
                built.index(effect);
                built.trim(slack_bytes);
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
        match effect {
            Effect::Added(number) => self.add(number),
            Effect::Changed { number, old_repo } => {
                self.uncount(&old_repo);
                self.forget_vector(number);
                self.add(number);
            }
            Effect::Nothing => {}
        }
    }

    /// Indexes a memory under a number that is free.
    fn add(&mut self, number: u32) {
        let Some(memory) = self.memory(number) else { return };
        *Arc::make_mut(&mut self.repos).entry(memory.repo.clone()).or_default() += 1;
        self.place(number, Some(&memory));
        self.want_vector(number);
        if self.unindexed.len() >= UNINDEXED_MAX {
            self.index_words();
        }
    }

    /// Takes in what stands under a number now: its words, and those of its neighbours, are to be indexed.
    fn place(&mut self, number: u32, memory: Option<&Memory>) {
        self.unindexed.extend(self.sessions.note(number, memory));
        self.unindexed.insert(number);
    }

    /// Indexes the words of all that changed since the last time.
    fn index_words(&mut self) {
        if self.unindexed.is_empty() {
            return;
        }
        let numbers = std::mem::take(&mut self.unindexed);
        let near = Arc::make_mut(&mut self.near);
        near.resize(self.fold.memories().len(), Near::default());
        for number in &numbers {
            let place = usize::try_from(*number).ok().and_then(|place| near.get_mut(place));
            place.into_iter().for_each(|near| *near = self.sessions.near(*number));
        }
        let documents = numbers.into_iter().map(|number| (DocId(number), self.passages(number)));
        let documents: BTreeMap<DocId, Vec<Passage>> = documents.collect();
        self.lexical.put_all(&documents);
    }

    /// The passages of a memory, none where the number is free. What was learned beside a short one is part of
    /// it: a lesson often leaves out what it is about.
    fn passages(&self, number: u32) -> Vec<Passage> {
        let Some(memory) = self.memory(number) else { return Vec::new() };
        let mut passages: Vec<Passage> = memory.passages().into_iter().map(Passage::of).collect();
        if let [only] = passages.as_mut_slice() {
            let near = self.sessions.near(number);
            for neighbour in near.numbers().filter_map(|number| self.memory(number)) {
                only.nearby.push_str(beginning(&neighbour.index_text()));
                only.nearby.push('\n');
            }
        }
        passages
    }

    fn memory(&self, number: u32) -> Option<Arc<Memory>> {
        self.fold.memories().get(usize::try_from(number).ok()?).cloned()
    }

    /// Returns a key as the memories of its repository share it.
    fn shared(&self, repo: RepoKey) -> RepoKey {
        self.repos.get_key_value(&repo).map_or(repo, |(known, _)| known.clone())
    }

    fn uncount(&mut self, repo: &RepoKey) {
        let repos = Arc::make_mut(&mut self.repos);
        if let Some(count) = repos.get_mut(repo) {
            *count -= 1;
            if *count == 0 {
                repos.remove(repo);
            }
        }
    }

    /// Keeps within the bound: what the fold leaves out leaves the indexes too.
    fn trim(&mut self, slack_bytes: u64) {
        let gone = self.fold.trim(slack_bytes);
        if gone.is_empty() {
            return;
        }
        let mut changed: BTreeSet<u32> = BTreeSet::new();
        for Gone { number, repo, moved_from } in gone {
            self.uncount(&repo);
            let vector = moved_from.and_then(|from| self.vectors.as_ref()?.get(from));
            for number in [number].into_iter().chain(moved_from) {
                self.forget_vector(number);
                self.place(number, None);
                changed.insert(number);
            }
            let moved = moved_from.and_then(|_| self.memory(number));
            self.place(number, moved.as_deref());
            if let (Some(vector), Some(vectors)) = (vector, &mut self.vectors) {
                // It was taken before.
                let _ = vectors.set(number, &vector);
            }
        }
        for number in changed {
            let has_vector = self.vectors.as_ref().is_some_and(|vectors| vectors.contains(number));
            if !has_vector && self.memory(number).is_some() {
                self.want_vector(number);
            }
        }
    }

    fn forget_vector(&mut self, number: u32) {
        self.asked.changed(number);
        if let Some(vectors) = &mut self.vectors {
            vectors.remove(number);
        }
    }

    fn want_vector(&mut self, number: u32) {
        self.to_embed.push(Wanted { doc: number, generation: self.asked.awaited(number) });
    }
}

/// The beginning of a neighbour's text.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(NEARBY_BYTES_MAX)).unwrap_or(text)
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

    /// A follower of a log with memories of these numbers, of which three fit.
    fn bounded(folder: &Path, numbers: std::ops::Range<u8>) -> Follower {
        let lines: String = numbers
            .map(|number| line(number, "same").replace("m1", &format!("m{number}")))
            .collect();
        std::fs::write(folder.join("a.jsonl"), lines).unwrap();
        let bound = Bound { bytes_max: 8_000, vector_bytes: 1_500 };
        Follower::new(Store::at(folder), Config::default(), bound, None)
    }

    // S-RANK-5
    #[test]
    fn what_was_learned_beside_a_lesson_finds_it_whatever_came_first() {
        let lines: Vec<String> = ["walrus", "otter", "heron", "badger"]
            .iter()
            .zip(1..)
            .map(|(lesson, second): (_, u8)| {
                let session = format!("\"session_id\":\"s\",\"id\":\"m{second}\"");
                line(second, lesson).replace("\"id\":\"m1\"", &session)
            })
            .collect();
        let indexed = |order: &[usize]| {
            let folder = tempfile::tempdir().unwrap();
            let mut follower =
                Follower::new(Store::at(folder.path()), Config::default(), Bound::NONE, None);
            let mut written = String::new();
            for place in order {
                written.push_str(&lines[*place]);
                std::fs::write(folder.path().join("a.jsonl"), &written).unwrap();
                follower.catch_up();
            }
            let snapshot = follower.snapshot();
            let found = snapshot.lexical().search("walrus", |_| true, 9);
            let ids = found.iter().map(|scored| snapshot.memory(scored.doc.0).unwrap());
            let ids: Vec<String> = ids.map(|memory| memory.event.id.to_string()).collect();
            let of = |(doc, print): (DocId, _)| {
                (snapshot.memory(doc.0).unwrap().event.id.clone(), print)
            };
            let index: BTreeMap<_, _> =
                snapshot.lexical().fingerprints().into_iter().map(of).collect();
            (ids, index)
        };
        let (ids, index) = indexed(&[0, 1, 2, 3]);
        assert_eq!(ids.first().map(String::as_str), Some("m1"), "what says it itself is first");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 3, "m4 is three away: {ids:?}");
        for order in [[3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let (other_ids, other) = indexed(&order);
            assert_eq!(other, index, "{order:?}");
            assert_eq!(other_ids.len(), ids.len());
        }
    }

    // S-BOUND-2
    #[test]
    fn what_is_left_out_leaves_both_indexes_and_the_others_keep_their_vectors() {
        let folder = tempfile::tempdir().unwrap();
        let mut follower = bounded(folder.path(), 0..3);
        for wanted in follower.catch_up().to_embed {
            let job = follower.job(wanted).unwrap();
            let place = f32::from(u8::try_from(job.doc).unwrap());
            follower.embedded(&vector(&job, vec![1.0, place]));
        }
        let before = follower.snapshot();
        assert_eq!((before.memories().len(), before.embedded()), (3, 3));
        let log = folder.path().join("a.jsonl");
        let more = line(9, "more").replace("m1", "m9");
        let late = line(3, "late").replace("m1", "m3");
        std::fs::write(&log, std::fs::read_to_string(&log).unwrap() + &more + &late).unwrap();
        let to_embed = follower.catch_up().to_embed;
        let after = follower.snapshot();
        let mut ids: Vec<&str> =
            after.memories().iter().map(|memory| memory.event.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["m2", "m3", "m9"]);
        assert_eq!((after.lexical().len(), after.room().left_out), (3, 2));
        assert_eq!(after.repos().values().sum::<usize>(), 3);
        let place = |id: &str| {
            let mut memories = after.memories().iter();
            u32::try_from(memories.position(|memory| memory.event.id.as_str() == id).unwrap())
                .unwrap()
        };
        let vectors = after.vectors().unwrap();
        assert_eq!(vectors.len(), 1, "m0 and m1 are gone, the others have none yet");
        assert!((vectors.score(place("m2"), &[1.0, 2.0]).unwrap() - 1.0).abs() < 1e-6);
        let jobs: Vec<Job> = to_embed.iter().filter_map(|wanted| follower.job(*wanted)).collect();
        for id in ["m3", "m9"] {
            assert!(jobs.iter().any(|job| job.doc == place(id)), "{id} waits for its vector");
        }
        // A frozen state is not disturbed.
        assert_eq!((before.memories().len(), before.embedded()), (3, 3));
    }

    #[test]
    fn a_memory_that_changed_never_takes_the_vector_of_its_old_text() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, line(2, "old")).unwrap();
        let mut follower =
            Follower::new(Store::at(folder.path()), Config::default(), Bound::NONE, None);
        let old = follower.catch_up().to_embed.remove(0);
        let old = follower.job(old).unwrap();
        follower.embedded(&vector(&old, vec![1.0, 0.0]));
        // The earlier content wins; the log has only grown.
        std::fs::write(&log, line(2, "old") + &line(1, "new")).unwrap();
        let followed = follower.catch_up();
        assert!(!followed.started_over);
        let new = &follower.job(followed.to_embed[0]).unwrap();
        let holds = |follower: &Follower| follower.built.vectors.as_ref().unwrap().contains(0);
        assert!(!holds(&follower), "the old vector must be gone at once");
        follower.embedded(&vector(&old, vec![1.0, 0.0]));
        assert!(!holds(&follower), "a late old vector must not come back");
        follower.embedded(&vector(new, vec![0.0, 1.0]));
        assert!(holds(&follower));
    }
}
