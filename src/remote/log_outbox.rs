//! What waits in one log for its delivery: it is read piece by piece, and after a rewrite the place is found again by the last
//! events that were delivered, also in what was archived. Not here: where the place is kept (`delivered_logs`), the delivery
//! (`outbox`).

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use event::{DecodedLine, Event, codec};
use store::{FileChange, Store, StoreError, Tail};

use crate::delivered_logs::{DeliveredPlace, PassedEvents, PassedLocation};

/// How many bytes of a log are read at a time; the place is noted when all of them are delivered.
const PIECE_BYTES: u64 = 64 * 1024;

/// How many events of the archive are held at a time.
const ARCHIVED_MAX: usize = 512;

/// The pause after a failure, which doubles up to the longest.
pub const PAUSE_MIN: Duration = Duration::from_millis(500);
pub const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How long a deed waits for its memory to be known. Replicas tell each other within seconds.
const UNKNOWN: Duration = Duration::from_secs(60);

/// One log.
pub struct LogOutbox {
    tail: Tail,
    waiting: VecDeque<WaitingEvent>,
    passed: PassedEvents,
    rewritten: Option<Rewritten>,
    /// Whether a process before this one may have delivered the next events.
    is_resumed: bool,
    tries: DeliveryTries,
}

/// An event that was read.
struct WaitingEvent {
    event: Event,
    due: EventDue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventDue {
    /// It is to be delivered.
    Next,
    /// The same, from the archive.
    Archived,
    /// It was delivered before.
    Passed,
}

/// A log that was rewritten: by scrubbing, which keeps the lines in their order, or by archiving, which takes some away.
struct Rewritten {
    /// What was delivered before.
    before: PassedEvents,
    /// How many events of the archive were delivered since.
    archived: usize,
    /// How many lines of the log are known to be delivered, and how many after them may be. `None` until the archive is read.
    lines: Option<(usize, usize)>,
    /// How many were read.
    read: usize,
    seen: PassedLocation,
    /// The log as its lines were counted, until the first of them are read again.
    counted: Option<Tail>,
}

/// How often the event in front was tried.
#[derive(Debug, Default)]
pub struct DeliveryTries {
    /// Since when its memory is unknown.
    since: Option<Instant>,
    /// How often the server has answered that.
    pub unknown_answers: usize,
    pause: Option<(Instant, Duration)>,
    why: String,
}

impl DeliveryTries {
    /// Returns why it is too early to try again.
    pub fn rest_reason(&self, now: Instant) -> Option<&str> {
        let (since, pause) = self.pause?;
        (now.saturating_duration_since(since) < pause).then_some(self.why.as_str())
    }

    /// Notes a failure.
    pub fn record_failure(&mut self, why: String, now: Instant) {
        let pause = self.pause.map_or(PAUSE_MIN, |(_, pause)| (pause * 2).min(PAUSE_MAX));
        (self.pause, self.why) = (Some((now, pause)), why);
    }

    /// Notes that the memory is unknown. Returns whether it was for too long.
    pub fn record_unknown(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        now.saturating_duration_since(since) >= UNKNOWN
    }
}

impl LogOutbox {
    /// Goes on in a log from a place, or begins it.
    pub fn open(log: &Path, place: Option<DeliveredPlace>) -> Self {
        let is_resumed = place.is_some();
        let DeliveredPlace { cursor, passed } = place.unwrap_or_default();
        let tail = match cursor.to_bytes() {
            None => Tail::from_beginning(log),
            Some(_) => Tail::from_cursor(log, cursor),
        };
        let (waiting, tries) = (VecDeque::new(), DeliveryTries::default());
        Self { tail, waiting, passed, rewritten: None, is_resumed, tries }
    }

    /// Returns the event that is to be delivered next of those that were read.
    pub fn front(&mut self) -> Option<(&Event, &mut DeliveryTries)> {
        while self.waiting.front().is_some_and(|it| it.due == EventDue::Passed) {
            self.advance();
        }
        self.waiting.front().map(|it| (&it.event, &mut self.tries))
    }

    /// Goes on after the event in front.
    pub fn advance(&mut self) {
        self.tries = DeliveryTries::default();
        let Some(WaitingEvent { event, due }) = self.waiting.pop_front() else { return };
        self.passed.add(&event);
        if let (EventDue::Archived, Some(rewritten)) = (due, &mut self.rewritten) {
            rewritten.archived += 1;
        }
    }

    pub fn tries(&self) -> &DeliveryTries {
        &self.tries
    }

    /// Returns the place up to which everything is delivered. Within a piece its cursor is that of the beginning, which was
    /// noted. `None` while the place is sought.
    pub fn place(&self, noted: Option<&DeliveredPlace>) -> Option<DeliveredPlace> {
        if self.rewritten.is_some() {
            return None;
        }
        let cursor = match self.waiting.is_empty() && self.tail.was_read() {
            true => self.tail.cursor().clone(),
            false => noted.map(|noted| noted.cursor.clone()).unwrap_or_default(),
        };
        let place = DeliveredPlace { cursor, passed: self.passed.clone() };
        Some(place).filter(|place| *place != DeliveredPlace::default())
    }

    /// Reads the next events. Returns whether there may be more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn read_on(
        &mut self,
        store: &Store,
        mut each: impl FnMut(&Event),
    ) -> Result<bool, StoreError> {
        if self.rewritten.as_ref().is_some_and(|it| it.lines.is_none()) {
            self.read_archive(store)?;
            return Ok(true);
        }
        let before = self.tail.offset();
        let change = self.read_piece(&mut each)?;
        match change {
            FileChange::Grown => Ok(self.tail.offset() > before),
            FileChange::Replaced => {
                self.begin_again();
                Ok(true)
            }
            FileChange::None | FileChange::Gone => {
                self.settle();
                Ok(false)
            }
        }
    }

    fn begin_again(&mut self) {
        // One that is rewritten while its place is sought is sought by what was known at first.
        let (before, archived) = match self.rewritten.take() {
            Some(rewritten) => (rewritten.before, rewritten.archived),
            None => (self.passed.clone(), 0),
        };
        self.tail.rewind();
        self.waiting.clear();
        self.is_resumed = false;
        let (lines, read, seen, counted) = (None, 0, PassedLocation::Nowhere, None);
        self.rewritten = Some(Rewritten { before, archived, lines, read, seen, counted });
    }

    fn read_piece(&mut self, each: &mut impl FnMut(&Event)) -> Result<FileChange, StoreError> {
        let file_repo = Store::repo_of(self.tail.log()).to_string();
        let (waiting, rewritten) = (&mut self.waiting, &mut self.rewritten);
        let change = self.tail.read_piece(PIECE_BYTES, |line| {
            let decoded = codec::decode(line.bytes, &file_repo);
            let event = match decoded {
                DecodedLine::Event(event) => Some(*event),
                _ => None,
            };
            let due = match rewritten {
                None => Some(EventDue::Next),
                Some(rewritten) => rewritten.next_line(event.as_ref()),
            };
            if let (Some(event), Some(due)) = (event, due) {
                each(&event);
                waiting.push_back(WaitingEvent { event, due });
            }
        })?;
        if change == FileChange::Grown && std::mem::take(&mut self.is_resumed) {
            let overlap = self.passed.overlap(self.waiting.iter().map(|it| &it.event));
            self.waiting.drain(..overlap);
        }
        if change != FileChange::Grown {
            return Ok(change);
        }
        let counted = self.rewritten.as_mut().and_then(|rewritten| rewritten.counted.take());
        if counted.map(|counted| counted.detect_change()).transpose()?.is_some_and(is_another) {
            return Ok(FileChange::Replaced);
        }
        self.settle();
        Ok(change)
    }

    /// Forgets the rewriting once every line of it was read.
    fn settle(&mut self) {
        let is_over = |it: &Rewritten| {
            it.lines.is_some_and(|(delivered, unsure)| it.read >= delivered.saturating_add(unsure))
        };
        if self.rewritten.as_ref().is_some_and(is_over) {
            self.rewritten = None;
        }
    }

    /// Reads what was archived after the last delivery. When nothing of that is left, finds the place in the log.
    fn read_archive(&mut self, store: &Store) -> Result<(), StoreError> {
        let log = self.tail.log().to_owned();
        let Some(rewritten) = &mut self.rewritten else { return Ok(()) };
        let mut archived = Archived { skip: rewritten.archived, events: VecDeque::new() };
        let (segments, mut seen) = (store.segments_of(&log)?, PassedLocation::Nowhere);
        for segment in &segments {
            seen = archived.read(segment, &rewritten.before, seen)?;
        }
        rewritten.seen = seen.in_next_file();
        self.waiting = archived.events;
        if !self.waiting.is_empty() {
            return Ok(());
        }
        rewritten.find_in(&log)?;
        match store.segments_of(&log)? == segments {
            true => self.settle(),
            // What was moved in between is in neither.
            false => self.begin_again(),
        }
        Ok(())
    }
}

impl Rewritten {
    /// Finds the last line of the log that was delivered.
    fn find_in(&mut self, log: &Path) -> Result<(), StoreError> {
        let file_repo = Store::repo_of(log).to_string();
        let (mut lines, mut delivered) = (0, None);
        let mut tail = Tail::from_beginning(log);
        tail.read(|line| {
            lines += 1;
            if let DecodedLine::Event(event) = codec::decode(line.bytes, &file_repo)
                && self.before.has(&event)
            {
                delivered = Some(lines);
            }
        })?;
        self.lines = Some(delivered.map_or((0, lines), |delivered| (delivered, 0)));
        self.counted = Some(tail);
        Ok(())
    }

    /// Tells how the next line of the log stands. `None` if it was delivered, and the events that are kept came after it.
    fn next_line(&mut self, event: Option<&Event>) -> Option<EventDue> {
        let (delivered, unsure) = self.lines.unwrap_or_default();
        let line = self.read;
        self.read += 1;
        if line < delivered {
            return None;
        }
        let is_unsure = line < delivered.saturating_add(unsure);
        let is_new = event.is_none_or(|event| self.before.precedes(event, self.seen));
        Some(if is_unsure && !is_new { EventDue::Passed } else { EventDue::Next })
    }
}

fn is_another(change: FileChange) -> bool {
    matches!(change, FileChange::Replaced | FileChange::Gone)
}

/// Events of the archive that are to be delivered.
struct Archived {
    /// How many were.
    skip: usize,
    events: VecDeque<WaitingEvent>,
}

impl Archived {
    /// Reads one segment, whose lines are in the order of the log.
    fn read(
        &mut self,
        segment: &Path,
        before: &PassedEvents,
        seen: PassedLocation,
    ) -> Result<PassedLocation, StoreError> {
        let file_repo = Store::repo_of(segment).to_string();
        let mut here = seen.in_next_file();
        let (begin, mut skipped) = (self.events.len(), 0);
        let skip = self.skip;
        let read = Tail::from_beginning(segment).read(|line| {
            let DecodedLine::Event(event) = codec::decode(line.bytes, &file_repo) else { return };
            if before.has(&event) {
                here = PassedLocation::Here;
                self.events.truncate(begin);
                skipped = 0;
            } else if !before.precedes(&event, here) || self.events.len() >= ARCHIVED_MAX {
                // It was delivered, or its turn comes when these are.
            } else if skipped < skip {
                skipped += 1;
            } else {
                self.events.push_back(WaitingEvent { event: *event, due: EventDue::Archived });
            }
        });
        match read {
            // `doctor` tells of it; what can be read of it was.
            Ok(_) | Err(StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        self.skip -= skipped;
        Ok(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        _folder: tempfile::TempDir,
        store: Store,
        log: std::path::PathBuf,
        outbox: LogOutbox,
    }

    fn line(id: &str, second: usize) -> String {
        format!(
            "{{\"id\":{id:?},\"lesson\":\"x\",\"timestamp\":\"2026-01-01T00:00:{second:02}Z\"}}\n"
        )
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path());
            let log = folder.path().join("github.com+a+b.jsonl");
            let outbox = LogOutbox::open(&log, None);
            Self { _folder: folder, store, log, outbox }
        }

        /// Writes the log as another file, as a rewrite does.
        fn rewrite(&self, lines: &[String]) {
            let new = self.log.with_extension("new");
            std::fs::write(&new, lines.concat()).unwrap();
            std::fs::rename(&new, &self.log).unwrap();
        }

        fn append(&self, lines: &[String]) {
            let mut text = std::fs::read_to_string(&self.log).unwrap_or_default();
            text.push_str(&lines.concat());
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.append(true).create(true).open(&self.log).unwrap();
            std::io::Write::write_all(&mut file, lines.concat().as_bytes()).unwrap();
        }

        /// Seals lines, as archiving does.
        fn seal(&self, name: &str, lines: &[String]) {
            let folder = self.store.root().join("archive/github.com+a+b");
            std::fs::create_dir_all(&folder).unwrap();
            let mut packed = std::process::Command::new("gzip")
                .stdin(std::process::Stdio::piped())
                .stdout(std::fs::File::create(folder.join(name)).unwrap())
                .spawn()
                .unwrap();
            let mut input = packed.stdin.take().unwrap();
            std::io::Write::write_all(&mut input, lines.concat().as_bytes()).unwrap();
            drop(input);
            assert!(packed.wait().unwrap().success());
        }

        /// Delivers up to this many of what waits.
        fn deliver(&mut self, most: usize) -> Vec<String> {
            let mut ids = Vec::new();
            loop {
                while ids.len() < most
                    && let Some((event, _)) = self.outbox.front()
                {
                    ids.push(event.id.to_string());
                    self.outbox.advance();
                }
                if ids.len() == most || !self.outbox.read_on(&self.store, |_| {}).unwrap() {
                    return ids;
                }
            }
        }
    }

    // S-REMOTE-2
    #[test]
    fn a_scrubbed_log_is_not_sent_again() {
        let mut log = Fixture::new();
        let lines: Vec<String> = (0..40).map(|at| line(&format!("m{at}"), at)).collect();
        log.append(&lines[..30]);
        assert_eq!(log.deliver(99).len(), 30);
        let mut scrubbed = lines[..32].to_vec();
        scrubbed[29] = "{\"lesson\":\"it has another id now\"}\n".to_owned();
        log.rewrite(&scrubbed);
        let told = log.deliver(99);
        assert_eq!(told.len(), 3, "only what cannot be known any more: {told:?}");
        assert_eq!(told[1..], ["m30", "m31"]);
        log.append(&lines[32..33]);
        assert_eq!(log.deliver(99), ["m32"]);
        assert!(log.outbox.place(None).is_some());
    }

    // S-REMOTE-2
    #[test]
    fn what_was_archived_before_its_delivery_is_sent() {
        let mut log = Fixture::new();
        let lines: Vec<String> = (0..50).map(|at| line(&format!("m{at}"), at)).collect();
        log.append(&lines[..20]);
        assert_eq!(log.deliver(99).len(), 20);
        // All that was delivered is archived, and some that was not.
        log.seal("000000.jsonl.gz", &lines[..2]);
        log.seal("000001.jsonl.gz", &lines[2..20]);
        log.seal("000002.jsonl.gz", &lines[20..23]);
        log.rewrite(&lines[23..25]);
        assert_eq!(log.deliver(2), ["m20", "m21"]);
        assert_eq!(log.deliver(99), ["m22", "m23", "m24"]);
        // What is still in the log tells the place.
        log.seal("000003.jsonl.gz", &lines[23..24]);
        log.rewrite(&lines[24..27]);
        assert_eq!(log.deliver(99), ["m25", "m26"]);
        log.append(&lines[27..28]);
        assert_eq!(log.deliver(99), ["m27"]);
    }

    // S-REMOTE-2
    #[test]
    fn another_process_goes_on_within_a_piece() {
        let mut log = Fixture::new();
        let lines: Vec<String> = (0..40).map(|at| line(&format!("m{at}"), at)).collect();
        log.append(&lines[..1]);
        assert_eq!(log.deliver(99).len(), 1);
        let noted = log.outbox.place(None).unwrap();
        log.append(&lines[1..]);
        assert_eq!(log.deliver(24).len(), 24);
        let noted = log.outbox.place(Some(&noted)).unwrap();
        log.outbox = LogOutbox::open(&log.log, Some(noted));
        assert_eq!(log.deliver(99).first().unwrap(), "m25");
    }

    // S-REMOTE-2
    #[test]
    fn an_unknown_memory_is_waited_for_briefly() {
        let (mut tries, start) = (DeliveryTries::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!tries.record_unknown(at(0)) && !tries.record_unknown(at(59)));
        assert!(tries.record_unknown(at(60)));
        tries.record_failure("why".to_owned(), at(60));
        assert_eq!(tries.rest_reason(at(60)), Some("why"));
        assert_eq!(tries.rest_reason(at(61)), None);
    }
}
