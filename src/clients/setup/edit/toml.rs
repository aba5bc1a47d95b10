//! Changes to TOML: a table of ours is added at the end, or its lines are taken out. Whatever comes out is
//! read again and compared with what was meant, so a form that is not understood is refused, never broken.
//! Not here: other values of TOML.

use toml::{Table, Value};

use super::EditError;

/// Sets a table below another, such as `[mcp_servers.agent-knowledge]`.
///
/// # Errors
/// Where the text is no TOML, or has that table in a form that we cannot change.
pub(crate) fn set(text: &str, path: [&str; 2], table: &Table) -> Result<String, EditError> {
    let before = parse(text)?;
    if get(&before, path) == Some(table) {
        return Ok(text.to_owned());
    }
    let without = remove(text, path)?;
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut after = without.clone();
    if !after.is_empty() {
        // Lines before ours end, and an empty one sets it off.
        after.push_str(if after.ends_with('\n') { "" } else { eol });
        after.push_str(eol);
    }
    after.push_str(&format!("[{}.{}]{eol}", path[0], path[1]));
    for (key, value) in table {
        after.push_str(&format!("{key} = {value}{eol}"));
    }
    let mut expected = parse(&without)?;
    let above = expected.entry(path[0]).or_insert_with(|| Value::Table(Table::new()));
    if let Some(above) = above.as_table_mut() {
        above.insert(path[1].to_owned(), Value::Table(table.clone()));
    }
    confirmed(after, &expected, text, path)
}

/// Takes the table and those below it out.
///
/// # Errors
/// As [`set`].
pub(crate) fn remove(text: &str, path: [&str; 2]) -> Result<String, EditError> {
    let mut expected = parse(text)?;
    if get(&expected, path).is_none() {
        return Ok(text.to_owned());
    }
    let mut kept = String::new();
    // Empty lines after ours: they set off what follows, if anything does.
    let mut waiting = String::new();
    let mut is_ours = false;
    for line in text.split_inclusive('\n') {
        if let Some(header) = header(line) {
            is_ours = is_of(&header, path);
            if is_ours {
                without_last_empty_line(&mut kept);
            }
        }
        if is_ours && line.trim().is_empty() {
            waiting.push_str(line);
            continue;
        }
        // A comment that follows ours is not ours.
        if !is_ours || line.trim_start().starts_with('#') {
            kept.push_str(&waiting);
            kept.push_str(line);
        }
        waiting.clear();
    }
    if let Some(above) = expected.get_mut(path[0]).and_then(Value::as_table_mut) {
        above.remove(path[1]);
        if above.is_empty() {
            expected.remove(path[0]);
        }
    }
    confirmed(kept, &expected, text, path)
}

/// The empty line that sets ours off goes with it.
fn without_last_empty_line(kept: &mut String) {
    for eol in ["\r\n", "\n"] {
        if kept.ends_with(&eol.repeat(2)) {
            kept.truncate(kept.len() - eol.len());
            return;
        }
    }
}

/// What stands there.
///
/// # Errors
/// Where the text is no TOML.
pub(crate) fn read(text: &str, path: [&str; 2]) -> Result<Option<Table>, EditError> {
    Ok(get(&parse(text)?, path).cloned())
}

fn get<'a>(table: &'a Table, path: [&str; 2]) -> Option<&'a Table> {
    table.get(path[0])?.get(path[1])?.as_table()
}

fn parse(text: &str) -> Result<Table, EditError> {
    let text = text.trim_start_matches('\u{FEFF}');
    text.parse().map_err(|error: toml::de::Error| {
        let place = error.span().map_or(0, |span| span.start);
        EditError::at(text, place, error.message().trim())
    })
}

/// The words of a table's header: `[a."b"]` is `a`, `b`.
fn header(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let inner = line.split('#').next()?.trim().strip_prefix('[')?.strip_suffix(']')?;
    let inner = inner.strip_prefix('[').map_or(inner, |inner| inner.trim_end_matches(']'));
    let word = |word: &str| word.trim().trim_matches(['"', '\'']).to_owned();
    Some(inner.split('.').map(word).collect())
}

fn is_of(header: &[String], path: [&str; 2]) -> bool {
    header.iter().map(String::as_str).take(2).eq(path)
}

fn confirmed(
    after: String,
    expected: &Table,
    text: &str,
    path: [&str; 2],
) -> Result<String, EditError> {
    let is_meant = parse(&after).is_ok_and(|mut found| {
        // A table that is empty means as much as none.
        let is_empty = |table: &Value| table.as_table().is_some_and(Table::is_empty);
        if !expected.contains_key(path[0]) && found.get(path[0]).is_some_and(is_empty) {
            found.remove(path[0]);
        }
        found == *expected
    });
    if is_meant {
        return Ok(after);
    }
    let place = text.find(path[0]).unwrap_or(0);
    let why = format!("{} stands here in a form that we do not change by ourselves", path[0]);
    Err(EditError::at(text, place, &why))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: [&str; 2] = ["mcp_servers", "k"];

    fn ours() -> Table {
        "command = 'C:\\x\\y.exe'\nargs = [\"mcp\"]".parse().unwrap()
    }

    // S-SETUP-3
    #[test]
    fn a_table_is_added_and_taken_out_and_all_else_stays() {
        for text in [
            "",
            "model = \"x\" # why\n",
            "model = \"x\"",
            "# note\r\n[a]\r\nb = 1\r\n",
            "[mcp_servers.other]\ncommand = \"o\"\n\n[z]\nq = [\n  1, # one\n]\n",
            "t = '''\n[mcp_servers.k]\n'''\n",
        ] {
            let after = set(text, PATH, &ours()).unwrap();
            assert!(after.starts_with(text), "{after}");
            assert_eq!(read(&after, PATH).unwrap(), Some(ours()));
            assert_eq!(set(&after, PATH, &ours()).unwrap(), after, "twice");
            if text.contains("'''") {
                // What looks like our header in somebody's text is not touched: refused, not broken.
                assert!(remove(&after, PATH).is_err());
                continue;
            }
            let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let ended = text.is_empty() || text.ends_with('\n');
            let expected = if ended { text.to_owned() } else { format!("{text}{eol}") };
            assert_eq!(remove(&after, PATH).unwrap(), expected);
        }
    }

    #[test]
    fn an_older_table_is_replaced_with_what_stands_below_it() {
        let text = "[mcp_servers.\"k\"]\ncommand = \"old\"\n[mcp_servers.k.env]\nA = \"1\"\n\n# theirs\n[b]\nc = 1\n";
        let after = set(text, PATH, &ours()).unwrap();
        assert_eq!(read(&after, PATH).unwrap(), Some(ours()));
        assert!(after.starts_with("\n# theirs\n[b]\nc = 1\n\n[mcp_servers.k]\n"), "{after}");
    }

    #[test]
    fn what_the_client_added_after_ours_stays() {
        let text = "model = \"x\"\n";
        let theirs = "\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
        let after = set(text, PATH, &ours()).unwrap() + theirs;
        assert_eq!(remove(&after, PATH).unwrap(), format!("{text}{theirs}"));
    }

    // S-SETUP-4
    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["mcp_servers = { k = { command = \"x\" } }", "mcp_servers.k.command = \"x\""] {
            assert!(set(text, PATH, &ours()).unwrap_err().why.contains("in a form"), "{text}");
            assert!(remove(text, PATH).is_err(), "{text}");
        }
        let wrong = set("a = 1\nb = = 2\n", PATH, &ours()).unwrap_err();
        assert_eq!((wrong.line, wrong.column), (2, 5), "{wrong:?}");
        assert!(set("mcp_servers = 3\n", PATH, &ours()).is_err());
    }
}
