//! What every reader of a growing file must keep: a file that is read in two steps holds the same as one that is read at
//! once, and a record of an unknown kind changes nothing but the count. Not here: what a tool's records mean.

use std::path::Path;

use crate::exchange::{ExchangeBuilder, SessionRead};
use crate::source::{Resume, TranscriptFile, TranscriptReader};
use crate::transcript::{Census, SessionExtent};

/// Reads as the importer does: the next reading begins with the last exchange.
fn step(
    reader: &dyn TranscriptReader,
    path: &Path,
    from: Option<&(Resume, u32)>,
) -> (Vec<SessionRead>, Census, (Resume, u32)) {
    let (mut sessions, mut last) = (Vec::new(), None);
    let ordinal = from.map_or(0, |(_, ordinal)| *ordinal);
    let mut deliver = |session: SessionRead| {
        if let Some(exchange) = session.exchanges.last() {
            last = session.last_offset.map(|offset| (offset, exchange.ordinal));
        }
        sessions.push(session);
    };
    let mut builder = ExchangeBuilder::new(ordinal, &mut deliver);
    let file = TranscriptFile { path: path.to_owned(), root: path.parent().unwrap().to_owned() };
    let mut resume = reader.read(&file, from.map(|(resume, _)| resume), &mut builder).unwrap();
    let census = builder.finish();
    let (offset, ordinal) = last.unwrap_or((resume.offset, ordinal));
    resume.offset = offset.min(resume.offset);
    (sessions, census, (resume, ordinal))
}

/// Adds what was read later to what was read before.
fn joined(mut before: Vec<SessionRead>, later: Vec<SessionRead>, from: u32) -> Vec<SessionRead> {
    for session in later {
        let known = before.iter_mut().find(|known| known.native_id == session.native_id);
        match known {
            Some(known) if session.extent == SessionExtent::Continued => {
                known.exchanges.retain(|exchange| exchange.ordinal < from);
                known.exchanges.extend(session.exchanges);
                known.facts.add(session.facts);
            }
            Some(known) => *known = session,
            None => before.push(session),
        }
    }
    before
}

/// What does not depend on how the file was read.
fn contents(sessions: Vec<SessionRead>) -> Vec<SessionRead> {
    let plain =
        |session| SessionRead { extent: SessionExtent::Whole, last_offset: None, ..session };
    sessions.into_iter().map(plain).collect()
}

/// Cuts a transcript after every line and at every byte of its last `lines` lines, and reads on after each cut.
pub(crate) fn holds_when_cut(reader: &dyn TranscriptReader, name: &str, text: &str, lines: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let whole = contents(step(reader, &path, None).0);
    let ends: Vec<_> = text
        .split_inclusive('\n')
        .scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        })
        .collect();
    let tail = ends.iter().rev().nth(lines).copied().unwrap_or_default();
    for cut in ends.iter().copied().take_while(|end| *end < tail).chain(tail..=text.len()) {
        std::fs::write(&path, &text.as_bytes()[..cut]).unwrap();
        let (before, _, state) = step(reader, &path, None);
        std::fs::write(&path, text).unwrap();
        let (later, ..) = step(reader, &path, Some(&state));
        let both = contents(joined(before, later, state.1));
        assert_eq!(both, whole, "cut at byte {cut}");
    }
}

/// Adds a record of an unknown kind after each line.
pub(crate) fn holds_with_unknown(reader: &dyn TranscriptReader, name: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let (sessions, census, _) = step(reader, &path, None);
    let (mut mixed, mut added) = (String::new(), 0);
    for line in text.split_inclusive('\n') {
        mixed.push_str(line);
        mixed.push_str("{\"type\":\"made_up\",\"payload\":{\"type\":\"made_up\",\"x\":[1]}}\n");
        added += 1;
    }
    std::fs::write(&path, &mixed).unwrap();
    let (others, mut other_census, _) = step(reader, &path, None);
    assert_eq!(contents(others), contents(sessions));
    assert_eq!(other_census.unknown.remove("made_up"), Some(added));
    assert_eq!(other_census, census);
}

/// Puts on a transcript what editors, crashes and racing writers put there, and reads the same sessions. `noise` is a
/// record that the reader dismisses without parsing it; `word` is a word of a text.
pub(crate) fn holds_when_damaged(
    reader: &dyn TranscriptReader,
    name: &str,
    text: &str,
    (noise, word): (&str, &str),
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let (sessions, census, _) = step(reader, &path, None);
        (contents(sessions), census)
    };
    let lines: Vec<&str> = text.lines().collect();
    let last = *lines.last().unwrap();
    let torn = last.get(..last.floor_char_boundary(last.len() / 2)).unwrap();
    let each = |form: fn(&str, &str) -> String| -> String {
        lines.iter().map(|line| form(line, noise)).collect()
    };
    let (whole, census) = read(text);
    for (damage, damaged) in [
        ("a mark of UTF-8", format!("\u{feff}{text}")),
        ("line breaks of Windows", text.replace('\n', "\r\n")),
        ("empty lines", text.replace('\n', "\n\n")),
        ("NULs of a crash", each(|line, _| format!("\0\0\0{line}\0\n"))),
        ("two records on a line", lines.chunks(2).map(|two| two.concat() + "\n").collect()),
        ("noise before a record", each(|line, noise| format!("{noise}{line}\n"))),
        ("noise behind a record", each(|line, noise| format!("{line}{noise}\n"))),
        ("a torn last line", format!("{text}{torn}")),
    ] {
        let (damaged, other) = read(&damaged);
        assert_eq!(damaged, whole, "{damage}");
        let counts = |census: &Census| Census { left: 0, ..census.clone() };
        assert_eq!(counts(&other), counts(&census), "{damage}");
    }
    let with = |half: &str| text.replace(word, &format!("{word}{half}"));
    assert_eq!(read(&with("\\ud83d")), read(&with("\u{fffd}")), "half a character");
    assert_ne!(read(&with("\u{fffd}")).0, whole, "the word is in a text that is kept");
}
