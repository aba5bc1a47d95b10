//! The other origins of a remote, brought into their mirrors: which have news, what of their trees is read, and how much. What
//! is wrong with one origin is told, and hinders no other. Not here: one log (`incoming`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use event::{RepoKey, StoreOrigin};
use jiff::{SignedDuration, Timestamp};
use store::{Store, StoreError, SyncPolicy, TeamTurn};

use crate::incoming::{ArrivalExtent, Arrived, LogArrival, bring_in};
use crate::origin_tree::{
    FORMAT, SEGMENT_BYTES_MAX, TreePlace, WITHDRAWN_BYTES_MAX, place_of, withdrawn_marks,
};
use crate::sync_state::{KnownLog, KnownOrigin, SyncState};
use crate::{Listed, Listing, SyncError, SyncReport, Tip, Tips, Transport};

/// Most bytes of one origin that one exchange reads. The rest waits for the next one.
pub(crate) const ORIGIN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Most bytes of all origins that one exchange reads.
const ALL_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// An origin from which nothing came for so long is told: its machine may be off, or its exchange broken.
const SILENT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// What is needed to bring in mirrors.
pub(crate) struct Mirroring<'a> {
    pub(crate) store: &'a Store,
    pub(crate) turn: &'a TeamTurn,
    pub(crate) now: Timestamp,
    /// Most bytes of one origin.
    pub(crate) origin_bytes_max: u64,
    /// Which repositories are taken.
    pub(crate) policy: &'a SyncPolicy,
    pub(crate) steps: &'a dyn Fn(&'static str),
}

impl Mirroring<'_> {
    /// Brings in all origins but the own one.
    pub(crate) fn all(
        &self,
        transport: &mut dyn Transport,
        tips: &Tips,
        state: &mut SyncState,
        report: &mut SyncReport,
    ) -> Result<(), SyncError> {
        if tips.odd > 0 {
            report.trouble.push(format!("{} names on the remote are no origin", tips.odd));
        }
        let own = report.origin.clone();
        let others = tips.tips.iter().filter(|(origin, _)| **origin != own);
        let wanted: Vec<(StoreOrigin, Tip)> = others
            .filter(|(origin, tip)| !self.is_current(state, origin, tip))
            .map(|(origin, tip)| (origin.clone(), tip.clone()))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let brought = transport.bring(&wanted)?;
        for (origin, why) in brought.failed {
            report.trouble.push(format!("nothing came from {origin}: {why}"));
        }
        let mut left = ALL_BYTES_MAX;
        for (origin, tip) in &brought.tips {
            (self.steps)("brought");
            let known = state.origins.entry(origin.as_str().to_owned()).or_default();
            let mut one = OneOrigin {
                mirroring: self,
                origin,
                known,
                report,
                bytes: self.origin_bytes_max.min(left),
            };
            let before = one.bytes;
            match one.take(transport, tip) {
                Ok(()) => {}
                // The cache itself is damaged, and not what the origin sent.
                Err(error @ (SyncError::Cache { .. } | SyncError::NoGit)) => return Err(error),
                Err(error) => one.tell(&error.to_string()),
            }
            left = left.saturating_sub(before.saturating_sub(one.bytes));
            state.write();
        }
        Ok(())
    }

    /// Tells whether everything of a tip was taken, and is still there.
    fn is_current(&self, state: &SyncState, origin: &StoreOrigin, tip: &Tip) -> bool {
        let Some(known) = state.origins.get(origin.as_str()) else { return false };
        let is_there = |(repo, log): (&String, &KnownLog)| {
            let mirror = RepoKey::parse(repo).ok().map(|repo| repo.file_name());
            let path = mirror.map(|name| self.store.mirror_of(origin, &name));
            let found = path.and_then(|path| path.symlink_metadata().ok());
            found.map_or(0, |found| found.len()) == log.mirror_bytes
        };
        known.tip.as_ref() == Some(&tip.0) && known.logs.iter().all(is_there)
    }
}

/// One origin on its way into its mirrors.
struct OneOrigin<'a, 'r> {
    mirroring: &'a Mirroring<'a>,
    origin: &'a StoreOrigin,
    known: &'a mut KnownOrigin,
    report: &'r mut SyncReport,
    /// How many bytes may still be read.
    bytes: u64,
}

/// What was taken of a log, or of all.
#[derive(Clone, Copy, Default)]
struct TakenLog {
    /// How many lines are new.
    added: usize,
    /// How many lines wait for another day.
    held: usize,
    /// How many segments wait for another exchange.
    unread: usize,
    /// How many lines were dropped, because their origin took them back.
    dropped: usize,
}

impl TakenLog {
    fn add(&mut self, other: Self) {
        self.added += other.added;
        self.held += other.held;
        self.unread += other.unread;
        self.dropped += other.dropped;
    }
}

/// A tree whose names were checked.
#[derive(Default)]
struct CheckedTree {
    format: Option<Listed>,
    withdrawn: Option<Listed>,
    logs: BTreeMap<RepoKey, BTreeMap<u32, Listed>>,
    odd: usize,
}

impl CheckedTree {
    fn of(listing: Listing) -> Self {
        let mut tree = Self { odd: listing.odd, ..Self::default() };
        for file in listing.files {
            match place_of(&file.path) {
                TreePlace::Format if file.bytes == FORMAT.len() as u64 => tree.format = Some(file),
                TreePlace::Withdrawn if file.bytes <= WITHDRAWN_BYTES_MAX => {
                    tree.withdrawn = Some(file);
                }
                TreePlace::Segment(repo, number) if file.bytes <= SEGMENT_BYTES_MAX => {
                    tree.logs.entry(repo).or_default().insert(number, file);
                }
                _ => tree.odd += 1,
            }
        }
        tree
    }
}

impl OneOrigin<'_, '_> {
    fn tell(&mut self, what: &str) {
        self.report.trouble.push(format!("{}: {what}", self.origin));
    }

    fn take(&mut self, transport: &mut dyn Transport, tip: &Tip) -> Result<(), SyncError> {
        let tree = CheckedTree::of(transport.list(self.origin, tip)?);
        if tree.odd > 0 {
            self.tell(&format!("{} entries are no part of what a store publishes", tree.odd));
        }
        let Some(format) = &tree.format else {
            self.tell("nothing is taken, because it does not say how it is written");
            return Ok(());
        };
        if transport.read(self.origin, &[format])?.first().map(Vec::as_slice) != Some(FORMAT) {
            self.tell("nothing is taken, because a newer version wrote it; update this one");
            return Ok(());
        }
        if self.known.allowance(self.mirroring.now) == 0 {
            // Nothing of it may be taken today, so nothing is read.
            self.tell("no more lines are taken today");
            return Ok(());
        }
        let withdrawn = match &tree.withdrawn {
            Some(file) => {
                self.bytes = self.bytes.saturating_sub(file.bytes);
                let read = transport.read(self.origin, &[file])?;
                read.first().map(|bytes| withdrawn_marks(bytes)).unwrap_or_default()
            }
            None => BTreeSet::new(),
        };
        let mut all = TakenLog::default();
        for (repo, segments) in &tree.logs {
            if !self.mirroring.policy.receives(repo) {
                continue;
            }
            let segments: Vec<&Listed> = segments.values().collect();
            all.add(self.take_log(transport, repo, &segments, &withdrawn)?);
        }
        for repo in self.vanished_logs(&tree) {
            all.add(self.take_log(transport, &repo, &[], &withdrawn)?);
        }
        let TakenLog { added, held, unread, dropped } = all;
        self.report.dropped += dropped;
        self.known.tip = (held + unread == 0).then(|| tip.0.clone());
        if held > 0 {
            self.report.held.push((self.origin.clone(), held));
        }
        if unread > 0 {
            self.tell(&format!("{unread} more segments are taken by the next exchange"));
        }
        self.report.fetched += added;
        self.report.fetched_from += usize::from(added > 0);
        Ok(())
    }

    /// The logs that were taken before, and of which the tree has nothing.
    fn vanished_logs(&self, tree: &CheckedTree) -> Vec<RepoKey> {
        let known = self.known.logs.iter().filter(|(_, log)| !log.sums.is_empty());
        let repos = known.filter_map(|(repo, _)| RepoKey::parse(repo).ok());
        repos.filter(|repo| !tree.logs.contains_key(repo)).collect()
    }

    /// Brings in one log.
    fn take_log(
        &mut self,
        transport: &mut dyn Transport,
        repo: &RepoKey,
        segments: &[&Listed],
        withdrawn: &BTreeSet<String>,
    ) -> Result<TakenLog, SyncError> {
        let before = self.known.logs.get(repo.as_str()).cloned().unwrap_or_default();
        let sums: Vec<String> = segments.iter().map(|segment| segment.sum.clone()).collect();
        let mirror = self.mirroring.store.mirror(self.mirroring.turn, self.origin, repo)?;
        let is_kept = mirror.file_bytes() == before.mirror_bytes;
        if is_kept && before.sums == sums {
            return Ok(TakenLog::default());
        }
        let (chosen, extent) = self.chosen(segments, if is_kept { &before.sums } else { &[] });
        let contents = transport.read(self.origin, &chosen)?;
        let (now, mirror_lines) = (self.mirroring.now, if is_kept { before.lines } else { 0 });
        // What is brought back was counted on the day it came.
        let again = before.lines.saturating_sub(mirror_lines);
        let lines_max = self.known.allowance(now).saturating_add(again);
        let arrival = LogArrival { repo, segments: &contents, extent, withdrawn, lines_max };
        (self.mirroring.steps)("read");
        let arrived = bring_in(&mirror, &arrival)?;
        (self.mirroring.steps)("mirrored");
        self.known.count(arrived.added.saturating_sub(again), now);
        let unread = match extent {
            ArrivalExtent::Whole => 0,
            ArrivalExtent::Part => {
                let had: BTreeSet<&String> = before.sums.iter().collect();
                let read: BTreeSet<&str> = chosen.iter().map(|one| one.sum.as_str()).collect();
                sums.iter().filter(|sum| !had.contains(sum) && !read.contains(sum.as_str())).count()
            }
        };
        let done: Vec<String> = match (arrived.held, unread) {
            (0, 0) => sums,
            (0, _) => {
                let had = before.sums.into_iter();
                had.chain(chosen.iter().map(|one| one.sum.clone())).collect()
            }
            _ => before.sums,
        };
        let known =
            KnownLog { sums: done, mirror_bytes: mirror.file_bytes(), lines: arrived.lines };
        self.known.logs.insert(repo.as_str().to_owned(), known);
        for (count, what) in [
            (arrived.vanished, "gone there, but not taken back by their owner, so kept here"),
            (arrived.too_long, "too long, so left out"),
        ] {
            if count > 0 {
                let lines = if count == 1 { "line" } else { "lines" };
                self.tell(&format!("{count} {lines} of {repo}: {what}"));
            }
        }
        let Arrived { added, held, dropped, .. } = arrived;
        Ok(TakenLog { added, held, unread, dropped })
    }

    /// Chooses the segments that are read: all if they fit, else those that were not read yet, as many as fit.
    fn chosen<'s>(
        &mut self,
        segments: &[&'s Listed],
        had: &[String],
    ) -> (Vec<&'s Listed>, ArrivalExtent) {
        let all: u64 = segments.iter().map(|segment| segment.bytes).sum();
        if all <= self.bytes {
            self.bytes -= all;
            return (segments.to_vec(), ArrivalExtent::Whole);
        }
        let mut chosen = Vec::new();
        for segment in segments.iter().filter(|segment| !had.contains(&segment.sum)) {
            match self.bytes.checked_sub(segment.bytes) {
                Some(left) => self.bytes = left,
                None => break,
            }
            chosen.push(*segment);
        }
        (chosen, ArrivalExtent::Part)
    }
}

/// Returns the origins whose mirrors did not grow for two weeks, and when they last did.
pub(crate) fn silent(
    store: &Store,
    now: Timestamp,
) -> Result<Vec<(StoreOrigin, Timestamp)>, StoreError> {
    let mut last: BTreeMap<StoreOrigin, Timestamp> = BTreeMap::new();
    for mirror in store.mirrors()? {
        let written = mirror.symlink_metadata().and_then(|found| found.modified());
        let written = written.unwrap_or(SystemTime::UNIX_EPOCH);
        let (Some(origin), Ok(written)) = (store::origin_of(&mirror), Timestamp::try_from(written))
        else {
            continue;
        };
        let newest = last.entry(origin).or_insert(written);
        *newest = (*newest).max(written);
    }
    last.retain(|_, written| now.duration_since(*written) > SILENT);
    Ok(last.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin_tree::segments;
    use crate::{FilePart, FolderRemote, History, NextTree, RemoteAddress};

    // S-SYNC-8
    #[test]
    fn a_big_origin_comes_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        let turn = store.team_turn(0).unwrap();
        let (own, other) = (StoreOrigin::mint("me", 1), StoreOrigin::mint("you", 2));
        let repo = RepoKey::parse("api").unwrap();
        let lines: Vec<String> =
            (0..7_000).map(|n| format!("{{\"lesson\":\"{n:0>90}\"}}")).collect();
        let logs = segments(&repo, lines.iter().map(String::as_str));
        assert_eq!(logs.len(), 3);
        let mut files: BTreeMap<&str, FilePart<'_>> =
            logs.iter().map(|(path, bytes)| (path.as_str(), FilePart::New(bytes))).collect();
        files.insert("FORMAT", FilePart::New(FORMAT));
        let now = Timestamp::UNIX_EPOCH;
        let next = NextTree { origin: &other, on: None, history: History::Keep, files, at: now };
        let steps = |_: &'static str| {};
        let mut remote = FolderRemote::at(folder.path(), &steps);
        let tip = remote.prepare(&next).unwrap();
        remote.publish(&next, &tip).unwrap();

        let address = RemoteAddress::parse("folder:/x").unwrap();
        let mut state = SyncState::read(folder.path(), &store, &address);
        let mirroring = Mirroring {
            store: &store,
            turn: &turn,
            now,
            origin_bytes_max: 300_000,
            policy: &SyncPolicy::default(),
            steps: &steps,
        };
        let mut taken = Vec::new();
        for round in 0..4 {
            let tips = remote.tips().unwrap();
            let mut report = SyncReport::of(own.clone());
            mirroring.all(&mut remote, &tips, &mut state, &mut report).unwrap();
            taken.push(report.fetched);
            assert_eq!(report.trouble.is_empty(), round > 1, "{:?}", report.trouble);
        }
        assert_eq!(taken.iter().sum::<usize>(), 7_000);
        assert!(taken[..3].iter().all(|count| *count > 0) && taken[3] == 0, "{taken:?}");
        let text = std::fs::read_to_string(&store.mirrors().unwrap()[0]).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }
}
