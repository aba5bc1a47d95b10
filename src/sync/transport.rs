//! How trees of files come from and to a remote. A remote has one small tree for each origin, and only that origin replaces it.
//! A tree in the terms of [`origin_tree`](crate::origin_tree) is all that a transport moves, so it knows no lines. Not here:
//! the ways to do it (`git_remote`, `folder_remote`, `nats_remote`).

use std::collections::BTreeMap;
use std::path::Path;

use event::StoreOrigin;
use event::limits::READ_LINE_BYTES_MAX;
use jiff::Timestamp;

use crate::{Seal, SyncError};

/// Most origins of a remote that are looked at: far more than a team has machines.
pub(crate) const ORIGINS_MAX: usize = 1_000;

/// Most files of one origin: 5 GiB of lines.
pub(crate) const FILES_MAX: usize = 20_000;

/// What names one state of an origin's tree. Another tree has another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tip(pub String);

/// What a remote has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tips {
    /// The state of each origin's tree.
    pub tips: BTreeMap<StoreOrigin, Tip>,
    /// How many names beside them are no origin, or were too many. Nothing is done with them.
    pub odd: usize,
}

/// What was brought near, so that it can be read.
#[derive(Debug, Default)]
pub struct FetchedTips {
    /// What can be read now. An origin may have published more since it was asked.
    pub tips: BTreeMap<StoreOrigin, Tip>,
    /// The origins of which nothing came, and why: [`SyncError::Unreadable`] if the remote answered, and
    /// [`SyncError::Remote`] if it did not.
    pub failed: Vec<(StoreOrigin, SyncError)>,
}

/// One file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Its path in the tree, with `/`.
    pub path: String,
    /// What names its contents.
    pub sum: String,
    /// Its length.
    pub bytes: u64,
}

/// The files of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Plain files.
    pub files: Vec<TreeFile>,
    /// How many entries are something else: links, programs, submodules.
    pub odd: usize,
}

/// The contents of a file of the next tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePart<'a> {
    /// Those of this name, which the remote has.
    Same(&'a str),
    /// These.
    New(&'a [u8]),
}

/// Whether what the origin published before stays in the history of the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteHistory {
    /// It stays.
    Keep,
    /// It goes, because lines were withdrawn.
    Drop,
}

/// The tree that an origin publishes next.
#[derive(Debug)]
pub struct NextTree<'a> {
    /// The origin.
    pub origin: &'a StoreOrigin,
    /// What the remote has of it now.
    pub on: Option<&'a Tip>,
    /// Whether that stays in the history.
    pub history: RemoteHistory,
    /// All files, by path.
    pub files: BTreeMap<&'a str, FilePart<'a>>,
    /// When it is published.
    pub at: Timestamp,
}

/// What became of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishOutcome {
    /// The remote has it.
    Done,
    /// The remote had another one than expected: a second store publishes under this origin.
    Conflict,
    /// The remote refuses, for this reason.
    Refused(String),
}

/// A way to a remote. A round uses one at a time, under the lock of the store's team.
pub trait Transport {
    /// Asks what the remote has.
    ///
    /// # Errors
    /// [`SyncError::Remote`] if it does not answer.
    fn tips(&mut self) -> Result<Tips, SyncError>;

    /// Brings trees near, so that they can be listed and read without the remote. What failed for one origin does not
    /// hinder the others.
    ///
    /// # Errors
    /// [`SyncError::Cache`].
    fn bring(&mut self, wanted: &[(StoreOrigin, Tip)]) -> Result<FetchedTips, SyncError>;

    /// Lists a tree that was brought, at most 20,000 files.
    ///
    /// # Errors
    /// [`SyncError`]; [`SyncError::Unreadable`] for a tree with more.
    fn list(&mut self, origin: &StoreOrigin, tip: &Tip) -> Result<Listing, SyncError>;

    /// Reads files of a tree that was brought, in their order. The caller has looked at their lengths.
    ///
    /// # Errors
    /// [`SyncError`].
    fn read(
        &mut self,
        origin: &StoreOrigin,
        files: &[&TreeFile],
    ) -> Result<Vec<Vec<u8>>, SyncError>;

    /// Makes everything ready to publish a tree, and returns its name. The remote does not change.
    ///
    /// # Errors
    /// [`SyncError`].
    fn prepare(&mut self, next: &NextTree<'_>) -> Result<Tip, SyncError>;

    /// Publishes a tree that was prepared, if the remote still has what the tree was made on.
    ///
    /// # Errors
    /// [`SyncError`].
    fn publish(&mut self, next: &NextTree<'_>, tip: &Tip) -> Result<PublishOutcome, SyncError>;

    /// Returns the longest line that the remote takes, in bytes, as far as is known. Longer ones stay.
    fn line_bytes_max(&self) -> usize {
        READ_LINE_BYTES_MAX
    }

    /// Returns how trees are signed and checked; `None` for a way that carries no signatures.
    fn signatures(&mut self) -> Option<&mut dyn Signatures> {
        None
    }

    /// Gives up what it keeps in the cache, which turned out to be damaged.
    ///
    /// # Errors
    /// [`SyncError::Cache`].
    fn forget(&mut self) -> Result<(), SyncError>;
}

/// A transport whose trees can be signed.
pub trait Signatures {
    /// Signs with this key what is prepared from now on; with none, nothing is signed.
    fn sign_with(&mut self, key: Option<&Path>);

    /// Checks the signature of a tree that was brought or prepared. Nothing of the tree is read.
    ///
    /// # Errors
    /// [`SyncError`]; [`SyncError::Unreadable`] if it is no tree that an origin publishes.
    fn seal(&mut self, origin: &StoreOrigin, tip: &Tip) -> Result<Seal, SyncError>;
}
