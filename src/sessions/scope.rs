//! The structural scopes of a search: which parts of an exchange belong to which, and what of them is searched. A scope
//! goes by what a part is, not by words in it: nine of ten results that match an error's words are no failures. Not
//! here: what is said (`search_text`), which names are those of settings (`config_names`).

use std::collections::HashSet;

use super::config_names::{is_config, names_config};
use transcripts::exchange::{Exchange, ExchangePart, PartKind};
use transcripts::transcript::Outcome;

/// What a search looks at.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum ExchangeScope {
    /// What was said, and what was done where the question reads like a command, an error or a path.
    #[default]
    All,
    /// Calls that failed or were refused, and turns that were aborted.
    Errors,
    /// Plans and to-do lists.
    Plans,
    /// Edits of settings, and commands that name such a file.
    Configs,
    /// Commands, and calls of other tools.
    Tools,
    /// Paths that were written, not those that were read.
    Files,
    /// Answers to questions of the agent, refusals with a reason, rules that the person gives, and the decisions in a
    /// summary.
    Decisions,
}

/// The scopes of parts: all but [`ExchangeScope::All`].
pub const PART_SCOPES: [ExchangeScope; 6] = [
    ExchangeScope::Errors,
    ExchangeScope::Plans,
    ExchangeScope::Configs,
    ExchangeScope::Tools,
    ExchangeScope::Files,
    ExchangeScope::Decisions,
];

/// Every name of a scope, in the order of the scopes.
const NAMES: [(&str, ExchangeScope); 7] = [
    ("all", ExchangeScope::All),
    ("errors", ExchangeScope::Errors),
    ("plans", ExchangeScope::Plans),
    ("configs", ExchangeScope::Configs),
    ("tools", ExchangeScope::Tools),
    ("files", ExchangeScope::Files),
    ("decisions", ExchangeScope::Decisions),
];

/// Tools that keep the agent's own list of what to do, in lower case and without separators.
const PLAN_TOOLS: &[&str] = &[
    "todowrite",
    "todoread",
    "updateplan",
    "taskcreate",
    "writetodos",
    "updatetodolist",
    "managetodolist",
    "exitplanmode",
    "planexit",
];

/// Words by which a short message gives a rule.
const RULE_WORDS: &[&str] =
    &["always", "never", "don't", "dont", "prefer", "instead", "convention", "must"];

/// A rule is short: longer messages hold these words by chance.
const RULE_BYTES_MAX: usize = 300;

/// Words of a line that tells a decision.
const DECISION_WORDS: &[&str] = &["decided", "decision", "chose", "chosen", "agreed"];

/// Words of a line that tells an error.
const ERROR_WORDS: &[&str] = &[
    "error",
    "fail",
    "fatal",
    "panic",
    "exception",
    "cannot",
    "can't",
    "not found",
    "denied",
    "invalid",
    "undefined",
    "unknown",
    "no such",
    "unexpected",
    "missing",
    "refused",
    "timed out",
];

/// Most error lines of one failure.
const ERROR_LINES_MAX: usize = 3;

/// Most bytes of one part that are searched: a command may hold a whole file.
const PART_BYTES_MAX: usize = 1_000;

/// The part of an exchange that an answer shows for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedPart {
    /// The scope that it was found in.
    pub scope: ExchangeScope,
    /// Its place among the parts of the exchange.
    pub place: usize,
    /// What of it is searched.
    pub text: String,
}

impl ExchangeScope {
    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, scope)| *scope == self).map_or("all", |(name, _)| name)
    }

    /// Returns the scope of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, scope)| *scope)
    }

    /// Returns the searched texts of the parts of an exchange that belong to this scope; none for
    /// [`ExchangeScope::All`].
    #[must_use]
    pub fn texts(self, exchange: &Exchange) -> Vec<String> {
        let mut texts: Vec<String> =
            exchange.parts.iter().filter_map(|part| self.text(part)).collect();
        let mut seen = HashSet::new();
        texts.retain(|text| !text.is_empty() && seen.insert(text.clone()));
        texts
    }

    /// Returns the part of this scope that has most words of a question; of several the first.
    #[must_use]
    pub fn best_part(self, exchange: &Exchange, question: &str) -> Option<MatchedPart> {
        let words = |text: &str| -> HashSet<String> {
            let words = text.split(|next: char| !next.is_alphanumeric());
            words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
        };
        let asked = words(question);
        let parts = exchange.parts.iter().enumerate().rev();
        let texts = parts.filter_map(|(place, part)| Some((place, self.text(part)?)));
        texts
            .filter(|(_, text)| !text.is_empty())
            .max_by_key(|(_, text)| words(text).intersection(&asked).count())
            .map(|(place, text)| MatchedPart { scope: self, place, text })
    }

    /// Returns the searched text of a part that belongs to this scope.
    fn text(self, part: &ExchangePart) -> Option<String> {
        match self {
            Self::All => None,
            Self::Errors => error(&part.what),
            Self::Plans => plan(&part.what),
            Self::Configs => config(&part.what),
            Self::Tools => call(&part.what),
            Self::Files => match &part.what {
                PartKind::Edited { path, .. } => Some(path.clone()),
                _ => None,
            },
            Self::Decisions => decision(&part.what),
        }
    }
}

/// Returns what failed with the lines that say why.
fn error(part: &PartKind) -> Option<String> {
    if let PartKind::Failed(text) = part {
        return Some(error_lines(text));
    }
    let (outcome, excerpt) = ended(part)?;
    let what = match part {
        PartKind::Edited { path, .. } => path.clone(),
        _ => call(part)?,
    };
    let reason = match outcome {
        Outcome::Succeeded | Outcome::Unknown => return None,
        Outcome::Refused(reason) => reason.clone().unwrap_or_default(),
        Outcome::Exited(_) | Outcome::Faulted => error_lines(excerpt),
    };
    Some(format!("{what}\n{reason}"))
}

/// Returns how a call ended, with the ends of its output.
fn ended(part: &PartKind) -> Option<(&Outcome, &str)> {
    match part {
        PartKind::Ran { outcome, excerpt, .. }
        | PartKind::Edited { outcome, excerpt, .. }
        | PartKind::Called { outcome, excerpt, .. } => Some((outcome, excerpt)),
        _ => None,
    }
}

/// Returns the first lines that tell an error, or the first line that says anything.
#[must_use]
pub fn error_lines(output: &str) -> String {
    let lines = || output.lines().map(str::trim).filter(|line| says_something(line));
    let is_error = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ERROR_WORDS.iter().any(|word| line.contains(word))
    };
    let found: Vec<&str> = lines().filter(is_error).take(ERROR_LINES_MAX).collect();
    let found = if found.is_empty() { lines().take(1).collect() } else { found };
    clipped_to(&found.join("\n"), PART_BYTES_MAX).to_owned()
}

/// A line with an exit code alone says nothing that the outcome does not say.
fn says_something(line: &str) -> bool {
    line.chars().any(char::is_alphabetic) && !line.starts_with("Exit code")
}

fn plan(part: &PartKind) -> Option<String> {
    match part {
        PartKind::Planned(text) => Some(text.clone()),
        PartKind::Called { tool, argument, .. } if is_plan_tool(tool) => Some(argument.clone()),
        PartKind::Edited { path, .. } if is_plan_path(path) => Some(path.clone()),
        _ => None,
    }
}

fn is_plan_tool(tool: &str) -> bool {
    let plain: String = tool.chars().filter(char::is_ascii_alphabetic).collect();
    PLAN_TOOLS.contains(&plain.to_ascii_lowercase().as_str())
}

fn is_plan_path(path: &str) -> bool {
    let path = path.replace('\\', "/");
    path.ends_with(".md") && path.contains("plans/")
}

fn config(part: &PartKind) -> Option<String> {
    match part {
        PartKind::Edited { path, .. } if is_config(path) => Some(path.clone()),
        PartKind::Ran { command, .. } if names_config(command) => call(part),
        _ => None,
    }
}

fn call(part: &PartKind) -> Option<String> {
    match part {
        PartKind::Ran { command, .. } => Some(clipped_to(command, PART_BYTES_MAX).to_owned()),
        PartKind::Called { tool, argument, .. } => {
            Some(format!("{tool} {}", clipped_to(argument, PART_BYTES_MAX)))
        }
        _ => None,
    }
}

fn decision(part: &PartKind) -> Option<String> {
    if let Some((Outcome::Refused(reason), _)) = ended(part) {
        return reason.clone();
    }
    match part {
        PartKind::Decided(text) => Some(text.clone()),
        PartKind::Asked(text) if is_rule(text) => Some(text.clone()),
        PartKind::Summarised(text) => {
            let lines: Vec<&str> =
                text.lines().filter(|line| has_word(line, DECISION_WORDS)).collect();
            Some(lines.join("\n"))
        }
        _ => None,
    }
}

fn is_rule(text: &str) -> bool {
    text.len() <= RULE_BYTES_MAX && has_word(text, RULE_WORDS)
}

fn has_word(text: &str, words: &[&str]) -> bool {
    let said = text.split(|next: char| !next.is_alphanumeric() && next != '\'');
    said.map(str::to_lowercase).any(|word| words.contains(&word.as_str()))
}

/// Returns the beginning of a text, cut at a character.
pub(super) fn clipped_to(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// Scopes as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeSet(u8);

impl ScopeSet {
    /// Adds a scope of parts.
    #[must_use]
    pub fn with(self, scope: ExchangeScope) -> Self {
        Self(self.0 | bit(scope))
    }

    /// Tells whether it has a scope. It always has [`ExchangeScope::All`].
    #[must_use]
    pub fn has(self, scope: ExchangeScope) -> bool {
        scope == ExchangeScope::All || self.0 & bit(scope) != 0
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

fn bit(scope: ExchangeScope) -> u8 {
    PART_SCOPES.iter().position(|known| *known == scope).map_or(0, |place| 1 << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scope: &str, parts: Vec<PartKind>) -> Vec<String> {
        let parts = parts.into_iter().map(|what| ExchangePart { at_ms: None, what }).collect();
        let exchange = Exchange { parts, ..Exchange::default() };
        ExchangeScope::named(scope).unwrap().texts(&exchange)
    }

    fn ran(command: &str, outcome: Outcome, excerpt: &str) -> PartKind {
        PartKind::Ran { command: command.to_owned(), outcome, excerpt: excerpt.to_owned() }
    }

    fn edited(path: &str) -> PartKind {
        PartKind::Edited {
            path: path.to_owned(),
            outcome: Outcome::Succeeded,
            excerpt: String::new(),
        }
    }

    fn called(tool: &str, argument: &str) -> PartKind {
        PartKind::Called {
            tool: tool.to_owned(),
            argument: argument.to_owned(),
            outcome: Outcome::Succeeded,
            excerpt: String::new(),
        }
    }

    #[test]
    fn every_scope_has_the_name_that_users_know() {
        for name in ["errors", "plans", "configs", "tools", "files", "decisions", "all"] {
            assert_eq!(ExchangeScope::named(name).unwrap().name(), name);
        }
        assert_eq!(ExchangeScope::named("memories"), None);
    }

    #[test]
    fn errors_are_failures_with_the_lines_that_say_why() {
        let output = "Exit code 2\ncompiling a\nerror: linker not found\nnote: try b";
        let found = texts(
            "errors",
            vec![
                ran("make a", Outcome::Exited(2), output),
                ran("make b", Outcome::Succeeded, ""),
                ran("make c", Outcome::Refused(Some("use just".to_owned())), ""),
                PartKind::Answered("error: error".to_owned()),
                PartKind::Failed("the model is overloaded".to_owned()),
            ],
        );
        assert_eq!(
            found,
            ["make a\nerror: linker not found", "make c\nuse just", "the model is overloaded"]
        );
    }

    #[test]
    fn the_part_with_most_words_is_best() {
        let parts = [
            ran("go vet ./...", Outcome::Exited(1), "vet: error: unreachable code"),
            ran("go test ./...", Outcome::Succeeded, ""),
            ran("go test ./...", Outcome::Exited(1), "FAIL cart: price is zero"),
            edited("cart/main.go"),
        ];
        let parts = parts.map(|what| ExchangePart { at_ms: None, what }).into();
        let exchange = Exchange { parts, ..Exchange::default() };
        let place = |scope: &str, question: &str| {
            let scope = ExchangeScope::named(scope).unwrap();
            scope.best_part(&exchange, question).map(|part| part.place)
        };
        assert_eq!(place("errors", "go test ./..."), Some(2));
        assert_eq!(place("errors", "why did Go fail"), Some(2), "FAIL is one of the words");
        assert_eq!(place("errors", "go"), Some(0), "of several the first");
        assert_eq!(place("files", "main.go"), Some(3));
        assert_eq!(place("plans", "go"), None);
        assert_eq!(place("all", "go"), None);
    }

    #[test]
    fn files_are_written_paths_and_each_counts_once() {
        let parts = vec![edited("src/a.rs"), called("Read", "src/b.rs"), edited("src/a.rs")];
        assert_eq!(texts("files", parts), ["src/a.rs"]);
    }

    #[test]
    fn configs_are_settings_that_are_edited_or_named() {
        let parts = vec![
            edited("web/tsconfig.json"),
            edited("src/a.rs"),
            ran("jq .scripts package.json", Outcome::Succeeded, ""),
            ran("cargo test", Outcome::Succeeded, ""),
        ];
        assert_eq!(texts("configs", parts), ["web/tsconfig.json", "jq .scripts package.json"]);
    }

    #[test]
    fn plans_are_plans_and_lists_of_what_to_do() {
        let parts = vec![
            PartKind::Planned("first the tests".to_owned()),
            called("TodoWrite", "write tests"),
            called("update_plan", "then ship"),
            called("Grep", "plan"),
            edited("docs/plans/cart.md"),
        ];
        assert_eq!(
            texts("plans", parts),
            ["first the tests", "write tests", "then ship", "docs/plans/cart.md"]
        );
    }

    #[test]
    fn decisions_are_those_of_the_person() {
        let parts = vec![
            PartKind::Decided("by e-mail".to_owned()),
            PartKind::Answered("I decided to use a map".to_owned()),
            PartKind::Asked("never push to main".to_owned()),
            PartKind::Asked("why is it red?".to_owned()),
            PartKind::Summarised("We began.\nDecision: one file.\nWe ended.".to_owned()),
        ];
        assert_eq!(
            texts("decisions", parts),
            ["by e-mail", "never push to main", "Decision: one file."]
        );
    }

    #[test]
    fn tools_are_commands_and_calls_of_bounded_length() {
        let parts = vec![ran(&"x".repeat(9_000), Outcome::Succeeded, ""), called("Grep", "cart")];
        let found = texts("tools", parts);
        assert_eq!(found[0].len(), PART_BYTES_MAX);
        assert_eq!(found[1], "Grep cart");
    }

    #[test]
    fn a_set_has_what_was_added_and_always_all() {
        let set = ScopeSet::default().with(ExchangeScope::Plans);
        assert!(set.has(ExchangeScope::Plans) && set.has(ExchangeScope::All));
        assert!(!set.has(ExchangeScope::Errors));
        assert_eq!(ScopeSet::from_bits(set.bits()), set);
    }
}
