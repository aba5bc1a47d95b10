//! Writing the mirror of another origin's log. Only the holder of the team's turn writes, only whole lines, and only at the
//! end, unless the origin withdrew lines. Not here: which lines (crate `sync`), listing and reading mirrors (`team`).

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use event::{RepoKey, StoreOrigin};

use super::chain::{self, AppendedBytes};
use super::lock::{self, FileLock};
use super::open_private;
use super::{Store, StoreError, layout, log_file, rewrite, team};

/// How long a mirror waits for somebody who checks it against its chain, in milliseconds.
const CHAIN_WAIT_MS_MAX: u64 = 1_000;

/// The right to write mirrors, which one process at a time has.
#[derive(Debug)]
pub struct TeamTurn {
    _lock: FileLock,
}

/// The mirror of one log of another origin.
#[derive(Debug)]
pub struct Mirror<'a> {
    path: PathBuf,
    _turn: &'a TeamTurn,
}

impl Store {
    /// Takes the turn to write mirrors, and waits at most `wait_ms` milliseconds for another process.
    ///
    /// # Errors
    /// [`StoreError::Busy`]; those of [`Store::ensure`].
    pub fn team_turn(&self, wait_ms: u64) -> Result<TeamTurn, StoreError> {
        self.ensure()?;
        let lock = lock::path_of(&self.root().join(team::FOLDER));
        Ok(TeamTurn { _lock: FileLock::acquire(&lock, wait_ms)? })
    }

    /// Returns the mirror of another origin's log. Its folders are made, private to the user; the file is not.
    ///
    /// # Errors
    /// [`StoreError::Io`]; [`StoreError::Untrusted`] if something else is in the place of a folder.
    pub fn mirror<'a>(
        &self,
        turn: &'a TeamTurn,
        origin: &StoreOrigin,
        repo: &RepoKey,
    ) -> Result<Mirror<'a>, StoreError> {
        let folder = self.ensure_folder(team::FOLDER)?.join(origin.as_str());
        if !layout::is_own_folder(&folder)? {
            crate::make_private_dir(&folder)
                .map_err(StoreError::io("make the directory", &folder))?;
        }
        Ok(Mirror { path: self.mirror_of(origin, &repo.file_name()), _turn: turn })
    }
}

impl Mirror<'_> {
    /// Returns the complete lines, with their line breaks; nothing if there is no mirror yet.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::NotALog`].
    pub fn lines(&self) -> Result<Vec<u8>, StoreError> {
        let Some((mut file, metadata)) = layout::open_to_read(&self.path)? else {
            return Ok(Vec::new());
        };
        if let Some(what) = log_file::describe_non_log(&metadata) {
            return Err(StoreError::NotALog { path: self.path.clone(), what });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(StoreError::io("read", &self.path))?;
        bytes.truncate(complete(&bytes));
        Ok(bytes)
    }

    /// Adds whole lines after the first `kept_bytes`, which are those of [`Mirror::lines`]. A crash tore the bytes
    /// after them; these are cut off and arrive again.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::NotALog`]: part of the lines may be there. [`StoreError::Busy`] if somebody checks
    /// the mirror just now: it is as it was, because a mirror that changes without its chain counts as changed.
    pub fn append(&self, kept_bytes: usize, lines: &[u8]) -> Result<(), StoreError> {
        let turn = self.chain_turn()?;
        if kept_bytes == 0 {
            // A mirror may be deleted at any time, and is then another one. Its chain goes before the file is there again: a
            // crash leaves no chain of lines that are gone.
            let _ = chain::forget(&turn, &self.path);
        }
        let mut file = self.open()?;
        let kept_bytes = u64::try_from(kept_bytes).unwrap_or(u64::MAX);
        let written = (|| {
            if file.metadata()?.len() > kept_bytes {
                file.set_len(kept_bytes)?;
            }
            file.seek(SeekFrom::Start(kept_bytes))?;
            file.write_all(lines)
        })();
        written.map_err(StoreError::io("write", &self.path))?;
        self.cover(&turn, &file, kept_bytes, lines);
        Ok(())
    }

    /// Adds lines to the mirror's chain, which reveals a later change. The next append covers the lines that the chain does not get
    /// now.
    fn cover(&self, turn: &FileLock, file: &File, from: u64, added: &[u8]) {
        let end = from.saturating_add(u64::try_from(added.len()).unwrap_or(u64::MAX));
        let written = AppendedBytes { file, log: &self.path, from, added, end };
        let _ = chain::cover(turn, &written);
    }

    /// Takes the lock of the mirror. Its file holds the open entry of the chain.
    fn chain_turn(&self) -> Result<FileLock, StoreError> {
        let lock = lock::path_of(&self.path);
        let folder = lock.parent().unwrap_or(&lock);
        if !layout::is_own_folder(folder)? {
            crate::make_private_dir(folder)
                .map_err(StoreError::io("make the directory", folder))?;
        }
        FileLock::acquire(&lock, CHAIN_WAIT_MS_MAX)
    }

    /// Replaces all lines. Readers see the old ones or the new ones.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::Busy`] as for [`Mirror::append`]. The old lines are then still there.
    pub fn replace(&self, lines: &[u8]) -> Result<(), StoreError> {
        let turn = self.chain_turn()?;
        let new = self.path.with_extension("new");
        let written = rewrite::make_anew(&new).and_then(|mut file| {
            file.write_all(lines)?;
            file.sync_all()?;
            // The origin withdrew lines, so the chain of the others begins anew. It goes first: a crash leaves no chain of
            // lines that are gone.
            let _ = chain::forget(&turn, &self.path);
            std::fs::rename(&new, &self.path)
        });
        if written.is_err() {
            // A leftover is no log, and the next one removes it.
            let _ = std::fs::remove_file(&new);
        }
        written.map_err(StoreError::io("replace", &self.path))?;
        if let Ok(file) = self.open() {
            self.cover(&turn, &file, 0, lines);
        }
        Ok(())
    }

    /// Returns the length of the file, in bytes; 0 if there is none.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.path.symlink_metadata().map_or(0, |found| found.len())
    }

    fn open(&self) -> Result<File, StoreError> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        let file = open_private(&mut options, &self.path)
            .map_err(|source| layout::open_error(&self.path, source))?;
        let metadata = file.metadata().map_err(StoreError::io("inspect", &self.path))?;
        match log_file::describe_non_log(&metadata) {
            Some(what) => Err(StoreError::NotALog { path: self.path.clone(), what }),
            None => Ok(file),
        }
    }
}

/// How many bytes the complete lines have.
fn complete(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct MirrorFixture {
        _folder: tempfile::TempDir,
        store: Store,
        origin: StoreOrigin,
        repo: RepoKey,
    }

    impl MirrorFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path().join("logs"));
            let origin = StoreOrigin::mint("you", 2);
            Self { _folder: folder, store, origin, repo: RepoKey::parse("api").unwrap() }
        }

        fn path(&self) -> PathBuf {
            self.store.mirror_of(&self.origin, "api.jsonl")
        }
    }

    // S-SYNC-6
    #[test]
    fn a_mirror_grows_by_whole_lines_past_a_torn_one() {
        let world = MirrorFixture::new();
        let turn = world.store.team_turn(0).unwrap();
        let mirror = world.store.mirror(&turn, &world.origin, &world.repo).unwrap();
        assert!(mirror.lines().unwrap().is_empty());
        mirror.append(0, b"one\ntwo\n").unwrap();
        std::fs::write(world.path(), "one\ntwo\nhal").unwrap();
        let kept = mirror.lines().unwrap();
        assert_eq!(kept, b"one\ntwo\n");
        mirror.append(kept.len(), b"three\n").unwrap();
        assert_eq!(std::fs::read(world.path()).unwrap(), b"one\ntwo\nthree\n");
        mirror.replace(b"two\n").unwrap();
        assert_eq!(mirror.lines().unwrap(), b"two\n");
        assert_eq!(world.store.mirrors().unwrap(), [world.path()]);
    }

    // S-CHAIN-1, S-CHAIN-4
    #[test]
    fn a_changed_line_of_a_mirror_is_told() {
        let world = MirrorFixture::new();
        let turn = world.store.team_turn(0).unwrap();
        let mirror = world.store.mirror(&turn, &world.origin, &world.repo).unwrap();
        mirror.append(0, b"one\ntwo\n").unwrap();
        mirror.append(8, b"three\n").unwrap();
        let audit = || world.store.audit_chain(&world.path()).unwrap().unwrap();
        assert!(audit().is_whole() && audit().lines == 3);
        mirror.replace(b"two\nthree\n").unwrap();
        assert!(audit().is_whole() && audit().lines == 2, "the origin took a line back");
        mirror.append(10, b"four\n").unwrap();
        std::fs::write(world.path(), "two\nThree\nfour\n").unwrap();
        assert!(!audit().is_whole());
        assert_eq!(world.store.mirrors().unwrap(), [world.path()]);
    }

    // S-CHAIN-3
    #[test]
    fn a_mirror_and_its_chain_change_together() {
        let world = MirrorFixture::new();
        let turn = world.store.team_turn(0).unwrap();
        let mirror = world.store.mirror(&turn, &world.origin, &world.repo).unwrap();
        mirror.append(0, b"one\ntwo\n").unwrap();
        let checking = FileLock::acquire(&lock::path_of(&world.path()), 0).unwrap();
        let is_busy = |done| matches!(done, Err(StoreError::Busy { .. }));
        assert!(is_busy(mirror.append(8, b"three\n")) && is_busy(mirror.append(0, b"x\n")));
        assert!(is_busy(mirror.replace(b"two\n")));
        drop(checking);
        assert_eq!(mirror.lines().unwrap(), b"one\ntwo\n");
        let audit = || world.store.audit_chain(&world.path()).unwrap().unwrap();
        assert!(audit().is_whole() && audit().lines == 2, "{:?}", audit());
        mirror.replace(b"two\n").unwrap();
        assert!(audit().is_whole() && audit().lines == 1, "{:?}", audit());
    }

    // S-CHAIN-3, S-ORIGIN-2
    #[test]
    fn a_deleted_mirror_returns_without_its_chain() {
        let world = MirrorFixture::new();
        let turn = world.store.team_turn(0).unwrap();
        let mirror = world.store.mirror(&turn, &world.origin, &world.repo).unwrap();
        mirror.append(0, b"one\ntwo\n").unwrap();
        std::fs::remove_file(world.path()).unwrap();
        // What is in its place makes an append fail where a crash may end it.
        std::fs::create_dir(world.path()).unwrap();
        assert!(mirror.append(0, b"one\n").is_err());
        std::fs::remove_dir(world.path()).unwrap();
        std::fs::write(world.path(), "").unwrap();
        assert_eq!(world.store.audit_chain(&world.path()).unwrap(), None);
        mirror.append(0, b"one\n").unwrap();
        let audit = world.store.audit_chain(&world.path()).unwrap().unwrap();
        assert!(audit.is_whole() && audit.lines == 1, "{audit:?}");
    }

    // S-CHAIN-3
    #[test]
    fn a_replaced_mirror_is_covered_whole() {
        let world = MirrorFixture::new();
        let turn = world.store.team_turn(0).unwrap();
        let mirror = world.store.mirror(&turn, &world.origin, &world.repo).unwrap();
        mirror.append(0, b"one\n").unwrap();
        // More than is taken in at a time.
        let lines = format!("{}\n", "x".repeat(1024 * 1024)).repeat(17);
        mirror.replace(lines.as_bytes()).unwrap();
        let audit = world.store.audit_chain(&world.path()).unwrap().unwrap();
        let (lines, taken_in, uncovered) = (audit.lines, audit.taken_in, audit.uncovered_bytes);
        assert_eq!((audit.is_whole(), lines, taken_in, uncovered), (true, 17, 0, 0));
    }

    // S-SYNC-6
    #[test]
    fn one_process_at_a_time_writes_mirrors() {
        let world = MirrorFixture::new();
        let turn = world.store.team_turn(0).unwrap();
        assert!(matches!(world.store.team_turn(10), Err(StoreError::Busy { .. })));
        drop(turn);
        world.store.team_turn(0).unwrap();
    }

    // S-SYNC-6, S-STORE-2
    #[cfg(unix)]
    #[test]
    fn mirrors_are_private_and_links_are_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let world = MirrorFixture::new();
        let turn = world.store.team_turn(0).unwrap();
        let mirror = world.store.mirror(&turn, &world.origin, &world.repo).unwrap();
        mirror.append(0, b"one\n").unwrap();
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&world.path()), mode(world.path().parent().unwrap())), (0o600, 0o700));
        let target = world.store.root().join("target");
        std::fs::write(&target, "kept\n").unwrap();
        std::fs::remove_file(world.path()).unwrap();
        symlink(&target, world.path()).unwrap();
        assert!(mirror.append(0, b"x\n").is_err() && mirror.lines().is_err());
        std::fs::remove_dir_all(world.store.root().join(team::FOLDER)).unwrap();
        symlink(world.store.root(), world.store.root().join(team::FOLDER)).unwrap();
        assert!(world.store.mirror(&turn, &world.origin, &world.repo).is_err());
        assert_eq!(std::fs::read(&target).unwrap(), b"kept\n");
    }
}
