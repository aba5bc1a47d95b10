//! When and where a transcript of Cursor's command line was written, of which its lines say little: the time stands before some prompts, in
//! the database of the same chat, and on the file; the directory in the name of a folder, which only a path in a call makes certain.
//! Not here: the lines (`cursor_sessions`).

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;

use super::tool_calls::millis_at;
use crate::source::TranscriptFile;

/// The element before a prompt.
const TIME: (&str, &str) = ("<timestamp>", "</timestamp>");

/// Most folders of chats that are looked through, one for each directory.
const CHAT_FOLDERS_MAX: usize = 1_000;

/// Forms in which the element tells the time, as `Tuesday, Mar 10, 2026, 9:41 AM`.
const FORMS: [&str; 3] =
    ["%A, %b %d, %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %B %d, %Y at %I:%M %p"];

/// Tells the time of each message of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct CursorClock {
    /// The time that was last told.
    told: Option<i64>,
    /// When the chat began.
    begun: Option<i64>,
    /// When the file was last written.
    written: Option<i64>,
}

impl CursorClock {
    /// Looks at a file; `begun` is when its chat began, if it is read from its beginning.
    pub(super) fn of_file(file: &TranscriptFile, begun: Option<i64>) -> Self {
        let written = file.path.metadata().and_then(|metadata| metadata.modified()).ok();
        let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written = written.and_then(|since| i64::try_from(since.as_millis()).ok());
        // A file that was copied may be older than its chat, by a wrong clock.
        let begun = begun.filter(|begun| written.is_none_or(|written| *begun <= written));
        Self { told: None, begun, written }
    }

    /// Returns the time of a message: what it says itself, else what the last one said. Where none does, the first has that of the
    /// chat, and all others that of the file, which is the latest that they can have.
    pub(super) fn at(&mut self, own: Option<i64>, content: &Value) -> Option<i64> {
        self.told = own.or_else(|| told_in(content)).or(self.told);
        self.told.or_else(|| self.begun.take()).or(self.written)
    }
}

/// Finds the time that a message tells before its prompt.
fn told_in(content: &Value) -> Option<i64> {
    let texts =
        content.as_array().into_iter().flatten().filter_map(|item| item.pointer("/text")?.as_str());
    content.as_str().into_iter().chain(texts).find_map(|text| {
        let (_, behind) = text.split_once(TIME.0)?;
        millis_of_words(behind.split_once(TIME.1)?.0.trim())
    })
}

/// Reads a time as Cursor writes it, `Tuesday, Mar 10, 2026, 9:41 AM (UTC-7)`, or as RFC 3339 has it.
fn millis_of_words(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_millisecond());
    }
    let (civil, zone) =
        text.split_once('(').map_or((text, ""), |(civil, zone)| (civil.trim(), zone));
    let civil = FORMS.iter().find_map(|form| DateTime::strptime(form, civil).ok())?;
    let zoned = civil.to_zoned(TimeZone::fixed(offset_of(zone.trim_end_matches(')')))).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// Reads `UTC-7` and `UTC+5:30`; anything else is UTC.
fn offset_of(zone: &str) -> Offset {
    let signed = zone.trim().strip_prefix("UTC").or_else(|| zone.trim().strip_prefix("GMT"));
    let seconds = signed.and_then(|signed| {
        let sign = if signed.starts_with('-') { -1 } else { 1 };
        let digits = signed.trim_start_matches(['+', '-']);
        let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
        Some(sign * (hours.parse::<i32>().ok()? * 3_600 + minutes.parse::<i32>().ok()? * 60))
    });
    seconds.and_then(|seconds| Offset::from_seconds(seconds).ok()).unwrap_or(Offset::UTC)
}

/// Returns the database of the chat with this id, which may be beside its transcript. `chats` has a folder for each directory.
pub(super) fn chat_beside(file: &TranscriptFile, id: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(file.root.join("chats")).ok()?.flatten().take(CHAT_FOLDERS_MAX);
    folders.map(|folder| folder.path().join(id).join("store.db")).find(|path| path.is_file())
}

/// Returns when a chat began, by what it says of itself.
pub(super) fn begin_of_chat(about: &Value) -> Option<i64> {
    millis_at(about, &["/createdAt"])
}

/// Finds the directory of a session: the one above a path in a call after which Cursor named the folder of the transcript.
#[derive(Debug, Clone, Default)]
pub(super) struct CursorDirectory {
    folder: Option<String>,
    pub(super) found: Option<String>,
}

impl CursorDirectory {
    /// Takes the name of the folder from the path of a transcript: `projects/NAME/agent-transcripts/…`.
    pub(super) fn of_file(path: &Path) -> Self {
        let below = path.ancestors().find(|folder| folder.ends_with("agent-transcripts"));
        let folder = below.and_then(|below| below.parent()?.file_name());
        Self { folder: folder.map(|name| folder_words(&name.to_string_lossy())), found: None }
    }

    /// Looks at the arguments of a call.
    pub(super) fn see_call(&mut self, input: &Value) {
        match input {
            Value::String(text) => self.see_text(text),
            Value::Object(fields) => fields.values().for_each(|value| self.see_call(value)),
            _ => {}
        }
    }

    /// Looks at a text in which paths may stand.
    pub(super) fn see_text(&mut self, text: &str) {
        let Some(folder) = self.folder.as_ref().filter(|_| self.found.is_none()) else { return };
        let words = text.split(|c: char| c.is_whitespace() || "\"'`;()=".contains(c));
        self.found = words.filter(|word| is_absolute(word)).find_map(|word| {
            let ends =
                word.match_indices(['/', '\\']).map(|(at, _)| at).skip(1).chain([word.len()]);
            let mut parents = ends.filter_map(|end| word.get(..end));
            parents.find(|parent| folder_words(parent) == *folder).map(str::to_owned)
        });
    }
}

fn is_absolute(word: &str) -> bool {
    let is_drive = matches!(word.as_bytes(), [_, b':', b'/' | b'\\', ..]);
    word.starts_with('/') || is_drive
}

/// Writes a path as the name of a folder: `-` for all signs.
fn folder_words(path: &str) -> String {
    let words = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_tells_its_time_in_words() {
        for (text, expected) in [
            ("Tuesday, Mar 10, 2026, 9:41 AM (UTC-7)", Some("2026-03-10T16:41:00Z")),
            ("Tuesday, March 10, 2026, 9:41 PM (UTC+5:30)", Some("2026-03-10T16:11:00Z")),
            ("2026-03-10T09:41:00+01:00", Some("2026-03-10T08:41:00Z")),
            ("Tuesday, Mar 10, 2026, 9:41 AM", Some("2026-03-10T09:41:00Z")),
            ("just now", None),
        ] {
            let content = json!([{"type": "text", "text": format!("<timestamp>{text}</timestamp>\n<user_query>why</user_query>")}]);
            let expected =
                expected.map(|text| text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
            assert_eq!(told_in(&content), expected, "{text}");
        }
    }

    #[test]
    fn only_a_path_makes_a_directory_of_a_folders_name() {
        let path = Path::new("/h/.cursor/projects/home-ana-my-shop/agent-transcripts/s1/s1.jsonl");
        for (input, expected) in [
            (json!({"path": "/home/ana/my-shop/src/a.ts"}), Some("/home/ana/my-shop")),
            (json!({"command": "cd /home/ana/my/shop && npm test"}), Some("/home/ana/my/shop")),
            (json!({"working_directory": "/home/ana/my.shop"}), Some("/home/ana/my.shop")),
            (json!({"path": "src/a.ts"}), None),
            (json!({"path": "/home/ana/other/src/a.ts"}), None),
        ] {
            let mut directory = CursorDirectory::of_file(path);
            directory.see_call(&input);
            assert_eq!(directory.found.as_deref(), expected, "{input}");
        }
        let mut windows =
            CursorDirectory::of_file(Path::new("/p/c-Users-ana-shop/agent-transcripts/s/s.jsonl"));
        windows.see_call(&json!({"path": r"C:\Users\ana\shop\a.ts"}));
        assert_eq!(windows.found.as_deref(), Some(r"C:\Users\ana\shop"));
    }
}
