//! `log-memory`: appends one lesson to the shared memory and prints its id. This file only does what requires a
//! process: it reads arguments, environment, directory, clock and randomness once.

use std::process::ExitCode;

use event::Timestamp;
use store::survive_the_file_size_limit;
use writer::{self, Moment, StartDirectory, log_memory};

/// The allocator of musl makes a system call for every second allocation.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where this program asks for its surroundings"
)]
fn main() -> ExitCode {
    survive_the_file_size_limit();
    let lookup =
        |name: &str| std::env::var_os(name).map(|content| writer::expanded_variable(name, content));
    let mut moment = || {
        let mut random = [0_u8; 16];
        // Without a random source, the time and the process id still distinguish ids.
        if getrandom::fill(&mut random).is_err() {
            random = (u128::from(std::process::id())
                ^ Timestamp::now().as_nanosecond().unsigned_abs())
            .to_le_bytes();
        }
        Moment { now: Timestamp::now(), random: u128::from_le_bytes(random) }
    };
    let directory = StartDirectory::find(std::env::current_dir(), &lookup);
    let exit = log_memory::run(&mut log_memory::Process {
        args: std::env::args_os().skip(1).collect(),
        lookup: &lookup,
        directory,
        host: writer::host(&lookup),
        moment: &mut moment,
        input: &mut std::io::stdin().lock(),
        output: &mut std::io::stdout().lock(),
        messages: &mut std::io::stderr().lock(),
    });
    exit.into()
}
