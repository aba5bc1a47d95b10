//! Converts between events and lines. Writing is exact: one event is one line, founding fields first. Reading
//! is forgiving: fields that can be understood are parsed, all others are kept, and a line is skipped with a
//! reason only if it holds no event. Not here: files and offsets (`store::tail`).

use std::fmt;

use serde_json::{Map, Value};

use super::fields::{strings, type_name};
use super::limits::READ_LINE_BYTES_MAX;
use super::surrogate;
use super::time_text::format_timestamp;
use super::{CleanEvent, Event, EventId, EventType, SuccessRate, parse_timestamp};
use guard::secrets::redacted;
use guard::text;

/// What one line of a log holds.
#[derive(Debug, Clone, PartialEq)]
pub enum DecodedLine {
    /// An event.
    Event(Box<Event>),
    /// White space only.
    Blank,
    /// A line that is not an event.
    Skipped(SkipReason),
}

/// Why a line was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The line is longer than the reading bound.
    TooLong {
        /// Its length.
        line_bytes: u64,
    },
    /// NUL bytes only, as a file system may leave them after a power loss.
    NulBytes,
    /// Arrays or objects nested deeper than 128 levels.
    TooDeep,
    /// Not JSON: damaged, torn, or plain text.
    NotJson(String),
    /// JSON, but not an object.
    NotAnObject(&'static str),
    /// An object without lesson, context, command and symptoms.
    Empty,
    /// Several events stand on it; all of them were read.
    Joined {
        /// Their number.
        events: usize,
    },
    /// In the mirror of another origin, a line that is not of the mirror's repository.
    NotOfMirror,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { line_bytes } => {
                write!(
                    out,
                    "{line_bytes} bytes long; lines over {READ_LINE_BYTES_MAX} bytes are not read"
                )
            }
            Self::NulBytes => out.write_str("nothing but NUL bytes"),
            Self::TooDeep => out.write_str("nested deeper than 128 levels"),
            Self::NotJson(why) => write!(out, "not JSON: {why}"),
            Self::NotAnObject(what) => write!(out, "{what}, not a JSON object"),
            Self::Empty => out.write_str("no lesson, context, command or symptoms"),
            Self::Joined { events } => {
                write!(out, "{events} events without a line break between them; all are read")
            }
            Self::NotOfMirror => out.write_str("of another repository than the mirror it is in"),
        }
    }
}

/// One event as a line, with its line break. Only [`encode`] makes one, and a log accepts nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedLine(String);

impl EncodedLine {
    /// Returns the line, with its line break.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes an event as one line.
#[must_use]
pub fn encode(clean: &CleanEvent) -> EncodedLine {
    let json = Value::Object(fields_of(clean.event())).to_string();
    let mut line = text::escaped(&json).into_owned();
    line.push('\n');
    EncodedLine(line)
}

/// Returns the fields of a line in order: founding fields first, unknown fields last.
#[must_use]
pub fn fields_of(event: &Event) -> Map<String, Value> {
    let mut line = Map::new();
    let mut text = |name: &str, value: &str| line.insert(name.to_owned(), Value::from(value));
    text("id", event.id.as_str());
    if let Some(timestamp) = event.timestamp {
        text("timestamp", &format_timestamp(timestamp));
    }
    text("agent_id", &event.agent_id);
    text("repo", &event.repo);
    text("event_type", event.event_type.as_str());
    text("context", &event.context);
    text("command", &event.command);
    text("lesson", &event.lesson);
    if let Some(rate) = event.success_rate {
        text("success_rate", &rate.to_string());
    }
    if !event.extra.contains_key("tags") {
        line.insert("tags".to_owned(), Value::from(event.tags.clone()));
    }
    encode_optional(event, &mut line);
    line
}

fn encode_optional(event: &Event, line: &mut Map<String, Value>) {
    for (name, list) in [("symptoms", &event.symptoms), ("files", &event.files)] {
        if !list.is_empty() {
            line.insert(name.to_owned(), Value::from(list.clone()));
        }
    }
    let texts = [
        ("commit", event.commit.as_deref()),
        ("branch", event.branch.as_deref()),
        ("session_id", event.session_id.as_deref()),
        ("host", event.host.as_deref()),
        ("source", event.source.as_deref()),
        ("memory_id", event.memory_id.as_ref().map(EventId::as_str)),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            line.insert(name.to_owned(), Value::from(text));
        }
    }
    if let Some(schema) = event.schema {
        line.insert("schema".to_owned(), Value::from(schema));
    }
    for (name, value) in &event.extra {
        line.entry(name).or_insert_with(|| value.clone());
    }
}

/// Reads one line without its line break. `file_repo` is used if the line names no repo.
#[must_use]
pub fn decode(line: &[u8], file_repo: &str) -> DecodedLine {
    let bytes = line.trim_ascii();
    if bytes.is_empty() {
        return DecodedLine::Blank;
    }
    if bytes.len() > READ_LINE_BYTES_MAX {
        let line_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        return DecodedLine::Skipped(SkipReason::TooLong { line_bytes });
    }
    let bytes = without_padding(bytes);
    if bytes.is_empty() {
        return DecodedLine::Skipped(SkipReason::NulBytes);
    }
    let text = String::from_utf8_lossy(bytes);
    // Some programs cut strings in the middle of a character and escape the remaining half.
    match surrogate::from_json(&text) {
        Ok(Value::Object(object)) => understood(object, bytes, file_repo),
        Ok(other) => DecodedLine::Skipped(SkipReason::NotAnObject(type_name(&other))),
        Err(error) if error.to_string().starts_with("recursion limit") => {
            DecodedLine::Skipped(SkipReason::TooDeep)
        }
        Err(error) => {
            DecodedLine::Skipped(SkipReason::NotJson(redacted(&error.to_string()).into_owned()))
        }
    }
}

/// Returns the id that a line names itself. `None` if it holds no event, or if its id is derived from its bytes: then a
/// person may have written the same line twice.
#[must_use]
pub fn own_id(line: &[u8]) -> Option<EventId> {
    let DecodedLine::Event(event) = decode(line, "") else { return None };
    let derived = EventId::derive(event.timestamp, without_padding(line.trim_ascii()));
    (event.id != derived).then_some(event.id)
}

/// Strips a byte order mark, and the NUL bytes that a power loss can leave before or after a line.
fn without_padding(bytes: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = bytes.iter().position(|byte| !is_padding(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !is_padding(byte)).map_or(start, |last| last + 1);
    let inner = bytes.get(start..end).unwrap_or_default();
    inner.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(inner).trim_ascii()
}

fn understood(object: Map<String, Value>, bytes: &[u8], file_repo: &str) -> DecodedLine {
    let mut fields = LineFields { left: object };
    let timestamp = fields.take_parsed("timestamp", parse_timestamp);
    let id = fields.take_parsed("id", EventId::foreign);
    let event = Event {
        id: id.unwrap_or_else(|| EventId::derive(timestamp, bytes)),
        timestamp,
        agent_id: fields.text("agent_id").unwrap_or_default(),
        repo: fields.text("repo").unwrap_or_else(|| file_repo.to_owned()),
        event_type: EventType::from_line(&fields.text("event_type").unwrap_or_default()),
        context: fields.text("context").unwrap_or_default(),
        command: fields.text("command").unwrap_or_default(),
        lesson: fields.text("lesson").unwrap_or_default(),
        success_rate: fields.take_parsed("success_rate", |text| SuccessRate::parse(text).ok()),
        tags: fields.list("tags"),
        symptoms: fields.list("symptoms"),
        files: fields.list("files"),
        commit: fields.text("commit"),
        branch: fields.text("branch"),
        session_id: fields.text("session_id"),
        host: fields.text("host"),
        source: fields.text("source"),
        schema: fields.schema(),
        memory_id: fields.take_parsed("memory_id", EventId::foreign),
        extra: fields.rest(),
    };
    let says_nothing =
        [&event.lesson, &event.context, &event.command].iter().all(|text| text.is_empty());
    if says_nothing && event.symptoms.is_empty() && event.memory_id.is_none() {
        return DecodedLine::Skipped(SkipReason::Empty);
    }
    DecodedLine::Event(Box::new(event))
}

/// The fields of a line that are not parsed yet. Fields that cannot be understood stay and end in `extra`.
struct LineFields {
    left: Map<String, Value>,
}

impl LineFields {
    /// Returns the remaining fields in a new map. The old map keeps its capacity, 1.6 kB for a founding line.
    fn rest(self) -> Map<String, Value> {
        self.left.into_iter().collect()
    }

    /// Takes a text. A number or boolean is formatted as people would write it.
    fn text(&mut self, name: &str) -> Option<String> {
        let text = as_text(self.left.get(name)?)?;
        self.left.shift_remove(name);
        (!text.is_empty()).then_some(text)
    }

    /// Takes a text that `parse` understands; any other value stays.
    fn take_parsed<T>(&mut self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let Value::String(text) = self.left.get(name)? else { return None };
        let empty = text.is_empty();
        let parsed = parse(text);
        if parsed.is_some() || empty {
            self.left.shift_remove(name);
        }
        parsed
    }

    fn list(&mut self, name: &str) -> Vec<String> {
        let Some(value) = self.left.get(name) else { return Vec::new() };
        let list = match value {
            Value::Null => Some(Vec::new()),
            Value::Array(items) => items.iter().map(as_text).collect(),
            other => strings(name, other.clone()).ok(),
        };
        let Some(list) = list else { return Vec::new() };
        self.left.shift_remove(name);
        list.into_iter().filter(|item| !item.is_empty()).collect()
    }

    fn schema(&mut self) -> Option<u64> {
        let schema = self.left.get("schema")?.as_u64()?;
        self.left.shift_remove("schema");
        Some(schema)
    }
}

/// Formats a value as people would write it; returns `None` for arrays and objects.
fn as_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null => String::new(),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean;
    use proptest::prelude::*;

    const FOUNDING: &str = r#"{"timestamp":"2025-10-31T04:58:01Z","agent_id":"claude-code","repo":"gptcoach2","event_type":"error","context":"npm install failed with EACCES","command":"sudo chown -R $USER . && npm ci","lesson":"always verify ownership before npm operations","success_rate":"9/10","tags":["npm","permissions","node_modules"]}"#;

    fn event(line: &str) -> Event {
        match decode(line.as_bytes(), "file-repo") {
            DecodedLine::Event(event) => *event,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn skip(line: &[u8]) -> SkipReason {
        match decode(line, "file-repo") {
            DecodedLine::Skipped(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    fn again(event: Event) -> Event {
        let line = encode(&clean::clean(event));
        assert_eq!(line.as_str().matches('\n').count(), 1);
        self::event(line.as_str())
    }

    #[test]
    fn a_time_is_written_in_whole_seconds_that_read_back() {
        for (given, line) in [
            ("2026-01-02T03:04:05.999999999Z", "2026-01-02T03:04:05Z"),
            ("1969-12-31T23:59:58.5Z", "1969-12-31T23:59:58Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("-000001-12-31T23:59:59Z", "-000001-12-31T23:59:59Z"),
        ] {
            let text = format_timestamp(given.parse().unwrap());
            assert_eq!(text, line);
            assert_eq!(format_timestamp(text.parse().unwrap()), line);
        }
    }

    // S-LINE-2, S-LINE-3
    #[test]
    fn a_founding_line_is_understood_and_written_back_in_its_order() {
        let founding = event(FOUNDING);
        assert_eq!(founding.id, event(FOUNDING).id);
        let line = encode(&clean::clean(founding.clone()));
        let expected =
            format!("{{\"id\":\"{}\",{}\n", founding.id, FOUNDING.trim_start_matches('{'));
        assert_eq!(line.as_str(), expected);
        assert_eq!(again(founding.clone()), founding);
    }

    // S-LINE-3, S-LINE-5
    #[test]
    fn unknown_fields_and_kinds_survive() {
        let line = r#"{"id":"m1","event_type":"gotcha","lesson":"x","weight":1.5,"nested":{"a":[1,null]}}"#;
        let unknown = again(event(line));
        assert_eq!(unknown.event_type.as_str(), "gotcha");
        assert_eq!(unknown.extra["nested"]["a"][0], 1);
        assert_eq!(unknown.extra["weight"], 1.5);
    }

    // S-LINE-7
    #[test]
    fn hand_written_lines_are_read_as_meant() {
        let hand = event(
            r#"{"lesson":"x","tags":"npm, ci","timestamp":"2025-10-31","agent_id":7,"context":null}"#,
        );
        assert_eq!(hand.tags, ["npm", "ci"]);
        assert_eq!((hand.agent_id.as_str(), hand.repo.as_str()), ("7", "file-repo"));
        assert!(hand.timestamp.is_some());
    }

    // S-LINE-7
    #[test]
    fn values_that_cannot_be_understood_are_kept() {
        let odd = again(event(
            r#"{"lesson":"x","success_rate":"often","timestamp":"soon","id":"a b","tags":{"a":1}}"#,
        ));
        for name in ["success_rate", "timestamp", "tags"] {
            assert!(odd.extra.contains_key(name), "{name}");
        }
    }

    // S-LINE-7
    #[test]
    fn damage_at_the_edges_of_a_line_does_not_lose_it() {
        let (bom, nul) = ("\u{FEFF}", "\0\0\0");
        let same = event(FOUNDING).id;
        for line in
            [format!("{FOUNDING}\r"), format!("{bom}{FOUNDING}"), format!("{nul}{FOUNDING}{nul}\r")]
        {
            assert_eq!(event(&line).id, same);
        }
    }

    // S-LINE-7
    #[test]
    fn half_a_character_and_mixed_lists_do_not_lose_a_line() {
        assert_eq!(event(r#"{"lesson":"cut \ud83d"}"#).lesson, "cut \u{FFFD}");
        assert_eq!(event(r#"{"lesson":"x","tags":["npm",404,true]}"#).tags, ["npm", "404", "true"]);
    }

    // S-LINE-7
    #[test]
    fn invalid_utf8_is_replaced_not_dropped() {
        let DecodedLine::Event(event) = decode(b"{\"lesson\":\"caf\xE9\"}", "r") else { panic!() };
        assert_eq!(event.lesson, "caf\u{FFFD}");
    }

    // S-LINE-8
    #[test]
    fn what_is_no_event_is_skipped_with_its_reason() {
        assert_eq!(decode(b" \t\r", "r"), DecodedLine::Blank);
        assert_eq!(skip(b"\0\0"), SkipReason::NulBytes);
        assert_eq!(skip(b"[1]"), SkipReason::NotAnObject("an array"));
        assert_eq!(skip(b"{\"tags\":[\"x\"]}"), SkipReason::Empty);
        assert!(matches!(skip(b"{\"lesson\":\"torn"), SkipReason::NotJson(_)));
        let deep = format!("{{\"lesson\":\"x\",\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(skip(deep.as_bytes()), SkipReason::TooDeep);
        let long = vec![b'x'; READ_LINE_BYTES_MAX + 1];
        assert!(matches!(skip(&long), SkipReason::TooLong { .. }));
    }

    // S-LINE-8
    #[test]
    fn each_reason_is_told_in_words() {
        for (line, words) in [
            (&b"\0\0"[..], "nothing but NUL bytes"),
            (b"[1]", "an array, not a JSON object"),
            (b"{\"tags\":[\"x\"]}", "no lesson, context, command or symptoms"),
            (b"{", "not JSON: EOF while parsing"),
        ] {
            assert!(skip(line).to_string().starts_with(words), "{}", skip(line));
        }
        assert_eq!(SkipReason::TooDeep.to_string(), "nested deeper than 128 levels");
        let long = SkipReason::TooLong { line_bytes: 7 }.to_string();
        assert_eq!(long, "7 bytes long; lines over 2097152 bytes are not read");
    }

    #[test]
    fn the_longest_line_is_read() {
        let frame = "{\"lesson\":\"\"}".len();
        let line = format!("{{\"lesson\":\"{}\"}}", "x".repeat(READ_LINE_BYTES_MAX - frame));
        assert_eq!(line.len(), READ_LINE_BYTES_MAX);
        assert_eq!(event(&line).lesson.len(), READ_LINE_BYTES_MAX - frame);
    }

    // S-LINE-3
    #[test]
    fn the_version_of_the_form_is_kept() {
        let newer = again(event(r#"{"id":"m1","lesson":"x","schema":2}"#));
        assert_eq!((newer.schema, newer.extra.get("schema")), (Some(2), None));
        assert_eq!(again(event(r#"{"lesson":"x","schema":"two"}"#)).extra["schema"], "two");
    }

    #[test]
    fn a_megabyte_line_is_read() {
        let line = format!("{{\"lesson\":\"{}\"}}", "x".repeat(1_048_576));
        assert_eq!(event(&line).lesson.len(), 1_048_576);
    }

    // S-LINE-9
    #[test]
    fn no_tool_breaks_a_line_in_two() {
        let breaks = "a\u{B}\u{C}\u{1E}\u{85}\u{2028}\u{2029}\r\nb";
        let object = serde_json::json!({"id": "m1", "lesson": "x", "by_others": breaks, breaks: 1});
        let odd = event(&object.to_string());
        assert_eq!(odd.extra["by_others"], breaks);
        let line = encode(&clean::clean(odd.clone())).as_str().to_owned();
        assert_eq!(line.chars().filter(|c| c.is_control() || c.is_whitespace()).count(), 1);
        assert_eq!(again(odd.clone()), odd);
    }

    // S-LINE-6
    #[test]
    fn an_event_about_a_memory_needs_no_text() {
        let about = event(r#"{"id":"f1","event_type":"feedback","memory_id":"m1"}"#);
        assert_eq!(about.memory_id.unwrap().as_str(), "m1");
    }

    proptest! {
        // S-LINE-9
        #[test]
        fn any_text_survives_the_round_trip(
            lesson in "\\PC{1,40}", context in any::<String>(), tags in prop::collection::vec("[a-z]{1,8}", 0..4)
        ) {
            let mut sample = event(r#"{"id":"m1","lesson":"x"}"#);
            // The write path drops these characters too.
            sample.lesson = format!("a{}", text::visible(&lesson));
            let context: String = context.chars().filter(|c| !text::is_unsafe(*c)).collect();
            sample.context = text::visible(&context).into_owned();
            sample.tags = tags;
            prop_assert_eq!(again(sample.clone()), sample);
        }

        // S-WRITE-3
        #[test]
        fn no_line_holds_what_is_unsafe_or_shows_nothing(
            texts in prop::collection::vec(any::<String>(), 4), odd in "[\u{200B}-\u{200F}\u{202E}\u{FE00}-\u{FE0F}\u{E0041}\u{E0100}a1é]{0,20}"
        ) {
            let mut sample = event(r#"{"id":"m1","lesson":"x"}"#);
            sample.lesson = format!("{}{odd}", texts[0]);
            sample.tags = vec![texts[1].clone(), odd.clone()];
            sample.branch = Some(odd.clone());
            sample.extra.insert(format!("{}{odd}", texts[2]), Value::from(format!("{odd}{}", texts[3])));
            let line = encode(&clean::clean(sample));
            let line = line.as_str().strip_suffix('\n').unwrap();
            prop_assert!(!line.chars().any(|c| text::is_unsafe(c) || text::is_invisible(c)), "{line:?}");
        }

        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes, "r");
        }

        #[test]
        fn a_line_cut_anywhere_is_skipped_not_misread(cut in 1_usize..300) {
            let cut = cut.min(FOUNDING.len() - 1);
            prop_assert!(matches!(decode(&FOUNDING.as_bytes()[..cut], "r"), DecodedLine::Skipped(_)));
        }
    }
}
