//! Corrects the repositories of sessions that were kept before: their work tree was removed, moved or got a remote since, or other sessions
//! tell: that of the same directory, the one that started it, those of the same branch. Not here: the repository of one session
//! (`repo_of_session`), what the files of repositories say (`machine_repos`).

use std::collections::{BTreeSet, HashMap};

use event::RepoKey;
use rusqlite::{Row, params};
use transcripts::exchange::SessionFacts;

use super::machine_repos::{MachineRepos, dashed, is_own_branch, is_part_of_name};
use super::repo_of_session::SessionRepos;
use super::session_store::{SessionError, SessionStore};

/// How often sessions are gone through: one may tell of another, which tells of a third.
const ROUNDS_MAX: usize = 3;

/// A kept session, as far as its repository is concerned.
struct PlacedSession {
    row: u32,
    tool: String,
    native_id: String,
    facts: SessionFacts,
    repo: Option<String>,
}

/// What the sessions whose repository is known say about others.
#[derive(Default)]
struct Witnesses {
    by_directory: HashMap<String, Option<String>>,
    by_id: HashMap<(String, String), String>,
    by_branch: HashMap<String, Vec<String>>,
}

impl PlacedSession {
    /// Tells whether later knowledge may change its repository.
    fn is_uncertain(&self) -> bool {
        self.repo.as_deref().is_none_or(|repo| repo.contains('~'))
    }
}

impl Witnesses {
    fn of_sessions(sessions: &[PlacedSession], repos: &MachineRepos) -> Self {
        let mut found = Self::default();
        for session in sessions {
            let Some(repo) = session.repo.clone().filter(|repo| repos.is_settled(repo)) else {
                continue;
            };
            if let Some(directory) = &session.facts.directory {
                let known = found
                    .by_directory
                    .entry(directory.clone())
                    .or_insert_with(|| Some(repo.clone()));
                // A directory in which another repository was made later says nothing.
                if known.as_ref() != Some(&repo) {
                    *known = None;
                }
            }
            if let Some(branch) =
                session.facts.branch.clone().filter(|branch| is_own_branch(branch))
            {
                found.by_branch.entry(branch).or_default().push(repo.clone());
            }
            found.by_id.insert((session.tool.clone(), session.native_id.clone()), repo);
        }
        found
    }

    /// Returns what the other sessions say about one: that of the same directory, that which started it or which it copies, and the only
    /// repository with its branch, if a name in its path is that of the repository or of the branch.
    fn repo_of(&self, session: &PlacedSession, repos: &MachineRepos) -> Option<String> {
        let facts = &session.facts;
        let of_directory = facts
            .directory
            .as_ref()
            .and_then(|directory| self.by_directory.get(directory)?.clone());
        let relatives = [&facts.parent, &facts.fork_of].into_iter().flatten();
        let mut of_relatives =
            relatives.filter_map(|id| self.by_id.get(&(session.tool.clone(), id.clone())).cloned());
        of_directory.or_else(|| of_relatives.next()).or_else(|| self.repo_of_branch(facts, repos))
    }

    fn repo_of_branch(&self, facts: &SessionFacts, repos: &MachineRepos) -> Option<String> {
        let branch = facts.branch.as_deref().filter(|branch| is_own_branch(branch))?;
        let mut found: BTreeSet<String> =
            self.by_branch.get(branch).into_iter().flatten().cloned().collect();
        found.extend(repos.with_branch(branch).map(|repo| repo.key.to_string()));
        let only = found.pop_first().filter(|_| found.is_empty())?;
        let key = RepoKey::parse(&only).ok()?;
        let branch = dashed(branch);
        let mut folders =
            facts.directory.iter().flat_map(|path| path.split(['/', '\\'])).map(dashed);
        let is_linked = folders.any(|folder| {
            is_part_of_name(&folder, &branch)
                || repos.names(&key).any(|name| begins_with_name(&folder, &dashed(name)))
        });
        is_linked.then_some(only)
    }
}

/// Tells whether a folder has the name of a repository, perhaps with more behind it.
fn begins_with_name(folder: &str, name: &str) -> bool {
    let rest = folder.strip_prefix(name).filter(|_| !name.is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

impl SessionStore {
    /// Looks up again the repositories that are not certain. Returns the rows that changed.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub(super) fn correct_repos(
        &mut self,
        repos: &mut SessionRepos<'_>,
    ) -> Result<BTreeSet<u32>, SessionError> {
        let mut sessions = self.placed_sessions()?;
        if !sessions.iter().any(PlacedSession::is_uncertain) {
            return Ok(BTreeSet::new());
        }
        let certain = sessions.iter().filter(|session| !session.is_uncertain());
        let certain: BTreeSet<&String> =
            certain.filter_map(|session| session.repo.as_ref()).collect();
        let directories: BTreeSet<&String> =
            sessions.iter().filter_map(|session| session.facts.directory.as_ref()).collect();
        let directories: Vec<String> = directories.into_iter().cloned().collect();
        repos.know_also(
            certain.into_iter().filter_map(|repo| RepoKey::parse(repo).ok()),
            &directories,
        );
        let mut corrected = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let changes = changed_repos(&sessions, repos);
            if changes.is_empty() {
                break;
            }
            for (place, repo) in changes {
                if let Some(session) = sessions.get_mut(place) {
                    session.repo = Some(repo);
                    corrected.insert((session.row, place));
                }
            }
        }
        let error = self.error();
        let written = self.connection.transaction().and_then(|write| {
            for (row, place) in &corrected {
                let repo = sessions.get(*place).and_then(|session| session.repo.as_ref());
                write.execute("UPDATE session SET repo = ?2 WHERE id = ?1", params![row, repo])?;
            }
            write.commit()
        });
        written.map_err(error)?;
        Ok(corrected.into_iter().map(|(row, _)| row).collect())
    }

    fn placed_sessions(&self) -> Result<Vec<PlacedSession>, SessionError> {
        let query = "SELECT id, tool, native_id, facts, repo FROM session WHERE exchanges > 0";
        let session = |row: &Row<'_>| {
            let facts: String = row.get(3)?;
            Ok(PlacedSession {
                row: row.get(0)?,
                tool: row.get(1)?,
                native_id: row.get(2)?,
                facts: serde_json::from_str(&facts).unwrap_or_default(),
                repo: row.get(4)?,
            })
        };
        self.rows(query, params![], session)
    }
}

/// Returns the sessions whose repository is another one than they have, by their places.
fn changed_repos(sessions: &[PlacedSession], repos: &mut SessionRepos<'_>) -> Vec<(usize, String)> {
    let witnesses = Witnesses::of_sessions(sessions, &repos.repos);
    let uncertain = sessions.iter().enumerate().filter(|(_, session)| session.is_uncertain());
    let found = uncertain.filter_map(|(place, session)| {
        let own = repos.repo_of(&session.facts).map(|key| key.to_string());
        let known = || session.repo.clone().filter(|repo| repos.repos.is_settled(repo));
        let repo = own.or_else(known).or_else(|| witnesses.repo_of(session, &repos.repos))?;
        (session.repo.as_ref() != Some(&repo)).then_some((place, repo))
    });
    found.collect()
}

#[cfg(test)]
#[path = "removed_tree_tests.rs"]
mod removed_tree_tests;
