//! `agent-knowledge`: recalls what agents have learned, over MCP and on the command line. All of it is
//! in the crate `retriever`.

use std::process::ExitCode;

fn main() -> ExitCode {
    retriever::process::enter("agent-knowledge", |process, program| {
        retriever::cli::run(process, program)
    })
}
