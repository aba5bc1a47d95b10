//! How far each log was delivered to one server: a small file in the store, with one part for each server. Beside each cursor stand the
//! last events before it; by them the place is found again in a log that was rewritten. Not here: what is delivered (`outbox`), how a
//! log is read (`log_outbox`).

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use event::{DecodedLine, Event, Timestamp, codec};
use serde_json::{Map, Value, json};
use store::{Cursor, Store, Tail};

/// The file, inside the store: it is worth as much as the logs, because without it nobody knows what waits.
const DELIVERED: &str = ".remote.json";

/// The longest file that is read, in bytes: some thousand logs.
const DELIVERED_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// How many ids are kept of a log: scrubbing may change the last of them.
const IDS_MAX: usize = 16;

/// How much of the end of a log is read to know those ids, in bytes.
const END_BYTES: u64 = 64 * 1024;

/// The last events of a log that were delivered, or that stay, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassedEvents {
    ids: VecDeque<String>,
    newest: Option<Timestamp>,
}

/// Where events of [`PassedEvents`] were found, in reading what was archived of a log, and then the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassedLocation {
    /// Nowhere yet.
    Nowhere,
    /// In a file before this one.
    Before,
    /// In this file.
    Here,
}

impl PassedLocation {
    pub fn in_next_file(self) -> Self {
        match self {
            Self::Nowhere => Self::Nowhere,
            Self::Before | Self::Here => Self::Before,
        }
    }
}

impl PassedEvents {
    pub fn add(&mut self, event: &Event) {
        if self.ids.len() >= IDS_MAX {
            self.ids.pop_front();
        }
        self.ids.push_back(event.id.as_str().to_owned());
        self.newest = self.newest.max(event.timestamp);
    }

    pub fn has(&self, event: &Event) -> bool {
        self.ids.iter().any(|id| id == event.id.as_str())
    }

    /// Tells whether an event came after these. A lesson that is sent twice changes nothing, but an action may undo what somebody
    /// did since: where its place does not tell, its time must.
    pub fn precedes(&self, event: &Event, seen: PassedLocation) -> bool {
        let is_newer = self.newest.is_some_and(|newest| Some(newest) <= event.timestamp);
        let is_after = match seen {
            PassedLocation::Here => true,
            PassedLocation::Before => is_newer || event.memory_id.is_none(),
            PassedLocation::Nowhere => is_newer,
        };
        is_after && !self.has(event)
    }

    /// Returns how many of the next events are these: a process that was killed had delivered them, and not moved its cursor.
    pub fn overlap<'e>(&self, next: impl Iterator<Item = &'e Event>) -> usize {
        let next: Vec<&str> = next.map(|event| event.id.as_str()).collect();
        let is_run = |end: usize| {
            let run = next.iter().take(end).rev().zip(self.ids.iter().rev());
            end > 0 && !self.ids.is_empty() && run.into_iter().all(|(next, id)| next == id)
        };
        (0..=next.len()).find(|end| is_run(*end)).unwrap_or(0)
    }

    fn read(noted: &Value) -> Self {
        let ids = noted.get("last").and_then(Value::as_array).into_iter().flatten();
        let newest = noted.get("newest").and_then(Value::as_str);
        Self {
            ids: ids.filter_map(|id| Some(id.as_str()?.to_owned())).collect(),
            newest: newest.and_then(|text| text.parse().ok()),
        }
    }
}

/// How far one log was delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveredPlace {
    /// At the beginning while only some of the first piece is delivered.
    pub cursor: Cursor,
    pub passed: PassedEvents,
}

impl DeliveredPlace {
    fn read(noted: &Value) -> Option<Self> {
        let cursor = match noted.get("cursor")? {
            Value::Null => Cursor::default(),
            text => {
                let pairs = text.as_str()?.as_bytes().chunks(2);
                let digits =
                    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
                Cursor::from_bytes(&digits.collect::<Option<Vec<u8>>>()?)?
            }
        };
        Some(Self { cursor, passed: PassedEvents::read(noted) })
    }

    fn to_json(&self) -> Value {
        let cursor = self.cursor.to_bytes().map(|bytes| {
            bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
        });
        let PassedEvents { ids, newest } = &self.passed;
        let newest = newest.map(|newest| newest.to_string());
        json!({ "cursor": cursor, "last": ids, "newest": newest })
    }
}

/// The places in all logs.
pub struct DeliveredLogs {
    path: PathBuf,
    server: String,
    places: BTreeMap<String, DeliveredPlace>,
    is_changed: bool,
}

impl DeliveredLogs {
    /// Those of one server, before they are read.
    pub fn for_server(store: &Store, server: &str) -> Self {
        let path = store.root().join(DELIVERED);
        Self { path, server: server.to_owned(), places: BTreeMap::new(), is_changed: false }
    }

    /// Returns the file whose lock is the right to deliver.
    pub fn lock_path(&self) -> PathBuf {
        self.path.with_extension("lock")
    }

    /// Reads what was noted. The first time, everything that is there counts as delivered.
    ///
    /// # Errors
    /// A sentence: the file cannot be read, so nobody knows what waits.
    pub fn load(&mut self, store: &Store) -> Result<(), String> {
        let whole = self.read_file()?;
        self.places.clear();
        let Some(noted) = whole.get(&self.server) else {
            for log in store.logs().map_err(|error| format!("failed to {error}"))? {
                self.set_place(&log, end_of(&log)?);
            }
            self.is_changed = true;
            return self.write();
        };
        let noted = noted.as_object().ok_or_else(|| self.unreadable_text("it names no logs"))?;
        for (log, noted) in noted {
            let why = || self.unreadable_text(&format!("what it says about {log} is no place"));
            let place = DeliveredPlace::read(noted).ok_or_else(why)?;
            self.places.insert(log.clone(), place);
        }
        Ok(())
    }

    pub fn place(&self, log: &Path) -> Option<&DeliveredPlace> {
        self.places.get(log.file_name()?.to_str()?)
    }

    pub fn set_place(&mut self, log: &Path, place: DeliveredPlace) {
        let name = log.file_name().and_then(|name| name.to_str());
        if let Some(name) = name
            && self.places.get(name) != Some(&place)
        {
            self.places.insert(name.to_owned(), place);
            self.is_changed = true;
        }
    }

    /// Keeps what was noted, if that is anything new. What cannot be kept is sent again, under the same ids.
    ///
    /// # Errors
    /// A sentence.
    pub fn write(&mut self) -> Result<(), String> {
        if !self.is_changed {
            return Ok(());
        }
        let mut whole = self.read_file()?;
        let places = self.places.iter().map(|(log, place)| (log.clone(), place.to_json()));
        whole.insert(self.server.clone(), Value::Object(places.collect()));
        self.write_file(&format!("{:#}\n", json!(whole))).map_err(|error| {
            format!("what was delivered cannot be noted in {}: {error}", self.path.display())
        })?;
        self.is_changed = false;
        Ok(())
    }

    fn write_file(&self, text: &str) -> io::Result<()> {
        let new = self.path.with_extension("json.new");
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true);
        let mut file = store::open_private(&mut options, &new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)
    }

    /// Reads the file. Only one that does not exist is empty.
    fn read_file(&self) -> Result<Map<String, Value>, String> {
        let opened = store::open_own_file(&self.path);
        let Some(file) = opened.map_err(|error| self.unreadable_text(&error.to_string()))? else {
            return Ok(Map::new());
        };
        let mut text = String::new();
        let read = file.take(DELIVERED_BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| self.unreadable_text(&error.to_string()))?;
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > DELIVERED_BYTES_MAX {
            return Err(self.unreadable_text("it is too long"));
        }
        serde_json::from_str(&text).map_err(|error| self.unreadable_text(&error.to_string()))
    }

    fn unreadable_text(&self, why: &str) -> String {
        format!(
            "{} says what was delivered, and cannot be read ({why}); without that file, nothing that is in the logs now is delivered",
            self.path.display()
        )
    }
}

/// Returns the place at the end of a log.
fn end_of(log: &Path) -> Result<DeliveredPlace, String> {
    let mut tail = Tail::near_the_end_of(log, END_BYTES);
    let mut passed = PassedEvents::default();
    let file_repo = Store::repo_of(log).to_string();
    let read = tail.read(|line| {
        if let DecodedLine::Event(event) = codec::decode(line.bytes, &file_repo) {
            passed.add(&event);
        }
    });
    read.map_err(|error| format!("failed to {error}"))?;
    Ok(DeliveredPlace { cursor: tail.cursor().clone(), passed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store_with(lines: &[String]) -> (tempfile::TempDir, Store, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("github.com+a+b.jsonl");
        std::fs::write(&log, lines.concat()).unwrap();
        let store = Store::at(folder.path());
        (folder, store, log)
    }

    fn line(id: usize, year: usize) -> String {
        format!("{{\"id\":\"m{id}\",\"timestamp\":\"{year}-01-01T00:00:00Z\",\"lesson\":\"x\"}}\n")
    }

    // S-REMOTE-2
    #[test]
    fn a_first_start_reads_the_end_alone() {
        let mut lines: Vec<String> = (0..20_000).map(|id| line(id, 2026)).collect();
        // Nobody who reads only the end sees this time.
        lines[0] = line(0, 2030);
        let (_folder, store, log) = store_with(&lines);
        let mut delivered = DeliveredLogs::for_server(&store, "https://a.example.org");
        delivered.load(&store).unwrap();
        let place = delivered.place(&log).unwrap();
        assert_eq!(place.cursor.offset(), log.metadata().unwrap().len());
        assert_eq!(place.passed.ids.len(), IDS_MAX);
        assert_eq!(place.passed.ids.back().unwrap(), "m19999");
        assert_eq!(place.passed.newest, "2026-01-01T00:00:00Z".parse().ok());
    }

    // S-REMOTE-2
    #[test]
    fn servers_have_their_own_places() {
        let (_folder, store, log) = store_with(&[line(1, 2026)]);
        let place = |server: &str| {
            let mut delivered = DeliveredLogs::for_server(&store, server);
            delivered.load(&store).unwrap();
            delivered.place(&log).unwrap().to_json()
        };
        let first = place("https://a.example.org");
        std::fs::write(&log, [line(1, 2026), line(2, 2026)].concat()).unwrap();
        let second = place("https://b.example.org");
        assert_ne!(first, second);
        assert_eq!(place("https://a.example.org"), first, "read again");
        assert_eq!(place("https://b.example.org"), second);
    }

    // S-REMOTE-2
    #[test]
    fn an_unreadable_file_is_no_first_start() {
        let (_folder, store, _) = store_with(&[line(1, 2026)]);
        let file = store.root().join(DELIVERED);
        let server = "https://a.example.org";
        let place = json!({ server: { "github.com+a+b.jsonl": { "cursor": "00" } } }).to_string();
        for text in ["{\"half", "[]", "", &place, &json!({ server: 1 }).to_string()] {
            std::fs::write(&file, text).unwrap();
            let refusal = DeliveredLogs::for_server(&store, server).load(&store).unwrap_err();
            assert!(refusal.contains("cannot be read"), "{text}: {refusal}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
