//! Answers what is related to a memory or a file: where the walk over links begins, and its notices. Not here: the
//! walk (`search::links`), the words of the reply (`reply`).

use std::sync::Arc;

use super::link_ends::{LinkEnd, LinkEndFinder};
use crate::local::Local;
use crate::local::caller_files::PathQuestion;
use crate::local::repositories::{self, unnamed_error};
use crate::local::snapshots::bound_notice;
use event::{Node, Problems};
use reply::{Related, Reply, node_text};
use requests::{ApiError, RelatedRequest, WalkStart};
use search::AskedFile;
use search::links::{CodePlace, Links, NodeRef, WalkOptions, walk};
use search::snapshot::Snapshot;

pub(crate) fn related(
    local: &Local,
    request: &RelatedRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let now = local.core.now();
    let until = request.as_of.map(|point| point.last(now, local.core.config.days));
    let links = match until {
        None => local.core.links.links_of(snapshot),
        Some(_) => Arc::new(Links::collect(snapshot, until)),
    };
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), snapshot)?;
    let finder = LinkEndFinder::new(local, snapshot);
    let start = match &request.start {
        WalkStart::Change(file) if Node::parse_code(file).is_none() => {
            LinkEnd::Code(finder.file(file)?)
        }
        WalkStart::Change(named) | WalkStart::Thing(named) => finder.find("id", named)?,
    };
    let mut file = None;
    let starts = match &start {
        LinkEnd::Memory(number, _) => vec![NodeRef::Memory(*number)],
        LinkEnd::Code(node) => {
            let repo = repo.clone().ok_or_else(unnamed_error)?;
            let place = CodePlace::from_node(node, &repo);
            let place = place.ok_or_else(|| Problems::one("id", "is not a file"))?;
            file = Some(local.asked_file(&place.path, PathQuestion::asked(Some(&repo), snapshot)));
            places(&place, file.as_ref(), snapshot, &links)
        }
    };
    let of = starts.first().map_or_else(String::new, |node_ref| node_text(node_ref, snapshot));
    let walked = walk(
        snapshot,
        &links,
        &WalkOptions {
            starts,
            file,
            depth: request.depth(),
            direction: request.way,
            relation: request.relation,
            now,
            as_of: until,
        },
    );
    let notices: Vec<String> = notices(walked.held_back, walked.is_cut)
        .chain(bound_notice(snapshot.memory_usage()))
        .collect();
    Ok(reply::related(&Related {
        snapshot,
        of: &of,
        title: match request.start {
            WalkStart::Thing(_) => "Related to",
            WalkStart::Change(_) => "Affected by a change to",
        },
        walked: &walked,
        here: local.here.as_ref(),
        notices: &notices,
        max_tokens: request.max_tokens,
    }))
}

/// Returns the place that the call names, and the linked places that are the same file. Where the call names no
/// symbol, every symbol of the file counts.
fn places(
    place: &CodePlace,
    file: Option<&AskedFile>,
    snapshot: &Snapshot,
    links: &Links,
) -> Vec<NodeRef> {
    let keys = snapshot.keys_of(&place.repo);
    let is_it = |other: &CodePlace| {
        keys.contains(&other.repo)
            && file.is_some_and(|file| file.has_path(&other.path, &other.repo))
            && (place.symbol.is_none() || place.symbol == other.symbol)
    };
    let mut linked: Vec<NodeRef> = links
        .node_refs()
        .filter(
            |node_ref| matches!(node_ref, NodeRef::Code(other) if is_it(other) && other != place),
        )
        .cloned()
        .collect();
    linked.sort();
    std::iter::once(NodeRef::Code(place.clone())).chain(linked).collect()
}

fn notices(held_back: usize, is_cut: bool) -> impl Iterator<Item = String> {
    let notes = match held_back {
        0 => None,
        1 => Some("Note: 1 note was held back because it reads like instructions.".to_owned()),
        many => {
            Some(format!("Note: {many} notes were held back because they read like instructions."))
        }
    };
    let cut = is_cut
        .then(|| "Note: not everything fits; use a smaller depth, or one relation.".to_owned());
    notes.into_iter().chain(cut)
}
