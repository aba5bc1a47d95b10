//! The lines of one log of another origin, brought into its mirror: new ones are added, and lines that the origin withdrew are
//! dropped. Not here: which logs (`mirror_update`), and the file of a mirror (`store::Mirror`).

use std::collections::{BTreeSet, HashSet};

use event::limits::READ_LINE_BYTES_MAX;
use event::{DecodedLine, RepoKey, codec};
use store::{Mirror, StoreError};

use crate::origin_tree::{complete_lines, withdrawn_mark};

/// What an origin published of one log.
#[derive(Debug)]
pub(crate) struct LogArrival<'a> {
    /// The repository.
    pub(crate) repo: &'a RepoKey,
    /// The contents of segments, in order.
    pub(crate) segments: &'a [Vec<u8>],
    /// Whether these are all segments of the log.
    pub(crate) extent: ArrivalExtent,
    /// The marks of the lines that the origin withdrew.
    pub(crate) withdrawn: &'a BTreeSet<String>,
    /// How many lines may be added.
    pub(crate) lines_max: usize,
}

/// How much of a log arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrivalExtent {
    /// All that the origin has.
    Whole,
    /// The end, or the middle: of the rest only what was withdrawn is known.
    Part,
}

/// What became of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ArrivalCounts {
    /// How many lines were added.
    pub(crate) added: usize,
    /// How many lines were dropped, because the origin took them back.
    pub(crate) dropped: usize,
    /// How many lines stay although the origin has them no longer, and did not take them back.
    pub(crate) vanished: usize,
    /// How many lines wait for another day.
    pub(crate) held: usize,
    /// How many lines are longer than any that is read.
    pub(crate) too_long: usize,
    /// How many lines the mirror has now.
    pub(crate) lines: usize,
}

/// Brings lines into a mirror. Doing it again adds nothing.
pub(crate) fn update_mirror(
    mirror: &Mirror<'_>,
    arrival: &LogArrival<'_>,
) -> Result<ArrivalCounts, StoreError> {
    let kept = mirror.lines()?;
    let mut arrived = ArrivalCounts::default();
    let mut there: HashSet<&[u8]> = HashSet::new();
    let mut added = Vec::new();
    let had: HashSet<&[u8]> = complete_lines(&kept).collect();
    for line in arrival.segments.iter().flat_map(|segment| complete_lines(segment)) {
        if line.trim_ascii().is_empty() || !there.insert(line) || had.contains(line) {
            continue;
        }
        if line.len() > READ_LINE_BYTES_MAX {
            arrived.too_long += 1;
        } else if arrived.added == arrival.lines_max {
            arrived.held += 1;
        } else {
            arrived.added += 1;
            added.extend_from_slice(line);
            added.push(b'\n');
        }
    }
    let mut staying = Vec::new();
    for line in complete_lines(&kept).filter(|line| !there.contains(line)) {
        // What was withdrawn leaves, whichever part of the log came.
        match (is_withdrawn(line, arrival), arrival.extent) {
            (true, _) => arrived.dropped += 1,
            (false, ArrivalExtent::Whole) => arrived.vanished += 1,
            (false, ArrivalExtent::Part) => {}
        }
    }
    arrived.lines = had.len() + arrived.added - arrived.dropped.min(had.len());
    if arrived.dropped > 0 {
        let stays = |line: &&[u8]| there.contains(line) || !is_withdrawn(line, arrival);
        for line in complete_lines(&kept).filter(stays) {
            staying.extend_from_slice(line);
            staying.push(b'\n');
        }
        staying.extend_from_slice(&added);
        mirror.replace(&staying)?;
    } else if !added.is_empty() {
        mirror.append(kept.len(), &added)?;
    }
    Ok(arrived)
}

fn is_withdrawn(line: &[u8], arrival: &LogArrival<'_>) -> bool {
    if arrival.withdrawn.is_empty() {
        return false;
    }
    let DecodedLine::Event(event) = codec::decode(line, arrival.repo.as_str()) else {
        return false;
    };
    arrival.withdrawn.contains(&withdrawn_mark(event.id.as_str(), line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::StoreOrigin;
    use store::Store;

    struct TeamStore {
        _folder: tempfile::TempDir,
        store: Store,
        repo: RepoKey,
    }

    impl TeamStore {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path().join("logs"));
            Self { _folder: folder, store, repo: RepoKey::parse("api").unwrap() }
        }

        /// `withdrawn` are lines with their ids.
        fn bring(
            &self,
            segments: &[&str],
            withdrawn: &[(&str, &str)],
            lines_max: usize,
        ) -> ArrivalCounts {
            self.bring_some(ArrivalExtent::Whole, segments, withdrawn, lines_max)
        }

        fn bring_some(
            &self,
            extent: ArrivalExtent,
            segments: &[&str],
            withdrawn: &[(&str, &str)],
            lines_max: usize,
        ) -> ArrivalCounts {
            let turn = self.store.team_turn(0).unwrap();
            let mirror =
                self.store.mirror(&turn, &StoreOrigin::mint("you", 2), &self.repo).unwrap();
            let segments: Vec<Vec<u8>> =
                segments.iter().map(|text| text.as_bytes().to_vec()).collect();
            let mark = |(id, line): &(&str, &str)| withdrawn_mark(id, line.trim_end().as_bytes());
            let withdrawn = withdrawn.iter().map(mark).collect();
            let arrival = LogArrival {
                repo: &self.repo,
                segments: &segments,
                extent,
                withdrawn: &withdrawn,
                lines_max,
            };
            update_mirror(&mirror, &arrival).unwrap()
        }

        fn text(&self) -> String {
            let mirror = self.store.mirrors().unwrap();
            std::fs::read_to_string(&mirror[0]).unwrap()
        }
    }

    const ONE: &str = "{\"id\":\"a1\",\"lesson\":\"one\"}\n";
    const TWO: &str = "{\"id\":\"a2\",\"lesson\":\"two\"}\n";
    const MASKED: &str = "{\"id\":\"a2\",\"lesson\":\"[REDACTED:password]\"}\n";

    // S-SYNC-6
    #[test]
    fn lines_arrive_once_and_whole() {
        let world = TeamStore::new();
        let torn = format!("{TWO}\n{TWO}{{\"lesson\":\"to");
        let first = world.bring(&[ONE, &torn], &[], 99);
        assert_eq!((first.added, first.lines, world.text()), (2, 2, format!("{ONE}{TWO}")));
        let again = world.bring(&[ONE, &torn], &[], 99);
        assert_eq!((again.added, again.lines, world.text()), (0, 2, format!("{ONE}{TWO}")));
        let long = format!("{{\"lesson\":\"{}\"}}\n", "x".repeat(READ_LINE_BYTES_MAX));
        assert_eq!(world.bring(&[ONE, TWO, &long], &[], 99).too_long, 1);
        assert_eq!(world.text(), format!("{ONE}{TWO}"));
    }

    // S-SYNC-7
    #[test]
    fn only_what_was_withdrawn_is_dropped() {
        let world = TeamStore::new();
        world.bring(&[ONE, TWO], &[], 99);
        let lost = world.bring(&[ONE], &[], 99);
        assert_eq!((lost.dropped, lost.vanished, world.text()), (0, 1, format!("{ONE}{TWO}")));
        let scrubbed = world.bring(&[ONE, MASKED], &[("a2", TWO)], 99);
        assert_eq!((scrubbed.dropped, scrubbed.added, scrubbed.lines), (1, 1, 2));
        assert_eq!(world.text(), format!("{ONE}{MASKED}"));
    }

    // S-SYNC-7
    #[test]
    fn what_was_withdrawn_leaves_with_any_part() {
        let world = TeamStore::new();
        world.bring(&[ONE, TWO], &[], 99);
        let part = |withdrawn: &[(&str, &str)]| {
            world.bring_some(ArrivalExtent::Part, &[MASKED], withdrawn, 99)
        };
        let first = part(&[("a2", TWO)]);
        assert_eq!((first.dropped, first.vanished, first.added), (1, 0, 1));
        assert_eq!(world.text(), format!("{ONE}{MASKED}"));
        // What was read is there, whatever the list says.
        assert_eq!(part(&[("a2", MASKED)]).dropped, 0);
    }

    // S-SYNC-8
    #[test]
    fn lines_over_the_limit_wait() {
        let world = TeamStore::new();
        let first = world.bring(&[ONE, TWO], &[], 1);
        assert_eq!((first.added, first.held, world.text()), (1, 1, ONE.to_owned()));
        assert_eq!(world.bring(&[ONE, TWO], &[], 1).held, 0);
        assert_eq!(world.text(), format!("{ONE}{TWO}"));
    }
}
