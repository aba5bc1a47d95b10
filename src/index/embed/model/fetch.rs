//! Installing the model by running `scripts/fetch-model`, which is compiled in.
//!
//! A download needs pip, proxies, mirrors and certificates as this machine has them set up; the
//! script lets pip bring all that, which our own client (`http_client`) does not know. What is not
//! here: the steps themselves (the script).

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::fetch_turn::{FetchState, FetchTurn, fetch_state};

/// The same file people can run by hand.
const SCRIPT: &str = include_str!("../../../../scripts/fetch-model");
/// Tried in this order; `python` is what Windows installs.
const PYTHONS: [&str; 2] = ["python3", "python"];
/// Longest progress line; the script's are under 300 bytes, and a longer one is not for people.
const LINE_BYTES_MAX: u64 = 4096;

/// The pause between two looks at a fetch of another process.
const LOOK_MS: u64 = 200;

/// Why the model was not installed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// There is no Python to run the script.
    #[error(
        "Python 3 is needed to fetch the model and was not found: install python3 and pip, then try again"
    )]
    NoPython,
    /// Python could not be started or talked to.
    #[error("cannot run Python: {0}")]
    Start(#[source] io::Error),
    /// The reason that the script gave.
    #[error("the model was not fetched: {0}")]
    Failed(String),
}

/// Downloads, checks and installs the model into `dir`; if it is installed, this is quick. Blocks for
/// as long as a download of 107 MB takes, half an hour per file at most. `progress` gets one line
/// at a time. Where another process fetches it, waits for that one.
///
/// # Errors
/// No Python, or the reason the script gave; `dir` then holds no half-written file.
pub fn fetch(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), FetchError> {
    loop {
        let turn = match FetchTurn::begin(dir) {
            Ok(Some(turn)) => turn,
            Ok(None) => {
                follow(dir, progress);
                continue;
            }
            // The script says what is wrong with the directory.
            Err(_) => return fetch_alone(dir, progress),
        };
        let outcome = fetch_alone(dir, &mut |line| {
            turn.record(line);
            progress(line);
        });
        turn.end(outcome.as_ref().err().map(ToString::to_string).as_deref());
        return outcome;
    }
}

/// Passes on the lines of the process that fetches, until it ends.
fn follow(dir: &Path, progress: &mut dyn FnMut(&str)) {
    let mut last = String::new();
    while let FetchState::Running(line) = fetch_state(dir) {
        if line != last {
            progress(&line);
            last = line;
        }
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    }
}

fn fetch_alone(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), FetchError> {
    let mut child = start(dir)?;
    let outcome = talk(&mut child, progress);
    let status = child.wait().map_err(FetchError::Start)?;
    let last = outcome.map_err(FetchError::Start)?;
    if status.success() {
        return Ok(());
    }
    let reason = if last.is_empty() { status.to_string() } else { last };
    Err(FetchError::Failed(reason.trim_start_matches("failed: ").to_owned()))
}

fn start(dir: &Path) -> Result<Child, FetchError> {
    for python in PYTHONS {
        // Isolated: reading a program from stdin, Python would import from the current directory
        // first, and that is whatever repository we happen to be started in.
        let spawned = Command::new(python)
            .args(["-I", "-"])
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        match spawned {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other.map_err(FetchError::Start),
        }
    }
    Err(FetchError::NoPython)
}

/// Passes the script to Python, passes its lines on, and returns the last one.
fn talk(child: &mut Child, progress: &mut dyn FnMut(&str)) -> io::Result<String> {
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(SCRIPT.as_bytes()) {
            // It ended before it read everything; its exit code and last line say more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    let Some(stderr) = child.stderr.take() else { return Ok(String::new()) };
    let mut reader = BufReader::new(stderr);
    let mut last = String::new();
    loop {
        let mut line = Vec::new();
        if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(last);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        let text = text.strip_prefix("fetch-model: ").unwrap_or(text);
        if !text.is_empty() {
            progress(text);
            text.clone_into(&mut last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pins;
    use super::*;

    #[test]
    fn script_and_program_pin_the_same_files() {
        let runtimes = pins::RUNTIMES.iter().map(|(_, pin)| pin);
        for pin in pins::MODEL_FILES.iter().chain(runtimes) {
            assert!(SCRIPT.contains(pin.sha256), "{}", pin.name);
            assert!(SCRIPT.contains(&pin.bytes.to_string()), "{}", pin.name);
            assert!(SCRIPT.contains(&format!("\"{}\"", pin.name)), "{}", pin.name);
        }
        assert!(SCRIPT.contains("NO_RUNTIME = \"no-runtime\""));
        let sums = SCRIPT.split('"').filter(|word| word.len() == 64).count();
        assert_eq!(sums, pins::MODEL_FILES.len() + pins::RUNTIMES.len());
    }

    #[test]
    fn a_failure_carries_the_last_line_of_the_script() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("file");
        std::fs::write(&blocked, "not a directory").unwrap();
        let mut lines = Vec::new();
        let result = fetch(&blocked.join("model"), &mut |line| lines.push(line.to_owned()));
        if matches!(result, Err(FetchError::NoPython)) {
            eprintln!("SKIPPED: no Python on this machine");
            return;
        }
        let Err(FetchError::Failed(reason)) = result else { panic!("{result:?} {lines:?}") };
        assert!(!reason.is_empty() && !reason.starts_with("failed:"), "{reason}");
        assert_eq!(lines.last().map(String::as_str), Some(format!("failed: {reason}").as_str()));
    }
}
