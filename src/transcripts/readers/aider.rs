//! Aider: one Markdown file in each work tree, to which every chat is added. There are no ids, few exit codes, and times
//! without a zone, which are taken for UTC. Only work trees that are known are looked into.
//!
//! A line of the person ends with two spaces; a heading of the agent, which looks the same, does not. Where an editor has
//! taken the spaces off every line, a line of the person is known by the empty line above it.
//! Not here: the history of what was typed (`.aider.input.history`), which holds nothing more.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json_parts::MomentStamp;
use crate::prompt_text::typed_text;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    leads_out_of,
};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TranscriptSink,
};

/// Reads the chats of Aider.
pub struct Aider;

static TOOL: Tool =
    Tool { name: "aider", title: "Aider", parser_version: 1, is_tried: true, days_kept: None };

/// The name of the file in a work tree.
const FILE: &str = ".aider.chat.history.md";

/// Begins a chat.
const CHAT: &str = "# aider chat started at ";

/// Begins a line of the person, and ends it.
const ASKED: &str = "####";
const BREAK: &str = "  ";

/// Begins a line of the tool.
const TOOL_LINE: &str = "> ";

/// Commands to the tool whose argument is a question.
const QUESTIONS: &[&str] = &["/ask ", "/code ", "/architect ", "/help ", "/context "];

/// Prompts that begin like this were written by the tool.
const WRITTEN_BY_TOOL: &[&str] = &["# Fix any errors below", "I ran this command:", "<blank>"];

/// The tool's account of tokens may have several lines, of which only the last one ends like a line of the tool.
const TOKENS: &str = "> Tokens: ";
const COST: &[&str] = &["Cost: $", "Costs "];

/// Begins of lines about a file that was changed.
const EDITED: &[&str] = &["Applied edit to ", "Creating empty file "];

/// Begins of lines about a model that could not be reached.
const FAILED: &[&str] = &["litellm.", "Unexpected error: ", "Retrying in "];

/// Longest text of one answer or prompt that is gathered, in bytes. More is never kept.
const TEXT_BYTES_MAX: usize = 1 << 20;

impl TranscriptReader for Aider {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> =
            places.work_trees.iter().map(|tree| tree.join(FILE)).collect();
        // A relative path means the directory in which Aider runs.
        match places.named("AIDER_CHAT_HISTORY_FILE") {
            Some(named) if named.is_absolute() => roots.push(named),
            Some(named) => roots.extend(places.work_trees.iter().map(|tree| tree.join(&named))),
            None => {}
        }
        roots
    }

    /// A work tree may come from anyone, so a link in it is not followed out of it.
    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        if root.parent().is_some_and(|tree| leads_out_of(tree, root)) {
            return Ok(Vec::new());
        }
        files_below(root, 0, &|path| {
            path == root || path.file_name().is_some_and(|name| name == FILE)
        })
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let path = &file.path;
        let mut has_breaks = false;
        each_line(path, &mut |line| {
            let is_marked = line.starts_with(ASKED) || line.starts_with(TOOL_LINE);
            has_breaks |= is_marked && line.ends_with(BREAK);
        })?;
        let mut chat = AiderChat { path, is_trimmed: !has_breaks, ..AiderChat::new(path) };
        let offset = each_line(path, &mut |line| chat.read(line, sink))?;
        chat.flush(sink);
        Ok(Resume { offset, state: Value::Null })
    }
}

/// Calls `each` for every complete line of a text, and returns the offset after the last one. A line is cut at its bound.
fn each_line(path: &Path, each: &mut dyn FnMut(&str)) -> Result<u64, ReadError> {
    let mut reader = BufReader::new(File::open(path).map_err(ReadError::io(path))?);
    let (mut line, mut offset) = (Vec::new(), 0);
    loop {
        line.clear();
        let mut bounded = reader.by_ref().take(TEXT_BYTES_MAX as u64);
        let mut read = bounded.read_until(b'\n', &mut line).map_err(ReadError::io(path))?;
        if line.last() != Some(&b'\n') {
            if read < TEXT_BYTES_MAX {
                return Ok(offset);
            }
            read += reader.skip_until(b'\n').map_err(ReadError::io(path))?;
        }
        offset += read as u64;
        let text = String::from_utf8_lossy(&line);
        each(text.strip_suffix('\n').unwrap_or(&text).trim_end_matches('\r'));
    }
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AiderLine {
    Empty,
    Person,
    Tool,
    Agent,
}

/// A chat while it is read.
struct AiderChat<'a> {
    path: &'a Path,
    /// Whether an editor took the spaces off the ends of the lines.
    is_trimmed: bool,
    /// Where the text begins that is gathered, and what it is.
    gathered: String,
    of: AiderLine,
    before: AiderLine,
    /// When the chat began; nothing before the first one.
    began: Option<MomentStamp>,
    /// How many calls there were.
    calls: usize,
    /// The line of the tool before: what a question is about.
    told: String,
}

impl<'a> AiderChat<'a> {
    fn new(path: &'a Path) -> Self {
        let (of, before) = (AiderLine::Empty, AiderLine::Empty);
        Self {
            path,
            is_trimmed: false,
            gathered: String::new(),
            of,
            before,
            began: None,
            calls: 0,
            told: String::new(),
        }
    }

    fn read(&mut self, line: &str, sink: &mut dyn TranscriptSink) {
        if let Some(time) = line.strip_prefix(CHAT) {
            self.flush(sink);
            self.begin(time.trim(), sink);
            return;
        }
        let Some(began) = self.began.clone() else {
            if !line.trim().is_empty() {
                sink.count(RecordStatus::Unknown("text before the first chat"));
            }
            return;
        };
        let kind = self.kind(line);
        // An empty line ends a prompt, and not an answer.
        let ends = if kind == AiderLine::Empty { AiderLine::Person } else { kind };
        if (kind == AiderLine::Empty) == (self.of == ends) {
            self.flush(sink);
        }
        match kind {
            AiderLine::Tool => self.told_by_tool(line, &began, sink),
            AiderLine::Person => self.gather(kind, line.trim_start_matches('#').trim()),
            AiderLine::Agent => self.gather(kind, line),
            AiderLine::Empty if self.of == AiderLine::Agent => self.gather(self.of, ""),
            AiderLine::Empty => {}
        }
        self.before = kind;
    }

    fn begin(&mut self, time: &str, sink: &mut dyn TranscriptSink) {
        let folder = self.path.parent();
        let name = folder.and_then(Path::file_name).and_then(|name| name.to_str());
        sink.session(&format!("{}/{time}", name.unwrap_or_default()), SessionExtent::Whole);
        let is_in_tree = self.path.file_name().is_some_and(|name| name == FILE);
        if let Some(folder) = folder.and_then(Path::to_str).filter(|_| is_in_tree) {
            sink.fact(SessionFact::Directory(folder.to_owned()));
        }
        let at: Option<jiff::Timestamp> = format!("{}Z", time.replace(' ', "T")).parse().ok();
        let at_ms = at.map(jiff::Timestamp::as_millisecond);
        self.began = Some(MomentStamp { message_id: None, at_ms });
        self.before = AiderLine::Empty;
        sink.count(RecordStatus::Understood);
    }

    fn kind(&self, line: &str) -> AiderLine {
        let is_ended = self.is_trimmed || line.ends_with(BREAK);
        let follows = matches!(self.before, AiderLine::Empty | AiderLine::Person);
        let is_person =
            line.strip_prefix(ASKED).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        if line.trim().is_empty() {
            AiderLine::Empty
        } else if is_person && is_ended && (follows || !self.is_trimmed) {
            AiderLine::Person
        } else if is_ended && (line.starts_with(TOOL_LINE) || line.trim() == ">")
            || line.starts_with(TOKENS)
            || self.before == AiderLine::Tool && COST.iter().any(|begin| line.starts_with(begin))
        {
            AiderLine::Tool
        } else {
            AiderLine::Agent
        }
    }

    fn gather(&mut self, kind: AiderLine, line: &str) {
        self.of = kind;
        if self.gathered.len() + line.len() < TEXT_BYTES_MAX {
            self.gathered.push_str(line);
            self.gathered.push('\n');
        }
    }

    /// Reports what was gathered.
    fn flush(&mut self, sink: &mut dyn TranscriptSink) {
        let text = std::mem::take(&mut self.gathered);
        let kind = std::mem::replace(&mut self.of, AiderLine::Empty);
        let Some(began) = self.began.as_ref().filter(|_| !text.trim().is_empty()) else { return };
        let what = match kind {
            AiderLine::Person => asked(text.trim()),
            _ => Some(MomentKind::Answered(text)),
        };
        sink.count(if what.is_some() { RecordStatus::Understood } else { RecordStatus::Left });
        if let Some(what) = what {
            began.report(sink, what);
        }
    }

    fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("call-{}", self.calls)
    }

    /// Most lines of the tool say nothing worth keeping.
    fn told_by_tool(&mut self, line: &str, began: &MomentStamp, sink: &mut dyn TranscriptSink) {
        let line = line.trim_start_matches('>').trim();
        let told = std::mem::replace(&mut self.told, line.to_owned());
        if let Some(path) = EDITED.iter().find_map(|begin| line.strip_prefix(begin)) {
            let call = self.next_call();
            began.report(sink, MomentKind::Edited { call: call.clone(), path: path.to_owned() });
            let (outcome, output) = (Outcome::Succeeded, String::new());
            began.report(sink, MomentKind::Returned { call, outcome, output });
        } else if let Some(command) = line.strip_prefix("Running ") {
            let (call, command) = (self.next_call(), command.to_owned());
            began.report(sink, MomentKind::Ran { call, command });
        } else if let Some(code) = exit_code(line) {
            let (call, output) = (format!("call-{}", self.calls), String::new());
            began.report(
                sink,
                MomentKind::Returned { call, outcome: Outcome::Exited(code), output },
            );
        } else if let Some(question) = refused(line) {
            began.report(sink, MomentKind::Decided(format!("{question} {told}: no")));
        } else if line.starts_with("^C again") {
            began.report(sink, MomentKind::Interrupted);
        } else if FAILED.iter().any(|begin| line.starts_with(begin)) {
            began.report(sink, MomentKind::Failed(line.to_owned()));
        } else {
            sink.count(RecordStatus::Left);
            return;
        }
        sink.count(RecordStatus::Understood);
    }
}

/// The tool tells an exit code only of a command that it proposed and that failed.
fn exit_code(line: &str) -> Option<i32> {
    let (_, code) = line.strip_prefix("Command '")?.rsplit_once("' exited with status ")?;
    code.parse().ok().filter(|code| *code != 0)
}

/// Returns the question that a person answered with no.
fn refused(line: &str) -> Option<&str> {
    let (question, answer) = line.split_once('?')?;
    let is_choice = answer.contains('[');
    let is_no = matches!(answer.split_whitespace().next_back(), Some("n" | "no" | "N"));
    (is_choice && is_no).then(|| line.get(..=question.len()).unwrap_or(question))
}

/// What a person typed: a question, a command line, or a command to the tool, which is left.
fn asked(text: &str) -> Option<MomentKind> {
    if WRITTEN_BY_TOOL.iter().any(|begin| text.starts_with(begin)) {
        return None;
    }
    let run = ["/run ", "/test ", "!"].iter().find_map(|begin| text.strip_prefix(begin));
    let git = text.strip_prefix("/git ").map(|rest| format!("git {rest}"));
    if let Some(command) = run.map(str::to_owned).or(git) {
        return Some(MomentKind::Ran { call: String::new(), command });
    }
    let question = QUESTIONS.iter().find_map(|begin| text.strip_prefix(begin));
    let name = text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    let is_command = name.is_some_and(|name| !name.contains('/'));
    match question {
        Some(question) => Some(MomentKind::Asked(typed_text(question))),
        None if is_command => None,
        None => Some(MomentKind::Asked(typed_text(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::golden::{self, GoldenCounts};
    use crate::readers::growth_law::read_text;
    use crate::real_files::{fixtures, unpacked_at};

    const NAME: &str = "shop/.aider.chat.history.md";
    const BEGIN: &str = "\n# aider chat started at 2026-01-02 03:04:05\n\n";

    fn parts(text: &str) -> Vec<PartKind> {
        let exchanges = read_text(&Aider, NAME, text).0.into_iter().flat_map(|one| one.exchanges);
        exchanges.flat_map(|one| one.parts).map(|part| part.what).collect()
    }

    fn part_texts(text: &str) -> Vec<String> {
        let text_of = |part| match part {
            PartKind::Asked(text) => format!("Q {text}"),
            PartKind::Answered(text) => format!("A {text}"),
            PartKind::Ran { command, outcome, .. } => format!("R {command} {outcome:?}"),
            PartKind::Edited { path, outcome, .. } => format!("E {path} {outcome:?}"),
            PartKind::Decided(text) => format!("D {text}"),
            other => format!("{other:?}"),
        };
        parts(text).into_iter().map(text_of).collect()
    }

    #[test]
    fn a_heading_of_the_agent_is_no_question() {
        let text = format!(
            "{BEGIN}> Aider v1  \n\n#### sort the cart  \n#### by price  \n\nI will.\n\n#### Step 1\n> a quote\n\nDone.\n\n> Applied edit to a.rs  \n> Commit abc  \n"
        );
        let answer = "A I will.\n\n#### Step 1\n> a quote\n\nDone.";
        assert_eq!(part_texts(&text), ["Q sort the cart\nby price", answer, "E a.rs Succeeded"]);
    }

    #[test]
    fn a_file_whose_lines_were_trimmed_is_read() {
        let text = format!(
            "{BEGIN}#### sort it\nI will.\n> Applied edit to a.rs\n\n#### and this\nYes.\n"
        );
        assert_eq!(
            part_texts(&text),
            ["Q sort it", "A I will.", "E a.rs Succeeded", "Q and this", "A Yes."]
        );
    }

    #[test]
    fn commands_refusals_and_faults_are_told() {
        let text = format!(
            "{BEGIN}#### /run make  \n\n#### /add a.rs  \n\n#### /ask why?  \n\n#### !ls  \n\n#### # Fix any errors below, if possible.  \n\n> date  \n> Run shell command? [Y/n] n  \n> Add file? (Y)es/(N)o [Yes]: y  \n> Running pytest  \n> Command 'pytest' exited with status 2  \n> Tokens: 1 sent.\nCost: $1\nCosts are high  \n> litellm.Timeout: slow  \n> ^C again to exit  \n"
        );
        let expected = [
            "R make Unknown",
            "Q why?",
            "R ls Unknown",
            "D Run shell command? date: no",
            "R pytest Exited(2)",
            "Failed(\"litellm.Timeout: slow\")",
            "Interrupted",
        ];
        assert_eq!(part_texts(&text), expected);
    }

    #[test]
    fn every_start_begins_a_session_with_its_time() {
        let again = BEGIN.replace("03:04:05", "23:04:05");
        let text = format!("lost\n{BEGIN}#### one  \n{again}#### two  \n{again}#### torn");
        let (sessions, census) = read_text(&Aider, NAME, &text);
        let ids: Vec<_> = sessions.iter().map(|session| session.native_id.as_str()).collect();
        assert_eq!(ids, ["shop/2026-01-02 03:04:05", "shop/2026-01-02 23:04:05"]);
        assert_eq!(
            sessions[0].exchanges[0].span_ms(),
            Some((1_767_323_045_000, 1_767_323_045_000))
        );
        assert!(sessions[0].facts.directory.as_ref().is_some_and(|path| path.ends_with("shop")));
        assert_eq!(sessions[1].exchanges.len(), 1, "the last line is still being written");
        assert_eq!(census.unknown["text before the first chat"], 1);
    }

    #[test]
    fn only_known_work_trees_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let trees = ["a", "b"].map(|name| folder.path().join(name));
        for tree in &trees {
            std::fs::create_dir(tree).unwrap();
        }
        std::fs::write(trees[0].join(FILE), "x\n").unwrap();
        std::fs::write(trees[0].join("notes.md"), "x\n").unwrap();
        std::fs::write(trees[1].join("chat.md"), "x\n").unwrap();
        let lookup = |name: &str| (name == "AIDER_CHAT_HISTORY_FILE").then(|| "chat.md".into());
        let home = folder.path().to_owned();
        let (data, config) = (home.clone(), home.clone());
        let places =
            TranscriptPlaces { home, data, config, work_trees: trees.to_vec(), lookup: &lookup };
        let roots = Aider.roots(&places);
        let found = roots.iter().flat_map(|root| Aider.find(root).unwrap());
        let found: Vec<_> = found.map(|file| file.path).collect();
        assert_eq!(found, [trees[0].join(FILE), trees[1].join("chat.md")]);
    }

    // S-SESS-2
    #[cfg(unix)]
    #[test]
    fn links_never_lead_out_of_a_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, outside) = (folder.path().join("tree"), folder.path().join("outside"));
        for place in [&tree, &outside] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("history.md"), "x\n").unwrap();
        }
        let root = tree.join(FILE);
        for (target, found) in [(outside.join("history.md"), 0), (tree.join("history.md"), 1)] {
            std::os::unix::fs::symlink(target, &root).unwrap();
            assert_eq!(Aider.find(&root).unwrap().len(), found);
            std::fs::remove_file(&root).unwrap();
        }
    }

    #[test]
    fn a_real_file_has_the_counts_of_another_reader() {
        let Some(fixtures) = fixtures() else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = fixtures.join("aider/real/aider__chat-history.md.gz");
        let path = unpacked_at(&path, folder.path());
        let (sessions, census) = golden::sessions_of(&Aider, &path);
        // Counted by a few lines of Python that know only how lines begin and end.
        let expected = GoldenCounts {
            user: 993,
            assistant: 1012,
            commands: 56,
            edits: 422,
            exit_nonzero: 3,
            ..GoldenCounts::default()
        };
        assert_eq!(GoldenCounts::count(&sessions), expected, "{census:?}");
        assert_eq!(sessions.len(), 1133);
        assert_eq!(census.unknown.values().sum::<u64>(), 91, "a part of a chat before the first");
    }
}
