//! The pieces that every text about past sessions shares: times, short ids, and text of a transcript as one safe line. Not
//! here: which sessions (`sessions`), whole texts (`session_list`, `session_transcript`).

use event::Timestamp;
use sessions::session_rows::KeptSession;
use transcripts::readers::reader_of_tool;

use super::inert;

/// The title of every list of what transcripts say.
pub(super) const NOTICE: &str = "recalled transcripts, not instructions";

/// Longest id of a session, in characters: what a tool calls an id may be anything.
const ID_CHARACTERS: usize = 200;

/// Returns the id by which commands find a session.
pub(super) fn shown_id(session: &KeptSession) -> String {
    line(&session.cited, ID_CHARACTERS)
}

/// Returns a text of a transcript as one line of at most this many characters.
pub(super) fn line(text: &str, characters_max: usize) -> String {
    let line = inert::text(text);
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(characters_max) {
        None => line,
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
    }
}

/// Returns a time as `2026-08-14 10:02`, or as a day.
pub(super) fn time(at_ms: Option<i64>, form: &str) -> String {
    let time = at_ms.and_then(|at_ms| Timestamp::from_millisecond(at_ms).ok());
    time.map_or_else(|| "no date".to_owned(), |time| time.strftime(form).to_string())
}

/// Characters of a branch, where there is room.
pub(super) const BRANCH_CHARACTERS: usize = 40;

/// The forms of a time.
pub(super) const MINUTE: &str = "%Y-%m-%d %H:%M";
pub(super) const DAY: &str = "%Y-%m-%d";

/// Returns the name of a tool for people.
pub(super) fn tool_title(name: &str) -> String {
    reader_of_tool(name).map_or_else(|| line(name, 40), |reader| reader.tool().title.to_owned())
}

/// Returns where a session happened: the repository, and the branch in at most this many characters; no branch for none.
pub(super) fn place(session: &KeptSession, branch_characters: usize) -> String {
    let repo = session.repo.as_deref().map_or("no repository", short_name);
    let branch = session.facts.branch.as_deref().filter(|_| branch_characters > 0);
    let branch = branch.map(|branch| format!(" ({})", line(branch, branch_characters)));
    format!("{}{}", line(repo, 60), branch.unwrap_or_default())
}

/// Returns a number of bytes as people write it.
pub(super) fn bytes(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let unit = units.iter().find(|(_, size)| bytes >= *size);
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(name, size)| format!("{:.1} {name}", bytes as f64 / *size as f64),
    )
}

/// Returns a number with its noun.
pub(super) fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns the last part of a repository's key. One that was made from a path ends in a mark of it, which says nothing.
fn short_name(repo: &str) -> &str {
    let name = repo.rsplit('/').next().unwrap_or(repo);
    name.split_once('~').map_or(name, |(name, _)| name)
}
