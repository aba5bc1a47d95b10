//! The copy of a team's stream in the cache, from which trees are read. A message `ak1.e.<origin>.<log>` holds one line of that
//! log; `FORMAT` and `WITHDRAWN` stand in the place of a log for the files of these names. The copy may be lost at any time,
//! and then the stream is read again. Not here: the server (`team_stream`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use event::limits::READ_LINE_BYTES_MAX;
use event::{RepoKey, StoreOrigin};
use serde::{Deserialize, Serialize};

use crate::content_sum::sum;
use crate::origin_tree::{
    FORMAT_PATH, TreePlace, WITHDRAWN_PATH, place_of, segments, withdrawn_text,
};
use crate::transport::ORIGINS_MAX;
use crate::{SyncError, Tip};

/// What begins every subject.
pub(crate) const PREFIX: &str = "ak1.e.";

/// Where the copy stands, inside its folder.
const STATE_PATH: &str = "STATE";

/// Most bytes that are kept of one origin. Of messages past that only the place is kept.
const ORIGIN_BYTES_MAX: usize = 512 * 1024 * 1024;

/// The copy.
pub(crate) struct StreamCopy {
    folder: PathBuf,
    pub(crate) state: CopyState,
}

/// Where the copy stands.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CopyState {
    /// When the stream was created, by which it is known.
    pub(crate) created: String,
    /// The sequence up to which messages were read.
    pub(crate) cursor: u64,
    /// What the stream looked like when the copy was equal to it.
    pub(crate) mark: String,
    /// How many names are no origin, or were too many.
    pub(crate) odd: usize,
    /// The origins.
    pub(crate) origins: BTreeMap<String, CopiedOrigin>,
}

/// What is known of an origin without reading its messages.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CopiedOrigin {
    /// The name of its tree.
    pub(crate) tip: String,
    /// How many messages each of its subjects has.
    pub(crate) counts: BTreeMap<String, usize>,
}

/// The messages of one origin.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OriginMessages {
    /// By their sequence.
    pub(crate) all: BTreeMap<u64, CopiedMessage>,
    /// The lines of all, in bytes.
    line_bytes: usize,
}

/// A message: the end of its subject, and its line. `None` for what is no line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CopiedMessage {
    pub(crate) log: String,
    pub(crate) line: Option<String>,
}

impl StreamCopy {
    /// Opens a copy; what cannot be understood is empty.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, SyncError> {
        store::own_folder(&folder)?;
        let text = std::fs::read(folder.join(STATE_PATH)).unwrap_or_default();
        Ok(Self { folder, state: serde_json::from_slice(&text).unwrap_or_default() })
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self, created: &str) -> Result<(), SyncError> {
        self.state = CopyState { created: created.to_owned(), ..CopyState::default() };
        let error = |error| cache_error(&self.folder, &error);
        std::fs::remove_dir_all(&self.folder).map_err(error)?;
        store::own_folder(&self.folder)?;
        Ok(())
    }

    /// Writes where the copy stands.
    pub(crate) fn write(&self) -> Result<(), SyncError> {
        let text = serde_json::to_string(&self.state).unwrap_or_default();
        replace(&self.folder.join(STATE_PATH), &text)
    }

    /// Reads the messages of an origin.
    pub(crate) fn read(&self, origin: &StoreOrigin) -> OriginMessages {
        let text = std::fs::read_to_string(self.path(origin)).unwrap_or_default();
        let mut messages = OriginMessages::default();
        text.lines().filter_map(parsed).for_each(|message| messages.add(message));
        messages
    }

    /// Writes the messages of an origin.
    pub(crate) fn write_origin(
        &mut self,
        origin: &StoreOrigin,
        messages: &OriginMessages,
    ) -> Result<(), SyncError> {
        let mut text = String::new();
        for (sequence, CopiedMessage { log, line }) in &messages.all {
            let line = line.as_deref().unwrap_or_default();
            text.push_str(&format!("{sequence} {log} {line}\n"));
        }
        replace(&self.path(origin), &text)?;
        let copied = CopiedOrigin { tip: messages.tip().0, counts: messages.counts() };
        self.state.origins.insert(origin.as_str().to_owned(), copied);
        Ok(())
    }

    /// Tells whether an origin is one of those that are looked at. `more` are those that came since the copy was written.
    pub(crate) fn accepts(&self, origin: &StoreOrigin, more: &mut BTreeSet<StoreOrigin>) -> bool {
        let origins = &self.state.origins;
        if origins.contains_key(origin.as_str()) || more.contains(origin) {
            return true;
        }
        let has_room = origins.len() + more.len() < ORIGINS_MAX;
        has_room && more.insert(origin.clone())
    }

    fn path(&self, origin: &StoreOrigin) -> PathBuf {
        self.folder.join(format!("{}.messages", origin.as_str()))
    }
}

fn replace(path: &Path, text: &str) -> Result<(), SyncError> {
    let new = path.with_extension("new");
    let written = store::write_private(&new, text).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| cache_error(path, &error))
}

fn cache_error(path: &Path, error: &std::io::Error) -> SyncError {
    SyncError::Cache { path: path.display().to_string(), why: error.to_string() }
}

fn parsed(text: &str) -> Option<(u64, CopiedMessage)> {
    let mut parts = text.splitn(3, ' ');
    let sequence = parts.next()?.parse().ok()?;
    let log = parts.next()?.to_owned();
    let line = parts.next().filter(|line| !line.is_empty()).map(str::to_owned);
    Some((sequence, CopiedMessage { log, line }))
}

impl CopiedMessage {
    /// Reads what came: a line of text, or something odd of which only the place matters.
    pub(crate) fn parse(log: &str, payload: Vec<u8>) -> Self {
        let is_line = |line: &String| {
            line.len() <= READ_LINE_BYTES_MAX && !line.contains(['\n', '\r']) && !line.is_empty()
        };
        Self { log: log.to_owned(), line: String::from_utf8(payload).ok().filter(is_line) }
    }
}

impl OriginMessages {
    /// Adds a message with its sequence. Of an origin with more lines than are kept, the rest only counts.
    pub(crate) fn add(&mut self, message: (u64, CopiedMessage)) {
        self.add_within(message, ORIGIN_BYTES_MAX);
    }

    fn add_within(&mut self, (sequence, mut message): (u64, CopiedMessage), line_bytes_max: usize) {
        let bytes = |message: &CopiedMessage| message.line.as_ref().map_or(0, String::len);
        self.line_bytes -= self.all.remove(&sequence).as_ref().map_or(0, bytes);
        if self.line_bytes + bytes(&message) > line_bytes_max {
            message.line = None;
        }
        self.line_bytes += bytes(&message);
        self.all.insert(sequence, message);
    }

    /// Returns how many messages each subject has.
    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for message in self.all.values() {
            *counts.entry(message.log.clone()).or_default() += 1;
        }
        counts
    }

    /// Returns the lines of a log, with their sequences.
    pub(crate) fn lines<'a>(&'a self, log: &'a str) -> impl Iterator<Item = (u64, &'a str)> {
        let of_log = self.all.iter().filter(move |(_, message)| message.log == log);
        of_log.filter_map(|(sequence, message)| Some((*sequence, message.line.as_deref()?)))
    }

    /// Returns the sequence of the last message of a log, also of one that is no line; 0 if there is none.
    pub(crate) fn last(&self, log: &str) -> u64 {
        let mut of_log = self.all.iter().rev().filter(|(_, message)| message.log == log);
        of_log.next().map_or(0, |(sequence, _)| *sequence)
    }

    /// Returns the tree: its files by path, and how many names and messages are no part of one.
    pub(crate) fn tree(&self) -> (BTreeMap<String, Vec<u8>>, usize) {
        let mut logs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for message in self.all.values() {
            logs.entry(&message.log).or_default().extend(message.line.as_deref());
        }
        let (mut files, mut odd) = (BTreeMap::new(), 0);
        for (log, lines) in logs {
            match place_of_log(log) {
                // A second one, of a publication that was repeated, changes nothing.
                TreePlace::Format => {
                    let last = lines.last().map(|line| format!("{line}\n").into_bytes());
                    files.extend(last.map(|last| (FORMAT_PATH.to_owned(), last)));
                }
                TreePlace::Withdrawn => {
                    let ids = lines.into_iter().map(str::to_owned).collect();
                    files.insert(WITHDRAWN_PATH.to_owned(), withdrawn_text(&ids));
                }
                TreePlace::Segment(repo, _) => files.extend(segments(&repo, lines.into_iter())),
                TreePlace::Odd => odd += 1,
            }
        }
        odd += self.all.values().filter(|message| message.line.is_none()).count();
        (files, odd)
    }

    /// Returns the name of the tree.
    pub(crate) fn tip(&self) -> Tip {
        let (files, _) = self.tree();
        tip_of(files.iter().map(|(path, bytes)| (path.as_str(), sum(bytes))))
    }
}

/// Names a tree by its paths, in order, and the sums of their contents.
pub(crate) fn tip_of<'a>(files: impl Iterator<Item = (&'a str, String)>) -> Tip {
    let list: String = files.map(|(path, sum)| format!("{sum} {path}\n")).collect();
    Tip(sum(list.as_bytes()))
}

/// Returns the origin of a subject and the rest of it.
pub(crate) fn origin_of_subject(subject: &str) -> Option<(StoreOrigin, &str)> {
    let (origin, log) = subject.strip_prefix(PREFIX)?.split_once('.')?;
    Some((StoreOrigin::parse(origin)?, log))
}

/// Returns what a subject calls a log. A `.` would begin another part of the subject.
pub(crate) fn log_name(repo: &RepoKey) -> String {
    let file = repo.file_name();
    file.strip_suffix(".jsonl").unwrap_or(&file).replace('.', "%2E")
}

/// Tells what a log in a subject is. Whatever is not exactly a name that we give is odd.
fn place_of_log(log: &str) -> TreePlace {
    match log {
        FORMAT_PATH => return TreePlace::Format,
        WITHDRAWN_PATH => return TreePlace::Withdrawn,
        _ => {}
    }
    match place_of(&format!("{}/000000.jsonl", log.replace("%2E", "."))) {
        TreePlace::Segment(repo, number) if log_name(&repo) == log => {
            TreePlace::Segment(repo, number)
        }
        _ => TreePlace::Odd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(of: &[(u64, &str, &[u8])]) -> OriginMessages {
        let read = |&(sequence, log, bytes): &(u64, &str, &[u8])| {
            (sequence, CopiedMessage::parse(log, bytes.to_vec()))
        };
        let mut messages = OriginMessages::default();
        of.iter().map(read).for_each(|message| messages.add(message));
        messages
    }

    // S-NATS-4
    #[test]
    fn subjects_name_logs_and_nothing_else() {
        let repo = RepoKey::parse("github.com/acme/api").unwrap();
        assert_eq!(log_name(&repo), "github%2Ecom+acme+api");
        assert_eq!(place_of_log(&log_name(&repo)), TreePlace::Segment(repo, 0));
        for odd in ["", "github.com+acme+api", "X", "a.b", "..", "%2E%2E+x", "a/b", "Format", "con"]
        {
            assert_eq!(place_of_log(odd), TreePlace::Odd, "{odd}");
        }
        let found = origin_of_subject("ak1.e.ana-0123456789abcdef.a.b");
        assert_eq!(found, Some((StoreOrigin::parse("ana-0123456789abcdef").unwrap(), "a.b")));
        assert_eq!(origin_of_subject("ak1.e.x.a"), None);
    }

    // S-SYNC-8
    #[test]
    fn no_more_origins_are_taken_than_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let mut copy = StreamCopy::open(folder.path().join("copy")).unwrap();
        let known = StoreOrigin::mint("ana", 0);
        copy.write_origin(&known, &messages(&[(1, "api", b"1")])).unwrap();
        let mut more = BTreeSet::new();
        let mut all = (0..=1_000).map(|bits| StoreOrigin::mint("ana", bits));
        let taken =
            all.by_ref().take(1_000).filter(|origin| copy.accepts(origin, &mut more)).count();
        assert_eq!((taken, more.len()), (1_000, 999));
        assert!(!copy.accepts(&all.next().unwrap(), &mut more), "one too many");
        assert!(copy.accepts(&known, &mut more));
    }

    // S-SYNC-8, S-NATS-6
    #[test]
    fn past_the_bound_messages_only_count() {
        let mut of_ana = messages(&[(1, "api", b"12345")]);
        for sequence in [2, 3, 3] {
            of_ana.add_within((sequence, CopiedMessage::parse("api", b"123".to_vec())), 9);
        }
        let lines: Vec<(u64, &str)> = of_ana.lines("api").collect();
        assert_eq!((lines, of_ana.counts()["api"]), (vec![(1, "12345"), (2, "123")], 3));
        of_ana.add_within((2, CopiedMessage::parse("api", b"1".to_vec())), 9);
        of_ana.add_within((3, CopiedMessage::parse("api", b"123".to_vec())), 9);
        assert_eq!(of_ana.lines("api").count(), 3, "room that was given back is used");
    }

    // S-NATS-4
    #[test]
    fn messages_become_a_tree_and_back() {
        let of_ana = messages(&[
            (9, "api", b"{\"id\":\"b\"}"),
            (3, "api", b"{\"id\":\"a\"}"),
            (4, "FORMAT", b"1"),
            (5, "WITHDRAWN", b"z"),
            (6, "X", b"odd"),
            (7, "api", b"two\nlines"),
            (8, "api", b""),
            (10, "api", b"\xff"),
        ]);
        let (files, odd) = of_ana.tree();
        assert_eq!(odd, 4);
        let text = |path: &str| String::from_utf8(files[path].clone()).unwrap();
        assert_eq!(text("api/000000.jsonl"), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
        assert_eq!(
            (text("FORMAT"), text("WITHDRAWN"), files.len()),
            ("1\n".into(), "z\n".into(), 3)
        );
        assert_eq!((of_ana.last("api"), of_ana.last("web"), of_ana.counts()["api"]), (10, 0, 5));

        let folder = tempfile::tempdir().unwrap();
        let origin = StoreOrigin::mint("ana", 1);
        let open = || StreamCopy::open(folder.path().join("copy")).unwrap();
        let mut copy = open();
        copy.write_origin(&origin, &of_ana).unwrap();
        copy.state.cursor = 10;
        copy.write().unwrap();
        assert_eq!(open().read(&origin), of_ana);
        assert_eq!(open().state.origins[origin.as_str()].tip, of_ana.tip().0);
        copy.clear("later").unwrap();
        assert!(open().read(&origin).all.is_empty() && open().state.cursor == 0);
    }
}
