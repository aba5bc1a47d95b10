//! `agent-knowledge`: recalls what agents have learned, over MCP and on the command line. All of it is
//! in the crate `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::process::enter("agent-knowledge", cli::dispatch::run)
}
