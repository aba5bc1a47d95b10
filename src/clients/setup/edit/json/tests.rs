//! Changes to texts as people have them, byte for byte.

use serde_json::json;

use super::*;

fn after(text: &str, change: impl FnOnce(&mut Json) -> Result<(), EditError>) -> String {
    let mut json = Json::parse(text).unwrap();
    change(&mut json).unwrap();
    json.text().to_owned()
}

fn set(text: &str) -> String {
    after(text, |json| json.set(&["servers", "k"], &json!({"command": "x", "args": ["mcp"]})))
}

fn unset(text: &str) -> String {
    after(text, |json| json.remove(&["servers", "k"]))
}

// S-SETUP-3
#[test]
fn an_entry_is_added_in_the_style_of_the_file() {
    for (before, expected) in [
        (
            "",
            "{\n  \"servers\": {\n    \"k\": {\n      \"command\": \"x\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
        ),
        (
            "{\"servers\":{\"a\":1}}",
            "{\"servers\":{\"a\":1,\"k\":{\"command\":\"x\",\"args\":[\"mcp\"]}}}",
        ),
        ("{\"servers\": {}}", "{\"servers\": {\"k\": {\"command\": \"x\", \"args\": [\"mcp\"]}}}"),
        (
            "{\r\n\t// mine\r\n\t\"servers\": {\r\n\t\t\"a\": 1 // one\r\n\t}\r\n}\r\n",
            "{\r\n\t// mine\r\n\t\"servers\": {\r\n\t\t\"a\": 1, // one\r\n\t\t\"k\": {\r\n\t\t\t\"command\": \"x\",\r\n\t\t\t\"args\": [\"mcp\"]\r\n\t\t}\r\n\t}\r\n}\r\n",
        ),
        (
            "{\n    \"servers\": {\n        \"a\": 1,\n    },\n}",
            "{\n    \"servers\": {\n        \"a\": 1,\n        \"k\": {\n            \"command\": \"x\",\n            \"args\": [\"mcp\"]\n        },\n    },\n}",
        ),
        (
            "{\n  \"servers\": { \"a\": 1 }\n}\n",
            "{\n  \"servers\": { \"a\": 1, \"k\": {\"command\": \"x\", \"args\": [\"mcp\"]} }\n}\n",
        ),
        (
            "{\n  \"servers\": {\"k\": {\"command\": \"old\"}}\n}\n",
            "{\n  \"servers\": {\"k\": {\n    \"command\": \"x\",\n    \"args\": [\"mcp\"]\n  }}\n}\n",
        ),
    ] {
        assert_eq!(set(before), expected, "{before}");
        assert_eq!(set(&set(before)), expected, "twice: {before}");
    }
}

// S-SETUP-3
#[test]
fn an_entry_is_taken_out_and_its_neighbours_stay() {
    for (before, expected) in [
        ("{\"servers\":{\"a\":1,\"k\":2,\"b\":3}}", "{\"servers\":{\"a\":1,\"b\":3}}"),
        ("{\"servers\":{\"k\":2,\"b\":3}}", "{\"servers\":{\"b\":3}}"),
        ("{\"servers\":{\"k\":2}}", "{\"servers\":{}}"),
        ("{\n \"servers\": {\n  \"k\": 2\n }\n}", "{\n \"servers\": {}\n}"),
        ("{\"servers\": { // note\n \"k\": 2 }}", "{\"servers\": { // note\n  }}"),
        (
            "{\"servers\": {\n  \"a\": 1, // one\n  \"k\": 2 /* two */\n}}",
            "{\"servers\": {\n  \"a\": 1 // one\n   /* two */\n}}",
        ),
        ("{\"other\": {}}", "{\"other\": {}}"),
    ] {
        assert_eq!(unset(before), expected, "{before}");
    }
}

#[test]
fn elements_come_and_go() {
    let text =
        "{\n  \"hooks\": {\n    \"Start\": [\n      {\"command\": \"theirs\"}\n    ]\n  }\n}\n";
    let ours = json!({"command": "ours"});
    let mut json = Json::parse(text).unwrap();
    json.push(&["hooks", "Start"], &ours).unwrap();
    json.push(&["hooks", "End"], &ours).unwrap();
    assert_eq!(json.get(&["hooks", "End"]), Some(json!([{"command": "ours"}])));
    assert_eq!(json.get(&["hooks", "Start"]).unwrap().as_array().unwrap().len(), 2);
    json.remove(&["hooks", "End"]).unwrap();
    json.remove_elements(&["hooks", "Start"], &|value| *value == ours).unwrap();
    assert_eq!(json.text(), text);
    assert!(json.push(&["hooks"], &ours).unwrap_err().why.contains("array"));
    assert!(json.set(&["hooks", "Start", "x"], &ours).unwrap_err().why.contains("object"));
}

// S-SETUP-4
#[test]
fn what_is_no_object_is_refused() {
    for text in ["[]", "3", "\"x\"", "{\"a\": }"] {
        assert!(Json::parse(text).is_err(), "{text}");
    }
}
