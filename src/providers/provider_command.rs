//! A provider that is a program: one JSON request on its standard input, one JSON answer on its standard output, one run for each
//! request. Never through a shell. Not here: the request and the answer (`vector_forms`).

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::provider_error::{ANSWER_BYTES_MAX, ProviderError};
use crate::provider_message;

/// How long a program may take to end after its answer.
const END_MAX: Duration = Duration::from_secs(2);
/// The pause between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(5);

/// What a request to a program may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProgramLimits {
    /// How long it may take. Then it is killed.
    pub(crate) wait: Duration,
    /// The longest answer.
    pub(crate) answer_bytes_max: u64,
    /// Who reads what it complains about.
    pub(crate) stderr: StderrUse,
}

/// What becomes of the standard error of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StderrUse {
    /// Nobody reads it.
    Dropped,
    /// The person who waits for the answer reads it.
    Shown,
}

impl ProgramLimits {
    /// For requests that work in the background waits for.
    pub(crate) fn within(wait: Duration) -> Self {
        Self { wait, answer_bytes_max: ANSWER_BYTES_MAX, stderr: StderrUse::Dropped }
    }
}

/// Asks a program.
pub(crate) fn ask(
    words: &[String],
    request: &Value,
    limits: ProgramLimits,
) -> Result<Value, ProviderError> {
    let bytes = printed(words, request, limits)?;
    let who = words.first().map_or("", String::as_str);
    let json = serde_json::from_slice(&bytes)
        .map_err(|_| failed(words, "answered with something that is no JSON"))?;
    provider_message::refuse_error(json, who, None)
}

/// Asks a program whose answer is a text, which may be no JSON.
pub(crate) fn text(
    words: &[String],
    request: &Value,
    limits: ProgramLimits,
) -> Result<String, ProviderError> {
    let bytes = printed(words, request, limits)?;
    provider_message::refuse_error_text(&bytes, words.first().map_or("", String::as_str), None)
}

fn printed(
    words: &[String],
    request: &Value,
    limits: ProgramLimits,
) -> Result<Vec<u8>, ProviderError> {
    let ProgramLimits { wait, answer_bytes_max: bytes_max, stderr: complaints } = limits;
    let mut child = started(words, complaints)
        .map_err(|error| failed(words, &format!("cannot be run: {error}")))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let text = request.to_string();
    let (sender, answer) = mpsc::channel();
    let exchange = move || {
        // A program may answer without reading all of it.
        let _ = input.map(|mut input| input.write_all(text.as_bytes()));
        let mut bytes = Vec::new();
        let read = output.map(|output| output.take(bytes_max + 1).read_to_end(&mut bytes));
        // The caller may have stopped waiting.
        let _ = sender.send(read.is_some_and(|read| read.is_ok()).then_some(bytes));
    };
    let thread = std::thread::Builder::new().name("provider".to_owned()).spawn(exchange);
    let received = thread.ok().and_then(|_| answer.recv_timeout(wait).ok());
    let ended = ended(&mut child, if received.is_some() { END_MAX } else { Duration::ZERO });
    let who = || words.first().cloned().unwrap_or_default();
    let Some(received) = received else {
        return Err(ProviderError::TimedOut { who: who(), seconds: wait.as_secs().max(1) });
    };
    match ended {
        Some(true) => {}
        Some(false) => return Err(failed(words, "ended with an error")),
        None => return Err(failed(words, "did not end after its answer")),
    }
    let bytes = received.ok_or_else(|| failed(words, "could not be read"))?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max) {
        true => Ok(bytes),
        false => Err(ProviderError::TooLong { who: who(), bytes_max }),
    }
}

fn failed(words: &[String], why: &str) -> ProviderError {
    let who = words.first().cloned().unwrap_or_default();
    ProviderError::Program { who, why: why.to_owned() }
}

fn started(words: &[String], complaints: StderrUse) -> std::io::Result<Child> {
    let mut words = words.iter();
    let program = words.next().ok_or_else(|| std::io::Error::other("none is named"))?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(match complaints {
        StderrUse::Dropped => Stdio::null(),
        StderrUse::Shown => Stdio::inherit(),
    });
    command.spawn()
}

/// Waits for the end of a program and tells whether it succeeded; kills one that does not end, which is `None`.
fn ended(child: &mut Child, wait: Duration) -> Option<bool> {
    let until = Instant::now() + wait;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < until => std::thread::park_timeout(LOOK),
            Ok(None) | Err(_) => {
                // It may have ended by itself meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;

    fn sh(script: &str, wait: Duration) -> Result<Value, ProviderError> {
        let words = ["sh".to_owned(), "-c".to_owned(), script.to_owned()];
        ask(&words, &json!({ "input": ["a", "$(touch pwned)"] }), ProgramLimits::within(wait))
    }

    const PATIENCE: Duration = Duration::from_secs(30);

    // S-PROVIDER-3
    #[test]
    fn a_program_reads_the_request_and_writes_the_answer() {
        assert_eq!(sh("cat", PATIENCE).unwrap(), json!({ "input": ["a", "$(touch pwned)"] }));
        let long = "head -c 100 >/dev/null; echo '{\"embeddings\": [[1]]}'";
        assert_eq!(sh(long, PATIENCE).unwrap(), json!({ "embeddings": [[1]] }));
    }

    // S-PROVIDER-4
    #[test]
    fn a_program_that_fails_is_told_apart() {
        let why = |script: &str| sh(script, PATIENCE).unwrap_err().to_string();
        assert_eq!(why("exit 3"), "the program sh ended with an error");
        assert_eq!(why("echo hello"), "the program sh answered with something that is no JSON");
        assert_eq!(why("echo '{\"error\": \"no model\"}'"), "sh answered with an error: no model");
        let nobody =
            ask(&["/nowhere/embed".to_owned()], &json!({}), ProgramLimits::within(PATIENCE));
        let nobody = nobody.unwrap_err();
        assert!(nobody.to_string().contains("/nowhere/embed cannot be run"), "{nobody}");
        let begun = Instant::now();
        let slow = sh("exec sleep 600", Duration::from_millis(300)).unwrap_err();
        assert_eq!(slow.to_string(), "sh did not answer within 1 s");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
