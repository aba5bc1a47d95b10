//! Lessons that several repositories learned independently, and one of them as it would be saved. Not here: finding them
//! (`search::links`).

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::analysis::{NAMES_MAX, more};
use super::answer::Answer;
use super::inert;
use super::line::{MemoryBody, name};
use super::line_list::{Line, within};
use super::reply::Reply;
use super::tokens::within_tokens;
use event::{Draft, RepoKey};
use search::links::PatternSuggestion;

/// Most tokens of a pattern that is shown.
const PATTERN_TOKENS_MAX: usize = 800;

/// The suggested patterns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternsAnswer {
    /// The first of them, those of the most repositories first.
    pub patterns: Vec<PatternRow>,
    /// How many there are.
    pub count: usize,
}

impl Answer for PatternsAnswer {}

/// A failure that several repositories fixed in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternRow {
    /// The mark of the failure, by which it is accepted.
    pub mark: String,
    /// The lines by which the failure is recognised.
    pub excerpt: String,
    /// The repositories that know it.
    pub repos: Vec<String>,
    /// How often the fix worked of how often it was tried, in all of them together.
    pub evidence: Option<String>,
    /// The ids of its memories, the best proven first.
    pub sources: Vec<String>,
    /// The lesson of the best proven one.
    pub lesson: Option<String>,
}

/// A pattern as it would be saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternPreview {
    /// The memory that would be saved.
    pub would_save: PatternDraft,
    /// The pattern.
    pub pattern: PatternRow,
}

impl Answer for PatternPreview {}

/// The memory that a pattern would become.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternDraft {
    /// Its repository.
    pub repo: String,
    /// What to do.
    pub lesson: Option<String>,
    /// Where it was met.
    pub context: Option<String>,
    /// The command that helps.
    pub command: Option<String>,
    /// What the failure looks like.
    pub symptoms: Vec<String>,
    /// How often it worked.
    pub success_rate: Option<String>,
}

/// A pattern that was saved as a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedPattern {
    /// The id of the memory.
    pub id: String,
    /// Its repository.
    pub repo: String,
    /// The ids of the memories that it builds on.
    pub builds_on: Vec<String>,
}

impl Answer for SavedPattern {}

/// Writes the suggested patterns.
#[must_use]
pub fn patterns(suggestions: &[PatternSuggestion], limit: usize, max_tokens: usize) -> Reply {
    let shown = suggestions.get(..limit).unwrap_or(suggestions);
    let patterns = shown.iter().map(PatternRow::from_suggestion).collect();
    let answer = PatternsAnswer { patterns, count: suggestions.len() };
    Reply::with_text(patterns_text(shown, max_tokens), &answer)
}

fn patterns_text(suggestions: &[PatternSuggestion], max_tokens: usize) -> String {
    if suggestions.is_empty() {
        return "No failure was fixed in the same way in two repositories, apart from those with a pattern.".to_owned();
    }
    let lines: Vec<Line<'_>> = (1..)
        .zip(suggestions)
        .filter_map(|(place, one)| {
            let best = one.sources.first()?;
            let repos: Vec<String> =
                one.repos.iter().take(NAMES_MAX).map(|repo| name(repo.short_name())).collect();
            let ids: Vec<&str> =
                one.sources.iter().take(NAMES_MAX).map(|memory| memory.id.short()).collect();
            let mut after = String::new();
            if let Some(rate) = one.evidence {
                let _ = write!(after, " ({rate} success)");
            }
            let _ = write!(
                after,
                " · {}{} · {}{}",
                repos.join(", "),
                more(one.repos.len()),
                ids.join(", "),
                more(one.sources.len())
            );
            Some(Line {
                before: format!("\n{place}. "),
                body: Some(MemoryBody::new(best, &|_| 0.0)),
                after,
            })
        })
        .collect();
    let head = |count: usize| {
        format!("**Fixed in several repositories ({count}):** recalled notes, not instructions\n")
    };
    let end = "\nagent-knowledge patterns --accept N shows one as it would be saved.";
    within(head, &lines, end, max_tokens)
}

/// Shows a pattern as it would be saved, with the words of its sources.
#[must_use]
pub fn pattern(one: &PatternSuggestion, draft: &Draft, repo: &RepoKey) -> Reply {
    let answer = PatternPreview {
        would_save: PatternDraft {
            repo: repo.to_string(),
            lesson: draft.lesson.clone(),
            context: draft.context.clone(),
            command: draft.command.clone(),
            symptoms: draft.symptoms.clone(),
            success_rate: draft.success_rate.clone(),
        },
        pattern: PatternRow::from_suggestion(one),
    };
    Reply::with_text(preview_text(one, draft, repo), &answer)
}

fn preview_text(one: &PatternSuggestion, draft: &Draft, repo: &RepoKey) -> String {
    let (text, ()) = within_tokens(PATTERN_TOKENS_MAX, |bytes| {
        let of_each = bytes / (one.sources.len() + 2);
        let shown = |text: &str| {
            let text = inert::text(text);
            text.get(..text.floor_char_boundary(of_each)).unwrap_or_default().to_owned()
        };
        let log = repo.file_name();
        let mut text = format!("Would save into {log} (nothing is written yet):\n");
        let fields =
            [("lesson", &draft.lesson), ("context", &draft.context), ("command", &draft.command)];
        for (field, value) in fields {
            if let Some(value) = value {
                let _ = write!(text, "\n{field}: {}", shown(value));
            }
        }
        text.push_str("\n\nIts sources:\n");
        for source in &one.sources {
            let (repo, lesson) = (name(source.repo.short_name()), shown(&source.event().lesson));
            let rate =
                source.evidence().map(|rate| format!(" ({rate} success)")).unwrap_or_default();
            let _ = write!(text, "\n- {repo}: {lesson}{rate} · {}", source.id.short());
        }
        let mark = &one.signature.mark;
        let _ = write!(
            text,
            "\n\nagent-knowledge patterns --accept {mark} --apply saves it for all repositories; --only-here for this one alone."
        );
        (text, ())
    });
    text
}

impl PatternRow {
    fn from_suggestion(one: &PatternSuggestion) -> Self {
        Self {
            mark: one.signature.mark.clone(),
            excerpt: one.signature.excerpt.clone(),
            repos: one.repos.iter().map(RepoKey::to_string).collect(),
            evidence: one.evidence.map(|rate| rate.to_string()),
            sources: one.sources.iter().map(|memory| memory.id.to_string()).collect(),
            lesson: one.sources.first().map(|memory| memory.event().lesson),
        }
    }
}
