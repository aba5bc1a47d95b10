//! Corrects the repositories of sessions that were kept before: their work tree was removed, moved or got a remote since, or other sessions
//! tell: that of the same directory, the one that started it, those of the same branch. Not here: the repository of one session
//! (`repo_of_session`), what the files of repositories say (`machine_repos`).

use std::collections::{BTreeSet, HashMap};

use event::RepoKey;
use rusqlite::{Row, params};
use transcripts::exchange::SessionFacts;

use super::machine_repos::{MachineRepos, dashed, is_own_branch, repeats_branch};
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
    repo: Option<RepoKey>,
}

/// What the sessions whose repository is known say about others.
#[derive(Default)]
struct Witnesses {
    /// By directory and branch; without a branch, what recorded remotes say.
    by_directory: HashMap<(String, Option<String>), Option<RepoKey>>,
    by_id: HashMap<(String, String), RepoKey>,
    by_branch: HashMap<String, BTreeSet<RepoKey>>,
}

impl PlacedSession {
    /// Tells whether later knowledge may change its repository.
    fn is_uncertain(&self) -> bool {
        self.repo.as_ref().is_none_or(RepoKey::is_of_one_machine)
    }
}

impl Witnesses {
    fn of_sessions(sessions: &[PlacedSession], repos: &MachineRepos) -> Self {
        let mut found = Self::default();
        for session in sessions {
            let Some(repo) = session.repo.as_ref().filter(|repo| repos.is_settled(repo)) else {
                continue;
            };
            found.add_directory(&session.facts, repo);
            if let Some(branch) =
                session.facts.branch.as_ref().filter(|branch| is_own_branch(branch))
            {
                found.by_branch.entry(branch.clone()).or_default().insert(repo.clone());
            }
            found.by_id.insert((session.tool.clone(), session.native_id.clone()), repo.clone());
        }
        found
    }

    /// Several tasks may be done in one folder, so only those of the same branch count, unless the records name the remote.
    fn add_directory(&mut self, facts: &SessionFacts, repo: &RepoKey) {
        let Some(directory) = &facts.directory else { return };
        let remote = facts.remote.as_ref().map(|_| None);
        for branch in remote.into_iter().chain(facts.branch.clone().map(Some)) {
            let place = (directory.clone(), branch);
            let known = self.by_directory.entry(place).or_insert_with(|| Some(repo.clone()));
            // A directory in which another repository was made later says nothing.
            if known.as_ref() != Some(repo) {
                *known = None;
            }
        }
    }

    /// Returns what the other sessions say about one: that of the same directory, that which started it or which it copies, and the only
    /// repository with its branch, if a folder in its path is called after the repository or the branch.
    fn repo_of(&self, session: &PlacedSession, repos: &MachineRepos) -> Option<RepoKey> {
        let facts = &session.facts;
        let places = [None].into_iter().chain(facts.branch.clone().map(Some));
        let mut places = places.filter_map(|branch| Some((facts.directory.clone()?, branch)));
        let of_directory =
            places.find_map(|place| self.by_directory.get(&place).cloned().flatten());
        let relatives = [&facts.parent, &facts.fork_of].into_iter().flatten();
        let mut relatives =
            relatives.filter_map(|id| self.by_id.get(&(session.tool.clone(), id.clone())).cloned());
        of_directory.or_else(|| relatives.next()).or_else(|| self.repo_of_branch(facts, repos))
    }

    fn repo_of_branch(&self, facts: &SessionFacts, repos: &MachineRepos) -> Option<RepoKey> {
        let branch = facts.branch.as_deref().filter(|branch| is_own_branch(branch))?;
        let mut found = self.by_branch.get(branch).cloned().unwrap_or_default();
        found.extend(repos.with_branch(branch).map(|repo| repo.key.clone()));
        let only = found.pop_first().filter(|_| found.is_empty())?;
        is_named_in(facts, &only, branch, repos).then_some(only)
    }
}

/// Tells whether a folder in the path of a session is called after its branch, or has the name of a repository, perhaps with more behind
/// it.
fn is_named_in(facts: &SessionFacts, repo: &RepoKey, branch: &str, repos: &MachineRepos) -> bool {
    let mut folders = facts.directory.iter().flat_map(|path| path.split(['/', '\\'])).map(dashed);
    folders.any(|folder| {
        let begins_with = |name: &str| {
            let rest = folder.strip_prefix(&dashed(name)).filter(|_| !name.is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        repeats_branch(&folder, branch)
            || begins_with(repo.short_name())
            || repos.folders(repo).any(begins_with)
    })
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
        let certain: BTreeSet<&RepoKey> =
            certain.filter_map(|session| session.repo.as_ref()).collect();
        let directories: BTreeSet<&String> =
            sessions.iter().filter_map(|session| session.facts.directory.as_ref()).collect();
        let directories: Vec<String> = directories.into_iter().cloned().collect();
        repos.know_also(certain.into_iter().cloned(), &directories);
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
                let repo = repo.map(RepoKey::as_str);
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
            let (facts, repo): (String, Option<String>) = (row.get(3)?, row.get(4)?);
            Ok(PlacedSession {
                row: row.get(0)?,
                tool: row.get(1)?,
                native_id: row.get(2)?,
                facts: serde_json::from_str(&facts).unwrap_or_default(),
                repo: repo.and_then(|repo| RepoKey::parse(&repo).ok()),
            })
        };
        self.rows(query, params![], session)
    }
}

/// Returns the sessions whose repository is another one than they have, by their places.
fn changed_repos(
    sessions: &[PlacedSession],
    repos: &mut SessionRepos<'_>,
) -> Vec<(usize, RepoKey)> {
    let witnesses = Witnesses::of_sessions(sessions, &repos.repos);
    let uncertain = sessions.iter().enumerate().filter(|(_, session)| session.is_uncertain());
    let found = uncertain.filter_map(|(place, session)| {
        let own = repos.repo_of(&session.facts);
        let known = || session.repo.clone().filter(|repo| repos.repos.is_settled(repo));
        let repo = own.or_else(known).or_else(|| witnesses.repo_of(session, &repos.repos))?;
        (session.repo.as_ref() != Some(&repo)).then_some((place, repo))
    });
    found.collect()
}
