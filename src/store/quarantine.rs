//! Copies of damaged lines for people to inspect: `.quarantine/<log>` in the store, one JSON object per line.
//! The logs keep their lines, and nothing reads this folder as memories. Not here: which lines are damaged, and
//! removing secrets from them (`upkeep`).

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::lock::{self, FileLock};
use super::log_file::describe_non_log;
use super::open_private;
use super::{Store, StoreError, layout};
use guard::text::escaped;

/// The folder, inside the store.
const FOLDER: &str = ".quarantine";

/// The field of a line that is not text, up to its digits. The field ends a record. The part before it cannot
/// contain this string, because names of logs and reasons have no unescaped quotes.
const HEX_FIELD: &str = "\"line_hex\":\"";

/// How much of a damaged line is kept, in bytes. Any line that we wrote fits.
const KEPT_BYTES_MAX: usize = event::limits::LINE_BYTES_MAX;

/// The longest record, in bytes: each kept byte may take six (`\u0000`), plus the frame.
const RECORD_BYTES_MAX: u64 = 8 * KEPT_BYTES_MAX as u64;

/// The largest quarantine of one log, in bytes, so that a file that is not a log is not copied whole.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A damaged line.
#[derive(Debug, Clone, Copy)]
pub struct DamagedLine<'a> {
    /// The offset in the log.
    pub offset: u64,
    /// Why the line is not an event.
    pub reason: &'a str,
    /// The bytes of the line, or their beginning.
    pub bytes: &'a [u8],
    /// The full length, in bytes.
    pub line_bytes: u64,
}

/// What happened to a damaged line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuarantineOutcome {
    /// The line was copied now.
    Now,
    /// The line had been copied before.
    Before,
    /// The quarantine is full.
    NoRoom,
}

/// The open quarantine of one log. It holds a lock, so no other process adds to it.
#[derive(Debug)]
pub struct Quarantine {
    path: PathBuf,
    log: String,
    file: File,
    file_bytes: u64,
    known: HashSet<[u8; 32]>,
    _turn: FileLock,
}

impl Quarantine {
    /// Opens the quarantine of a log, and creates it if it is missing, private to the user.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(store: &Store, log: &Path) -> Result<Self, StoreError> {
        store.ensure()?;
        let folder = store.ensure_folder(FOLDER)?;
        let path = folder.join(log.file_name().unwrap_or_default());
        let lock = lock_of(&path).unwrap_or_else(|| lock::path_of(&path));
        let turn = FileLock::acquire(&lock, lock::WAIT_MS_MAX)?;
        let mut file = open(&path)?;
        let (known, file_bytes) = read_known(&mut file).map_err(StoreError::io("read", &path))?;
        let log = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { path, log, file, file_bytes, known, _turn: turn })
    }

    /// Copies a damaged line unless it was copied before.
    ///
    /// # Errors
    /// [`StoreError::Io`]. The line in the log is unchanged.
    pub fn keep(&mut self, damaged: DamagedLine<'_>) -> Result<QuarantineOutcome, StoreError> {
        let record = self.record(damaged);
        let Some(key) = key_of(&record) else { return Ok(QuarantineOutcome::Before) };
        if self.known.contains(&key) {
            return Ok(QuarantineOutcome::Before);
        }
        let line = escaped(&record.to_string()).into_owned() + "\n";
        let line_bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.file_bytes.saturating_add(line_bytes) > FILE_BYTES_MAX {
            return Ok(QuarantineOutcome::NoRoom);
        }
        self.file.write_all(line.as_bytes()).map_err(StoreError::io("write", &self.path))?;
        self.file_bytes += line_bytes;
        self.known.insert(key);
        Ok(QuarantineOutcome::Now)
    }

    fn record(&self, damaged: DamagedLine<'_>) -> Value {
        let kept = damaged.bytes.get(..KEPT_BYTES_MAX).unwrap_or(damaged.bytes);
        let mut record = Map::new();
        record.insert("log".to_owned(), self.log.as_str().into());
        record.insert("offset".to_owned(), damaged.offset.into());
        record.insert("reason".to_owned(), damaged.reason.into());
        if u64::try_from(kept.len()).is_ok_and(|kept_bytes| kept_bytes < damaged.line_bytes) {
            record.insert("line_bytes".to_owned(), damaged.line_bytes.into());
        }
        match std::str::from_utf8(kept) {
            Ok(text) => record.insert("line".to_owned(), text.into()),
            Err(_) => record.insert("line_hex".to_owned(), Self::digits(kept).into()),
        };
        Value::Object(record)
    }
}

impl Quarantine {
    /// Finds the digits in the record of a line that is not text. Returns their range and the bytes they
    /// encode.
    #[must_use]
    pub fn digits_of(record: &str) -> Option<(Range<usize>, Vec<u8>)> {
        let start = record.find(HEX_FIELD)? + HEX_FIELD.len();
        let digits = record.get(start..)?.split('"').next()?;
        let pairs = digits.as_bytes().chunks(2).map(std::str::from_utf8);
        let bytes: Option<Vec<u8>> =
            pairs.map(|pair| u8::from_str_radix(pair.ok()?, 16).ok()).collect();
        Some((start..start + digits.len(), bytes?))
    }

    /// Encodes bytes for the record of a line that is not text: two digits per byte.
    #[must_use]
    pub fn digits(bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

impl Store {
    /// Lists the quarantines, sorted by name.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder exists but cannot be read.
    pub fn quarantines(&self) -> Result<Vec<PathBuf>, StoreError> {
        Self::at(self.root().join(FOLDER)).logs()
    }
}

/// Returns the lock of a quarantine, which is beside the lock of its log; `None` if the file is not a
/// quarantine.
pub(super) fn lock_of(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| folder.ends_with(FOLDER))?;
    let log = folder.parent()?.join(file.file_name()?);
    Some(lock::path_of(&log).with_extension("quarantine"))
}

/// Hashes what distinguishes damaged lines: their offset and their content.
fn key_of(record: &Value) -> Option<[u8; 32]> {
    let content = record.get("line").or_else(|| record.get("line_hex"))?.as_str()?;
    let mut hasher = Sha256::new_with_prefix(record.get("offset")?.as_u64()?.to_le_bytes());
    hasher.update(record.get("line_bytes").and_then(Value::as_u64).unwrap_or(0).to_le_bytes());
    hasher.update(content);
    Some(hasher.finalize().into())
}

fn open(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true);
    let file =
        open_private(&mut options, path).map_err(|source| layout::open_error(path, source))?;
    let metadata = file.metadata().map_err(StoreError::io("inspect", path))?;
    match describe_non_log(&metadata) {
        Some(what) => Err(StoreError::NotALog { path: path.to_owned(), what }),
        None => Ok(file),
    }
}

/// Reads the existing records. A record torn by a crash is ended with a line break, so that the next one is
/// complete.
fn read_known(file: &mut File) -> io::Result<(HashSet<[u8; 32]>, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let mut known = HashSet::new();
    let (mut held, mut file_bytes, mut is_torn) = (Vec::new(), 0, false);
    let mut reader = BufReader::new(&*file);
    loop {
        held.clear();
        let count = (&mut reader).take(RECORD_BYTES_MAX).read_until(b'\n', &mut held)?;
        if count == 0 {
            break;
        }
        is_torn = !held.ends_with(b"\n");
        file_bytes += u64::try_from(count).unwrap_or(u64::MAX);
        known.extend(serde_json::from_slice(&held).ok().as_ref().and_then(key_of));
    }
    if is_torn {
        file.write_all(b"\n")?;
    }
    Ok((known, file_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> (tempfile::TempDir, Store, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        let log = store.root().join("a.jsonl");
        (folder, store, log)
    }

    fn damaged(offset: u64, bytes: &[u8]) -> DamagedLine<'_> {
        let line_bytes = u64::try_from(bytes.len()).unwrap();
        DamagedLine { offset, reason: "not JSON", bytes, line_bytes }
    }

    fn text_of(store: &Store) -> String {
        std::fs::read_to_string(store.root().join(".quarantine/a.jsonl")).unwrap()
    }

    // S-VERIFY-2
    #[test]
    fn a_damaged_line_is_kept_once() {
        let (_folder, store, log) = world();
        for expected in [QuarantineOutcome::Now, QuarantineOutcome::Before] {
            let mut quarantine = Quarantine::open(&store, &log).unwrap();
            for line in [damaged(0, b"torn"), damaged(9, b"torn"), damaged(0, b"\xFFtorn")] {
                assert_eq!(quarantine.keep(line).unwrap(), expected);
                assert_eq!(quarantine.keep(line).unwrap(), QuarantineOutcome::Before);
            }
        }
        let text = text_of(&store);
        let first = r#"{"log":"a.jsonl","offset":0,"reason":"not JSON","line":"torn"}"#;
        assert_eq!(text.lines().next(), Some(first));
        assert!(text.ends_with("\"line_hex\":\"ff746f726e\"}\n") && text.lines().count() == 3);
    }

    // S-VERIFY-2
    #[test]
    fn a_huge_line_is_cut_and_escaped_with_its_true_length() {
        let (_folder, store, log) = world();
        let mut quarantine = Quarantine::open(&store, &log).unwrap();
        let huge = "\u{9B}\u{202E}".repeat(KEPT_BYTES_MAX);
        assert_eq!(quarantine.keep(damaged(0, huge.as_bytes())).unwrap(), QuarantineOutcome::Now);
        let zeros = vec![0; KEPT_BYTES_MAX * 2];
        assert_eq!(quarantine.keep(damaged(1, &zeros)).unwrap(), QuarantineOutcome::Now);
        drop(quarantine);
        let text = text_of(&store);
        assert!(text.contains(&format!("\"line_bytes\":{}", huge.len())));
        assert!(!text.chars().any(guard::text::is_unsafe));
        let mut again = Quarantine::open(&store, &log).unwrap();
        assert_eq!(again.keep(damaged(1, &zeros)).unwrap(), QuarantineOutcome::Before);
    }

    // S-VERIFY-2
    #[test]
    fn a_record_torn_by_a_crash_does_not_swallow_the_next() {
        let (_folder, store, log) = world();
        drop(Quarantine::open(&store, &log).unwrap());
        std::fs::write(store.root().join(".quarantine/a.jsonl"), "{\"log\":\"a").unwrap();
        let keep = || Quarantine::open(&store, &log).unwrap().keep(damaged(3, b"x")).unwrap();
        assert_eq!((keep(), keep()), (QuarantineOutcome::Now, QuarantineOutcome::Before));
        assert_eq!(text_of(&store).lines().count(), 2);
    }

    // S-VERIFY-2
    #[test]
    fn what_does_not_fit_is_told() {
        let (_folder, store, log) = world();
        let mut quarantine = Quarantine::open(&store, &log).unwrap();
        quarantine.file_bytes = FILE_BYTES_MAX - 10;
        assert_eq!(quarantine.keep(damaged(0, b"x")).unwrap(), QuarantineOutcome::NoRoom);
    }

    #[cfg(unix)]
    // S-VERIFY-2, S-STORE-2
    #[test]
    fn the_quarantine_is_private_and_refuses_links() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (folder, store, log) = world();
        drop(Quarantine::open(&store, &log).unwrap());
        let hidden = store.root().join(".quarantine");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&hidden), mode(&hidden.join("a.jsonl"))), (0o700, 0o600));
        assert_eq!(std::fs::read_to_string(hidden.join(".gitignore")).unwrap(), "*\n");
        assert_eq!(store.logs().unwrap().len(), 0);
        let target = folder.path().join("target");
        std::fs::write(&target, "mine").unwrap();
        std::fs::remove_file(hidden.join("a.jsonl")).unwrap();
        symlink(&target, hidden.join("a.jsonl")).unwrap();
        assert!(matches!(Quarantine::open(&store, &log), Err(StoreError::NotALog { .. })));
        std::fs::remove_dir_all(&hidden).unwrap();
        symlink(folder.path(), &hidden).unwrap();
        assert!(matches!(Quarantine::open(&store, &log), Err(StoreError::Untrusted { .. })));
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    }
}
