//! Whom a memory is for: one repository or all of them, this machine or also others. Older readers treat both fields
//! as unknown fields, and take a global memory for one of a repository named `global`. Not here: which log an event
//! goes to (`writer`), what leaves the machine (`api`).

use serde_json::Value;

use super::{Event, RepoKey};

/// The field that says where a memory applies.
pub(super) const SCOPE: &str = "scope";
/// The field that says that a memory never leaves this machine.
pub(super) const PRIVATE: &str = "private";

/// The repository key of memories that apply everywhere.
pub const GLOBAL_REPO: &str = "global";

/// Where a memory applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MemoryScope {
    /// In its repository. This is the default.
    #[default]
    Repo,
    /// In every repository.
    Global,
}

impl MemoryScope {
    /// All values, in the order help texts list them.
    pub const ALL: [Self; 2] = [Self::Repo, Self::Global];

    /// Returns the word as it stands in a line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repo => "repo",
            Self::Global => GLOBAL_REPO,
        }
    }

    /// Reads the word, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| text.trim().eq_ignore_ascii_case(one.as_str()))
    }
}

impl RepoKey {
    /// Returns the key of memories that apply everywhere.
    #[must_use]
    pub fn global() -> Self {
        Self::from_line(GLOBAL_REPO)
    }
}

impl Event {
    /// Returns where the event applies.
    #[must_use]
    pub fn applies(&self) -> MemoryScope {
        let said = self.extra.get(SCOPE).and_then(Value::as_str);
        said.and_then(MemoryScope::parse).unwrap_or_default()
    }

    /// Tells whether the event must never leave this machine. Whoever writes the field by hand means it, in whatever form.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let said = self.extra.get(PRIVATE);
        said.is_some_and(|said| !matches!(said, Value::Null | Value::Bool(false)))
    }
}
