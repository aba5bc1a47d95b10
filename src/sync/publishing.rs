//! The own side of an exchange: what the remote has of this store, whether it is ours, and the tree that should be there. Not
//! here: moving it (`transport`), and what may leave (`outgoing`).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use event::{Decoded, RepoKey, StoreOrigin, codec};
use store::SyncPolicy;

use crate::origin_tree::{
    FORMAT, FORMAT_PATH, SEGMENT_BYTES_MAX, TreePlace, WITHDRAWN_BYTES_MAX, WITHDRAWN_PATH,
    complete_lines, place_of, segments, withdrawn_mark, withdrawn_marks, withdrawn_text,
};
use crate::outgoing::Outgoing;
use crate::sync_record::SyncRecord;
use crate::{FilePart, History, Listed, SyncError, Tip, Transport};

/// The most that is read of the own tree, in bytes.
const OWN_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// What the remote has under our origin.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// Its tip; `None` if the remote has nothing.
    pub(crate) tip: Option<Tip>,
    /// The names of the contents, by path.
    sums: BTreeMap<String, String>,
    /// The contents, by path.
    files: BTreeMap<String, Vec<u8>>,
    /// The lines, by repository and in their order.
    logs: BTreeMap<RepoKey, Vec<String>>,
    /// The marks of the lines that were taken back.
    withdrawn: BTreeSet<String>,
    /// Whether it is nothing that a store publishes.
    is_nonsense: bool,
}

impl Standing {
    /// Reads what the remote has. `None` if it changed meanwhile.
    pub(crate) fn read(
        transport: &mut dyn Transport,
        origin: &StoreOrigin,
        tip: Option<&Tip>,
    ) -> Result<Option<Self>, SyncError> {
        let Some(tip) = tip else { return Ok(Some(Self::default())) };
        let brought = transport.bring(&[(origin.clone(), tip.clone())])?;
        if let Some((_, why)) = brought.failed.into_iter().next() {
            return Err(SyncError::Remote { remote: "our own part".to_owned(), why });
        }
        if brought.tips.get(origin) != Some(tip) {
            return Ok(None);
        }
        let files = match transport.list(origin, tip) {
            Ok(listing) => listing.files,
            // It is here, and is nothing that a store publishes.
            Err(SyncError::Remote { .. }) => {
                return Ok(Some(Self::unreadable(tip)));
            }
            Err(error) => return Err(error),
        };
        if files.iter().any(|listed| listed.bytes > SEGMENT_BYTES_MAX.max(WITHDRAWN_BYTES_MAX)) {
            return Ok(Some(Self::unreadable(tip)));
        }
        let mut left = OWN_BYTES_MAX;
        let known = |listed: &&Listed| {
            left = left.saturating_sub(listed.bytes);
            left > 0 && place_of(&listed.path) != TreePlace::Odd
        };
        let files: Vec<&Listed> = files.iter().filter(known).collect();
        let contents = transport.read(origin, &files)?;
        let mut standing = Self { tip: Some(tip.clone()), ..Self::default() };
        for (listed, bytes) in files.into_iter().zip(contents) {
            standing.add(listed, bytes);
        }
        Ok(Some(standing))
    }

    fn add(&mut self, listed: &Listed, bytes: Vec<u8>) {
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
    pub(crate) fn is_ours(&self, record: &SyncRecord, own: &Outgoing, policy: &SyncPolicy) -> bool {
        let Some(tip) = &self.tip else { return true };
        let is_own = |repo: &RepoKey, line: &String| own.ids.contains(&id_of(line, repo));
        let logs = || self.logs.iter().filter(|(repo, _)| policy.shares(repo));
        !self.is_nonsense
            && (record.knows(tip)
                || logs().all(|(repo, lines)| lines.iter().all(|line| is_own(repo, line))))
    }

    /// Stands for a part of which nothing can be read: no store publishes such a thing.
    pub(crate) fn unreadable(tip: &Tip) -> Self {
        Self { tip: Some(tip.clone()), is_nonsense: true, ..Self::default() }
    }
}

/// Whether lines of a repository may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayLeave {
    /// The settings share it, and somebody agreed.
    Yes,
    /// The settings share it, and nobody agreed: what is there stays, and nothing new leaves.
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
    /// shares goes. Lines that it has in another form, or keeps to itself now, are listed as taken back. A log that is gone
    /// although its lines may leave is lost, and they stay there.
    pub(crate) fn of(
        standing: &Standing,
        own: &Outgoing,
        may_leave: impl Fn(&RepoKey) -> MayLeave,
    ) -> Self {
        let (files, new, gone) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut wanted = Self { files, new, withdrawn: 0, lines: 0, gone };
        let mut taken_back = standing.withdrawn.clone();
        let nothing = Vec::new();
        let own_logs: BTreeMap<&RepoKey, &Vec<String>> = own
            .logs
            .iter()
            .filter(|log| may_leave(&log.repo) == MayLeave::Yes)
            .map(|log| (&log.repo, &log.lines))
            .collect();
        let repos: BTreeSet<&RepoKey> =
            own_logs.keys().copied().chain(standing.logs.keys()).collect();
        for repo in repos {
            let there = standing.logs.get(repo).unwrap_or(&nothing);
            let may_leave = may_leave(repo);
            let here = match (may_leave, own_logs.get(repo)) {
                (MayLeave::NotYet, _) => there,
                (MayLeave::Yes, None) => {
                    wanted.gone.push(repo.clone());
                    there
                }
                (_, here) => here.copied().unwrap_or(&nothing),
            };
            let may: HashSet<&str> = here.iter().map(String::as_str).collect();
            let had: HashSet<&str> = there.iter().map(String::as_str).collect();
            for line in there.iter().filter(|line| !may.contains(line.as_str())) {
                wanted.withdrawn += 1;
                let id = id_of(line, repo);
                if may_leave == MayLeave::No || own.ids.contains(&id) {
                    taken_back.insert(withdrawn_mark(&id, line.as_bytes()));
                }
            }
            let new: Vec<&str> =
                here.iter().map(String::as_str).filter(|line| !had.contains(line)).collect();
            wanted.new.extend(new.iter().map(|line| (repo.clone(), (*line).to_owned())));
            let stays = there.iter().map(String::as_str).filter(|line| may.contains(line));
            let lines: Vec<&str> = stays.chain(new).collect();
            wanted.lines += lines.len();
            if !taken_back.is_empty() {
                // What is shared again is no longer taken back.
                let marks =
                    lines.iter().map(|line| withdrawn_mark(&id_of(line, repo), line.as_bytes()));
                for mark in marks {
                    taken_back.remove(&mark);
                }
            }
            wanted.files.extend(segments(repo, lines.into_iter()));
        }
        wanted.files.insert(FORMAT_PATH.to_owned(), FORMAT.to_vec());
        if !taken_back.is_empty() {
            wanted.files.insert(WITHDRAWN_PATH.to_owned(), withdrawn_text(&taken_back));
        }
        wanted
    }

    /// Tells whether there is something to publish.
    pub(crate) fn is_news(&self, standing: &Standing) -> bool {
        let is_first_and_empty = standing.tip.is_none() && self.lines == 0;
        !is_first_and_empty && self.files != standing.files
    }

    /// Returns the files of the tree: those that the remote has by name, the others by their contents.
    pub(crate) fn parts<'a>(&'a self, standing: &'a Standing) -> BTreeMap<&'a str, FilePart<'a>> {
        let part = |(path, bytes): (&'a String, &'a Vec<u8>)| {
            let is_same = standing.files.get(path) == Some(bytes);
            let sum = standing.sums.get(path).filter(|_| is_same);
            (path.as_str(), sum.map_or(FilePart::New(bytes), |sum| FilePart::Same(sum)))
        };
        self.files.iter().map(part).collect()
    }

    /// Tells whether the history may stay: not if a line was taken back.
    pub(crate) fn history(&self) -> History {
        if self.withdrawn == 0 { History::Keep } else { History::Drop }
    }
}

/// Returns the id of the event in a line; empty if it holds none.
fn id_of(line: &str, repo: &RepoKey) -> String {
    match codec::decode(line.as_bytes(), repo.as_str()) {
        Decoded::Event(event) => event.id.as_str().to_owned(),
        Decoded::Blank | Decoded::Skipped(_) => String::new(),
    }
}
