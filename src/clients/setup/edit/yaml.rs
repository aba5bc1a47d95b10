//! Changes to YAML, line by line: a block of ours is added below a top-level key, updated or removed. Every form but
//! a plain block is refused. Not here: YAML in general, and whether a change is the one that was meant (`yaml_check`).

use serde_json::{Map, Value, json};

use super::yaml_check::{check, check_change};
use super::{EditError, YamlBlock};

/// The lines of a key's block: the line of the key, and the line after its last one.
struct KeyBlock {
    key: usize,
    end: usize,
    /// The indentation of its children, if it has any.
    indent: Option<usize>,
}

/// The ways in which a key is written that has nothing below it.
const EMPTY: [&str; 5] = ["", "{}", "[]", "~", "null"];

/// Adds our block below the key, unless it is there. A missing key is added too. `lines` have no indentation.
///
/// # Errors
/// If the text is damaged, or the key has another form than a plain block.
pub(crate) fn add(text: &str, block: YamlBlock<'_>, lines: &[String]) -> Result<String, EditError> {
    let is_there = find_our_block(text, block)?.is_some();
    check(text, block)?;
    if is_there {
        return Ok(text.to_owned());
    }
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut rows = rows(text);
    if let Some(last) = rows.last_mut().filter(|last| !last.ends_with('\n')) {
        last.push_str(eol);
    }
    let (at, indent) = match find(text, block)? {
        Some(found) => {
            if let Some(row) = rows.get_mut(found.key) {
                *row = open(row);
            }
            (found.end, found.indent.unwrap_or(2))
        }
        None => {
            rows.push(format!("{}:{eol}", block.key));
            (rows.len(), 2)
        }
    };
    let margin = " ".repeat(indent);
    let ours = lines.iter().map(|line| format!("{margin}{line}{eol}"));
    rows.splice(at..at, ours);
    let after = rows.concat();
    check_change(text, &after, block)?;
    Ok(after)
}

/// Returns the line of an empty key as that of a key with a block below it.
fn open(row: &str) -> String {
    let (head, rest) = row.split_once(':').unwrap_or((row, ""));
    let tail = rest.trim_start_matches(' ').strip_prefix(without_comment(rest.trim()));
    format!("{head}:{}", tail.unwrap_or_default())
}

/// Changes one member of our block. The rest of the block and the comments stay.
///
/// # Errors
/// Those of [`add`], and if the block has no such member.
pub(crate) fn set_member(
    text: &str,
    block: YamlBlock<'_>,
    member: &str,
    value: &str,
) -> Result<String, EditError> {
    let mut rows = rows(text);
    let (start, end, _) = find_our_block(text, block)?.unwrap_or_default();
    let is_it = |row: &String| {
        let row = row.trim_start();
        let row = row.strip_prefix("- ").unwrap_or(row);
        row.strip_prefix(member).is_some_and(|rest| rest.starts_with(':'))
    };
    let refused = error_at_row(text, &rows, start, &format!("{member} is missing here"));
    let found = rows.iter_mut().take(end).skip(start).find(|row| is_it(row));
    let row = found.ok_or(refused)?;
    let (head, old) = row.split_once(':').unwrap_or((row, ""));
    let line = old.trim_end();
    // A comment begins after the closing quote, or anywhere if there is none.
    let quoted = line.rfind('"').unwrap_or(0);
    let comment =
        line.get(quoted..).and_then(|rest| rest.find(" #")).unwrap_or(line.len() - quoted);
    let tail = old.get(quoted + comment..).unwrap_or_default();
    *row = format!("{head}: {value}{tail}");
    let after = rows.concat();
    check_change(text, &after, block)?;
    Ok(after)
}

/// Removes our block.
///
/// # Errors
/// Those of [`add`].
pub(crate) fn remove(text: &str, block: YamlBlock<'_>) -> Result<String, EditError> {
    let mut rows = rows(text);
    if let Some((start, end, _)) = find_our_block(text, block)? {
        rows.drain(start..end);
    }
    let after = rows.concat();
    check_change(text, &after, block)?;
    Ok(after)
}

/// Removes the key if nothing is below it.
///
/// # Errors
/// Those of [`add`].
pub(crate) fn remove_empty_key(text: &str, block: YamlBlock<'_>) -> Result<String, EditError> {
    let mut rows = rows(text);
    if let Some(KeyBlock { key, indent: None, .. }) = find(text, block)? {
        rows.remove(key);
    }
    Ok(rows.concat())
}

/// Writes the key as in `original`, if nothing is below it in either.
///
/// # Errors
/// Those of [`add`].
pub(crate) fn restore_empty_key(
    text: &str,
    original: &str,
    block: YamlBlock<'_>,
) -> Result<String, EditError> {
    let mut rows = rows(text);
    let empty = |text: &str| Ok(find(text, block)?.filter(|found| found.indent.is_none()));
    if let (Some(now), Some(then)) = (empty(text)?, empty(original)?)
        && let (Some(row), Some(was)) = (rows.get_mut(now.key), self::rows(original).get(then.key))
    {
        was.clone_into(row);
    }
    Ok(rows.concat())
}

/// Returns the members of our block, as far as they show whether it is ours.
///
/// # Errors
/// Those of [`add`].
pub(crate) fn read(text: &str, block: YamlBlock<'_>) -> Result<Option<Value>, EditError> {
    let Some((start, end, indent)) = find_our_block(text, block)? else { return Ok(None) };
    let rows = rows(text);
    let lines = rows.iter().take(end).skip(start);
    let lines: Vec<String> =
        lines.map(|row| row.trim_end().chars().skip(indent).collect()).collect();
    Ok(Some(members_of(&lines)))
}

fn rows(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn indent_of(row: &str) -> usize {
    row.len() - row.trim_start_matches(' ').len()
}

fn is_silent(row: &str) -> bool {
    let row = row.trim();
    row.is_empty() || row.starts_with('#')
}

/// Finds the key and its block.
fn find(text: &str, block: YamlBlock<'_>) -> Result<Option<KeyBlock>, EditError> {
    let rows = rows(text);
    refuse_what_is_hard(text, &rows)?;
    let is_key = |row: &String| {
        let row = row.trim_start_matches('\u{FEFF}');
        row.strip_prefix(block.key).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let mut keys = (0..rows.len()).filter(|number| rows.get(*number).is_some_and(is_key));
    let Some(key) = keys.next() else { return Ok(None) };
    if let Some(again) = keys.next() {
        return Err(error_at_row(
            text,
            &rows,
            again,
            &format!("{} stands here a second time", block.key),
        ));
    }
    let rest =
        rows.get(key).and_then(|row| row.split_once(':')).map_or("", |(_, rest)| rest.trim());
    if !EMPTY.contains(&without_comment(rest).replace(' ', "").as_str()) {
        let why = format!("{} must be a block, with each entry on a line below it", block.key);
        return Err(error_at_row(text, &rows, key, &why));
    }
    let is_inside = |row: &String| {
        let row = row.as_str();
        indent_of(row) > 0 || (block.is_list && row.starts_with('-'))
    };
    let mut end = key + 1;
    let mut indent = None;
    for (number, row) in rows.iter().enumerate().skip(key + 1) {
        if is_silent(row) {
            continue;
        }
        if !is_inside(row) {
            break;
        }
        let first = *indent.get_or_insert(indent_of(row));
        if indent_of(row) < first {
            return Err(error_at_row(
                text,
                &rows,
                number,
                "this line is indented less than those before it",
            ));
        }
        end = number + 1;
    }
    Ok(Some(KeyBlock { key, end, indent }))
}

/// Finds our block: its first line, the line after it, and its indentation.
fn find_our_block(
    text: &str,
    block: YamlBlock<'_>,
) -> Result<Option<(usize, usize, usize)>, EditError> {
    let Some(KeyBlock { key, end, indent: Some(indent) }) = find(text, block)? else {
        return Ok(None);
    };
    let rows = rows(text);
    let is_child = |row: &str| indent_of(row) == indent && !is_silent(row);
    let mut found = None;
    for start in (key + 1)..end {
        if !rows.get(start).is_some_and(|row| is_child(row)) {
            continue;
        }
        let inside = rows.iter().enumerate().take(end).skip(start + 1);
        let next = inside.clone().find(|(_, row)| is_child(row)).map_or(end, |(number, _)| number);
        let last = inside
            .take_while(|(number, _)| *number < next)
            .filter(|(_, row)| !is_silent(row) && indent_of(row) > indent)
            .map(|(number, _)| number)
            .last();
        let after = last.unwrap_or(start) + 1;
        let rows_of_child = rows.get(start..after).unwrap_or_default();
        match block_owner(rows_of_child, indent, block) {
            BlockOwner::Theirs => {}
            BlockOwner::Ours if found.is_none() => found = Some((start, after, indent)),
            BlockOwner::Ours => {
                return Err(error_at_row(text, &rows, start, "this name is used twice"));
            }
            BlockOwner::Hard => {
                return Err(error_at_row(
                    text,
                    &rows,
                    start,
                    "this entry must be a block, on lines below its name",
                ));
            }
        }
    }
    Ok(found)
}

/// The owner of a child.
enum BlockOwner {
    Ours,
    Theirs,
    /// It has our name, but a form that is not changed here.
    Hard,
}

fn block_owner(rows: &[String], indent: usize, block: YamlBlock<'_>) -> BlockOwner {
    let first = rows.first().map_or("", |row| row.trim());
    if !block.is_list {
        return match first.split_once(':') {
            Some((name, _)) if name.trim().trim_matches(['"', '\'']) != block.name => {
                BlockOwner::Theirs
            }
            Some((_, rest)) if without_comment(rest.trim()).is_empty() => BlockOwner::Ours,
            Some(_) => BlockOwner::Hard,
            None => BlockOwner::Theirs,
        };
    }
    let Some(member) = first.strip_prefix('-') else { return BlockOwner::Theirs };
    if member.trim_start().starts_with('{') && member.contains(block.name) {
        return BlockOwner::Hard;
    }
    let margin = indent + 1 + indent_of(member);
    let is_name = |row: &str| {
        let value = row.trim().strip_prefix("name:").map(|value| without_comment(value.trim()));
        value.is_some_and(|value| value.trim_matches(['"', '\'']) == block.name)
    };
    let mut below = rows.iter().skip(1).filter(|row| indent_of(row) == margin);
    if is_name(member) || below.any(|row| is_name(row)) {
        BlockOwner::Ours
    } else {
        BlockOwner::Theirs
    }
}

/// Refuses tabs, several documents and flow style at the top. They may be YAML, but are not changed here.
fn refuse_what_is_hard(text: &str, rows: &[String]) -> Result<(), EditError> {
    let first = rows.iter().position(|row| !is_silent(row));
    for (number, row) in rows.iter().enumerate() {
        let row = row.trim_start_matches('\u{FEFF}');
        let why = if first == Some(number) && indent_of(row) > 0 {
            "the first name must not be indented"
        } else if row.trim_start_matches(' ').starts_with('\t') {
            "indentation must be spaces, not tabs"
        } else if row.starts_with("---") && number > 0 || row.starts_with("...") {
            "the file contains several documents"
        } else if row.starts_with(['{', '[', '"', '\'', '&', '!', '%']) {
            "expected a plain name and a colon"
        } else if indent_of(row) == 0
            && !is_silent(row)
            && !row.starts_with('-')
            && !row.contains(':')
        {
            "expected a name and a colon"
        } else {
            continue;
        };
        return Err(error_at_row(text, rows, number, why));
    }
    Ok(())
}

fn error_at_row(text: &str, rows: &[String], number: usize, why: &str) -> EditError {
    let place = rows.iter().take(number).map(String::len).sum();
    EditError::at(text, place, why)
}

/// Reads members with a string or a list of strings; `cmd` is read as `command`.
fn members_of(lines: &[String]) -> Value {
    let mut members = Map::new();
    let mut rows =
        lines.iter().map(|line| line.replacen("- ", "  ", usize::from(line.starts_with('-'))));
    // The first line of a member is its name. The first line of a list element is a member of its own.
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

/// Returns a scalar without its quotes. Our double quotes are those of JSON.
fn unquoted(word: &str) -> String {
    let word = word.trim();
    serde_json::from_str(word).unwrap_or_else(|_| word.trim_matches(['"', '\'']).to_owned())
}

/// Returns a line without the comment at its end.
fn without_comment(row: &str) -> &str {
    if row.starts_with('#') {
        return "";
    }
    row.find(" #").and_then(|at| row.get(..at)).unwrap_or(row).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: YamlBlock<'_> = YamlBlock { key: "extensions", is_list: false, name: "k" };
    const LIST: YamlBlock<'_> = YamlBlock { key: "mcpServers", is_list: true, name: "k" };

    fn lines(block: YamlBlock<'_>) -> Vec<String> {
        let mut lines = vec![if block.is_list { "- name: k" } else { "k:" }.to_owned()];
        lines.extend(["  type: stdio", "  args:", "    - mcp"].map(str::to_owned));
        lines
    }

    // S-SETUP-3
    #[test]
    fn a_block_is_added_and_removed_and_all_else_stays() {
        for (place, text) in [
            (
                MAP,
                "# top\nmodel: x\nextensions:\n  # mine\n  dev:\n    enabled: true # yes\n\nlast: 1\n",
            ),
            (MAP, "extensions:\r\n    dev:\r\n        enabled: true\r\n"),
            (LIST, "name: a\nmcpServers:\n- name: other\n  command: o\n# end\nrules: []\n"),
            (LIST, "mcpServers:\n    - name: other\n      command: o\n"),
            (MAP, "extensions:\nlast: 1\n"),
            (MAP, "extensions: {}\nlast: 1\n"),
            (MAP, "extensions: { } # none\r\n"),
            (LIST, "mcpServers: [] # none\nlast: 1\n"),
            (LIST, "mcpServers: ~\n"),
        ] {
            let after = add(text, place, &lines(place)).unwrap();
            let found = read(&after, place).unwrap().unwrap();
            assert_eq!(
                (&found["type"], &found["args"]),
                (&json!("stdio"), &json!(["mcp"])),
                "{after}"
            );
            let left = remove(&after, place).unwrap();
            assert_eq!(restore_empty_key(&left, text, place).unwrap(), text);
        }
    }

    #[test]
    fn a_missing_key_is_added() {
        for text in ["", "model: x\n"] {
            let after = add(text, MAP, &lines(MAP)).unwrap();
            let expected = "extensions:\n  k:\n    type: stdio\n    args:\n      - mcp\n";
            assert_eq!(after, format!("{text}{expected}"));
            let without = remove(&after, MAP).unwrap();
            assert_eq!(remove_empty_key(&without, MAP).unwrap(), text);
        }
        assert_eq!(add("a: 1", MAP, &lines(MAP)).unwrap().lines().next(), Some("a: 1"));
    }

    // S-SETUP-4
    #[test]
    fn damaged_or_unsupported_yaml_is_refused() {
        for (text, line) in [
            ("a: 1\nextensions: {dev: 1}\n", 2),
            ("extensions:\n\tdev: 1\n", 2),
            ("{extensions: 1}\n", 1),
            ("a: 1\n---\nb: 1\n", 2),
            ("extensions:\n    dev: 1\n  x: 2\n", 3),
            ("extensions: &x\n  dev: 1\n", 1),
            ("what is this\n", 1),
            ("extensions:\n  k: { cmd: x }\n", 2),
            ("extensions:\n  k:\n    cmd: x\n  \"k\":\n    cmd: y\n", 4),
            ("a: 1\nextensions:\n  - name: k\n", 2),
            ("a: 1\nextensions: yes\n", 2),
            ("extensions:\n  a: 1\nextensions:\n  b: 1\n", 3),
            ("- a: 1\n", 1),
            ("a: [1, 2\nextensions:\n  a: 1\n", 2),
            ("a: 'b\nextensions:\n", 1),
            ("a: |\n  x\n extensions:\n", 3),
        ] {
            let wrong = add(text, MAP, &lines(MAP)).unwrap_err();
            assert_eq!(wrong.line, line, "{text}: {wrong:?}");
        }
        for (text, line) in [
            ("a: 1\nmcpServers:\n  other:\n    command: x\n", 2),
            ("mcpServers: {a: {command: x}}\n", 1),
            ("mcpServers: [{name: a}]\n", 1),
            ("mcpServers: x\n", 1),
        ] {
            let wrong = add(text, LIST, &lines(LIST)).unwrap_err();
            assert_eq!(wrong.line, line, "{text}: {wrong:?}");
        }
    }
}
