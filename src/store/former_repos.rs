//! The repositories that a place was before: with another remote, under another name, in another folder. What is certain is joined by
//! itself (`certain_joins`); about the rest somebody is asked. Not here: what the store remembers (`place_record`).

use event::{RepoKey, Timestamp};
use place::Place;
use settings::SyncPolicy;

use super::Store;
use super::directory_identity::DirectoryIdentity;
use super::place_record::PlaceRecord;
use super::served_directory::ServedDirectory;

/// How the command begins that joins a repository to the one at hand.
pub const JOIN_COMMAND: &str = "agent-knowledge config set aliases.";

/// A repository that may be the one at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerRepo {
    /// Its key.
    pub repo: RepoKey,
    /// Until when, where that is known.
    pub until: Option<Timestamp>,
    /// Why.
    pub because: FormerReason,
}

/// Why two repositories may be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FormerReason {
    /// The same directory had another remote.
    Directory,
    /// The directory was moved here.
    Moved,
    /// Both began with the same commit, as forks do too.
    FirstCommit,
    /// Another repository lay in the directory.
    Replaced,
    /// Both have the same name.
    Name,
}

impl FormerRepo {
    /// Returns a sentence about it, with the command that joins it to the repository at hand. `memories` is how many it has.
    #[must_use]
    pub fn sentence(&self, here: &RepoKey, memories: Option<usize>) -> String {
        let Self { repo, until, because } = self;
        let memories = memories.map_or_else(String::new, |count| match count {
            1 => " (1 memory)".to_owned(),
            _ => format!(" ({count} memories)"),
        });
        let join = format!("{JOIN_COMMAND}{repo} {here}");
        let until = until
            .map_or_else(String::new, |until| format!("until {} ", until.strftime("%Y-%m-%d")));
        match because {
            FormerReason::Directory => {
                format!("{until}this directory was {repo}{memories}; to join them: {join}")
            }
            FormerReason::Moved => format!(
                "{until}this directory was in another place as {repo}{memories}; to join them: {join}"
            ),
            FormerReason::FirstCommit => format!(
                "{repo}{memories} began with the same commit, as forks do; if it is this repository: {join}"
            ),
            FormerReason::Replaced => format!(
                "{until}another repository lay in this directory, {repo}{memories}; if it is this repository: {join}"
            ),
            FormerReason::Name => {
                format!("{repo}{memories} has the same name; if it is this repository: {join}")
            }
        }
    }
}

impl Store {
    /// Returns the repositories that a place was before, the surest first, each once. `known` are all repositories
    /// with memories. A name counts only where the repository at hand has none, as its key alone may differ then, or where the team
    /// shares the other and not this one, as a member who spells the remote in another way finds it.
    #[must_use]
    pub fn former_repos(
        &self,
        place: &Place,
        here: &RepoKey,
        known: &[RepoKey],
        policy: &SyncPolicy,
    ) -> Vec<FormerRepo> {
        let by_record = self.recorded_repos(place, here);
        let is_new = !known.contains(here);
        let is_of_team = |key: &RepoKey| policy.shares(key) && !policy.shares(here);
        let same_name = known.iter().filter(|key| key.short_name() == here.short_name());
        let same_name = same_name.filter(|key| is_new || is_of_team(key));
        let by_name = same_name.map(|key| FormerRepo {
            repo: key.clone(),
            until: None,
            because: FormerReason::Name,
        });
        let mut found: Vec<FormerRepo> = Vec::new();
        for former in by_record.into_iter().chain(by_name) {
            let is_told = found.iter().any(|other| other.repo == former.repo);
            if former.repo != *here && known.contains(&former.repo) && !is_told {
                found.push(former);
            }
        }
        found
    }

    fn recorded_repos(&self, place: &Place, here: &RepoKey) -> Vec<FormerRepo> {
        let Some(served) = ServedDirectory::from_place(place) else { return Vec::new() };
        let records = self.place_records();
        let is_moved = |record: &PlaceRecord| Self::is_moved(record, &records);
        let is_own = |record: &PlaceRecord| served.is_of(record, &is_moved);
        let here_last = records.iter().rev().filter(|record| record.directory == served.path);
        let own = here_last.clone().find(|record| is_own(record));
        let first_commit = own.and_then(|record| record.first_commit.clone());
        let since = records.iter().find(|record| record.repo == *here).map(|record| record.since);
        let mut found: Vec<FormerRepo> = records
            .iter()
            .rev()
            .filter(|record| record.repo != *here)
            .filter_map(|record| {
                let is_here = record.directory == served.path;
                let because = if is_here && is_own(record) {
                    FormerReason::Directory
                } else if served.identity.is_same(&record.identity) && is_left(record) {
                    FormerReason::Moved
                } else if record.first_commit.is_some() && record.first_commit == first_commit {
                    FormerReason::FirstCommit
                } else if is_here && !is_moved(record) {
                    FormerReason::Replaced
                } else {
                    return None;
                };
                Some(FormerRepo { repo: record.repo.clone(), until: since, because })
            })
            .collect();
        found.sort_by_key(|former| former.because);
        found
    }
}

/// Tells whether the directory of a record is no longer in its place.
fn is_left(record: &PlaceRecord) -> bool {
    let now = DirectoryIdentity::read(&record.directory);
    now.is_none_or(|now| !now.is_same(&record.identity))
}
