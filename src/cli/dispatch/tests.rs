//! Runs the program as people run it, without a process.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value;

use requests::Request;
use requests::fake_api::Fake;
use super::*;
use crate::args::agent_files::{Export, Import};
use crate::args::init::GettingReady;
use crate::args::hook::Hook;
use crate::args::{ModelCommand, Serve};
use crate::args::person::PersonCommand;
use crate::args::token::TokenCommand;
use crate::args::upkeep::Upkeep;
use providers::chat_model::{Decided, Decision};
use requests::Api;
use requests::tool::ToolSet;

struct FakeWiring {
    api: Arc<Fake>,
    opened: Vec<GlobalOptions>,
}

impl Wiring for FakeWiring {
    fn open(&mut self, settings: &GlobalOptions, _: Need) -> Result<Arc<dyn Api>, ApiError> {
        self.opened.push(settings.clone());
        Ok(self.api.clone())
    }

    fn open_server(
        &mut self,
        settings: &GlobalOptions,
        _: Option<&str>,
    ) -> Result<Arc<dyn Api>, ApiError> {
        self.open(settings, Need::Meaning)
    }

    fn home(&mut self, _: &GlobalOptions) -> Result<Reply, ApiError> {
        Ok(Reply { text: "home".to_owned(), json: Value::Null })
    }

    fn serve_mcp(&mut self, api: Arc<dyn Api>, _: ToolSet) -> Exit {
        api.ask(&Request::Status).map_or(Exit::Internal, |_| Exit::Done)
    }

    fn serve(&mut self, _: &GlobalOptions, _: Serve, _: &mut dyn Write) -> Result<Reply, ApiError> {
        Ok(Reply { text: "served".to_owned(), json: Value::Null })
    }

    fn tokens(&mut self, command: &TokenCommand, _: &mut dyn Write) -> Result<Reply, ApiError> {
        Ok(Reply { text: format!("{command:?}"), json: Value::Null })
    }

    fn ui(&mut self, _: &GlobalOptions, command: &args::Ui) -> Result<Reply, ApiError> {
        Ok(Reply { text: format!("{command:?}"), json: Value::Null })
    }

    fn hook(&mut self, _: &GlobalOptions, command: &Hook, process: &mut Process<'_>) -> Exit {
        writeln!(process.output, "{}", command.agent).unwrap();
        Exit::Done
    }

    fn index(&mut self, _: &GlobalOptions, progress: &mut dyn Write) -> Result<Reply, ApiError> {
        writeln!(progress, "1 of 1").unwrap();
        Ok(Reply { text: "indexed".to_owned(), json: Value::Null })
    }

    fn get_ready(
        &mut self,
        _: &GlobalOptions,
        command: GettingReady,
        _: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let reply = Reply { text: format!("{command:?}"), json: Value::Null };
        let checks = matches!(&command, GettingReady::Setup(setup) if setup.check);
        Ok((if checks { Exit::NotFound } else { Exit::Done }, reply))
    }

    fn upkeep(
        &mut self,
        _: &GlobalOptions,
        command: Upkeep,
        _: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let reply = Reply { text: format!("{command:?}"), json: Value::Null };
        let is_fine = matches!(command, Upkeep::Digest(_));
        Ok((if is_fine { Exit::Done } else { Exit::NotFound }, reply))
    }

    fn person(
        &mut self,
        _: &GlobalOptions,
        command: PersonCommand,
        _: &mut Process<'_>,
    ) -> Result<(Exit, Reply), ApiError> {
        Ok((Exit::Done, Reply { text: format!("{command:?}"), json: Value::Null }))
    }

    fn judge(&mut self, _: &GlobalOptions, _: &Value) -> Result<Decided, ApiError> {
        Ok(Decided { decision: Decision::Unclear, reason: String::new() })
    }

    fn import(
        &mut self,
        _: &GlobalOptions,
        command: Import,
        progress: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        writeln!(progress, "1 of 1").unwrap();
        let reply = Reply { text: format!("{command:?}"), json: Value::Null };
        Ok((if command.found { Exit::Done } else { Exit::Invalid }, reply))
    }

    fn with_sessions_and_team(&mut self, _: &GlobalOptions, reply: Reply) -> Reply {
        reply
    }

    fn sessions(
        &mut self,
        _: &GlobalOptions,
        _: args::sessions::Sessions,
        _: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        Ok((Exit::Done, Reply::new(String::new(), Value::Null)))
    }

    fn export(&mut self, _: &GlobalOptions, command: Export) -> Result<Reply, ApiError> {
        Ok(Reply { text: format!("{command:?}"), json: Value::Null })
    }

    fn model(
        &mut self,
        command: ModelCommand,
        _: &GlobalOptions,
        _: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        match command {
            ModelCommand::Use(_) | ModelCommand::Calibrate(_) => {
                Ok(Reply::new(String::new(), Value::Null))
            }
            ModelCommand::Status(_) => Ok(Reply { text: "here".to_owned(), json: Value::Null }),
            ModelCommand::Fetch(_) => {
                let message = "failed to fetch the model: offline".to_owned();
                Err(ApiError::Failed { exit: Exit::Unavailable, message })
            }
        }
    }
}

struct Ran {
    exit: Exit,
    output: String,
    messages: String,
    opened: Vec<GlobalOptions>,
}

fn ran_with(input: &str, words: &[&str]) -> Ran {
    let (mut output, mut messages) = (Vec::new(), Vec::new());
    let mut world = FakeWiring { api: Fake::new(), opened: Vec::new() };
    let mut process = Process {
        name: "agent-knowledge",
        args: words.iter().map(OsString::from).collect(),
        input: &mut input.as_bytes(),
        output: &mut output,
        messages: &mut messages,
        is_colourful: false,
        columns: None,
    };
    let exit = run(&mut process, &mut world);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { exit, output: text(output), messages: text(messages), opened: world.opened }
}

fn ran(words: &[&str]) -> Ran {
    ran_with("", words)
}

#[test]
fn a_check_prints_its_findings_and_sets_the_exit() {
    for (words, exit) in [
        (&["digest"][..], Exit::Done),
        (&["doctor"], Exit::NotFound),
        (&["verify", "--repo", "api", "--dry-run"], Exit::NotFound),
        (&["verify", "a.jsonl", "b.jsonl", "--json"], Exit::NotFound),
        (&["scrub", "--dry-run", "--repo", "api"], Exit::NotFound),
        (&["verify", "a.jsonl", "--repo", "api"], Exit::Usage),
        (&["setup", "codex", "--dry-run"], Exit::Done),
        (&["setup", "--check", "--json"], Exit::NotFound),
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
        (&[][..], "home\n"),
        (&["search", "npm", "EACCES"], "search \"npm EACCES\" All(None) Hybrid\n"),
        (&["search", "x", "--mode", "lexical", "--this-repo"], "search \"x\" Only(None) Lexical\n"),
        (&["search", "x", "--repo", "api"], "search \"x\" Only(Some(\"api\")) Hybrid\n"),
        (&["context", "--task", "t", "--max-tokens", "900"], "context Some(\"t\") 900\n"),
        (&["show", "m1", "m2"], "show [\"m1\", \"m2\"]\n"),
        (&["recent", "--limit", "3"], "recent 3\n"),
        (&["status"], "status\n"),
        (&["whoami"], "whoami\n"),
        (&["index"], "indexed\n"),
        (&["model", "status"], "here\n"),
        (&["status", "--json"], "{\"asked\":\"status\"}\n"),
        (&["mcp"], ""),
        (&["mcp", "--tools", "full"], ""),
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
        (&["model", "fetch"], Exit::Unavailable, "agent-knowledge: failed to fetch the model"),
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
        let mut process = Process {
            name: "agent-knowledge",
            args: vec!["status".into()],
            input: &mut io::empty(),
            output: &mut Broken(kind),
            messages: &mut io::sink(),
            is_colourful: false,
            columns: None,
        };
        let mut world = FakeWiring { api: Fake::new(), opened: Vec::new() };
        assert_eq!(run(&mut process, &mut world), exit);
    }
}
