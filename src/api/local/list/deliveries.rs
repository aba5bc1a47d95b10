//! Answers what agents were shown: a page of the journal, the newest first. Not here: writing it (`journal::agent_delivery`).

use crate::journal::agent_delivery::DeliveryLine;
use crate::journal::journal_line::{JournalMemories, page_entry};
use crate::journal::kind;
use crate::journal::sequence::Sequence;
use crate::local::{Local, citation, repositories};
use event::Problems;
use reply::{InjectedAnswer, Reply};
use requests::ApiError;
use requests::injected::InjectedRequest;
use search::snapshot::Snapshot;

/// What a reply says where nothing is written down.
pub(super) const JOURNAL_OFF: &str =
    "Note: what agents are shown is not recorded (journal is off).";

pub(super) fn page(
    local: &Local,
    request: &InjectedRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let before = request.cursor.as_deref().map(place_in).transpose()?;
    let repos = repositories::keys_if_named(local, request.repo.as_deref(), snapshot)?;
    let memory = match &request.memory {
        Some(id) => citation::cited_memories([id], snapshot)?.pop(),
        None => None,
    };
    let Some(teller) = &local.core.delivery_journal else {
        let (entries, next, notices) = (Vec::new(), None, vec![JOURNAL_OFF.to_owned()]);
        return Ok(Reply::from_answer(&InjectedAnswer { entries, next, notices }));
    };
    let is_wanted = |line: &DeliveryLine| {
        let is = |found: Option<&str>, wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let is_of_repo = repos.as_ref().is_none_or(|repos| {
            repos.iter().any(|repo| line.repo.as_deref() == Some(repo.as_str()))
        });
        let has_memory = memory.as_ref().is_none_or(|memory| {
            line.memories().any(|id| id == memory.id.short() || id == memory.id.as_str())
        });
        is(Some(&line.agent), &request.agent)
            && is(line.session.as_deref(), &request.session)
            && is_of_repo
            && has_memory
    };
    let mut lines = DeliveryLine::back_from(teller.journal(), before, &[kind::INJECTED]);
    lines.retain(|(_, line)| is_wanted(line));
    let is_more = lines.len() > request.limit;
    lines.truncate(request.limit);
    let next = lines.last().filter(|_| is_more).map(|(sequence, _)| sequence.to_string());
    let memories =
        JournalMemories::look_up(lines.iter().flat_map(|(_, line)| line.memories()), snapshot);
    let entries = lines.into_iter().map(|(sequence, line)| page_entry(sequence, line, &memories));
    let (entries, notices) = (entries.collect(), Vec::new());
    Ok(Reply::from_answer(&InjectedAnswer { entries, next, notices }))
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
