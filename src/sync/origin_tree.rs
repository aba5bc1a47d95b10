//! The form of what an origin publishes: `FORMAT`, the segments of its logs, and the ids of what it withdrew. Not here:
//! moving trees (`transport`), and what is in them (`outgoing_lines`).

use std::collections::{BTreeMap, BTreeSet};

use event::RepoKey;
use sha2::{Digest as _, Sha256};

/// The file that names the form, and its contents.
pub(crate) const FORMAT_PATH: &str = "FORMAT";
pub(crate) const FORMAT: &[u8] = b"1\n";

/// The file with the ids of events that the origin withdrew, one a line. Mirrors drop lines with these ids that the origin no
/// longer has; other lines that vanish stay.
pub(crate) const WITHDRAWN_PATH: &str = "WITHDRAWN";

/// Most ids in it: with more, the smallest leave, which are those of the oldest events.
pub(crate) const WITHDRAWN_MAX: usize = 100_000;

/// A segment that has this many bytes is sealed, and the next line begins another. Measured: commits of 256 KiB keep a
/// repository a quarter as big as commits of whole logs.
pub(crate) const SEGMENT_BYTES: usize = 256 * 1024;

/// A longer file is no segment: it ends with the line that seals it, which has at most 2 MiB.
pub(crate) const SEGMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The longest list of ids that is read, in bytes.
pub(crate) const WITHDRAWN_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How many digits the number of a segment has.
const DIGITS: usize = 6;

/// What a path in a tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TreePlace {
    /// The name of the form.
    Format,
    /// The ids of what was withdrawn.
    Withdrawn,
    /// A segment of a log, and its number.
    Segment(RepoKey, u32),
    /// Nothing that we know.
    Odd,
}

/// Tells what a path is. Whatever is not exactly a name that we give is odd.
pub(crate) fn place_of(path: &str) -> TreePlace {
    match path {
        FORMAT_PATH => TreePlace::Format,
        WITHDRAWN_PATH => TreePlace::Withdrawn,
        _ => segment_of(path)
            .map_or(TreePlace::Odd, |(repo, number)| TreePlace::Segment(repo, number)),
    }
}

fn segment_of(path: &str) -> Option<(RepoKey, u32)> {
    let (stem, name) = path.split_once('/')?;
    let digits = name.strip_suffix(".jsonl")?;
    let is_number = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    let repo = RepoKey::from_file_stem(stem);
    let is_ours = is_number && repo.file_name().strip_suffix(".jsonl") == Some(stem);
    is_ours.then_some((repo, digits.parse().ok()?))
}

/// Cuts the lines of a log into segments, by path. Lines that are added later change only the last one.
pub(crate) fn segments<'a>(
    repo: &RepoKey,
    lines: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, Vec<u8>> {
    let file_name = repo.file_name();
    let stem = file_name.strip_suffix(".jsonl").unwrap_or(&file_name);
    let path = |number: usize| format!("{stem}/{number:0DIGITS$}.jsonl");
    let (mut segments, mut open) = (BTreeMap::new(), Vec::new());
    for line in lines {
        open.extend_from_slice(line.as_bytes());
        open.push(b'\n');
        if open.len() >= SEGMENT_BYTES {
            segments.insert(path(segments.len()), std::mem::take(&mut open));
        }
    }
    if !open.is_empty() {
        segments.insert(path(segments.len()), open);
    }
    segments
}

/// Returns what names a line that was withdrawn: its id and three digits of its hash. They tell the forms of one event
/// apart, for a line may be published again, and are too few to guess what it said.
pub(crate) fn withdrawn_mark(id: &str, line: &[u8]) -> String {
    let [first, second, ..] = <[u8; 32]>::from(Sha256::digest(line));
    format!("{id} {first:02x}{:x}", second >> 4)
}

/// Writes the list of what was withdrawn.
pub(crate) fn withdrawn_text(ids: &BTreeSet<String>) -> Vec<u8> {
    let surplus = ids.len().saturating_sub(WITHDRAWN_MAX);
    ids.iter().skip(surplus).flat_map(|id| [id.as_bytes(), b"\n"].concat()).collect()
}

/// Reads the list of what was withdrawn.
pub(crate) fn withdrawn_marks(bytes: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().filter(|id| !id.is_empty()).take(WITHDRAWN_MAX).map(str::to_owned).collect()
}

/// Iterates over the complete lines of bytes, without their breaks.
pub(crate) fn complete_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let whole = bytes.get(..end).filter(|whole| !whole.is_empty());
    whole.into_iter().flat_map(|whole| whole.split(|byte| *byte == b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-4
    #[test]
    fn only_our_own_names_are_segments() {
        let repo = RepoKey::parse("github.com/acme/api").unwrap();
        let segment = TreePlace::Segment(repo, 7);
        assert_eq!(place_of("github.com+acme+api/000007.jsonl"), segment);
        assert_eq!(place_of("FORMAT"), TreePlace::Format);
        for odd in [
            "",
            "README",
            "../x/000000.jsonl",
            "..+x/000000.jsonl",
            "x/../000000.jsonl",
            "x/y/000000.jsonl",
            "X/000000.jsonl",
            "x/00000.jsonl",
            "x/0000000.jsonl",
            "x/00000a.jsonl",
            "x/000000.json",
            ".git/000000.jsonl",
            "/000000.jsonl",
            "con/000000.jsonl",
            "x\u{0}/000000.jsonl",
        ] {
            assert_eq!(place_of(odd), TreePlace::Odd, "{odd:?}");
        }
    }

    // S-SYNC-4
    #[test]
    fn a_segment_is_sealed_and_only_the_last_grows() {
        let repo = RepoKey::parse("api").unwrap();
        let line = "x".repeat(99);
        let cut = |count: usize| segments(&repo, std::iter::repeat_n(line.as_str(), count));
        let (before, after) = (cut(6_000), cut(6_001));
        let paths: Vec<&str> = after.keys().map(String::as_str).collect();
        assert_eq!(paths, ["api/000000.jsonl", "api/000001.jsonl", "api/000002.jsonl"]);
        let same = paths.iter().filter(|&&path| before.get(path) == after.get(path)).count();
        assert_eq!(same, 2);
        assert!(before.values().all(|bytes| bytes.len() < SEGMENT_BYTES + 100));
        assert!(paths.iter().all(|path| place_of(path) != TreePlace::Odd));
    }

    // S-SYNC-7
    #[test]
    fn lists_of_ids_and_lines_are_read_as_written() {
        let ids: BTreeSet<String> = (0..WITHDRAWN_MAX + 5).map(|n| format!("{n:07}")).collect();
        let read = withdrawn_marks(&withdrawn_text(&ids));
        assert_eq!(read, ids.iter().skip(5).cloned().collect());
        let lines = |bytes| complete_lines(bytes).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(lines(b"a\n\nb\ntorn"), [b"a".to_vec(), vec![], b"b".to_vec()]);
        assert!(lines(b"torn").is_empty() && lines(b"").is_empty());
    }
}
