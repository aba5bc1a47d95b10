//! Announces new lines of the logs in the journal, each once: what is written with a line says how far its log was
//! announced, so that a killed process and the next one neither miss nor repeat anything. Not here: when to look.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::agent_delivery::short_stamp;
use super::sequence::Sequence;
use super::{Journal, kind};
use event::{DecodedLine, Event, MemoryChange, Timestamp, clean, codec, is_code};
use settings::Config;
use store::{FileLock, LineMark, Store};

/// Unread bytes of one log above which its lines are not announced one by one: some thousand. Nobody watches so many.
const UNREAD_BYTES_MAX: u64 = 1024 * 1024;

/// Most lines that are announced in one look, for the same reason.
const LINES_MAX: usize = 1_000;

/// How much of the journal is read at a time.
const PIECE_BYTES: u64 = 256 * 1024;

/// Announces the lines of a store. At most one process does so at a time.
#[derive(Debug)]
pub struct Announcer {
    journal: Journal,
    store: Store,
    config: Config,
    lock: Option<FileLock>,
    /// How far each log was announced, by the name of its file.
    places: BTreeMap<String, LineMark>,
    /// The generation whose lines hold all places.
    complete_in: Option<u64>,
}

/// What a look found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnnouncedLines {
    /// How many lines were announced.
    pub lines: usize,
    /// Whether some were only counted as lost.
    pub lost: bool,
    /// Whether the journal could not be written. The next look tries again.
    pub failed: bool,
}

impl Announcer {
    /// Makes one that has looked at nothing yet.
    #[must_use]
    pub fn new(journal: Journal, store: Store, config: Config) -> Self {
        Self { journal, store, config, lock: None, places: <_>::default(), complete_in: None }
    }

    /// Announces what was added to the logs since the last look, of this or of an earlier process. The first look ever
    /// announces nothing.
    pub fn announce_new_lines(&mut self, now: Timestamp) -> AnnouncedLines {
        let mut announced = AnnouncedLines::default();
        if self.lock.is_none() && !self.begin(now, &mut announced) {
            return announced;
        }
        let logs = self.store.logs().unwrap_or_default();
        for log in &logs {
            let Some(name) = log.file_name().and_then(|name| name.to_str()) else { continue };
            self.look_at(log, name, now, &mut announced);
            if announced.failed {
                return announced;
            }
        }
        let is_there = |name: &String| self.store.root().join(name).exists();
        self.places.retain(|name, _| is_there(name));
        announced.failed = !self.record_places(now);
        announced
    }

    /// Takes the lock and finds out how far the logs were announced. Returns false where another process announces.
    fn begin(&mut self, now: Timestamp, announced: &mut AnnouncedLines) -> bool {
        if store::own_folder(self.journal.folder()).is_err() {
            announced.failed = true;
            return false;
        }
        let Ok(lock) = FileLock::acquire(&self.journal.lock(), 0) else { return false };
        let known = self.known_places();
        let is_first = known.is_none();
        for log in self.store.logs().unwrap_or_default() {
            let Some(name) = log.file_name().and_then(|name| name.to_str()) else { continue };
            let place = match known.as_ref().map(|known| known.get(name)) {
                None => LineMark::at_end(&log).ok(),
                // It was made since.
                Some(None) => Some(LineMark::default()),
                Some(Some((offset, sum))) => {
                    let place = LineMark::at(&log, *offset).ok().flatten();
                    match place.filter(|place| place.sum() == *sum) {
                        None => self.skip(&log, name, now, announced),
                        found => found,
                    }
                }
            };
            self.places.extend(place.map(|place| (name.to_owned(), place)));
        }
        if is_first && !self.record_places(now) {
            announced.failed = true;
            self.places.clear();
            return false;
        }
        self.lock = Some(lock);
        true
    }

    /// Reads from the journal how far each log was announced. `None` if it does not say: there was no announcer yet.
    fn known_places(&mut self) -> Option<BTreeMap<String, (u64, String)>> {
        let mut from = self.journal.start_sequence()?;
        let mut known: Option<BTreeMap<String, (u64, String)>> = None;
        loop {
            let piece = self.journal.read_on(from, PIECE_BYTES)?;
            for (at, line) in &piece.lines {
                if line["event"] == kind::PLACES {
                    let places = line["logs"].as_object();
                    let all = places.into_iter().flatten();
                    let of = |(name, place): (&String, &Value)| Some((name.clone(), saved(place)?));
                    known = Some(all.filter_map(of).collect());
                    self.complete_in = Some(at.generation);
                } else if let (Some(known), Some(name)) = (&mut known, line["log"].as_str()) {
                    known.extend(saved(&line["place"]).map(|place| (name.to_owned(), place)));
                }
            }
            if piece.next == from {
                return known;
            }
            from = piece.next;
        }
    }

    /// Writes all places down, once in each generation of the journal.
    fn record_places(&mut self, now: Timestamp) -> bool {
        let generation = self.journal.newest_generation();
        if self.complete_in.is_some() && self.complete_in == generation {
            return true;
        }
        let logs: Map<String, Value> =
            self.places.iter().map(|(name, place)| (name.clone(), written(place))).collect();
        let line = json!({ "event": kind::PLACES, "at": format!("{now:.0}"), "logs": logs });
        self.complete_in = self.journal.add(&line, now).map(|at: Sequence| at.generation);
        self.complete_in.is_some()
    }

    fn look_at(&mut self, log: &Path, name: &str, now: Timestamp, announced: &mut AnnouncedLines) {
        let place = self.places.get(name).cloned().unwrap_or_default();
        let is_same = log.symlink_metadata().is_ok_and(|it| it.len() == place.offset());
        if is_same {
            return;
        }
        // A log that cannot be read now is looked at again.
        let Ok(unread) = place.unread(log, UNREAD_BYTES_MAX) else { return };
        let mut place = place;
        let fits = unread.filter(|unread| unread.left_bytes < UNREAD_BYTES_MAX);
        let Some(unread) = fits else {
            let skipped = self.skip(log, name, now, announced);
            self.places.extend(skipped.map(|place| (name.to_owned(), place)));
            return;
        };
        let file_repo = Store::repo_of_lines(log).to_string();
        for line in unread.bytes.split_inclusive(|byte| *byte == b'\n') {
            if announced.lines >= LINES_MAX {
                let skipped = self.skip(log, name, now, announced);
                self.places.extend(skipped.map(|place| (name.to_owned(), place)));
                return;
            }
            let mut after = place.clone();
            after.advance(line);
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if let DecodedLine::Event(event) = codec::decode(text, &file_repo) {
                let mut entry = self.entry(&clean::without_secrets(*event), now);
                with_place(&mut entry, name, &after);
                if self.journal.add(&entry, now).is_none() {
                    announced.failed = true;
                    break;
                }
                announced.lines += 1;
            }
            place = after;
        }
        self.places.insert(name.to_owned(), place);
    }

    /// Goes on at the end of a log, and says so in the journal.
    fn skip(
        &self,
        log: &Path,
        name: &str,
        now: Timestamp,
        announced: &mut AnnouncedLines,
    ) -> Option<LineMark> {
        let end = LineMark::at_end(log).ok()?;
        let repo = self.config.current(&Store::repo_of(log));
        let mut line = json!({ "event": kind::LOST, "at": format!("{now:.0}"), "id": null,
            "repo": repo.as_str(), "agent": null, "event_type": null });
        with_place(&mut line, name, &end);
        announced.lost = true;
        if self.journal.add(&line, now).is_none() {
            announced.failed = true;
            return None;
        }
        Some(end)
    }

    /// Describes an event of a log.
    fn entry(&self, event: &Event, now: Timestamp) -> Value {
        let change = MemoryChange::from_event(event);
        let kind = match (&event.memory_id, &change) {
            (None, _) => kind::ADDED,
            (Some(_), Some(MemoryChange::Feedback(_))) => kind::FEEDBACK,
            (Some(_), _) => kind::CHANGED,
        };
        let id = event.memory_id.as_ref().unwrap_or(&event.id);
        let mut entry = json!({
            "event": kind,
            "at": format!("{:.0}", event.timestamp.unwrap_or(now)),
            "id": (!is_code(id)).then(|| short_stamp(id.as_str())),
            "repo": self.config.current(&event.repo_key()).as_str(),
            "agent": short_stamp(&event.agent_id),
            "session": event.session_id.as_deref().map(short_stamp),
            "event_type": short_stamp(event.event_type.as_str()),
        });
        if let (Some(MemoryChange::Feedback(verdict)), Some(fields)) =
            (change, entry.as_object_mut())
        {
            fields.insert("verdict".to_owned(), verdict.as_str().into());
        }
        entry
    }
}

/// Adds to a line how far its log is announced with it.
fn with_place(line: &mut Value, name: &str, place: &LineMark) {
    if let Some(fields) = line.as_object_mut() {
        fields.insert("log".to_owned(), name.into());
        fields.insert("place".to_owned(), written(place));
    }
}

fn written(place: &LineMark) -> Value {
    json!([place.offset(), place.sum()])
}

fn saved(place: &Value) -> Option<(u64, String)> {
    Some((place.get(0)?.as_u64()?, place.get(1)?.as_str()?.to_owned()))
}

#[cfg(test)]
mod tests;
