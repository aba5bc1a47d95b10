//! How our own entries are recognised: they start a program with the argument `mcp`, and perhaps the store, and the folder of the session
//! as a variable of the client. Any other entry with our name belongs to the user. Not here: where entries are, and hooks.

use serde_json::{Value, json};

use super::edit::EditError;

/// Our name among the servers of a client.
pub(super) const NAME: &str = "agent-knowledge";

/// The argument that starts our server.
pub(super) const ARGUMENT: &str = "mcp";

/// What names the store, if the client would not find it by itself.
pub(super) const LOGS: &str = "--logs";

/// The variable that names the store, which people put into the environment of an entry.
const LOGS_VARIABLE: &str = "AGENT_KNOWLEDGE_LOGS";

/// What names the folder of the session, if the client has a variable for it.
pub(super) const DIRECTORY: &str = "--directory";

/// Returns the arguments of our server. `variable` is the client's for the folder of the session.
pub(super) fn arguments<'a>(store: Option<&'a str>, variable: Option<&'a str>) -> Vec<&'a str> {
    let store = store.map(|store| [LOGS, store]);
    let directory = variable.map(|variable| [DIRECTORY, variable]);
    std::iter::once(ARGUMENT).chain(store.into_iter().chain(directory).flatten()).collect()
}

/// Whether these are arguments that setup writes, now, with another version or for another store. A path behind `--directory` is its
/// user's.
fn are_ours(arguments: &[Value]) -> bool {
    let words: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
    let pairs =
        words.split_first().filter(|(first, _)| **first == ARGUMENT).map(|(_, pairs)| pairs);
    let is_ours = |pair: &[&str]| match pair {
        [LOGS, _] => true,
        [DIRECTORY, variable] => variable.starts_with("${"),
        _ => false,
    };
    words.len() == arguments.len() && pairs.is_some_and(|pairs| pairs.chunks(2).all(is_ours))
}

/// Returns the store that an entry of ours names, by its arguments or its environment.
pub(super) fn store_of(found: &Value) -> Option<String> {
    let found = found.get("transport").unwrap_or(found);
    let words =
        ["args", "command"].iter().filter_map(|name| found.get(*name)?.as_array()).flatten();
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    let named = words.windows(2).find_map(|pair| match pair {
        [LOGS, store] => Some((*store).to_owned()),
        _ => None,
    });
    let set = ["env", "envs", "environment"].iter();
    let set = || set.clone().find_map(|name| found.get(*name)?.get(LOGS_VARIABLE)?.as_str());
    named.or_else(|| set().map(str::to_owned))
}

/// Members of entries for remote servers.
const ADDRESSES: [&str; 4] = ["url", "httpUrl", "serverUrl", "uri"];

/// Whether an entry is one that we would write, for any program, with any additions of its user.
pub(super) fn is_ours(found: &Value, wanted: &Value) -> bool {
    if !found.is_object() || ADDRESSES.iter().any(|name| found.get(name).is_some()) {
        return false;
    }
    match (found.get("transport"), wanted.get("transport")) {
        (Some(found), Some(wanted)) => return is_ours(found, wanted),
        (None, None) => {}
        (Some(kind), None) if kind == "stdio" => {}
        _ => return false,
    }
    let stdio = json!("stdio");
    let kind = wanted.get("type").unwrap_or(&stdio);
    let starts = match (found.get("command"), wanted.get("command")) {
        (Some(Value::Array(words)), Some(Value::Array(_))) => {
            words.split_first().is_some_and(|(_, arguments)| are_ours(arguments))
        }
        (Some(Value::String(_)), Some(Value::String(_))) => {
            found.get("args").and_then(Value::as_array).is_some_and(|given| are_ours(given))
        }
        _ => false,
    };
    starts && found.get("type").is_none_or(|found| found == kind)
}

/// Why an entry with our name is not changed.
pub(super) fn foreign_entry_error(text: &str) -> EditError {
    let place = text.find(NAME).unwrap_or(0);
    let why = format!(
        "there is an entry {NAME} that setup did not write (it is not a program with the argument {ARGUMENT} alone); \
         rename or remove it"
    );
    EditError::at(text, place, &why)
}

/// Why a whole file is not changed.
pub(super) fn foreign_file_error() -> EditError {
    let why = "this file is yours, or was changed since setup made it, and setup replaces and removes only files of its own; \
               move what you want to keep and remove the file"
        .to_owned();
    EditError { line: 1, column: 1, why }
}

/// Whether a text equals ours except for one quoted word, the program.
pub(super) fn differs_only_in_word(text: &str, ours: &str, word: &str) -> bool {
    let Some((head, tail)) = ours.split_once(word) else { return false };
    let middle = text.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
    middle.is_some_and(|word| serde_json::from_str::<String>(word).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SETUP-9
    #[test]
    fn the_store_of_an_entry_is_read_from_arguments_and_environment() {
        for (found, store) in [
            (json!({ "command": "/ak", "args": ["mcp"] }), None),
            (json!({ "command": "/ak", "args": ["mcp", "--logs", "/a"] }), Some("/a")),
            (json!({ "command": ["/ak", "mcp", "--logs", "/a"] }), Some("/a")),
            (
                json!({ "transport": { "command": "/ak", "args": ["mcp", "--logs", "/a"] } }),
                Some("/a"),
            ),
            (
                json!({ "command": "/ak", "args": ["mcp"], "env": { "AGENT_KNOWLEDGE_LOGS": "/b" } }),
                Some("/b"),
            ),
        ] {
            assert_eq!(store_of(&found).as_deref(), store, "{found}");
        }
    }

    // S-SETUP-4
    #[test]
    fn an_entry_is_ours_if_it_starts_a_program_with_mcp() {
        let plain = json!({ "command": "/ak", "args": ["mcp"] });
        for (found, ours) in [
            (json!({ "command": "/old", "args": ["mcp"], "env": { "A": "1" } }), true),
            (json!({ "type": "stdio", "command": "/old", "args": ["mcp"] }), true),
            (json!({ "type": "http", "command": "/old", "args": ["mcp"] }), false),
            (json!({ "command": "/old", "args": ["mcp", "--logs", "/srv/logs"] }), true),
            (json!({ "command": "/old", "args": ["mcp", "--logs"] }), false),
            (
                json!({ "command": "/old", "args": ["mcp", "--directory", "${workspaceFolder}"] }),
                true,
            ),
            (json!({ "command": "/old", "args": ["mcp", "--directory", "/srv/api"] }), false),
            (json!({ "command": "/old", "args": ["mcp", 1] }), false),
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
}
