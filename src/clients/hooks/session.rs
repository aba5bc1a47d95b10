//! The state of one session: its failures and the steps since, the memories it was shown, the lessons it saved. Every
//! hook is a process of its own, so the state is in a file to which lines are appended; concurrent hooks lose
//! nothing. Not here: what follows from it (`learning`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use super::session_entry::{SessionEntry, ShowOccasion};
use event::Timestamp;
use guard::secrets::RedactedText;
use learning::command_failure::{CommandFailure, SessionStep};
use learning::same_command::SessionKey;
use store::{open_private, own_folder};

/// The folder of all sessions, below that of the cache.
const FOLDER: &str = "hook-sessions";

/// The folder of earlier versions. They cut commands before they removed secrets, so no rule finds what is left in them.
const OUTDATED_FOLDER: &str = "sessions";

/// Hexadecimal digits of the session's hash in the name of its file.
const NAME_DIGITS: usize = 16;

/// Longest file, in bytes: about a thousand entries. A longer session learns no more.
const FILE_BYTES_MAX: u64 = 512 * 1024;

/// Bytes reserved for entries about shown memories, so that a session which learns no more is still shown nothing
/// twice.
const TOLD_BYTES: u64 = 64 * 1024;

/// Longest entry, in bytes. It is written with one write, so that entries of concurrent hooks do not mix.
const ENTRY_BYTES_MAX: usize = 8 * 1024;

/// Most files, and how long each is kept, in seconds: a week. Hardly any session is resumed later.
const FILES_MAX: usize = 512;
const FILE_SECONDS_MAX: i64 = 7 * 24 * 3_600;

/// How long a failure waits for its fix, in seconds. After an hour the work has moved on.
const FAILURE_SECONDS_MAX: i64 = 3_600;

/// Most failures that wait, and most steps that are kept after each. Older ones are dropped.
const FAILURES_MAX: usize = 16;
const STEPS_MAX: usize = 32;
/// Most changed files that are kept. A session that changes more has no short list to report.
const CHANGED_MAX: usize = 64;

/// Most lessons that one session may draft. More fixes than that are normal programming.
const LEARNT_MAX: usize = 5;

/// The state of a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    /// The key of its fingerprints.
    pub key: Option<SessionKey>,
    /// Whether the first prompt was looked up.
    pub is_prompted: bool,
    /// The ids of memories that were shown, in the form in which they were shown.
    pub shown_ids: BTreeSet<String>,
    /// The same of memories that were shown beside a failure.
    pub failure_ids: BTreeSet<String>,
    /// How often memories were shown beside each failure, by its key.
    pub failures_answered: BTreeMap<String, usize>,
    /// Failures without a fix, in order.
    pub failures: Vec<CommandFailure>,
    /// Changed files, each once, in order.
    pub changed_files: Vec<RedactedText>,
    /// Goals that were fixed and have not failed since, in order.
    pub fixed_goals: Vec<RedactedText>,
    /// Goals of failures that may be fixed: a later command succeeded in a way that proves nothing.
    pub doubted_goals: BTreeSet<RedactedText>,
    /// Keys of lessons.
    pub lesson_keys: BTreeSet<String>,
    /// The number of failures.
    pub failures_len: usize,
    /// Whether the summary was saved.
    pub is_ended: bool,
}

/// A session, and the file of its state if it has an id.
#[derive(Debug)]
pub struct Session {
    /// Its state.
    pub state: SessionState,
    path: Option<PathBuf>,
    /// The hash of the reader's id; `None` for the agent that the session began with.
    reader: Option<String>,
    length_bytes: u64,
    now: Timestamp,
}

/// Who reads the answers of a hook: an agent of a session. Each has a context of its own.
#[derive(Debug, Clone, Copy)]
pub struct SessionReader<'a> {
    /// The client.
    pub agent: &'a str,
    /// The session's id, if the client sends it.
    pub session: Option<&'a str>,
    /// The id of a subagent; `None` for the agent that the session began with.
    pub subagent: Option<&'a str>,
}

impl Session {
    /// Reads the state of a session, as one of its readers knows it. A session without an id keeps no state.
    #[must_use]
    pub fn open(cache: &Path, reader: SessionReader<'_>, now: Timestamp) -> Self {
        let SessionReader { agent, session: id, subagent } = reader;
        let path = id.map(|id| cache.join(FOLDER).join(format!("{agent}-{}", name_of(id))));
        // A missing or unreadable file is an empty state.
        let (entries, length_bytes) = path.as_deref().and_then(read).unwrap_or_default();
        let reader = subagent.map(name_of);
        let mut session = Self { state: SessionState::default(), path, reader, length_bytes, now };
        let entries =
            entries.into_iter().filter_map(|entry| entry.of_reader(session.reader.as_deref()));
        entries.for_each(|entry| session.state.apply(entry));
        session
            .state
            .failures
            .retain(|failure| now.as_second().saturating_sub(failure.at) <= FAILURE_SECONDS_MAX);
        session
    }

    /// Tells whether the session has an id, and so keeps its state.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.path.is_some()
    }

    /// Tells whether the session may draft another lesson.
    #[must_use]
    pub fn may_learn(&self) -> bool {
        self.state.lesson_keys.len() < LEARNT_MAX
    }

    /// Returns the key of the session's fingerprints, made of these random bits at the first call.
    pub fn key(&mut self, random: u128) -> SessionKey {
        if let Some(key) = self.state.key {
            return key;
        }
        let [high, low] = [random >> 64, random & u128::from(u64::MAX)];
        let own = [high, low].map(|half| u64::try_from(half).unwrap_or_default());
        let _ = self.write(&SessionEntry::Key(own));
        // A concurrent hook may have written one before.
        let entries = self.path.as_deref().and_then(read).map(|(entries, _)| entries);
        let key = entries.into_iter().flatten().find_map(|entry| match entry {
            SessionEntry::Key(key) => Some(key),
            _ => None,
        });
        *self.state.key.insert(key.unwrap_or(own))
    }

    /// Adds an entry to the state and to the file. A failed write is ignored.
    pub fn record(&mut self, entry: SessionEntry) {
        let _ = self.write(&self.addressed(entry.clone()));
        self.state.apply(entry);
    }

    /// Returns an entry as it stands in the file: what a subagent was shown is marked as such.
    fn addressed(&self, entry: SessionEntry) -> SessionEntry {
        match &self.reader {
            Some(reader) if entry.is_of_one_reader() => {
                SessionEntry::OfReader { reader: reader.clone(), entry: Box::new(entry) }
            }
            _ => entry,
        }
    }

    /// Records that memories are about to be shown, and tells whether this process is the one to show them:
    /// concurrent hooks of one session would all show the same. `failure` is the key of the failure beside which they are shown,
    /// if they are.
    #[must_use]
    pub fn is_first_to_show(&mut self, ids: &[String], occasion: ShowOccasion) -> bool {
        let (by, ids) = (std::process::id(), ids.to_vec());
        let entry = match occasion {
            ShowOccasion::Other => SessionEntry::Showing { ids: ids.clone(), by },
            ShowOccasion::Failure(failure) => {
                SessionEntry::ShowingAtFailure { ids: ids.clone(), by, failure }
            }
        };
        let is_at_failure = matches!(entry, SessionEntry::ShowingAtFailure { .. });
        let written = self.write(&self.addressed(entry.clone()));
        self.state.apply(entry);
        let Some((entries, _)) = written.and_then(|()| read(self.path.as_deref()?)) else {
            return true;
        };
        let own = entries.into_iter().filter_map(|entry| entry.of_reader(self.reader.as_deref()));
        let mut since_emptied: Vec<SessionEntry> = Vec::new();
        for entry in own {
            if entry == SessionEntry::Emptied {
                since_emptied.clear();
            }
            since_emptied.push(entry);
        }
        let teller = |id: &String| {
            since_emptied.iter().find_map(|entry| match entry {
                SessionEntry::ShowingAtFailure { ids, by, .. } if ids.contains(id) => {
                    Some(Some(*by))
                }
                _ if is_at_failure => None,
                SessionEntry::Shown(ids) if ids.contains(id) => Some(None),
                SessionEntry::Showing { ids, by } if ids.contains(id) => Some(Some(*by)),
                _ => None,
            })
        };
        ids.iter().any(|id| teller(id) == Some(Some(by)))
    }

    fn write(&mut self, entry: &SessionEntry) -> Option<()> {
        let path = self.path.as_ref()?;
        let mut line = serde_json::to_string(entry).ok()?;
        line.push('\n');
        let after = self.length_bytes.saturating_add(u64::try_from(line.len()).ok()?);
        let is_reserved =
            entry.is_of_one_reader() || matches!(entry, SessionEntry::OfReader { .. });
        let most = if is_reserved { FILE_BYTES_MAX } else { FILE_BYTES_MAX - TOLD_BYTES };
        if line.len() > ENTRY_BYTES_MAX || after > most {
            return None;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        if self.length_bytes == 0 {
            let folder = path.parent()?;
            if !folder.exists() {
                let _ = std::fs::remove_dir_all(folder.with_file_name(OUTDATED_FOLDER));
            }
            own_folder(folder).ok()?;
            prune(folder, self.now);
        }
        open_private(&mut options, path).ok()?.write_all(line.as_bytes()).ok()?;
        self.length_bytes = after;
        Some(())
    }
}

impl SessionState {
    /// Applies an entry to the state.
    pub(super) fn apply(&mut self, entry: SessionEntry) {
        match entry {
            SessionEntry::Key(key) => self.key = self.key.or(Some(key)),
            SessionEntry::Prompted => self.is_prompted = true,
            SessionEntry::Shown(ids) | SessionEntry::Showing { ids, .. } => {
                self.shown_ids.extend(ids);
            }
            SessionEntry::ShowingAtFailure { ids, failure, .. } => {
                self.shown_ids.extend(ids.iter().cloned());
                self.failure_ids.extend(ids);
                if let Some(key) = failure {
                    *self.failures_answered.entry(key).or_default() += 1;
                }
            }
            SessionEntry::Emptied => {
                self.shown_ids.clear();
                self.failure_ids.clear();
                self.failures_answered.clear();
            }
            // Whoever reads the file has taken the own ones out of it.
            SessionEntry::OfReader { .. } => {}
            SessionEntry::Failed(failure) => {
                self.failures_len += 1;
                self.fixed_goals.retain(|goal| *goal != failure.goal);
                self.doubted_goals.remove(&failure.goal);
                self.failures.push(failure);
                let spare = self.failures.len().saturating_sub(FAILURES_MAX);
                self.failures.drain(..spare);
            }
            SessionEntry::Step(step) => {
                if let SessionStep::Changed(file) = &step
                    && self.is_new_file(file)
                {
                    self.changed_files.push(file.clone());
                }
                for failure in &mut self.failures {
                    failure.since.push(step.clone());
                    let spare = failure.since.len().saturating_sub(STEPS_MAX);
                    failure.since.drain(..spare);
                }
            }
            SessionEntry::Fixed(goal) => {
                self.failures.retain(|failure| failure.goal != goal);
                self.doubted_goals.remove(&goal);
                self.fixed_goals.push(goal);
            }
            SessionEntry::Doubted(goal) => {
                self.fixed_goals.retain(|fixed| *fixed != goal);
                self.doubted_goals.insert(goal);
            }
            SessionEntry::Learnt(key) => {
                self.lesson_keys.insert(key);
            }
            SessionEntry::Ended => self.is_ended = true,
        }
    }

    /// Tells whether a changed file is worth an entry: it is new, and there is room.
    pub(super) fn is_new_file(&self, file: &str) -> bool {
        self.changed_files.len() < CHANGED_MAX
            && !self.changed_files.iter().any(|known| **known == *file)
    }
}

/// Reads the entries of a file, and its length. A damaged line is skipped.
fn read(path: &Path) -> Option<(Vec<SessionEntry>, u64)> {
    let file = File::open(path).ok()?;
    let length_bytes = file.metadata().ok()?.len();
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let lines = bytes.split(|byte| *byte == b'\n');
    Some((lines.filter_map(|line| serde_json::from_slice(line).ok()).collect(), length_bytes))
}

fn name_of(id: &str) -> String {
    let mut name: String = Sha256::digest(id).iter().map(|byte| format!("{byte:02x}")).collect();
    name.truncate(NAME_DIGITS);
    name
}

/// Removes files that are older than a week, and the oldest ones if there are too many.
fn prune(folder: &Path, now: Timestamp) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let aged = entries.flatten().filter_map(|entry| {
        let changed = entry.metadata().ok()?.modified().ok()?;
        let since = changed.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Some((i64::try_from(since.as_secs()).ok()?, entry.path()))
    });
    let mut aged: Vec<(i64, PathBuf)> = aged.collect();
    aged.sort_unstable();
    // One place is kept free for the new file.
    let spare = (aged.len() + 1).saturating_sub(FILES_MAX);
    for (place, (at, path)) in aged.iter().enumerate() {
        if place < spare || now.as_second().saturating_sub(*at) > FILE_SECONDS_MAX {
            // Another hook may have removed it already.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn failure(goal: &str, at: i64) -> CommandFailure {
        let words: RedactedText = "permission denied".into();
        CommandFailure {
            at,
            command: goal.into(),
            goal: goal.into(),
            excerpt: words.clone(),
            words,
            fingerprint: 0,
            since: Vec::new(),
        }
    }

    fn open(folder: &Path, id: Option<&str>) -> Session {
        Session::open(folder, SessionReader { agent: "codex", session: id, subagent: None }, now())
    }

    // S-HOOK-9
    #[test]
    fn the_next_hook_knows_the_state_of_the_session() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = open(folder.path(), Some("s1"));
        let at = now().as_second();
        for entry in [
            SessionEntry::Prompted,
            SessionEntry::Shown(vec!["a".to_owned(), "b".to_owned()]),
            SessionEntry::Failed(failure("npm install", at)),
            SessionEntry::Failed(failure("cargo build", at - FAILURE_SECONDS_MAX - 1)),
            SessionEntry::Step(SessionStep::Ran("npm cache clean".into())),
            SessionEntry::Learnt("k".to_owned()),
        ] {
            first.record(entry);
        }
        let next = open(folder.path(), Some("s1"));
        assert!(
            next.state.is_prompted
                && next.state.shown_ids.contains("b")
                && next.state.lesson_keys.contains("k")
        );
        let [only] = next.state.failures.as_slice() else { panic!("{:?}", next.state.failures) };
        assert_eq!((only.goal.as_str(), only.since.len()), ("npm install", 1));
        assert_eq!(open(folder.path(), Some("s2")).state, SessionState::default());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(
                (mode(&folder.path().join(FOLDER)), mode(next.path.as_ref().unwrap())),
                (0o700, 0o600)
            );
        }
    }

    // S-HOOK-9
    #[test]
    fn a_session_without_an_id_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = open(folder.path(), None);
        session.record(SessionEntry::Prompted);
        assert!(session.state.is_prompted && !session.remembers());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    // S-HOOK-9
    #[test]
    fn one_of_several_concurrent_hooks_shows_a_memory() {
        let folder = tempfile::tempdir().unwrap();
        let ids = ["a".to_owned()];
        let (mut first, mut second) =
            (open(folder.path(), Some("s")), open(folder.path(), Some("s")));
        // An entry of another process.
        first.record(SessionEntry::Showing { ids: ids.to_vec(), by: 0 });
        assert!(!second.is_first_to_show(&ids, ShowOccasion::Other));
        assert!(
            open(folder.path(), Some("s")).is_first_to_show(&["b".to_owned()], ShowOccasion::Other)
        );
        assert!(
            open(folder.path(), None).is_first_to_show(&ids, ShowOccasion::Other),
            "who remembers nothing tells"
        );
    }

    // S-HOOK-9
    #[test]
    fn each_subagent_is_shown_what_only_others_saw() {
        let folder = tempfile::tempdir().unwrap();
        let open = |subagent| {
            let reader = SessionReader { agent: "codex", session: Some("s"), subagent };
            Session::open(folder.path(), reader, now())
        };
        open(None).record(SessionEntry::Shown(vec!["a".to_owned()]));
        open(None).record(SessionEntry::Prompted);
        let mut child = open(Some("child"));
        assert!(child.state.shown_ids.is_empty() && !child.state.is_prompted);
        assert!(child.is_first_to_show(&["a".to_owned()], ShowOccasion::Other));
        child.record(SessionEntry::Failed(failure("make", now().as_second())));
        assert!(open(Some("child")).state.shown_ids.contains("a"));
        assert!(open(Some("other")).state.shown_ids.is_empty());
        assert_eq!(open(None).state.failures.len(), 1, "a failure is one of the session");
    }

    // S-HOOK-9
    #[test]
    fn a_failure_may_show_once_more_what_the_briefing_showed() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = open(folder.path(), Some("s"));
        let ids = ["a".to_owned()];
        session.record(SessionEntry::Shown(ids.to_vec()));
        let at_failure = || ShowOccasion::Failure(Some("f".to_owned()));
        assert!(session.is_first_to_show(&ids, at_failure()));
        let mut next = open(folder.path(), Some("s"));
        assert!(next.state.failure_ids.contains("a") && next.state.failures_answered["f"] == 1);
        next.record(SessionEntry::Emptied);
        let after = open(folder.path(), Some("s")).state;
        assert!(after.shown_ids.is_empty() && after.failure_ids.is_empty());
        assert!(open(folder.path(), Some("s")).is_first_to_show(&ids, ShowOccasion::Other));
    }

    // S-HOOK-9
    #[test]
    fn damaged_lines_are_skipped_and_shown_ids_have_room() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path(), Some("s")).record(SessionEntry::Shown(vec!["a".to_owned()]));
        let path = open(folder.path(), Some("s")).path.unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"\"torn \xC3\n").unwrap();
        let room = FILE_BYTES_MAX - TOLD_BYTES - path.metadata().unwrap().len();
        file.write_all(&vec![b'\n'; usize::try_from(room).unwrap()]).unwrap();
        let mut session = open(folder.path(), Some("s"));
        assert!(session.state.shown_ids.contains("a"));
        session.record(SessionEntry::Learnt("k".to_owned()));
        session.record(SessionEntry::Shown(vec!["b".to_owned()]));
        let next = open(folder.path(), Some("s")).state;
        assert!(next.shown_ids.contains("b") && next.lesson_keys.is_empty(), "{next:?}");
    }

    // S-HOOK-9
    #[test]
    fn concurrent_hooks_lose_no_entries() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path(), Some("s")).record(SessionEntry::Prompted);
        std::thread::scope(|scope| {
            for hook in 0..8 {
                let folder = folder.path();
                scope.spawn(move || {
                    for number in 0..25 {
                        open(folder, Some("s"))
                            .record(SessionEntry::Shown(vec![format!("{hook}-{number}")]));
                    }
                });
            }
        });
        assert_eq!(open(folder.path(), Some("s")).state.shown_ids.len(), 200);
    }

    // S-HOOK-9
    #[test]
    fn files_are_bounded_in_size_number_and_age() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = open(folder.path(), Some("s"));
        for _ in 0..1_000 {
            session.record(SessionEntry::Shown(vec!["x".repeat(1_000)]));
        }
        session.record(SessionEntry::Shown(vec!["x".repeat(ENTRY_BYTES_MAX)]));
        let length = session.path.as_ref().unwrap().metadata().unwrap().len();
        assert!(length <= FILE_BYTES_MAX && length > FILE_BYTES_MAX / 2, "{length}");
        let place = folder.path().join(FOLDER);
        for number in 0..FILES_MAX + 9 {
            std::fs::write(place.join(format!("codex-{number}")), "").unwrap();
        }
        let present = Timestamp::try_from(place.metadata().unwrap().modified().unwrap()).unwrap();
        let reader =
            |session| SessionReader { agent: "codex", session: Some(session), subagent: None };
        let mut other = Session::open(folder.path(), reader("t"), present);
        other.record(SessionEntry::Prompted);
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), FILES_MAX);
        let later = Timestamp::from_second(present.as_second() + FILE_SECONDS_MAX + 60).unwrap();
        Session::open(folder.path(), reader("u"), later).record(SessionEntry::Prompted);
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1);
    }

    #[test]
    fn a_fixed_failure_no_longer_waits() {
        let mut state = SessionState::default();
        state.apply(SessionEntry::Failed(failure("a", 0)));
        state.apply(SessionEntry::Failed(failure("b", 0)));
        state.apply(SessionEntry::Fixed("a".into()));
        assert_eq!(state.failures.len(), 1);
        for _ in 0..100 {
            state.apply(SessionEntry::Failed(failure("c", 0)));
            state.apply(SessionEntry::Step(SessionStep::Changed("x".into())));
        }
        assert_eq!((state.failures.len(), state.failures_len), (FAILURES_MAX, 102));
        assert!(state.failures.iter().all(|failure| failure.since.len() <= STEPS_MAX));
    }

    #[test]
    fn session_files_contain_no_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
        let mut session = open(folder.path(), Some("s"));
        session.record(SessionEntry::Step(SessionStep::Ran(
            format!("curl -H 'Authorization: token {secret}' x").into(),
        )));
        let text = std::fs::read_to_string(session.path.unwrap()).unwrap();
        assert!(text.contains("REDACTED") && !text.contains(&secret), "{text}");
    }
}
