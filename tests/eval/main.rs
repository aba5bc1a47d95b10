//! The program `agent-knowledge-eval` by itself. What it measures is tested beside the other programs, in
//! `tests/integration/eval.rs`; cargo builds the program for those tests because this one needs it too.

use std::process::Command;

#[test]
fn it_says_how_it_is_used() {
    let program = env!("CARGO_BIN_EXE_agent-knowledge-eval");
    let help = Command::new(program).arg("--help").output().unwrap();
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(help.status.success() && text.contains("Usage: agent-knowledge-eval"), "{text}");
    let refused = Command::new(program).arg("--no-such-option").output().unwrap();
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(64), "{message}");
    assert!(message.starts_with("agent-knowledge-eval: "), "{message}");
}
