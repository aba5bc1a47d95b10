//! Answers what agents were told: a page of the journal, the newest first. Not here: writing it (`journal::agent_delivery`).

use serde_json::{Value, json};

use super::{Local, citation, repositories};
use crate::journal::journal_line::{JournalMemories, page_entry};
use crate::journal::kind;
use crate::journal::sequence::Sequence;
use event::Problems;
use reply::Reply;
use requests::ApiError;
use requests::injected::InjectedRequest;
use search::snapshot::Snapshot;

/// What a reply says where nothing is written down.
pub(super) const JOURNAL_OFF: &str = "Note: what agents are told is not recorded (journal is off).";

pub(super) fn page(
    local: &Local,
    request: &InjectedRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let before = request.cursor.as_deref().map(place_in).transpose()?;
    let named = request.repo.as_deref().map(|name| repositories::named_repo(local, name, snapshot));
    let repos = named.transpose()?.map(|repo| snapshot.keys_of(&repo));
    let memory = match &request.memory {
        Some(id) => citation::cited_memories([id], snapshot)?.pop(),
        None => None,
    };
    let Some(teller) = &local.core.delivery_journal else {
        return Ok(Reply::new(
            JOURNAL_OFF.to_owned(),
            json!({ "entries": [], "next": null, "notices": [JOURNAL_OFF] }),
        ));
    };
    let is_wanted = |line: &Value| {
        let is = |name: &str, wanted: &Option<String>| {
            wanted.as_ref().is_none_or(|wanted| line[name].as_str() == Some(wanted))
        };
        let is_of_repo = repos.as_ref().is_none_or(|repos| {
            repos.iter().any(|repo| line["repo"].as_str() == Some(repo.as_str()))
        });
        let told = line["memories"].as_array();
        let has_memory = memory.as_ref().is_none_or(|memory| {
            let mut told = told.into_iter().flatten().filter_map(Value::as_str);
            told.any(|id| id == memory.id.short() || id == memory.id.as_str())
        });
        is("agent", &request.agent) && is("session", &request.session) && is_of_repo && has_memory
    };
    let mut lines = teller.journal().read_back(before, &[kind::INJECTED]);
    lines.retain(|(_, line)| is_wanted(line));
    let is_more = lines.len() > request.limit;
    lines.truncate(request.limit);
    let next = lines.last().filter(|_| is_more).map(|(sequence, _)| sequence.to_string());
    let memories = JournalMemories::look_up(lines.iter().map(|(_, line)| line), snapshot);
    let entries = lines.iter().map(|(sequence, line)| page_entry(*sequence, line, &memories));
    let entries: Vec<Value> = entries.collect();
    let text = entries.iter().map(in_words).collect::<Vec<_>>().join("\n");
    Ok(Reply::new(text, json!({ "entries": entries, "next": next })))
}

fn in_words(entry: &Value) -> String {
    let word = |name: &str| entry[name].as_str().unwrap_or("-");
    let ids = entry["memories"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let (at, agent, occasion) = (word("at"), word("agent"), word("occasion"));
    format!("{at} {agent} {occasion}: {}", ids.collect::<Vec<_>>().join(" "))
}

fn place_in(cursor: &str) -> Result<Sequence, ApiError> {
    Sequence::parse(cursor).ok_or_else(|| {
        let message = format!(
            "must be the value of `next` in an earlier answer, such as 1-340; got {}",
            event::quoted(cursor)
        );
        ApiError::Invalid(Problems::one("cursor", message))
    })
}
