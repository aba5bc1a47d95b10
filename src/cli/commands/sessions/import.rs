//! `sessions import`: reads the transcripts on this disk, after consent. Not here: reading them (`sessions`), the consent (`consent`).

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::commands::sessions::consent::run_import;
use crate::commands::sessions::names::{check_policy, known_tools, parse_root};
use crate::program::Program;
use crate::question::{DefaultAnswer, ask_yes_or_no};
use event::Problems;
use place::place_by_files;
use requests::{ApiError, Reply};
use retriever::failure::{refuse_unknown_keys, session_store_error, store_error};
use retriever::resolved_settings::ResolvedSettings;
use retriever::session_permission::SessionPermission;
use sessions::import_scope::ImportScope;
use sessions::session_import::ImportPlan;
use sessions::session_store::SessionStore;
use settings::variables::SESSION_ROOTS;
use settings::{ConfigTable, PlatformDirs, Switch};
use store::StoreError;
use transcripts::readers::READERS;
use transcripts::source::TranscriptPlaces;

const IMPORT_HELP: &str = "\
Nothing is read before you say yes, here or in setup. What is kept: questions, answers, commands,
the ends of failed output, and paths of edited files, without secrets, in a folder that only you
can read. It never leaves this machine and never enters a log by itself; only review --draft asks
the language model that you named about it. After the first yes, new sessions are read in the
background. Leave out tools, directories or repositories in the configuration file:

  [sessions]
  exclude_tools = [\"codex\"]
  exclude_paths = [\"~/private\"]
  exclude_repos = [\"github.com/acme/secret\"]
  private = false   # sessions in no repository

AGENT_KNOWLEDGE_SESSION_ROOTS adds folders: claude-code=/backup/projects, several separated as in
PATH.";

/// `sessions import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub struct ImportSessions {
    /// Only of this tool, such as claude-code (may be repeated)
    #[arg(long, value_name = "TOOL")]
    pub tool: Vec<String>,
    /// Also look in this folder of a tool (may be repeated)
    #[arg(long, value_name = "TOOL=DIR")]
    pub root: Vec<String>,
    /// Only show what there is to read
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Read it, now and in the future
    #[arg(long)]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Program<'_> {
    pub(crate) fn import_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ImportSessions,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let scope = ImportScope {
            tools: known_tools("tool", &command.tool)?,
            ..self.session_scope(settled, &command.root)?
        };
        let session_store = SessionStore::open(&settled.sessions_dir)
            .map_err(|error| session_store_error(&error))?;
        let tools = scope.tools.clone();
        let is_allowed = SessionPermission::read(session_store.as_ref())?.covers(&tools);
        let plan = self.session_plan(session_store.as_ref(), scope)?;
        let planned = reply::import_planned(&plan.tools, is_allowed);
        if command.dry_run {
            return Ok(planned);
        }
        let is_answered = is_allowed || command.yes;
        let is_asked = !is_answered && !command.form.json && !plan.is_empty();
        let question = || reply::import_question(&plan.tools, &settled.sessions_dir);
        let is_yes = is_answered
            || is_asked
                && ask_yes_or_no(&question(), "Read them?", DefaultAnswer::No, messages)?
                    == Some(true);
        if !is_yes {
            return Ok(planned);
        }
        drop(session_store);
        run_import(settled, plan, &tools, (self.surroundings.clock)().now.as_millisecond())
    }

    /// Looks for what is new. Nothing is opened that was never read.
    pub(crate) fn session_plan(
        &self,
        kept: Option<&SessionStore>,
        scope: ImportScope,
    ) -> Result<ImportPlan, ApiError> {
        let dirs = PlatformDirs::of_platform().ok_or_else(|| store_error(&StoreError::NoPlace))?;
        let places = TranscriptPlaces {
            home: dirs.home,
            data: dirs.data_of_all,
            config: dirs.config_of_all,
            work_trees: self
                .working_directory()
                .map(|here| place_by_files(&here, &scope.machine).top)
                .into_iter()
                .collect(),
            lookup: self.surroundings.lookup,
        };
        ImportPlan::make(READERS, &places, kept, scope).map_err(|error| session_store_error(&error))
    }

    /// Returns what the settings and the command line allow to be read.
    pub(crate) fn session_scope(
        &self,
        settled: &ResolvedSettings,
        roots: &[String],
    ) -> Result<ImportScope, ApiError> {
        refuse_unknown_keys(&settled.config, ConfigTable::Sessions)?;
        let policy = settled.config.sessions.clone();
        check_policy(&policy)?;
        let set = (self.surroundings.lookup)(SESSION_ROOTS).unwrap_or_default();
        let set: Vec<PathBuf> =
            std::env::split_paths(&set).filter(|root| !root.as_os_str().is_empty()).collect();
        let set = set.iter().map(|root| parse_root(SESSION_ROOTS, &root.to_string_lossy()));
        let roots = roots.iter().map(|root| given_root(root)).chain(set);
        Ok(ImportScope {
            tools: Vec::new(),
            roots: roots.collect::<Result<_, _>>()?,
            without_tools: policy.exclude_tools,
            without_paths: policy.exclude_paths,
            without_repos: policy.exclude_repos,
            is_with_private: policy.private == Switch::On,
            machine: settled.store.machine().clone(),
            known_repos: settled.store.known_repos(),
            // The plan names them.
            work_trees: Vec::new(),
        })
    }
}

/// Reads a root that a person gave: a folder that is there.
fn given_root(text: &str) -> Result<(String, PathBuf), ApiError> {
    let (tool, path) = parse_root("root", text)?;
    if !path.is_dir() {
        let message = format!("must be a folder that exists; got {}", path.display());
        return Err(ApiError::Invalid(Problems::one("root", message)));
    }
    Ok((tool, path))
}
