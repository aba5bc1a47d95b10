//! Laws that hold for every input, as functions that panic if one is broken. Fuzz targets run them for minutes,
//! and `tests/integration/laws.rs` briefly with every test run. Not here: the source of the inputs.

use std::fs::OpenOptions;
use std::io::Write;

use event::clean;
use event::{DecodedLine, Event, RepoKey, Stamp, Timestamp, codec, limits, validate};
use guard::secrets::{findings, redacted};
use guard::text::is_unsafe;
use requests::listing::ShowArguments;
use requests::prompts::RecallArguments;
use requests::save;
use requests::{
    ApiRequest, ContextRequest, LIMIT_MAX, QUERY_BYTES_MAX, SearchRequest, TOKENS_MAX, TOKENS_MIN,
};
use serde_json::{Map, Value};
use store::{FileChange, Tail};

/// Longest list of problems that a model may have to read, in bytes.
const PROBLEMS_BYTES_MAX: usize = 32 * 1024;

/// Any line is decoded, or skipped with a reason. A decoded event is encoded as exactly one line, and decoding
/// that line gives the same event every time.
pub fn line_decode(line: &[u8]) {
    let DecodedLine::Event(event) = codec::decode(line, "api") else { return };
    let written = one_line(*event);
    match codec::decode(written.as_bytes(), "api") {
        DecodedLine::Event(again) => {
            assert_eq!(one_line((*again).clone()), written, "the second writing differs");
            let DecodedLine::Event(third) = codec::decode(written.as_bytes(), "elsewhere") else {
                panic!("{written:?} is read only once");
            };
            assert_eq!(third.id, again.id);
        }
        // Cleaning can leave nothing of a text that consisted of escapes.
        DecodedLine::Skipped(reason) => {
            assert_eq!(
                reason.to_string(),
                "no lesson, context, command or symptoms",
                "{written:?}"
            );
        }
        DecodedLine::Blank => panic!("{written:?}"),
    }
}

fn one_line(event: Event) -> String {
    let line = codec::encode(&clean::clean(event)).as_str().to_owned();
    let breaks = ['\n', '\r', '\u{B}', '\u{C}', '\u{85}', '\u{2028}', '\u{2029}'];
    assert_eq!(line.matches(breaks).count(), 1, "{line:?}");
    assert!(line.ends_with('\n'), "{line:?}");
    line
}

/// Secrets are found in any text. A redacted text contains none and is not changed by another redaction.
pub fn redact(text: &str) {
    let mut end = 0;
    for finding in findings(text) {
        assert!(finding.span.start >= end && !finding.span.is_empty(), "{finding:?} in {text:?}");
        assert!(text.get(finding.span.clone()).is_some(), "{finding:?} cuts a character");
        end = finding.span.end;
    }
    let once = redacted(text);
    assert_eq!(once == text, end == 0, "{text:?} became {once:?}");
    assert_eq!(redacted(&once), once, "of {text:?}");
    assert_eq!(findings(&once), [], "of {text:?}");
}

/// A log that grows in pieces and is read after each piece gives the same lines as the whole log. The first
/// byte of the input determines the pieces.
pub fn tail(bytes: &[u8]) {
    let (how, bytes) = bytes.split_first().unwrap_or((&1, &[]));
    let size = usize::from(*how).max(1);
    grown(&bytes.chunks(size).collect::<Vec<_>>());
}

/// Like [`tail`], with the given pieces.
pub fn grown(pieces: &[&[u8]]) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("a.jsonl");
    let mut file = OpenOptions::new().create(true).append(true).open(&log).expect("a log");
    let (mut following, mut lines) = (Tail::from_beginning(&log), Vec::new());
    for piece in pieces {
        file.write_all(piece).expect("room");
        assert!(matches!(read(&mut following, &mut lines), FileChange::Grown | FileChange::None));
    }
    let whole = pieces.concat();
    let complete = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut expected = Vec::new();
    let mut offset = 0;
    for line in whole.get(..complete).expect("in it").split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").expect("its line break");
        let kept = text.len().min(limits::READ_LINE_BYTES_MAX + 1);
        expected.push((offset, text.get(..kept).expect("in it").to_vec(), text.len()));
        offset += line.len();
    }
    assert_eq!(lines, expected);
    assert_eq!(following.cursor().offset(), u64::try_from(complete).expect("small"));
    let mut at_once = Vec::new();
    read(&mut Tail::from_beginning(&log), &mut at_once);
    assert_eq!(at_once, expected);
    assert_eq!(read(&mut following, &mut lines), FileChange::None);
    assert_eq!(lines.len(), expected.len());
}

/// The offset of each line, the bytes kept, and the length in bytes.
type Lines = Vec<(usize, Vec<u8>, usize)>;

fn read(tail: &mut Tail, lines: &mut Lines) -> FileChange {
    let number = |number: u64| usize::try_from(number).expect("small");
    let take = |line: store::LogLine<'_>| {
        lines.push((number(line.offset), line.bytes.to_vec(), number(line.line_bytes)));
    };
    tail.read(take).expect("a readable log")
}

/// Any arguments of any tool become a request within its bounds, or a bounded list of problems. The first byte
/// of the input selects the tool; the rest is JSON.
pub fn mcp_input(bytes: &[u8]) {
    let (tool, json) = bytes.split_first().unwrap_or((&0, &[]));
    if let Ok(arguments) = serde_json::from_slice(json) {
        arguments_of(tool % 5, arguments);
    }
}

/// Like [`mcp_input`], with parsed arguments.
pub fn arguments_of(tool: u8, arguments: Map<String, Value>) {
    let problems = match tool {
        0 => SearchRequest::from_tool(arguments).map(|request| bounded_search(&request)).err(),
        1 => {
            let bounds = |request: ContextRequest| bounded(request.max_tokens);
            ContextRequest::from_tool(arguments).map(bounds).err()
        }
        2 => {
            let bounds = |request: RecallArguments| bounded_text(&request.topic);
            RecallArguments::from_tool(arguments).map(bounds).err()
        }
        3 => {
            let ids: Vec<String> = arguments.keys().cloned().collect();
            let arguments = Map::from_iter([("ids".to_owned(), ids.into())]);
            ShowArguments::from_command(arguments).map(drop).err()
        }
        _ => {
            saved(arguments);
            None
        }
    };
    let told = problems.map_or(0, |problems| problems.to_string().len());
    assert!(told <= PROBLEMS_BYTES_MAX, "{told} bytes of problems");
}

fn bounded_search(request: &SearchRequest) {
    bounded(request.max_tokens);
    if request.ids.is_empty() {
        bounded_text(&request.query);
    }
    assert!((1..=LIMIT_MAX).contains(&request.limit), "{}", request.limit);
    for list in [&request.kinds, &request.tags, &request.files] {
        assert!(list.len() <= 32, "{} filters", list.len());
    }
}

fn bounded(max_tokens: usize) {
    assert!((TOKENS_MIN..=TOKENS_MAX).contains(&max_tokens), "{max_tokens}");
}

fn bounded_text(query: &str) {
    assert!(!query.is_empty() && query.len() <= QUERY_BYTES_MAX && !query.contains(is_unsafe));
}

/// Accepted arguments for saving give one line within the bound, which decodes to the same event.
fn saved(arguments: Map<String, Value>) {
    let stamp = Stamp {
        now: Timestamp::UNIX_EPOCH,
        random: 7,
        repo: RepoKey::from_line("api"),
        agent_id: "tester".to_owned(),
        days: event::DayZone::Utc,
    };
    match validate(save::draft(arguments), &stamp) {
        Ok(event) => {
            let line = one_line(event);
            assert!(line.len() <= limits::LINE_BYTES_MAX + 1, "{} bytes", line.len());
            assert!(
                matches!(codec::decode(line.as_bytes(), "api"), DecodedLine::Event(_)),
                "{line}"
            );
        }
        Err(problems) => {
            let told = problems.to_string().len();
            assert!(told <= PROBLEMS_BYTES_MAX, "{told} bytes of problems");
        }
    }
}
