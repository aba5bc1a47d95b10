//! Corrects the repositories of sessions that were kept before: their work tree was removed, moved or got a remote since, or another session
//! of the same branch tells. Not here: the repository of one session (`repo_of_session`).

use std::collections::{BTreeSet, HashMap};

use event::RepoKey;
use rusqlite::{Row, params};
use transcripts::exchange::SessionFacts;

use super::repo_of_session::SessionRepos;
use super::session_store::{SessionError, SessionStore};

/// Branches that every repository has, which say nothing about one.
const COMMON_BRANCHES: [&str; 6] = ["main", "master", "develop", "dev", "trunk", "HEAD"];

/// A session whose repository is known by a path of this machine alone, or not at all.
struct UncertainSession {
    row: u32,
    tool: String,
    facts: SessionFacts,
    repo: Option<String>,
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
        let by_branch = self.repos_by_branch()?;
        let of_sessions = self.certain_repos()?;
        repos.know_also(of_sessions.iter().filter_map(|repo| RepoKey::parse(repo).ok()));
        let mut corrected = Vec::new();
        for session in self.uncertain_sessions()? {
            let UncertainSession { row, tool, facts, repo } = session;
            let by_directory = repos.repo_of(&facts);
            let is_certain = by_directory.as_ref().is_some_and(is_certain);
            let branch = facts.branch.clone().filter(|_| !is_certain && repo.is_some());
            let of_branch = branch.and_then(|branch| by_branch.get(&(tool, branch)).cloned());
            // A branch alone is no sign: its repository's name must stand in the path too.
            let of_branch = of_branch.flatten().filter(|repo| is_named_in(&facts, repo));
            let found = of_branch.or_else(|| by_directory.map(|key| key.to_string()));
            if found.is_some() && found != repo {
                corrected.push((row, found));
            }
        }
        let error = self.error();
        let written = self.connection.transaction().and_then(|write| {
            for (row, repo) in &corrected {
                write.execute("UPDATE session SET repo = ?2 WHERE id = ?1", params![row, repo])?;
            }
            write.commit()
        });
        written.map_err(error)?;
        Ok(corrected.into_iter().map(|(row, _)| row).collect())
    }

    fn uncertain_sessions(&self) -> Result<Vec<UncertainSession>, SessionError> {
        let query = "SELECT id, tool, facts, repo FROM session WHERE exchanges > 0 AND (repo IS NULL OR repo LIKE '%~%')";
        let session = |row: &Row<'_>| {
            let facts: String = row.get(2)?;
            let facts = serde_json::from_str(&facts).unwrap_or_default();
            Ok(UncertainSession { row: row.get(0)?, tool: row.get(1)?, facts, repo: row.get(3)? })
        };
        self.rows(query, params![], session)
    }

    /// Returns the repositories that are known by a remote.
    fn certain_repos(&self) -> Result<Vec<String>, SessionError> {
        let query =
            "SELECT DISTINCT repo FROM session WHERE repo IS NOT NULL AND repo NOT LIKE '%~%'";
        self.rows(query, params![], |row| row.get(0))
    }

    /// Returns the only certain repository of each branch that a tool worked on; nothing where several have it.
    fn repos_by_branch(&self) -> Result<HashMap<(String, String), Option<String>>, SessionError> {
        let query =
            "SELECT DISTINCT tool, json_extract(facts, '$.branch') AS branch, repo FROM session
            WHERE branch IS NOT NULL AND repo IS NOT NULL AND repo NOT LIKE '%~%'";
        let pair = |row: &Row<'_>| {
            Ok(((row.get::<_, String>(0)?, row.get::<_, String>(1)?), row.get::<_, String>(2)?))
        };
        let mut found: HashMap<_, Option<String>> = HashMap::new();
        for (key, repo) in self.rows(query, params![], pair)? {
            if !COMMON_BRANCHES.contains(&key.1.as_str()) {
                found.entry(key).and_modify(|known| *known = None).or_insert(Some(repo));
            }
        }
        Ok(found)
    }
}

/// Tells whether a key is that of a remote, which all machines know.
fn is_certain(key: &RepoKey) -> bool {
    !key.as_str().contains('~')
}

/// Tells whether a folder in the path of a session has the name of a repository, perhaps with more behind it.
fn is_named_in(facts: &SessionFacts, repo: &str) -> bool {
    let name = repo.rsplit('/').next().unwrap_or(repo);
    let mut folders = facts.directory.iter().flat_map(|path| path.split(['/', '\\']));
    folders.any(|folder| {
        let rest = folder.to_ascii_lowercase();
        let rest = rest.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    })
}
