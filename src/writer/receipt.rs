//! What the writer of an event is told: where it is, and what was noticed. Not here: writing it (this crate's root).

use std::path::PathBuf;

use event::{CleanEvent, EventId, RepoKey, Timestamp, suspicion};
use guard::injection::Suspicion;
use store::{Destination, Durability};

use crate::redaction::Redactions;
use crate::{draft_files, identity};

/// The receipt of an acknowledged write.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// The event's id.
    pub id: EventId,
    /// The repository it was written for.
    pub repo: RepoKey,
    /// What it survives.
    pub durability: Durability,
    /// Whether it is in its log or in the spool.
    pub place: Destination,
    /// Its file, and where it begins there.
    pub at: (PathBuf, u64),
    /// What was written.
    pub(super) event: CleanEvent,
    /// The `source` that was claimed and not believed.
    pub not_believed: Option<String>,
    /// The secrets that were removed from it.
    pub redacted: Redactions,
    /// When it expired, where that was before it was written.
    pub expired: Option<Timestamp>,
    /// The files that it names and that are nowhere.
    pub missing_files: Vec<String>,
}

impl Receipt {
    /// Returns why the event reads like an instruction to its reader, if it does. Searches mark such an event, and
    /// hooks never show it. Computed on demand, so that it delays no write.
    #[must_use]
    pub fn flagged(&self) -> Option<Suspicion> {
        suspicion(self.event.event())
    }

    /// Says which files that the event names are nowhere; `None` where all are there, or nobody can tell.
    #[must_use]
    pub fn missing_files_notice(&self) -> Option<String> {
        draft_files::missing_files_notice(&self.missing_files)
    }

    /// Returns the notices for the writer of the event: which secrets were removed, why searches mark it, which claim
    /// was not believed, and which files are nowhere.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let flagged = self.flagged().map(Suspicion::advice);
        let not_believed = self.not_believed.as_deref().map(identity::ignored_source_notice);
        let (expiry, missing) = (self.expiry_notice(), self.missing_files_notice());
        let notices = [self.redacted.message(), flagged, not_believed, expiry, missing];
        notices.into_iter().flatten().collect()
    }

    /// Says that it has expired already, which nobody wants.
    #[must_use]
    pub fn expiry_notice(&self) -> Option<String> {
        self.expired.map(|end| {
            format!("it expired at {end:.0}, so no search finds it; a later time in expires changes that")
        })
    }
}
