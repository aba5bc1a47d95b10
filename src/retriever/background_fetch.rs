//! Starts a process that fetches the model and outlives the one that started it, so that `init` can go on. Not here: the fetch
//! (`index::embed::model`), which keeps itself single and tells others how far it is.

use std::ffi::OsString;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::shared_retriever::lasting_folder;
use crate::startup::Retriever;
use daemon::process::RetrieverCommand;
use index::embed::model::{FetchState, STARTING, fetch_state};
use requests::ApiError;
use writer::exit::Exit;

/// How long the start is watched: what is wrong at once, such as a missing Python, is reported at once.
const START_WAIT: Duration = Duration::from_secs(2);
/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(20);

impl Retriever<'_> {
    /// Starts a process that fetches the model into a directory. Returns how far it is.
    ///
    /// # Errors
    /// It did not start, or failed at once.
    pub fn fetch_in_background(&self, directory: &Path) -> Result<FetchState, ApiError> {
        let directory = self.absolute_path(directory);
        if let running @ FetchState::Running(_) = fetch_state(&directory) {
            return Ok(running);
        }
        let program = self.surroundings.program.clone();
        let program = program.ok_or_else(|| unavailable("this program has no path"))?;
        let fetch = ["model", "fetch", "--detached"].map(OsString::from);
        let args = [vec!["--model".into(), directory.clone().into()], fetch.to_vec()].concat();
        let command = RetrieverCommand {
            program,
            args,
            environment: Vec::new(),
            directory: lasting_folder(&self.surroundings.temporary),
            clock: self.surroundings.clock,
        };
        let process = command.run(None);
        watch_start(process.map_err(|error| unavailable(&error.to_string()))?, &directory)
    }
}

/// Waits until the process tells how far it is, or has ended.
fn watch_start(mut process: Child, directory: &Path) -> Result<FetchState, ApiError> {
    let until = Instant::now() + START_WAIT;
    loop {
        let has_ended = process.try_wait().ok().flatten();
        match (fetch_state(directory), has_ended) {
            (FetchState::Failed(why), Some(_)) => return Err(unavailable(&why)),
            (_, Some(status)) if !status.success() => return Err(unavailable(&status.to_string())),
            (state, Some(_)) => return Ok(state),
            (FetchState::Running(line), None) if line != STARTING => {
                return Ok(FetchState::Running(line));
            }
            (_, None) if Instant::now() >= until => {
                return Ok(FetchState::Running(STARTING.to_owned()));
            }
            (_, None) => std::thread::park_timeout(LOOK),
        }
    }
}

fn unavailable(why: &str) -> ApiError {
    let message = format!("the model is not being fetched: {why}");
    ApiError::Failed { exit: Exit::Unavailable, message }
}
