//! Whether past sessions may be read, and when they are: after a yes, now and then, and when a session ends. Not here: the
//! commands about what is kept (`sessions`).

use std::io::Write;
use std::sync::atomic::AtomicBool;

use crate::program::{Program, progress_bar};
use crate::question::{DefaultAnswer, ask_yes_or_no};
use requests::{ApiError, Reply};
use retriever::failure::{session_store_error, store_error};
use retriever::options::GlobalOptions;
use retriever::resolved_settings::ResolvedSettings;
use retriever::session_permission::SessionPermission;
use retriever::session_rounds::LOOKED_AT;
use sessions::session_import::{ImportPlan, ImportProgress};
use sessions::session_store::SessionStore;
use store::FileLock;

/// How long an import waits for another one, in milliseconds.
const TURN_MS_MAX: u64 = 100;

/// Whether a person is asked. Whoever agrees to a setup has not agreed to this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsentQuestion {
    Asked,
    Skipped,
}

impl Program<'_> {
    /// Asks once whether past sessions may be read, after a setup; without a person, says in one line what there is.
    /// Returns that line, empty if there is nothing to say.
    ///
    /// # Errors
    /// [`ApiError::Failed`].
    pub(crate) fn offer_sessions(
        &self,
        settings: &GlobalOptions,
        person: ConsentQuestion,
        messages: &mut dyn Write,
    ) -> Result<String, ApiError> {
        let settled = self.resolve_settings(settings)?;
        let kept = SessionStore::open(&settled.sessions_dir)
            .map_err(|error| session_store_error(&error))?;
        if SessionPermission::read(kept.as_ref())? != SessionPermission::NotAsked {
            return Ok(String::new());
        }
        let plan = self.session_plan(kept.as_ref(), self.session_scope(&settled, &[])?)?;
        if plan.is_empty() {
            return Ok(String::new());
        }
        drop(kept);
        let files = plan.len();
        let text = reply::import_question(&plan.tools, &settled.sessions_dir);
        let answer = match person {
            ConsentQuestion::Asked => {
                ask_yes_or_no(&text, "Read them?", DefaultAnswer::No, messages)?
            }
            ConsentQuestion::Skipped => None,
        };
        match answer {
            Some(true) => {
                let now_ms = (self.surroundings.clock)().now.as_millisecond();
                Ok(run_import(&settled, plan, &[], now_ms)?.text)
            }
            Some(false) => {
                let kept = SessionStore::create(&settled.sessions_dir)
                    .map_err(|error| session_store_error(&error))?;
                SessionPermission::Refused.write(&kept)?;
                Ok("Past sessions are not read; agent-knowledge sessions import asks again."
                    .to_owned())
            }
            None => Ok(format!(
                "{} on this disk, none was read: agent-knowledge sessions import asks before it reads.",
                match files {
                    1 => "1 transcript of a past session is".to_owned(),
                    _ => format!("{files} transcripts of past sessions are"),
                }
            )),
        }
    }
}

/// Reads the files of a plan and keeps what they hold, with a progress bar where a person watches. `tools` are those to which
/// the person said yes; none for all.
pub(crate) fn run_import(
    settled: &ResolvedSettings,
    plan: ImportPlan,
    tools: &[String],
    now_ms: i64,
) -> Result<Reply, ApiError> {
    let mut kept =
        SessionStore::create(&settled.sessions_dir).map_err(|error| session_store_error(&error))?;
    let _turn = FileLock::acquire(&settled.sessions_dir.join("import.lock"), TURN_MS_MAX)
        .map_err(|error| store_error(&error))?;
    SessionPermission::read(Some(&kept))?.with_tools(tools).write(&kept)?;
    kept.set(LOOKED_AT, &now_ms.to_string()).map_err(|error| session_store_error(&error))?;
    let bar = progress_bar("{bar:24} {bytes}/{total_bytes} {msg}");
    let mut watch = |progress: &ImportProgress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes);
        let unknown: u64 = progress.census.unknown.values().sum::<u64>() + progress.census.broken;
        bar.set_message(format!(
            "files {}/{}, sessions {}, records not understood {unknown}",
            progress.files, progress.files_total, progress.sessions
        ));
    };
    let progress = plan.run(&mut kept, threads(), &AtomicBool::new(false), &mut watch);
    bar.finish_and_clear();
    Ok(reply::import_done(&progress.map_err(|error| session_store_error(&error))?))
}

/// Threads that read transcripts: not more than the processor has, and not so many that a laptop cannot be used.
pub(crate) fn threads() -> usize {
    const MOST: usize = 4;
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST))
}
