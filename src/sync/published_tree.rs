//! The own side of a round: what the remote has of this store, whether it is ours, and the tree that should be there. Not
//! here: moving it (`transport`), and what may leave (`outgoing_lines`).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use event::{DecodedLine, RepoKey, StoreOrigin, codec};
use settings::SyncPolicy;

use crate::origin_tree::{
    FORMAT, FORMAT_PATH, SEGMENT_BYTES_MAX, TreePlace, WITHDRAWN_BYTES_MAX, WITHDRAWN_PATH,
    complete_lines, place_of, segments, withdrawn_mark, withdrawn_marks, withdrawn_text,
};
use crate::outgoing_lines::OutgoingLines;
use crate::sync_record::SyncRecord;
use crate::{FilePart, RemoteHistory, SyncError, Tip, Transport, TreeFile};

/// The most that is read of the own tree, in bytes.
const OWN_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// What the remote has under our origin.
#[derive(Debug, Default)]
pub(crate) struct PublishedTree {
    /// Its tip; `None` if the remote has nothing.
    pub(crate) tip: Option<Tip>,
    /// The names of the contents, by path.
    sums: BTreeMap<String, String>,
    /// The contents, by path.
    files: BTreeMap<String, Vec<u8>>,
    /// The lines, by repository and in their order.
    logs: BTreeMap<RepoKey, Vec<String>>,
    /// The marks of the lines that were withdrawn.
    withdrawn: BTreeSet<String>,
    /// How many files cannot be read any more.
    pub(crate) damaged: usize,
    /// Whether it is nothing that a store publishes.
    is_nonsense: bool,
    /// Whether somebody without our key put it there.
    pub(crate) is_forged: bool,
}

impl PublishedTree {
    /// Reads what the remote has. `None` if it changed meanwhile.
    pub(crate) fn read(
        transport: &mut dyn Transport,
        origin: &StoreOrigin,
        (tip, record): (Option<&Tip>, &SyncRecord),
    ) -> Result<Option<Self>, SyncError> {
        let Some(tip) = tip else { return Ok(Some(Self::default())) };
        let brought = transport.bring(&[(origin.clone(), tip.clone())])?;
        if let Some((_, error)) = brought.failed.into_iter().next() {
            return Err(error);
        }
        if brought.tips.get(origin) != Some(tip) {
            return Ok(None);
        }
        Self::read_here(transport, origin, (tip, record)).map(Some)
    }

    /// Stands for what somebody without our key put there: nothing of it counts. What this store published last does, as far
    /// as the cache still has it, so that the marks of what was withdrawn are not lost.
    pub(crate) fn forged(
        transport: &mut dyn Transport,
        origin: &StoreOrigin,
        (tip, record): (&Tip, &SyncRecord),
    ) -> Self {
        let last = record.published_tip().map(|tip| Tip(tip.to_owned()));
        let last = last.and_then(|last| Self::read_here(transport, origin, (&last, record)).ok());
        let last = last.filter(|last| last.damaged == 0 && !last.is_nonsense);
        Self { tip: Some(tip.clone()), is_forged: true, ..last.unwrap_or_default() }
    }

    /// Reads a tree that is near.
    fn read_here(
        transport: &mut dyn Transport,
        origin: &StoreOrigin,
        (tip, record): (&Tip, &SyncRecord),
    ) -> Result<Self, SyncError> {
        let files = transport.list(origin, tip)?.files;
        if files.iter().any(|listed| listed.bytes > SEGMENT_BYTES_MAX.max(WITHDRAWN_BYTES_MAX)) {
            return Ok(Self::unreadable(tip));
        }
        let mut left = OWN_BYTES_MAX;
        let known = |listed: &&TreeFile| {
            left = left.saturating_sub(listed.bytes);
            left > 0 && place_of(&listed.path) != TreePlace::Odd
        };
        let files: Vec<&TreeFile> = files.iter().filter(known).collect();
        let mut standing = Self { tip: Some(tip.clone()), ..Self::default() };
        match transport.read(origin, &files) {
            Ok(contents) => {
                files
                    .into_iter()
                    .zip(contents)
                    .for_each(|(listed, bytes)| standing.add(listed, bytes));
            }
            // What we published was damaged there. What is left counts, and the rest is published again.
            Err(SyncError::Unreadable(_)) if record.has_published(tip) => {
                for listed in files {
                    match transport.read(origin, &[listed]) {
                        Ok(contents) => {
                            contents.into_iter().for_each(|bytes| standing.add(listed, bytes));
                        }
                        Err(SyncError::Unreadable(_)) => standing.damaged += 1,
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        Ok(standing)
    }

    fn add(&mut self, listed: &TreeFile, bytes: Vec<u8>) {
        match place_of(&listed.path) {
            TreePlace::Withdrawn => self.withdrawn = withdrawn_marks(&bytes),
            TreePlace::Segment(repo, _) => {
                let lines = complete_lines(&bytes);
                let lines = lines.filter(|line| !line.trim_ascii().is_empty());
                let lines = lines.map(|line| String::from_utf8_lossy(line).into_owned());
                self.logs.entry(repo).or_default().extend(lines);
            }
            TreePlace::Format | TreePlace::Odd => {}
        }
        self.sums.insert(listed.path.clone(), listed.sum.clone());
        self.files.insert(listed.path.clone(), bytes);
    }

    /// Tells whether this store published it: the record says so, or it holds no event that this store never had. A copy of
    /// the store that went on writing has such events.
    pub(crate) fn is_ours(
        &self,
        record: &SyncRecord,
        own: &OutgoingLines,
        policy: &SyncPolicy,
    ) -> bool {
        let Some(tip) = &self.tip else { return true };
        let is_own = |repo: &RepoKey, line: &String| own.ids.contains(&id_of(line, repo));
        let logs = || self.logs.iter().filter(|(repo, _)| policy.shares(repo));
        // Our key tells that it is none of a copy of this store.
        self.is_forged
            || !self.is_nonsense
                && (record.has_published(tip)
                    || logs().all(|(repo, lines)| lines.iter().all(|line| is_own(repo, line))))
    }

    /// Returns how many lines there are.
    pub(crate) fn lines(&self) -> usize {
        self.logs.values().map(Vec::len).sum()
    }

    /// Stands for a part of which nothing can be read: no store publishes such a thing.
    pub(crate) fn unreadable(tip: &Tip) -> Self {
        Self { tip: Some(tip.clone()), is_nonsense: true, ..Self::default() }
    }
}

/// Whether lines of a repository may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharePermission {
    /// The settings share it, and somebody agreed.
    Yes,
    /// The settings share it, and nobody agreed: nothing new leaves, and what is there stays unless it was withdrawn.
    NotYet,
    /// The settings do not share it.
    No,
}

/// The tree that should be there.
#[derive(Debug)]
pub(crate) struct WantedTree {
    /// The contents, by path.
    files: BTreeMap<String, Vec<u8>>,
    /// The lines that the remote does not have.
    pub(crate) new: Vec<(RepoKey, String)>,
    /// How many lines it has and should not.
    pub(crate) withdrawn: usize,
    /// How many lines there are.
    pub(crate) lines: usize,
    /// The shared repositories of which this store has no log any more.
    pub(crate) gone: Vec<RepoKey>,
}

impl WantedTree {
    /// Joins what is there with what may leave: lines keep their place, new ones follow, and what this store no longer
    /// shares goes. Lines that it has in another form, or keeps to itself now, are listed as withdrawn. A log that is gone
    /// although its lines may leave is lost, and they stay there.
    pub(crate) fn plan(
        standing: &PublishedTree,
        own: &OutgoingLines,
        may_leave: impl Fn(&RepoKey) -> SharePermission,
    ) -> Self {
        let (files, new, gone) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut wanted = Self { files, new, withdrawn: 0, lines: 0, gone };
        let own_logs: BTreeMap<&RepoKey, &Vec<String>> =
            own.logs.iter().map(|log| (&log.repo, &log.lines)).collect();
        let repos: BTreeSet<&RepoKey> =
            own_logs.keys().copied().chain(standing.logs.keys()).collect();
        let mut marks = BTreeSet::new();
        for repo in repos {
            let there = standing.logs.get(repo).map(Vec::as_slice).unwrap_or_default();
            let own_log = own_logs.get(repo).map(|lines| lines.as_slice());
            let may_leave = may_leave(repo);
            let here: Vec<&str> = match (may_leave, own_log) {
                (SharePermission::No, _) => Vec::new(),
                (SharePermission::NotYet, own_log) => {
                    not_withdrawn((repo, there), own_log.unwrap_or_default(), own)
                }
                (SharePermission::Yes, None) => {
                    wanted.gone.push(repo.clone());
                    there.iter().map(String::as_str).collect()
                }
                (SharePermission::Yes, Some(own_log)) => {
                    own_log.iter().map(String::as_str).collect()
                }
            };
            let may: HashSet<&str> = here.iter().copied().collect();
            let had: HashSet<&str> = there.iter().map(String::as_str).collect();
            for line in there.iter().filter(|line| !may.contains(line.as_str())) {
                wanted.withdrawn += 1;
                let id = id_of(line, repo);
                if may_leave == SharePermission::No || own.ids.contains(&id) {
                    marks.insert(withdrawn_mark(&id, line.as_bytes()));
                }
            }
            let new: Vec<&str> = here.into_iter().filter(|line| !had.contains(line)).collect();
            wanted.new.extend(new.iter().map(|line| (repo.clone(), (*line).to_owned())));
            let stays = there.iter().map(String::as_str).filter(|line| may.contains(line));
            let lines: Vec<&str> = stays.chain(new).collect();
            wanted.lines += lines.len();
            wanted.files.extend(segments(repo, lines.into_iter()));
        }
        marks.extend(still_withdrawn(standing, &wanted.new));
        wanted.files.insert(FORMAT_PATH.to_owned(), FORMAT.to_vec());
        if !marks.is_empty() {
            wanted.files.insert(WITHDRAWN_PATH.to_owned(), withdrawn_text(&marks));
        }
        wanted
    }

    /// Tells whether there is something to publish.
    pub(crate) fn is_news(&self, standing: &PublishedTree) -> bool {
        let is_first_and_empty = standing.tip.is_none() && self.lines == 0;
        !is_first_and_empty && self.files != standing.files
    }

    /// Returns the files of the tree: those that the remote has by name, the others by their contents.
    pub(crate) fn parts<'a>(
        &'a self,
        standing: &'a PublishedTree,
    ) -> BTreeMap<&'a str, FilePart<'a>> {
        let part = |(path, bytes): (&'a String, &'a Vec<u8>)| {
            let is_same = standing.files.get(path) == Some(bytes);
            let sum = standing.sums.get(path).filter(|_| is_same);
            (path.as_str(), sum.map_or(FilePart::New(bytes), |sum| FilePart::Same(sum)))
        };
        self.files.iter().map(part).collect()
    }

    /// Tells whether the history may stay: not if a line was withdrawn, or somebody else wrote the last part.
    pub(crate) fn history(&self, standing: &PublishedTree) -> RemoteHistory {
        match self.withdrawn == 0 && !standing.is_forged {
            true => RemoteHistory::Keep,
            false => RemoteHistory::Drop,
        }
    }
}

/// Returns what stays on a remote to which nobody agreed: all but what this store has in another form, or keeps to itself
/// now. Withdrawing needs no yes.
fn not_withdrawn<'a>(
    (repo, there): (&RepoKey, &'a [String]),
    own_log: &[String],
    own: &OutgoingLines,
) -> Vec<&'a str> {
    let here: HashSet<&str> = own_log.iter().map(String::as_str).collect();
    let stays = |line: &&str| here.contains(line) || !own.ids.contains(&id_of(line, repo));
    there.iter().map(String::as_str).filter(stays).collect()
}

/// Returns the marks that were there, without those of lines that are shared again. Other lines are left out of account: a
/// mark has few digits, and that of a secret may also fit to the line that replaced it.
fn still_withdrawn(standing: &PublishedTree, new: &[(RepoKey, String)]) -> BTreeSet<String> {
    let mut marks = standing.withdrawn.clone();
    if !marks.is_empty() {
        for (repo, line) in new {
            marks.remove(&withdrawn_mark(&id_of(line, repo), line.as_bytes()));
        }
    }
    marks
}

/// Returns the id of the event in a line; empty if it holds none.
fn id_of(line: &str, repo: &RepoKey) -> String {
    match codec::decode(line.as_bytes(), repo.as_str()) {
        DecodedLine::Event(event) => event.id.as_str().to_owned(),
        DecodedLine::Blank | DecodedLine::Skipped(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing_lines::OwnLog;

    const KEY: &str = r#"{"id":"a1","lesson":"the key is hunter2"}"#;

    fn standing(lines: &[&str]) -> PublishedTree {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        let logs = [(RepoKey::parse("api").unwrap(), lines)].into();
        PublishedTree { tip: Some(Tip("t".to_owned())), logs, ..PublishedTree::default() }
    }

    fn own(lines: &[&str]) -> OutgoingLines {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        let log = OwnLog { repo: RepoKey::parse("api").unwrap(), lines };
        let ids = ["a1", "a2"].map(str::to_owned).into();
        OutgoingLines { logs: vec![log], ids, ..OutgoingLines::default() }
    }

    fn marks(wanted: &WantedTree) -> BTreeSet<String> {
        wanted.files.get(WITHDRAWN_PATH).map(|bytes| withdrawn_marks(bytes)).unwrap_or_default()
    }

    // S-SYNC-7
    #[test]
    fn forms_with_the_same_mark_are_told_apart() {
        let mark = withdrawn_mark("a1", KEY.as_bytes());
        let masked = (0..)
            .map(|n| KEY.replace("hunter2", &format!("[REDACTED:password] {n}")))
            .find(|line| withdrawn_mark("a1", line.as_bytes()) == mark)
            .unwrap();
        let wanted =
            WantedTree::plan(&standing(&[KEY]), &own(&[&masked]), |_| SharePermission::Yes);
        assert_eq!((wanted.withdrawn, marks(&wanted)), (1, [mark.clone()].into()));
        // It stays in the list as long as it is not shared again.
        let mut later = standing(&[&masked]);
        later.withdrawn = marks(&wanted);
        let wanted = WantedTree::plan(&later, &own(&[&masked]), |_| SharePermission::Yes);
        assert_eq!(marks(&wanted), [mark].into());
        let wanted = WantedTree::plan(&later, &own(&[KEY]), |_| SharePermission::Yes);
        let new = withdrawn_mark("a1", masked.as_bytes());
        assert_eq!(marks(&wanted), [new].into(), "the one that replaced it");
    }

    // S-SYNC-3, S-SYNC-7
    #[test]
    fn withdrawing_needs_no_yes() {
        let (kept, foreign) =
            (r#"{"id":"a2","lesson":"kept"}"#, r#"{"id":"x","lesson":"lost here"}"#);
        let there = standing(&[KEY, kept, foreign]);
        let masked = KEY.replace("hunter2", "[REDACTED:password]");
        let wanted = WantedTree::plan(&there, &own(&[&masked, kept]), |_| SharePermission::NotYet);
        assert_eq!((wanted.withdrawn, wanted.new.len(), wanted.lines), (1, 0, 2));
        assert_eq!(marks(&wanted), [withdrawn_mark("a1", KEY.as_bytes())].into());
    }
}
