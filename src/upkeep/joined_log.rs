//! Older lines of a repository that was joined to a shared one. A join shares nothing by itself: once somebody agrees, the lines are written
//! for the repository that they belong to now, with the ids that they have, and leave with its next round. Not here: rounds (`sync`).

use std::collections::HashSet;

use event::{DecodedLine, EncodedLine, RepoKey, clean, codec};
use settings::{Config, SyncPolicy};
use store::{Store, StoreError, Tail};

use crate::counted_noun::counted;

/// The lines of one repository that were joined to another and have not been written for that one.
#[derive(Debug, Clone)]
pub struct JoinedLog {
    /// The repository that they were written for.
    pub from: RepoKey,
    /// The one that they belong to now.
    pub to: RepoKey,
    /// The lines, as they stand for that one: at least one.
    pub lines: Vec<EncodedLine>,
}

impl JoinedLog {
    /// Says how many lines would leave because of the join, and when.
    #[must_use]
    pub fn preview(&self) -> String {
        let Self { from, to, lines } = self;
        let lines = counted(lines.len() as u64, "older line");
        format!("only after --yes, because {from} was joined to {to}: {lines} of {from}")
    }

    /// Says how many lines stay, and the command that shares them.
    #[must_use]
    pub fn notice(&self) -> String {
        let Self { from, to, lines } = self;
        let lines = counted(lines.len() as u64, "older line");
        format!(
            "{lines} of {from}, which was joined to {to}, did not leave; agent-knowledge sync --yes shares them"
        )
    }
}

/// Returns the older lines of joined repositories that a team does not get, because only the newer key is shared.
///
/// # Errors
/// [`StoreError`] if a log cannot be read.
pub fn joined_logs(
    store: &Store,
    config: &Config,
    policy: &SyncPolicy,
) -> Result<Vec<JoinedLog>, StoreError> {
    let mut found = Vec::new();
    for from in store.known_repos() {
        let to = config.current(&from);
        if to == from || policy.shares(&from) || !policy.shares(&to) {
            continue;
        }
        let mut known = HashSet::new();
        each_event(store, &to, &mut |event| {
            known.insert(event.id.as_str().to_owned());
        })?;
        let mut lines = Vec::new();
        each_event(store, &from, &mut |mut event| {
            if !event.is_private() && known.insert(event.id.as_str().to_owned()) {
                event.repo = to.to_string();
                lines.push(codec::encode(&clean::clean(event)));
            }
        })?;
        if !lines.is_empty() {
            found.push(JoinedLog { from, to, lines });
        }
    }
    Ok(found)
}

/// Reads the archived and the other lines of a repository, the oldest first.
fn each_event(
    store: &Store,
    repo: &RepoKey,
    on_event: &mut dyn FnMut(event::Event),
) -> Result<(), StoreError> {
    let segments = store.segments()?.into_iter().filter(|file| Store::repo_of(file) == *repo);
    let log = Some(store.log_of(repo)).filter(|log| log.symlink_metadata().is_ok());
    for file in segments.chain(log) {
        Tail::from_beginning(&file).read(|line| {
            if let DecodedLine::Event(event) = codec::decode(line.bytes, repo.as_str()) {
                on_event(*event);
            }
        })?;
    }
    Ok(())
}
