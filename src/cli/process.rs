//! The process itself: reads arguments, environment, directory, clock and randomness. Not here:
//! what is done with them (`dispatch`, `program`).

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use event::Timestamp;
use settings::variables::expanded_variable;
use store::survive_the_file_size_limit;
use terminal::highlight::ColourChoice;
use writer::exit::Exit;
use writer::{Moment, StartDirectory};

use crate::command_context::Process;
use crate::program::Program;
use daemon::panic_guard::catch_panic;
use retriever::startup::Surroundings;

/// Runs one of our programs: reads the environment of the process and passes it to `run`.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where a program asks for its surroundings"
)]
#[must_use]
pub fn enter(
    name: &'static str,
    run: impl for<'w> FnOnce(&mut Process<'w>, &mut Program<'w>) -> Exit,
) -> ExitCode {
    survive_the_file_size_limit();
    let variable =
        |name: &str| std::env::var_os(name).map(|content| expanded_variable(name, content));
    let lookup: &dyn Fn(&str) -> Option<OsString> = &variable;
    let directory = StartDirectory::find(std::env::current_dir(), lookup);
    let host = writer::host(lookup);
    let temporary = std::env::temp_dir();
    let program = std::env::current_exe().ok();
    let clock = moment;
    let surroundings = Surroundings {
        lookup,
        variable,
        directory,
        temporary,
        program,
        host,
        clock,
        secret,
        leave,
    };
    let mut program = Program::new(surroundings);
    let mut process = Process {
        name,
        args: std::env::args_os().skip(1).collect(),
        input: &mut std::io::stdin(),
        output: &mut std::io::stdout(),
        messages: &mut std::io::stderr(),
        is_colourful: is_colourful(lookup),
        colour_choice: ColourChoice::default(),
        columns: columns(),
    };
    // A panic was reported where it happened.
    catch_panic(|| Ok(run(&mut process, &mut program))).unwrap_or(Exit::Internal).into()
}

#[cfg(unix)]
use terminal::raw_terminal::output_columns as columns;

/// Elsewhere answers are those of a pipe.
#[cfg(not(unix))]
fn columns() -> Option<usize> {
    None
}

/// Tells whether the output is a terminal of somebody who wants colours (no-color.org).
fn is_colourful(lookup: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
    let is_dumb = lookup("TERM").is_some_and(|terminal| terminal == "dumb");
    std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// Ends the process at once. No cleanup is needed: every write is whole or undone.
#[expect(clippy::disallowed_methods, reason = "a hook may not keep its agent waiting")]
fn leave() {
    std::process::exit(0)
}

/// Returns random bits for a secret; `None` where the system has no randomness.
fn secret() -> Option<[u8; 32]> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).is_ok().then_some(bits)
}

#[expect(clippy::disallowed_methods, reason = "the one place where a program reads the clock")]
fn moment() -> Moment {
    let now = Timestamp::now();
    let mut random = [0_u8; 16];
    // Without a random source the time and the process id still tell event ids apart.
    if getrandom::fill(&mut random).is_err() {
        random =
            (u128::from(std::process::id()) ^ now.as_nanosecond().unsigned_abs()).to_le_bytes();
    }
    Moment { now, random: u128::from_le_bytes(random) }
}
