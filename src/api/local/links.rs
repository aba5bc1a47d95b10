//! Links that somebody makes or ends, written down as events about what they go out from. What is so already writes
//! nothing, a circle where none may be is refused, and of many the good ones are written together. Not here: what the
//! events add up to (`projection::links`), what an end of a link means (`ends`).

mod ends;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub(super) use self::ends::{End, Ends};
use super::Local;
use crate::{ApiError, ChangeRequest, Deed, Edit, LinkRequest, Numbered, Terms, Voice, Wanted};
use event::{
    Draft, Link, MemoryChange, Node, Problems, Relation, RepoKey, Timestamp, parse_age,
    parse_timestamp,
};
use memory::{LifecycleState, Memory, Tie};
use reply::{Reply, spot_words};
use search::links::{Links, Said, Spot};
use search::snapshot::Snapshot;
use store::Durability;
use writer::{BatchError, BatchOutcome, record_drafts};

/// So many refused lines are told in words; the JSON has all.
const TOLD_MAX: usize = 20;

/// What becomes of one link, checked.
enum Step {
    /// An event about its source.
    Write { edge: Box<Edge>, draft: Box<Draft>, said: String },
    /// A replacement, or the end of one, which is an event about its target.
    Replace { request: ChangeRequest },
    /// It is so already.
    Nothing { said: String },
}

/// What tells one link from another.
type Edge = (Spot, Spot, Relation);

/// What became of one link.
enum Became {
    Written(String),
    /// A later line of the same input says what it is.
    Overtaken(String),
    Unchanged(String),
    Refused(ApiError),
}

impl Local {
    pub(super) fn linked(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        match request {
            LinkRequest::One(edit) => {
                let numbered = Numbered { line: 1, edit: Ok(edit.clone()) };
                let reply = |said: String, status: &str| {
                    Ok(Reply::new(said, json!({ "links": [{ "status": status }] })))
                };
                match self.tied(vec![numbered], &snapshot, voice).pop() {
                    Some((_, Became::Written(said))) => reply(said, "written"),
                    Some((_, Became::Overtaken(said))) => reply(said, "overtaken"),
                    Some((_, Became::Unchanged(said))) => reply(said, "unchanged"),
                    Some((_, Became::Refused(error))) => Err(error),
                    None => Err(Problems::one("links", "is empty").into()),
                }
            }
            LinkRequest::Many(edits) => Ok(told(self.tied(edits.clone(), &snapshot, voice))),
            LinkRequest::EndOrigin(origin) => self.origin_ended(origin, &snapshot, voice),
        }
    }

    /// Checks each, then writes what is to be written, those of one repository in one append. Of a link that is told
    /// several times only the last is written: events of one moment stand in no order.
    fn tied(
        &self,
        edits: Vec<Numbered>,
        snapshot: &Snapshot,
        voice: &Voice,
    ) -> Vec<(usize, Became)> {
        let ends = Ends::of(self, snapshot);
        let mut links = Links::clone(&self.core.links.of(snapshot));
        let mut became = Vec::with_capacity(edits.len());
        let mut waiting: BTreeMap<Edge, (usize, Draft, String)> = BTreeMap::new();
        for Numbered { line, edit } in edits {
            let step = edit
                .map_err(ApiError::Invalid)
                .and_then(|edit| self.step(&edit, &ends, &mut links, voice));
            match step {
                Ok(Step::Write { edge, draft, said }) => {
                    if let Some((before, ..)) = waiting.insert(*edge, (line, *draft, said)) {
                        let said = format!("line {before}: line {line} says the same link.");
                        became.push((before, Became::Overtaken(said)));
                    }
                }
                Ok(Step::Replace { request }) => {
                    became.push((line, self.replaced(&request, voice)));
                }
                Ok(Step::Nothing { said }) => became.push((line, Became::Unchanged(said))),
                Err(error) => became.push((line, Became::Refused(error))),
            }
        }
        let mut waiting: Vec<(usize, Draft, String)> = waiting.into_values().collect();
        waiting.sort_by_key(|(line, ..)| *line);
        let (drafts, waiting): (Vec<Draft>, Vec<(usize, String)>) =
            waiting.into_iter().map(|(line, draft, said)| (draft, (line, said))).unzip();
        for (outcome, (line, said)) in self.all_recorded(drafts).into_iter().zip(waiting) {
            became.push((line, outcome.map_or_else(Became::Refused, |()| Became::Written(said))));
        }
        became.sort_by_key(|(line, _)| *line);
        became
    }

    fn replaced(&self, request: &ChangeRequest, voice: &Voice) -> Became {
        match self.changed(request, voice) {
            Ok(Reply { text, json }) => match json.pointer("/memories/0/status") {
                Some(status) if status == "unchanged" => Became::Unchanged(text),
                _ => Became::Written(text),
            },
            Err(error) => Became::Refused(error),
        }
    }

    /// Writes drafts through the door; what became of each, in their order.
    pub(super) fn all_recorded(&self, drafts: Vec<Draft>) -> Vec<Result<(), ApiError>> {
        let outcomes =
            record_drafts(&self.writer, drafts, Durability::Written, || (self.core.clock)());
        let result = |outcome: BatchOutcome| match outcome.result {
            Ok(_) => Ok(()),
            Err(BatchError::Refused(problems)) => Err(ApiError::Invalid(problems)),
            Err(BatchError::Failed { exit, message }) => Err(ApiError::Failed { exit, message }),
        };
        outcomes.into_iter().map(result).collect()
    }

    /// Finds out what is to be written for one link, and takes it among `links`, so that the next one of many
    /// knows of it.
    fn step(
        &self,
        edit: &Edit,
        ends: &Ends<'_>,
        links: &mut Links,
        voice: &Voice,
    ) -> Result<Step, ApiError> {
        let (source, target) =
            (ends.find("source", &edit.source)?, ends.find("target", &edit.target)?);
        if edit.relation == Relation::Supersedes
            && let Some(request) = replacement(edit, &source, &target)?
        {
            return Ok(Step::Replace { request });
        }
        let named = ends.repo(edit.repo.as_deref())?;
        let repo = source.repo().or(named).or(target.repo());
        let repo = repo.or_else(|| self.here.clone()).ok_or_else(super::unnamed)?;
        let (from, to) = (source.spot(&repo), target.spot(&repo));
        if from == to {
            return Err(Problems::one("target", "is the source itself; link two things").into());
        }
        let words = format!("{} {} {}", source.words(), edit.relation.as_str(), target.words());
        let is_such = |said: &Said| said.relation == edit.relation;
        let now =
            links.at(&from).find(|bond| bond.is_outward && *bond.to == to && is_such(bond.said));
        let now = now.map(|bond| bond.said.clone());
        let edge = Box::new((from.clone(), to.clone(), edit.relation));
        let change = match &edit.deed {
            Deed::End if now.is_none() => {
                return Ok(Step::Nothing {
                    said: format!("{words}: nothing to do, there is no such link."),
                });
            }
            Deed::End => MemoryChange::Unlink { target: target.node(), relation: edit.relation },
            Deed::Make(terms) => {
                let link = self.link(edit.relation, target.node(), terms)?;
                if now.is_some_and(|said| said.is(&link)) {
                    return Ok(Step::Nothing {
                        said: format!("{words}: nothing to do, it is so already."),
                    });
                }
                refuse_circle(edit.relation, (&from, &to), links, ends)?;
                let tie = Tie { repo: repo.clone(), since: None, link: link.clone() };
                links.add(from, to, tie.into());
                MemoryChange::Link(link)
            }
        };
        let done =
            if matches!(change, MemoryChange::Link(_)) { "linked" } else { "no longer linked" };
        let draft = Box::new(self.draft_about(&source.node(), &repo, change, voice));
        Ok(Step::Write { edge, draft, said: format!("{words}: {done}.") })
    }

    pub(super) fn draft_about(
        &self,
        node: &Node,
        repo: &RepoKey,
        change: MemoryChange,
        voice: &Voice,
    ) -> Draft {
        let mut draft = Draft {
            memory_id: Some(node.id().to_string()),
            repo: Some(repo.to_string()),
            change: Some(change),
            ..Draft::default()
        };
        self.vouch(&mut draft, voice);
        draft
    }

    /// Puts together what a link says.
    fn link(&self, relation: Relation, target: Node, terms: &Terms) -> Result<Link, Problems> {
        let now = (self.core.clock)().now;
        let mut problems = Problems::none();
        let mut time = |field: &str,
                        text: Option<&String>,
                        of_age: fn(Timestamp, &str) -> Option<Timestamp>| {
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

    fn origin_ended(
        &self,
        origin: &str,
        snapshot: &Snapshot,
        voice: &Voice,
    ) -> Result<Reply, ApiError> {
        let links = Links::told(snapshot);
        let ends = Ends::of(self, snapshot);
        let of_origin = links.all().filter(|(_, _, said)| said.origin == origin);
        let drafts: Vec<Draft> = of_origin
            .filter_map(|(source, target, said)| {
                let (source, target) = (ends.node(source)?, ends.node(target)?);
                let change = MemoryChange::Unlink { target, relation: said.relation };
                Some(self.draft_about(&source, &said.repo, change, voice))
            })
            .collect();
        let ended = drafts.len();
        self.all_recorded(drafts).into_iter().collect::<Result<Vec<()>, ApiError>>()?;
        let text = match ended {
            0 => format!("No link is of origin {origin:?}."),
            count => format!("{count} links of origin {origin:?}: no longer linked."),
        };
        Ok(Reply::new(text, json!({ "written": ended, "origin": origin })))
    }
}

fn moment(now: Timestamp, text: &str) -> Option<Timestamp> {
    if text.eq_ignore_ascii_case("now") { Some(now) } else { parse_timestamp(text) }
}

/// There is one way to say that a memory stands in the place of another. `None` where one does not, and at most a
/// link that others told is to be ended.
fn replacement(edit: &Edit, source: &End, target: &End) -> Result<Option<ChangeRequest>, ApiError> {
    let change = match (&edit.deed, source, target) {
        (Deed::Make(_), End::Memory((_, by)), End::Memory(_)) => {
            Wanted::Superseded { by: by.id.to_string() }
        }
        (Deed::Make(_), ..) => {
            return Err(Problems::one("relation", "supersedes is between two memories").into());
        }
        (Deed::End, End::Memory((_, by)), End::Memory((_, old))) if replaces(by, old) => {
            Wanted::Restored
        }
        (Deed::End, ..) => return Ok(None),
    };
    Ok(Some(ChangeRequest { ids: vec![target.node().id().to_string()], change, note: None }))
}

fn replaces(by: &Memory, old: &Memory) -> bool {
    matches!(&old.lifecycle().life, LifecycleState::Superseded { by: now } if *now == by.id)
}

/// Refuses a link that would lead back to where it came from, where its relation has an order, and says by which way.
fn refuse_circle(
    relation: Relation,
    (from, to): (&Spot, &Spot),
    links: &Links,
    ends: &Ends<'_>,
) -> Result<(), ApiError> {
    if !relation.is_acyclic() {
        return Ok(());
    }
    let Some(way) = links.way(relation, to, from) else { return Ok(()) };
    let way: Vec<String> = way.into_iter().map(|spot| spot_words(spot, ends.snapshot())).collect();
    let message = format!(
        "closes a circle: {} already, by {}; end one of these links first, or turn the new one around",
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

/// Tells what became of many.
fn told(became: Vec<(usize, Became)>) -> Reply {
    let (mut written, mut unchanged, mut overtaken) = (0_usize, 0_usize, 0_usize);
    let mut refused = Vec::new();
    let mut links: Vec<Value> = Vec::with_capacity(became.len());
    for (line, became) in became {
        links.push(match became {
            Became::Written(_) => {
                written += 1;
                json!({ "line": line, "status": "written" })
            }
            Became::Overtaken(_) => {
                overtaken += 1;
                json!({ "line": line, "status": "overtaken" })
            }
            Became::Unchanged(_) => {
                unchanged += 1;
                json!({ "line": line, "status": "unchanged" })
            }
            Became::Refused(error) => {
                let problem = error.to_string().replace('\n', "; ");
                refused.push(format!("\nline {line}: {problem}"));
                json!({ "line": line, "status": "refused", "problem": problem })
            }
        });
    }
    let count = refused.len();
    let mut text = format!("{written} written, {unchanged} as they were, {count} refused.");
    if overtaken > 0 {
        text.push_str(&format!(" {overtaken} overtaken: a later line says the same link."));
    }
    refused.iter().take(TOLD_MAX).for_each(|line| text.push_str(line));
    if let Some(more) = count.checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("\nand {more} more; --json has all"));
    }
    let json = json!({ "links": links, "written": written, "unchanged": unchanged, "overtaken": overtaken, "refused": count });
    Reply::new(text, json)
}
