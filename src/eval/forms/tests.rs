//! Every format is read correctly, and errors name file, line and field.

use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::test_set::SetQuery;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.0.path().join(name), text).unwrap();
        }
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

const CORPUS: (&str, &str) = (
    "corpus.jsonl",
    "{\"id\":\"a\",\"text\":\"one\\u2028two\",\"title\":\"t\",\"licence\":\"MIT\"}\r\n\n{\"id\":\"b\",\"lesson\":\"x\"}\n",
);
const QUERIES: (&str, &str) = (
    "queries.jsonl",
    "{\"id\":\"q\",\"text\":\"one\",\"type\":\"vague\"}\n{\"id\":\"r\",\"text\":\"two\"}",
);
const QRELS: (&str, &str) = ("qrels.tsv", "q\ta\t2\nq\tb\t0\n");

fn question(id: &str, answer: &str) -> Value {
    json!({
        "question_id": id, "question": "where?", "question_type": "t",
        "haystack_session_ids": ["s", "u"], "haystack_dates": ["2024/03/01 (Fri) 12:30", "2024/03/02"],
        "haystack_sessions": [[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
            [{"role": "user", "content": "bye"}]],
        "answer_session_ids": [answer],
    })
}

fn conversation() -> Value {
    json!({
        "sample_id": "c",
        "conversation": {
            "session_10": [{"speaker": "A", "dia_id": "D10:1", "text": "last"}],
            "session_2_date_time": "9:05 am on 3 June, 2024",
            "session_2": [{"speaker": "A", "dia_id": "D2:1", "text": "", "blip_caption": "a cat"},
                {"speaker": "B", "dia_id": "D2:2", "text": ""}],
        },
        "qa": [
            {"question": "1?", "category": 1, "evidence": ["D2:1, D10:1"]},
            {"question": "5?", "category": 5, "evidence": ["D2:1"]},
            {"question": "3?", "category": 3, "evidence": ["D"]},
        ],
    })
}

fn published(value: &Value, scope: Option<QueryScope>) -> Result<(TestSet, QueryScope), EvalError> {
    let folder = Folder::with(&[("file.json", &value.to_string())]);
    read(&folder.path().join("file.json"), None, scope)
}

fn error_text(result: Result<(TestSet, QueryScope), EvalError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_folder_is_read_with_grades_and_what_is_stale() {
    let folder = Folder::with(&[CORPUS, QUERIES, QRELS, ("stale.tsv", "q\tb\n")]);
    let (set, scope) = read(&folder.path(), None, None).unwrap();
    assert_eq!(scope, QueryScope::Store);
    let [a, b] = &set.documents[..] else { panic!("{set:?}") };
    assert_eq!((&*a.text, a.title.as_deref(), &a.event), ("one\u{2028}two", Some("t"), &None));
    assert!(b.event.is_some() && b.place.ends_with("corpus.jsonl:3"), "{b:?}");
    let expected = SetQuery {
        id: "q".into(),
        text: "one".into(),
        kind: Some("vague".into()),
        relevant: vec![("a".into(), 2)],
        stale: vec!["b".into()],
        ..SetQuery::default()
    };
    assert_eq!(set.queries[0], expected);
    assert!(set.queries[1].relevant.is_empty());
}

#[test]
fn errors_in_a_folder_name_file_line_and_field() {
    for (file, text, expected) in [
        ("corpus.jsonl", "{\"id\":\"a\"}", "corpus.jsonl:1: text: must be a string, got nothing"),
        ("corpus.jsonl", "\n[1]", "corpus.jsonl:2: JSON: must be an object"),
        ("corpus.jsonl", "{", "corpus.jsonl:1: JSON: "),
        (
            "corpus.jsonl",
            "{\"id\":\"a\",\"text\":\"x\",\"group\":7}",
            "corpus.jsonl:1: group: must be a string",
        ),
        ("queries.jsonl", "{\"id\":\"q\",\"text\":[]}", "queries.jsonl:1: text: must be a string"),
        ("qrels.tsv", "q\ta", "qrels.tsv:1: grade: is missing"),
        ("qrels.tsv", "q\ta\tmuch", "qrels.tsv:1: grade: must be a whole number"),
        ("qrels.tsv", "nobody\ta\t1", "qrels.tsv:1: query: \"nobody\" is not in queries.jsonl"),
        ("qrels.tsv", "q\ta\t1\nq\tz\t1", "qrels.tsv:2: document: \"z\" is not in corpus.jsonl"),
    ] {
        let folder = Folder::with(&[CORPUS, QUERIES, QRELS, (file, text)]);
        let told = error_text(read(&folder.path(), None, None));
        assert!(told.contains(expected), "{told}\n{expected} expected");
    }
    let twice = CORPUS.1.replace("\"b\"", "\"a\"");
    let folder = Folder::with(&[QUERIES, ("qrels.tsv", ""), ("corpus.jsonl", &twice)]);
    assert!(
        error_text(read(&folder.path(), None, None))
            .contains("corpus.jsonl:3: id: \"a\" appears twice")
    );
    let folder = Folder::with(&[CORPUS, QUERIES]);
    assert!(error_text(read(&folder.path(), None, None)).contains("failed to read"));
}

#[test]
fn longmemeval_has_a_haystack_for_each_question_or_one_pool() {
    let file = json!([question("q1", "s"), question("q2_abs", "s")]);
    let (set, scope) = published(&file, None).unwrap();
    assert_eq!((scope, set.documents.len()), (QueryScope::Group, 4));
    assert_eq!(set.documents[0].text, "user: hi\nassistant: ho\n");
    assert_eq!(set.documents[2].id, "q2_abs/s");
    assert_eq!(set.documents[2].group.as_deref(), Some("q2_abs"));
    assert_eq!(set.queries[0].relevant, [("q1/s".to_owned(), 1)]);
    assert!(set.queries[1].relevant.is_empty(), "nothing answers it");
    let (pool, _) = published(&file, Some(QueryScope::Store)).unwrap();
    let ids: Vec<&str> = pool.documents.iter().map(|document| &*document.id).collect();
    assert_eq!(ids, ["s", "u"]);
    assert_eq!(pool.queries[0].group, None);
}

#[test]
fn locomo_has_turns_in_the_order_of_the_sessions() {
    let (set, scope) = published(&json!([conversation()]), None).unwrap();
    assert_eq!(scope, QueryScope::Group);
    let texts: Vec<&str> = set.documents.iter().map(|document| &*document.text).collect();
    assert_eq!(texts, ["A:  [image: a cat]", "A: last"]);
    assert_eq!(set.documents[0].timestamp.as_deref(), Some("9:05 am on 3 June, 2024"));
    let [first, adversarial] = &set.queries[..] else { panic!("{set:?}") };
    assert_eq!(first.relevant, [("c/D10:1".to_owned(), 1), ("c/D2:1".to_owned(), 1)]);
    assert_eq!((adversarial.kind.as_deref(), adversarial.relevant.len()), (Some("adversarial"), 0));
    assert!(set.notes[0].starts_with("1 questions"), "{:?}", set.notes);
}

#[test]
fn errors_in_a_published_file_name_element_and_field() {
    let without = |field: &str| {
        let mut question = question("q1", "s");
        question.as_object_mut().unwrap().shift_remove(field);
        json!([question])
    };
    let category = conversation().to_string().replace("\"category\":3", "\"category\":6");
    let category: Value = serde_json::from_str(&category).unwrap();
    for (file, expected) in [
        (without("question_id"), "file.json[0]: question_id: must be a string, got nothing"),
        (without("haystack_dates"), "file.json[0]: haystack_dates: must be an array"),
        (json!([question("q1", "nowhere")]), "file.json[0]: answer_session_ids: \"nowhere\""),
        (json!([category]), "file.json[0].qa[2]: category: must be a number from 1 to 5"),
        (json!([{"id": 1}]), "file.json: format: must be a folder"),
        (json!({}), "file.json: format: must be a folder"),
        (json!([7]), "file.json[0]: JSON: must be an object"),
    ] {
        let told = error_text(published(&file, None));
        assert!(told.contains(expected), "{told}\n{expected} expected");
    }
}
