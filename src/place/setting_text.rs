//! The text of a git configuration: its settings in their order. Not here: files that it includes (`git_settings`), and what the
//! settings mean.

use std::str::Lines;

/// One setting of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    section: String,
    pub(crate) subsection: String,
    key: String,
    pub(crate) value: String,
}

impl Setting {
    /// Makes a setting of its full name, such as `url.git@github.com:.insteadOf`.
    pub(crate) fn from_name(name: &str, value: &str) -> Option<Self> {
        let (section, rest) = name.split_once('.')?;
        let (subsection, key) = rest.rsplit_once('.').unwrap_or(("", rest));
        let [section, subsection, key, value] =
            [section, subsection, key, value].map(str::to_owned);
        Some(Self { section, subsection, key, value })
    }

    /// Tells whether this is a setting of a section. Git ignores the case of both.
    pub(crate) fn is(&self, section: &str, key: &str) -> bool {
        self.section.eq_ignore_ascii_case(section) && self.key.eq_ignore_ascii_case(key)
    }

    /// Tells whether this is in a section.
    pub(crate) fn is_in(&self, section: &str) -> bool {
        self.section.eq_ignore_ascii_case(section)
    }

    /// Tells whether a switch is on.
    pub(crate) fn is_on(&self) -> bool {
        matches!(self.value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
    }
}

/// Returns the settings of a configuration in their order. A line that git would refuse is left out.
pub(crate) fn settings(text: &str) -> Vec<Setting> {
    let (mut section, mut subsection) = (String::new(), String::new());
    let mut found = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim();
        if let Some((name, below, rest)) = header(line) {
            (section, subsection, line) = (name, below, rest);
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, rest)) => (key.trim(), value(rest, &mut lines)),
            // A name alone is a switch that is on.
            None => (line, "true".to_owned()),
        };
        found.push(Setting {
            section: section.clone(),
            subsection: subsection.clone(),
            key: key.to_owned(),
            value,
        });
    }
    found
}

/// Splits `[section "subsection"] rest`.
fn header(line: &str) -> Option<(String, String, &str)> {
    let inner = line.strip_prefix('[')?;
    let name_end = inner.find(|c: char| c == ']' || c == '"' || c.is_whitespace())?;
    let (name, rest) = inner.split_at(name_end);
    let rest = rest.trim_start();
    if let Some(rest) = rest.strip_prefix(']') {
        // The old form `[section.subsection]`.
        let (name, below) = name.split_once('.').unwrap_or((name, ""));
        return Some((name.to_owned(), below.to_ascii_lowercase(), rest.trim_start()));
    }
    let (mut below, mut chars) = (String::new(), rest.strip_prefix('"')?.chars());
    loop {
        match chars.next()? {
            '\\' => below.push(chars.next()?),
            '"' => break,
            c => below.push(c),
        }
    }
    let rest = chars.as_str().trim_start().strip_prefix(']')?;
    Some((name.to_owned(), below, rest.trim_start()))
}

/// Reads a value: quotes, escapes, a comment behind it, and lines that go on after a backslash.
fn value(first: &str, lines: &mut Lines<'_>) -> String {
    let (mut value, mut kept, mut is_quoted) = (String::new(), 0, false);
    let mut chars = first.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
                None => {
                    let Some(next) = lines.next() else { break };
                    chars = next.trim_end().chars();
                    continue;
                }
            },
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            c => value.push(c),
        }
        // White space at the end counts within quotes only.
        if is_quoted || !c.is_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(String, String)> {
        let name = |found: Setting| {
            (format!("{}.{}.{}", found.section, found.subsection, found.key), found.value)
        };
        settings(text).into_iter().map(name).collect()
    }

    #[test]
    fn settings_are_read_as_git_writes_them() {
        let text = "\u{feff}[core] bare\n[remote \"a\\\"b\"] ; mine\n\turl = \"https://x/#y\" # here\n\
                    [URL.Old]\nx = a \\\n  b ; c\n# no\n[user]name=\"Ada; L\"  \n";
        let expected = [
            ("core..bare", "true"),
            ("remote.a\"b.url", "https://x/#y"),
            ("URL.old.x", "a   b"),
            ("user..name", "Ada; L"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(all(text), expected);
    }

    #[test]
    fn a_broken_configuration_is_read_as_far_as_it_goes() {
        assert_eq!(all("[remote \"a\nurl = x\n").len(), 2);
        assert_eq!(all("[\n=\n\\").len(), 3);
        assert!(all("").is_empty());
    }
}
