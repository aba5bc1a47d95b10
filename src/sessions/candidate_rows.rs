//! The candidates for lessons in kept sessions that wait for a person's answer. Which sessions hold none is remembered, so
//! that a review reads few of them. Not here: what a candidate is (`candidates`, `remarks`), saving one (`retriever`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Row, params};

use super::candidate_gates::PairGates;
use super::candidates::{Candidate, candidates, command_pairs, merge_candidates};
use super::command_pair::CommandPair;
use super::remarks::remarks;
use super::session_rows::{KeptSession, SessionFilter};
use super::session_store::{SessionError, SessionStore};
use transcripts::exchange::{Exchange, PartKind};

/// The version of the rules that find candidates. A change to them makes every session count as not looked at.
const RULES: u32 = 1;

/// Most sessions that are looked at in one review, the latest first.
const SESSIONS_MAX: usize = 100_000;

/// A candidate that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingCandidate {
    /// What may be worth keeping.
    pub candidate: Candidate,
    /// The session in which it was found first.
    pub session: KeptSession,
    /// The question of the exchange in which it was found; empty if there is none.
    pub asked: String,
}

/// A pair of commands that the gates refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPair {
    /// The pair.
    pub pair: CommandPair,
    /// What spoke for and against it.
    pub gates: PairGates,
    /// Its session.
    pub session: KeptSession,
}

/// A person's answer to a candidate. An answer is kept for good, also when the session is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateAnswer {
    /// It was saved.
    Accepted,
    /// It must not be offered again.
    Rejected,
}

impl CandidateAnswer {
    fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

impl SessionStore {
    /// Returns the candidates that nobody has answered, of all repositories or of one: first those that unrelated sessions
    /// prove, then by their class, the latest first. Sessions in no repository give none.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn waiting_candidates(
        &self,
        repo: Option<&str>,
    ) -> Result<Vec<WaitingCandidate>, SessionError> {
        let roots = self.family_roots()?;
        let (newest, empty) = (self.newest_exchanges()?, self.sessions_without_candidates()?);
        let (mut found, mut homes) = (Vec::new(), HashMap::new());
        for session in self.sessions_with_repo(repo)? {
            let newest = newest.get(&session.row).copied().unwrap_or_default();
            if empty.get(&session.row) == Some(&newest) {
                continue;
            }
            let exchanges = self.whole_exchanges(session.row)?;
            let here = all_candidates(&session, &exchanges);
            if here.is_empty() {
                self.note_empty(session.row, newest)?;
            }
            for candidate in here {
                let asked = question_of(&candidate, &exchanges);
                let at = candidate.sightings.first().and_then(|seen| seen.at_ms);
                let home = homes.entry(candidate.fingerprint.clone());
                let first = home.or_insert_with(|| (at, session.clone(), asked.clone()));
                if at < first.0 {
                    *first = (at, session.clone(), asked);
                }
                found.push(candidate);
            }
        }
        let family = |id: &str| roots.get(id).cloned().unwrap_or_else(|| id.to_owned());
        let answered = self.answered()?;
        let mut waiting: Vec<_> = merge_candidates(found, &family)
            .into_iter()
            .filter(|candidate| !answered.contains(&candidate.fingerprint))
            .filter_map(|candidate| {
                let (_, session, asked) = homes.remove(&candidate.fingerprint)?;
                Some(WaitingCandidate { candidate, session, asked })
            })
            .collect();
        waiting.sort_by_key(|waiting| {
            let candidate = &waiting.candidate;
            let latest = candidate.sightings.iter().filter_map(|seen| seen.at_ms).max();
            (
                std::cmp::Reverse(candidate.proofs),
                candidate.class,
                std::cmp::Reverse(latest),
                candidate.fingerprint.clone(),
            )
        });
        Ok(waiting)
    }

    /// Returns pairs of commands that the gates refused, of the latest sessions, at most `limit`.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn refused_pairs(
        &self,
        repo: Option<&str>,
        limit: usize,
    ) -> Result<Vec<RefusedPair>, SessionError> {
        let mut refused = Vec::new();
        for session in self.sessions_with_repo(repo)? {
            for pair in command_pairs(&self.whole_exchanges(session.row)?) {
                let gates = PairGates::examine(&pair);
                if !gates.passes() {
                    refused.push(RefusedPair { pair, gates, session: session.clone() });
                }
                if refused.len() >= limit {
                    return Ok(refused);
                }
            }
        }
        Ok(refused)
    }

    /// Keeps a person's answer to a candidate.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn answer_candidate(
        &self,
        fingerprint: &str,
        answer: CandidateAnswer,
        now_ms: i64,
    ) -> Result<(), SessionError> {
        self.decide(fingerprint, answer.name(), now_ms)
    }

    fn sessions_with_repo(&self, repo: Option<&str>) -> Result<Vec<KeptSession>, SessionError> {
        let repo = repo.map(str::to_owned);
        let filter = SessionFilter { repo, is_with_programs: true, ..SessionFilter::default() };
        let mut sessions = self.sessions(&filter, 0, SESSIONS_MAX)?;
        sessions.retain(|session| session.repo.is_some());
        Ok(sessions)
    }

    fn whole_exchanges(&self, row: u32) -> Result<Vec<Exchange>, SessionError> {
        Ok(self.exchanges_of(row)?.into_iter().map(|kept| kept.exchange).collect())
    }

    /// Returns the session that each session is a part or a copy of, in the end, by their ids.
    fn family_roots(&self) -> Result<HashMap<String, String>, SessionError> {
        let query = "SELECT s.native_id, coalesce(s.parent, o.native_id) FROM session s
            LEFT JOIN session o ON o.id = s.fork_of";
        let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?));
        let parents: BTreeMap<String, Option<String>> =
            self.rows(query, params![], row)?.into_iter().collect();
        let root = |id: &str| {
            let (mut root, mut passed) = (id, BTreeSet::new());
            // A damaged database may hold a circle.
            while let Some(Some(parent)) = parents.get(root)
                && passed.insert(root)
            {
                root = parent;
            }
            root.to_owned()
        };
        Ok(parents.keys().map(|id| (id.clone(), root(id))).collect())
    }

    fn newest_exchanges(&self) -> Result<HashMap<u32, u32>, SessionError> {
        let query = "SELECT session, max(id) FROM exchange GROUP BY session";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.rows(query, params![], row)?.into_iter().collect())
    }

    fn sessions_without_candidates(&self) -> Result<HashMap<u32, u32>, SessionError> {
        let query = "SELECT session, newest FROM without_candidates WHERE rules = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.rows(query, params![RULES], row)?.into_iter().collect())
    }

    fn note_empty(&self, session: u32, newest: u32) -> Result<(), SessionError> {
        let query = "INSERT INTO without_candidates VALUES (?1, ?2, ?3)
            ON CONFLICT(session) DO UPDATE SET rules = excluded.rules, newest = excluded.newest";
        let values = params![session, RULES, newest];
        self.connection.execute(query, values).map_err(self.error())?;
        Ok(())
    }

    fn answered(&self) -> Result<BTreeSet<String>, SessionError> {
        let row = |row: &Row<'_>| row.get(0);
        Ok(self.rows("SELECT fingerprint FROM decision", params![], row)?.into_iter().collect())
    }
}

/// Finds what a session may teach. What a program asked is no remark of a person.
fn all_candidates(session: &KeptSession, exchanges: &[Exchange]) -> Vec<Candidate> {
    let mut found = candidates(&session.native_id, exchanges);
    if !session.facts.is_by_program && session.facts.parent.is_none() {
        found.extend(remarks(&session.native_id, exchanges));
    }
    found
}

fn question_of(candidate: &Candidate, exchanges: &[Exchange]) -> String {
    let ordinal = candidate.sightings.first().map(|seen| seen.ordinal);
    let exchange = exchanges.iter().find(|exchange| Some(exchange.ordinal) == ordinal);
    let parts = exchange.into_iter().flat_map(|exchange| &exchange.parts);
    let mut asked = parts.filter_map(|part| match &part.what {
        PartKind::Asked(text) => Some(text.clone()),
        _ => None,
    });
    asked.next().unwrap_or_default()
}
