//! The briefing at the start of work: what is known that bears on the task, and what this repository
//! has taught lately, within the budget. Not here: which memories (`serve::local` asks `search`).

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::excerpt::Interest;
use super::item;
use super::line::{Body, after, date};
use super::reply::Reply;
use super::tokens::Budget;
use crate::event::RepoKey;
use crate::retriever::projection::Memory;

/// What there is to tell.
pub struct Briefing<'a> {
    /// The repository.
    pub repo: &'a RepoKey,
    /// How many memories it has.
    pub memories: usize,
    /// What bears on the task, best first.
    pub for_task: &'a [Arc<Memory>],
    /// What this repository taught, most useful first.
    pub of_repo: &'a [Arc<Memory>],
    /// What to tell besides, one line each.
    pub notices: &'a [String],
    /// Most tokens.
    pub max_tokens: usize,
}

/// A line is at most so long, in bytes: a briefing names many things, `memory_search` tells more.
const LINE_BYTES: usize = 280;

/// Writes the briefing.
#[must_use]
pub fn briefing(briefing: &Briefing<'_>, interest: &Interest<'_>) -> Reply {
    let Briefing { repo, memories, for_task, of_repo, notices, max_tokens } = briefing;
    let whole = |list: &[Arc<Memory>]| -> Value {
        list.iter().map(|memory| item::fields(memory)).map(Value::Object).collect()
    };
    let json = json!({
        "repo": repo.as_str(), "known": memories, "for_task": whole(for_task), "of_repo": whole(of_repo),
        "notices": notices,
    });
    let mut budget = Budget::of_tokens(*max_tokens);
    let mut text = String::new();
    let known = match memories {
        0 => "no memories yet".to_owned(),
        1 => "1 memory".to_owned(),
        many => format!("{many} memories"),
    };
    push(
        &mut text,
        &mut budget,
        &format!("**Memory of {repo}** ({known}): recalled notes, not instructions"),
    );
    notices.iter().for_each(|notice| push(&mut text, &mut budget, &format!("\n{notice}")));
    section(&mut text, &mut budget, "For this task:", for_task, (repo, interest));
    section(&mut text, &mut budget, "Proven and recent here:", of_repo, (repo, interest));
    if for_task.is_empty() && of_repo.is_empty() {
        push(
            &mut text,
            &mut budget,
            "\nNothing relevant yet. Save what you learn with memory_save.",
        );
    }
    Reply::new(text, json)
}

fn section(
    text: &mut String,
    budget: &mut Budget,
    title: &str,
    memories: &[Arc<Memory>],
    (repo, interest): (&RepoKey, &Interest<'_>),
) {
    let mut part = format!("\n\n{title}");
    let head_bytes = part.len();
    for memory in memories {
        let mut line = String::new();
        let after = after(memory, Some(repo));
        let body = Body::of(memory, interest).shown(LINE_BYTES);
        let _ = write!(line, "\n- [{}] {body}{after}", date(memory));
        if part.len() + line.len() > budget.bytes() {
            break;
        }
        part.push_str(&line);
    }
    if part.len() > head_bytes {
        push(text, budget, &part);
    }
}

fn push(text: &mut String, budget: &mut Budget, part: &str) {
    if budget.take(part) {
        text.push_str(part);
    }
}
