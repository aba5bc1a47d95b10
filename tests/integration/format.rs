//! Lines of every age and damage load for ever: `tests/fixtures/v1` never changes, and neither does
//! what it means. The ids of lines without one were computed apart from this program (ULID of the
//! line's time, or 1970, and the first ten bytes of its SHA-256) and stand here by hand.
//! Not here: what the program writes today (`door`).
//!
//! The two walks between versions:
//! - A new reader and an old line: every fixture but `unknown_fields.jsonl`. A change that needs one of
//!   them edited is not a change but a break; a new form gets a folder `v2` beside `v1`.
//! - An old reader and a new line: `unknown_fields.jsonl` stands for every later writer. This reader
//!   must understand what it knows, keep what it does not, and lose none of it when it writes.

use std::path::PathBuf;

use event::{Confidence, DecodedLine, Event, MemoryChange, MemoryScope, Node, clean, codec};
use sha2::{Digest, Sha256};
use store::Tail;

const FOUNDING_ID: &str = "01K8WA2DX85P5CMD3WY8MSF2AJ";
const FOUNDING: &str =
    "01K8WA2DX85P5CMD3WY8MSF2AJ error: always verify ownership before npm operations";
const SECOND: &str = "01K8WAXC704R0KASTPE6QJ6GMF success: a lock file makes installs repeatable";
const THIRD: &str = "01K91WPYM0MR78QWD91KWZTNS7 pattern: pin the base image";

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1")
}

/// Reads a log as the retriever does: complete lines only.
fn decoded(mut tail: Tail) -> Vec<DecodedLine> {
    let mut lines = Vec::new();
    tail.read(|line| lines.push(codec::decode(line.bytes, "file-repo"))).unwrap();
    lines
}

fn events(fixture: &str) -> Vec<Event> {
    let lines = decoded(Tail::from_beginning(fixtures().join(fixture))).into_iter();
    let event = |line| match line {
        DecodedLine::Event(event) => Some(*event),
        DecodedLine::Blank | DecodedLine::Skipped(_) => None,
    };
    lines.filter_map(event).collect()
}

/// One short text per line: what it was understood to be.
fn outline(fixture: &str) -> Vec<String> {
    let lines = decoded(Tail::from_beginning(fixtures().join(fixture))).into_iter();
    let text = |line| match line {
        DecodedLine::Event(event) => format!("{} {}: {}", event.id, event.event_type, event.lesson),
        DecodedLine::Blank => "blank".to_owned(),
        DecodedLine::Skipped(why) => format!("skipped, {why}"),
    };
    lines.map(text).collect()
}

/// Compares outlines; an expected line that ends in `…` is only a beginning, where the rest is the
/// wording of the JSON parser.
#[track_caller]
fn assert_outline(fixture: &str, expected: &[&str]) {
    let outline = outline(fixture);
    assert_eq!(outline.len(), expected.len(), "{outline:#?}");
    for (found, expected) in outline.iter().zip(expected) {
        match expected.strip_suffix('…') {
            Some(beginning) => assert!(found.starts_with(beginning), "{found}"),
            None => assert_eq!(found, expected),
        }
    }
}

#[test]
fn no_fixture_was_ever_changed() {
    // Also fails where git changes line breaks at checkout: `.gitattributes` forbids it.
    let expected = [
        ("audience.jsonl", "f27ab0e2199a1dea"),
        ("bom.jsonl", "f96c7e8c90f49d69"),
        ("confidence.jsonl", "6e80b2cf274d80ea"),
        ("crlf.jsonl", "01162c44c53bb3fb"),
        ("deep.jsonl", "6fc642afe34be6e6"),
        ("folder.jsonl", "3b7de636c0cb18db"),
        ("founding.jsonl", "bd9ca5c482fc4183"),
        ("hand_written.jsonl", "8641fb0d6be116d6"),
        ("invalid_utf8.jsonl", "c07abad69b023551"),
        ("life.jsonl", "195d5217984bed76"),
        ("links.jsonl", "b85c1b2c02549326"),
        ("mixed.jsonl", "0064397e5bb7c64c"),
        ("nul.jsonl", "ea22d41c8589af18"),
        ("torn.jsonl", "662b3e018e9bb0c4"),
        ("unknown_fields.jsonl", "dd66141fa2143d18"),
    ];
    let mut found: Vec<(String, String)> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let digest = Sha256::digest(std::fs::read(entry.path()).unwrap());
            let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            (entry.file_name().into_string().unwrap(), digest)
        })
        .collect();
    found.sort();
    let found: Vec<(&str, &str)> =
        found.iter().map(|(name, digest)| (name.as_str(), digest.as_str())).collect();
    assert_eq!(found, expected);
}

// S-LINE-2
#[test]
fn founding_lines_load_with_every_field() {
    assert_outline("founding.jsonl", &[FOUNDING, SECOND, THIRD]);
    let [first, second, third] = events("founding.jsonl").try_into().unwrap();
    assert_eq!(first.timestamp, Some("2025-10-31T04:58:01Z".parse().unwrap()));
    assert_eq!((first.agent_id.as_str(), first.repo.as_str()), ("claude-code", "gptcoach2"));
    assert_eq!(first.context, "npm install failed with EACCES");
    assert_eq!(first.command, "sudo chown -R $USER . && npm ci");
    assert_eq!(first.success_rate.unwrap().to_string(), "9/10");
    assert_eq!(first.tags, ["npm", "permissions", "node_modules"]);
    assert!(first.extra.is_empty() && first.schema.is_none() && first.memory_id.is_none());
    assert_eq!((second.context.as_str(), second.tags.len()), ("", 0));
    assert_eq!((third.command.as_str(), third.agent_id.as_str()), ("", "codex"));
}

// S-LINE-3
#[test]
fn founding_lines_are_written_back_byte_by_byte_behind_their_id() {
    let text = std::fs::read_to_string(fixtures().join("founding.jsonl")).unwrap();
    for (event, line) in events("founding.jsonl").into_iter().zip(text.lines()) {
        let expected = format!("{{\"id\":\"{}\",{}\n", event.id, line.strip_prefix('{').unwrap());
        assert_eq!(codec::encode(&clean::clean(event)).as_str(), expected);
    }
}

// S-LINE-7
#[test]
fn hand_written_lines_load_as_meant() {
    assert_outline(
        "hand_written.jsonl",
        &[
            "0000000000CBSF0FWPVN63DEMV : no other field at all",
            "0000000000N0HQ0QTBKDJH9332 : written by hand, with spaces",
            "01K8VS0R0013BM1CRADBR38J80 : a date is a time",
            "01K8WA2DX86NJ5Q878BA8ERRES : a local time is UTC",
            "0000000000C3N4Y8BR1EZSCFGK : numbers and nulls",
            "000000000022VX2DWRXKHD36Y9 Gotcha!: ",
            "blank",
            "skipped, not JSON: …",
            "note-1 : ",
        ],
    );
    let events = events("hand_written.jsonl");
    assert_eq!(events[0].repo, "file-repo", "a line without repo is of its file's");
    assert_eq!(events[1].tags, ["npm", "ci"]);
    assert_eq!(events[2].timestamp, Some("2025-10-31T00:00:00Z".parse().unwrap()));
    assert_eq!(events[3].timestamp, Some("2025-10-31T04:58:01Z".parse().unwrap()));
    let odd = &events[4];
    assert_eq!((odd.agent_id.as_str(), odd.timestamp, odd.success_rate), ("7", None, None));
    assert_eq!(
        (&odd.extra["success_rate"], &odd.extra["timestamp"]),
        (&"often".into(), &"soon".into())
    );
    assert_eq!(events[5].symptoms, ["E0382: borrow of moved value, again"]);
    assert_eq!(
        (events[6].repo.as_str(), events[6].context.as_str()),
        ("Web Site", "only what happened")
    );
}

// S-LINE-4, S-LINE-7
#[test]
fn line_breaks_marks_and_nul_bytes_change_no_id() {
    assert_outline("crlf.jsonl", &[FOUNDING, "blank", SECOND]);
    assert_outline("bom.jsonl", &[FOUNDING, SECOND]);
    let cut = "skipped, not JSON: …";
    assert_outline("nul.jsonl", &[FOUNDING, "skipped, nothing but NUL bytes", SECOND, cut]);
}

// S-LINE-7
#[test]
fn bytes_that_are_no_text_cost_only_themselves() {
    let replaced = "0000000000N2YB5BWKYEYGGE17 : caf\u{FFFD} and \u{FFFD}\u{FFFD}";
    assert_outline("invalid_utf8.jsonl", &[replaced, "skipped, not JSON: …", SECOND]);
}

// S-LINE-3, S-LINE-5
#[test]
fn lines_of_a_newer_writer_are_read_and_kept_whole() {
    let newer = "01K8W5Q0M8000000000000000A";
    let outline = [
        &format!("{newer} gotcha: of a newer schema"),
        "f1 feedback: ",
        "s1 supersede: said better",
        "x1 : a kind that is empty",
    ];
    assert_outline("unknown_fields.jsonl", &outline);
    let [first, feedback, supersede, _] = events("unknown_fields.jsonl").try_into().unwrap();
    assert_eq!(first.schema, Some(9));
    assert_eq!(first.extra["nested"].to_string(), r#"{"deep":[1,null,{"a":true}]}"#);
    assert_eq!(
        (first.extra["big"].as_u64(), &first.extra["weight"]),
        (Some(u64::MAX), &1.5.into())
    );
    assert_eq!(feedback.memory_id.as_ref().unwrap().as_str(), newer);
    assert_eq!(feedback.extra["outcome"], "worked");
    assert_eq!(supersede.memory_id.as_ref().unwrap().as_str(), "f1");
    assert_eq!(supersede.extra["tags"].to_string(), r#"{"a":1}"#);
    for event in events("unknown_fields.jsonl") {
        let line = codec::encode(&clean::clean(event.clone()));
        let DecodedLine::Event(again) = codec::decode(line.as_str().as_bytes(), "file-repo") else {
            panic!("{}", line.as_str());
        };
        assert_eq!(*again, event, "lost on the way through this version");
    }
}

// S-LINE-1
#[test]
fn torn_lines_are_skipped_and_an_open_end_is_left() {
    assert_outline("torn.jsonl", &[FOUNDING, "skipped, not JSON: …", THIRD]);
}

// S-LINE-8
#[test]
fn deep_lines_do_not_exhaust_the_reader() {
    let too_deep = "skipped, nested deeper than 128 levels";
    let inside = "0000000000F94S9CTEQNGSXVQB : deep inside";
    assert_outline("deep.jsonl", &[inside, too_deep, too_deep, FOUNDING]);
}

// S-LINE-8
#[test]
fn a_log_with_everything_in_it_gives_its_events() {
    let not_json = "skipped, not JSON: …";
    let object = |what| format!("skipped, {what}, not a JSON object");
    let [array, string, number, truth, null] =
        ["an array", "a string", "a number", "true or false", "null"].map(object);
    let empty = "skipped, no lesson, context, command or symptoms";
    let expected = [
        FOUNDING,
        not_json,
        SECOND,
        not_json,
        THIRD,
        not_json,
        &array,
        &string,
        &number,
        &truth,
        &null,
        empty,
        empty,
        "blank",
        FOUNDING,
        "skipped, nothing but NUL bytes",
        not_json,
        "0000000000QM5GK7SDNVSZ65GC : the end",
    ];
    assert_outline("mixed.jsonl", &expected);
}

#[test]
fn a_line_of_a_megabyte_loads() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("big.jsonl");
    let lesson = "x".repeat(1 << 20);
    let founding = std::fs::read_to_string(fixtures().join("founding.jsonl")).unwrap();
    std::fs::write(&log, format!("{{\"lesson\":\"{lesson}\"}}\n{founding}")).unwrap();
    let lines = decoded(Tail::from_beginning(log));
    let [DecodedLine::Event(big), DecodedLine::Event(next), ..] = lines.as_slice() else {
        panic!()
    };
    assert_eq!((big.id.as_str(), big.lesson.len()), ("0000000000GGH0T5FBXSY8392Z", 1 << 20));
    assert_eq!(next.id.as_str(), FOUNDING_ID);
}

// S-LINE-3
#[test]
fn a_confidence_may_be_a_number() {
    let events = events("confidence.jsonl");
    let counts: Vec<&str> = events.iter().map(|event| event.confidence().as_str()).collect();
    assert_eq!(counts, ["inferred", "stated", "stated", "stated"]);
    let numbers = ["0.3", "0.85", "1", "[0.1]"];
    for (event, number) in events.into_iter().zip(numbers) {
        let line = codec::encode(&clean::clean(event));
        assert!(line.as_str().contains(&format!("\"confidence\":{number}")), "{}", line.as_str());
    }
}

// S-LINE-3
#[test]
fn a_folder_that_is_no_path_is_kept_as_it_is() {
    let events = events("folder.jsonl");
    let folders = events.iter().map(|event| event.folder().map(|folder| folder.to_string()));
    assert_eq!(folders.collect::<Vec<_>>(), [Some("packages/web".to_owned()), None, None]);
    let text = std::fs::read_to_string(fixtures().join("folder.jsonl")).unwrap();
    for (event, line) in events.into_iter().zip(text.lines()) {
        assert_eq!(codec::encode(&clean::clean(event)).as_str().trim_end(), line);
    }
}

// S-LIFE-1
#[test]
fn what_events_about_a_memory_do_is_read_for_ever() {
    let events = events("life.jsonl");
    let (memory, about) = events.split_first().unwrap();
    assert_eq!(memory.confidence(), Confidence::Inferred);
    assert_eq!(memory.expires(), Some("2026-06-01T00:00:00Z".parse().unwrap()));
    let changes: Vec<String> = about
        .iter()
        .map(|event| format!("{:?}", MemoryChange::from_event(event).unwrap()))
        .collect();
    let expected = [
        "Feedback(Worked)",
        "Supersede { by: EventId(\"m2\") }",
        "Retract",
        "Restore",
        "Pin",
        "Unpin",
        "Archive",
        "Bury",
        "Distinct { from: EventId(\"m3\") }",
        "Discount { by: Agent(\"mallory\") }",
        "Recount { by: Session(\"s1\") }",
    ];
    assert_eq!(changes, expected);
    for event in events {
        let line = codec::encode(&clean::clean(event.clone()));
        let DecodedLine::Event(again) = codec::decode(line.as_str().trim_end().as_bytes(), "")
        else {
            panic!()
        };
        assert_eq!(*again, event);
    }
}

// S-WRITE-9
#[test]
fn whom_a_memory_is_for_is_read_for_ever() {
    let events = events("audience.jsonl");
    let read: Vec<(MemoryScope, bool)> =
        events.iter().map(|event| (event.applies(), event.is_private())).collect();
    // Whoever writes `private` by hand in another form means it: what leaves a machine cannot be taken back.
    let expected =
        [(MemoryScope::Global, false), (MemoryScope::Repo, true), (MemoryScope::Repo, true)];
    assert_eq!(read, expected);
    for event in events {
        let line = codec::encode(&clean::clean(event.clone()));
        let DecodedLine::Event(again) = codec::decode(line.as_str().trim_end().as_bytes(), "")
        else {
            panic!()
        };
        assert_eq!(*again, event, "what an older reader does not know it keeps");
    }
}

// S-LINK-1, S-LINK-2
#[test]
fn links_are_read_for_ever() {
    let changes: Vec<MemoryChange> = events("links.jsonl")
        .iter()
        .map(|event| MemoryChange::from_event(event).unwrap())
        .collect();
    let told: Vec<String> = changes
        .iter()
        .map(|change| match change {
            MemoryChange::Link(link) => {
                let time = |time: Option<event::Timestamp>| {
                    time.map_or_else(|| "-".to_owned(), |time| time.to_string())
                };
                let (relation, strength) = (link.relation.as_str(), link.strength.share());
                let times = [time(link.valid_from), time(link.valid_to)].join(" ");
                format!("{relation} {} {strength} {times} {}", link.target, link.origin)
            }
            MemoryChange::Unlink { target, relation } => {
                format!("no {} {target}", relation.as_str())
            }
            other => format!("{other:?}"),
        })
        .collect();
    let expected = [
        "depends_on m2 0.5 - - manual",
        "calls src/b.rs 0.875 2026-01-01T00:00:00Z 2026-06-01T00:00:00Z tree-sitter:api",
        "no depends_on m2",
        "related_to m3 0.5 - - manual",
    ];
    assert_eq!(told, expected);
    let source = Node::from_id(events("links.jsonl")[1].memory_id.clone().unwrap());
    assert_eq!(
        source.place(),
        Some(("src/my dir/a.rs".to_owned(), Some("Parser::next".to_owned())))
    );
    for event in events("links.jsonl") {
        let line = codec::encode(&clean::clean(event.clone()));
        let DecodedLine::Event(again) = codec::decode(line.as_str().trim_end().as_bytes(), "")
        else {
            panic!()
        };
        assert_eq!(*again, event);
    }
}
