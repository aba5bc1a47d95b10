//! How an entry of ours is known again among those of a user: it starts a program with `mcp` and nothing else.
//! Any other entry of our name is its user's own. Not here: where entries stand, and hooks.

use serde_json::{Map, Value, json};

use super::edit::Wrong;
use super::server::NAME;

/// What starts our server.
pub(super) const ARGUMENT: &str = "mcp";

/// Members of entries that lead to a server elsewhere.
const ADDRESSES: [&str; 4] = ["url", "httpUrl", "serverUrl", "uri"];

/// Whether an entry is one that we would write, for whatever program, and with whatever else its user added.
pub(super) fn is_ours(found: &Value, wanted: &Value) -> bool {
    if !found.is_object() || ADDRESSES.iter().any(|name| found.get(name).is_some()) {
        return false;
    }
    match (found.get("transport"), wanted.get("transport")) {
        (Some(found), Some(wanted)) => return is_ours(found, wanted),
        (None, None) => {}
        (Some(said), None) if said == "stdio" => {}
        _ => return false,
    }
    let stdio = json!("stdio");
    let kind = wanted.get("type").unwrap_or(&stdio);
    let starts = match (found.get("command"), wanted.get("command")) {
        (Some(Value::Array(words)), Some(Value::Array(_))) => {
            words.len() == 2 && words.last().is_some_and(|last| last == ARGUMENT)
        }
        (Some(Value::String(_)), Some(Value::String(_))) => {
            found.get("args") == Some(&json!([ARGUMENT]))
        }
        _ => false,
    };
    starts && found.get("type").is_none_or(|found| found == kind)
}

/// Why an entry of our name is left alone.
pub(super) fn not_ours(text: &str) -> Wrong {
    let place = text.find(NAME).unwrap_or(0);
    let why = format!(
        "an entry {NAME} stands here that is not as setup writes it (a program with the one argument {ARGUMENT}); \
         rename or remove it"
    );
    Wrong::at(text, place, &why)
}

/// Why a whole file is left alone.
pub(super) fn no_file_of_ours() -> Wrong {
    let why = "a file of yours, or one of ours that was changed, stands here, and setup makes and removes only \
               files of its own; move elsewhere what you want to keep and remove the file"
        .to_owned();
    Wrong { line: 1, column: 1, why }
}

/// Whether a text is the same as ours but for one word in double quotes, the program.
pub(super) fn is_same_but(text: &str, ours: &str, word: &str) -> bool {
    let Some((head, tail)) = ours.split_once(word) else { return false };
    let middle = text.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
    middle.is_some_and(|word| serde_json::from_str::<String>(word).is_ok())
}

/// An entry in YAML, as far as it tells whether it is ours.
pub(super) fn of_yaml(lines: &[String]) -> Value {
    let mut members = Map::new();
    let mut rows =
        lines.iter().map(|line| line.replacen("- ", "  ", usize::from(line.starts_with('-'))));
    // The first line of a map's entry is its name, that of a list's element a member.
    let first = rows.next().unwrap_or_default();
    let rows: Vec<String> =
        first.starts_with(' ').then_some(first).into_iter().chain(rows).collect();
    let depth = |row: &str| row.len() - row.trim_start().len();
    let margin = rows.iter().map(|row| depth(row)).find(|depth| *depth > 0).unwrap_or(0);
    let mut name = String::new();
    for row in &rows {
        let bare = without_comment(row.trim());
        if let Some(word) = bare.strip_prefix("- ") {
            if let Some(list) = members.get_mut(&name).and_then(Value::as_array_mut) {
                list.push(unquoted(word).into());
            }
        } else if let (true, Some((key, value))) = (depth(row) == margin, bare.split_once(':')) {
            name = if key == "cmd" { "command".to_owned() } else { key.to_owned() };
            members.insert(name.clone(), value_of(value.trim()));
        }
    }
    Value::Object(members)
}

fn value_of(text: &str) -> Value {
    let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return if text.is_empty() { json!([]) } else { unquoted(text).into() };
    };
    list.split(',').map(unquoted).collect()
}

fn unquoted(word: &str) -> &str {
    word.trim().trim_matches(['"', '\''])
}

/// A line of YAML without the comment at its end.
pub(super) fn without_comment(row: &str) -> &str {
    if row.starts_with('#') {
        return "";
    }
    row.find(" #").and_then(|at| row.get(..at)).unwrap_or(row).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SETUP-4
    #[test]
    fn an_entry_is_ours_where_it_starts_a_program_with_mcp() {
        let plain = json!({ "command": "/ak", "args": ["mcp"] });
        for (found, ours) in [
            (json!({ "command": "/old", "args": ["mcp"], "env": { "A": "1" } }), true),
            (json!({ "type": "stdio", "command": "/old", "args": ["mcp"] }), true),
            (json!({ "type": "http", "command": "/old", "args": ["mcp"] }), false),
            (json!({ "command": "npx", "args": ["-y", "mcp"] }), false),
            (json!({ "command": "/old" }), false),
            (json!({ "url": "https://x.example/mcp" }), false),
            (json!({ "command": "/old", "args": ["mcp"], "httpUrl": "https://x.example" }), false),
            (json!("agent-knowledge mcp"), false),
        ] {
            assert_eq!(is_ours(&found, &plain), ours, "{found}");
        }
        let local = json!({ "type": "local", "command": ["/ak", "mcp"] });
        assert!(is_ours(&json!({ "command": ["/old", "mcp"] }), &local));
        assert!(!is_ours(&plain, &local), "of another form");
    }

    #[test]
    fn an_entry_in_yaml_is_read_in_the_forms_people_write() {
        let ours = json!({ "command": "/ak", "args": ["mcp"] });
        for (text, is) in [
            ("agent-knowledge: # mine\n  type: stdio\n  cmd: /old # x\n  args:\n    - mcp", true),
            ("agent-knowledge:\n  cmd: /old\n  args: [mcp]\n  envs:\n    url: x", true),
            ("- command: \"/old\"\n  name: agent-knowledge\n  args:\n  - \"mcp\"", true),
            ("- name: agent-knowledge\n  command: npx\n  args:\n  - x\n  - mcp", false),
            ("agent-knowledge:\n  type: sse\n  uri: https://x.example", false),
        ] {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            assert_eq!(is_ours(&of_yaml(&lines), &ours), is, "{text}");
        }
    }
}
