//! The other origins of a remote, brought into their mirrors: which have news, what of their trees is read, and how much. What
//! is wrong with one origin is told, and hinders no other. Not here: one log (`log_arrival`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use event::{RepoKey, StoreOrigin};
use jiff::{SignedDuration, Timestamp};
use settings::SyncPolicy;
use store::{Store, StoreError, TeamTurn};

use crate::log_arrival::{ArrivalCounts, ArrivalExtent, LogArrival, update_mirror};
use crate::origin_tree::{
    FORMAT, SEGMENT_BYTES_MAX, TreePlace, WITHDRAWN_BYTES_MAX, place_of, withdrawn_marks,
};
use crate::seal_check::{CheckedSeal, SealCheck};
use crate::sync_record::SyncRecord;
use crate::sync_report::counted;
use crate::sync_state::{KnownLog, KnownOrigin, SyncState};
use crate::{FetchedTips, Listing, SyncError, SyncReport, Tip, Tips, Transport, TreeFile};

/// Most bytes of one origin that one round reads. The rest waits for the next one.
pub(crate) const ORIGIN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Most bytes of all origins that one round reads.
const ALL_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// An origin from which nothing came for so long is told: its machine may be off, or its rounds fail.
const SILENT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// What is needed to bring in mirrors.
pub(crate) struct MirrorUpdater<'a> {
    pub(crate) store: &'a Store,
    pub(crate) turn: &'a TeamTurn,
    pub(crate) now: Timestamp,
    /// Most bytes of one origin.
    pub(crate) origin_bytes_max: u64,
    /// Which repositories are taken.
    pub(crate) policy: &'a SyncPolicy,
    pub(crate) steps: &'a dyn Fn(&'static str),
}

impl MirrorUpdater<'_> {
    /// Brings in all origins but the own one.
    pub(crate) fn bring_in_all(
        &self,
        transport: &mut dyn Transport,
        tips: &Tips,
        (state, record): (&mut SyncState, &mut SyncRecord),
        report: &mut SyncReport,
    ) -> Result<(), SyncError> {
        if tips.odd > 0 {
            report.trouble.push(format!(
                "{} on the remote left out: not of an origin, or past the first 1,000",
                counted(tips.odd, "name")
            ));
        }
        state.sharing(&self.policy.share);
        let own = report.origin.clone();
        let others = tips.tips.iter().filter(|(origin, _)| **origin != own);
        let wanted: Vec<(StoreOrigin, Tip)> = others
            .filter(|(origin, tip)| !self.is_current(state, origin, tip))
            .map(|(origin, tip)| (origin.clone(), tip.clone()))
            .collect();
        let brought = match wanted.is_empty() {
            true => FetchedTips::default(),
            false => transport.bring(&wanted)?,
        };
        // What did not come stays as it was.
        let is_missing = |origin: &StoreOrigin| {
            !brought.tips.contains_key(origin) && wanted.iter().any(|(one, _)| one == origin)
        };
        let before = record.unverified().into_iter();
        let (missing, before): (Vec<_>, Vec<_>) = before.partition(|one| is_missing(&one.origin));
        report.unverified = missing;
        for (origin, why) in brought.failed {
            report.trouble.push(format!("nothing came from {origin}: {why}"));
        }
        let rule = self.policy.require_signatures;
        let check = SealCheck { rule, now: self.now, steps: self.steps };
        let mut left = ALL_BYTES_MAX;
        for (origin, tip) in &brought.tips {
            (self.steps)("brought");
            match check.check(transport, (origin, tip), record, report) {
                Ok(CheckedSeal::Right) => {}
                Ok(CheckedSeal::Held) => continue,
                Err(error @ (SyncError::Cache { .. } | SyncError::NoGit | SyncError::Store(_))) => {
                    return Err(error);
                }
                Err(error) => {
                    report.trouble.push(format!("{origin}: {error}"));
                    // It could not be checked, so what was held is held still.
                    report
                        .unverified
                        .extend(before.iter().find(|one| one.origin == *origin).cloned());
                    continue;
                }
            }
            let known = state.origins.entry(origin.as_str().to_owned()).or_default();
            let mut one = OneOrigin {
                mirroring: self,
                origin,
                known,
                report,
                bytes: self.origin_bytes_max.min(left),
            };
            let before = one.bytes;
            match one.bring_in(transport, tip) {
                Ok(()) => {}
                // The cache itself is damaged, and not what the origin sent.
                Err(error @ (SyncError::Cache { .. } | SyncError::NoGit)) => return Err(error),
                Err(error) => one.report_trouble(&error.to_string()),
            }
            left = left.saturating_sub(before.saturating_sub(one.bytes));
            state.write();
        }
        if record.record_unverified(&report.unverified) {
            record.write()?;
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
    mirroring: &'a MirrorUpdater<'a>,
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
    /// How many segments wait for another round.
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
    format: Option<TreeFile>,
    withdrawn: Option<TreeFile>,
    logs: BTreeMap<RepoKey, BTreeMap<u32, TreeFile>>,
    odd: usize,
}

impl CheckedTree {
    fn from_listing(listing: Listing) -> Self {
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
    fn report_trouble(&mut self, what: &str) {
        self.report.trouble.push(format!("{}: {what}", self.origin));
    }

    fn bring_in(&mut self, transport: &mut dyn Transport, tip: &Tip) -> Result<(), SyncError> {
        let tree = CheckedTree::from_listing(transport.list(self.origin, tip)?);
        if tree.odd > 0 {
            let files = counted(tree.odd, "file");
            self.report_trouble(&format!(
                "{files} left out: of a name, kind or length that no store publishes"
            ));
        }
        let Some(format) = &tree.format else {
            self.report_trouble("nothing is taken, because it does not say how it is written");
            return Ok(());
        };
        if transport.read(self.origin, &[format])?.first().map(Vec::as_slice) != Some(FORMAT) {
            self.report_trouble(
                "nothing is taken, because a newer version wrote it; update this one",
            );
            return Ok(());
        }
        let list = tree.withdrawn.as_ref().map(|file| &file.sum);
        if self.known.allowance(self.mirroring.now) == 0 && self.known.withdrawn.as_ref() == list {
            // Nothing of it may be taken today, and nothing more was withdrawn, so nothing is read.
            self.report_trouble("no more lines are taken today");
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
            // Lines that are no longer shared here can still be withdrawn.
            let is_known = self.known.logs.contains_key(repo.as_str());
            if !is_known && !self.mirroring.policy.receives(repo) {
                continue;
            }
            let segments: Vec<&TreeFile> = segments.values().collect();
            all.add(self.take_log(transport, repo, &segments, &withdrawn)?);
        }
        for repo in self.vanished_logs(&tree) {
            all.add(self.take_log(transport, &repo, &[], &withdrawn)?);
        }
        let TakenLog { added, held, unread, dropped } = all;
        self.report.dropped += dropped;
        self.known.tip = (held + unread == 0).then(|| tip.0.clone());
        self.known.withdrawn = list.cloned();
        if held > 0 {
            self.report.held.push((self.origin.clone(), held));
        }
        if unread > 0 {
            self.report_trouble(&format!("{} left for the next round", counted(unread, "segment")));
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
        segments: &[&TreeFile],
        withdrawn: &BTreeSet<String>,
    ) -> Result<TakenLog, SyncError> {
        let before = self.known.logs.get(repo.as_str()).cloned().unwrap_or_default();
        let sums: Vec<String> = segments.iter().map(|segment| segment.sum.clone()).collect();
        let mirror = self.mirroring.store.mirror(self.mirroring.turn, self.origin, repo)?;
        let is_kept = mirror.file_bytes() == before.mirror_bytes;
        if is_kept && before.sums == sums {
            return Ok(TakenLog::default());
        }
        let had = if is_kept { before.sums } else { Vec::new() };
        let (chosen, extent) = self.chosen(segments, &had);
        let contents = transport.read(self.origin, &chosen)?;
        let now = self.mirroring.now;
        // What is brought back was counted on the day it came.
        let again = if is_kept { 0 } else { before.lines };
        let is_received = self.mirroring.policy.receives(repo);
        let lines_max =
            if is_received { self.known.allowance(now).saturating_add(again) } else { 0 };
        let arrival = LogArrival { repo, segments: &contents, extent, withdrawn, lines_max };
        (self.mirroring.steps)("read");
        let arrived = update_mirror(&mirror, &arrival)?;
        (self.mirroring.steps)("mirrored");
        self.known.count(arrived.added.saturating_sub(again), now);
        let unread = match extent {
            ArrivalExtent::Whole => 0,
            ArrivalExtent::Part => {
                let had: BTreeSet<&String> = had.iter().collect();
                let read: BTreeSet<&str> = chosen.iter().map(|one| one.sum.as_str()).collect();
                sums.iter().filter(|sum| !had.contains(sum) && !read.contains(sum.as_str())).count()
            }
        };
        let done: Vec<String> = match (arrived.held, unread) {
            (0, 0) => sums,
            (0, _) => had.into_iter().chain(chosen.iter().map(|one| one.sum.clone())).collect(),
            _ => had,
        };
        let known =
            KnownLog { sums: done, mirror_bytes: mirror.file_bytes(), lines: arrived.lines };
        self.known.logs.insert(repo.as_str().to_owned(), known);
        // The segments of what is not wanted are compared each time, so this would be told each time.
        let vanished = if is_received { arrived.vanished } else { 0 };
        for (count, what) in [
            (vanished, "gone there, but not withdrawn, so kept here"),
            (arrived.too_long, "too long, so left out"),
        ] {
            if count > 0 {
                self.report_trouble(&format!("{} of {repo}: {what}", counted(count, "line")));
            }
        }
        let ArrivalCounts { added, dropped, .. } = arrived;
        // Lines that are not wanted do not wait.
        let held = if is_received { arrived.held } else { 0 };
        Ok(TakenLog { added, held, unread, dropped })
    }

    /// Chooses the segments that are read: all if they fit, else those that were not read yet, as many as fit.
    fn chosen<'s>(
        &mut self,
        segments: &[&'s TreeFile],
        had: &[String],
    ) -> (Vec<&'s TreeFile>, ArrivalExtent) {
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
pub(crate) fn silent_origins(
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
    use crate::origin_tree::{WITHDRAWN_PATH, segments, withdrawn_mark, withdrawn_text};
    use crate::sync_state::LINES_AT_FIRST_MAX;
    use crate::{FilePart, FolderRemote, NextTree, RemoteAddress, RemoteHistory};

    /// A store, and a folder in which another origin publishes.
    struct MirroredTeam {
        folder: tempfile::TempDir,
        store: Store,
        state: SyncState,
        tip: Option<Tip>,
    }

    fn other() -> StoreOrigin {
        StoreOrigin::mint("you", 2)
    }

    impl MirroredTeam {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path().join("logs"));
            let address = RemoteAddress::parse("folder:/x").unwrap();
            let state = SyncState::read(folder.path(), &store, &address);
            Self { folder, store, state, tip: None }
        }

        /// Publishes these lines, and that it withdrew others.
        fn publish(&mut self, lines: &[String], withdrawn: &[&String]) {
            let repo = RepoKey::parse("api").unwrap();
            let logs = segments(&repo, lines.iter().map(String::as_str));
            let mut files: BTreeMap<&str, FilePart<'_>> =
                logs.iter().map(|(path, bytes)| (path.as_str(), FilePart::New(bytes))).collect();
            files.insert("FORMAT", FilePart::New(FORMAT));
            let id = |line: &str| line.split('"').nth(3).unwrap().to_owned();
            let mark = |line: &&String| withdrawn_mark(&id(line), line.as_bytes());
            let marks = withdrawn_text(&withdrawn.iter().map(mark).collect());
            if !marks.is_empty() {
                files.insert(WITHDRAWN_PATH, FilePart::New(&marks));
            }
            let (on, at) = (self.tip.as_ref(), Timestamp::UNIX_EPOCH);
            let next = NextTree { origin: &other(), on, history: RemoteHistory::Keep, files, at };
            let mut remote = FolderRemote::at(self.folder.path(), &|_| {});
            remote.tips().unwrap();
            let tip = remote.prepare(&next).unwrap();
            remote.publish(&next, &tip).unwrap();
            self.tip = Some(tip);
        }

        /// One round, in which so many bytes of an origin are read.
        fn mirror(&mut self, origin_bytes_max: u64) -> SyncReport {
            let steps = |_: &'static str| {};
            let turn = self.store.team_turn(0).unwrap();
            let mut remote = FolderRemote::at(self.folder.path(), &steps);
            let tips = remote.tips().unwrap();
            let mirroring = MirrorUpdater {
                store: &self.store,
                turn: &turn,
                now: Timestamp::UNIX_EPOCH,
                origin_bytes_max,
                policy: &SyncPolicy::default(),
                steps: &steps,
            };
            let mut report = SyncReport::new(StoreOrigin::mint("me", 1));
            let address = RemoteAddress::parse("folder:/x").unwrap();
            let mut record = SyncRecord::read(&self.store, &address).unwrap();
            mirroring
                .bring_in_all(&mut remote, &tips, (&mut self.state, &mut record), &mut report)
                .unwrap();
            report
        }

        fn mirrored(&self) -> Vec<String> {
            let text = std::fs::read_to_string(&self.store.mirrors().unwrap()[0]).unwrap();
            text.lines().map(str::to_owned).collect()
        }
    }

    fn lines(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("{{\"id\":\"{n:0>5}\",\"lesson\":\"{n:0>90}\"}}")).collect()
    }

    // S-SYNC-8
    #[test]
    fn a_big_origin_comes_in_parts() {
        let (mut team, lines) = (MirroredTeam::new(), lines(6_000));
        team.publish(&lines, &[]);
        let mut taken = Vec::new();
        for round in 0..4 {
            let report = team.mirror(300_000);
            taken.push(report.fetched);
            assert_eq!(report.trouble.is_empty(), round > 1, "{:?}", report.trouble);
        }
        assert_eq!(taken.iter().sum::<usize>(), 6_000);
        assert!(taken[..3].iter().all(|count| *count > 0) && taken[3] == 0, "{taken:?}");
        assert_eq!(team.mirrored(), lines);
    }

    // S-SYNC-7, S-SYNC-8
    #[test]
    fn a_line_of_a_big_origin_is_dropped() {
        let (mut team, mut lines) = (MirroredTeam::new(), lines(6_000));
        team.publish(&lines, &[]);
        for _ in 0..3 {
            team.mirror(300_000);
        }
        let secret = std::mem::replace(&mut lines[5_999], r#"{"id":"05999"}"#.to_owned());
        team.publish(&lines, &[&secret]);
        assert_eq!(team.mirror(300_000).dropped, 1);
        assert_eq!(team.mirrored(), lines);
    }

    // S-SYNC-7, S-SYNC-8
    #[test]
    fn withdrawing_waits_for_no_other_day() {
        let (mut team, lines) = (MirroredTeam::new(), lines(3));
        team.publish(&lines[..2], &[]);
        assert_eq!(team.mirror(99_999).fetched, 2);
        let known = team.state.origins.get_mut(other().as_str()).unwrap();
        known.count(LINES_AT_FIRST_MAX, Timestamp::UNIX_EPOCH);
        team.publish(&lines[1..], &[&lines[0]]);
        let report = team.mirror(99_999);
        assert_eq!((report.dropped, report.fetched, report.held), (1, 0, vec![(other(), 1)]));
        assert_eq!(team.mirrored(), lines[1..2]);
        let report = team.mirror(99_999);
        assert!(report.trouble[0].contains("no more lines are taken today"), "{report:?}");
    }
}
