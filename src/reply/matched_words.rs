//! Names the words of an answer that the query matched, so that a page marks what the search matched and nothing else.
//! Not here: which words those are (`index::lexical`), and marking them at a terminal.

use std::collections::BTreeSet;

use serde_json::Value;

use super::reply::Reply;
use index::lexical::QueryWords;

/// The field that names them.
const MATCHED_WORDS: &str = "matched_words";

/// Most words that are named: a page marks them in a few lines of text.
const WORDS_MAX: usize = 256;

/// Adds the words to the JSON, where there is any. `query` has no filters.
#[must_use]
pub fn with_matched_words(reply: Reply, query: &str) -> Reply {
    if reply.json.is_null() {
        return reply;
    }
    let mut found = BTreeSet::new();
    collect(&reply.json, &mut QueryWords::parse(query), &mut found);
    let words: Vec<Value> = found.into_iter().map(Value::from).collect();
    reply.with_field(MATCHED_WORDS, words.into())
}

fn collect(json: &Value, words: &mut QueryWords, found: &mut BTreeSet<String>) {
    match json {
        Value::String(text) => {
            for span in words.spans(text) {
                if found.len() < WORDS_MAX {
                    found.extend(text.get(span).map(str::to_lowercase));
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words, found)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, words, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // S-REST-7
    #[test]
    fn the_words_of_an_answer_that_the_query_matched_are_named() {
        let json = json!({ "memories": [{ "lesson": "it Redacts", "tags": ["red", "redo"] }] });
        let named = |query| with_matched_words(Reply::new(String::new(), json.clone()), query).json;
        assert_eq!(named("red")[MATCHED_WORDS], json!(["red"]));
        assert_eq!(named("redact")[MATCHED_WORDS], json!(["redacts"]));
        assert_eq!(named("the")[MATCHED_WORDS], json!([]));
        assert!(with_matched_words(Reply::new(String::new(), Value::Null), "red").json.is_null());
    }
}
