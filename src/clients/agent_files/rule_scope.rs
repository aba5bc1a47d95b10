//! What the rules of a file are about: its front matter names files (`globs`, `applyTo`, `paths` …) or says in a sentence when it
//! counts, and a file of a package is about that package. Not here: the text below the front matter (`markdown`).

use super::rule_sources::package_of_rule;
use super::visible_lines::front_matter_lines;

/// Names under which clients write the files a rule is about: Cursor, Devin and Continue; Copilot; Claude Code and Cline; Kiro.
const PATTERN_FIELDS: &[&str] = &["globs", "glob", "applyTo", "paths", "fileMatchPattern"];
/// Most patterns that are kept; a memory has room for a few files.
const PATTERNS_MAX: usize = 16;
/// Most patterns that a context shows.
const SHOWN_MAX: usize = 5;

/// What a file of rules is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RuleScope {
    /// The patterns of its front matter, without those for all files.
    patterns: Vec<String>,
    /// When it counts, in a sentence.
    description: Option<String>,
    /// The folder of its package.
    package: String,
    /// Whether its front matter says that it always counts.
    is_always: bool,
}

impl RuleScope {
    /// Reads the front matter of a file.
    pub(super) fn read(file: &str, text: &str) -> Self {
        let mut scope = Self { package: package_of_rule(file).to_owned(), ..Self::default() };
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        let inside = lines.get(1..front_matter_lines(&lines).saturating_sub(1)).unwrap_or_default();
        let mut is_in_patterns = false;
        for line in inside {
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                if is_in_patterns {
                    scope.add_patterns(item);
                }
                continue;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            if line.starts_with(char::is_whitespace) {
                continue;
            }
            is_in_patterns = PATTERN_FIELDS.contains(&name.trim());
            if is_in_patterns {
                scope.add_patterns(value);
            } else if name.trim() == "alwaysApply" {
                scope.is_always = unquoted(value) == "true";
            } else if name.trim() == "description" {
                let value = unquoted(value);
                scope.description =
                    Some(value.to_owned()).filter(|text| text.split_whitespace().count() > 1);
            }
        }
        scope
    }

    /// Reads patterns: one, a list in brackets, or several with commas. A comma in braces belongs to its pattern.
    fn add_patterns(&mut self, value: &str) {
        let value = unquoted(value.split(" #").next().unwrap_or_default());
        let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let (mut depth, mut pattern) = (0_usize, String::new());
        for c in inner.unwrap_or(value).chars().chain([',']) {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    let whole = std::mem::take(&mut pattern);
                    let whole = unquoted(&whole).trim_start_matches("./");
                    let is_for_all = whole.chars().all(|c| matches!(c, '*' | '/' | '.'));
                    if !is_for_all && self.patterns.len() < PATTERNS_MAX {
                        self.patterns.push(whole.to_owned());
                    }
                    continue;
                }
                _ => {}
            }
            pattern.push(c);
        }
    }

    /// Puts above the headings of an item for which files it is; the sentence of the front matter stands where there are none.
    pub(super) fn stand_above(&self, headings: &mut Vec<String>) {
        if headings.is_empty() {
            headings.extend(self.description.clone());
        }
        if let Some(files) = self.heading() {
            headings.insert(0, files);
        }
    }

    /// Tells whether its front matter names files for which it counts.
    pub(super) fn names_files(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Tells whether its front matter says that it always counts.
    pub(super) fn is_always(&self) -> bool {
        self.is_always
    }

    fn heading(&self) -> Option<String> {
        let shown: Vec<&str> = self.patterns.iter().take(SHOWN_MAX).map(String::as_str).collect();
        let more = if self.patterns.len() > SHOWN_MAX { " and others" } else { "" };
        (!shown.is_empty()).then(|| format!("for {}{more}", shown.join(", ")))
    }

    /// Returns the files and folders that the rules are about, as far as the patterns name some.
    pub(super) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        let named = self.patterns.iter().filter_map(|pattern| literal_part(pattern));
        let named = named.map(|path| match &*self.package {
            package if package.is_empty() || path.starts_with(package) => path.to_owned(),
            package => format!("{package}/{path}"),
        });
        let package = Some(self.package.clone()).filter(|package| !package.is_empty());
        let whole = package.filter(|_| self.patterns.is_empty());
        for path in named.chain(whole) {
            if !files.contains(&path) {
                files.push(path);
            }
        }
        files
    }
}

/// Returns the part of a pattern before its first sign: the folder in which all its files are, or the only file.
fn literal_part(pattern: &str) -> Option<&str> {
    let pattern = pattern.trim_start_matches('/');
    let sign = pattern.find(['*', '?', '[', '{', '!']).unwrap_or(pattern.len());
    let before = pattern.get(..sign)?;
    let folder = if sign == pattern.len() { before } else { before.rsplit_once('/')?.0 };
    let folder = folder.trim_end_matches('/');
    let is_inside = !folder.split('/').any(|part| matches!(part, "" | "." | ".."));
    is_inside.then_some(folder)
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner =
        ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FILE-7
    #[test]
    fn front_matter_of_each_client_names_files() {
        for (front, heading, files) in [
            ("globs: src/api/**/*.ts,*.sql", "for src/api/**/*.ts, *.sql", &["src/api"][..]),
            ("globs: **/*.{ts,tsx}", "for **/*.{ts,tsx}", &[]),
            (
                "globs: [\"app/**/*\", 'lib/cart.ts']",
                "for app/**/*, lib/cart.ts",
                &["app", "lib/cart.ts"],
            ),
            ("applyTo: \"**/*.py,docs/**\"", "for **/*.py, docs/**", &["docs"]),
            (
                "paths:\n  - \"src/db/**\"\n  - migrations/*.sql",
                "for src/db/**, migrations/*.sql",
                &["src/db", "migrations"],
            ),
            (
                "inclusion: fileMatch\nfileMatchPattern: \"components/**/*.tsx\"",
                "for components/**/*.tsx",
                &["components"],
            ),
            ("globs: ../x/**", "for ../x/**", &[]),
        ] {
            let scope =
                RuleScope::read("a.mdc", &format!("---\n{front}\nalwaysApply: false\n---\n- x\n"));
            assert_eq!(scope.heading().as_deref(), Some(heading), "{front}");
            assert_eq!(scope.files(), files, "{front}");
        }
        for front in
            ["globs:", "globs: **/*", "applyTo: '**'", "globs: *\n", "description: all of it"]
        {
            let scope = RuleScope::read("a.mdc", &format!("---\n{front}\n---\n- x\n"));
            assert!(scope.heading().is_none() && scope.files().is_empty(), "{front}");
        }
        let described = RuleScope::read(
            "a.mdc",
            "---\r\ndescription: \"How we call the API\"\r\n---\r\n- x\r\n",
        );
        assert_eq!(described.description.as_deref(), Some("How we call the API"));
        assert_eq!(RuleScope::read("a.md", "globs: a/b\n"), RuleScope::default());
    }

    // S-FILE-7
    #[test]
    fn a_file_of_a_package_is_about_the_package() {
        let files = |file: &str, text: &str| RuleScope::read(file, text).files();
        assert_eq!(files("packages/web/AGENTS.md", ""), ["packages/web"]);
        let front = "---\nglobs: src/**\n---\n";
        assert_eq!(files("packages/web/.cursor/rules/a.mdc", front), ["packages/web/src"]);
        assert_eq!(files("AGENTS.md", ""), Vec::<String>::new());
    }
}
