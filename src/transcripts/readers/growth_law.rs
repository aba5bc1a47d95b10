//! Laws of transcripts that only grow, for the tests of their readers: reading on after any cut gives what reading whole
//! gives, and a record of an unknown kind changes nothing but the census.
//! Not here: the transcripts, which each reader's tests make up.

use std::path::Path;

use super::golden::try_sessions_of;
use crate::exchange::{Exchange, SessionRead};
use crate::source::{Resume, TranscriptReader};
use crate::transcript::{Census, SessionExtent};

/// Writes a transcript at a path below a new folder and reads it.
pub(crate) fn read_text(
    reader: &dyn TranscriptReader,
    name: &str,
    text: &str,
) -> (Vec<SessionRead>, Census) {
    let folder = tempfile::tempdir().unwrap();
    let (sessions, census, end) = read_at(reader, &folder.path().join(name), text, None);
    end.unwrap();
    (sessions, census)
}

fn read_at(
    reader: &dyn TranscriptReader,
    path: &Path,
    text: &str,
    resume: Option<&Resume>,
) -> (Vec<SessionRead>, Census, Result<Resume, crate::source::ReadError>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    try_sessions_of(reader, path, resume)
}

/// The exchanges of a session without their ordinals, which count from 0 in every reading.
fn exchanges(session: &SessionRead) -> Vec<Exchange> {
    let without = |exchange: &Exchange| Exchange { ordinal: 0, ..exchange.clone() };
    session.exchanges.iter().map(without).collect()
}

/// Cuts a transcript of one session after every line and at every byte of its last one, reads it, lets it grow, and reads
/// on from the last exchange, as the importer does.
pub(crate) fn assert_reading_on_is_reading_whole(
    reader: &dyn TranscriptReader,
    name: &str,
    text: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let (whole, _, whole_end) = read_at(reader, &path, text, None);
    let [whole] = whole.as_slice() else { panic!("{whole:?}") };
    let state = whole_end.unwrap().state;
    let last = text.trim_end().rfind('\n').unwrap();
    let is_cut = |cut: &usize| *cut > last || *cut == 0 || text.as_bytes()[cut - 1] == b'\n';
    for cut in (0..=text.len()).filter(is_cut) {
        let Some(begin) = text.get(..cut) else { continue };
        let (mut first, _, end) = read_at(reader, &path, begin, None);
        let mut resume = end.unwrap();
        let first = first.pop();
        resume.offset =
            first.as_ref().and_then(|session| session.last_offset).unwrap_or(resume.offset);
        let (mut rest, _, end) = read_at(reader, &path, text, Some(&resume));
        assert_eq!(end.unwrap().state, state);
        let rest = rest.pop().unwrap();
        let mut told = Vec::new();
        if rest.extent == SessionExtent::Continued {
            let first = first.unwrap();
            assert_eq!(first.native_id, rest.native_id);
            assert_eq!(first.facts.directory, rest.facts.directory, "cut at {cut}");
            told = exchanges(&first);
            told.pop();
        }
        told.extend(exchanges(&rest));
        assert_eq!(told, exchanges(whole), "cut at {cut}");
    }
}

/// Puts a record of an unknown kind before every line but the first.
pub(crate) fn assert_unknown_records_are_only_counted(
    reader: &dyn TranscriptReader,
    name: &str,
    text: &str,
    unknown: &str,
) {
    let mut lines = text.lines();
    let mut mixed = format!("{}\n", lines.next().unwrap());
    let mut inserted = 0;
    for line in lines {
        mixed.push_str(&format!("{unknown}\n{line}\n"));
        inserted += 1;
    }
    let (plain, plain_census) = read_text(reader, name, text);
    let (mixed, mixed_census) = read_text(reader, name, &mixed);
    assert_eq!(plain.len(), mixed.len());
    for (plain, mixed) in plain.iter().zip(&mixed) {
        assert_eq!((&plain.native_id, &plain.facts), (&mixed.native_id, &mixed.facts));
        assert_eq!(plain.exchanges, mixed.exchanges);
    }
    let unknown = |census: &Census| census.unknown.values().sum::<u64>();
    assert_eq!(unknown(&mixed_census), unknown(&plain_census) + inserted);
    assert_eq!(mixed_census.understood, plain_census.understood);
}
