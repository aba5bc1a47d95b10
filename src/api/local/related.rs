//! What hangs together with a memory or a file: where the walk begins, and what is told besides. Not here: the walk
//! (`graph`), its words (`render`).

use std::sync::Arc;

use super::answers::Seen;
use super::links::{End, Ends};
use super::{Local, memory_bound};
use crate::{ApiError, Purpose, RelatedRequest};
use event::{Node, Problems, RepoKey};
use reply::{Related, Reply, spot_words};
use search::links::{Links, Place, Spot, Walk, walk};
use search::same_file;
use search::snapshot::Snapshot;

impl Local {
    pub(super) fn walked(&self, request: &RelatedRequest, seen: &Seen) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        seen.note(&snapshot);
        let now = (self.core.clock)().now;
        let until = request.as_of.map(|point| point.last(now));
        let links = match until {
            None => self.core.links.of(&snapshot),
            Some(_) => Arc::new(Links::of(&snapshot, until)),
        };
        let repo = self.repo(request.repo.as_deref(), &snapshot)?;
        let ends = Ends::of(self, &snapshot);
        let end = match request.purpose {
            Purpose::Impact if Node::parse_code(&request.of).is_none() => {
                End::Code(ends.file(&request.of)?)
            }
            Purpose::Impact | Purpose::Related => ends.find("id", &request.of)?,
        };
        let starts = match &end {
            End::Memory((number, _)) => vec![Spot::Memory(*number)],
            End::Code(node) => {
                let repo = repo.clone().ok_or_else(super::unnamed)?;
                places(node, &repo, &snapshot, &links)?
            }
        };
        let of = starts.first().map_or_else(String::new, |spot| spot_words(spot, &snapshot));
        let walked = walk(
            &snapshot,
            &links,
            &Walk {
                starts,
                depth: request.depth,
                way: request.way,
                relation: request.relation,
                now,
                as_of: until,
            },
        );
        let notices: Vec<String> = notices(walked.held_back, walked.is_cut)
            .chain(memory_bound::note(snapshot.room()))
            .collect();
        Ok(reply::related(&Related {
            snapshot: &snapshot,
            of: &of,
            title: match request.purpose {
                Purpose::Related => "Related to",
                Purpose::Impact => "What a change touches of",
            },
            walked: &walked,
            here: self.here.as_ref(),
            notices: &notices,
            max_tokens: request.max_tokens,
        }))
    }
}

/// The place that is asked for, and those that links name and that are the same file, in whichever symbol where none
/// was asked for.
fn places(
    node: &Node,
    repo: &RepoKey,
    snapshot: &Snapshot,
    links: &Links,
) -> Result<Vec<Spot>, Problems> {
    let place = Place::of(node, repo).ok_or_else(|| Problems::one("id", "names no file"))?;
    let keys = snapshot.keys_of(repo);
    let is_it = |other: &Place| {
        keys.contains(&other.repo)
            && same_file(&other.path, &place.path)
            && (place.symbol.is_none() || place.symbol == other.symbol)
    };
    let mut linked: Vec<Spot> = links
        .spots()
        .filter(|spot| matches!(spot, Spot::Code(other) if is_it(other) && *other != place))
        .cloned()
        .collect();
    linked.sort();
    Ok(std::iter::once(Spot::Code(place.clone())).chain(linked).collect())
}

fn notices(held_back: usize, is_cut: bool) -> impl Iterator<Item = String> {
    let notes = match held_back {
        0 => None,
        1 => Some("Note: 1 note was held back for reading like instructions.".to_owned()),
        many => Some(format!("Note: {many} notes were held back for reading like instructions.")),
    };
    let cut = is_cut.then(|| {
        "Note: there is more than can be told; ask with less depth, or for one relation.".to_owned()
    });
    notes.into_iter().chain(cut)
}
