//! The repositories that a place was before: with another remote, under another name, in another folder. What is certain is joined by
//! itself; about the rest somebody is asked. Not here: what the store remembers (`place_record`).

use std::collections::BTreeMap;

use event::{RepoKey, Timestamp};
use place::{WorkTree, common_dir_key};
use settings::SyncPolicy;

use super::Store;
use super::layout::FileId;
use super::place_record::PlaceRecord;

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
            FormerReason::Name => {
                format!("{repo}{memories} has the same name; if it is this repository: {join}")
            }
        }
    }
}

impl Store {
    /// Returns the joins that are certain: a directory without a remote that got one. The same directory is the same repository.
    #[must_use]
    pub fn certain_joins(&self) -> BTreeMap<RepoKey, RepoKey> {
        let records = self.place_records();
        let mut joins = BTreeMap::new();
        for record in &records {
            let own_key = common_dir_key(&record.directory);
            let is_first = !is_replaced(&records, record);
            let is_remote = !record.repo.is_of_one_machine();
            // A key without memories needs no alias: each one is a setting by which processes find each other.
            let has_memories = || self.log_of(&own_key).symlink_metadata().is_ok();
            if is_remote && record.repo != own_key && is_first && has_memories() {
                joins.entry(own_key).or_insert_with(|| record.repo.clone());
            }
        }
        joins
    }

    /// Returns the repositories that the place of a work tree was before, the surest first, each once. `known` are all repositories
    /// with memories. A name counts only where the repository at hand has none, as its key alone may differ then, or where the team
    /// shares the other and not this one, as a member who spells the remote in another way finds it.
    #[must_use]
    pub fn former_repos(
        &self,
        tree: Option<&WorkTree>,
        here: &RepoKey,
        known: &[RepoKey],
        policy: &SyncPolicy,
    ) -> Vec<FormerRepo> {
        let by_record = tree.map_or_else(Vec::new, |tree| self.recorded_repos(tree, here));
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

    fn recorded_repos(&self, tree: &WorkTree, here: &RepoKey) -> Vec<FormerRepo> {
        let records = self.place_records();
        let file = FileId::from_path(&tree.common_dir).map(|file| file.to_string());
        let own = records.iter().rev().find(|record| record.directory == tree.common_dir);
        let first_commit = own.and_then(|record| record.first_commit.clone());
        let since = records.iter().find(|record| record.repo == *here).map(|record| record.since);
        let mut found: Vec<FormerRepo> = records
            .iter()
            .rev()
            .filter(|record| record.repo != *here)
            .filter_map(|record| {
                let is_same_file = Some(&record.file) == file.as_ref();
                let is_here = record.directory == tree.common_dir;
                let because = if is_here && is_same_file {
                    FormerReason::Directory
                } else if is_same_file && !record.directory.exists() {
                    FormerReason::Moved
                } else if record.first_commit.is_some() && record.first_commit == first_commit {
                    FormerReason::FirstCommit
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

/// Tells whether another repository lay in a directory before: its record names another identity of the directory.
fn is_replaced(records: &[PlaceRecord], record: &PlaceRecord) -> bool {
    let first = records.iter().find(|other| other.directory == record.directory);
    first.is_some_and(|first| first.file != record.file)
}
