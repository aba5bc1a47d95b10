//! A file in the model directory with the checksums of its files, so that a start does not hash 91 MB again.
//!
//! One line per file: `sha256 bytes mtime_ns inode name`. A file whose size, time or inode differs from its line is
//! hashed again. A lost or damaged file costs one hash. It guards against damage, not against attackers, who could
//! replace the program too.
//!
//! What is not here: what the sums should be (`pins`).

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use super::atomic_write;
use super::pins::Pin;

const NAME: &str = ".verified";
/// Read per step while hashing: large enough that the hash, not the call, sets the pace.
const BLOCK_BYTES: usize = 256 * 1024;

/// The state of a file when it was hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CachedChecksum {
    sha256: String,
    bytes: u64,
    mtime_ns: u128,
    inode: u64,
}

/// Known sums of files in one directory.
#[derive(Debug, Default)]
pub(super) struct ChecksumCache {
    lines: BTreeMap<String, CachedChecksum>,
    changed: bool,
}

impl ChecksumCache {
    /// Reads the checksums in `dir`; none if the file is missing or cannot be read.
    pub(super) fn read(dir: &Path) -> Self {
        let text = std::fs::read_to_string(dir.join(NAME)).unwrap_or_default();
        Self { lines: text.lines().filter_map(parse).collect(), changed: false }
    }

    /// Returns the SHA-256 of the file in lower-case hex, hashed only if its checksum is not known. A file
    /// of another size than the pin's is not worth reading and gives an empty sum.
    pub(super) fn sha256_of(&mut self, path: &Path, pin: &Pin) -> io::Result<String> {
        let metadata = std::fs::metadata(path)?;
        if metadata.len() != pin.bytes {
            return Ok(String::new());
        }
        let known = self.lines.get(pin.name).filter(|line| line.describes(&metadata));
        if let Some(line) = known {
            return Ok(line.sha256.clone());
        }
        let sum = hash(path)?;
        self.lines.insert(pin.name.to_owned(), CachedChecksum::new(sum.clone(), &metadata));
        self.changed = true;
        Ok(sum)
    }

    /// Writes the checksums if a file was hashed. A directory we may not write to is fine: we hash
    /// next time.
    pub(super) fn save(&self, dir: &Path) {
        if !self.changed {
            return;
        }
        let text: String = self.lines.iter().map(|(name, line)| line.render(name)).collect();
        // Two programs that start at once leave one whole note; of a failure see above.
        let _ = atomic_write::write(dir, NAME, text.as_bytes());
    }
}

impl CachedChecksum {
    fn new(sha256: String, metadata: &Metadata) -> Self {
        let (bytes, mtime_ns, inode) = fingerprint(metadata);
        Self { sha256, bytes, mtime_ns, inode }
    }

    fn describes(&self, metadata: &Metadata) -> bool {
        fingerprint(metadata) == (self.bytes, self.mtime_ns, self.inode)
    }

    fn render(&self, name: &str) -> String {
        format!("{} {} {} {} {name}\n", self.sha256, self.bytes, self.mtime_ns, self.inode)
    }
}

fn parse(text: &str) -> Option<(String, CachedChecksum)> {
    let mut words = text.splitn(5, ' ');
    let line = CachedChecksum {
        sha256: words.next()?.to_owned(),
        bytes: words.next()?.parse().ok()?,
        mtime_ns: words.next()?.parse().ok()?,
        inode: words.next()?.parse().ok()?,
    };
    Some((words.next()?.to_owned(), line))
}

fn fingerprint(metadata: &Metadata) -> (u64, u128, u64) {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), modified.map_or(0, |since| since.as_nanos()), inode(metadata))
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_metadata: &Metadata) -> u64 {
    0
}

fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let count = file.read(&mut block)?;
        if count == 0 {
            return Ok(format!("{:x}", digest.finalize()));
        }
        digest.update(block.get(..count).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::FileTimes;
    use std::time::Duration;

    const PIN: Pin = Pin { name: "weights", bytes: 5, sha256: "" };
    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn sum(dir: &Path) -> (String, bool) {
        let mut checksums = ChecksumCache::read(dir);
        let sum = checksums.sha256_of(&dir.join("weights"), &PIN).unwrap();
        checksums.save(dir);
        (sum, checksums.changed)
    }

    #[test]
    fn an_unchanged_file_is_hashed_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("weights"), "hello").unwrap();
        assert_eq!(sum(dir.path()), (HELLO.to_owned(), true));
        assert_eq!(sum(dir.path()), (HELLO.to_owned(), false));
    }

    #[test]
    fn another_time_or_inode_is_hashed_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("weights");
        std::fs::write(&path, "hello").unwrap();
        sum(dir.path());
        let file = File::options().write(true).open(&path).unwrap();
        let later = UNIX_EPOCH + Duration::from_secs(1);
        file.set_times(FileTimes::new().set_modified(later)).unwrap();
        assert!(sum(dir.path()).1);
        std::fs::write(dir.path().join("other"), "HELLO").unwrap();
        std::fs::rename(dir.path().join("other"), &path).unwrap();
        let (altered, hashed) = sum(dir.path());
        assert!(hashed && altered != HELLO);
    }

    #[test]
    fn a_garbled_note_costs_a_hash_and_no_answer() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("weights"), "hello").unwrap();
        for garbage in ["", "x", "1 2 3\n\n", "\u{1}\u{2} 5 5 5 weights", "a b c d e f"] {
            std::fs::write(dir.path().join(NAME), garbage).unwrap();
            assert_eq!(sum(dir.path()), (HELLO.to_owned(), true));
        }
    }

    #[test]
    fn another_size_is_not_worth_hashing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("weights"), "hello!").unwrap();
        assert_eq!(sum(dir.path()), (String::new(), false));
    }
}
