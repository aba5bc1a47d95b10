//! Calls of an agent's tools as JSON, whose fields are named a little differently by every tool: the command, the paths,
//! the main argument, the result. Not here: which tool of which agent is a shell (its reader).

use serde_json::Value;

use crate::transcript::{MomentKind, Outcome, TranscriptMoment, TranscriptSink};

/// Most paths of one call. A patch that touches more is a renaming.
const PATHS_MAX: usize = 100;

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// It runs a command.
    Shell,
    /// It writes a file.
    Edit,
    /// Anything else.
    Other,
}

/// A call of a tool.
pub(super) struct AgentCall<'a> {
    /// The message in which it stands.
    pub(super) message_id: Option<&'a str>,
    /// When it began.
    pub(super) at_ms: Option<i64>,
    /// The id that its result repeats.
    pub(super) id: &'a str,
    /// The name of the tool.
    pub(super) name: &'a str,
    /// What that tool does.
    pub(super) kind: CallKind,
    /// Its arguments.
    pub(super) input: &'a Value,
}

impl AgentCall<'_> {
    /// Reports the call, and how it ended where that is known.
    pub(super) fn report(&self, ended: Option<(Outcome, String)>, sink: &mut dyn TranscriptSink) {
        let calls = self.happenings();
        let ids = calls.len();
        for what in calls {
            sink.moment(self.moment(what));
        }
        let Some((outcome, output)) = ended else { return };
        for place in 0..ids {
            let (call, outcome, output) = (self.id_of(place), outcome.clone(), output.clone());
            sink.moment(self.moment(MomentKind::Returned { call, outcome, output }));
        }
    }

    fn happenings(&self) -> Vec<MomentKind> {
        let call = self.id.to_owned();
        match self.kind {
            CallKind::Shell => {
                if let Some(command) = command_of(self.input) {
                    return vec![MomentKind::Ran { call, command }];
                }
            }
            CallKind::Edit => {
                let paths = paths_of(self.input);
                if !paths.is_empty() {
                    let edit = |(place, path)| MomentKind::Edited { call: self.id_of(place), path };
                    return paths.into_iter().enumerate().map(edit).collect();
                }
            }
            CallKind::Other => {}
        }
        let argument = argument_of(self.input).unwrap_or_default();
        vec![MomentKind::Called { call, tool: self.name.to_owned(), argument }]
    }

    /// The first path has the id of the call, the others one of their own.
    fn id_of(&self, place: usize) -> String {
        if place == 0 { self.id.to_owned() } else { format!("{}#{place}", self.id) }
    }

    fn moment(&self, what: MomentKind) -> TranscriptMoment {
        let message_id = self.message_id.map(str::to_owned);
        TranscriptMoment { message_id, at_ms: self.at_ms, kind: what }
    }
}

/// Returns the first text that is not empty at one of these JSON pointers.
pub(super) fn text_at<'a>(value: &'a Value, pointers: &[&str]) -> Option<&'a str> {
    let text = |pointer: &&str| value.pointer(pointer)?.as_str().filter(|text| !text.is_empty());
    pointers.iter().find_map(text)
}

/// Returns the first time at one of these JSON pointers, in milliseconds since 1970: a number of seconds or milliseconds,
/// or a text as RFC 3339 has it.
pub(super) fn millis_at(value: &Value, pointers: &[&str]) -> Option<i64> {
    pointers.iter().find_map(|pointer| millis_of(value.pointer(pointer)?))
}

fn millis_of(value: &Value) -> Option<i64> {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "times have no 2^53 milliseconds")]
        Value::Number(number) => {
            number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)).and_then(millis)
        }
        Value::String(text) => {
            text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
        }
        _ => None,
    }
}

/// Returns a number of seconds or milliseconds since 1970 as milliseconds. Seconds reach 100 billion in the year 5138.
pub(super) fn millis(number: i64) -> Option<i64> {
    (number > 0)
        .then(|| if number < 100_000_000_000 { number.saturating_mul(1_000) } else { number })
}

/// Returns all text of a content: a text itself, or a list of items that have one.
pub(super) fn joined_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let texts = items.iter().filter_map(|item| {
                item.as_str().or_else(|| text_at(item, &["/text", "/Text", "/content"]))
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(_) => text_at(content, &["/text", "/Text", "/output", "/message"])
            .map_or_else(|| content.to_string(), str::to_owned),
        _ => String::new(),
    }
}

/// Returns the exit code in a text such as `Command failed with exit code 2`, if it is the last thing said about one.
pub(super) fn exit_code_in(text: &str) -> Option<i32> {
    const NAMES: &[&str] = &["exit code", "exited with code", "exit status"];
    let behind = NAMES.iter().filter_map(|name| text.rsplit_once(name)).map(|(_, behind)| behind);
    let digits = behind.min_by_key(|behind| behind.len())?.trim_start_matches([':', ' ', '`']);
    let end = digits.find(|next: char| !next.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// Returns how a command with this exit code ended.
pub(super) fn exit_outcome(code: i64) -> Outcome {
    match i32::try_from(code) {
        Ok(0) => Outcome::Succeeded,
        Ok(code) => Outcome::Exited(code),
        Err(_) => Outcome::Faulted,
    }
}

fn command_of(input: &Value) -> Option<String> {
    if let Some(words) = input.pointer("/command").and_then(Value::as_array) {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return (!words.is_empty()).then(|| words.join(" "));
    }
    text_at(input, &["/command", "/cmd", "/script"]).map(str::to_owned)
}

fn paths_of(input: &Value) -> Vec<String> {
    let patch = ["/patchText", "/patch", "/input", "/diff"];
    let patch = input.as_str().or_else(|| text_at(input, &patch));
    let mut paths = patch.map(patched_paths).unwrap_or_default();
    if paths.is_empty() {
        const NAMES: &[&str] = &[
            "/filePath",
            "/file_path",
            "/path",
            "/target_file",
            "/targetFile",
            "/relativeWorkspacePath",
            "/notebook_path",
            "/source",
        ];
        paths.extend(text_at(input, NAMES).map(str::to_owned));
    }
    paths
}

/// Returns the paths of a patch as agents write it: `*** Update File: a.rs`.
pub(super) fn patched_paths(patch: &str) -> Vec<String> {
    const HEADS: &[&str] =
        &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let paths = patch.lines().filter_map(|line| {
        HEADS.iter().find_map(|head| line.strip_prefix(head)).map(|path| path.trim().to_owned())
    });
    paths.take(PATHS_MAX).collect()
}

fn argument_of(input: &Value) -> Option<String> {
    const NAMES: &[&str] = &[
        "/command",
        "/filePath",
        "/file_path",
        "/path",
        "/target_file",
        "/pattern",
        "/query",
        "/url",
        "/prompt",
        "/description",
        "/name",
        "/source",
    ];
    let first_text = || input.as_object()?.values().find_map(Value::as_str);
    input.as_str().or_else(|| text_at(input, NAMES)).or_else(first_text).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_stand_in_arguments_and_in_patches() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Add File: c.rs\n";
        assert_eq!(paths_of(&json!({"patchText": patch})), ["a.rs", "b.rs", "c.rs"]);
        assert_eq!(paths_of(&json!(patch)).len(), 3);
        assert_eq!(paths_of(&json!({"filePath": "d.rs", "content": patch})), ["d.rs"]);
        assert!(paths_of(&json!({"content": "x"})).is_empty());
    }

    #[test]
    fn times_are_milliseconds_whatever_their_unit() {
        for value in
            [json!(1_790_000_000), json!(1_790_000_000_000_i64), json!("2026-09-21T14:13:20Z")]
        {
            assert_eq!(millis_of(&value), Some(1_790_000_000_000), "{value}");
        }
        for value in [json!(0), json!("yesterday"), json!(null)] {
            assert_eq!(millis_of(&value), None);
        }
    }

    #[test]
    fn the_last_exit_code_in_a_text_counts() {
        assert_eq!(exit_code_in("no exit code here, but\nexit code: 12\n"), Some(12));
        assert_eq!(exit_code_in("failed with exit code 2."), Some(2));
        assert_eq!(exit_code_in("exit code 1, then Command exited with code 3"), Some(3));
        assert_eq!(exit_code_in("the exit code was bad"), None);
        assert_eq!(exit_outcome(0), Outcome::Succeeded);
        assert_eq!(exit_outcome(1 << 40), Outcome::Faulted);
    }
}
