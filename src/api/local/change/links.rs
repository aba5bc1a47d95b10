//! Making and ending links, written as events about their source. A link that exists already writes nothing, a link
//! that would close a forbidden cycle is refused, and of many links the valid ones are written together. Not here:
//! what the events add up to (`search::links`), what a source or target names (`look::link_ends`).

use std::collections::BTreeMap;

use super::{memory_change, write};
use crate::local::look::link_ends::{LinkEnd, LinkEndFinder, refuse_missing};
use crate::local::repositories::{repo_if_named, unnamed_error};
use crate::local::{Local, snapshots};
use event::{
    Draft, Link, MemoryChange, Node, Problems, Relation, Timestamp, parse_age, parse_timestamp,
};
use memory::{LifecycleState, Memory, Tie};
use reply::{
    ChangeAnswer, EndedOriginAnswer, LinkAnswer, LinkResult, LinksAnswer, Reply, node_text,
};
use requests::{
    ApiError, ChangeRequest, LinkAction, LinkEdit, LinkRequest, LinkTerms, NumberedEdit, Voice,
    WantedChange,
};
use search::links::{LinkDetails, Links, NodeRef};
use search::snapshot::Snapshot;

/// The events that one checked link requires.
enum LinkStep {
    /// An event about its source.
    Write { edge: Box<Edge>, draft: Box<Draft>, message: String },
    /// A replacement, or the end of one. It is an event about the target.
    Replace { request: ChangeRequest },
    /// Nothing: the link is so already.
    Nothing { message: String },
}

/// The identity of a link.
type Edge = (NodeRef, NodeRef, Relation);

/// The result for one link.
enum LinkOutcome {
    Written(String),
    /// A later line of the same input is about the same link.
    Overtaken(String),
    Unchanged(String),
    Refused(ApiError),
}

pub(crate) fn link(local: &Local, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    match request {
        LinkRequest::One(edit) => {
            let numbered = NumberedEdit { line: 1, edit: Ok(edit.clone()) };
            let reply = |text: String, status: &str| {
                let link = LinkResult { line: None, status: status.to_owned(), problem: None };
                Ok(Reply::with_text(text, &LinkAnswer { links: vec![link] }))
            };
            match link_each(local, vec![numbered], &snapshot, voice).pop() {
                Some((_, LinkOutcome::Written(text))) => reply(text, "written"),
                Some((_, LinkOutcome::Overtaken(text))) => reply(text, "overtaken"),
                Some((_, LinkOutcome::Unchanged(text))) => reply(text, "unchanged"),
                Some((_, LinkOutcome::Refused(error))) => Err(error),
                None => Err(Problems::one("links", "is empty").into()),
            }
        }
        LinkRequest::Many(edits) => Ok(results(link_each(local, edits.clone(), &snapshot, voice))),
        LinkRequest::EndOrigin(origin) => end_origin(local, origin, &snapshot, voice),
    }
}

/// Checks each link, then writes the valid ones, with one append per repository. Where several lines are about the
/// same link only the last is written, because events of one moment have no order.
fn link_each(
    local: &Local,
    edits: Vec<NumberedEdit>,
    snapshot: &Snapshot,
    voice: &Voice,
) -> Vec<(usize, LinkOutcome)> {
    let finder = LinkEndFinder::new(local, snapshot);
    let mut links = Links::clone(&local.core.links.links_of(snapshot));
    let mut outcomes = Vec::with_capacity(edits.len());
    let mut waiting: BTreeMap<Edge, (usize, Draft, String)> = BTreeMap::new();
    for NumberedEdit { line, edit } in edits {
        let step = edit
            .map_err(ApiError::Invalid)
            .and_then(|edit| step(local, &edit, &finder, &mut links, voice));
        match step {
            Ok(LinkStep::Write { edge, draft, message }) => {
                if let Some((before, ..)) = waiting.insert(*edge, (line, *draft, message)) {
                    let message = format!("line {before}: line {line} is about the same link.");
                    outcomes.push((before, LinkOutcome::Overtaken(message)));
                }
            }
            Ok(LinkStep::Replace { request }) => {
                outcomes.push((line, replace(local, &request, voice)));
            }
            Ok(LinkStep::Nothing { message }) => {
                outcomes.push((line, LinkOutcome::Unchanged(message)));
            }
            Err(error) => outcomes.push((line, LinkOutcome::Refused(error))),
        }
    }
    let mut waiting: Vec<(usize, Draft, String)> = waiting.into_values().collect();
    waiting.sort_by_key(|(line, ..)| *line);
    let (drafts, waiting): (Vec<Draft>, Vec<(usize, String)>) =
        waiting.into_iter().map(|(line, draft, message)| (draft, (line, message))).unzip();
    for (outcome, (line, message)) in write::record_all(local, drafts).into_iter().zip(waiting) {
        outcomes.push((
            line,
            outcome.map_or_else(LinkOutcome::Refused, |()| LinkOutcome::Written(message)),
        ));
    }
    outcomes.sort_by_key(|(line, _)| *line);
    outcomes
}

fn replace(local: &Local, request: &ChangeRequest, voice: &Voice) -> LinkOutcome {
    match memory_change::change(local, request, voice) {
        Ok(reply) => {
            let is_unchanged = reply.answer::<ChangeAnswer>().is_ok_and(|answer| {
                answer.memories.first().is_some_and(|memory| memory.status == "unchanged")
            });
            if is_unchanged {
                LinkOutcome::Unchanged(reply.text)
            } else {
                LinkOutcome::Written(reply.text)
            }
        }
        Err(error) => LinkOutcome::Refused(error),
    }
}

/// Decides what to write for one link, and adds it to `links`, so that the next line takes it into account.
fn step(
    local: &Local,
    edit: &LinkEdit,
    finder: &LinkEndFinder<'_>,
    links: &mut Links,
    voice: &Voice,
) -> Result<LinkStep, ApiError> {
    let (source, target) =
        (finder.find("source", &edit.source)?, finder.find("target", &edit.target)?);
    if edit.relation == Relation::Supersedes
        && let Some(request) = replacement(edit, &source, &target)?
    {
        return Ok(LinkStep::Replace { request });
    }
    let named = repo_if_named(local, edit.repo.as_deref(), finder.snapshot)?;
    let repo = source.repo().or(named).or(target.repo());
    let repo = repo.or_else(|| local.here.clone()).ok_or_else(unnamed_error)?;
    let (from, to) = (source.node_ref(&repo), target.node_ref(&repo));
    if from == to {
        return Err(
            Problems::one("target", "is the source itself; give two different things").into()
        );
    }
    let text = format!("{} {} {}", source.node(), edit.relation.as_str(), target.node());
    let is_such = |details: &LinkDetails| details.relation == edit.relation;
    let now = links
        .edges_at(&from)
        .find(|bond| bond.is_outward && *bond.to == to && is_such(bond.details));
    let now = now.map(|bond| bond.details.clone());
    let edge = Box::new((from.clone(), to.clone(), edit.relation));
    let change = match &edit.action {
        LinkAction::End if now.is_none() => {
            return Ok(LinkStep::Nothing {
                message: format!("{text}: nothing to do, there is no such link."),
            });
        }
        LinkAction::End => MemoryChange::Unlink { target: target.node(), relation: edit.relation },
        LinkAction::Make(terms) => {
            refuse_missing(local, &repo, &source)?;
            refuse_missing(local, &repo, &target)?;
            let link = terms_of(local, edit.relation, target.node(), terms)?;
            if now.is_some_and(|details| details.equals(&link)) {
                return Ok(LinkStep::Nothing {
                    message: format!("{text}: nothing to do, already so."),
                });
            }
            refuse_cycle(edit.relation, &from, &to, links, finder)?;
            let tie = Tie { repo: repo.clone(), since: None, link: link.clone() };
            links.add(from, to, tie.into());
            MemoryChange::Link(link)
        }
    };
    let done = if matches!(change, MemoryChange::Link(_)) { "linked" } else { "no longer linked" };
    let draft = Box::new(write::draft_about(local, &source.node(), &repo, change, voice));
    Ok(LinkStep::Write { edge, draft, message: format!("{text}: {done}.") })
}

/// Makes the link with its terms.
fn terms_of(
    local: &Local,
    relation: Relation,
    target: Node,
    terms: &LinkTerms,
) -> Result<Link, Problems> {
    let now = (local.core.clock)().now;
    let mut problems = Problems::none();
    let mut time =
        |field: &str, text: Option<&String>, of_age: fn(Timestamp, &str) -> Option<Timestamp>| {
            let text = text?;
            let found = moment(now, text).or_else(|| of_age(now, text));
            if found.is_none() {
                let example = "must be a time, a day, now or an age, for example 2026-03-01 or 30d";
                problems.add(field, example);
            }
            found
        };
    let ago = |now: Timestamp, text: &str| now.checked_sub(parse_age(text)?).ok();
    let ahead = |now: Timestamp, text: &str| now.checked_add(parse_age(text)?).ok();
    let valid_from = time("valid_from", terms.valid_from.as_ref(), ago);
    let valid_to = time("valid_to", terms.valid_to.as_ref(), ahead);
    if valid_from.zip(valid_to).is_some_and(|(from, to)| to < from) {
        problems.add("valid_to", "is before valid_from; a link ends after it begins");
    }
    let (strength, origin) = (terms.strength, terms.origin.clone());
    problems.or(Link { target, relation, strength, valid_from, valid_to, origin })
}

fn end_origin(
    local: &Local,
    origin: &str,
    snapshot: &Snapshot,
    voice: &Voice,
) -> Result<Reply, ApiError> {
    let links = Links::from_link_events(snapshot);
    let finder = LinkEndFinder::new(local, snapshot);
    let of_origin = links.all().filter(|(_, _, details)| details.origin == origin);
    let drafts: Vec<Draft> = of_origin
        .filter_map(|(source, target, details)| {
            let (source, target) = (finder.node(source)?, finder.node(target)?);
            let change = MemoryChange::Unlink { target, relation: details.relation };
            Some(write::draft_about(local, &source, &details.repo, change, voice))
        })
        .collect();
    let ended = drafts.len();
    write::record_all(local, drafts).into_iter().collect::<Result<Vec<()>, ApiError>>()?;
    Ok(Reply::from_answer(&EndedOriginAnswer { written: ended, origin: origin.to_owned() }))
}

fn moment(now: Timestamp, text: &str) -> Option<Timestamp> {
    if text.eq_ignore_ascii_case("now") { Some(now) } else { parse_timestamp(text) }
}

/// Returns the change for a link with the relation `supersedes`: replacement has one form, an event about the
/// replaced memory. `None` where only a link made by others has to end.
fn replacement(
    edit: &LinkEdit,
    source: &LinkEnd,
    target: &LinkEnd,
) -> Result<Option<ChangeRequest>, ApiError> {
    let change = match (&edit.action, source, target) {
        (LinkAction::Make(_), LinkEnd::Memory(_, by), LinkEnd::Memory(..)) => {
            WantedChange::Superseded { by: by.id.to_string() }
        }
        (LinkAction::Make(_), ..) => {
            return Err(Problems::one("relation", "supersedes needs two memories").into());
        }
        (LinkAction::End, LinkEnd::Memory(_, by), LinkEnd::Memory(_, old)) if replaces(by, old) => {
            WantedChange::Restored
        }
        (LinkAction::End, ..) => return Ok(None),
    };
    Ok(Some(ChangeRequest { ids: vec![target.node().id().to_string()], change, note: None }))
}

fn replaces(by: &Memory, old: &Memory) -> bool {
    matches!(&old.lifecycle().state, LifecycleState::Superseded { by: now } if *now == by.id)
}

/// Refuses a link that would close a cycle, where its relation forbids cycles, and shows the path.
fn refuse_cycle(
    relation: Relation,
    from: &NodeRef,
    to: &NodeRef,
    links: &Links,
    finder: &LinkEndFinder<'_>,
) -> Result<(), ApiError> {
    if !relation.is_acyclic() {
        return Ok(());
    }
    let Some(way) = links.shortest_path(relation, to, from) else { return Ok(()) };
    let way: Vec<String> =
        way.into_iter().map(|node_ref| node_text(node_ref, finder.snapshot)).collect();
    let message = format!(
        "closes a cycle: {} already, by {}; end one of these links first, or reverse the new one",
        format_args!(
            "{} {} {}",
            way.first().map_or("", |s| s),
            relation.as_str(),
            way.last().map_or("", |s| s)
        ),
        way.join(" → ")
    );
    Err(Problems::one("target", message).into())
}

/// Reports the results of many links.
fn results(outcomes: Vec<(usize, LinkOutcome)>) -> Reply {
    let result = |(line, outcome): (usize, LinkOutcome)| {
        let (status, problem) = match outcome {
            LinkOutcome::Written(_) => ("written", None),
            LinkOutcome::Overtaken(_) => ("overtaken", None),
            LinkOutcome::Unchanged(_) => ("unchanged", None),
            LinkOutcome::Refused(error) => ("refused", Some(error.to_string().replace('\n', "; "))),
        };
        LinkResult { line: Some(line), status: status.to_owned(), problem }
    };
    let links: Vec<LinkResult> = outcomes.into_iter().map(result).collect();
    let count = |status: &str| links.iter().filter(|link| link.status == status).count();
    let (written, unchanged) = (count("written"), count("unchanged"));
    let (overtaken, refused) = (count("overtaken"), count("refused"));
    Reply::from_answer(&LinksAnswer { links, written, unchanged, overtaken, refused })
}
