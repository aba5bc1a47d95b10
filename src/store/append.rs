//! Appending: the only code that adds to a log. It takes the lock, seals a torn tail, writes once, rolls back a
//! short write, releases the lock, and syncs if asked. Not here: what may be written; the type [`EncodedLine`]
//! decides that.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::chain::{self, AppendedBytes};
use super::lock::{self, FileLock};
use super::log_file::{Durability, LogAddition, open, write};
use super::{Store, StoreError, layout, missing_lines, read_only, spool, sync};
use event::{EncodedLine, RepoKey};

/// Where an acknowledged event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// In its log.
    Log,
    /// In the spool, because another process held the log. Searches find it there, and the next write or search
    /// moves it into the log.
    Spool,
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendOutcome {
    /// The file.
    pub path: PathBuf,
    /// Where the first line begins in the file; the end of the file if it had the lines already.
    pub offset: u64,
    /// Whether the file is the log.
    pub place: Destination,
    /// What the event survives.
    pub durability: Durability,
}

/// How often an append starts over because another program replaced the log during the write.
const REPLACED_TRIES_MAX: usize = 3;

/// How long one append may wait in total, in milliseconds: for the lock, and for another writer's sync. An
/// agent must not hang for more than two seconds.
const WAIT_ALL_MS_MAX: u64 = 2_000;

/// Appends lines to the log of a repository, either all or none, and returns once they are as durable as
/// requested. If another process holds the log for too long, the lines go to the spool.
///
/// # Errors
/// [`StoreError`]. Nothing was written then, or the write was rolled back, except with
/// [`StoreError::NotSynced`].
pub fn append(
    store: &Store,
    repo: &RepoKey,
    lines: &[EncodedLine],
    durability: Durability,
) -> Result<AppendOutcome, StoreError> {
    let text: String = lines.iter().map(EncodedLine::as_str).collect();
    let append = Append { store, log: store.log_of(repo), text, durability };
    let appended = store.ensure().and_then(|()| append.run(layout::named));
    appended.map_err(|error| read_only::read_only_error(store.root(), error))
}

struct Append<'a> {
    store: &'a Store,
    log: PathBuf,
    text: String,
    durability: Durability,
}

/// The first try of an append during which another file replaced the log.
#[derive(Clone, Copy)]
struct FirstTry {
    /// When the log had last been written before, by the clock of the file system.
    since: Option<SystemTime>,
}

impl Append<'_> {
    /// Another file may take the log's name during the write. If `scrub`, `archive` or a program
    /// that copied the lines put it there, it or a segment has the lines. If a program that does not know our lock (git, an
    /// editor) put it there, the lines may be gone. So exactly the missing lines are written again. An append that cannot be
    /// kept is not acknowledged.
    fn run(
        &self,
        named: impl Fn(&Metadata, &Path) -> Option<Metadata>,
    ) -> Result<AppendOutcome, StoreError> {
        let began = Instant::now();
        let left_ms = |most_ms: u64| {
            most_ms.saturating_sub(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX))
        };
        let mut first: Option<FirstTry> = None;
        for _ in 0..REPLACED_TRIES_MAX {
            let wait_ms = left_ms(lock::WAIT_MS_MAX);
            let turn = match FileLock::acquire(&lock::path_of(&self.log), wait_ms) {
                Ok(turn) => turn,
                Err(StoreError::Busy { .. }) => return self.without_the_lock(first),
                Err(error) => return self.without_right(first, error),
            };
            // Spooled lines are older, so they come first. If they cannot be moved in they stay in the spool,
            // where searches find them.
            let _ = spool::bring_in(self.store, &self.log, &turn);
            let Some(text) = self.missing(first)? else {
                drop(turn);
                return self.without_the_lock(first);
            };
            let (mut file, ours) = match open(&self.log) {
                Ok(opened) => opened,
                Err(error) => {
                    drop(turn);
                    return self.without_right(first, error);
                }
            };
            let added = write(&mut file, &self.log, &text, ours.len())?;
            first.get_or_insert_with(|| FirstTry { since: ours.modified().ok() });
            let Some(found) = named(&ours, &self.log) else { continue };
            self.cover(&turn, &file, &added, found.len());
            if self.durability == Durability::Synced {
                let ticket = sync::ticket(&self.log);
                // Other writers proceed meanwhile, and one sync then serves all of them.
                drop(turn);
                sync::commit(&file, &self.log, ticket, left_ms(WAIT_ALL_MS_MAX))?;
                if named(&ours, &self.log).is_none() {
                    continue;
                }
            }
            return Ok(self.outcome(added.offset));
        }
        if self.missing(first)?.is_some_and(|missing| missing.is_empty()) {
            return self.acknowledge_moved();
        }
        let why = "another program keeps putting another file in its place; try again";
        Err(StoreError::io("keep lines in", &self.log)(io::Error::other(why)))
    }

    /// Returns the lines that are still to be written; `None` if this program cannot tell.
    fn missing(&self, first: Option<FirstTry>) -> Result<Option<Cow<'_, str>>, StoreError> {
        let Some(FirstTry { since }) = first else { return Ok(Some(Cow::from(&self.text))) };
        let missing = missing_lines::missing_lines(self.store, &self.log, &self.text, since)?;
        Ok(missing.map(Cow::from))
    }

    /// An acknowledgement does not cover the chain. The next append adds the lines that the chain lacks.
    fn cover(&self, turn: &FileLock, file: &File, added: &LogAddition, end: u64) {
        let LogAddition { from, text, .. } = added;
        if text.is_empty() {
            return;
        }
        let written =
            AppendedBytes { file, log: &self.log, from: *from, added: text.as_bytes(), end };
        let _ = chain::cover(turn, &written);
    }

    /// Spools the missing lines, dated so that they are looked for once more before they come into the log.
    fn without_the_lock(&self, first: Option<FirstTry>) -> Result<AppendOutcome, StoreError> {
        let missing = self.missing(first)?.unwrap_or_else(|| Cow::from(&self.text));
        if missing.is_empty() {
            return self.acknowledge_moved();
        }
        let since = first.and_then(|first| first.since);
        let path = spool::spool_lines(self.store, &self.log, &missing, self.durability, since)?;
        Ok(AppendOutcome {
            path,
            offset: 0,
            place: Destination::Spool,
            durability: self.durability,
        })
    }

    /// Spools the lines where this user may not write the log or its lock, such as those that root left in the home of another
    /// user: they wait there until the log can be written.
    fn without_right(
        &self,
        first: Option<FirstTry>,
        error: StoreError,
    ) -> Result<AppendOutcome, StoreError> {
        if !read_only::is_denied(&error) {
            return Err(error);
        }
        // The first error says more than the one of the spool.
        self.without_the_lock(first).map_err(|_| error)
    }

    /// Acknowledges lines that another program has moved. `scrub` and `archive` have synced them, and no other program.
    fn acknowledge_moved(&self) -> Result<AppendOutcome, StoreError> {
        let (file, ours) = open(&self.log)?;
        if self.durability == Durability::Synced {
            sync::sync_alone(&file, &self.log)?;
        }
        Ok(self.outcome(ours.len()))
    }

    fn outcome(&self, offset: u64) -> AppendOutcome {
        let (path, durability) = (self.log.clone(), self.durability);
        AppendOutcome { path, offset, place: Destination::Log, durability }
    }
}

#[cfg(test)]
mod tests {
    use super::super::log_file::{roll_back, write_counted};
    use super::*;
    use event::{DecodedLine, clean, codec};
    use std::fs::OpenOptions;
    use std::io::Write;

    fn line(lesson: &str) -> EncodedLine {
        let json = serde_json::json!({ "id": lesson, "lesson": lesson }).to_string();
        let DecodedLine::Event(event) = codec::decode(json.as_bytes(), "api") else { panic!() };
        codec::encode(&clean::clean(*event))
    }

    struct AppendFixture {
        _folder: tempfile::TempDir,
        store: Store,
        repo: RepoKey,
    }

    impl AppendFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path().join("logs"));
            Self { _folder: folder, store, repo: RepoKey::parse("api").unwrap() }
        }

        fn log(&self) -> PathBuf {
            self.store.log_of(&self.repo)
        }

        fn append(&self, lesson: &str) -> Result<AppendOutcome, StoreError> {
            append(&self.store, &self.repo, &[line(lesson)], Durability::Written)
        }
    }

    #[test]
    fn lines_follow_each_other_and_the_offset_is_told() {
        let world = AppendFixture::new();
        assert_eq!(world.append("a").unwrap().offset, 0);
        let second = world.append("b").unwrap();
        let text = std::fs::read_to_string(world.log()).unwrap();
        assert!(text.ends_with(line("b").as_str()));
        assert_eq!(second.offset, u64::try_from(line("a").as_str().len()).unwrap());
    }

    // S-STORE-3
    #[test]
    fn a_torn_tail_is_sealed_not_cut() {
        let world = AppendFixture::new();
        world.append("a").unwrap();
        let mut torn = OpenOptions::new().append(true).open(world.log()).unwrap();
        torn.write_all(b"{\"lesson\":\"half").unwrap();
        let appended = world.append("b").unwrap();
        let text = std::fs::read_to_string(world.log()).unwrap();
        let expected = format!("{}{{\"lesson\":\"half\n{}", line("a").as_str(), line("b").as_str());
        assert_eq!(text, expected);
        let offset = usize::try_from(appended.offset).unwrap();
        assert_eq!(text.len() - offset, line("b").as_str().len());
    }

    // S-STORE-3
    #[test]
    fn a_short_write_is_taken_back_unless_others_wrote_behind_it() {
        let mut room = [0_u8; 3];
        let (written_bytes, outcome) = write_counted(&mut room.as_mut_slice(), b"mine\n");
        assert!(written_bytes == 3 && outcome.is_err());
        let world = AppendFixture::new();
        world.store.ensure().unwrap();
        for (after, kept) in [("", "a\n"), ("theirs\n", "a\nmintheirs\n\n")] {
            std::fs::write(world.log(), format!("a\nmin{after}")).unwrap();
            let (mut file, _) = open(&world.log()).unwrap();
            let full = io::Error::from(io::ErrorKind::StorageFull);
            let error = roll_back(&mut file, &world.log(), 2, 3, full);
            assert_eq!(matches!(error, StoreError::RolledBack { .. }), after.is_empty());
            assert_eq!(std::fs::read_to_string(world.log()).unwrap(), kept, "{error}");
        }
    }

    // S-STORE-3, S-STORE-4
    #[cfg(unix)]
    #[test]
    fn all_waiting_of_one_append_takes_two_seconds_at_most() {
        let world = AppendFixture::new();
        world.append("a").unwrap();
        let lock = lock::path_of(&world.log());
        let _stopped = FileLock::acquire(&lock.with_extension("sync"), 0).unwrap();
        let turn = FileLock::acquire(&lock, 0).unwrap();
        let (_open, never) = std::sync::mpsc::channel::<()>();
        let holder = std::thread::spawn(move || {
            // Nothing is ever sent: another process holds the log for most of the lock's wait.
            let _ = never.recv_timeout(std::time::Duration::from_millis(1_500));
            drop(turn);
        });
        let began = Instant::now();
        let (lines, durability) = ([line("b")], Durability::Synced);
        let appended = append(&world.store, &world.repo, &lines, durability).unwrap();
        // The two waits in full would take 3.3 seconds. The sync itself adds to the result.
        let waited = began.elapsed().as_millis();
        assert!(waited < 3_100, "{waited}");
        assert!(appended.durability == Durability::Synced);
        holder.join().unwrap();
    }

    impl AppendFixture {
        /// Appends a line, and calls `meanwhile` each time before it is looked which file has the log's name.
        fn append_beside(
            &self,
            lesson: &str,
            durability: Durability,
            meanwhile: impl Fn(usize),
        ) -> Result<AppendOutcome, StoreError> {
            let (store, log, text) = (&self.store, self.log(), line(lesson).as_str().to_owned());
            let calls = std::cell::Cell::new(0);
            Append { store, log, text, durability }.run(|ours, log| {
                calls.set(calls.get() + 1);
                meanwhile(calls.get());
                layout::named(ours, log)
            })
        }

        /// Puts another file in the log's place, as an editor does.
        fn save(&self, text: &str) {
            let new = self.log().with_extension("new");
            std::fs::write(&new, text).unwrap();
            std::fs::rename(&new, self.log()).unwrap();
        }

        /// Removes a secret from the log.
        fn scrub(&self, secret: &str) {
            crate::rewrite(&self.store, &self.log(), &mut |line| {
                let text = String::from_utf8_lossy(line.bytes);
                text.contains(secret).then(|| text.replacen(secret, "*", 1).into_bytes())
            })
            .unwrap();
        }

        fn logged(&self) -> String {
            std::fs::read_to_string(self.log()).unwrap()
        }
    }

    // S-STORE-4
    #[test]
    fn only_what_another_program_left_out_is_written_again() {
        for kept in [true, false] {
            let world = AppendFixture::new();
            world.append("a").unwrap();
            let by_hand = "{\"lesson\":\"by hand\"}\n";
            // Replaced during the first write, and while the second one waits for the disk.
            let save = |call: usize| match call {
                1 | 3 => world.save(&(if kept { world.logged() } else { String::new() } + by_hand)),
                _ => {}
            };
            world.append_beside("b", Durability::Synced, save).unwrap();
            let times = world.logged().matches(line("b").as_str()).count();
            assert_eq!((times, world.logged().contains(by_hand)), (1, true), "{kept}");
        }
    }

    // S-STORE-4
    #[test]
    fn lines_that_could_not_be_kept_are_not_acknowledged() {
        let world = AppendFixture::new();
        world.append("a").unwrap();
        let lost = world.append_beside("b", Durability::Written, |_| world.save("other\n"));
        assert!(lost.unwrap_err().to_string().contains("try again"));
        assert_eq!(world.logged(), "other\n");
        // All the time in another file, but always with the line.
        let save = |_| world.save(&world.logged());
        let kept = world.append_beside("b", Durability::Synced, save).unwrap();
        assert_eq!(kept.place, Destination::Log);
        assert_eq!(world.logged().matches(line("b").as_str()).count(), 1);
    }

    // S-STORE-4, S-SCRUB-2
    #[test]
    fn a_line_scrubbed_during_a_durable_append_stands_once() {
        let world = AppendFixture::new();
        world.append("first").unwrap();
        let json = serde_json::json!({ "id": "m1", "lesson": "secret secret secret" });
        let (store, log, text) = (&world.store, world.log(), format!("{json}\n"));
        let calls = std::cell::Cell::new(0_usize);
        let append = Append { store, log, text, durability: Durability::Synced };
        append
            .run(|ours, log| {
                calls.set(calls.get() + 1);
                // Every other look is under the lock of the appenders.
                if calls.get().is_multiple_of(2) {
                    world.scrub("secret");
                }
                layout::named(ours, log)
            })
            .unwrap();
        assert_eq!(calls.get(), 2 * REPLACED_TRIES_MAX, "it moved each time");
        assert_eq!(world.logged().matches("m1").count(), 1, "{}", world.logged());
        assert!(world.store.audit_chain(&world.log()).unwrap().unwrap().is_whole());
    }

    // S-STORE-4
    #[test]
    fn an_id_that_was_sent_before_is_not_taken_for_the_line() {
        let world = AppendFixture::new();
        let dated = |second: u8| {
            format!(
                "{{\"id\":\"own\",\"timestamp\":\"2026-01-01T00:00:0{second}Z\",\"lesson\":\"x\"}}\n"
            )
        };
        std::fs::create_dir_all(world.store.root().join(".locks")).unwrap();
        std::fs::write(world.log(), dated(1)).unwrap();
        let (store, log, text) = (&world.store, world.log(), dated(2));
        let is_first = std::cell::Cell::new(true);
        let append = Append { store, log, text, durability: Durability::Written };
        append
            .run(|ours, log| {
                if is_first.replace(false) {
                    world.save(&dated(1));
                }
                layout::named(ours, log)
            })
            .unwrap();
        assert_eq!(world.logged(), dated(1) + &dated(2));
    }

    #[cfg(feature = "archive")]
    impl AppendFixture {
        /// Moves all lines to a segment.
        fn archive(&self) {
            let mut is_first = true;
            let mut plan = || {
                let moves: crate::MoveRule<'_> = Box::new(|_| true);
                Ok(std::mem::replace(&mut is_first, false).then_some(moves))
            };
            crate::archive(&self.store, &self.log(), &mut plan).unwrap();
        }

        /// How often a line stands in the log, the segments and the spool.
        fn times(&self, lesson: &str) -> usize {
            let (store, mut times) = (&self.store, 0);
            let lists = [store.logs(), store.segments(), store.spooled()].map(Result::unwrap);
            for file in lists.concat() {
                crate::lines_of(&file, |found| {
                    times +=
                        usize::from(found.bytes == line(lesson).as_str().trim_end().as_bytes());
                })
                .unwrap();
            }
            times
        }
    }

    // S-STORE-4, S-ARCH-3
    #[cfg(feature = "archive")]
    #[test]
    fn a_line_archived_during_a_durable_append_stands_once() {
        let world = AppendFixture::new();
        world.append("a").unwrap();
        world.archive();
        world.append("b").unwrap();
        let archive = |call: usize| {
            if call == 2 {
                world.archive();
            }
        };
        let appended = world.append_beside("c", Durability::Synced, archive).unwrap();
        assert_eq!((appended.place, appended.durability), (Destination::Log, Durability::Synced));
        assert_eq!(["a", "b", "c"].map(|lesson| world.times(lesson)), [1, 1, 1]);
        assert!(world.store.audit_chain(&world.log()).unwrap().unwrap().is_whole());
    }

    // S-STORE-4, S-STORE-6, S-ARCH-3
    #[cfg(feature = "archive")]
    #[test]
    fn a_line_archived_meanwhile_is_not_spooled() {
        let world = AppendFixture::new();
        world.append("a").unwrap();
        let lock = lock::path_of(&world.log());
        let held = std::cell::RefCell::new(None);
        let hold = |call: usize| {
            if call == 2 {
                world.archive();
                *held.borrow_mut() = Some(FileLock::acquire(&lock, 0).unwrap());
            }
        };
        let appended = world.append_beside("b", Durability::Synced, hold).unwrap();
        assert_eq!((appended.place, world.times("b")), (Destination::Log, 1));
        // What an editor left out does go to the spool, once.
        drop(held.take());
        let hold = |call: usize| {
            if call == 2 {
                world.save("");
                *held.borrow_mut() = Some(FileLock::acquire(&lock, 0).unwrap());
            }
        };
        let appended = world.append_beside("c", Durability::Synced, hold).unwrap();
        assert_eq!((appended.place, world.times("c")), (Destination::Spool, 1));
        drop(held.take());
        world.append("d").unwrap();
        assert_eq!((world.times("c"), world.times("d")), (1, 1));
        assert!(world.store.spooled().unwrap().is_empty());
    }

    /// A file whose first write is interrupted by a signal.
    struct Interrupted {
        is_over: bool,
        written: Vec<u8>,
    }

    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !std::mem::replace(&mut self.is_over, true) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if self.written.len() > 1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.written.extend_from_slice(&bytes[..1]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    // S-STORE-3
    #[test]
    fn a_signal_does_not_end_a_write_and_every_other_error_does() {
        let mut file = Interrupted { is_over: false, written: Vec::new() };
        let (written_bytes, outcome) = write_counted(&mut file, b"abc\n");
        assert_eq!((written_bytes, file.written.as_slice()), (2, b"ab".as_slice()));
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    // S-STORE-4
    #[test]
    fn a_durable_append_says_so_and_no_other_waits_for_the_disk() {
        let world = AppendFixture::new();
        let written = world.append("b").unwrap();
        assert_eq!((written.durability, written.place), (Durability::Written, Destination::Log));
        let synced = world.store.root().join(".locks/api.jsonl.sync");
        assert!(!cfg!(unix) || !synced.exists());
        let durable = append(&world.store, &world.repo, &[line("a")], Durability::Synced).unwrap();
        assert_eq!(durable.durability, Durability::Synced);
        assert!(!cfg!(unix) || synced.exists());
    }

    #[cfg(unix)]
    // S-STORE-2
    #[test]
    fn what_is_no_plain_file_is_refused_and_left_alone() {
        let world = AppendFixture::new();
        world.store.ensure().unwrap();
        let target = world.store.root().join("target");
        std::fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, world.log()).unwrap();
        assert!(matches!(world.append("a"), Err(StoreError::NotALog { .. })));
        std::fs::remove_file(world.log()).unwrap();
        std::fs::hard_link(&target, world.log()).unwrap();
        assert!(matches!(world.append("a"), Err(StoreError::NotALog { .. })));
        std::fs::remove_file(world.log()).unwrap();
        std::fs::create_dir(world.log()).unwrap();
        assert!(matches!(world.append("a"), Err(StoreError::NotALog { .. })));
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    }

    #[cfg(unix)]
    // S-STORE-2
    #[test]
    fn a_log_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let world = AppendFixture::new();
        world.append("a").unwrap();
        let mode = std::fs::metadata(world.log()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
