//! Laws of changes, on random documents with comments, trailing commas and any style.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// White space and comments, as may stand between any two tokens.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // a } comment\n ".to_owned()),
        1 => Just("/* \" */".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("null".to_owned()),
        Just("\"te\\\"xt, }é\"".to_owned()),
        Just("-2.5e3".to_owned()),
    ]
}

fn value(depth: u32) -> BoxedStrategy<String> {
    if depth == 0 {
        return scalar().boxed();
    }
    prop_oneof![2 => scalar(), 1 => object(depth, "m"), 1 => array(depth)].boxed()
}

/// Joins items with commas and gaps, the last comma perhaps too.
fn joined(
    items: &[(String, String, String)],
    has_trailing_comma: bool,
    open: &str,
    close: &str,
) -> String {
    let last = items.len().saturating_sub(1);
    let parts = items.iter().enumerate().map(|(place, (before, item, after))| {
        let comma = if place < last || has_trailing_comma { "," } else { "" };
        format!("{before}{item}{after}{comma}")
    });
    format!("{open}{}{close}", parts.collect::<String>())
}

fn object(depth: u32, name: &'static str) -> BoxedStrategy<String> {
    let item = (gap(), value(depth - 1), gap());
    (prop::collection::vec(item, 1..4), any::<bool>(), gap())
        .prop_map(move |(items, has_trailing_comma, gap)| {
            let items: Vec<_> = items
                .into_iter()
                .enumerate()
                .map(|(n, (before, value, after))| {
                    (before, format!("\"{name}{n}\":{gap}{value}"), after)
                })
                .collect();
            joined(&items, has_trailing_comma, "{", &format!("{gap}}}"))
        })
        .boxed()
}

fn array(depth: u32) -> BoxedStrategy<String> {
    let item = (gap(), value(depth - 1), gap());
    (prop::collection::vec(item, 1..4), any::<bool>())
        .prop_map(|(items, has_trailing_comma)| joined(&items, has_trailing_comma, "[", "]"))
        .boxed()
}

fn document() -> impl Strategy<Value = String> {
    (gap(), object(3, "top"), gap()).prop_map(|(before, object, after)| before + &object + &after)
}

/// Whether `part` is what is left of `whole` when pieces are cut out.
fn is_within(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|c| rest.any(|other| other == c))
}

proptest! {
    // S-SETUP-3
    #[test]
    fn set_then_remove_restores_the_text(text in document()) {
        let mut json = Json::parse(&text).unwrap();
        let before = json.value();
        let ours = json!({"command": "/p", "args": ["mcp"]});
        json.set(&["ours", "entry"], &ours).unwrap();
        prop_assert_eq!(json.get(&["ours", "entry"]), Some(ours.clone()));
        prop_assert!(is_within(&text, &json.text()), "all that was there is there:\n{}", json.text());
        let once = json.text();
        json.set(&["ours", "entry"], &ours).unwrap();
        prop_assert_eq!(json.text(), once);
        let mut expected = before.clone();
        expected.as_object_mut().unwrap().insert("ours".to_owned(), json!({"entry": ours}));
        prop_assert_eq!(json.value(), expected);
        json.remove(&["ours"]).unwrap();
        prop_assert_eq!(json.text(), text);
    }

    // S-SETUP-3
    #[test]
    fn push_then_remove_restores_the_text(text in document()) {
        let mut json = Json::parse(&text).unwrap();
        let before = json.value();
        let ours = json!({"command": "ours"});
        let names: Vec<String> = before.as_object().unwrap().keys().cloned().collect();
        for name in names {
            let is_array = before[&name].is_array();
            prop_assert_eq!(json.push(&[&name], &ours).is_ok(), is_array);
            if is_array {
                prop_assert!(is_within(&text, &json.text()));
                json.remove_elements(&[&name], &|value| *value == ours).unwrap();
            }
            prop_assert_eq!(json.text(), text.as_str());
        }
    }
}
