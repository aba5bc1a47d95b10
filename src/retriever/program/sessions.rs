//! The commands about past sessions of other tools: where transcripts are, whether they may be read, and what is kept. Not
//! here: reading them (`sessions`), the words of an answer (`reply`), searching them (`api`).

use std::io::{IsTerminal, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::asking::{Usual, asked};
use super::session_consent::{YES, consent, run_import};
use super::{GlobalOptions, Program, ResolvedSettings, failed, unkept};
use crate::args::sessions::{ForgetSessions, ImportSessions, ListSessions, Sessions, ShowSession};
use crate::cli::{Need, Wiring};
use api::{ApiError, Point, Reply, SessionSearchRequest, Shape};
use event::Problems;
use reply::{ReplayStep, Shown};
use sessions::import_scope::ImportScope;
use sessions::readers::READERS;
use sessions::session_digest::SessionDigest;
use sessions::session_import::ImportPlan;
use sessions::session_rows::{KeptSession, SessionFilter};
use sessions::session_store::SessionStore;
use sessions::session_writes::Forgotten;
use sessions::source::Places;
use store::{PlatformDirs, SessionPolicy, StoreError};
use writer::exit::Exit;

/// Adds roots of transcripts.
const ROOTS: &str = "AGENT_KNOWLEDGE_SESSION_ROOTS";

/// Longest pause of a replay, in milliseconds.
const PAUSE_MS_MAX: u64 = 2_000;

/// Sessions that an ambiguous id names in its error.
const NAMED_MAX: usize = 5;

impl Program<'_> {
    pub(super) fn past_sessions(
        &mut self,
        settings: &GlobalOptions,
        command: Sessions,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let settled = self.settle(settings)?;
        let done = |reply| Ok((Exit::Done, reply));
        match command {
            Sessions::Search(command) => {
                let request: SessionSearchRequest = command.arguments.read()?;
                let shape = if command.form.json { Shape::Whole } else { Shape::Words };
                let request = SessionSearchRequest { shape, ..request };
                done(self.open(settings, Need::Words)?.search_sessions(&request)?)
            }
            Sessions::Import(command) => done(self.import_sessions(&settled, &command, messages)?),
            Sessions::List(command) => done(self.list_sessions(&settled, &command)?),
            Sessions::Show(command) => done(self.show_session(&settled, &command)?),
            Sessions::Summary(command) => {
                let (kept, session) = shown_session(&settled, &command.id)?;
                let exchanges = kept.exchanges_of(session.row).map_err(|error| unkept(&error))?;
                let exchanges: Vec<_> = exchanges.into_iter().map(|kept| kept.exchange).collect();
                done(reply::session_summary(&session, &SessionDigest::of(&exchanges)))
            }
            Sessions::Review(command) => done(self.review_sessions(&settled, &command, messages)?),
            Sessions::Check(_) => {
                let kept =
                    SessionStore::open(&settled.sessions_dir).map_err(|error| unkept(&error))?;
                let tables =
                    kept.as_ref().map(|kept| Ok((kept.extents()?, kept.censuses()?))).transpose();
                let (extents, censuses) =
                    tables.map_err(|error| unkept(&error))?.unwrap_or_default();
                let (reply, is_wrong) = reply::sessions_checked(&extents, &censuses);
                Ok((if is_wrong { Exit::NotFound } else { Exit::Done }, reply))
            }
            Sessions::Forget(command) => done(self.forget_sessions(&settled, &command)?),
        }
    }

    fn import_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ImportSessions,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let scope = ImportScope {
            tools: known_tools(&command.tool)?,
            ..self.session_scope(settled, &command.root)?
        };
        let kept = SessionStore::open(&settled.sessions_dir).map_err(|error| unkept(&error))?;
        let is_allowed = consent(kept.as_ref())?.as_deref() == Some(YES);
        let plan = self.session_plan(kept.as_ref(), scope)?;
        let planned = reply::import_planned(&plan.tools, is_allowed);
        if command.dry_run {
            return Ok(planned);
        }
        let is_answered = is_allowed || command.yes;
        let is_asked = !is_answered && !command.form.json && !plan.is_empty();
        let is_yes = is_answered
            || is_asked && asked(&planned.text, "Read them?", Usual::No, messages)? == Some(true);
        if !is_yes {
            return Ok(planned);
        }
        drop(kept);
        run_import(settled, plan, (self.surroundings.clock)().now.as_millisecond())
    }

    /// Looks for what is new. Nothing is opened that was never read.
    pub(super) fn session_plan(
        &self,
        kept: Option<&SessionStore>,
        scope: ImportScope,
    ) -> Result<ImportPlan, ApiError> {
        let dirs = PlatformDirs::of_platform().ok_or_else(|| failed(&StoreError::NoPlace))?;
        let places = Places {
            home: dirs.home,
            data: dirs.data_of_all,
            config: dirs.config_of_all,
            work_trees: vec![
                store::DetectedRepo::of_directory(&self.surroundings.directory).top().to_owned(),
            ],
            lookup: self.surroundings.lookup,
        };
        ImportPlan::make(READERS, &places, kept, scope).map_err(|error| unkept(&error))
    }

    /// Returns what the settings and the command line allow to be read.
    pub(super) fn session_scope(
        &self,
        settled: &ResolvedSettings,
        roots: &[String],
    ) -> Result<ImportScope, ApiError> {
        let policy = settled.config.sessions.clone();
        let set = (self.surroundings.lookup)(ROOTS).unwrap_or_default();
        let set: Vec<PathBuf> =
            std::env::split_paths(&set).filter(|root| !root.as_os_str().is_empty()).collect();
        let set = set.iter().map(|root| root.to_string_lossy().into_owned());
        let roots: Result<Vec<_>, _> =
            roots.iter().cloned().chain(set).map(|root| root_of(&root)).collect();
        Ok(ImportScope {
            tools: Vec::new(),
            roots: roots?,
            without_tools: policy.without_tools,
            without_paths: policy.without_paths,
            without_repos: policy.without_repos,
            is_with_private: policy.is_with_private,
        })
    }

    fn list_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ListSessions,
    ) -> Result<Reply, ApiError> {
        let Some(kept) =
            SessionStore::open(&settled.sessions_dir).map_err(|error| unkept(&error))?
        else {
            return Ok(reply::session_list(&[], 0, false));
        };
        let filter = SessionFilter {
            tool: command.tool.clone(),
            repo: command.repo.clone(),
            since_ms: command
                .since
                .as_deref()
                .map(|since| self.time_ms("since", since))
                .transpose()?,
            is_with_programs: command.all,
        };
        let limit = command.limit as usize;
        let skip = limit.saturating_mul(command.page.saturating_sub(1) as usize);
        let policy = &settled.config.sessions;
        let may_show = |session: &KeptSession| !leaves_out(policy, session);
        let page = kept.page_of_sessions(&filter, may_show, (skip, limit));
        let (sessions, is_more) = page.map_err(|error| unkept(&error))?;
        Ok(reply::session_list(&sessions, skip, is_more))
    }

    fn show_session(
        &self,
        settled: &ResolvedSettings,
        command: &ShowSession,
    ) -> Result<Reply, ApiError> {
        let (kept, session) = shown_session(settled, &command.id)?;
        let exchanges = kept.exchanges_of(session.row).map_err(|error| unkept(&error))?;
        let shown = Shown { around: command.around, is_with_tools: command.tools };
        if !command.replay {
            return Ok(reply::session_transcript(&session, &exchanges, shown));
        }
        let steps = reply::replay_steps(&exchanges, shown);
        let count = format!("{} steps", steps.len());
        let json = json!({ "steps": steps.len() });
        // A pipe or a file wants all of it at once.
        if !std::io::stdout().is_terminal() {
            let steps: String =
                steps.iter().map(|step| format!("{}\n", step.text.trim_end())).collect();
            return Ok(Reply::new(format!("{steps}{count}"), json));
        }
        replay(&steps, command.speed, &mut std::io::stdout().lock()).map_err(|error| {
            let message = format!("failed to write: {error}");
            ApiError::Failed { exit: Exit::Io, message }
        })?;
        Ok(Reply::new(count, json))
    }

    fn forget_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ForgetSessions,
    ) -> Result<Reply, ApiError> {
        let now_ms = (self.surroundings.clock)().now.as_millisecond();
        let (mut kept, what) = match (&command.before, &command.what) {
            (Some(before), _) => {
                (opened(settled)?, Forgotten::Before(self.time_ms("before", before)?))
            }
            (None, what) => self.named_to_forget(settled, what.as_deref().unwrap_or_default())?,
        };
        let forgotten = kept.forget(&what, now_ms).map_err(|error| unkept(&error))?;
        let text = match (&what, forgotten) {
            (Forgotten::Path(path), 0) => format!(
                "Nothing is kept of sessions that began in {path}, and nothing of them will be read."
            ),
            (_, 0) => "Nothing is kept of sessions that ended before that, and nothing of them will be read.".to_owned(),
            _ => {
                let noun = if forgotten == 1 { "session" } else { "sessions" };
                format!("Forgot {forgotten} {noun}. The transcripts stay where they are, and are not read again.")
            }
        };
        Ok(Reply::new(text, json!({ "forgotten": forgotten })))
    }

    /// Finds what an id or a directory means. A word is an id first: only if no session has it, it may name a directory.
    fn named_to_forget(
        &self,
        settled: &ResolvedSettings,
        what: &str,
    ) -> Result<(SessionStore, Forgotten), ApiError> {
        let path = without_dots(&self.surroundings.directory.join(what));
        let kept = opened(settled)?;
        let named = kept.sessions_named(what.trim(), 1).map_err(|error| unkept(&error))?;
        let is_path = what.contains(['/', '\\']) || [".", ".."].contains(&what);
        if is_path || named.is_empty() && !what.is_empty() && path.is_dir() {
            return Ok((kept, Forgotten::Path(path.to_string_lossy().into_owned())));
        }
        let (kept, session) = found_session(settled, what)?;
        Ok((kept, Forgotten::Session(session.row)))
    }

    fn time_ms(&self, field: &str, text: &str) -> Result<i64, ApiError> {
        let point = Point::parse(text).ok_or_else(|| {
            let message = format!(
                "must be a time, a day or an age, such as 2026-03-01 or 30d; got {}",
                event::quoted(text)
            );
            ApiError::Invalid(Problems::one(field, message))
        })?;
        Ok(point.first((self.surroundings.clock)().now).as_millisecond())
    }
}

/// Shows the steps of a session one after the other, with the pauses between them.
#[expect(clippy::disallowed_methods, reason = "a replay lets time pass on purpose")]
fn replay(steps: &[ReplayStep], speed: u32, to: &mut dyn Write) -> std::io::Result<()> {
    steps.iter().try_for_each(|step| {
        let pause = step.pause_ms / u64::from(speed.max(1));
        std::thread::sleep(Duration::from_millis(pause.min(PAUSE_MS_MAX)));
        writeln!(to, "{}", step.text.trim_end())?;
        to.flush()
    })
}

pub(super) fn opened(settled: &ResolvedSettings) -> Result<SessionStore, ApiError> {
    let kept = SessionStore::open(&settled.sessions_dir).map_err(|error| unkept(&error))?;
    let none =
        "no past sessions are kept; agent-knowledge sessions import shows what is on this disk";
    kept.ok_or_else(|| ApiError::NotFound(none.to_owned()))
}

/// Tells whether the settings leave out a session.
pub(super) fn leaves_out(policy: &SessionPolicy, session: &KeptSession) -> bool {
    policy.leaves_out(&session.tool, session.repo.as_deref(), session.facts.directory.as_deref())
}

/// Resolves `.` and `..` by the names alone: the directory of a session may be gone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            named => plain.push(named),
        }
    }
    plain
}

/// Finds a session that may be shown.
fn shown_session(
    settled: &ResolvedSettings,
    id: &str,
) -> Result<(SessionStore, KeptSession), ApiError> {
    let (kept, session) = found_session(settled, id)?;
    if leaves_out(&settled.config.sessions, &session) {
        let message = format!(
            "the session {} is left out by [sessions] of the configuration",
            event::quoted(id)
        );
        return Err(ApiError::NotFound(message));
    }
    Ok((kept, session))
}

/// Finds the one session that an id means.
fn found_session(
    settled: &ResolvedSettings,
    id: &str,
) -> Result<(SessionStore, KeptSession), ApiError> {
    let kept = opened(settled)?;
    let mut found = kept.sessions_named(id.trim(), NAMED_MAX).map_err(|error| unkept(&error))?;
    match found.len() {
        1 => {}
        0 => {
            let message = format!(
                "no past session has the id {}; agent-knowledge sessions list shows them",
                event::quoted(id)
            );
            return Err(ApiError::NotFound(message));
        }
        _ => {
            let ids: Vec<String> = found.iter().map(|session| session.native_id.clone()).collect();
            let message =
                format!("{} means several sessions: {}", event::quoted(id), ids.join(", "));
            return Err(ApiError::NotFound(message));
        }
    }
    let session = found.pop().ok_or_else(|| ApiError::NotFound(String::new()))?;
    Ok((kept, session))
}

fn known_tools(tools: &[String]) -> Result<Vec<String>, ApiError> {
    let names: Vec<&str> = READERS.iter().map(|reader| reader.tool().name).collect();
    match tools.iter().find(|tool| !names.contains(&tool.as_str())) {
        None => Ok(tools.to_vec()),
        Some(unknown) => {
            let message =
                format!("must be one of {}; got {}", names.join(", "), event::quoted(unknown));
            Err(ApiError::Invalid(Problems::one("tool", message)))
        }
    }
}

/// Reads `TOOL=DIR`.
fn root_of(text: &str) -> Result<(String, PathBuf), ApiError> {
    let wrong = || {
        let message = format!(
            "must be TOOL=DIR, for example claude-code=/backup/projects; got {}",
            event::quoted(text)
        );
        ApiError::Invalid(Problems::one("root", message))
    };
    let (tool, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(wrong)?;
    Ok((known_tools(&[tool.to_owned()])?.concat(), PathBuf::from(path)))
}
