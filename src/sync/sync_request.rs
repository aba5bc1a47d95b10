//! What a round needs: a store, its policy, a remote, and perhaps somebody who agrees. Not here: the round (`team_round`).

use std::path::Path;

use event::RepoKey;
use jiff::Timestamp;
use settings::SyncPolicy;
use store::Store;

use crate::RemoteAddress;

/// The folder of the caches, inside the folder of all caches.
pub(crate) const FOLDER: &str = "sync";

/// Whether somebody agrees now to share the repositories that were never shared with the remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// Only what was agreed to before is shared.
    AsBefore,
    /// Somebody was shown these repositories, and agrees to them.
    To(Vec<RepoKey>),
    /// Everything that the settings share is agreed to.
    Given,
}

impl Consent {
    /// Tells whether a repository is agreed to now.
    pub(crate) fn covers(&self, repo: &RepoKey) -> bool {
        match self {
            Self::AsBefore => false,
            Self::To(repos) => repos.contains(repo),
            Self::Given => true,
        }
    }
}

/// What a round needs.
pub struct SyncRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// What is shared.
    pub policy: &'a SyncPolicy,
    /// The remote, which the transport reaches.
    pub remote: &'a RemoteAddress,
    /// The folder of all caches; this one is made in it.
    pub cache: &'a Path,
    /// The name of this machine, for a new origin.
    pub host: &'a str,
    /// The time.
    pub now: Timestamp,
    /// Returns fresh random bits, for a new origin.
    pub random: &'a dyn Fn() -> u64,
    /// Whether somebody agrees now.
    pub consent: Consent,
    /// Is called with the name of each step. Tests end the process there.
    pub steps: &'a dyn Fn(&'static str),
}
