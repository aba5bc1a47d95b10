//! Making and ending links, written as events about their source. A link that exists already writes nothing, a link
//! that would close a forbidden cycle is refused, and of many links the valid ones are written together. Not here:
//! what the events add up to (`search::links`), what a source or target names (`ends`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ends::{LinkEnd, LinkEndFinder, refuse_missing};
use super::repositories::unnamed_error;
use super::{Local, change, snapshots, write};
use event::{
    Draft, Link, MemoryChange, Node, Problems, Relation, Timestamp, parse_age, parse_timestamp,
};
use memory::{LifecycleState, Memory, Tie};
use reply::{Reply, node_text};
use requests::{
    ApiError, ChangeRequest, LinkAction, LinkEdit, LinkRequest, LinkTerms, NumberedEdit, Voice,
    WantedChange,
};
use search::links::{LinkDetails, Links, NodeRef};
use search::snapshot::Snapshot;

/// Most refused lines in the text of a reply; the JSON has all.
const TOLD_MAX: usize = 20;

/// The events that one checked link requires.
enum LinkStep {
    /// An event about its source.
    Write { edge: Box<Edge>, draft: Box<Draft>, said: String },
    /// A replacement, or the end of one. It is an event about the target.
    Replace { request: ChangeRequest },
    /// Nothing: the link is so already.
    Nothing { said: String },
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

pub(super) fn link(local: &Local, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    match request {
        LinkRequest::One(edit) => {
            let numbered = NumberedEdit { line: 1, edit: Ok(edit.clone()) };
            let reply = |said: String, status: &str| {
                Ok(Reply::new(said, json!({ "links": [{ "status": status }] })))
            };
            match link_each(local, vec![numbered], &snapshot, voice).pop() {
                Some((_, LinkOutcome::Written(said))) => reply(said, "written"),
                Some((_, LinkOutcome::Overtaken(said))) => reply(said, "overtaken"),
                Some((_, LinkOutcome::Unchanged(said))) => reply(said, "unchanged"),
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
    let ends = LinkEndFinder::new(local, snapshot);
    let mut links = Links::clone(&local.core.links.links_of(snapshot));
    let mut became = Vec::with_capacity(edits.len());
    let mut waiting: BTreeMap<Edge, (usize, Draft, String)> = BTreeMap::new();
    for NumberedEdit { line, edit } in edits {
        let step = edit
            .map_err(ApiError::Invalid)
            .and_then(|edit| step(local, &edit, &ends, &mut links, voice));
        match step {
            Ok(LinkStep::Write { edge, draft, said }) => {
                if let Some((before, ..)) = waiting.insert(*edge, (line, *draft, said)) {
                    let said = format!("line {before}: line {line} is about the same link.");
                    became.push((before, LinkOutcome::Overtaken(said)));
                }
            }
            Ok(LinkStep::Replace { request }) => {
                became.push((line, replace(local, &request, voice)));
            }
            Ok(LinkStep::Nothing { said }) => became.push((line, LinkOutcome::Unchanged(said))),
            Err(error) => became.push((line, LinkOutcome::Refused(error))),
        }
    }
    let mut waiting: Vec<(usize, Draft, String)> = waiting.into_values().collect();
    waiting.sort_by_key(|(line, ..)| *line);
    let (drafts, waiting): (Vec<Draft>, Vec<(usize, String)>) =
        waiting.into_iter().map(|(line, draft, said)| (draft, (line, said))).unzip();
    for (outcome, (line, said)) in write::record_all(local, drafts).into_iter().zip(waiting) {
        became.push((
            line,
            outcome.map_or_else(LinkOutcome::Refused, |()| LinkOutcome::Written(said)),
        ));
    }
    became.sort_by_key(|(line, _)| *line);
    became
}

fn replace(local: &Local, request: &ChangeRequest, voice: &Voice) -> LinkOutcome {
    match change::change(local, request, voice) {
        Ok(Reply { text, json }) => match json.pointer("/memories/0/status") {
            Some(status) if status == "unchanged" => LinkOutcome::Unchanged(text),
            _ => LinkOutcome::Written(text),
        },
        Err(error) => LinkOutcome::Refused(error),
    }
}

/// Decides what to write for one link, and adds it to `links`, so that the next line takes it into account.
fn step(
    local: &Local,
    edit: &LinkEdit,
    ends: &LinkEndFinder<'_>,
    links: &mut Links,
    voice: &Voice,
) -> Result<LinkStep, ApiError> {
    let (source, target) = (ends.find("source", &edit.source)?, ends.find("target", &edit.target)?);
    if edit.relation == Relation::Supersedes
        && let Some(request) = replacement(edit, &source, &target)?
    {
        return Ok(LinkStep::Replace { request });
    }
    let named = ends.repo(edit.repo.as_deref())?;
    let repo = source.repo().or(named).or(target.repo());
    let repo = repo.or_else(|| local.here.clone()).ok_or_else(unnamed_error)?;
    let (from, to) = (source.node_ref(&repo), target.node_ref(&repo));
    if from == to {
        return Err(
            Problems::one("target", "is the source itself; give two different things").into()
        );
    }
    let words = format!("{} {} {}", source.words(), edit.relation.as_str(), target.words());
    let is_such = |said: &LinkDetails| said.relation == edit.relation;
    let now = links
        .edges_at(&from)
        .find(|bond| bond.is_outward && *bond.to == to && is_such(bond.details));
    let now = now.map(|bond| bond.details.clone());
    let edge = Box::new((from.clone(), to.clone(), edit.relation));
    let change = match &edit.action {
        LinkAction::End if now.is_none() => {
            return Ok(LinkStep::Nothing {
                said: format!("{words}: nothing to do, there is no such link."),
            });
        }
        LinkAction::End => MemoryChange::Unlink { target: target.node(), relation: edit.relation },
        LinkAction::Make(terms) => {
            refuse_missing(local, &repo, &source)?;
            refuse_missing(local, &repo, &target)?;
            let link = terms_of(local, edit.relation, target.node(), terms)?;
            if now.is_some_and(|said| said.equals(&link)) {
                return Ok(LinkStep::Nothing {
                    said: format!("{words}: nothing to do, already so."),
                });
            }
            refuse_circle(edit.relation, (&from, &to), links, ends)?;
            let tie = Tie { repo: repo.clone(), since: None, link: link.clone() };
            links.add(from, to, tie.into());
            MemoryChange::Link(link)
        }
    };
    let done = if matches!(change, MemoryChange::Link(_)) { "linked" } else { "no longer linked" };
    let draft = Box::new(write::draft_about(local, &source.node(), &repo, change, voice));
    Ok(LinkStep::Write { edge, draft, said: format!("{words}: {done}.") })
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
    let ends = LinkEndFinder::new(local, snapshot);
    let of_origin = links.all().filter(|(_, _, said)| said.origin == origin);
    let drafts: Vec<Draft> = of_origin
        .filter_map(|(source, target, said)| {
            let (source, target) = (ends.node(source)?, ends.node(target)?);
            let change = MemoryChange::Unlink { target, relation: said.relation };
            Some(write::draft_about(local, &source, &said.repo, change, voice))
        })
        .collect();
    let ended = drafts.len();
    write::record_all(local, drafts).into_iter().collect::<Result<Vec<()>, ApiError>>()?;
    let text = match ended {
        0 => format!("No links have the origin {origin:?}."),
        count => format!("{count} links of origin {origin:?} ended."),
    };
    Ok(Reply::new(text, json!({ "written": ended, "origin": origin })))
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
        (LinkAction::Make(_), LinkEnd::Memory((_, by)), LinkEnd::Memory(_)) => {
            WantedChange::Superseded { by: by.id.to_string() }
        }
        (LinkAction::Make(_), ..) => {
            return Err(Problems::one("relation", "supersedes needs two memories").into());
        }
        (LinkAction::End, LinkEnd::Memory((_, by)), LinkEnd::Memory((_, old)))
            if replaces(by, old) =>
        {
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
fn refuse_circle(
    relation: Relation,
    (from, to): (&NodeRef, &NodeRef),
    links: &Links,
    ends: &LinkEndFinder<'_>,
) -> Result<(), ApiError> {
    if !relation.is_acyclic() {
        return Ok(());
    }
    let Some(way) = links.shortest_path(relation, to, from) else { return Ok(()) };
    let way: Vec<String> =
        way.into_iter().map(|node_ref| node_text(node_ref, ends.snapshot())).collect();
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
fn results(became: Vec<(usize, LinkOutcome)>) -> Reply {
    let (mut written, mut unchanged, mut overtaken) = (0_usize, 0_usize, 0_usize);
    let mut refused = Vec::new();
    let mut links: Vec<Value> = Vec::with_capacity(became.len());
    for (line, became) in became {
        links.push(match became {
            LinkOutcome::Written(_) => {
                written += 1;
                json!({ "line": line, "status": "written" })
            }
            LinkOutcome::Overtaken(_) => {
                overtaken += 1;
                json!({ "line": line, "status": "overtaken" })
            }
            LinkOutcome::Unchanged(_) => {
                unchanged += 1;
                json!({ "line": line, "status": "unchanged" })
            }
            LinkOutcome::Refused(error) => {
                let problem = error.to_string().replace('\n', "; ");
                refused.push(format!("\nline {line}: {problem}"));
                json!({ "line": line, "status": "refused", "problem": problem })
            }
        });
    }
    let count = refused.len();
    let mut text = format!("{written} written, {unchanged} unchanged, {count} refused.");
    if overtaken > 0 {
        text.push_str(&format!(" {overtaken} overtaken: a later line is about the same link."));
    }
    refused.iter().take(TOLD_MAX).for_each(|line| text.push_str(line));
    if let Some(more) = count.checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("\nand {more} more; --json lists all"));
    }
    let json = json!({ "links": links, "written": written, "unchanged": unchanged, "overtaken": overtaken, "refused": count });
    Reply::new(text, json)
}
