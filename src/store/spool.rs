//! The spool: writes whose log another process has held for too long. Each write is a separate file, so writers
//! never wait for each other here. The next writer that gets the log's lock, or the retriever, moves them into
//! their log, in order and each once. Not here: when to stop waiting for the lock (`append`).

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::lock::{self, FileLock};
use super::log_file::{self, Durability};
use super::open_private;
use super::{Store, StoreError, layout, missing_lines, sync};

/// The folder of the spool, inside the store.
pub(super) const SPOOL: &str = ".spool";

/// Separates the name of the log from the hash of the write. No repository key contains it.
const MARK: char = '@';

/// Most waiting writes in a store: hours of work beside a stopped process. Beyond that, listing the folder would
/// become slow, and a person has to look.
const WAITING_MAX: usize = 10_000;

/// Bytes of the hash in a name, enough that two different writes never share one.
const NAME_HASH_BYTES: usize = 16;

/// Writes lines into the spool and returns the file. The same lines give the same file, so that a repeated write
/// waits once. A file is as old as its write: before that time, `since`, no file had its lines.
pub(super) fn spool_lines(
    store: &Store,
    log: &Path,
    lines: &str,
    durability: Durability,
    since: Option<SystemTime>,
) -> Result<PathBuf, StoreError> {
    let folder = store.ensure_folder(SPOOL)?;
    let waiting = store.spooled()?.len();
    if waiting >= WAITING_MAX {
        return Err(StoreError::SpoolFull { path: folder, waiting });
    }
    let hash = Sha256::digest(lines.as_bytes());
    let hash: String = hash.iter().take(NAME_HASH_BYTES).map(|b| format!("{b:02x}")).collect();
    let stem = log.file_stem().unwrap_or_default().to_string_lossy();
    let path = folder.join(format!("{stem}{MARK}{hash}.jsonl"));
    let unfinished = folder.join(format!("{hash}.{}", std::process::id()));
    let before = path.symlink_metadata().and_then(|found| found.modified()).ok();
    let since = since.into_iter().chain(before).min();
    let written = write_whole(&unfinished, lines, durability).and_then(|(file, now)| {
        remove_unfinished(&folder, now);
        // The file is dated last, because an unfinished file that looks old is removed.
        let dated = since.map_or(Ok(()), |since| file.set_modified(since));
        dated
            .and_then(|()| std::fs::rename(&unfinished, &path))
            .map_err(StoreError::io("write", &path))
    });
    if let Err(error) = written {
        // An unfinished file is not acknowledged, and nobody reads it.
        let _ = std::fs::remove_file(&unfinished);
        return Err(error);
    }
    if durability == Durability::Synced {
        sync::names_of(&path)?;
    }
    Ok(path)
}

/// Writes a file, and returns it with the time by the file system's clock.
fn write_whole(
    path: &Path,
    lines: &str,
    durability: Durability,
) -> Result<(File, Option<SystemTime>), StoreError> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    let mut file = open_private(&mut options, path).map_err(StoreError::io("make", path))?;
    file.write_all(lines.as_bytes()).map_err(StoreError::io("write", path))?;
    if durability == Durability::Synced {
        file.sync_data().map_err(StoreError::io("sync", path))?;
    }
    let now = file.metadata().and_then(|metadata| metadata.modified()).ok();
    Ok((file, now))
}

/// An unfinished file of this age is abandoned: a write or a rewrite takes seconds.
const UNFINISHED_SINCE_MAX: Duration = Duration::from_secs(60 * 60);

/// Removes leftovers of killed processes in the spool: files of writes that were never acknowledged, and copies
/// of rewrites that were never completed.
pub(super) fn remove_unfinished(folder: &Path, now: Option<SystemTime>) {
    let (Some(now), Ok(entries)) = (now, std::fs::read_dir(folder)) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let is_old = |found: std::fs::Metadata| {
            let age = found.modified().ok().and_then(|then| now.duration_since(then).ok());
            found.is_file() && age.is_some_and(|age| age > UNFINISHED_SINCE_MAX)
        };
        if is_unfinished(&path) && path.symlink_metadata().is_ok_and(is_old) {
            // Another process may have removed it, and otherwise the next write tries again.
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Tells whether the name of a file in the spool marks it as unfinished.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_copy = name.starts_with('.') && name.ends_with(".rewrite");
    let is_write = name.split_once('.').is_some_and(|(hash, process)| {
        hash.len() == NAME_HASH_BYTES * 2
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && process.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_copy || is_write
}

/// Moves the spooled writes of a log into it, oldest first, under the log's lock. A file leaves the spool only
/// when its lines are in the log and on disk. Returns how many writes were moved.
///
/// A process may die between the two steps, and the lines that it moved may be archived or scrubbed since. So only lines that
/// neither the log nor a segment has are written.
///
/// # Errors
/// [`StoreError`]. The writes stay in the spool.
pub(super) fn bring_in(store: &Store, log: &Path, _turn: &FileLock) -> Result<usize, StoreError> {
    let stem = log.file_stem().unwrap_or_default();
    let mut waiting = store.spooled()?;
    waiting.retain(|path| stem_of_log(path).as_deref() == stem.to_str());
    let Some(oldest) = waiting.first() else { return Ok(0) };
    let since = oldest.symlink_metadata().and_then(|found| found.modified()).ok();
    let lines = waiting.iter().map(|path| read(path)).collect::<Result<Vec<String>, _>>()?.concat();
    let (mut file, _) = log_file::open(log)?;
    // A program that cannot unpack segments leaves the lines to one that can.
    let Some(missing) = missing_lines::missing_lines(store, log, &lines, since)? else {
        return Ok(0);
    };
    let length = file.metadata().map_err(StoreError::io("inspect", log))?.len();
    // The next append takes these lines into the chain.
    log_file::write(&mut file, log, &missing, length)?;
    // This sync is not shared, because a process that holds the log's lock must not wait for another.
    sync::sync_alone(&file, log)?;
    if !layout::is_still_at(&file, log) {
        return Ok(0);
    }
    for path in &waiting {
        std::fs::remove_file(path).map_err(StoreError::io("remove", path))?;
    }
    Ok(waiting.len())
}

fn read(path: &Path) -> Result<String, StoreError> {
    let gone = || StoreError::io("open", path)(std::io::ErrorKind::NotFound.into());
    let (mut file, _) = layout::open_to_read(path)?.ok_or_else(gone)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(StoreError::io("read", path))?;
    let mut lines = String::from_utf8_lossy(&bytes).into_owned();
    // Only a power loss can cut a spooled file. The cut line is damaged and must not corrupt the next one.
    if !lines.is_empty() && !lines.ends_with('\n') {
        lines.push('\n');
    }
    Ok(lines)
}

/// Returns the stem of the log that a file waits for; `None` if the file is not in a spool.
pub(super) fn stem_of_log(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let is_in_spool = path.parent().is_some_and(|folder| folder.ends_with(SPOOL));
    stem.split_once(MARK).filter(|_| is_in_spool).map(|(log, _)| log.to_owned())
}

impl Store {
    /// Lists the writes that wait for their log, oldest first. Their lines have the format of a log.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the spool exists but cannot be read, [`StoreError::Untrusted`] if it is not a
    /// folder that we made.
    pub fn spooled(&self) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.root().join(SPOOL);
        if !layout::is_own_folder(&folder)? {
            return Ok(Vec::new());
        }
        let failed = || StoreError::io("list", &folder);
        let mut waiting: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            // The file was moved into its log meanwhile, or is not ours.
            let Ok(found) = path.symlink_metadata() else { continue };
            if found.is_file() && layout::is_log(&path) && stem_of_log(&path).is_some() {
                waiting.push((found.modified().map_err(failed())?, path));
            }
        }
        waiting.sort();
        Ok(waiting.into_iter().map(|(_, path)| path).collect())
    }

    /// Returns the folders below the store in which files with lines appear.
    ///
    /// # Errors
    /// Those of [`Store::spooled`], [`Store::segments`] and [`Store::mirrors`].
    pub fn folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut folders = self.archive_folders()?;
        folders.extend(self.mirror_folders()?);
        let spool = self.root().join(SPOOL);
        if layout::is_own_folder(&spool)? {
            folders.push(spool);
        }
        Ok(folders)
    }

    /// Tells whether a file is a spooled write.
    #[must_use]
    pub fn is_waiting(path: &Path) -> bool {
        stem_of_log(path).is_some()
    }

    /// Moves spooled writes into every log that is not held right now, without waiting. Returns how many writes
    /// were moved.
    ///
    /// # Errors
    /// The first [`StoreError`]. The writes stay in the spool, where searches find them.
    pub fn bring_in_spool(&self) -> Result<usize, StoreError> {
        let mut logs: Vec<PathBuf> =
            self.spooled()?.iter().filter_map(|path| self.log_of_waiting(path)).collect();
        logs.sort();
        logs.dedup();
        let (mut brought_in, mut first_error) = (0, None);
        for log in logs {
            // A failure of one log must not delay the others.
            let turn = FileLock::acquire(&lock::path_of(&log), 0);
            match turn.and_then(|turn| bring_in(self, &log, &turn)) {
                Ok(count) => brought_in += count,
                Err(StoreError::Busy { .. }) => {}
                Err(error) => drop(first_error.get_or_insert(error)),
            }
        }
        first_error.map_or(Ok(brought_in), Err)
    }

    fn log_of_waiting(&self, path: &Path) -> Option<PathBuf> {
        Some(self.root().join(format!("{}.jsonl", stem_of_log(path)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use event::RepoKey;

    struct SpoolFixture {
        _folder: tempfile::TempDir,
        store: Store,
        log: PathBuf,
    }

    impl SpoolFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path().join("logs"));
            store.ensure().unwrap();
            let log = store.log_of(&RepoKey::parse("api").unwrap());
            Self { _folder: folder, store, log }
        }

        fn spool_lines(&self, lines: &str) -> PathBuf {
            spool_lines(&self.store, &self.log, lines, Durability::Synced, None).unwrap()
        }

        fn logged(&self) -> String {
            std::fs::read_to_string(&self.log).unwrap_or_default()
        }

        fn waiting(&self) -> usize {
            self.store.spooled().unwrap().len()
        }
    }

    // S-STORE-6
    #[test]
    fn what_waits_comes_in_once_and_in_order_after_what_is_there() {
        let world = SpoolFixture::new();
        std::fs::write(&world.log, "first\n").unwrap();
        let times = [30, 20, 10].map(Duration::from_secs);
        for (lines, since) in ["b\nc\n", "d\n", "e\n"].into_iter().zip(times) {
            let file = File::options().write(true).open(world.spool_lines(lines)).unwrap();
            file.set_modified(file.metadata().unwrap().modified().unwrap() - since).unwrap();
        }
        assert_eq!(world.store.bring_in_spool().unwrap(), 3);
        assert_eq!((world.logged().as_str(), world.waiting()), ("first\nb\nc\nd\ne\n", 0));
        assert_eq!(world.store.bring_in_spool().unwrap(), 0);
    }

    // S-STORE-6
    #[test]
    fn a_death_between_log_and_spool_doubles_nothing() {
        let world = SpoolFixture::new();
        for (already, expected) in [("a\n", "a\nb\n"), ("a\nb\n", "a\nb\n"), ("a\nb", "a\nb\nb\n")]
        {
            std::fs::write(&world.log, already).unwrap();
            world.spool_lines("a\nb\n");
            world.store.bring_in_spool().unwrap();
            assert_eq!((world.logged().as_str(), world.waiting()), (expected, 0), "{already:?}");
        }
    }

    // S-STORE-6, S-ARCH-3
    #[cfg(feature = "archive")]
    #[test]
    fn what_came_in_and_moved_on_does_not_come_in_again() {
        let waiting = "{\"id\":\"m1\",\"lesson\":\"secret\"}\n";
        let clean = waiting.replace("secret", "*");
        let scrub = |store: &Store, file: &Path| {
            crate::rewrite(store, file, &mut |_| Some(clean.trim_end().as_bytes().to_vec()))
                .unwrap();
        };
        for scrubbed in ["nothing", "the spool", "the log", "both"] {
            let world = SpoolFixture::new();
            let file = world.spool_lines(waiting);
            // Killed before it removed the file from the spool.
            std::fs::write(&world.log, waiting).unwrap();
            if matches!(scrubbed, "the log" | "both") {
                scrub(&world.store, &world.log);
            }
            let (mut is_first, store) = (true, &world.store);
            crate::archive(store, &world.log, &mut || {
                let moves: crate::MoveRule<'_> = Box::new(|_| true);
                Ok(std::mem::replace(&mut is_first, false).then_some(moves))
            })
            .unwrap();
            if matches!(scrubbed, "the spool" | "both") {
                scrub(&world.store, &file);
            }
            store.bring_in_spool().unwrap();
            assert_eq!((world.logged().as_str(), world.waiting()), ("", 0), "{scrubbed} scrubbed");
        }
    }

    // S-STORE-6
    #[test]
    fn a_write_is_as_old_as_its_lines() {
        let world = SpoolFixture::new();
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let put = |since| {
            spool_lines(&world.store, &world.log, "a\n", Durability::Written, since).unwrap()
        };
        let age = |path: PathBuf| path.metadata().unwrap().modified().unwrap();
        assert_eq!(age(put(Some(since))), since);
        assert_eq!(age(put(None)), since, "it was put there before");
        crate::rewrite(&world.store, &put(None), &mut |_| Some(b"b".to_vec())).unwrap();
        assert_eq!(age(world.store.spooled().unwrap().remove(0)), since);
    }

    // S-STORE-6
    #[test]
    fn the_same_write_sent_again_waits_once() {
        let world = SpoolFixture::new();
        assert_eq!(world.spool_lines("a\n"), world.spool_lines("a\n"));
        world.spool_lines("b\n");
        assert_eq!(world.waiting(), 2);
    }

    // S-STORE-6
    #[test]
    fn what_cannot_come_in_yet_stays() {
        let world = SpoolFixture::new();
        world.spool_lines("a\n");
        let turn = FileLock::acquire(&lock::path_of(&world.log), 0).unwrap();
        assert_eq!(world.store.bring_in_spool().unwrap(), 0);
        assert_eq!(world.waiting(), 1);
        drop(turn);
        std::fs::create_dir(&world.log).unwrap();
        world.store.bring_in_spool().unwrap_err();
        assert_eq!(world.waiting(), 1);
    }

    // S-STORE-6
    #[test]
    fn what_is_unfinished_or_none_of_ours_does_not_count() {
        let world = SpoolFixture::new();
        let folder = world.spool_lines("a\n").parent().unwrap().to_owned();
        for name in ["0123.77", "notes.txt", "stray.jsonl"] {
            std::fs::write(folder.join(name), "b\n").unwrap();
        }
        world.store.bring_in_spool().unwrap();
        assert_eq!(world.logged(), "a\n");
        assert!(Store::at("/nowhere/at/all").spooled().unwrap().is_empty());
    }

    // S-STORE-6
    #[test]
    fn only_old_unfinished_files_are_removed() {
        let world = SpoolFixture::new();
        let folder = world.spool_lines("a\n").parent().unwrap().to_owned();
        let hash = "0123456789abcdef".repeat(2);
        let old = ["notes.77", "stray.txt"];
        let names = [format!("{hash}.77"), ".api@x.jsonl.rewrite".to_owned()];
        for name in names.iter().map(String::as_str).chain(old) {
            let file = File::create(folder.join(name)).unwrap();
            let then = file.metadata().unwrap().modified().unwrap() - 2 * UNFINISHED_SINCE_MAX;
            file.set_modified(then).unwrap();
        }
        let young = folder.join(format!("{hash}.99"));
        File::create(&young).unwrap();
        world.spool_lines("b\n");
        for name in names {
            assert!(!folder.join(&name).exists(), "{name}");
        }
        assert!(young.exists() && world.waiting() == 2);
        assert!(old.iter().all(|name| folder.join(name).exists()), "none of ours");
    }

    // S-STORE-2
    #[cfg(unix)]
    #[test]
    fn what_waits_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let world = SpoolFixture::new();
        let path = world.spool_lines("a\n");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}
