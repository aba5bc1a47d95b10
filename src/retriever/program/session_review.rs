//! A person's answers to what past sessions may teach: what is accepted becomes a lesson, what is rejected is never offered
//! again. Not here: finding candidates (`sessions::candidate_rows`), how they are shown (`reply`).

use std::io::{BufRead, IsTerminal, Write};

use serde_json::json;

use super::agent_files::refused;
use super::sessions::opened;
use super::{Program, ResolvedSettings, unkept};
use crate::args::sessions::ReviewSessions;
use api::{ApiError, Reply};
use event::{Draft, IMPORTED, Problems, Timestamp};
use reply::{candidate_text, candidates_listed, short_fingerprint};
use sessions::candidate_rows::{CandidateAnswer, WaitingCandidate};
use sessions::session_store::SessionStore;
use store::Durability;
use writer::exit::Exit;
use writer::{Identity, Receipt, Writer};

/// The word that means every candidate.
const ALL: &str = "all";

/// Fewest characters of a name that are taken.
const NAME_CHARACTERS_MIN: usize = 4;

/// What a review does.
struct Review {
    kept: SessionStore,
    writer: Writer,
    now_ms: i64,
    moment: fn() -> writer::Moment,
}

impl Program<'_> {
    pub(super) fn review_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ReviewSessions,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        // Says so where nothing is kept; then adds the tables of this version.
        drop(opened(settled)?);
        let kept = SessionStore::create(&settled.sessions_dir).map_err(|error| unkept(&error))?;
        let waiting =
            kept.waiting_candidates(command.repo.as_deref()).map_err(|error| unkept(&error))?;
        let identity = Identity::from_environment(self.surroundings.lookup)
            .on(self.surroundings.host.as_deref());
        let writer = Writer {
            store: settled.store.clone(),
            config: settled.config.clone(),
            directory: self.surroundings.directory.clone(),
            identity,
        };
        let moment = self.surroundings.clock;
        let review = Review { kept, writer, now_ms: moment().now.as_millisecond(), moment };
        if !command.accept.is_empty() || !command.reject.is_empty() {
            return review.answer(&waiting, command);
        }
        let is_asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if is_asked && !command.form.json && !command.explain && !waiting.is_empty() {
            return review.ask(&waiting, messages);
        }
        let limit = command.limit as usize;
        let refused = command
            .explain
            .then(|| review.kept.refused_pairs(command.repo.as_deref(), limit))
            .transpose()
            .map_err(|error| unkept(&error))?;
        let shown = waiting.get(..limit).unwrap_or(&waiting);
        Ok(candidates_listed(shown, waiting.len(), refused.as_deref()))
    }
}

impl Review {
    /// Carries out the answers of the command line. All names are found before anything is written.
    fn answer(
        &self,
        waiting: &[WaitingCandidate],
        command: &ReviewSessions,
    ) -> Result<Reply, ApiError> {
        let accepted = named(waiting, &command.accept, "accept")?;
        let rejected = named(waiting, &command.reject, "reject")?;
        if command.text.is_some() && accepted.len() != 1 {
            let message = "is the lesson of one candidate; name one in --accept";
            return Err(ApiError::Invalid(Problems::one("text", message)));
        }
        if let Some(both) = accepted.iter().find(|one| rejected.contains(one)) {
            let name = short_fingerprint(&both.candidate.fingerprint);
            let message = format!("names {name}, which is also in --accept");
            return Err(ApiError::Invalid(Problems::one("reject", message)));
        }
        let mut lines = Vec::new();
        let mut saved = Vec::new();
        for waiting in &accepted {
            let receipt = self.accept(waiting, command.text.as_deref())?;
            lines.push(saved_line(&receipt));
            saved.push(json!({ "id": receipt.id.to_string(), "repo": receipt.repo.to_string(),
                "fingerprint": waiting.candidate.fingerprint }));
        }
        for waiting in &rejected {
            self.reject(waiting)?;
        }
        if !rejected.is_empty() {
            lines.push(format!("Rejected {}; not offered again.", rejected.len()));
        }
        let json = json!({ "saved": saved, "rejected": rejected.len() });
        Ok(Reply::new(lines.join("\n"), json))
    }

    /// Asks a person about each candidate.
    fn ask(
        &self,
        waiting: &[WaitingCandidate],
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let (mut saved, mut rejected) = (0_usize, 0_usize);
        for (number, each) in (1..).zip(waiting) {
            let text = candidate_text(each, true);
            tell(messages, &format!("\n{number} of {}: {text}\n", waiting.len()))?;
            let question = "Keep it? [y] yes, [n] never offer it again, [e] other words, [s] later, [q] quit: ";
            let Some(answer) = answered(messages, question)? else { break };
            match answer.as_str() {
                "y" | "yes" => {
                    tell(messages, &saved_line(&self.accept(each, None)?))?;
                    saved += 1;
                }
                "n" | "no" => {
                    self.reject(each)?;
                    rejected += 1;
                }
                "e" | "edit" => {
                    let words = answered(messages, "The lesson in your words: ")?;
                    if let Some(words) = words.filter(|words| !words.is_empty()) {
                        tell(messages, &saved_line(&self.accept(each, Some(&words))?))?;
                        saved += 1;
                    }
                }
                "q" | "quit" => break,
                _ => {}
            }
        }
        let left = waiting.len().saturating_sub(saved + rejected);
        let text = format!("{saved} saved, {rejected} rejected, {left} left.");
        Ok(Reply::new(text, json!({ "saved": saved, "rejected": rejected, "left": left })))
    }

    /// Saves a candidate. Its id is made of its fingerprint, so that a second try after a crash saves nothing twice.
    fn accept(&self, waiting: &WaitingCandidate, text: Option<&str>) -> Result<Receipt, ApiError> {
        let WaitingCandidate { candidate, session, .. } = waiting;
        let learned_ms = candidate.sightings.iter().filter_map(|seen| seen.at_ms).max();
        let learned = learned_ms.and_then(|at_ms| Timestamp::from_millisecond(at_ms).ok());
        let draft = Draft {
            id: Some(format!("past-{}", candidate.fingerprint)),
            timestamp: learned.map(|learned| learned.to_string()),
            agent_id: Some(session.tool.clone()),
            repo: session.repo.clone(),
            session_id: Some(session.native_id.clone()),
            source: Some(IMPORTED.to_owned()),
            lesson: text.map(str::to_owned).or_else(|| candidate.draft.lesson.clone()),
            ..candidate.draft.clone()
        };
        let receipt = self.writer.record(draft, (self.moment)(), Durability::Written);
        let receipt = receipt.map_err(|error| refused(&error))?;
        self.decide(waiting, CandidateAnswer::Accepted)?;
        Ok(receipt)
    }

    fn reject(&self, waiting: &WaitingCandidate) -> Result<(), ApiError> {
        self.decide(waiting, CandidateAnswer::Rejected)
    }

    fn decide(&self, waiting: &WaitingCandidate, answer: CandidateAnswer) -> Result<(), ApiError> {
        let fingerprint = &waiting.candidate.fingerprint;
        let decided = self.kept.answer_candidate(fingerprint, answer, self.now_ms);
        decided.map_err(|error| unkept(&error))
    }
}

/// Finds the candidates that were named.
fn named<'a>(
    waiting: &'a [WaitingCandidate],
    names: &[String],
    field: &str,
) -> Result<Vec<&'a WaitingCandidate>, ApiError> {
    let mut found: Vec<&WaitingCandidate> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if name == ALL {
            return Ok(waiting.iter().collect());
        }
        let fits = |waiting: &&WaitingCandidate| waiting.candidate.fingerprint.starts_with(name);
        let mut fitting = waiting.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(one), None) if name.len() >= NAME_CHARACTERS_MIN => {
                if !found.contains(&one) {
                    found.push(one);
                }
            }
            (one, other) => {
                let many = one.is_some() && other.is_some();
                let why =
                    if many { "means several candidates" } else { "names no candidate that waits" };
                let message = format!(
                    "{} {why}; give a name from agent-knowledge sessions review, such as fix1a2b3c4d, or all",
                    event::quoted(name)
                );
                return Err(ApiError::Invalid(Problems::one(field, message)));
            }
        }
    }
    Ok(found)
}

fn saved_line(receipt: &Receipt) -> String {
    let removed = receipt.redacted.message().map(|removed| format!("; {removed}"));
    format!("Saved {} in {}{}.", receipt.id, receipt.repo, removed.unwrap_or_default())
}

fn tell(messages: &mut dyn Write, text: &str) -> Result<(), ApiError> {
    writeln!(messages, "{text}").map_err(|error| unanswered(&error))
}

/// Asks one question. Nothing where the input has ended.
fn answered(messages: &mut dyn Write, question: &str) -> Result<Option<String>, ApiError> {
    let asked = write!(messages, "{question}").and_then(|()| messages.flush());
    asked.map_err(|error| unanswered(&error))?;
    let mut answer = String::new();
    let bytes = std::io::stdin().lock().read_line(&mut answer);
    let is_ended = bytes.map_err(|error| unanswered(&error))? == 0;
    Ok((!is_ended).then(|| answer.trim().to_owned()))
}

fn unanswered(error: &std::io::Error) -> ApiError {
    ApiError::Failed { exit: Exit::Io, message: format!("failed to ask: {error}") }
}
