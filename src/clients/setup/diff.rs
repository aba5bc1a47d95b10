//! The change of a file as a unified diff for people. Known secrets are hidden. Not here: what changes.

use std::borrow::Cow;

use guard::secrets::redacted;

/// Unchanged lines around a change.
const AROUND: usize = 3;

/// Longest line shown, in characters. Some clients keep everything on one line.
const LINE_MAX: usize = 200;

/// Most pairs of lines that are compared. Beyond that, everything that differs is one change.
const PAIRS_MAX: usize = 4_000_000;

/// A line of the diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiffLine<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// Returns the change as a unified diff.
pub(super) fn diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let (before, after) = (before.map(without_values), after.map(without_values));
    let (before, after) = (before.as_deref(), after.as_deref());
    let from = if before.is_some() { path } else { "/dev/null" };
    let to = if after.is_some() { path } else { "/dev/null" };
    let before: Vec<&str> = before.unwrap_or_default().lines().collect();
    let after: Vec<&str> = after.unwrap_or_default().lines().collect();
    let lines = diff_lines(&before, &after);
    let mut text = format!("--- {from}\n+++ {to}\n");
    let (mut old, mut new) = (1, 1);
    let mut rest = lines.as_slice();
    let mut shown_to = 0;
    let changed: Vec<usize> =
        (0..lines.len()).filter(|at| !matches!(lines.get(*at), Some(DiffLine::Same(_)))).collect();
    for at in changed {
        if at < shown_to {
            continue;
        }
        let start = at.saturating_sub(AROUND).max(shown_to);
        let end = end_of_hunk(&lines, at);
        let skipped = rest.len() - lines.len().saturating_sub(start);
        old += skipped;
        new += skipped;
        let hunk = lines.get(start..end).unwrap_or_default();
        let count = |is: fn(&DiffLine<'_>) -> bool| hunk.iter().filter(|line| is(line)).count();
        let olds = count(|line| !matches!(line, DiffLine::New(_)));
        let news = count(|line| !matches!(line, DiffLine::Gone(_)));
        text.push_str(&format!("@@ -{old},{olds} +{new},{news} @@\n"));
        hunk.iter().for_each(|line| text.push_str(&shown(*line)));
        old += olds;
        new += news;
        rest = lines.get(end..).unwrap_or_default();
        shown_to = end;
    }
    redacted(&text).into_owned()
}

/// Hides secrets that are an argument of their own after an option, as in `["--token", "x"]`. The rules for texts
/// only know both in one text.
fn without_values(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut option, mut rest) = ("", text);
    while !rest.is_empty() {
        let (between, word, after) = next_argument(rest);
        shown.push_str(between);
        shown.push_str(&argument_of(option, word));
        // A dash of a YAML list is no option.
        if !matches!(word, "" | "-") {
            option = word;
        }
        rest = after;
    }
    shown
}

/// Returns an argument as it may be shown after the previous word. `--token=x` contains its own option.
fn argument_of<'a>(option: &str, argument: &'a str) -> Cow<'a, str> {
    match argument.split_once('=') {
        Some((option, value)) if option.starts_with('-') => match value_of(option, value) {
            Cow::Owned(safe) => Cow::Owned(format!("{option}={safe}")),
            Cow::Borrowed(_) => Cow::Borrowed(argument),
        },
        _ => value_of(option, argument),
    }
}

fn value_of<'a>(option: &str, value: &'a str) -> Cow<'a, str> {
    if !option.starts_with('-') {
        return Cow::Borrowed(value);
    }
    // Outside quotes a secret ends at a space or a quote; inside quotes it does not.
    let ends_value = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
    let line = format!("{option} {}", value.replace(ends_value, ""));
    match redacted(&line) {
        Cow::Owned(safe) => Cow::Owned(safe.trim_start_matches(option).trim_start().to_owned()),
        Cow::Borrowed(_) => Cow::Borrowed(value),
    }
}

/// Cuts the next argument out of a list in JSON, TOML or YAML: the text before it, the argument, the text after it.
fn next_argument(text: &str) -> (&str, &str, &str) {
    let is_between = |c: char| c.is_whitespace() || "[],\"'".contains(c);
    let start = text.find(|c| !is_between(c)).unwrap_or(text.len());
    let (between, rest) = text.split_at(start);
    // A quoted argument may contain spaces.
    let quote = between.chars().next_back().filter(|c| matches!(c, '"' | '\''));
    let end = match quote {
        Some(quote) => end_of_quoted(rest, quote),
        None => rest.find(is_between),
    };
    let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
    (between, word, after)
}

/// Returns where a quoted argument ends: at its quote, unless that is escaped by a backslash or doubled, or at the
/// end of the line.
fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match (quote, c) {
            (_, '\n') => return Some(at),
            ('"', '\\') if next != Some('\n') => _ = chars.next(),
            ('\'', '\'') if next == Some('\'') => _ = chars.next(),
            _ if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

fn end_of_hunk(lines: &[DiffLine<'_>], from: usize) -> usize {
    let mut end = from;
    for (at, line) in lines.iter().enumerate().skip(from) {
        if !matches!(line, DiffLine::Same(_)) {
            end = at + 1;
        } else if at >= end + 2 * AROUND {
            break;
        }
    }
    (end + AROUND).min(lines.len())
}

fn shown(line: DiffLine<'_>) -> String {
    let (mark, line) = match line {
        DiffLine::Same(line) => (' ', line),
        DiffLine::Gone(line) => ('-', line),
        DiffLine::New(line) => ('+', line),
    };
    // Secrets are hidden before the line is cut: a part of a secret is not recognised.
    let line = redacted(line);
    let mut cut: String = line.chars().take(LINE_MAX).collect();
    if line.chars().nth(LINE_MAX).is_some() {
        cut.push_str(" ...");
    }
    format!("{mark}{cut}\n")
}

fn diff_lines<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<DiffLine<'a>> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(after).take_while(same).count();
    let (old, new) =
        (before.get(head..).unwrap_or_default(), after.get(head..).unwrap_or_default());
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, end) = old.split_at(old.len() - tail);
    let (new, _) = new.split_at(new.len() - tail);
    let mut lines: Vec<DiffLine<'a>> =
        before.iter().take(head).map(|line| DiffLine::Same(line)).collect();
    lines.extend(longest_common_lines(old, new));
    lines.extend(end.iter().map(|line| DiffLine::Same(line)));
    lines
}

/// The longest common subsequence, by dynamic programming.
fn longest_common_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<DiffLine<'a>> {
    let gone = || old.iter().map(|line| DiffLine::Gone(line));
    let come = || new.iter().map(|line| DiffLine::New(line));
    if old.is_empty() || new.is_empty() || old.len().saturating_mul(new.len()) > PAIRS_MAX {
        return gone().chain(come()).collect();
    }
    // common[i][j]: the number of lines that old[i..] and new[j..] have in common.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let look = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let best = if a == b {
                look(&common, i + 1, j + 1) + 1
            } else {
                look(&common, i + 1, j).max(look(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while let (Some(a), Some(b)) = (old.get(i), new.get(j)) {
        if a == b {
            lines.push(DiffLine::Same(a));
            (i, j) = (i + 1, j + 1);
        } else if look(&common, i + 1, j) >= look(&common, i, j + 1) {
            lines.push(DiffLine::Gone(a));
            i += 1;
        } else {
            lines.push(DiffLine::New(b));
            j += 1;
        }
    }
    lines.extend(old.iter().skip(i).map(|line| DiffLine::Gone(line)));
    lines.extend(new.iter().skip(j).map(|line| DiffLine::New(line)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_far_apart_are_shown_apart() {
        let before: Vec<String> = (1..=30).map(|n| n.to_string()).collect();
        let mut after = before.clone();
        after.insert(20, "new".to_owned());
        after[1] = "two".to_owned();
        let shown = diff("f", Some(&before.join("\n")), Some(&after.join("\n")));
        assert_eq!(
            shown,
            "--- f\n+++ f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -18,6 +18,7 @@\n 18\n 19\n 20\n+new\n 21\n 22\n 23\n"
        );
    }

    #[test]
    fn a_new_file_and_a_long_line_are_shown() {
        let shown = diff("f", None, Some(&format!("a\n{}\n", "x".repeat(999))));
        assert!(shown.starts_with("--- /dev/null\n+++ f\n@@ -1,0 +1,2 @@\n+a\n+xxx"), "{shown}");
        assert!(shown.ends_with("x ...\n") && shown.len() < 300, "{shown}");
    }

    #[test]
    fn a_secret_beside_the_change_is_not_shown() {
        let before =
            "{\n  \"env\": {\"GITHUB_TOKEN\": \"ghp_a8Kd92mXq7LpZr4TnWc5Yb1VuEo3Hs6JtGf0\"}\n}";
        let after = before.replace("}\n}", "},\n  \"a\": 1\n}");
        assert!(!diff("f", Some(before), Some(&after)).contains("ghp_a8Kd92"));
    }

    #[test]
    fn a_secret_in_an_argument_of_its_own_is_not_shown() {
        let secret = "kV7pQ2mXz9Lw4TtB";
        for (before, kept) in [
            (format!("{{\"args\": [\"--token\", \"{secret}\", \"--port\", \"8123\"]}}"), "8123"),
            (
                format!("{{\n\"args\": [\n  \"--api-key\",\n  \"{secret}\",\n  \"-v\"\n]}}"),
                "\"-v\"",
            ),
            (format!("args = ['--password', '{secret} {secret}', 'serve']"), "serve"),
            (format!("args:\n  - --token\n  - {secret}\n  - serve"), "- serve"),
            (format!("[\"--token\", \"Xw3\\\"{secret}\", \"serve\"]"), "serve"),
            (format!("[\"--token\", \"Xw3hG\\\\\\\"{secret}\", \"serve\"]"), "serve"),
            (format!("[\"--token\", \"{secret}\\\\\", \"serve\"]"), "serve"),
            (format!("['--token', 'Xw3hG''{secret}', 'serve']"), "serve"),
            (format!("[\"--token=Xw3hG\\\"{secret}\", \"--port=8123\"]"), "--port=8123"),
            (format!("args: [--token, {secret}, serve]"), "serve]"),
        ] {
            let shown = diff("f", Some(&before), Some(&format!("{before}\nmore\n")));
            assert!(!shown.contains(secret) && shown.contains(kept), "{shown}");
        }
        let plain = "{\"args\": [\"-p\", \"8123:80\", \"--name\", \"it's ours\", \"it\"]}";
        assert!(diff("f", Some(plain), Some(&format!("{plain}\n\n"))).contains(plain));
    }
}
