//! A model of a disk: what may be found on it after the power went. Contents and directory entries are
//! kept apart, each on the disk only after a sync of its own file or directory has ended. Without that
//! any of them may be there or not, the last write also in part, or as NUL bytes of the right length.
//! Not here: a disk that says it has synced and has not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::recording::Operation;

/// Files with their bytes, and directories (`None`), in an order in which they can be made.
pub type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// What a directory's entry leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Directory,
    File(usize),
}

/// What is synced as one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyncUnit {
    Entries(PathBuf),
    Contents(usize),
}

#[derive(Clone)]
enum Change {
    Enter(PathBuf, Node),
    Leave(PathBuf),
    Append(Vec<u8>),
    Cut(usize),
}

/// A change, counted, so that a sync knows which came before it.
#[derive(Clone)]
struct Unsynced {
    number: usize,
    change: Change,
}

/// What becomes of the unsynced changes of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Lost,
    Kept,
    /// All kept, but of the last write only so many bytes.
    Torn(usize),
    /// All kept, but the last write is only NUL bytes.
    LastBlank,
    /// All kept, but the first write is only NUL bytes.
    FirstBlank,
}

#[derive(Default)]
pub struct Disk {
    /// The system's view.
    now: BTreeMap<PathBuf, Node>,
    /// What is certainly on the disk.
    entries: BTreeMap<PathBuf, Node>,
    contents: Vec<Vec<u8>>,
    unsynced: BTreeMap<SyncUnit, Vec<Unsynced>>,
    /// Syncs under way: the part, and the number of the first change that they do not cover.
    syncing: BTreeMap<usize, (SyncUnit, usize)>,
    changes: usize,
}

fn folder_of(path: &Path) -> SyncUnit {
    SyncUnit::Entries(path.parent().unwrap().to_owned())
}

impl Disk {
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::MakeDirectory(path) => self.enter(path, Node::Directory),
            Operation::Open { path, empties } => match self.now.get(path) {
                Some(node) if *empties => self.change(self.contents_of(*node), Change::Cut(0)),
                Some(_) => {}
                None => {
                    self.contents.push(Vec::new());
                    self.enter(path, Node::File(self.contents.len() - 1));
                }
            },
            Operation::Write { path, bytes } => {
                let part = self.contents_of(self.now[path]);
                self.change(part, Change::Append(bytes.clone()));
            }
            Operation::Cut { path, length } => {
                self.change(self.contents_of(self.now[path]), Change::Cut(*length));
            }
            Operation::Rename { from, to } => {
                assert_eq!(from.parent(), to.parent(), "renamed within its directory only");
                let node = self.now.remove(from).unwrap();
                self.change(folder_of(from), Change::Leave(from.clone()));
                self.enter(to, node);
            }
            Operation::Remove(path) => {
                self.now.remove(path).unwrap();
                self.change(folder_of(path), Change::Leave(path.clone()));
            }
            Operation::SyncBegins { call, path } => {
                let part = match self.now.get(path) {
                    Some(Node::File(file)) => SyncUnit::Contents(*file),
                    // The world's own folder is in no list.
                    Some(Node::Directory) | None => SyncUnit::Entries(path.clone()),
                };
                self.syncing.insert(*call, (part, self.changes));
            }
            Operation::SyncEnds { call } => {
                let (part, bound) = self.syncing.remove(call).unwrap();
                self.settle(&part, bound);
            }
            Operation::Acknowledged { .. } => {}
        }
    }

    fn contents_of(&self, node: Node) -> SyncUnit {
        let Node::File(file) = node else { panic!("a directory has no contents") };
        SyncUnit::Contents(file)
    }

    fn enter(&mut self, path: &Path, node: Node) {
        self.now.insert(path.to_owned(), node);
        self.change(folder_of(path), Change::Enter(path.to_owned(), node));
    }

    fn change(&mut self, part: SyncUnit, change: Change) {
        let number = self.changes;
        self.changes += 1;
        self.unsynced.entry(part).or_default().push(Unsynced { number, change });
    }

    fn settle(&mut self, part: &SyncUnit, bound: usize) {
        let Some(unsynced) = self.unsynced.get_mut(part) else { return };
        let covered = unsynced.iter().take_while(|change| change.number < bound).count();
        let settled: Vec<Unsynced> = unsynced.drain(..covered).collect();
        if unsynced.is_empty() {
            self.unsynced.remove(part);
        }
        for Unsynced { change, .. } in settled {
            match part {
                SyncUnit::Contents(file) => alter(&mut self.contents[*file], &change),
                SyncUnit::Entries(_) => alter_entries(&mut self.entries, &change),
            }
        }
    }

    /// Everything that may be found after the power went: each part with and without its unsynced
    /// changes, in every combination; and each last write torn at every so many bytes, or blank.
    pub fn after_power_loss(&self, step_bytes: usize) -> Vec<Files> {
        let parts: Vec<&SyncUnit> =
            self.unsynced.keys().filter(|part| self.matters(part)).collect();
        assert!(parts.len() < 12, "too many combinations");
        let mut states = Vec::new();
        for kept in 0..1_usize << parts.len() {
            let fates = parts.iter().enumerate().map(|(place, part)| {
                let is_kept = kept >> place & 1 == 1;
                ((*part).clone(), if is_kept { Fate::Kept } else { Fate::Lost })
            });
            states.push(self.state(&fates.collect()));
        }
        for part in parts {
            for fate in self.damages(part, step_bytes) {
                states.push(self.state(&BTreeMap::from([(part.clone(), fate)])));
            }
        }
        states
    }

    /// What is in a lock file, or whether it is there, matters to nobody.
    fn matters(&self, part: &SyncUnit) -> bool {
        let is_of_locks = |path: &Path| {
            path.components()
                .any(|name| name.as_os_str() == ".locks" || name.as_os_str() == ".chain")
        };
        match part {
            SyncUnit::Entries(path) => !is_of_locks(path),
            SyncUnit::Contents(file) => {
                let mut named = self.now.iter().filter(|(_, node)| **node == Node::File(*file));
                named.any(|(path, _)| !is_of_locks(path))
            }
        }
    }

    fn damages(&self, part: &SyncUnit, step_bytes: usize) -> Vec<Fate> {
        if !matches!(part, SyncUnit::Contents(_)) {
            return Vec::new();
        }
        let writes: Vec<usize> =
            self.unsynced[part].iter().filter_map(|unsynced| appended(&unsynced.change)).collect();
        let Some(last) = writes.last() else { return Vec::new() };
        let torn = (1..*last).step_by(step_bytes).chain([last - 1]).map(Fate::Torn);
        torn.chain([Fate::LastBlank, Fate::FirstBlank]).collect()
    }

    /// The disk with these fates; parts not named keep everything.
    pub fn state(&self, fates: &BTreeMap<SyncUnit, Fate>) -> Files {
        let (mut entries, mut contents) = (self.entries.clone(), self.contents.clone());
        for (part, unsynced) in &self.unsynced {
            let fate = *fates.get(part).unwrap_or(&Fate::Kept);
            if fate == Fate::Lost {
                continue;
            }
            match part {
                SyncUnit::Entries(_) => {
                    unsynced
                        .iter()
                        .for_each(|unsynced| alter_entries(&mut entries, &unsynced.change));
                }
                SyncUnit::Contents(file) => alter_all(&mut contents[*file], unsynced, fate),
            }
        }
        reachable(&entries, &contents)
    }
}

fn appended(change: &Change) -> Option<usize> {
    match change {
        Change::Append(bytes) => Some(bytes.len()),
        _ => None,
    }
}

fn alter(contents: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Append(bytes) => contents.extend_from_slice(bytes),
        Change::Cut(length) => contents.truncate(*length),
        Change::Enter(..) | Change::Leave(_) => panic!("a file has no entries"),
    }
}

fn alter_entries(entries: &mut BTreeMap<PathBuf, Node>, change: &Change) {
    match change {
        Change::Enter(path, node) => drop(entries.insert(path.clone(), *node)),
        Change::Leave(path) => drop(entries.remove(path)),
        Change::Append(_) | Change::Cut(_) => panic!("a directory has no contents"),
    }
}

fn alter_all(contents: &mut Vec<u8>, unsynced: &[Unsynced], fate: Fate) {
    let is_write = |unsynced: &Unsynced| appended(&unsynced.change).is_some();
    let (first, last) = (unsynced.iter().position(is_write), unsynced.iter().rposition(is_write));
    for (place, Unsynced { change, .. }) in unsynced.iter().enumerate() {
        let mut change = change.clone();
        if let Change::Append(bytes) = &mut change {
            match fate {
                Fate::Torn(kept) if last == Some(place) => bytes.truncate(kept),
                Fate::LastBlank if last == Some(place) => bytes.fill(0),
                Fate::FirstBlank if first == Some(place) => bytes.fill(0),
                _ => {}
            }
        }
        alter(contents, &change);
    }
}

/// What can be reached from the top: a file is lost with the entry of any directory above it.
fn reachable(entries: &BTreeMap<PathBuf, Node>, contents: &[Vec<u8>]) -> Files {
    let is_reached = |path: &Path| {
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        above.into_iter().all(|above| entries.get(above) == Some(&Node::Directory))
    };
    let reached = entries.iter().filter(|(path, _)| is_reached(path));
    reached
        .map(|(path, node)| match node {
            Node::Directory => (path.clone(), None),
            Node::File(file) => (path.clone(), Some(contents[*file].clone())),
        })
        .collect()
}
