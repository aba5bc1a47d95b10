//! A failure as one line of JSON on standard output, for who asked for `--json`; the words go to standard error all the same.
//! Not here: the words (`cli`).

use std::ffi::OsString;

use requests::{ApiError, Reply};
use serde_json::{Value, json};
use writer::exit::Exit;

use crate::command_context::Process;
use crate::command_output::{flag_name, print};

/// Tells whether the command line asks for JSON.
pub(super) fn is_asked(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Prints why a command failed.
pub(super) fn print_failure(process: &mut Process<'_>, error: &ApiError, exit: Exit) {
    let problems: Vec<Value> = match error {
        ApiError::Invalid(problems) => {
            let fields = problems.iter();
            let of =
                fields.map(|one| json!({ "field": flag_name(&one.field), "message": one.message }));
            of.collect()
        }
        ApiError::NotFound(_) | ApiError::Failed { .. } => Vec::new(),
    };
    line(process, &error.to_string(), &problems, exit);
}

/// Prints what is wrong with the options.
pub(super) fn print_usage_failure(process: &mut Process<'_>, error: &clap::Error, exit: Exit) {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    line(process, first.trim_start_matches("error: "), &[], exit);
}

fn line(process: &mut Process<'_>, message: &str, problems: &[Value], exit: Exit) {
    let error = json!({ "exit": exit.code(), "message": message, "problems": problems });
    let reply = Reply::new(String::new(), json!({ "error": error }));
    // The exit says already that it failed.
    let _ = print(process, &format!("{}\n", reply.json_line()));
}
