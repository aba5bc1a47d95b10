//! Changes to texts as people have them, byte for byte.

use serde_json::json;

use super::*;

fn changed_text(text: &str, change: impl FnOnce(&mut Json) -> Result<(), EditError>) -> String {
    let mut json = Json::parse(text).unwrap();
    change(&mut json).unwrap();
    json.text()
}

fn set(text: &str) -> String {
    changed_text(text, |json| {
        json.set(&["servers", "k"], &json!({"command": "x", "args": ["mcp"]}))
    })
}

fn unset(text: &str) -> String {
    changed_text(text, |json| json.remove(&["servers", "k"]))
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
fn an_entry_is_removed_and_its_neighbours_stay() {
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
fn elements_are_added_and_removed() {
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

#[test]
fn json_as_clients_write_it_is_read() {
    let text = "\u{FEFF}// top\n{ \"a\": [1, -2.5e3, /* two */ \"x\\\"y\", true,], // end\n \"b\": {\"c\": null} }\r\n";
    let mut json = Json::parse(text).unwrap();
    assert_eq!(json.value(), json!({"a": [1, -2500.0, "x\"y", true], "b": {"c": null}}));
    json.set(&["b", "d"], &json!(1)).unwrap();
    assert_eq!(json.text(), text.replace("null}", "null, \"d\": 1}"));
    json.remove(&["b", "d"]).unwrap();
    assert_eq!(json.text(), text);
}

// S-SETUP-4
#[test]
fn damaged_json_is_refused_with_line_and_column() {
    for (text, line, column, why) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9, "expected comma"),
        ("{a: 1}", 1, 2, "expected string"),
        ("{\"a\" 1}", 1, 6, "expected colon"),
        ("{\"a\": 'x'}", 1, 7, "single-quoted"),
        ("{\"a\": }", 1, 7, "unexpected close brace"),
        ("{} {}", 1, 4, "more than one"),
        ("{\"a\": [1,\n\"é\", \"x", 2, 6, "unterminated string"),
        ("{} /*", 1, 4, "unterminated comment"),
        ("{\"a\":1,,}", 1, 8, "unexpected token"),
        ("{\"a\": 01}", 1, 8, "comma"),
        ("{\"a\": {\"b\": 1,\n \"b\": 2}}", 2, 2, "\"b\" is used twice"),
        ("[]", 1, 1, "expected an object"),
        ("\n 3", 2, 2, "expected an object"),
    ] {
        let wrong = Json::parse(text).unwrap_err();
        assert_eq!((wrong.line, wrong.column), (line, column), "{text}: {wrong:?}");
        assert!(wrong.why.contains(why), "{text}: {wrong:?}");
    }
    let deep = format!("{{\"a\": {}", "[".repeat(99_999));
    assert!(Json::parse(&deep).unwrap_err().why.contains("nesting depth"));
}
