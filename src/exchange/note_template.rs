//! What a note leaves to a program of its vault: templates that it fills in, and queries that it answers. They say
//! nothing by themselves. Not here: notes (`markdown_notes`), their marks (`guard::markdown_marks`).

use guard::markdown_marks::CodeFence;

/// Where a command of Templater begins and ends.
const COMMAND: (&str, &str) = ("<%", "%>");
/// Where a placeholder of a template begins and ends, such as `{{date}}`.
const PLACEHOLDER: (&str, &str) = ("{{", "}}");

/// The languages of code blocks that a program of the vault answers, in lower case.
const QUERY_LANGUAGES: [&str; 6] =
    ["dataview", "dataviewjs", "tasks", "query", "base", "templater"];

/// Returns a text without the lines that a program fills in or answers. What is quoted in code, as an example, stays.
pub(crate) fn without_templates(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut fence, mut is_query, mut is_in_command) = (None, false, false);
    for line in text.lines() {
        let before = fence;
        fence = CodeFence::after(line, before);
        let is_left_out = if before.or(fence).is_some() {
            is_query = if before.is_none() { is_query_fence(line) } else { is_query };
            is_query
        } else {
            let words = outside_inline_code(line);
            let is_template = is_in_command || words.contains(COMMAND.0);
            is_in_command = is_command_open(&words, is_in_command);
            is_template || is_placeholder(line) || is_inline_query(line)
        };
        if !is_left_out {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Tells whether the fence that opens a block names a language of queries.
fn is_query_fence(line: &str) -> bool {
    let language = line.trim_start().trim_start_matches(['`', '~']);
    let language = language.split_whitespace().next().unwrap_or_default().to_lowercase();
    QUERY_LANGUAGES.contains(&&*language)
}

/// Tells whether a command is open after a line.
fn is_command_open(line: &str, was_open: bool) -> bool {
    match (line.rfind(COMMAND.0), line.rfind(COMMAND.1)) {
        (Some(begin), Some(end)) => begin > end,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => was_open,
    }
}

/// Returns a line without the code within it. A lone backtick begins none.
fn outside_inline_code(line: &str) -> String {
    let pieces: Vec<&str> = line.split('`').collect();
    let is_outside = |place: usize| place.is_multiple_of(2) || place + 1 == pieces.len();
    pieces
        .iter()
        .enumerate()
        .filter(|(place, _)| is_outside(*place))
        .map(|(_, piece)| *piece)
        .collect()
}

/// Tells whether a line says nothing beside placeholders.
fn is_placeholder(line: &str) -> bool {
    let mut rest = line;
    let mut words = String::new();
    while let Some((before, after)) = rest.split_once(PLACEHOLDER.0) {
        let Some((_, behind)) = after.split_once(PLACEHOLDER.1) else { break };
        words.push_str(before);
        rest = behind;
    }
    words.push_str(rest);
    rest.len() < line.len() && !words.contains(char::is_alphanumeric)
}

/// Tells whether a line says nothing beside a query within it, such as `` `= this.status` ``.
fn is_inline_query(line: &str) -> bool {
    let mut inner = line.split('`').skip(1).step_by(2);
    let is_query = inner.any(|code| code.starts_with("= ") || code.starts_with("$="));
    is_query && !outside_inline_code(line).contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-IMPORT-5
    #[test]
    fn templates_and_queries_are_left_out() {
        for (text, kept) in [
            (
                "Use npm ci.\n<% tp.date.now() %>\nNot npm install.",
                "Use npm ci.\nNot npm install.\n",
            ),
            ("Created: <% tp.file.creation_date() %>", ""),
            ("<%*\nconst a = 1;\n-%>\nlast", "last\n"),
            ("a\n```dataview\nTABLE status FROM #book\n```\nb", "a\nb\n"),
            ("a\n~~~DataviewJS\ndv.list([1])\n~~~\n```sh\nls\n```", "a\n```sh\nls\n```\n"),
            ("```tasks\nnot done\n```\n```sh\nls\n```", "```sh\nls\n```\n"),
            ("# {{title}}\n- {{date:YYYY-MM-DD}} {{time}}\nx", "x\n"),
            ("- `= this.status`\n`$= dv.current().file.name`", ""),
        ] {
            assert_eq!(without_templates(text), kept, "{text}");
        }
    }

    // S-IMPORT-5
    #[test]
    fn what_is_said_about_templates_stays() {
        for text in [
            "In Templater `<% tp.date.now() %>` gives the day.\n",
            "```ejs\n<% if (user) { %>\n```\n",
            "Helm needs {{ .Values.image }} in quotes.\n",
            "`= x` compares in awk\n",
            "5 %> 3 and {{ alone\n",
            "a lone ` and <b>\n",
        ] {
            assert_eq!(without_templates(text), text);
        }
    }
}
