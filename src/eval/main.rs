//! `agent-knowledge-eval` measures how well the retriever recalls, for its developers. The code is in the crate
//! `eval`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::process::enter("agent-knowledge-eval", eval::cli::run)
}
