//! A judge that is a program: the request on its standard input, the answer on its standard output. Not here: what is
//! asked (`question`).

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use super::{ANSWER_BYTES_MAX, ANSWER_SECONDS_MAX};

/// Waits for a program that has said all it will say, and ends one that stays.
fn ended(child: &mut Child, is_done: bool) -> std::io::Result<ExitStatus> {
    let looks = if is_done { LOOKS_MAX } else { 0 };
    for _ in 0..looks {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    }
    // It may have ended by itself meanwhile.
    let _ = child.kill();
    child.wait()
}

/// How long a program may take to end when it has answered: so many looks, and between them so many milliseconds.
const LOOKS_MAX: u32 = 200;
const LOOK_MS: u64 = 10;

/// Asks a program; it is ended when it takes too long.
pub(super) fn ask(words: &[String], request: &Value) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("no program is named")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let text = request.to_string();
    let (told, answer) = mpsc::channel();
    let talk = move || {
        // A program that needs no question need not read it.
        if let Some(mut input) = input {
            let _ = input.write_all(text.as_bytes());
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
        let read = output.map(|output| output.take(limit).read_to_end(&mut bytes));
        let _ = told.send(read.map(|_| bytes));
    };
    std::thread::Builder::new()
        .name("judge".to_owned())
        .spawn(talk)
        .map_err(|error| error.to_string())?;
    let heard = answer.recv_timeout(Duration::from_secs(ANSWER_SECONDS_MAX));
    let status = ended(&mut child, heard.is_ok()).map_err(|error| error.to_string())?;
    match heard {
        Ok(Some(bytes)) if status.success() => {
            String::from_utf8(bytes).map_err(|_| format!("{program} answered with what is no text"))
        }
        Ok(_) => Err(format!("{program} ended with {status}")),
        Err(_) => Err(format!("{program} said nothing for {ANSWER_SECONDS_MAX} seconds")),
    }
}
