//! A stream of JetStream as a remote, for big teams: each line of a log is a message, under a subject that only its origin may
//! publish to. The stream itself is the cursor: what the server has is read from it, and nothing is remembered that could lie.
//! Not here: the calls (`team_stream`), the messages in the cache (`stream_copy`), and trees (`origin_tree`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use event::StoreOrigin;
use event::limits::READ_LINE_BYTES_MAX;

use store::FileLock;

use crate::content_sum::sum;
use crate::origin_tree::{FORMAT_PATH, TreePlace, WITHDRAWN_PATH, complete_lines, place_of};
use crate::stream_copy::{
    CopiedMessage, CopiedOrigin, OriginMessages, PREFIX, StreamCopy, log_name, origin_of_subject,
    tip_of,
};
use crate::stream_rules::ALL;
use crate::sync_request::FOLDER;
use crate::team_address::TeamAddress;
use crate::team_stream::{SendOutcome, StreamMessage, TeamStream, WINDOW};
use crate::transport::FILES_MAX;
use crate::{
    FetchedTips, FilePart, Listing, NextTree, PublishOutcome, RemoteAddress, SyncError, Tip, Tips,
    Transport, TreeFile,
};

/// How often an origin is read anew whose copy is not like the stream: a server of a cluster may be behind.
const TRIES_MAX: usize = 5;

/// How long a round waits for another one that brings the copy up to date, in milliseconds.
const LOCK_MS_MAX: u64 = 5_000;

/// How long such a server gets.
const BEHIND: Duration = Duration::from_millis(300);

/// A stream as a remote.
pub struct NatsRemote<'a> {
    address: &'a TeamAddress,
    credentials: Option<&'a Path>,
    shown: String,
    folder: PathBuf,
    stream: Option<TeamStream>,
    /// The tree that was listed last.
    listed: Option<(StoreOrigin, BTreeMap<String, Vec<u8>>)>,
    steps: &'a dyn Fn(&'static str),
}

impl<'a> NatsRemote<'a> {
    /// Names a stream; `cache` is the folder of all caches, `credentials` a `.creds` file. `steps` is told each step.
    #[must_use]
    pub fn at(
        (address, remote): (&'a TeamAddress, &RemoteAddress),
        credentials: Option<&'a Path>,
        cache: &Path,
        steps: &'a dyn Fn(&'static str),
    ) -> Self {
        let folder = cache.join(FOLDER).join(format!("{}.stream", remote.hash()));
        let shown = remote.shown().to_owned();
        Self { address, credentials, shown, folder, stream: None, listed: None, steps }
    }

    fn error(&self, why: &str) -> SyncError {
        SyncError::Remote { remote: self.shown.clone(), why: why.to_owned() }
    }

    /// Connects, if that has not been done.
    fn connect(&mut self) -> Result<(), SyncError> {
        if self.stream.is_none() {
            self.stream = Some(TeamStream::open(self.address, self.credentials, &self.shown)?);
            (self.steps)("connected");
        }
        Ok(())
    }

    fn stream(&self) -> Result<&TeamStream, SyncError> {
        self.stream.as_ref().ok_or_else(|| self.error("it is not connected"))
    }

    /// Makes the copy equal to the stream.
    fn catch_up(&mut self) -> Result<StreamCopy, SyncError> {
        self.connect()?;
        self.listed = None;
        // Another store of this user may read the same stream.
        store::own_folder(self.folder.parent().unwrap_or(&self.folder))?;
        let _turn = FileLock::acquire(&self.folder.with_extension("lock"), LOCK_MS_MAX)?;
        let mut copy = StreamCopy::open(self.folder.clone())?;
        let state = self.stream()?.state()?;
        if state.mark == copy.state.mark {
            return Ok(copy);
        }
        let (state, counts) = self.stream()?.counts()?;
        if state.created != copy.state.created || state.last < copy.state.cursor {
            copy.clear(&state.created)?;
        }
        (self.steps)("counted");
        let from = copy.state.cursor + 1;
        if from <= state.last {
            let stream = self.stream()?;
            stream.read(ALL, (from, state.last), |part| add_messages(&mut copy, part))?;
        }
        (self.steps)("read");
        let wanted = by_origin(&counts, &mut copy);
        let mut is_equal = true;
        for (origin, counts) in &wanted {
            is_equal &= self.compare(&mut copy, (origin, counts), state.last)?;
        }
        copy.state.origins.retain(|name, _| {
            StoreOrigin::parse(name).is_some_and(|origin| wanted.contains_key(&origin))
        });
        copy.state.cursor = state.last;
        copy.state.mark = if is_equal { state.mark } else { String::new() };
        copy.write()?;
        Ok(copy)
    }

    /// Compares an origin's messages with how many the server has, and reads them anew if they differ: messages were erased,
    /// or the server lost some, or it is behind.
    fn compare(
        &self,
        copy: &mut StreamCopy,
        (origin, counts): (&StoreOrigin, &BTreeMap<String, usize>),
        last: u64,
    ) -> Result<bool, SyncError> {
        let is_equal = |copy: &StreamCopy| {
            copy.state.origins.get(origin.as_str()).is_some_and(|copied| copied.counts == *counts)
        };
        for again in 0..TRIES_MAX {
            if is_equal(copy) {
                return Ok(true);
            }
            if again > 0 {
                self.stream()?.pause(BEHIND);
            }
            let mut messages = OriginMessages::default();
            let subject = format!("{PREFIX}{}.>", origin.as_str());
            self.stream()?.read(&subject, (1, last), |part| {
                add(&mut messages, part);
                Ok(())
            })?;
            copy.write_origin(origin, &messages)?;
        }
        Ok(is_equal(copy))
    }

    /// Sends what the stream does not have. `None` if all is there.
    fn send(
        &self,
        origin: &StoreOrigin,
        (there, wanted): (&OriginMessages, &BTreeMap<String, Vec<String>>),
    ) -> Result<Option<PublishOutcome>, SyncError> {
        for (log, lines) in wanted {
            let subject = format!("{PREFIX}{}.{log}", origin.as_str());
            let had: HashSet<&str> = there.lines(log).map(|(_, line)| line).collect();
            let mut seen = HashSet::new();
            let new = lines.iter().map(String::as_str);
            let new: Vec<&str> =
                new.filter(|line| !had.contains(line) && seen.insert(*line)).collect();
            let mut last = there.last(log);
            for window in new.chunks(WINDOW) {
                (self.steps)("send");
                match self.stream()?.publish(&subject, last, window)? {
                    SendOutcome::Stored(sequence) => last = sequence,
                    SendOutcome::Conflict => return Ok(Some(PublishOutcome::Conflict)),
                    SendOutcome::Refused(why) => return Ok(Some(PublishOutcome::Refused(why))),
                }
            }
        }
        Ok(None)
    }

    /// Erases the messages of some logs whose lines are not wanted any more. `None` if that is done.
    fn erase(
        &self,
        (there, wanted): (&OriginMessages, &BTreeMap<String, Vec<String>>),
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<Option<PublishOutcome>, SyncError> {
        let wanted: BTreeSet<(&str, &str)> = wanted
            .iter()
            .flat_map(|(log, lines)| lines.iter().map(|line| (log.as_str(), line.as_str())))
            .collect();
        for (sequence, message) in &there.all {
            let line = message.line.as_deref().unwrap_or_default();
            if !is_meant(&message.log) || wanted.contains(&(message.log.as_str(), line)) {
                continue;
            }
            (self.steps)("erase");
            if let Some(why) = self.stream()?.erase(*sequence)? {
                let why = format!("withdrawn lines could not be erased: {why}");
                return Ok(Some(PublishOutcome::Refused(why)));
            }
        }
        Ok(None)
    }
}

impl Transport for NatsRemote<'_> {
    fn tips(&mut self) -> Result<Tips, SyncError> {
        let copy = self.catch_up()?;
        let tip = |(name, copied): (&String, &CopiedOrigin)| {
            Some((StoreOrigin::parse(name)?, Tip(copied.tip.clone())))
        };
        Ok(Tips { tips: copy.state.origins.iter().filter_map(tip).collect(), odd: copy.state.odd })
    }

    fn bring(&mut self, wanted: &[(StoreOrigin, Tip)]) -> Result<FetchedTips, SyncError> {
        // All of them came when it was asked what there is.
        let copy = StreamCopy::open(self.folder.clone())?;
        let tip = |(origin, _): &(StoreOrigin, Tip)| {
            let copied = copy.state.origins.get(origin.as_str())?;
            Some((origin.clone(), Tip(copied.tip.clone())))
        };
        Ok(FetchedTips { tips: wanted.iter().filter_map(tip).collect(), failed: Vec::new() })
    }

    fn list(&mut self, origin: &StoreOrigin, _: &Tip) -> Result<Listing, SyncError> {
        let (files, odd) = StreamCopy::open(self.folder.clone())?.read(origin).tree();
        if files.len() > FILES_MAX {
            return Err(SyncError::Unreadable("there are too many files".to_owned()));
        }
        let listed = |(path, bytes): (&String, &Vec<u8>)| TreeFile {
            path: path.clone(),
            sum: sum(bytes),
            bytes: bytes.len() as u64,
        };
        let listing = Listing { files: files.iter().map(listed).collect(), odd };
        self.listed = Some((origin.clone(), files));
        Ok(listing)
    }

    fn read(
        &mut self,
        origin: &StoreOrigin,
        files: &[&TreeFile],
    ) -> Result<Vec<Vec<u8>>, SyncError> {
        let listed = self.listed.as_ref().filter(|(listed, _)| listed == origin);
        let read = |file: &&TreeFile| {
            let found = listed.and_then(|(_, files)| files.get(&file.path));
            let found = found.filter(|bytes| sum(bytes) == file.sum);
            found.cloned().ok_or_else(|| self.error("a file is not what its name says"))
        };
        files.iter().map(read).collect()
    }

    fn prepare(&mut self, next: &NextTree<'_>) -> Result<Tip, SyncError> {
        let sum_of = |part: &FilePart<'_>| match part {
            FilePart::Same(name) => (*name).to_owned(),
            FilePart::New(bytes) => sum(bytes),
        };
        Ok(tip_of(next.files.iter().map(|(path, part)| (*path, sum_of(part)))))
    }

    fn publish(&mut self, next: &NextTree<'_>, _: &Tip) -> Result<PublishOutcome, SyncError> {
        let there = self.catch_up()?.read(next.origin);
        let (files, _) = there.tree();
        let tip = (!there.all.is_empty()).then(|| there.tip());
        if tip.as_ref() != next.on {
            return Ok(PublishOutcome::Conflict);
        }
        let Some(wanted) = wanted_lines(next, &files) else {
            return Ok(PublishOutcome::Refused("a file has no place in a stream".to_owned()));
        };
        // The mark of a line that is shared again goes before the line comes: whoever ends in between sends the line as a
        // new one. A mark that stayed beside its line would stay for good.
        if let Some(stopped) = self.erase((&there, &wanted), |log| log == WITHDRAWN_PATH)? {
            return Ok(stopped);
        }
        // New lines come before old ones go: whoever reads in between misses nothing.
        if let Some(stopped) = self.send(next.origin, (&there, &wanted))? {
            return Ok(stopped);
        }
        let erased = self.erase((&there, &wanted), |log| log != WITHDRAWN_PATH)?;
        Ok(erased.unwrap_or(PublishOutcome::Done))
    }

    fn line_bytes_max(&self) -> usize {
        self.stream.as_ref().map_or(READ_LINE_BYTES_MAX, |stream| stream.line_bytes_max)
    }

    fn forget(&mut self) -> Result<(), SyncError> {
        StreamCopy::open(self.folder.clone())?.clear("")
    }
}

/// Adds messages to the copy.
fn add_messages(copy: &mut StreamCopy, part: Vec<StreamMessage>) -> Result<(), SyncError> {
    let mut by_origin: BTreeMap<StoreOrigin, Vec<StreamMessage>> = BTreeMap::new();
    let mut more = BTreeSet::new();
    for message in part {
        let found = origin_of_subject(&message.subject).map(|(origin, _)| origin);
        if let Some(origin) = found.filter(|origin| copy.accepts(origin, &mut more)) {
            by_origin.entry(origin).or_default().push(message);
        }
    }
    for (origin, part) in by_origin {
        let mut messages = copy.read(&origin);
        add(&mut messages, part);
        copy.write_origin(&origin, &messages)?;
    }
    Ok(())
}

fn add(messages: &mut OriginMessages, part: Vec<StreamMessage>) {
    for StreamMessage { sequence, subject, payload } in part {
        if let Some((_, log)) = origin_of_subject(&subject) {
            messages.add((sequence, CopiedMessage::parse(log, payload)));
        }
    }
}

/// Sorts how many messages each subject has by origin, and counts the names that are none.
fn by_origin(
    counts: &BTreeMap<String, usize>,
    copy: &mut StreamCopy,
) -> BTreeMap<StoreOrigin, BTreeMap<String, usize>> {
    let mut found: BTreeMap<StoreOrigin, BTreeMap<String, usize>> = BTreeMap::new();
    let (mut odd, mut more) = (BTreeSet::new(), BTreeSet::new());
    for (subject, count) in counts {
        match origin_of_subject(subject).filter(|(origin, _)| copy.accepts(origin, &mut more)) {
            Some((origin, log)) => {
                found.entry(origin).or_default().insert(log.to_owned(), *count);
            }
            None => {
                odd.insert(subject.split('.').nth(2));
            }
        }
    }
    copy.state.odd = odd.len();
    found
}

/// Returns the lines that each log should have. `None` if a file is no part of what a store publishes.
fn wanted_lines(
    next: &NextTree<'_>,
    there: &BTreeMap<String, Vec<u8>>,
) -> Option<BTreeMap<String, Vec<String>>> {
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, part) in &next.files {
        let log = match place_of(path) {
            TreePlace::Format => FORMAT_PATH.to_owned(),
            TreePlace::Withdrawn => WITHDRAWN_PATH.to_owned(),
            TreePlace::Segment(repo, _) => log_name(&repo),
            TreePlace::Odd => return None,
        };
        let bytes = match part {
            FilePart::Same(_) => there.get(*path)?,
            FilePart::New(bytes) => *bytes,
        };
        let lines = complete_lines(bytes).map(|line| String::from_utf8_lossy(line).into_owned());
        wanted.entry(log).or_default().extend(lines);
    }
    Some(wanted)
}
