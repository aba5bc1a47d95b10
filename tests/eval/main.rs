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

// S-EVAL-3
#[test]
fn features_are_one_line_a_query_and_need_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let program = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-knowledge-eval"));
        command.env("HOME", folder.path()).env("XDG_CACHE_HOME", folder.path().join("cache"));
        command.args([
            "features",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/eval/tiny"),
        ]);
        command.args(["--mode", "lexical"]);
        command
    };
    let refused = program().output().unwrap();
    assert_eq!(refused.status.code(), Some(65), "{refused:?}");
    let file = folder.path().join("features.jsonl");
    let written = program().arg("--save").arg(&file).output().unwrap();
    assert!(written.status.success(), "{written:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names = lines[0]["features"].as_array().unwrap();
    assert!(lines.len() > 3 && lines[1]["mode"] == "lexical", "{text}");
    let candidates = lines.iter().filter_map(|line| line["candidates"].as_array()).flatten();
    let mut rights = 0;
    for candidate in candidates {
        assert_eq!(candidate["x"].as_array().unwrap().len(), names.len(), "{candidate}");
        rights += usize::from(candidate["right"] == true);
    }
    assert!(rights > 0, "{text}");
}
