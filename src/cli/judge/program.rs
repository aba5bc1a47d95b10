//! A judge that is a program: it reads the request from standard input and writes the answer to
//! standard output. Not here: the request (`question`).

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::judge::answer_bounds::{ANSWER_BYTES_MAX, ANSWER_SECONDS_MAX};

/// Waits for a program that has answered, and kills one that does not end.
fn ended(child: &mut Child, is_done: bool) -> std::io::Result<ExitStatus> {
    let checks = if is_done { CHECKS_MAX } else { 0 };
    for _ in 0..checks {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::park_timeout(Duration::from_millis(CHECK_MS));
    }
    // It may have ended by itself meanwhile.
    let _ = child.kill();
    child.wait()
}

/// How long a program may take to end after its answer: this many checks, with this many
/// milliseconds between them.
const CHECKS_MAX: u32 = 200;
const CHECK_MS: u64 = 10;

/// Asks a program, and kills it when it takes too long.
pub(super) fn ask(words: &[String], request: &Value) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("no program is named")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let text = request.to_string();
    let (sender, answer) = mpsc::channel();
    let exchange = move || {
        // A program may ignore its input.
        if let Some(mut input) = input {
            let _ = input.write_all(text.as_bytes());
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
        let read = output.map(|output| output.take(limit).read_to_end(&mut bytes));
        let _ = sender.send(read.map(|_| bytes));
    };
    std::thread::Builder::new()
        .name("judge".to_owned())
        .spawn(exchange)
        .map_err(|error| error.to_string())?;
    let received = answer.recv_timeout(Duration::from_secs(ANSWER_SECONDS_MAX));
    let status = ended(&mut child, received.is_ok()).map_err(|error| error.to_string())?;
    match received {
        Ok(Some(bytes)) if status.success() => String::from_utf8(bytes)
            .map_err(|_| format!("{program} answered with bytes that are not UTF-8")),
        Ok(_) => Err(format!("{program} ended with {status}")),
        Err(_) => Err(format!("{program} did not answer within {ANSWER_SECONDS_MAX} seconds")),
    }
}
