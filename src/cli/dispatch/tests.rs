//! Runs the program as people run it, without a process.

use std::io::{self, Write};

use requests::fake_api::FakeApi;
use retriever::startup::Surroundings;
use terminal::highlight::ColourChoice;
use writer::{Moment, StartDirectory};

use super::*;

struct Ran {
    exit: Exit,
    output: String,
    messages: String,
    opened: Vec<GlobalOptions>,
}

fn run_into(output: &mut dyn Write, input: &str, words: &[&str]) -> Ran {
    let mut messages = Vec::new();
    let (exit, opened) = run_on(output, &mut messages, input.as_bytes(), words);
    let messages = String::from_utf8(messages).unwrap();
    Ran { exit, output: String::new(), messages, opened }
}

/// Runs the program on a memory that repeats each request, in a home with one damaged log.
fn run_on(
    output: &mut dyn Write,
    messages: &mut dyn Write,
    mut input: &[u8],
    words: &[&str],
) -> (Exit, Vec<GlobalOptions>) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("AGENT_KNOWLEDGE_CONFIG"), "").unwrap();
    let logs = home.path().join("AGENT_KNOWLEDGE_LOGS");
    std::fs::create_dir(&logs).unwrap();
    std::fs::write(logs.join("a.jsonl"), "no event\n").unwrap();
    let lookup = |name: &str| {
        let folders = ["HOME", "AGENT_KNOWLEDGE_LOGS", "AGENT_KNOWLEDGE_CACHE"];
        let names =
            [&folders[..], &["AGENT_KNOWLEDGE_SESSIONS", "AGENT_KNOWLEDGE_CONFIG"]].concat();
        names.contains(&name).then(|| home.path().join(name).into_os_string())
    };
    let mut program = Program::new(Surroundings {
        lookup: &lookup,
        variable: |_| None,
        directory: StartDirectory::at(home.path().to_owned()),
        temporary: home.path().to_owned(),
        program: None,
        host: None,
        clock: || Moment { now: "2026-11-28T12:00:00Z".parse().unwrap(), random: 0 },
        secret: || None,
        leave: || {},
    });
    program.opened = Some(FakeApi::new());
    let mut process = Process {
        name: "agent-knowledge",
        args: words.iter().map(OsString::from).collect(),
        input: &mut input,
        output,
        messages,
        is_colourful: false,
        colour_choice: ColourChoice::default(),
        columns: None,
    };
    let exit = run(&mut process, &mut program);
    (exit, program.openings)
}

fn ran_with(input: &str, words: &[&str]) -> Ran {
    let mut output = Vec::new();
    let ran = run_into(&mut output, input, words);
    Ran { output: String::from_utf8(output).unwrap(), ..ran }
}

fn ran(words: &[&str]) -> Ran {
    ran_with("", words)
}

#[test]
fn a_check_prints_its_findings_and_sets_the_exit() {
    for (words, exit) in [
        (&["digest"][..], Exit::Done),
        (&["verify", "--dry-run"], Exit::NotFound),
        (&["scrub", "--dry-run", "--json"], Exit::Done),
        (&["verify", "a.jsonl", "--repo", "api"], Exit::Usage),
        (&["setup", "--user", "--project"], Exit::Usage),
        (&["setup", "--undo", "--check"], Exit::Usage),
    ] {
        let ran = ran(words);
        assert_eq!(ran.exit, exit, "{words:?}");
        assert_eq!(ran.output.is_empty(), exit == Exit::Usage, "{words:?}");
    }
}

#[test]
fn each_command_prints_its_answer() {
    for (words, answer) in [
        (&["search", "npm", "EACCES"][..], "search \"npm EACCES\" All(None) Hybrid\n"),
        (&["search", "x", "--mode", "lexical", "--this-repo"], "search \"x\" Only(None) Lexical\n"),
        (&["search", "x", "--repo", "api"], "search \"x\" Only(Some(\"api\")) Hybrid\n"),
        (&["context", "--task", "t", "--max-tokens", "900"], "context Some(\"t\") 900\n"),
        (&["show", "m1", "m2"], "show [\"m1\", \"m2\"]\n"),
        (&["recent", "--limit", "3"], "recent 3\n"),
        (&["status"], "status\n"),
        (&["whoami"], "whoami\n"),
        (&["status", "--json"], "{\"asked\":\"status\"}\n"),
    ] {
        let ran = ran(words);
        assert_eq!(
            (ran.exit, ran.output.as_str()),
            (Exit::Done, answer),
            "{words:?} {}",
            ran.messages
        );
    }
}

#[test]
fn a_dash_reads_the_query_from_standard_input() {
    let ran = ran_with("\u{1B}[31merror\u{1B}[0m: EACCES\n", &["search", "-"]);
    assert_eq!(ran.output, "search \"error: EACCES\" All(None) Hybrid\n");
    let log = format!(
        "{}\nerror[E0502]: cannot borrow `v`\n",
        "   Compiling serde v1.0.0\n".repeat(20_000)
    );
    let long = ran_with(&log, &["search", "-"]);
    assert_eq!(
        long.output, "search \"error[E0502]: cannot borrow `v`\" All(None) Hybrid\n",
        "{}",
        long.messages
    );
    let endless = ran_with(&"x".repeat(10_000_000), &["search", "-"]);
    assert_eq!((endless.exit, endless.messages.as_str()), (Exit::Done, ""), "cut, never refused");
    assert!(endless.output.len() < 10_000, "{} bytes", endless.output.len());
}

#[test]
fn wrong_values_are_reported_by_flag_before_opening() {
    let ran = ran(&["search", " ", "--limit", "-5", "--max-tokens", "many"]);
    assert_eq!(ran.exit, Exit::Invalid);
    let lines: Vec<&str> = ran.messages.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("agent-knowledge: QUERY: is empty"));
    assert!(lines[1].starts_with("agent-knowledge: --limit: must be a whole number from 1 to 20"));
    assert!(lines[2].starts_with("agent-knowledge: --max-tokens: must be"));
    assert!(ran.output.is_empty() && ran.opened.is_empty());
}

// S-EXIT-1
#[test]
fn a_wrong_option_is_never_answered_with_two() {
    for words in [
        &["serach", "x"][..],
        &["search"],
        &["search", "x", "--limt", "3"],
        &["model"],
        &["search", "x", "--mode", "magic"],
        &["search", "x", "--repo", "a", "--this-repo"],
    ] {
        let ran = ran(words);
        assert_eq!((ran.exit, ran.output.as_str()), (Exit::Usage, ""), "{words:?}");
        assert!(!ran.messages.is_empty(), "{words:?}: {}", ran.messages);
    }
    let told = ran(&["search", "x", "--limt", "3"]).messages;
    assert!(told.starts_with("agent-knowledge: unexpected argument '--limt'"), "{told}");
    assert!(ran(&["serach", "x"]).messages.contains("'search'"), "the likely command is named");
}

#[test]
fn help_and_version_are_answers() {
    for words in [&["--help"][..], &["search", "--help"], &["--version"], &["help"]] {
        let ran = ran(words);
        assert_eq!((ran.exit, ran.messages.as_str()), (Exit::Done, ""), "{words:?}");
        assert!(ran.output.contains("agent-knowledge"), "{}", ran.output);
    }
    let help = ran(&["--help"]).output;
    for told in ["Exit codes:", "Never 2", "AGENT_KNOWLEDGE_LOGS", "search -", "log-memory"] {
        assert!(help.contains(told), "{told}");
    }
}

// S-EXIT-1
#[test]
fn failures_end_with_their_own_code() {
    for (words, exit, message) in [
        (&["show", "nope"][..], Exit::NotFound, "agent-knowledge: no memory nope; nearest: m12"),
        (&["search", "fail"], Exit::Io, "agent-knowledge: failed to read the log"),
    ] {
        let ran = ran(words);
        assert_eq!((ran.exit, ran.output.as_str()), (exit, ""), "{words:?}");
        assert!(ran.messages.starts_with(message), "{}", ran.messages);
    }
}

#[test]
fn the_settings_may_stand_before_or_after_the_command() {
    for words in
        [&["--logs", "L", "--model", "M", "status"][..], &["status", "--logs", "L", "--model", "M"]]
    {
        let settings = GlobalOptions {
            logs: Some("L".into()),
            model: Some("M".into()),
            ..GlobalOptions::default()
        };
        assert_eq!(ran(words).opened, [settings], "{words:?}");
    }
}

/// An output whose reader has gone away, or a full disk.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_output_is_fine_but_a_full_disk_fails() {
    for (kind, exit) in
        [(io::ErrorKind::BrokenPipe, Exit::Done), (io::ErrorKind::StorageFull, Exit::Io)]
    {
        assert_eq!(run_into(&mut Broken(kind), "", &["status"]).exit, exit);
    }
}
