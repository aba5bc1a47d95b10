//! What the JSON of most tools has in common: texts in parts, times, the arguments of calls, and files that are one JSON
//! value. Not here: files of one record a line (`records`), what the fields of one tool mean (its reader).

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::records::repaired_value;
use crate::source::ReadError;
use crate::transcript::{MomentKind, TranscriptMoment, TranscriptSink};

/// Largest file that is read as one JSON value, in bytes. Its values take a few times as much memory.
const WHOLE_BYTES_MAX: u64 = 512 << 20;

/// Largest file whose broken characters are mended: for that its text and its values are in memory at once.
const MENDED_BYTES_MAX: u64 = 64 << 20;

/// Most paths that one call can change.
const PATHS_MAX: usize = 200;

/// The arguments that say best what a call is about, the best first.
const MAIN_ARGUMENTS: &[&str] = &[
    "url",
    "query",
    "pattern",
    "prompt",
    "question",
    "file_path",
    "filePath",
    "filepath",
    "absolute_path",
    "path",
    "command",
    "description",
];

/// The arguments that name a file.
const PATHS: &[&str] = &["file_path", "filePath", "filepath", "absolute_path", "path"];

/// Which message a moment belongs to, and when it was.
#[derive(Debug, Clone, Default)]
pub(super) struct MomentStamp {
    pub(super) message_id: Option<String>,
    pub(super) at_ms: Option<i64>,
}

impl MomentStamp {
    /// Takes both from a record.
    pub(super) fn from_values(id: &Value, at: &Value) -> Self {
        Self { message_id: id.as_str().map(str::to_owned), at_ms: time_ms(at) }
    }

    /// Reports what happened.
    pub(super) fn report(&self, sink: &mut dyn TranscriptSink, what: MomentKind) {
        let Self { message_id, at_ms } = self.clone();
        sink.moment(TranscriptMoment { message_id, at_ms, kind: what });
    }
}

/// Returns a time in milliseconds since 1970: from a text by RFC 3339, or from a number of milliseconds.
pub(super) fn time_ms(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => Some(text.parse::<jiff::Timestamp>().ok()?.as_millisecond()),
        Value::Number(number) => number.as_i64().filter(|ms| *ms > 0),
        _ => None,
    }
}

/// Returns a text, or the texts in a list of parts, each on lines of its own. Thoughts are left out.
pub(super) fn text_of(value: &Value) -> String {
    let is_said = |part: &&Value| {
        let kind = part["type"].as_str();
        part["thought"].as_bool() != Some(true) && kind.is_none_or(|kind| kind.ends_with("text"))
    };
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let said = parts.iter().filter(is_said);
            let texts = said.filter_map(|part| part.as_str().or_else(|| part["text"].as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(_) => value["text"].as_str().unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

/// Returns the value that a JSON pointer leads to, or null.
pub(super) fn value_at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// Returns the text of a field, if it has one.
pub(super) fn text_field(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The tools of an agent that run commands and change files.
pub(super) struct CallNames {
    /// They run a shell command.
    pub(super) shells: &'static [&'static str],
    /// They change the file that an argument names.
    pub(super) edits: &'static [&'static str],
    /// They apply a patch that names its files.
    pub(super) patches: &'static [&'static str],
}

impl CallNames {
    /// Says what a call does. Never empty.
    pub(super) fn happenings(&self, call: &str, tool: &str, input: &Value) -> Vec<MomentKind> {
        let call = call.to_owned();
        let command = || input.as_str().map(str::to_owned).or_else(|| command_of(input));
        if let Some(command) = self.shells.contains(&tool).then(command).flatten() {
            return vec![MomentKind::Ran { call, command }];
        }
        let paths = if self.patches.contains(&tool) {
            patched_paths(input)
        } else if self.edits.contains(&tool) {
            paths_of(input)
        } else {
            Vec::new()
        };
        if paths.is_empty() {
            let (tool, argument) = (tool.to_owned(), main_argument(input));
            return vec![MomentKind::Called { call, tool, argument }];
        }
        let edited = |path| MomentKind::Edited { call: call.clone(), path };
        paths.into_iter().map(edited).collect()
    }
}

/// Returns the command line in the arguments of a call: a text, or a list of commands.
fn command_of(input: &Value) -> Option<String> {
    let command = ["command", "commands", "cmd"].iter().map(|name| &input[*name]);
    command.into_iter().find_map(|value| match value {
        Value::String(command) => Some(command.clone()),
        Value::Array(all) => {
            let all: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
            (!all.is_empty()).then(|| all.join("\n"))
        }
        _ => None,
    })
}

fn paths_of(input: &Value) -> Vec<String> {
    let own = PATHS.iter().find_map(|name| text_field(input, name));
    let lists = ["files", "edits"].iter().filter_map(|name| input[*name].as_array());
    let listed = lists.flatten().filter_map(|file| {
        file.as_str()
            .map(str::to_owned)
            .or_else(|| PATHS.iter().find_map(|name| text_field(file, name)))
    });
    let mut paths: Vec<String> = own.into_iter().chain(listed).take(PATHS_MAX).collect();
    paths.dedup();
    paths
}

/// Returns the files that a patch names, in the form that several agents share.
fn patched_paths(input: &Value) -> Vec<String> {
    let patch = input.as_str().or_else(|| {
        ["input", "patch", "diff", "content"].iter().find_map(|name| input[*name].as_str())
    });
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let named = |line: &str| {
        marks.iter().find_map(|mark| line.strip_prefix(mark)).map(|path| path.trim().to_owned())
    };
    let paths: Vec<String> =
        patch.unwrap_or_default().lines().filter_map(named).take(PATHS_MAX).collect();
    if paths.is_empty() { paths_of(input) } else { paths }
}

/// Returns the argument that says best what a call is about, or the first text among them.
pub(super) fn main_argument(input: &Value) -> String {
    let best = MAIN_ARGUMENTS.iter().find_map(|name| text_field(input, name));
    let any = || input.as_object()?.values().find_map(Value::as_str).map(str::to_owned);
    best.or_else(any).or_else(|| input.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Returns the exit code from the end of what Gemini CLI and its descendants report of a command. Above it is what the
/// command printed, which may look the same.
pub(super) fn exit_code_at_end(output: &str) -> Option<i32> {
    let heads = ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];
    let mut end = output.trim_end().lines().rev();
    end.by_ref()
        .take_while(|line| heads.iter().any(|head| line.starts_with(head)))
        .find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

/// An element of a list, or nothing if it has another form: one odd element must not lose the file.
pub(super) struct Lenient<T>(pub(super) Option<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(T::deserialize(Value::deserialize(deserializer)?).ok()))
    }
}

/// Reads a file that is one JSON value, from the disk into the value, without its text in memory.
///
/// # Errors
/// [`ReadError::Io`]; [`ReadError::Form`] if it is too large or has another form.
pub(super) fn whole_json<T: DeserializeOwned>(path: &Path) -> Result<T, ReadError> {
    whole_json_up_to(path, WHOLE_BYTES_MAX)
}

/// The same, with a bound of its own.
///
/// # Errors
/// As [`whole_json`].
pub(super) fn whole_json_up_to<T: DeserializeOwned>(
    path: &Path,
    bytes_max: u64,
) -> Result<T, ReadError> {
    let file = File::open(path).map_err(ReadError::io(path))?;
    let bytes = file.metadata().map_err(ReadError::io(path))?.len();
    if bytes > bytes_max {
        let what = format!("too large to read whole: {bytes} bytes of at most {bytes_max}");
        return Err(ReadError::form(path, what));
    }
    // The file may grow while it is read.
    let mut reader = BufReader::new(file.take(bytes_max));
    if reader.fill_buf().map_err(ReadError::io(path))?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    serde_json::from_reader(reader).or_else(|error| {
        let mended = (bytes <= MENDED_BYTES_MAX).then(|| mended_json(path)).flatten();
        mended.ok_or_else(|| ReadError::form(path, described(&error)))
    })
}

/// Reads a file again in whose text single characters are broken.
fn mended_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = std::fs::read(path).ok()?;
    repaired_value(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()
}

/// Says where the JSON is not what it should be. The words of the parser may quote the file; they stay out.
fn described(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let what = if error.is_data() { "of another form" } else { "no complete JSON" };
    format!("{what}, at line {line} column {column}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NAMES: CallNames =
        CallNames { shells: &["sh"], edits: &["edit"], patches: &["apply_patch"] };

    #[test]
    fn calls_are_commands_edits_or_other_tools() {
        let ran = |command: &str| {
            vec![MomentKind::Ran { call: "c".to_owned(), command: command.to_owned() }]
        };
        let edited =
            |path: &str| MomentKind::Edited { call: "c".to_owned(), path: path.to_owned() };
        let called = |tool: &str, argument: &str| {
            let (tool, argument) = (tool.to_owned(), argument.to_owned());
            vec![MomentKind::Called { call: "c".to_owned(), tool, argument }]
        };
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+*** Update File: x\n*** Update File: b.rs\n*** Move to: c.rs\n";
        for (tool, input, expected) in [
            ("sh", json!({"command": "make"}), ran("make")),
            ("sh", json!({"commands": ["make", "make test"]}), ran("make\nmake test")),
            ("sh", json!({}), called("sh", "")),
            ("edit", json!({"path": "a.rs", "text": "x"}), vec![edited("a.rs")]),
            (
                "edit",
                json!({"files": [{"path": "a.rs"}, "b.rs"]}),
                vec![edited("a.rs"), edited("b.rs")],
            ),
            ("apply_patch", json!(patch), vec![edited("a.rs"), edited("b.rs"), edited("c.rs")]),
            ("apply_patch", json!({"input": "*** Delete File: d"}), vec![edited("d")]),
            ("grep", json!({"path": "src", "pattern": "fn"}), called("grep", "fn")),
            ("odd", json!({"n": 3, "what": "this"}), called("odd", "this")),
            ("odd", json!(null), called("odd", "")),
        ] {
            assert_eq!(NAMES.happenings("c", tool, &input), expected, "{tool} {input}");
        }
    }

    #[test]
    fn texts_come_in_several_forms() {
        for (value, expected) in [
            (json!("a"), "a"),
            (json!([{"text": "a"}, {"type": "text", "text": "b"}, "c"]), "a\nb\nc"),
            (json!([{"text": "no", "thought": true}, {"type": "image"}]), ""),
            (json!([{"type": "thinking", "text": "no"}]), ""),
            (json!(null), ""),
        ] {
            assert_eq!(text_of(&value), expected, "{value}");
        }
        assert_eq!(time_ms(&json!("1970-01-01T00:00:01.5Z")), Some(1500));
        assert_eq!(time_ms(&json!(1500)), Some(1500));
        assert_eq!(time_ms(&json!("yesterday")), None);
    }

    #[test]
    fn an_exit_code_that_a_command_printed_is_none() {
        for (output, expected) in [
            ("Output: x\nExit Code: 2\nProcess Group PGID: 7", Some(2)),
            ("Error: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\n", Some(0)),
            ("Output: Exit Code: 3\nExit Code: 4\nbye\nProcess Group PGID: 7", None),
            ("Exit Code: (none)", None),
        ] {
            assert_eq!(exit_code_at_end(output), expected, "{output}");
        }
    }

    #[test]
    fn a_whole_file_is_bounded_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let read = |bytes: &[u8], bytes_max| {
            std::fs::write(&path, bytes).unwrap();
            whole_json_up_to::<Vec<Lenient<u8>>>(&path, bytes_max)
                .map_err(|error| error.to_string())
        };
        let numbers: Vec<_> =
            read(b"\xef\xbb\xbf[1,\"x\",2]", 100).unwrap().into_iter().map(|one| one.0).collect();
        assert_eq!(numbers, [Some(1), None, Some(2)]);
        assert_eq!(read(b"[\"\\ud83d\", \"\xff\", \"\0\"]\0\0", 100).unwrap().len(), 3);
        for (bytes, bytes_max, expected) in [
            (&b"[1, 2]"[..], 5, "too large to read whole: 6 bytes of at most 5"),
            (b"[1, ", 100, "no complete JSON"),
            (b"{\"password\": 1}", 100, "of another form"),
            (b"\"hunter2\"", 100, "of another form"),
        ] {
            let error = read(bytes, bytes_max).err().unwrap();
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
