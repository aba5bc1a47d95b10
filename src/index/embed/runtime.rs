//! ONNX Runtime in this process: loads the library once, or says why not.
//!
//! What is not here: running a model (`loaded_model`), and which one (`minilm`).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use super::error::EmbedError;
use super::error::one_line;
use super::model::pins;

/// Libraries from 1.29 on send telemetry over the network unless this environment variable is set.
const SWITCH: &str = "ORT_DISABLE_TELEMETRY";

/// A process can hold one library and one environment; both stay until it ends.
static LOADED: Mutex<Option<LoadedRuntime>> = Mutex::new(None);

struct LoadedRuntime {
    library: PathBuf,
    environment: Environment,
}

/// The environment of `library`, which is loaded now if this process has none yet.
///
/// Without this step ort would look for a library by itself and panic when there is none.
///
/// # Errors
/// [`EmbedError::Runtime`] when the library is missing, damaged or older than 1.24, when another one is already
/// loaded, since a library cannot be taken out of a process again, or when it would report how it is used.
pub(super) fn environment(library: &Path) -> Result<Environment, EmbedError> {
    let library =
        library.canonicalize().map_err(|error| EmbedError::unreadable(library, &error))?;
    let mut slot = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = slot.as_ref() {
        return reuse(loaded, &library);
    }
    let failed = |why: &dyn std::fmt::Display| EmbedError::Runtime { why: one_line(why) };
    if std::env::var_os(SWITCH).is_none_or(|value| value.is_empty()) && may_report(&library)? {
        let library = library.display();
        return Err(failed(&format!("{library} sends telemetry unless {SWITCH}=1 is set")));
    }
    let builder = ort::init_from(&library).map_err(|error| failed(&error))?;
    let environment = builder.with_telemetry(false).build().map_err(|error| failed(&error))?;
    // Its warnings are about hardware we do not use, and stderr belongs to the person at the
    // terminal.
    environment.set_log_level(LogLevel::Error);
    *slot = Some(LoadedRuntime { library, environment: environment.clone() });
    Ok(environment)
}

/// Whether a library contains the name of the switch, and so sends telemetry. The pinned library does not.
fn may_report(library: &Path) -> Result<bool, EmbedError> {
    let pin = pins::runtime_pin();
    if pin.is_some_and(|pin| library.file_name().is_some_and(|name| name == pin.name)) {
        return Ok(false);
    }
    let bytes = std::fs::read(library).map_err(|error| EmbedError::unreadable(library, &error))?;
    Ok(bytes.windows(SWITCH.len()).any(|part| part == SWITCH.as_bytes()))
}

fn reuse(loaded: &LoadedRuntime, library: &Path) -> Result<Environment, EmbedError> {
    if loaded.library == library {
        return Ok(loaded.environment.clone());
    }
    let (old, new) = (loaded.library.display(), library.display());
    Err(EmbedError::Runtime { why: format!("{old} is already loaded, restart to use {new}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-RANK-9
    #[test]
    fn a_library_that_would_report_its_use_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libonnxruntime.so.9.9.9");
        std::fs::write(&library, [b"\x7fELF".as_slice(), SWITCH.as_bytes()].concat()).unwrap();
        assert_eq!(may_report(&library), Ok(true));
        std::fs::write(&library, b"\x7fELF").unwrap();
        assert_eq!(may_report(&library), Ok(false));
    }
}
