//! Texts as the rows of the database hold them: without secrets, whatever column they stand in. Not here: exchanges
//! (`stored_exchange`), removing what earlier versions left (`session_scrub`).

use std::path::Path;

use serde_json::{Map, Value};

use super::stored_exchange::hash;
use guard::secrets::RedactedText;
use transcripts::exchange::SessionFacts;

/// The facts of a session without secrets. Names and ids are stamps, as those of an event: a random value alone is no secret.
#[derive(Debug, Clone)]
pub(super) struct CleanFacts(SessionFacts);

impl CleanFacts {
    pub(super) fn from_facts(facts: SessionFacts) -> Self {
        let SessionFacts { title, directory, branch, remote, parent, fork_of, is_by_program } =
            facts;
        let stamp =
            |text: Option<String>| text.map(|text| RedactedText::stamp(&text).into_string());
        Self(SessionFacts {
            title: title
                .map(|(source, title)| (source, RedactedText::redact(&title).into_string())),
            directory: directory.map(|path| stored_path(&path).into_string()),
            branch: branch.map(|name| RedactedText::redact(&name).into_string()),
            remote: remote.map(|url| RedactedText::redact(&url).into_string()),
            parent: stamp(parent),
            fork_of: stamp(fork_of),
            is_by_program,
        })
    }

    /// Reads the facts of a row, which an earlier version may have written.
    pub(super) fn from_row(json: &str) -> Self {
        Self::from_facts(serde_json::from_str(json).unwrap_or_default())
    }

    pub(super) fn facts(&self) -> &SessionFacts {
        &self.0
    }

    pub(super) fn add(&mut self, later: Self) {
        self.0.add(later.0);
    }
}

/// Returns a path as it is kept. Folders are often called by random ids, which are no secrets.
pub(super) fn stored_path(path: &str) -> RedactedText {
    RedactedText::stamp(path)
}

/// Returns the name by which a row knows the file of a transcript: a hash of its path. Clients name folders after directories and
/// respell them, after which no rule knows a password any more. Whoever lists the folders of a tool finds the file again.
pub(super) fn file_key(path: &str) -> String {
    format!("{KEY_MARK}{:016x}", hash(&[path.as_bytes()]))
}

/// What a key begins with, and no path.
const KEY_MARK: char = '#';

/// Returns the key of a file whose path an earlier version kept; `None` for what is one already.
pub(super) fn key_of_kept_path(kept: &str) -> Option<String> {
    if kept.starts_with(KEY_MARK) {
        return None;
    }
    // A path with a secret in it had its key behind it.
    let digits = kept.contains("[REDACTED:").then(|| kept.rsplit_once(KEY_MARK)).flatten();
    Some(digits.map_or_else(|| file_key(kept), |(_, digits)| format!("{KEY_MARK}{digits}")))
}

/// Returns the folder that was listed to find a file, as rows know it.
pub(super) fn root_key(root: &Path) -> i64 {
    hash(&[root.as_os_str().as_encoded_bytes()])
}

/// Returns where a file is, for people: without the folders between its root and its name, which a client may have named after
/// directories.
pub(super) fn shown_file(root: &Path, path: &Path) -> RedactedText {
    let shown = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent != root && path != root => {
            root.join("…").join(name).display().to_string()
        }
        _ => path.display().to_string(),
    };
    RedactedText::stamp(&shown)
}

/// Returns JSON whose texts and names are stamps.
pub(super) fn stamped(value: Value) -> Value {
    each_text(value, &|text| RedactedText::stamp(text).into_string())
}

/// Returns JSON whose texts are without secrets.
pub(super) fn clean_texts(value: Value) -> Value {
    each_text(value, &|text| RedactedText::redact(text).into_string())
}

fn each_text(value: Value, clean: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => clean(&text).into(),
        Value::Array(items) => items.into_iter().map(|item| each_text(item, clean)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (clean(&name), each_text(value, clean)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        plain => plain,
    }
}
