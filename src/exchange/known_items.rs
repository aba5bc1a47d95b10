//! What is known here about the items of a store, and which memory a changed note may replace. Not here: asking for it
//! (`api`), what an import writes (`import_batch`).

use std::collections::BTreeMap;

use event::{EventId, RepoKey};

/// A memory of this store that has the id of an item, or that a changed note may replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownItem {
    /// Its repository. What is said about it is written there.
    pub repo: RepoKey,
    /// Whether it counts, and why not.
    pub state: KnownState,
    /// The hash of its texts, as [`event::text_digest`] makes it.
    pub texts: EventId,
}

/// Whether a known memory counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownState {
    /// It counts.
    Live,
    /// It was imported before, and that import was taken back.
    TakenBack,
    /// A changed note superseded it in an earlier import.
    Renewed {
        /// The memory that the note became.
        by: EventId,
    },
    /// Somebody here superseded it, such as by `edit`.
    Edited {
        /// The memory that superseded it.
        by: EventId,
    },
    /// Somebody retracted or archived it.
    SetAside,
}

impl KnownState {
    /// Returns the memory that superseded it.
    #[must_use]
    pub fn superseded_by(&self) -> Option<&EventId> {
        match self {
            Self::Renewed { by } | Self::Edited { by } => Some(by),
            Self::Live | Self::TakenBack | Self::SetAside => None,
        }
    }
}

/// The memories that are known here, by id.
pub type KnownItems = BTreeMap<EventId, KnownItem>;

/// Most memories in a chain of which each superseded the one before. Nobody changes one note as often.
pub const SUPERSEDED_MAX: usize = 100;

/// What stands here in the place of the memory that a note was written from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Successor<'a> {
    /// It counts, or what earlier changes of the note made of it does. With its repository.
    Live(&'a EventId, &'a RepoKey),
    /// Somebody here made this memory of it.
    Edited(&'a EventId),
    /// Nothing, or what is of another repository.
    Nothing,
}

/// Finds what stands in the place of a memory. All on the way to it must be of the repository that has these names.
pub(crate) fn successor<'a>(
    id: &'a EventId,
    repos: [&RepoKey; 2],
    known: &'a KnownItems,
) -> Successor<'a> {
    let mut at = id;
    for _ in 0..=SUPERSEDED_MAX {
        let Some(found) = known.get(at).filter(|found| repos.contains(&&found.repo)) else { break };
        match &found.state {
            KnownState::Live => return Successor::Live(at, &found.repo),
            KnownState::Edited { by } => return Successor::Edited(by),
            KnownState::Renewed { by } => at = by,
            KnownState::TakenBack | KnownState::SetAside => break,
        }
    }
    Successor::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> EventId {
        EventId::foreign(text).unwrap()
    }

    fn renewed(by: &str) -> KnownState {
        KnownState::Renewed { by: id(by) }
    }

    /// What stands in the place of `old`, where its successors are known so.
    fn successor_text(known: &[(&str, &str, KnownState)]) -> String {
        let item = |(name, repo, state): &(&str, &str, KnownState)| {
            let repo = RepoKey::parse(repo).unwrap();
            (id(name), KnownItem { repo, state: state.clone(), texts: id("x") })
        };
        let known: KnownItems = known.iter().map(item).collect();
        let api = RepoKey::parse("api").unwrap();
        match successor(&id("old"), [&api, &api], &known) {
            Successor::Live(at, repo) => format!("{at} in {repo}"),
            Successor::Edited(by) => format!("edited: {by}"),
            Successor::Nothing => "nothing".to_owned(),
        }
    }

    // S-EXPORT-2
    #[test]
    fn only_notes_of_its_repository_replace_a_memory() {
        assert_eq!(successor_text(&[("old", "api", KnownState::Live)]), "old in api");
        assert_eq!(successor_text(&[("old", "web", KnownState::Live)]), "nothing");
        assert_eq!(successor_text(&[("old", "api", KnownState::SetAside)]), "nothing");
        assert_eq!(successor_text(&[("other", "api", KnownState::Live)]), "nothing");
    }

    // S-EXPORT-2
    #[test]
    fn a_note_replaces_what_it_became_before() {
        let chain = |last: KnownState, repo| {
            successor_text(&[
                ("old", "api", renewed("m2")),
                ("m2", "api", renewed("m3")),
                ("m3", repo, last),
            ])
        };
        assert_eq!(chain(KnownState::Live, "api"), "m3 in api");
        assert_eq!(chain(KnownState::Live, "web"), "nothing");
        assert_eq!(chain(KnownState::SetAside, "api"), "nothing");
        assert_eq!(chain(renewed("old"), "api"), "nothing", "a circle ends");
        assert_eq!(chain(renewed("unknown"), "api"), "nothing");
        assert_eq!(chain(KnownState::Edited { by: id("m4") }, "api"), "edited: m4");
    }
}
