//! `agent-knowledge`: recalls what agents have learned, over MCP and on the command line. All it does
//! here is what only a process can: read its arguments, environment, directory, clock and
//! randomness.

use std::process::ExitCode;

use agent_knowledge::event::Timestamp;
use agent_knowledge::retriever::serve::cli::{self, Process};
use agent_knowledge::retriever::serve::program::{Program, Surroundings};
use agent_knowledge::store::survive_the_file_size_limit;
use agent_knowledge::writer::{self, Moment, exit::Exit};

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where this program asks for its surroundings"
)]
fn main() -> ExitCode {
    survive_the_file_size_limit();
    let lookup = |name: &str| std::env::var_os(name);
    let Ok(directory) = std::env::current_dir() else { return Exit::Io.into() };
    let host = writer::host(&lookup);
    let temporary = std::env::temp_dir();
    let program = std::env::current_exe().ok();
    let clock = moment;
    let lookup = &lookup;
    let surroundings =
        Surroundings { lookup, directory, temporary, program, host, clock, secret, leave };
    let mut program = Program::new(surroundings);
    let mut process = Process {
        args: std::env::args_os().skip(1).collect(),
        input: &mut std::io::stdin(),
        output: &mut std::io::stdout(),
        messages: &mut std::io::stderr(),
    };
    cli::run(&mut process, &mut program).into()
}

/// Ends the process for who may not be kept waiting, wherever it is: nothing of it needs to be put away.
#[expect(clippy::disallowed_methods, reason = "a hook may not keep its agent waiting")]
fn leave() {
    std::process::exit(0)
}

/// Random bits for a secret; no clock stands in for them.
fn secret() -> Option<[u8; 32]> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).is_ok().then_some(bits)
}

#[expect(clippy::disallowed_methods, reason = "the one place where this program reads the clock")]
fn moment() -> Moment {
    let now = Timestamp::now();
    let mut random = [0_u8; 16];
    // Without a random source the time and the process still tell ids apart.
    if getrandom::fill(&mut random).is_err() {
        random =
            (u128::from(std::process::id()) ^ now.as_nanosecond().unsigned_abs()).to_le_bytes();
    }
    Moment { now, random: u128::from_le_bytes(random) }
}
