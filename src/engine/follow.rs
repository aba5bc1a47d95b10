//! From files to memories and indexes: follows every log of the store, folds new lines, and starts
//! over when a log was replaced. Not here: when this happens (`owner`).

mod backlog;
mod backlog_reading;
mod checkpointing;
mod folded_state;
mod followed_file;
mod line_events;
mod log_kind;
mod lookups;
mod next_space;
mod requested_vectors;
mod space_vectors;
mod sweep;
mod window;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkpoint::{LastCheckpoint, SpillFile};
use super::watch::{ChangeQueue, Changes};
use event::{RepoKey, SkipReason, clean};
use index::embed::SpaceId;
use index::embed::worker::{EmbeddedDocument, Job, WantedOutput};
use index::late::SignState;
use index::vector::VectorIndex;
use memory::{Census, Fold, LinePlace, LogFile, MemoryBound};
use search::CosineScale;
use search::snapshot::Snapshot;
use settings::{Config, PastPosition};
use store::{FileChange, LogLine, Store, StoreError, Tail};

use backlog::Backlog;
pub use checkpointing::{RestoreOutcome, SaveOutcome};
use folded_state::FoldedState;
use followed_file::{FollowedFile, bound_to, may_stand};
use line_events::events_on;
use log_kind::LogKind;
use requested_vectors::RequestedVectors;
pub use requested_vectors::{CatchUpReport, EmbeddingRequest};
use space_vectors::{NextSpace, may_see};
pub use window::Window;

/// Follows a store.
pub struct Follower {
    store: Store,
    config: Config,
    bound: MemoryBound,
    tails: BTreeMap<PathBuf, FollowedFile>,
    /// The files of each kind at the last listing.
    listed: [Vec<PathBuf>; 4],
    built: FoldedState,
    waiting: usize,
    /// Reports changes, where the system can.
    change_queue: Option<ChangeQueue>,
    /// Whether everything was read and the change queue covers every file.
    is_complete: bool,
    watch_trouble: Option<String>,
    window: Option<Window>,
    /// The checkpoint that was written or read last.
    base: Option<LastCheckpoint>,
    /// Where records go while there is no checkpoint.
    spill: Option<SpillFile>,
    /// What was left out to read the newest lines first.
    behind: Backlog,
    /// Whether the checkpoint holds the present state.
    is_saved: bool,
    /// The number of memories whose injection flag the checkpoint holds.
    flags_saved: usize,
}

/// Censuses in one look. One is enough unless lines arrive meanwhile that cause new doubt; those
/// wait for the next look.
const CENSUSES_MAX: usize = 2;

/// The slack above the bound while lines are read, as a share of it. Removing many memories at once
/// costs little more than removing one.
const SLACK_SHARE: u64 = 64;

/// A file was replaced after it was read, so everything must be read again.
struct ReplacedLog;

impl Follower {
    /// Makes a follower that has read nothing yet.
    #[must_use]
    pub fn new(
        store: Store,
        config: Config,
        bound: MemoryBound,
        watch_trouble: Option<String>,
    ) -> Self {
        let built = FoldedState { fold: Fold::within(bound, None), ..FoldedState::default() };
        let (tails, listed) = (BTreeMap::new(), <_>::default());
        let (window, base, is_saved) = (None, None, false);
        Self {
            store,
            config,
            bound,
            tails,
            listed,
            built,
            waiting: 0,
            change_queue: None,
            is_complete: false,
            watch_trouble,
            window,
            base,
            spill: None,
            behind: Backlog::default(),
            is_saved,
            flags_saved: 0,
        }
    }

    /// Makes a follower of the ends of the logs only.
    #[must_use]
    pub fn recent(store: Store, config: Config, bound: MemoryBound, window: Window) -> Self {
        Self { window: Some(window), ..Self::new(store, config, bound, None) }
    }

    /// Uses the change queue of the system, where there is one, instead of looking at every file
    /// each time.
    #[must_use]
    pub fn with_change_queue(self) -> Self {
        Self { change_queue: Some(ChangeQueue::default()), ..self }
    }

    /// Looks at every file the next time, and retries the change queue.
    pub fn recheck_all(&mut self) {
        self.is_complete = false;
        self.change_queue.iter_mut().for_each(ChangeQueue::try_again);
    }

    /// Reads new lines of every log and of the spool.
    pub fn catch_up(&mut self) -> CatchUpReport {
        let changes = self.take_changes();
        let mut started_over = self.follow_all(changes);
        if self.built.fold.is_damaged() {
            // A record outside memory is damaged, so the state may differ from the logs. Start over
            // once, without the spill file: all records then stay in memory until the next
            // checkpoint.
            self.spill = None;
            self.start_over(None);
            self.follow_all(Changes::Anything);
            started_over = true;
        }
        self.read_own_writes();
        self.built.want_lost_signs();
        let to_embed = std::mem::take(&mut self.built.to_embed);
        let to_sign = std::mem::take(&mut self.built.to_sign);
        CatchUpReport { to_embed, to_sign, started_over }
    }

    /// Reads new lines. Returns whether that meant starting over.
    fn follow_all(&mut self, mut changes: Changes) -> bool {
        let mut started_over = false;
        let mut censuses = 0;
        let troubles = loop {
            let result = match &changes {
                Changes::Written(logs) if logs.is_empty() => return false,
                Changes::Written(logs) => self.read_written(logs),
                Changes::Anything => self.sweep(),
            };
            // What is left out for now may resolve the doubt.
            let is_partial = !self.behind.is_empty();
            let is_complete =
                is_partial || !self.built.fold.is_in_doubt() || censuses == CENSUSES_MAX;
            let census = match result {
                Ok(troubles) if is_complete => break troubles,
                Ok(_) => {
                    censuses += 1;
                    Some(Arc::new(self.census()))
                }
                // After this no file can differ from its tail, so this happens once in a sweep.
                Err(ReplacedLog) => None,
            };
            self.start_over(census);
            (changes, started_over) = (Changes::Anything, true);
        };
        self.built.fold.drop_census();
        self.built.trim(0);
        self.built.index_words();
        // A state in doubt is looked at again.
        self.is_complete &= !self.built.fold.is_in_doubt();
        self.update_health(troubles);
        started_over
    }

    /// Does a piece of the work on the index of words that can wait. Returns false when nothing is left.
    pub fn settle(&mut self) -> bool {
        self.built.lexical.settle()
    }

    /// Returns the text to embed, unless it has changed since or the model may not see it.
    pub fn embedding_job(&mut self, wanted: EmbeddingRequest, want: WantedOutput) -> Option<Job> {
        let EmbeddingRequest { doc, generation } = wanted;
        let memory = self.current(wanted)?;
        if !may_see(self.built.may_see.as_ref(), &memory) {
            self.built.withheld.insert(doc);
            return None;
        }
        Some(Job { doc, generation, text: memory.meaning_text(), want })
    }

    /// Sorts memories that need a vector, the most urgent last: those of a repository, then the newest.
    pub fn sort_by_urgency(&self, requests: &mut [EmbeddingRequest], here: Option<&RepoKey>) {
        requests.sort_by_cached_key(|wanted| {
            let memory = self.built.memory(wanted.doc);
            memory.map(|memory| (here == Some(&memory.repo), memory.timestamp))
        });
    }

    /// Stores a vector and the place of its token signs, unless they were requested before the last
    /// start-over. Returns the memory if its signs are still missing.
    pub fn store_vector(&mut self, embedded: &EmbeddedDocument) -> Option<EmbeddingRequest> {
        self.is_saved = false;
        let EmbeddedDocument { doc, generation, vector, signed } = embedded;
        if *generation != self.built.requested.generation_of(*doc) {
            return None;
        }
        let vectors = self.built.vectors.get_or_insert_with(|| VectorIndex::new(vector.len()));
        // A vector that comes with the state of its signs takes the place of one without, which may be that of a beginning.
        let is_final = vectors.contains(*doc)
            && (*signed == SignState::NotYet
                || self.built.sign_locations.get(*doc) != SignState::NotYet);
        // A vector without a direction cannot be compared; its memory is found by words only.
        if !is_final && vectors.set(*doc, vector).is_err() {
            Arc::make_mut(&mut self.built.health).without_vector += 1;
        }
        self.built.sign_locations.set(*doc, *signed);
        (*signed == SignState::NotYet)
            .then_some(EmbeddingRequest { doc: *doc, generation: *generation })
    }

    /// Returns the number of memories, vectors and memories with signs together: the work that a
    /// checkpoint saves.
    #[must_use]
    pub fn known_len(&self) -> usize {
        let vectors = self.built.vectors.as_ref().map_or(0, VectorIndex::len);
        self.built.fold.memories().len() + vectors + self.built.sign_locations.known_len()
    }

    /// Returns a snapshot of the present state, without a store of token signs.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            fold: self.built.fold.frozen(),
            lexical: self.built.lexical.clone(),
            vectors: self.built.vectors.clone(),
            space: SpaceId::default(),
            scale: CosineScale::default(),
            withheld: self.built.withheld.len(),
            next_embedded: self.built.next.as_ref().map(NextSpace::len),
            sign_locations: self.built.sign_locations.clone(),
            sign_store: None,
            neighbours: self.built.neighbours.clone(),
            repos: Arc::clone(&self.built.repos),
            health: Arc::clone(&self.built.health),
            subjects: Arc::clone(&self.built.subjects),
        }
    }

    /// Starts over. Memories of a replaced log look like copies of them in other logs, so
    /// everything is read again. This is rare, and vectors come from the cache.
    fn start_over(&mut self, census: Option<Arc<Census>>) {
        let last = self.built.requested.last + 1;
        let requested = RequestedVectors { last, since_start: last, changed: BTreeMap::new() };
        let fold = Fold::within(self.bound, census);
        let (may_see, next) = (self.built.may_see.take(), self.built.next.as_ref());
        let next = next.map(NextSpace::emptied);
        self.built = FoldedState { requested, fold, may_see, next, ..FoldedState::default() };
        (self.base, self.is_saved, self.is_complete) = (None, false, false);
        self.behind.start_over();
        self.spill.iter_mut().for_each(SpillFile::clear);
        self.tails.retain(|log, _| log.exists());
        self.tails.values_mut().for_each(|tailed| tailed.tail.rewind());
        self.listed = <_>::default();
    }

    /// Reads the ages of all memories. A file that cannot be read now is reported when it is read
    /// again.
    fn census(&mut self) -> Census {
        let mut census = Census::default();
        for (log, FollowedFile { tail, file, .. }) in &mut self.tails {
            let file_repo = Store::repo_of_lines(log).to_string();
            let bound_to = bound_to(file);
            tail.rewind();
            let _ = tail.read(|line| {
                for (_, event) in events_on(line, &file_repo).unwrap_or_default() {
                    if may_stand(&event, bound_to.as_ref()) {
                        census.add(&clean::without_secrets(event));
                    }
                }
            });
        }
        census
    }

    fn read(&mut self, log: &Path) -> Result<FileChange, StoreError> {
        let Some(mut followed) = self.tails.remove(log) else { return Ok(FileChange::None) };
        let change = self.read_new_lines(&mut followed);
        self.tails.insert(log.to_owned(), followed);
        change
    }

    fn read_new_lines(&mut self, followed: &mut FollowedFile) -> Result<FileChange, StoreError> {
        let FollowedFile { tail, file, kind } = followed;
        match tail.detect_change()? {
            FileChange::Grown => {}
            other => return Ok(other),
        }
        if matches!(kind, LogKind::Log | LogKind::Mirror)
            && let Some(left_out) = Backlog::skip_ahead(tail)?
        {
            self.behind.push(left_out, self.window.is_none());
        }
        self.read_lines(file, |each| tail.read(each))
    }

    /// Applies the lines that `read` passes on.
    fn read_lines<T>(
        &mut self,
        file: &Arc<LogFile>,
        read: impl FnOnce(&mut dyn FnMut(LogLine<'_>)) -> T,
    ) -> T {
        let (file_repo, bound_to) = (Store::repo_of_lines(file.path()).to_string(), bound_to(file));
        self.is_saved = false;
        let (built, config) = (&mut self.built, &self.config);
        // After a checkpoint, new records are few and the next checkpoint adds them to its file.
        let mut spill = self.spill.as_mut().filter(|_| self.base.is_none());
        built.complete();
        let slack_bytes = self.bound.bytes_max / SLACK_SHARE;
        read(&mut |line| {
            let events = match events_on(line, &file_repo) {
                Ok(events)
                    if events.iter().all(|(_, event)| may_stand(event, bound_to.as_ref())) =>
                {
                    events
                }
                Ok(_) => return built.skip(file.path(), line, SkipReason::NotOfMirror),
                Err(reason) => return built.skip(file.path(), line, reason),
            };
            match events.len() {
                0 => return,
                1 => Arc::make_mut(&mut built.health).lines += 1,
                events => built.skip(file.path(), line, SkipReason::Joined { events }),
            }
            for (offset, event) in events {
                // Lines can be written by hand, so secrets are removed here too.
                let event = clean::without_secrets(event);
                let existed =
                    |as_of: &PastPosition| as_of.has(file.path(), line.end(), event.timestamp);
                if !config.as_of.as_ref().is_none_or(existed) {
                    continue;
                }
                let repo = built.shared_key(config.current(&event.repo_key()));
                let place = LinePlace { log: Arc::clone(file), offset };
                let effect = built.fold.apply(event, repo, place);
                built.index(effect);
                built.trim(slack_bytes);
                spill.iter_mut().for_each(|spill| spill.move_full_blocks(&mut built.fold));
            }
        })
    }

    fn update_health(&mut self, troubles: BTreeMap<PathBuf, String>) {
        let count =
            |kind: LogKind| self.tails.values().filter(|tailed| tailed.kind == kind).count();
        let (logs, segments) = (count(LogKind::Log), count(LogKind::Segment));
        let counts = (logs, segments, self.waiting, self.built.fold.orphans_len());
        let now = &self.built.health;
        let is_same = (now.logs, now.segments, now.waiting, now.early) == counts;
        if !is_same || now.troubles != troubles || now.watch_trouble != self.watch_trouble {
            let health = Arc::make_mut(&mut self.built.health);
            (health.logs, health.segments, health.waiting, health.early) = counts;
            health.troubles = troubles;
            health.watch_trouble.clone_from(&self.watch_trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use index::late::{SignLocation, SignStore, TokenSigns};
    use index::lexical::DocId;

    fn line(second: u8, lesson: &str) -> String {
        format!(
            "{{\"id\":\"m1\",\"timestamp\":\"2026-01-01T00:00:0{second}Z\",\"lesson\":\"{lesson}\"}}\n"
        )
    }

    fn vector(job: &Job, vector: Vec<f32>) -> EmbeddedDocument {
        EmbeddedDocument {
            doc: job.doc,
            generation: job.generation,
            vector,
            signed: SignState::Never,
        }
    }

    /// Makes a follower of a log with these memories, of which three fit the bound.
    fn bounded(folder: &Path, numbers: std::ops::Range<u8>) -> Follower {
        let lines: String = numbers
            .map(|number| line(number, "same").replace("m1", &format!("m{number}")))
            .collect();
        std::fs::write(folder.join("a.jsonl"), lines).unwrap();
        let bound = MemoryBound { bytes_max: 8_000, vector_bytes: 1_500 };
        Follower::new(Store::at(folder), Config::default(), bound, None)
    }

    // S-RANK-5
    #[test]
    fn neighbours_are_searchable_in_any_order_of_arrival() {
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
                Follower::new(Store::at(folder.path()), Config::default(), MemoryBound::NONE, None);
            let mut written = String::new();
            for place in order {
                written.push_str(&lines[*place]);
                std::fs::write(folder.path().join("a.jsonl"), &written).unwrap();
                follower.catch_up();
            }
            let snapshot = follower.snapshot();
            let found = snapshot.lexical().search("walrus", |_| true, 9);
            let ids = found.iter().map(|scored| snapshot.memory(scored.doc.0).unwrap());
            let ids: Vec<String> = ids.map(|memory| memory.id.to_string()).collect();
            let fingerprint_of =
                |(doc, print): (DocId, _)| (snapshot.memory(doc.0).unwrap().id.clone(), print);
            let index: BTreeMap<_, _> =
                snapshot.lexical().fingerprints().into_iter().map(fingerprint_of).collect();
            (ids, index)
        };
        let (ids, index) = indexed(&[0, 1, 2, 3]);
        assert_eq!(
            ids.first().map(String::as_str),
            Some("m1"),
            "the memory with the word itself is first"
        );
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 3, "m4 is three away: {ids:?}");
        for order in [[3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let (other_ids, other) = indexed(&order);
            assert_eq!(other, index, "{order:?}");
            assert_eq!(other_ids.len(), ids.len());
        }
    }

    // S-RANK-8
    #[test]
    fn signs_are_requested_after_the_vector_and_when_lost() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jsonl"), line(1, "walrus")).unwrap();
        let mut follower =
            Follower::new(Store::at(folder.path()), Config::default(), MemoryBound::NONE, None);
        let CatchUpReport { to_embed, to_sign, .. } = follower.catch_up();
        assert_eq!((to_embed.len(), to_sign.len()), (1, 0));
        let embedded = |signed, place| EmbeddedDocument {
            doc: 0,
            generation: 0,
            vector: vec![1.0, place],
            signed,
        };
        // That of the beginning of a text, which another one of the beginning does not replace.
        assert_eq!(follower.store_vector(&embedded(SignState::NotYet, 5.0)), Some(to_embed[0]));
        assert_eq!(follower.store_vector(&embedded(SignState::NotYet, 7.0)), Some(to_embed[0]));
        assert_eq!(follower.snapshot().signed_count(), 0);
        let cosine = |follower: &Follower| {
            follower.snapshot().vectors().unwrap().score(0, &[1.0, 0.0]).unwrap()
        };
        assert!((cosine(&follower) - 0.196).abs() < 0.01, "{}", cosine(&follower));
        let at = SignState::At(SignLocation { row: 0, check: 0 });
        assert_eq!(follower.store_vector(&embedded(at, 0.0)), None);
        assert!(cosine(&follower) > 0.99, "that of the whole text takes its place");
        assert_eq!(follower.store_vector(&embedded(at, 9.0)), None);
        assert!(cosine(&follower) > 0.99, "and stays");
        let snapshot = follower.snapshot();
        // Without a sign_store no signs can be missing.
        assert!(snapshot.signs(0).is_none() && follower.catch_up().to_sign.is_empty());
        assert!(snapshot.with_sign_store(Some(Arc::new(Empty))).signs(0).is_none());
        assert_eq!(follower.catch_up().to_sign, to_embed);
        assert_eq!((follower.snapshot().signed_count(), follower.catch_up().to_sign.len()), (0, 0));
    }

    /// A store without signs.
    struct Empty;

    impl SignStore for Empty {
        fn signs(&self, _place: SignLocation) -> Option<TokenSigns> {
            None
        }
    }

    // S-BOUND-2
    #[test]
    fn removed_memories_leave_both_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let mut follower = bounded(folder.path(), 0..3);
        for wanted in follower.catch_up().to_embed {
            let job = follower.embedding_job(wanted, WantedOutput::Vector).unwrap();
            let place = f32::from(u8::try_from(job.doc).unwrap());
            let signed = SignState::At(SignLocation { row: job.doc, check: 7 });
            follower.store_vector(&EmbeddedDocument { signed, ..vector(&job, vec![1.0, place]) });
        }
        let before = follower.snapshot();
        assert_eq!((before.memories().len(), before.embedded_count()), (3, 3));
        let log = folder.path().join("a.jsonl");
        let more = line(9, "more").replace("m1", "m9");
        let late = line(3, "late").replace("m1", "m3");
        std::fs::write(&log, std::fs::read_to_string(&log).unwrap() + &more + &late).unwrap();
        let to_embed = follower.catch_up().to_embed;
        let after = follower.snapshot();
        let mut ids: Vec<&str> = after.memories().iter().map(|memory| memory.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["m2", "m3", "m9"]);
        assert_eq!((after.lexical().len(), after.memory_usage().left_out), (3, 2));
        assert_eq!(after.repos().values().sum::<usize>(), 3);
        let place = |id: &str| {
            let mut memories = after.memories().iter();
            u32::try_from(memories.position(|memory| memory.id.as_str() == id).unwrap()).unwrap()
        };
        let vectors = after.vectors().unwrap();
        assert_eq!(vectors.len(), 1, "m0 and m1 are removed, the new ones have none yet");
        assert!((vectors.score(place("m2"), &[1.0, 2.0]).unwrap() - 1.0).abs() < 1e-4);
        let signed = |id: &str| after.sign_locations.get(place(id));
        assert_eq!(
            signed("m2"),
            SignState::At(SignLocation { row: 2, check: 7 }),
            "it moved with its memory"
        );
        assert_eq!((signed("m3"), after.signed_count()), (SignState::NotYet, 1));
        let jobs: Vec<Job> = to_embed
            .iter()
            .filter_map(|wanted| follower.embedding_job(*wanted, WantedOutput::Vector))
            .collect();
        for id in ["m3", "m9"] {
            assert!(jobs.iter().any(|job| job.doc == place(id)), "{id} waits for its vector");
        }
        // The frozen state has not changed.
        assert_eq!((before.memories().len(), before.embedded_count()), (3, 3));
    }

    #[test]
    fn a_changed_memory_never_gets_its_old_vector() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, line(2, "old")).unwrap();
        let mut follower =
            Follower::new(Store::at(folder.path()), Config::default(), MemoryBound::NONE, None);
        let old = follower.catch_up().to_embed.remove(0);
        let old = follower.embedding_job(old, WantedOutput::Vector).unwrap();
        follower.store_vector(&vector(&old, vec![1.0, 0.0]));
        // The earlier content is shown; the log has only grown.
        std::fs::write(&log, line(2, "old") + &line(1, "new")).unwrap();
        let followed = follower.catch_up();
        assert!(!followed.started_over);
        let new = &follower.embedding_job(followed.to_embed[0], WantedOutput::Vector).unwrap();
        let holds = |follower: &Follower| follower.built.vectors.as_ref().unwrap().contains(0);
        assert!(!holds(&follower), "the old vector must be gone at once");
        follower.store_vector(&vector(&old, vec![1.0, 0.0]));
        assert!(!holds(&follower), "a late old vector must not come back");
        follower.store_vector(&vector(new, vec![0.0, 1.0]));
        assert!(holds(&follower));
    }
}
