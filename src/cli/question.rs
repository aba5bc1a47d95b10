//! Asks the person at the terminal a question. Not here: the questions.

use std::io::{BufRead, IsTerminal, Write};

use requests::ApiError;
use writer::exit::Exit;

/// What a person says who only presses the key for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefaultAnswer {
    Yes,
    No,
}

/// Asks a question that is answered by yes or no; nothing if nobody is there to answer. `text` is what a person must know first.
///
/// # Errors
/// [`ApiError::Failed`] if the terminal cannot be written or read.
pub(super) fn ask_yes_or_no(
    text: &str,
    question: &str,
    usual: DefaultAnswer,
    messages: &mut dyn Write,
) -> Result<Option<bool>, ApiError> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(None);
    }
    let io =
        |error| ApiError::Failed { exit: Exit::Io, message: format!("failed to ask: {error}") };
    let choice = if usual == DefaultAnswer::Yes { "[Y/n]" } else { "[y/N]" };
    write!(messages, "{text}\n{question} {choice} ").map_err(io)?;
    messages.flush().map_err(io)?;
    let mut answer = String::new();
    if std::io::stdin().lock().read_line(&mut answer).map_err(io)? == 0 {
        // The terminal is gone, so nobody has answered.
        return Ok(None);
    }
    Ok(Some(is_yes(&answer, usual)))
}

fn is_yes(answer: &str, usual: DefaultAnswer) -> bool {
    match answer.trim().to_ascii_lowercase().as_str() {
        "" => usual == DefaultAnswer::Yes,
        answer => matches!(answer, "y" | "yes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_one() {
        for (answer, is_it) in [("y\n", true), ("YES\n", true), ("n\n", false), ("what?\n", false)]
        {
            for usual in [DefaultAnswer::Yes, DefaultAnswer::No] {
                assert_eq!(is_yes(answer, usual), is_it, "{answer:?}");
            }
        }
        assert!(is_yes("\n", DefaultAnswer::Yes) && !is_yes(" \n", DefaultAnswer::No));
    }
}
