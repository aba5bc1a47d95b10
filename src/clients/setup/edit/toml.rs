//! Changes to TOML: a table of ours is added at the end, updated in its place, or taken out. `toml_edit` parses and
//! says where everything is; the text itself is spliced, since `toml_edit` writes other line ends, spells headers
//! anew and drops a byte order mark. Not here: which table, and what is in it.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Array, Document, Item, Table};

use super::EditError;

/// The names of a table and of the one above it, such as `mcp_servers`, `agent-knowledge`.
pub(crate) type TomlPath<'a> = [&'a str; 2];

/// Returns the members of the table at a path.
///
/// # Errors
/// Where the text is not TOML, or the table has a form that is not changed here.
pub(crate) fn read(text: &str, path: TomlPath<'_>) -> Result<Option<Value>, EditError> {
    find(text, &parse(text)?, path)?;
    Ok(value(text)?.get(path[0]).and_then(|above| above.get(path[1])).cloned())
}

/// Sets members of the table at a path, and adds the table where there is none. Other members stay.
///
/// # Errors
/// Those of [`read`].
pub(crate) fn set(
    text: &str,
    path: TomlPath<'_>,
    members: &Map<String, Value>,
) -> Result<String, EditError> {
    let parsed = parse(text)?;
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut after = text.to_owned();
    let line = |(name, value): (&String, &Value)| format!("{name} = {}{eol}", toml_value(value));
    let Some(table) = find(text, &parsed, path)? else {
        if !text.is_empty() {
            // The last line gets its end, and an empty line sets our table off.
            after.push_str(if text.ends_with('\n') { "" } else { eol });
            after.push_str(eol);
        }
        after.push_str(&format!("[{}.{}]{eol}", path[0], path[1]));
        after.extend(members.iter().map(line));
        return confirm_only_ours_changed(text, after, path);
    };
    let mark = mark_bytes(text);
    let present = read(text, path)?.unwrap_or_default();
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    for (name, value) in members {
        let (place, with) = match table.get(name).and_then(Item::span) {
            _ if present.get(name) == Some(value) => continue,
            Some(span) => (span, toml_value(value)),
            None => {
                let below = line_end(text, mark + table.span().map_or(0, |span| span.end)) - mark;
                (below..below, line((name, value)))
            }
        };
        splices.push((place, with));
    }
    splices.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    for (place, with) in splices {
        after.replace_range(place.start + mark..place.end + mark, &with);
    }
    confirm_only_ours_changed(text, after, path)
}

/// Takes the table at a path and the tables below it out.
///
/// # Errors
/// Those of [`read`].
pub(crate) fn remove(text: &str, path: TomlPath<'_>) -> Result<String, EditError> {
    let parsed = parse(text)?;
    let Some(table) = find(text, &parsed, path)? else { return Ok(text.to_owned()) };
    let mark = mark_bytes(text);
    let mut sections = Vec::new();
    collect_sections(table, &mut sections);
    sections.sort_by_key(|section| std::cmp::Reverse(section.start));
    let mut after = text.to_owned();
    for section in sections {
        // Comments and empty lines below the last member belong to what follows.
        let start = line_start(text, mark + section.start);
        let before = text.get(..start).unwrap_or_default();
        let set_off = ["\r\n", "\n"].into_iter().find(|eol| before.ends_with(&eol.repeat(2)));
        let start = start - set_off.map_or(0, str::len);
        after.replace_range(start..line_end(text, mark + section.end), "");
    }
    confirm_only_ours_changed(text, after, path)
}

/// A byte order mark is no part of what the parser reads.
fn mark_bytes(text: &str) -> usize {
    text.len() - text.trim_start_matches('\u{FEFF}').len()
}

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    let body = text.get(mark_bytes(text)..).unwrap_or_default();
    Document::parse(body).map_err(|error| refused(body, error.span(), error.message()))
}

fn refused(body: &str, span: Option<Range<usize>>, message: &str) -> EditError {
    EditError::at(body, span.map_or(0, |span| span.start), message.trim())
}

/// Finds the table where it has a header of its own. Beside servers with dotted names it may get one; inline tables, and another form
/// of our own table, are refused.
fn find<'d>(
    text: &str,
    parsed: &'d Document<&str>,
    path: TomlPath<'_>,
) -> Result<Option<&'d Table>, EditError> {
    let [above_name, name] = path;
    let refused = |why: &str| {
        EditError::at(text, text.find(above_name).unwrap_or(0), &format!("{above_name} {why}"))
    };
    let above = match parsed.get(above_name) {
        None => return Ok(None),
        Some(Item::Table(above)) => above,
        Some(item) if item.is_inline_table() => {
            return Err(refused(&format!(
                "is an inline table, which is valid but has a form that setup does not change; write each entry as a table, such as \
                 [{above_name}.{name}]"
            )));
        }
        Some(_) => return Err(refused("has a form here that is no table of entries")),
    };
    match above.get(name) {
        None => Ok(None),
        Some(Item::Table(table)) if !table.is_dotted() && !table.is_implicit() => Ok(Some(table)),
        Some(_) => Err(refused(&format!(
            "has {name} in a form that is valid but that setup does not change; write it as a table [{above_name}.{name}]"
        ))),
    }
}

/// Collects a table and all tables below it, each from its header to its last member.
fn collect_sections(table: &Table, sections: &mut Vec<Range<usize>>) {
    if let Some(header) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
        sections.push(header.start..header.end.max(last_member_end(table)));
    }
    for (_, item) in table {
        match item {
            Item::Table(below) => collect_sections(below, sections),
            Item::ArrayOfTables(array) => {
                array.iter().for_each(|below| collect_sections(below, sections));
            }
            Item::Value(_) | Item::None => {}
        }
    }
}

fn last_member_end(table: &Table) -> usize {
    let member_ends = table.iter().map(|(_, item)| match item {
        Item::Value(value) => value.span().map_or(0, |span| span.end),
        Item::Table(dotted) if dotted.is_dotted() => last_member_end(dotted),
        _ => 0,
    });
    member_ends.max().unwrap_or(0)
}

fn line_start(text: &str, place: usize) -> usize {
    text.get(..place).and_then(|before| before.rfind('\n')).map_or(mark_bytes(text), |end| end + 1)
}

fn line_end(text: &str, place: usize) -> usize {
    text.get(place..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| place + end + 1)
}

/// Returns the whole text as JSON.
fn value(text: &str) -> Result<Value, EditError> {
    let body = text.get(mark_bytes(text)..).unwrap_or_default();
    toml_edit::de::from_str(body).map_err(|error| refused(body, error.span(), error.message()))
}

/// Our members are texts and lists of texts.
fn toml_value(value: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match value {
        Value::Array(elements) => elements.iter().map(text).collect::<Array>().to_string(),
        other => toml_edit::Value::from(text(other)).to_string(),
    }
}

/// Confirms that nothing but our table differs; a form that was misunderstood is refused, never broken.
fn confirm_only_ours_changed(
    before: &str,
    after: String,
    path: TomlPath<'_>,
) -> Result<String, EditError> {
    let others = |text: &str| {
        let mut all = value(text)?;
        let above = all.get_mut(path[0]).and_then(Value::as_object_mut);
        // An empty table above ours means as much as none.
        let is_empty = above.is_some_and(|above| {
            above.remove(path[1]);
            above.is_empty()
        });
        if is_empty && let Some(all) = all.as_object_mut() {
            all.remove(path[0]);
        }
        Ok(all)
    };
    let place = before.find(path[0]).unwrap_or(0);
    match others(&after) {
        Ok(found) if found == others(before)? => Ok(after),
        Ok(_) => Err(EditError::at(before, place, "setup cannot change this file safely")),
        Err(EditError { why, .. }) => Err(EditError::at(before, place, &why)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATH: TomlPath<'_> = ["mcp_servers", "k"];

    fn our_members() -> Map<String, Value> {
        json!({"command": r"C:\x\y.exe", "args": ["mcp"]}).as_object().unwrap().clone()
    }

    // S-SETUP-3
    #[test]
    fn a_table_is_added_and_removed_and_all_else_stays() {
        for text in [
            "",
            "model = \"x\" # why\n",
            "model = \"x\"",
            "# note\r\n[a]\r\nb = 1\r\n",
            "\u{FEFF}model=\"x\"\t\n\n\n[ mcp_servers . \"other\" ] # x\n",
            "[mcp_servers.other]\ncommand = \"o\"\n\n[z]\nq = [\n  1, # one\n]\n",
            "mcp_servers.docs.command = \"d\"\nmcp_servers.docs.args = [\"x\"]\n[z]\nq = 1\n",
            "[mcp_servers]\ndocs.command = \"d\"\n",
            "[mcp_servers]\ndocs = { command = \"d\" }\n",
            "t = '''\n[mcp_servers.k]\n'''\nd = 2026-01-02\n",
        ] {
            let after = set(text, PATH, &our_members()).unwrap();
            assert!(after.starts_with(text), "{after}");
            assert_eq!(read(&after, PATH).unwrap(), Some(our_members().into()));
            assert_eq!(set(&after, PATH, &our_members()).unwrap(), after, "twice");
            let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let ended = text.is_empty() || text.ends_with('\n');
            let expected = if ended { text.to_owned() } else { format!("{text}{eol}") };
            assert_eq!(remove(&after, PATH).unwrap(), expected);
        }
    }

    #[test]
    fn an_older_table_is_updated_in_its_place() {
        let text = "\u{FEFF}[mcp_servers.\"k\"] # mine\r\ncommand = \"old\" # path\r\n[mcp_servers.k.env]\r\nA = \"1\"\r\n\r\n# theirs\r\n[b]\r\nc = 1\r\n";
        let after = set(text, PATH, &our_members()).unwrap();
        let expected = text
            .replace("\"old\"", r"'C:\x\y.exe'")
            .replace("# mine\r\n", "# mine\r\nargs = [\"mcp\"]\r\n");
        assert_eq!(after, expected);
        let left = remove(&after, PATH).unwrap();
        assert_eq!(left, "\u{FEFF}\r\n# theirs\r\n[b]\r\nc = 1\r\n");
    }

    #[test]
    fn tables_added_after_ours_stay() {
        let text = "model = \"x\"\n";
        let theirs = "\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
        let after = set(text, PATH, &our_members()).unwrap() + theirs;
        assert_eq!(remove(&after, PATH).unwrap(), format!("{text}{theirs}"));
    }

    // S-SETUP-4
    #[test]
    fn other_forms_of_our_table_are_refused() {
        for text in [
            "mcp_servers = { k = { command = \"x\" } }",
            "mcp_servers.k.command = \"x\"",
            "[mcp_servers]\nk = { command = \"x\" }",
            "[mcp_servers.k.env]\nA = \"1\"",
            "mcp_servers = 3\n",
        ] {
            assert!(set(text, PATH, &our_members()).unwrap_err().why.contains("a form"), "{text}");
            assert!(remove(text, PATH).is_err(), "{text}");
        }
        let wrong = set("a = 1\nb = = 2\n", PATH, &our_members()).unwrap_err();
        assert_eq!((wrong.line, wrong.column), (2, 5), "{wrong:?}");
        assert!(set("a = 1\na = 2\n", PATH, &our_members()).is_err(), "a name that is used twice");
    }
}
