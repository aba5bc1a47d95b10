//! Texts as the rows of the database hold them: without secrets, whatever column they stand in. Not here: exchanges
//! (`stored_exchange`), removing what earlier versions left (`session_scrub`).

use serde_json::{Map, Value};

use super::exchange::SessionFacts;
use super::stored_exchange::hash;
use guard::secrets::Redacted;

/// The facts of a session without secrets. Names and ids are stamps, as those of an event: a random value alone is no secret.
#[derive(Debug, Clone)]
pub(super) struct CleanFacts(SessionFacts);

impl CleanFacts {
    pub(super) fn of(facts: SessionFacts) -> Self {
        let SessionFacts { title, directory, branch, remote, parent, fork_of, is_by_program } =
            facts;
        let stamp = |text: Option<String>| text.map(|text| Redacted::stamp(&text).into_string());
        Self(SessionFacts {
            title: title.map(|(source, title)| (source, Redacted::of(&title).into_string())),
            directory: directory.map(|path| stored_path(&path).into_string()),
            branch: branch.map(|name| Redacted::of(&name).into_string()),
            remote: remote.map(|url| Redacted::of(&url).into_string()),
            parent: stamp(parent),
            fork_of: stamp(fork_of),
            is_by_program,
        })
    }

    /// Reads the facts of a row, which an earlier version may have written.
    pub(super) fn of_row(json: &str) -> Self {
        Self::of(serde_json::from_str(json).unwrap_or_default())
    }

    pub(super) fn facts(&self) -> &SessionFacts {
        &self.0
    }

    pub(super) fn add(&mut self, later: Self) {
        self.0.add(later.0);
    }
}

/// Returns a path as it is kept. Folders are often called by random ids, which are no secrets.
pub(super) fn stored_path(path: &str) -> Redacted {
    Redacted::stamp(path)
}

/// Returns the path by which a file is recognised: two files whose paths differ in a secret stay two.
pub(super) fn file_key(path: &str) -> String {
    let clean = stored_path(path);
    if clean == path {
        path.to_owned()
    } else {
        format!("{clean}#{:016x}", hash(&[path.as_bytes()]))
    }
}

/// Tells whether [`file_key`] left a secret out, so that the file cannot be looked for.
pub(super) fn is_without_secret(key: &str) -> bool {
    key.contains("[REDACTED:")
}

/// Returns JSON whose texts and names are stamps.
pub(super) fn stamped(value: Value) -> Value {
    each_text(value, &|text| Redacted::stamp(text).into_string())
}

/// Returns JSON whose texts are without secrets.
pub(super) fn clean_texts(value: Value) -> Value {
    each_text(value, &|text| Redacted::of(text).into_string())
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
