//! The temporary store contains what the set says.

use proptest::prelude::*;

use super::*;
use event::{DecodedLine, Event, codec};

fn dated_document(text: &str, timestamp: &str, group: &str) -> SetDocument {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    SetDocument {
        id: text.to_owned(),
        text: text.to_owned(),
        timestamp: given(timestamp),
        group: given(group),
        ..SetDocument::default()
    }
}

fn events(documents: Vec<SetDocument>) -> (EvalCorpus, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let set = TestSet { documents, ..TestSet::default() };
    let corpus = write(&set, folder.path()).unwrap();
    let store = Store::at(folder.path().join("logs"));
    let mut events = Vec::new();
    for log in store.logs().unwrap() {
        for line in std::fs::read_to_string(log).unwrap().lines() {
            let DecodedLine::Event(event) = codec::decode(line.as_bytes(), "") else {
                panic!("{line}")
            };
            events.push(*event);
        }
    }
    (corpus, events)
}

#[test]
fn neighbours_with_one_group_and_time_are_one_session() {
    let noon = "12:00 pm on 8 May, 2023";
    let (corpus, events) = events(vec![
        dated_document("a", noon, "talk"),
        dated_document("b", noon, "talk"),
        dated_document("c", noon, "other"),
        dated_document("d", "2023-05-08", "talk"),
        dated_document("e", "2023-05-08", "talk"),
    ]);
    let of = |text: &str| events.iter().find(|event| event.lesson == text).unwrap();
    let (a, b) = (of("a"), of("b"));
    assert!(a.session_id.is_some() && a.session_id == b.session_id);
    assert!(a.id < b.id && a.timestamp < b.timestamp);
    for alone in ["c", "d", "e"] {
        assert_eq!(of(alone).session_id, None, "{alone}");
    }
    assert_eq!(of("c").repo, "other");
    assert_eq!(corpus.newest, "2023-05-08T12:00:00Z".parse().unwrap());
    assert_eq!(corpus.documents[a.id.as_str()], 0);
}

#[test]
fn undated_documents_get_the_newest_date_and_keep_order() {
    let (_, events) = events(vec![
        dated_document("a", "", ""),
        dated_document("b", "2023-05-08", ""),
        dated_document("c", "", ""),
    ]);
    let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
    assert!(ids[0] < ids[1] && ids[1] < ids[2], "{ids:?}");
    assert_eq!(events[0].timestamp, events[1].timestamp);
    assert_eq!(events[0].repo, "eval");
}

#[test]
fn a_title_is_the_context_unless_the_text_begins_with_it() {
    let titled = |title: &str, text: &str| SetDocument {
        title: Some(title.to_owned()),
        ..dated_document(text, "", "")
    };
    let (_, events) =
        events(vec![titled("npm", "clear the cache"), titled("cargo", "cargo fails")]);
    assert_eq!((&*events[0].context, &*events[1].context), ("npm", ""));
}

#[test]
fn an_event_of_a_set_keeps_its_id_and_fields() {
    let event = serde_json::json!({
        "id": "e1", "lesson": "x", "context": "c", "event_type": "error", "group": "api",
        "tags": ["a"], "success_rate": "9/10", "timestamp": "2026-01-02T03:04:05Z",
    });
    let document = SetDocument {
        event: event.as_object().cloned(),
        ..dated_document("e1", "2026-01-02T03:04:05Z", "api")
    };
    let (corpus, events) = events(vec![document]);
    assert_eq!(corpus.documents, HashMap::from([("e1".to_owned(), 0)]));
    assert_eq!((events[0].repo.as_str(), events[0].tags.len()), ("api", 1));
    assert_eq!(events[0].event_type.as_str(), "error");
}

#[test]
fn what_the_door_refuses_is_named_by_place_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let bad = SetDocument { place: "corpus.jsonl:7".into(), ..dated_document("", "", "") };
    let set = TestSet { documents: vec![bad], ..TestSet::default() };
    let error = write(&set, folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("corpus.jsonl:7: lesson: is empty"), "{error}");
}

#[test]
fn groups_that_keys_do_not_tell_apart_stay_apart() {
    let (corpus, _) =
        events(vec![dated_document("a", "", "Talk"), dated_document("b", "", "talk")]);
    assert_ne!(corpus.repos["Talk"], corpus.repos["talk"]);
}

#[test]
fn a_document_that_no_event_can_hold_is_several() {
    let long = "line of a long session\n".repeat(4_000);
    let (corpus, events) = events(vec![dated_document(&long, "", "")]);
    assert_eq!((events.len(), corpus.in_parts), (3, 1));
    assert!(corpus.documents.values().all(|document| *document == 0));
    let lines: usize = events.iter().map(|event| event.lesson.lines().count()).sum();
    assert_eq!(lines, 4_000);
    assert!(events.iter().all(|event| event.session_id == events[0].session_id));
}

proptest! {
    #[test]
    fn parts_lose_nothing_but_white_space(text in "[a-z\"\u{1F600} \n]{0,300}", times in 1_usize..400) {
        let text = text.repeat(times);
        let parts = parts(&text);
        let words = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(words(&parts.join("\n")), words(&text));
        prop_assert!(parts.iter().all(|part| part.len() <= LESSON_BYTES_MAX));
    }
}
