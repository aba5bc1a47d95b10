//! What a path holds, as far as tells which store wrote it: a folder of notes, a database, JSON, or lines of JSON.
//! Everything is bounded, and no link below a folder is followed. Not here: which store it is (`stores`).

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::ExchangeError;
use super::foreign_database;
use super::harvest::UnreadNote;
use event::Timestamp;
use event::limits::READ_LINE_BYTES_MAX;
use guard::encoding::{decoded_text, is_utf16};

/// Longest note, in bytes. A longer one is a book or a table.
const NOTE_BYTES_MAX: u64 = 1 << 20;
/// Longest JSON document, in bytes: it is held in memory several times over.
const JSON_BYTES_MAX: u64 = 64 << 20;
/// Most bytes of all lines, or of all notes of a folder: as values they take a few times as much memory.
const TOTAL_BYTES_MAX: u64 = 256 << 20;
/// Most notes of a folder, and most lines of a file. More than the largest stores that are known.
const ITEMS_MAX: usize = 200_000;
/// Most files and folders that are looked at below a folder: the whole disk must not stop the import.
const ENTRIES_MAX: usize = 1_000_000;
/// Most files that are named, of those that are no notes.
const OTHER_FILES_MAX: usize = 1_000;
/// Why a file is no note.
const NO_MARKDOWN: &str = "no Markdown";
/// How deep folders are entered.
const DEPTH_MAX: usize = 32;
/// The beginning of every SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A path with what it holds.
#[derive(Debug)]
pub struct ForeignPlace {
    /// The path as it was given.
    pub path: PathBuf,
    /// What it holds.
    pub shape: ForeignShape,
}

/// What a path holds.
#[derive(Debug)]
pub enum ForeignShape {
    /// A folder with Markdown files.
    Notes(NoteFolder),
    /// A SQLite database with these tables.
    Database(Vec<String>),
    /// One JSON document.
    Json(Value),
    /// One JSON value per line.
    Lines(JsonLines),
}

/// A folder with Markdown files.
#[derive(Debug, Default)]
pub struct NoteFolder {
    /// The notes, sorted by name.
    pub notes: Vec<NoteFile>,
    /// The notes and folders that were left out.
    pub left_out: Vec<UnreadNote>,
    /// Files that are no notes, such as pictures.
    pub other_files: Vec<UnreadNote>,
    /// How many more of these there are than are named.
    pub more_files: usize,
    /// Whether it is a vault of Obsidian.
    pub is_obsidian: bool,
}

/// One Markdown file.
#[derive(Debug)]
pub struct NoteFile {
    /// Its path below the folder, with `/`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// When it was last written.
    pub written: Option<Timestamp>,
}

/// The lines of a file.
#[derive(Debug, Default)]
pub struct JsonLines {
    /// The values, with their line numbers from 1.
    pub values: Vec<(usize, Value)>,
    /// How many lines hold no JSON.
    pub broken: usize,
}

impl ForeignPlace {
    /// Looks at a path.
    ///
    /// # Errors
    /// [`ExchangeError`] where it cannot be read, is too large, or holds none of these.
    pub fn inspect(path: &Path) -> Result<Self, ExchangeError> {
        let found = path.metadata().map_err(ExchangeError::io("read", path))?;
        let shape = if found.is_dir() {
            ForeignShape::Notes(notes_below(path)?)
        } else if found.is_file() {
            file_shape(path, found.len())?
        } else {
            return Err(ExchangeError::form(path, "is neither a file nor a folder"));
        };
        Ok(Self { path: path.to_owned(), shape })
    }

    /// Tells whether a path looks like a store rather than like a file that people write for agents: a folder, a
    /// database, or a file that ends in `.json` or `.jsonl`. Nothing else of it is read.
    #[must_use]
    pub fn is_likely(path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        path.is_dir()
            || extension.is_some_and(|extension| matches!(extension, "json" | "jsonl" | "ndjson"))
            || (path.is_file() && starts_as_database(path))
    }

    /// Returns the folder of notes, if it is one.
    pub(crate) fn notes(&self) -> Option<&NoteFolder> {
        match &self.shape {
            ForeignShape::Notes(folder) => Some(folder),
            ForeignShape::Database(_) | ForeignShape::Json(_) | ForeignShape::Lines(_) => None,
        }
    }

    /// Returns the document, if it is one.
    pub(crate) fn json(&self) -> Option<&Value> {
        match &self.shape {
            ForeignShape::Json(value) => Some(value),
            ForeignShape::Notes(_) | ForeignShape::Database(_) | ForeignShape::Lines(_) => None,
        }
    }

    /// Returns the lines, if there are some.
    pub(crate) fn lines(&self) -> Option<&JsonLines> {
        match &self.shape {
            ForeignShape::Lines(lines) => Some(lines),
            ForeignShape::Notes(_) | ForeignShape::Database(_) | ForeignShape::Json(_) => None,
        }
    }

    /// Tells whether it is a database with all these tables.
    pub(crate) fn has_tables(&self, wanted: &[&str]) -> bool {
        let ForeignShape::Database(tables) = &self.shape else { return false };
        wanted.iter().all(|name| tables.iter().any(|table| table == name))
    }
}

fn starts_as_database(path: &Path) -> bool {
    let mut start = Vec::with_capacity(SQLITE.len());
    let read =
        File::open(path).and_then(|file| file.take(SQLITE.len() as u64).read_to_end(&mut start));
    read.is_ok() && start == SQLITE
}

fn file_shape(path: &Path, bytes: u64) -> Result<ForeignShape, ExchangeError> {
    if starts_as_database(path) {
        return Ok(ForeignShape::Database(foreign_database::tables(path)?));
    }
    if bytes <= JSON_BYTES_MAX {
        let bytes = std::fs::read(path).map_err(ExchangeError::io("read", path))?;
        let text = lenient_text(bytes);
        match event::from_json(text.trim_start_matches('\u{FEFF}')) {
            Ok(Value::Object(object))
                if ITEM_FIELDS.iter().any(|name| object.contains_key(*name)) =>
            {
                let values = vec![(1, Value::Object(object))];
                return Ok(ForeignShape::Lines(JsonLines { values, broken: 0 }));
            }
            Ok(whole) => return Ok(ForeignShape::Json(whole)),
            Err(_) => {}
        }
    }
    let lines = lines_of(path, bytes)?;
    if lines.values.is_empty() {
        return Err(ExchangeError::form(path, "is neither JSON nor a database"));
    }
    Ok(ForeignShape::Lines(lines))
}

/// Reads bytes as text, with signs in the place of what is none.
fn lenient_text(bytes: Vec<u8>) -> String {
    if is_utf16(&bytes) {
        return decoded_text(bytes).unwrap_or_default();
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Fields by which a document of one object is the only line of a file of lines.
const ITEM_FIELDS: [&str; 2] = ["type", "event_type"];

/// Reads a file as one JSON object per line. A line that is none is counted.
fn lines_of(path: &Path, bytes: u64) -> Result<JsonLines, ExchangeError> {
    let too_much = || ExchangeError::form(path, "is too large: at most 256 MiB and 200,000 lines");
    if bytes > TOTAL_BYTES_MAX {
        return Err(too_much());
    }
    let mut reader = text_reader(path)?;
    let (mut lines, mut line) = (JsonLines::default(), Vec::new());
    for number in 1.. {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(ExchangeError::io("read", path))?;
        if read == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{FEFF}').trim();
        if text.is_empty() {
            continue;
        }
        lines.add_line(number, text);
        if lines.values.len() + lines.broken > ITEMS_MAX {
            return Err(too_much());
        }
    }
    Ok(lines)
}

/// Opens a file for reading line by line. One in UTF-16 is turned into UTF-8 as a whole.
fn text_reader(path: &Path) -> Result<Box<dyn BufRead>, ExchangeError> {
    let open = || File::open(path).map_err(ExchangeError::io("read", path));
    let mut start = Vec::new();
    open()?.take(2).read_to_end(&mut start).map_err(ExchangeError::io("read", path))?;
    let mut file = open()?.take(TOTAL_BYTES_MAX);
    if !is_utf16(&start) {
        return Ok(Box::new(BufReader::new(file)));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(ExchangeError::io("read", path))?;
    let text = decoded_text(bytes)
        .ok_or_else(|| ExchangeError::form(path, "begins as UTF-16 and is no text in it"))?;
    Ok(Box::new(Cursor::new(text.into_bytes())))
}

impl JsonLines {
    /// Adds the objects of a line. Programs that write at the same time leave several on one: `{...}{...}`.
    fn add_line(&mut self, number: usize, text: &str) {
        if text.len() > READ_LINE_BYTES_MAX {
            self.broken += 1;
            return;
        }
        match event::from_json(text) {
            Ok(value) if value.is_object() => self.values.push((number, value)),
            Ok(_) => self.broken += 1,
            Err(_) => {
                let mut parts = serde_json::Deserializer::from_str(text).into_iter::<Value>();
                for part in parts.by_ref() {
                    match part {
                        Ok(value) if value.is_object() => self.values.push((number, value)),
                        // What stands behind it cannot be read either.
                        Ok(_) | Err(_) => {
                            self.broken += 1;
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Reads the Markdown files below a folder. Hidden folders hold the settings of tools, and links may lead anywhere.
fn notes_below(root: &Path) -> Result<NoteFolder, ExchangeError> {
    let mut folder =
        NoteFolder { is_obsidian: root.join(".obsidian").is_dir(), ..NoteFolder::default() };
    let (mut open, mut entries, mut bytes) = (vec![(root.to_owned(), 0)], 0_usize, 0_u64);
    while let Some((at, depth)) = open.pop() {
        let listed = match std::fs::read_dir(&at) {
            Err(error) if depth == 0 => return Err(ExchangeError::io("read", root)(error)),
            Err(_) => {
                folder.leave(root, &at, "folder that cannot be read");
                continue;
            }
            Ok(listed) => listed,
        };
        for entry in listed.flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            entries += 1;
            match kind {
                _ if is_hidden => {}
                Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => open.push((path, depth + 1)),
                Ok(kind) if kind.is_dir() => folder.leave(root, &path, "folder too deep"),
                Ok(kind) if is_markdown(&path) && kind.is_file() => {
                    bytes += folder.add_note(root, &path);
                }
                Ok(kind) if is_markdown(&path) && kind.is_symlink() => {
                    folder.leave(root, &path, "file that is a link");
                }
                _ => folder.name_other(root, &path),
            }
            if entries > ENTRIES_MAX || folder.notes.len() > ITEMS_MAX || bytes > TOTAL_BYTES_MAX {
                let fault = "is too large: at most 200,000 notes and 256 MiB";
                return Err(ExchangeError::form(root, fault));
            }
        }
    }
    folder.other_files.sort_by(|a, b| a.name.cmp(&b.name));
    folder.left_out.sort_by(|a, b| a.name.cmp(&b.name));
    folder.notes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(folder)
}

fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("mdc")
    })
}

impl NoteFolder {
    /// Reads one note, and returns its length in bytes.
    fn add_note(&mut self, root: &Path, path: &Path) -> u64 {
        match read_note_file(root, path) {
            Ok(note) => {
                let bytes = note.text.len() as u64;
                self.notes.push(note);
                bytes
            }
            Err(why) => {
                self.leave(root, path, why);
                0
            }
        }
    }

    /// Leaves a note or a folder out.
    fn leave(&mut self, root: &Path, path: &Path, why: &'static str) {
        self.left_out.push(UnreadNote { name: name_below(root, path), why });
    }

    /// Names a file that is no note, up to a bound.
    fn name_other(&mut self, root: &Path, path: &Path) {
        if self.other_files.len() < OTHER_FILES_MAX {
            self.other_files.push(UnreadNote { name: name_below(root, path), why: NO_MARKDOWN });
        } else {
            self.more_files += 1;
        }
    }
}

/// Returns the path of a file below a folder, with `/`.
fn name_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts = below.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

fn read_note_file(root: &Path, path: &Path) -> Result<NoteFile, &'static str> {
    let unreadable = "file that cannot be read";
    let below = path.strip_prefix(root).map_err(|_| unreadable)?;
    let parts: Option<Vec<&str>> =
        below.components().map(|part| part.as_os_str().to_str()).collect();
    let name = parts.ok_or("file whose name is no text")?.join("/");
    let file = File::open(path).map_err(|_| unreadable)?;
    let found = file.metadata().map_err(|_| unreadable)?;
    if found.len() > NOTE_BYTES_MAX {
        return Err("file above 1 MiB");
    }
    let mut bytes = Vec::new();
    file.take(NOTE_BYTES_MAX).read_to_end(&mut bytes).map_err(|_| unreadable)?;
    let text = decoded_text(bytes).ok_or("file that is no UTF-8 text")?;
    let written = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    Ok(NoteFile { name, text: text.replace("\r\n", "\n"), written })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-IMPORT-1, S-IMPORT-2
    #[test]
    fn all_objects_of_a_line_are_read_in_each_encoding() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        let text = "{\"type\":\"entity\",\"name\":\"a\"}{\"type\":\"entity\",\"name\":\"ä\"} {\"type\":\"relation\"}\r\n\
            {\"type\":\"entity\"}\r\n{\"type\":\"entity\"}{broken\n[1]\n";
        let utf16 = |bytes: fn(u16) -> [u8; 2]| {
            format!("\u{FEFF}{text}").encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
        };
        for bytes in [text.as_bytes().to_vec(), utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
            std::fs::write(&path, bytes).unwrap();
            let place = ForeignPlace::inspect(&path).unwrap();
            let lines = place.lines().unwrap();
            let numbers: Vec<usize> = lines.values.iter().map(|(number, _)| *number).collect();
            assert_eq!((numbers, lines.broken), (vec![1, 1, 1, 2, 3], 2));
            assert_eq!(lines.values.get(1).unwrap().1["name"], "ä");
        }
        std::fs::write(&path, b"\xFF\xFEx").unwrap();
        assert!(ForeignPlace::inspect(&path).is_err());
    }
}
