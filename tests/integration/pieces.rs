//! What only some machines have: the embedding model, real MCP clients, a browser, data to measure with, a tracer. A test
//! that lacks its piece says so and returns; with `CI=true` it fails. Not here: getting them
//! (`scripts/test` does).

use std::path::PathBuf;

/// The directory of the embedding model.
pub fn model() -> Option<PathBuf> {
    from_environment("AGENT_KNOWLEDGE_MODEL_DIR")
}

/// The folder that `scripts/install-clients` made.
pub fn clients() -> Option<PathBuf> {
    from_environment("AGENT_KNOWLEDGE_TEST_CLIENTS")
}

/// The folder that `scripts/install-browser` made.
pub fn browser() -> Option<PathBuf> {
    from_environment("AGENT_KNOWLEDGE_TEST_BROWSER")
}

/// The folder of a Python environment with OpenAI's client; `scripts/test` makes it.
pub fn openai_client() -> Option<PathBuf> {
    from_environment("AGENT_KNOWLEDGE_TEST_OPENAI")
}

/// The folder of a Python environment with a gRPC client; `scripts/test` makes it.
pub fn grpc_client() -> Option<PathBuf> {
    from_environment("AGENT_KNOWLEDGE_TEST_GRPC")
}

/// The program of NATS's server; `scripts/test` installs it.
pub fn nats_server() -> Option<PathBuf> {
    let name = "AGENT_KNOWLEDGE_TEST_NATS_SERVER";
    present(name, std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_file()))
}

/// A folder of `shared/data` beside this checkout: measured with, never copied.
pub fn data(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    present(&format!("shared/data/{name}"), beside.is_dir().then_some(beside))
}

/// The program that traces system calls and makes them fail; only Linux has it.
pub fn strace() -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: strace is for Linux only");
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("strace"));
    present("strace", found.find(|program| program.is_file()))
}

fn from_environment(name: &str) -> Option<PathBuf> {
    present(name, std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_dir()))
}

fn present(name: &str, piece: Option<PathBuf>) -> Option<PathBuf> {
    if piece.is_none() {
        let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!is_ci, "{name} is missing, and CI may not skip what needs it");
        eprintln!("skipped: {name} is missing");
    }
    piece
}
