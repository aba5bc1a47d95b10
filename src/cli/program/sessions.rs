//! The commands about past sessions of other tools: where transcripts are, whether they may be read, and what is kept. Not
//! here: reading them (`sessions`), the words of an answer (`reply`), searching them (`api`).

use std::io::{IsTerminal, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::args::sessions::{ForgetSessions, ImportSessions, ListSessions, Sessions, ShowSession};
use crate::program::Program;
use crate::program::asking::{Usual, asked};
use crate::program::session_consent::run_import;
use crate::program::session_names::{
    ADDRESS, check_policy, found_session, kept_repo, known_tools, leaves_out, opened, root_of,
    shown_session,
};
use event::Problems;
use reply::{ReplayStep, Shown};
use requests::Request;
use requests::{ApiError, Point, Reply, SessionSearchRequest, Shape};
use retriever::failure::{failed, refuse_held, unkept};
use retriever::options::GlobalOptions;
use retriever::options::Need;
use retriever::resolved_settings::ResolvedSettings;
use retriever::session_permission::SessionPermission;
use sessions::import_scope::ImportScope;
use sessions::session_digest::SessionDigest;
use sessions::session_import::ImportPlan;
use sessions::session_rows::{KeptSession, SessionFilter};
use sessions::session_store::SessionStore;
use sessions::session_writes::Forgotten;
use settings::variables::SESSION_ROOTS;
use settings::{ConfigTable, PlatformDirs, Switch};
use store::StoreError;
use transcripts::readers::READERS;
use transcripts::source::Places;
use writer::exit::Exit;

/// Longest pause of a replay, in milliseconds.
const PAUSE_MS_MAX: u64 = 2_000;

impl Program<'_> {
    pub(super) fn past_sessions(
        &mut self,
        settings: &GlobalOptions,
        command: Sessions,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let settled = self.settle(settings)?;
        let shows_none = matches!(command, Sessions::Check(_) | Sessions::Forget(_));
        if !shows_none {
            refuse_held(&settled.config, ConfigTable::Sessions)?;
        }
        let done = |reply| Ok((Exit::Done, reply));
        match command {
            Sessions::Search(command) => {
                let request: SessionSearchRequest = command.arguments.read()?;
                let shape = if command.form.json { Shape::Whole } else { Shape::Words };
                let request = SessionSearchRequest { shape, ..request };
                done(self.open(settings, Need::Words)?.ask(&Request::Sessions(request))?)
            }
            Sessions::Import(command) => done(self.import_sessions(&settled, &command, messages)?),
            Sessions::List(command) => done(self.list_sessions(&settled, &command)?),
            Sessions::Show(command) => done(self.show_session(&settled, &command)?),
            Sessions::Summary(command) => {
                let (kept, session, _) = shown_session(&settled, &command.id)?;
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
            tools: known_tools("tool", &command.tool)?,
            ..self.session_scope(settled, &command.root)?
        };
        let kept = SessionStore::open(&settled.sessions_dir).map_err(|error| unkept(&error))?;
        let tools = scope.tools.clone();
        let is_allowed = SessionPermission::of(kept.as_ref())?.covers(&tools);
        let plan = self.session_plan(kept.as_ref(), scope)?;
        let planned = reply::import_planned(&plan.tools, is_allowed);
        if command.dry_run {
            return Ok(planned);
        }
        let is_answered = is_allowed || command.yes;
        let is_asked = !is_answered && !command.form.json && !plan.is_empty();
        let question = || reply::import_question(&plan.tools, &settled.sessions_dir);
        let is_yes = is_answered
            || is_asked && asked(&question(), "Read them?", Usual::No, messages)? == Some(true);
        if !is_yes {
            return Ok(planned);
        }
        drop(kept);
        run_import(settled, plan, &tools, (self.surroundings.clock)().now.as_millisecond())
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
            work_trees: self
                .here()
                .map(|here| store::DetectedRepo::of_directory(&here).top().to_owned())
                .into_iter()
                .collect(),
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
        refuse_held(&settled.config, ConfigTable::Sessions)?;
        let policy = settled.config.sessions.clone();
        check_policy(&policy)?;
        let set = (self.surroundings.lookup)(SESSION_ROOTS).unwrap_or_default();
        let set: Vec<PathBuf> =
            std::env::split_paths(&set).filter(|root| !root.as_os_str().is_empty()).collect();
        let set = set.iter().map(|root| root_of(SESSION_ROOTS, &root.to_string_lossy()));
        let roots = roots.iter().map(|root| given_root(root)).chain(set);
        Ok(ImportScope {
            tools: Vec::new(),
            roots: roots.collect::<Result<_, _>>()?,
            without_tools: policy.exclude_tools,
            without_paths: policy.exclude_paths,
            without_repos: policy.exclude_repos,
            is_with_private: policy.private == Switch::On,
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
            return Ok(reply::no_sessions_kept());
        };
        known_tools("tool", command.tool.as_slice())?;
        let repo = command.repo.as_deref().map(|name| kept_repo(&kept, name)).transpose()?;
        let filter = SessionFilter {
            tool: command.tool.clone(),
            repo,
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
        let (kept, session, named) = shown_session(settled, &command.id)?;
        let exchanges = kept.exchanges_of(session.row).map_err(|error| unkept(&error))?;
        let shown = Shown { around: command.around.or(named), is_with_tools: command.tools };
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

    /// Finds what an id or a directory means. A word alone is never a directory: what is forgotten is not guessed.
    fn named_to_forget(
        &self,
        settled: &ResolvedSettings,
        what: &str,
    ) -> Result<(SessionStore, Forgotten), ApiError> {
        let is_path = what.contains(['/', '\\']) || [".", ".."].contains(&what);
        if is_path && !what.starts_with(ADDRESS) {
            let path = without_dots(&self.surroundings.directory.path().join(what));
            return Ok((opened(settled)?, Forgotten::Path(path.to_string_lossy().into_owned())));
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

/// Reads a root that a person gave: a folder that is there.
fn given_root(text: &str) -> Result<(String, PathBuf), ApiError> {
    let (tool, path) = root_of("root", text)?;
    if !path.is_dir() {
        let message = format!("must be a folder that exists; got {}", path.display());
        return Err(ApiError::Invalid(Problems::one("root", message)));
    }
    Ok((tool, path))
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
