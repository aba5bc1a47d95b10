//! The recogniser of the tests finds words that begin with `hush-`, and in the field `pin` also numbers.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Finds every `hush-` word.
pub(in super::super) fn find(text: &str) -> Vec<Finding> {
    let end_of = |start: usize| {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        start + text.as_bytes()[start..].iter().take_while(|byte| word(byte)).count()
    };
    let mut found: Vec<Finding> = Vec::new();
    for (start, _) in text.match_indices("hush-") {
        if found.last().is_none_or(|last| last.span.end <= start) {
            found.push(Finding { rule: "test-word", span: start..end_of(start) });
        }
    }
    found
}

fn fields(event: Event) -> Map<String, Value> {
    let mut fields = codec::fields_of(clean::clean(event).event());
    if let Some(pin) = fields.get_mut("pin").filter(|pin| pin.is_number()) {
        *pin = "[REDACTED:test-pin]".into();
    }
    fields
}

pub(in super::super) const TEST: Recogniser<'static> = Recogniser { find: &find, fields: &fields };

fn clean(line: &str) -> Option<String> {
    let exposed = TEST.find_secrets(line.as_bytes(), "api")?;
    exposed.clean.map(|clean| String::from_utf8(clean).unwrap())
}

fn event(line: &[u8]) -> Event {
    match codec::decode(line, "api") {
        DecodedLine::Event(event) => *event,
        other => panic!("{other:?} in {}", String::from_utf8_lossy(line)),
    }
}

// S-SCRUB-2
#[test]
fn only_the_text_with_the_secret_changes() {
    for (line, expected) in [
        (
            r#"{ "id":"m1", "lesson":"use hush-1 now","n":1.50e2,"\u00fc":[ "caf\u00e9" ] }"#,
            r#"{ "id":"m1", "lesson":"use [REDACTED:test-word] now","n":1.50e2,"\u00fc":[ "caf\u00e9" ] }"#,
        ),
        (
            r#"{"id":"m1","lesson":"l","tags":["a","hush-2"],"deep":{"x":[{"y":"hush-3\n"}]}}"#,
            r#"{"id":"m1","lesson":"l","tags":["a","[REDACTED:test-word]"],"deep":{"x":[{"y":"[REDACTED:test-word]\n"}]}}"#,
        ),
        // Split by an escape.
        (r#"{"id":"m1","lesson":"h\u0075sh-4"}"#, r#"{"id":"m1","lesson":"[REDACTED:test-word]"}"#),
        (
            r#"{"id":"m1","lesson":"l","hush-5":1}"#,
            r#"{"id":"m1","lesson":"l","[REDACTED:test-word]":1}"#,
        ),
        (
            r#"{"id":"m1","pin":1234 ,"lesson":"l"}"#,
            r#"{"id":"m1","pin":"[REDACTED:test-pin]" ,"lesson":"l"}"#,
        ),
        (
            r#"{"id":"m1","lesson":"a \ud83d hush-6"}"#,
            "{\"id\":\"m1\",\"lesson\":\"a \u{FFFD} [REDACTED:test-word]\"}",
        ),
        // JSON without an event, and a line that is not JSON.
        (r#"["hush-7", 1.50]"#, r#"["[REDACTED:test-word]", 1.50]"#),
        ("{\"lesson\":\"torn hush-8", "{\"lesson\":\"torn [REDACTED:test-word]"),
    ] {
        assert_eq!(clean(line).as_deref(), Some(expected), "{line}");
        assert_eq!(clean(expected), None, "nothing is left to do");
    }
}

#[test]
fn what_holds_no_secret_is_left_alone() {
    for line in ["", "  ", "no json", r#"{"lesson":"fine","pin":"1234"}"#, "[1]", "\0\0"] {
        assert_eq!(TEST.find_secrets(line.as_bytes(), "api"), None);
    }
}

// S-SCRUB-2
#[test]
fn a_line_keeps_the_id_that_its_bytes_gave_it() {
    for line in [
        r#"{"lesson":"hush-1","timestamp":"2025-10-31T04:58:01Z"}"#,
        r#" { "id":"", "lesson":"hush-1" } "#,
        r#"{"id":12,"lesson":"hush-1"}"#,
        r#"{"lesson":"hush-1","id":"no good id"}"#,
        "\u{FEFF}{\"lesson\":\"hush-1\"}\r",
        "\0\0{\"lesson\":\"hush-1\"}\0",
        r#"{"id":"m1","lesson":"hush-1","id":"m2"}"#,
    ] {
        let clean = clean(line).expect("a clean line");
        assert!(!clean.contains("hush"), "{clean}");
        assert_eq!(event(clean.as_bytes()).id, event(line.as_bytes()).id, "{clean}");
    }
    let clean = clean(r#"{"lesson":"hush-1"}"#).unwrap();
    let id = event(br#"{"lesson":"hush-1"}"#).id;
    assert_eq!(clean, format!(r#"{{"id":"{id}","lesson":"[REDACTED:test-word]"}}"#));
}

// S-SCRUB-1
#[test]
fn each_secret_is_told_with_its_field_and_rule() {
    let line = r#"{"id":"m1","lesson":"hush-1 hush-2","pin":5,"x":{"y":"hush-3"}}"#;
    let exposed = TEST.find_secrets(line.as_bytes(), "api").unwrap();
    let told: Vec<(&str, &str)> =
        exposed.spots.iter().map(|spot| (&*spot.field, &*spot.rule)).collect();
    let word = "test-word";
    assert_eq!(told, [("lesson", word), ("lesson", word), ("x", word), ("pin", "test-pin")]);
}

// S-SCRUB-1
#[test]
fn a_secret_in_a_name_is_not_told_as_a_field() {
    let line = r#"{"id":"m1","lesson":"l","hush-1":{"a":"hush-2"}}"#;
    let exposed = TEST.find_secrets(line.as_bytes(), "api").unwrap();
    assert_eq!(exposed.spots.len(), 2);
    assert!(exposed.spots.iter().all(|spot| spot.field == "[REDACTED:test-word]"));
}

// S-SCRUB-2
#[test]
fn bytes_that_are_no_text_survive_in_a_damaged_line() {
    let exposed = TEST.find_secrets(b"{\xFF hush-1\xFE", "api").unwrap();
    assert_eq!(exposed.clean.unwrap(), b"{\xFF [REDACTED:test-word]\xFE");
}

// S-SCRUB-2
#[test]
fn ids_are_left_since_lines_are_linked_by_them() {
    let line = r#"{"id":"hush-1","memory_id":"hush-2","lesson":"l"}"#;
    assert_eq!(TEST.find_secrets(line.as_bytes(), "api"), None);
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof!["hush-[a-z]{1,4}", "\\PC{0,6}", "[\"\\\\\n{},:]{0,3}"], 0..4)
        .prop_map(|parts| parts.join(" "))
}

proptest! {
    // S-SCRUB-2
    #[test]
    fn the_event_is_the_same_but_for_its_secrets(
        lesson in text(), tag in text(), name in "x[a-z]{1,5}", value in text(), has_id in any::<bool>(),
    ) {
        let mut line = json!({ "lesson": format!("l {lesson}"), "tags": [tag], name: { "deep": [value] } });
        if has_id {
            line["id"] = "m1".into();
        }
        let line = line.to_string();
        let before = event(line.as_bytes());
        let redacted = |text: &str| without(text, &find(text));
        let Some(exposed) = TEST.find_secrets(line.as_bytes(), "api") else {
            prop_assert!(!line.contains("hush-"));
            return Ok(());
        };
        let clean = exposed.clean.unwrap();
        let after = event(&clean);
        prop_assert!(!clean.windows(5).any(|bytes| bytes == b"hush-"));
        prop_assert_eq!(&after.id, &before.id);
        prop_assert_eq!(&after.lesson, &redacted(&before.lesson));
        let tags: Vec<String> = before.tags.iter().map(|tag| redacted(tag)).collect();
        prop_assert_eq!(&after.tags, &tags);
        prop_assert_eq!(after.extra.len(), before.extra.len());
        prop_assert_eq!(TEST.find_secrets(&clean, "api"), None);
    }
}
