//! The state of store, indexes and model, for people and for programs. Not here: finding and repairing faults
//! (`upkeep`).

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::reply::Reply;
use guard::text::{Layout, neutralise};
use index::vector::VectorIndex;
use search::snapshot::{Health, Snapshot};

/// The state of the embedding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReport {
    /// One line on the model.
    pub line: String,
    /// Whether it can be used, now or in a moment.
    pub works: bool,
    /// Its directory.
    pub directory: String,
    /// One line on the cache, when something is wrong with it.
    pub cache_trouble: Option<String>,
    /// What is wrong with a model that could not be asked just now.
    pub trouble: Option<String>,
    /// Whether it is one of others, to which texts and queries are sent.
    pub place: ModelPlace,
    /// The model that is to answer next, where there is one.
    pub next: Option<NextModelState>,
}

/// Where a model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPlace {
    /// On this machine.
    Here,
    /// At others, or in a program of others.
    Others,
}

/// How far the model is that is to answer next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextModelState {
    /// One line on it.
    pub line: String,
    /// The memories that are done.
    pub done: usize,
    /// What is wrong, if something is.
    pub trouble: Option<String>,
}

/// Skipped lines shown to people; `--json` has more.
const SKIPS_SHOWN: usize = 10;

/// Writes the state of a store, which `is_made` or not.
#[must_use]
pub fn status(root: &Path, is_made: bool, snapshot: &Snapshot, model: &ModelReport) -> Reply {
    let health = snapshot.health();
    let embedded = snapshot.vectors().map_or(0, VectorIndex::len);
    let memories = snapshot.memories().len();
    let mut text = String::new();
    let _ = writeln!(text, "store     {}", shown(root));
    let _ = writeln!(
        text,
        "memories  {memories} in {} {} ({} {}{})",
        snapshot.repos().len(),
        if snapshot.repos().len() == 1 { "repository" } else { "repositories" },
        health.logs,
        if health.logs == 1 { "log" } else { "logs" },
        archived(health)
    );
    let room = snapshot.memory_usage();
    if let Some(notice) = room.notice() {
        let _ = writeln!(text, "          {notice}");
    }
    let _ = writeln!(text, "lines     {} read, {} skipped", health.lines, health.skipped);
    health.skips.iter().take(SKIPS_SHOWN).for_each(|skip| {
        let _ = writeln!(
            text,
            "          {} at byte {}: {}",
            shown(&skip.log),
            skip.offset,
            skip.reason
        );
    });
    if health.waiting > 0 {
        let _ = writeln!(
            text,
            "waiting   {} writes in the spool, since another process holds their log; searches find them",
            health.waiting
        );
    }
    let _ = writeln!(text, "words     {} memories indexed", snapshot.lexical().len());
    let _ = writeln!(text, "meaning   {}", model.line);
    if model.works {
        let _ = writeln!(text, "          {embedded} of {memories} memories embedded");
        let unsigned = embedded.saturating_sub(snapshot.signed_count());
        if unsigned > 0 {
            let _ = writeln!(
                text,
                "          {unsigned} of them still need token signs, which are made in the background"
            );
        }
    }
    if let Some(trouble) = &model.cache_trouble {
        let _ = writeln!(text, "          cache: {trouble}");
    }
    model_lines(&mut text, snapshot, model);
    let _ = writeln!(text, "watching  {}", watching(health, is_made));
    health.troubles.iter().for_each(|(log, trouble)| {
        let trouble = neutralise(trouble, Layout::Line);
        let _ = writeln!(text, "trouble   {}: {trouble}", shown(log));
    });
    Reply::new(text.trim_end().to_owned(), json_of(root, snapshot, model))
}

/// Says what is sent to whom, and how far the next model is.
fn model_lines(text: &mut String, snapshot: &Snapshot, model: &ModelReport) {
    if model.place == ModelPlace::Others {
        let _ = writeln!(
            text,
            "          texts of memories and queries are sent to it; {} memories are kept from it",
            snapshot.withheld
        );
    }
    if let Some(trouble) = &model.trouble {
        let _ = writeln!(text, "          trouble: {trouble}");
    }
    if let Some(next) = &model.next {
        let (line, done, memories) = (&next.line, next.done, snapshot.memories().len());
        let _ = writeln!(text, "next      {line}: {done} of {memories} memories embedded");
        if let Some(trouble) = &next.trouble {
            let _ = writeln!(text, "          {trouble}");
        }
    }
}

/// Adds the lines on the model of a status to a reply.
#[must_use]
pub fn with_model(reply: Reply, status: &Reply) -> Reply {
    let begins = |line: &&str| line.starts_with("meaning ");
    let of_model = |line: &&str| begins(line) || line.starts_with("next ") || line.starts_with(' ');
    let lines = status.text.lines().skip_while(|line| !begins(line)).take_while(of_model);
    let text = std::iter::once(reply.text.as_str()).chain(lines).collect::<Vec<_>>().join("\n");
    let model = status.json.get("model").cloned().unwrap_or_default();
    Reply { text, ..reply }.with_field("model", model)
}

fn archived(health: &Health) -> String {
    match health.segments {
        0 => String::new(),
        segments => format!(", {segments} segments of old lines"),
    }
}

/// Neutralises a path, since anybody can put a file with any name into the store.
fn shown(path: &Path) -> String {
    neutralise(&path.display().to_string(), Layout::Line)
}

fn watching(health: &Health, is_made: bool) -> String {
    match &health.watch_trouble {
        _ if !is_made => "starts once there is a store".to_owned(),
        Some(trouble) => format!("every query checks the files ({trouble})"),
        None => "changes are watched, and every query checks the files".to_owned(),
    }
}

fn json_of(root: &Path, snapshot: &Snapshot, model: &ModelReport) -> Value {
    let health = snapshot.health();
    let skips: Vec<Value> = health
        .skips
        .iter()
        .map(|skip| json!({ "log": skip.log.display().to_string(), "offset": skip.offset, "reason": skip.reason.to_string() }))
        .collect();
    let troubles: Vec<Value> = health
        .troubles
        .iter()
        .map(|(log, trouble)| json!({ "log": log.display().to_string(), "trouble": trouble }))
        .collect();
    let repos: serde_json::Map<String, Value> = snapshot
        .repos()
        .iter()
        .map(|(repo, count)| (repo.to_string(), Value::from(*count)))
        .collect();
    let room = snapshot.memory_usage();
    json!({
        "store": root.display().to_string(), "logs": health.logs, "segments": health.segments, "waiting": health.waiting, "memories": snapshot.memories().len(),
        "repos": repos, "lines": health.lines, "skipped": health.skipped, "skips": skips, "troubles": troubles,
        "left_out": room.left_out, "memory_mib": room.mib_max(), "held_bytes": room.held_bytes,
        "orphans": health.early, "lexical": snapshot.lexical().len(),
        "embedded": snapshot.vectors().map_or(0, VectorIndex::len), "signed": snapshot.signed_count(),
        "model": { "works": model.works, "state": model.line, "directory": model.directory, "cache_trouble": model.cache_trouble,
            "trouble": model.trouble, "is_of_others": model.place == ModelPlace::Others, "withheld": snapshot.withheld,
            "next": model.next.as_ref().map(|next| json!({ "state": next.line, "embedded": next.done, "trouble": next.trouble })) },
        "watch_trouble": health.watch_trouble,
    })
}
