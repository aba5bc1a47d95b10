//! A person's answers to what past sessions may teach: what is accepted becomes a lesson, what is rejected is never offered
//! again. Not here: finding candidates (`sessions::candidate_rows`), how they are shown (`reply`), the drafts of a language
//! model (`drafts`).

use std::io::{BufRead, IsTerminal, Write};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::args::output_format::OutputFormat;
use crate::args::whole_number::whole_number;
use crate::commands::sessions::drafts::{DraftsReport, LessonDrafter, SiftedCandidates};
use crate::commands::sessions::names::{kept_repo, leaves_out, open_session_store};
use crate::program::Program;
use event::{Draft, IMPORTED, Problems, Timestamp};
use reply::{candidate_text, candidates_listed, short_fingerprint};
use requests::{ApiError, Reply};
use retriever::failure::{session_store_error, write_error};
use retriever::resolved_settings::ResolvedSettings;
use sessions::candidate_rows::{CandidateAnswer, WaitingCandidate};
use sessions::lesson_draft::LessonDraft;
use sessions::session_store::SessionStore;
use store::Durability;
use writer::exit::Exit;
use writer::{Identity, Receipt, Writer};

/// The word that means every candidate.
const ALL: &str = "all";

/// Fewest characters of a name that are taken.
const NAME_CHARACTERS_MIN: usize = 4;

/// What a person is asked about a candidate, and about one for which a model wrote no lesson.
const QUESTION: &str =
    "Keep it? [y] yes, [n] never offer it again, [e] other words, [s] later, [q] quit: ";
const QUESTION_WITHOUT_LESSON: &str =
    "[n] never offer it again, [e] your own words, [s] later, [q] quit: ";

/// What a review does.
struct Review<'a> {
    session_store: SessionStore,
    writer: Writer,
    now_ms: i64,
    moment: fn() -> writer::Moment,
    drafting: Option<LessonDrafter<'a>>,
}

const REVIEW_HELP: &str = "\
A candidate is a command that failed and what worked then, or what you told an agent about how
things are done. On a terminal you are asked about each; otherwise they are listed. Those that
several unrelated sessions show come first. A rejected one is never offered again.

  agent-knowledge sessions review --accept fix1a2b3c4d --text \"Say it in other words\"

With --draft the language model of [judge] gets the error, the commands and the question of each,
and writes the lesson or says that there is nothing to learn, as of most. What it throws out waits
on. It is asked about at most --limit candidates, and never without --draft.

  agent-knowledge sessions review --draft
  agent-knowledge sessions review --draft --accept fix1a2b3c4d";

/// `sessions review`.
#[derive(Debug, Args)]
#[command(after_help = REVIEW_HELP)]
pub struct ReviewSessions {
    /// Save these as lessons of their repositories: their names, separated by commas, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// Never offer these again: their names, separated by commas, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub reject: Vec<String>,
    /// The lesson in your words, with one name in --accept
    #[arg(long, value_name = "TEXT", requires = "accept", conflicts_with = "draft")]
    pub text: Option<String>,
    /// Ask the configured language model for the lesson of each (needs `[judge]` in the configuration)
    #[arg(long)]
    pub draft: bool,
    /// Also show what speaks for each, and pairs of commands that were refused, with the reason
    #[arg(long)]
    pub explain: bool,
    /// Only of this repository, by its key
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Candidates that are shown, and about which a model is asked, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole_number::<u32>(1..=1_000, 10))]
    pub limit: u32,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// What was done with candidates.
#[derive(Serialize)]
struct ReviewReport {
    saved: Vec<SavedCandidate>,
    rejected: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    drafted: Option<DraftsReport>,
}

/// A candidate that was saved as a memory.
#[derive(Serialize)]
struct SavedCandidate {
    id: String,
    repo: String,
    fingerprint: String,
}

impl Program<'_> {
    pub(crate) fn review_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ReviewSessions,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let limit = command.limit as usize;
        let drafting = command
            .draft
            .then(|| LessonDrafter::configured(&settled.config, self.surroundings.lookup, limit));
        let drafting = drafting.transpose()?;
        // Says so where nothing is kept; then adds the tables of this version.
        drop(open_session_store(settled)?);
        let session_store = SessionStore::create(&settled.sessions_dir)
            .map_err(|error| session_store_error(&error))?;
        let from = self.surroundings.directory.path();
        let named = command.repo.as_deref();
        let repo = named.map(|name| kept_repo(&session_store, settled, from, name));
        let repo = repo.transpose()?.flatten();
        let mut waiting = session_store
            .waiting_candidates(repo.as_deref())
            .map_err(|error| session_store_error(&error))?;
        let policy = &settled.config.sessions;
        waiting.retain(|waiting| !leaves_out(policy, &waiting.session));
        let identity = Identity::from_environment(
            self.surroundings.lookup,
            self.surroundings.directory.path(),
        )
        .with_host(self.surroundings.host.as_deref());
        let writer = Writer {
            store: settled.store.clone(),
            config: settled.config.clone(),
            directory: self.working_directory().unwrap_or_default(),
            identity,
        };
        let moment = self.surroundings.clock;
        let now_ms = moment().now.as_millisecond();
        let review = Review { session_store, writer, now_ms, moment, drafting };
        if !command.accept.is_empty() || !command.reject.is_empty() {
            return review.carry_out_answers(&waiting, command);
        }
        let is_asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if is_asked && !command.form.json && !command.explain && !waiting.is_empty() {
            return review.ask_person(&waiting, messages);
        }
        let mut refused = command
            .explain
            .then(|| review.session_store.refused_pairs(repo.as_deref(), limit))
            .transpose()
            .map_err(|error| session_store_error(&error))?;
        if let Some(refused) = &mut refused {
            refused.retain(|pair| !leaves_out(policy, &pair.session));
        }
        let shown = waiting.get(..limit).unwrap_or(&waiting);
        let drafts =
            review.drafting.as_ref().map(|drafting| drafting.draft_each(shown)).transpose()?;
        Ok(candidates_listed(shown, waiting.len(), refused.as_deref(), drafts.as_deref()))
    }
}

impl Review<'_> {
    /// Carries out the answers of the command line. All names are found before anything is written.
    fn carry_out_answers(
        &self,
        waiting: &[WaitingCandidate],
        command: &ReviewSessions,
    ) -> Result<Reply, ApiError> {
        let accepted = named_candidates(waiting, &command.accept, "accept")?;
        let rejected = named_candidates(waiting, &command.reject, "reject")?;
        if command.text.is_some() && accepted.len() != 1 {
            let message = "is the lesson of one candidate; name one in --accept";
            return Err(ApiError::Invalid(Problems::one("text", message)));
        }
        if let Some(both) = accepted.iter().find(|candidate| rejected.contains(candidate)) {
            let name = short_fingerprint(&both.candidate.fingerprint);
            let message = format!("names {name}, which is also in --accept");
            return Err(ApiError::Invalid(Problems::one("reject", message)));
        }
        if self.drafting.is_some() && accepted.is_empty() {
            let message = "asks about what is listed or accepted; leave it out with --reject alone";
            return Err(ApiError::Invalid(Problems::one("draft", message)));
        }
        // The model is asked about all before the first is saved: if it fails, nothing has changed.
        let sifted = self.drafting.as_ref().map(|drafting| drafting.sift(&accepted)).transpose()?;
        let chosen: Vec<(&WaitingCandidate, Option<&str>)> = match &sifted {
            None => {
                accepted.iter().map(|candidate| (*candidate, command.text.as_deref())).collect()
            }
            Some(sifted) => {
                sifted.written().map(|(candidate, text)| (candidate, Some(text))).collect()
            }
        };
        let mut lines = Vec::new();
        let mut saved = Vec::new();
        for (waiting, text) in chosen {
            let receipt = self.accept(waiting, text)?;
            lines.push(saved_line(&receipt));
            saved.push(SavedCandidate {
                id: receipt.id.to_string(),
                repo: receipt.repo.to_string(),
                fingerprint: waiting.candidate.fingerprint.clone(),
            });
        }
        for waiting in &rejected {
            self.reject(waiting)?;
        }
        if !rejected.is_empty() {
            lines.push(format!("Rejected {}; not offered again.", rejected.len()));
        }
        lines.extend(sifted.as_ref().map(SiftedCandidates::text));
        let drafted = sifted.as_ref().map(SiftedCandidates::report);
        let report = ReviewReport { saved, rejected: rejected.len(), drafted };
        Ok(Reply::with_text(lines.join("\n"), &report))
    }

    /// Asks a person about each candidate, with the help of a model only about as many as it may be asked about.
    fn ask_person(
        &self,
        waiting: &[WaitingCandidate],
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let limit = self.drafting.as_ref().map_or(usize::MAX, LessonDrafter::limit);
        let shown = waiting.get(..limit).unwrap_or(waiting);
        let (mut saved, mut rejected) = (0_usize, 0_usize);
        for (number, candidate) in (1..).zip(shown) {
            let draft = self.drafting.as_ref().map(|drafting| {
                print_line(
                    messages,
                    &format!("\nAsking the model about {number} of {}.", shown.len()),
                )?;
                drafting.draft(candidate)
            });
            let draft = draft.transpose()?;
            let text = candidate_text(candidate, true, draft.as_ref());
            print_line(messages, &format!("\n{number} of {}: {text}\n", shown.len()))?;
            // What is shown is what is saved.
            let lesson = match &draft {
                None => Some(None),
                Some(LessonDraft::Written(lesson)) => Some(Some(lesson.as_str())),
                Some(LessonDraft::Nothing(_) | LessonDraft::Refused(_)) => None,
            };
            let question = if lesson.is_some() { QUESTION } else { QUESTION_WITHOUT_LESSON };
            let Some(answer) = ask_line(messages, question)? else { break };
            match (answer.as_str(), lesson) {
                ("y" | "yes", Some(lesson)) => {
                    print_line(messages, &saved_line(&self.accept(candidate, lesson)?))?;
                    saved += 1;
                }
                ("y" | "yes", None) => {
                    print_line(
                        messages,
                        "There is no draft to save; the candidate keeps waiting.",
                    )?;
                }
                ("n" | "no", _) => {
                    self.reject(candidate)?;
                    rejected += 1;
                }
                ("e" | "edit", _) => {
                    let words = ask_line(messages, "The lesson in your words: ")?;
                    if let Some(words) = words.filter(|words| !words.is_empty()) {
                        print_line(messages, &saved_line(&self.accept(candidate, Some(&words))?))?;
                        saved += 1;
                    }
                }
                ("q" | "quit", _) => break,
                _ => {}
            }
        }
        let unanswered = waiting.len().saturating_sub(saved + rejected);
        let text = format!("{saved} saved, {rejected} rejected, {unanswered} left.");
        Ok(Reply::new(text, json!({ "saved": saved, "rejected": rejected, "left": unanswered })))
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
        let receipt = receipt.map_err(|error| write_error(&error))?;
        self.decide(waiting, CandidateAnswer::Accepted)?;
        Ok(receipt)
    }

    fn reject(&self, waiting: &WaitingCandidate) -> Result<(), ApiError> {
        self.decide(waiting, CandidateAnswer::Rejected)
    }

    fn decide(&self, waiting: &WaitingCandidate, answer: CandidateAnswer) -> Result<(), ApiError> {
        let fingerprint = &waiting.candidate.fingerprint;
        let decided = self.session_store.answer_candidate(fingerprint, answer, self.now_ms);
        decided.map_err(|error| session_store_error(&error))
    }
}

/// Finds the candidates that were named.
fn named_candidates<'a>(
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

fn print_line(messages: &mut dyn Write, text: &str) -> Result<(), ApiError> {
    writeln!(messages, "{text}").map_err(|error| terminal_error(&error))
}

/// Asks one question. Nothing where the input has ended.
fn ask_line(messages: &mut dyn Write, question: &str) -> Result<Option<String>, ApiError> {
    let written = write!(messages, "{question}").and_then(|()| messages.flush());
    written.map_err(|error| terminal_error(&error))?;
    let mut answer = String::new();
    let bytes = std::io::stdin().lock().read_line(&mut answer);
    let is_ended = bytes.map_err(|error| terminal_error(&error))? == 0;
    Ok((!is_ended).then(|| answer.trim().to_owned()))
}

fn terminal_error(error: &std::io::Error) -> ApiError {
    ApiError::Failed { exit: Exit::Io, message: format!("failed to ask: {error}") }
}
