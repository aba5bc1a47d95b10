//! Rewriting a log in place, so that a complete file, old or new, exists at every moment. Not here: what
//! changes in it (`upkeep::scrub`, `archive`).
//!
//! Most of the work happens without the lock, so that no appender waits: lines are copied into a hidden file
//! beside the log. Then, under the appenders' lock, the code checks that the lines read so far are unchanged,
//! copies the rest, syncs the copy and renames it over the log. Appenders check after locking which file has
//! the name. A program that ignores the lock may still write to the old file; what it wrote before the rename
//! is copied too.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::chain::{ChainRewrite, RewriteReason, RewrittenChain};
use super::layout::is_still_at;
use super::lines::{self, FileLines, LinePiece, line_at};
use super::lock::{self, FileLock};
use super::open_private;
use super::{LogLine, Store, StoreError, quarantine, spool, sync};

/// How often the rewrite starts over because another program changed lines that had been read.
const REPLACED_TRIES_MAX: usize = 3;

/// How many bytes may be left to copy while appenders wait.
const REST_BYTES_MAX: u64 = 1024 * 1024;

/// Rewrites a log, a spooled write or a quarantine. Each line for which `change` returns other bytes is replaced by them; everything
/// else is unchanged. `change` receives the lines of [`super::lines_of`]. If another program changed the file,
/// the rewrite starts over at the line at offset 0.
///
/// # Errors
/// [`StoreError`]. The file is then unchanged, or rewritten and perhaps not synced.
pub(super) fn rewrite_log(
    turn: &RewriteTurn,
    file: &Path,
    change: &mut dyn FnMut(LogLine<'_>) -> Option<Vec<u8>>,
) -> Result<(), StoreError> {
    for _ in 0..REPLACED_TRIES_MAX {
        match attempt(file, turn, &mut LineReplacement(change))? {
            Attempt::Done => return Ok(()),
            Attempt::Changed => {}
        }
    }
    let why = "another program keeps changing what is in it; try again";
    Err(StoreError::io("rewrite", file)(io::Error::other(why)))
}

/// The right to rewrite the files of a log. One process at a time has it, because rewrites share the names of their copies.
pub(super) struct RewriteTurn {
    /// The lock of the appenders.
    pub(super) appenders: PathBuf,
    _only: FileLock,
}

impl RewriteTurn {
    /// Takes the turn for a file of a store. Programs that archive take it as a `SettledTurn`.
    pub(super) fn acquire(store: &Store, file: &Path) -> Result<Self, StoreError> {
        let appenders = lock_of(store, file);
        let only = FileLock::acquire(&Self::lock_of_rewrites(&appenders), lock::WAIT_MS_MAX)?;
        Ok(Self { appenders, _only: only })
    }

    /// Returns the lock of the rewrites, beside that of the appenders.
    pub(super) fn lock_of_rewrites(appenders: &Path) -> PathBuf {
        appenders.with_extension("rewrite")
    }
}

/// What happens to a line.
pub(super) enum LineFate {
    /// The line stays unchanged.
    Stays,
    /// The line is replaced by other bytes.
    Becomes(Vec<u8>),
    /// The line is removed.
    #[cfg_attr(
        not(feature = "archive"),
        expect(dead_code, reason = "only archiving takes lines out")
    )]
    Leaves,
}

/// The edits of one rewrite.
pub(super) trait LineEdits {
    /// Decides what happens to the next line.
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError>;

    /// Called when everything that existed at the beginning was read. Long work belongs here, because appenders
    /// wait after this call. `copy` is the file that is about to replace the log.
    fn before_the_lock(&mut self, _copy: &Path) -> Result<(), StoreError> {
        Ok(())
    }

    /// Called under the lock: the lines are unchanged, and the copy replaces the file right after this.
    fn seal(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the reason, for the chain of the log.
    fn reason(&self) -> RewriteReason {
        RewriteReason::Scrub
    }
}

/// Edits that only replace lines.
struct LineReplacement<'a>(&'a mut dyn FnMut(LogLine<'_>) -> Option<Vec<u8>>);

impl LineEdits for LineReplacement<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError> {
        Ok((self.0)(line).map_or(LineFate::Stays, LineFate::Becomes))
    }
}

/// The result of one rewrite.
pub(super) enum Attempt {
    /// The copy replaced the file, or there is no file.
    Done,
    /// Another program changed lines that had been read. The file is as that program left it.
    Changed,
}

/// Rewrites a file once.
pub(super) fn attempt(
    file: &Path,
    RewriteTurn { appenders: lock, .. }: &RewriteTurn,
    change: &mut dyn LineEdits,
) -> Result<Attempt, StoreError> {
    let Some(mut copying) = CopyRun::begin(file)? else { return Ok(Attempt::Done) };
    copying.most(change)?;
    // This part is synced here so that it need not be synced under the lock.
    copying.copy.sync()?;
    change.before_the_lock(&copying.copy.path)?;
    let turn = FileLock::acquire(lock, lock::WAIT_MS_MAX)?;
    if !copying.still_stands()? {
        return Ok(Attempt::Changed);
    }
    copying.lines(change, CopyExtent::End)?;
    copying.put_in_place(change, &turn, lock)?;
    Ok(Attempt::Done)
}

/// Returns the lock of the appenders of a file. A quarantine has its own; a spooled write has that of its log.
pub(super) fn lock_of(store: &Store, file: &Path) -> PathBuf {
    quarantine::lock_of(file).unwrap_or_else(|| lock::path_of(&store.log_of(&Store::repo_of(file))))
}

/// The longest file name, in bytes, that all common file systems accept.
const NAME_BYTES_MAX: usize = 255;

/// Returns the path of the copy of a file: hidden, beside the file. A name that would be too long is hashed.
pub(super) fn copy_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default();
    let hidden = |name: &OsStr| {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".rewrite");
        hidden
    };
    let mut copy = hidden(name);
    if copy.len() > NAME_BYTES_MAX {
        let hash = Sha256::digest(name.as_encoded_bytes());
        let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        copy = hidden(OsStr::new(&hash));
    }
    file.with_file_name(copy)
}

/// How far to copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CopyExtent {
    /// Only lines that begin before this offset. The last one may be unfinished and is left.
    Offset(u64),
    /// Everything, including the last line.
    End,
}

impl CopyExtent {
    fn includes(self, offset: u64) -> bool {
        match self {
            Self::Offset(end) => offset < end,
            Self::End => true,
        }
    }
}

/// A copy in progress.
struct CopyRun<'a> {
    file: &'a Path,
    lines: FileLines,
    /// The hash of everything read so far.
    read: Sha256,
    copy: Copy,
    /// How many lines were replaced, and how many were removed.
    counts: (u64, u64),
}

/// The hidden file beside the log. It is removed unless it replaces the log.
struct Copy {
    path: PathBuf,
    file: File,
    /// The modification time of the file, which the copy gets.
    dated: Option<SystemTime>,
    is_in_place: bool,
}

impl Copy {
    fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_all().map_err(StoreError::io("sync", &self.path))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if !self.is_in_place {
            // A leftover copy is not a log, and the next rewrite removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl<'a> CopyRun<'a> {
    fn begin(file: &'a Path) -> Result<Option<Self>, StoreError> {
        let Some((opened, metadata)) = lines::open(file)? else { return Ok(None) };
        let path = copy_of(file);
        let mut copy = make_copy(&path, &metadata).map_err(StoreError::io("make", &path))?;
        if let Some(folder) = path.parent().filter(|folder| folder.ends_with(spool::SPOOL)) {
            let now = copy.file.metadata().and_then(|metadata| metadata.modified()).ok();
            spool::remove_unfinished(folder, now);
            // The age of a spooled write is that of its lines, and decides which segments may have them.
            copy.dated = metadata.modified().ok();
        }
        Ok(Some(Self {
            file,
            lines: FileLines::new(opened),
            read: Sha256::new(),
            copy,
            counts: (0, 0),
        }))
    }

    /// Copies existing lines without the lock, and then lines appended meanwhile, until little is left. Writers
    /// that never pause may be as fast as the copy. They then have to wait, or their writes go to the spool.
    fn most(&mut self, change: &mut dyn LineEdits) -> Result<(), StoreError> {
        let mut left = self.bytes_left()?;
        loop {
            self.lines(change, CopyExtent::Offset(self.lines.offset + left))?;
            let more = self.bytes_left()?;
            if more <= REST_BYTES_MAX || more > left / 2 {
                return Ok(());
            }
            left = more;
        }
    }

    /// Returns how many bytes of the file are not copied yet.
    fn bytes_left(&self) -> Result<u64, StoreError> {
        let metadata = self.lines.source.get_ref().metadata();
        let length = metadata.map_err(StoreError::io("read", self.file))?.len();
        Ok(length.saturating_sub(self.lines.offset))
    }

    fn lines(&mut self, change: &mut dyn LineEdits, until: CopyExtent) -> Result<(), StoreError> {
        let failed = || StoreError::io("read", self.file);
        let mut held = Vec::new();
        let mut copy = io::BufWriter::new(&self.copy.file);
        while until.includes(self.lines.offset)
            && let Some(piece) = self.lines.next(&mut held).map_err(failed())?
        {
            let is_unfinished = !held.ends_with(b"\n") && matches!(piece, LinePiece::Line(_));
            if is_unfinished && until != CopyExtent::End {
                self.lines.put_back(&held).map_err(failed())?;
                break;
            }
            self.read.update(&held);
            let fate = match piece {
                LinePiece::Line(offset) => change.line(line_at(offset, &held))?,
                LinePiece::Part => LineFate::Stays,
            };
            match fate {
                LineFate::Stays => {}
                LineFate::Becomes(_) => self.counts.0 += 1,
                LineFate::Leaves => self.counts.1 += 1,
            }
            let written = match fate {
                LineFate::Stays => copy.write_all(&held),
                LineFate::Leaves => Ok(()),
                LineFate::Becomes(other) => {
                    copy.write_all(&other).and_then(|()| match is_unfinished {
                        true => Ok(()),
                        false => copy.write_all(b"\n"),
                    })
                }
            };
            written.map_err(StoreError::io("write", &self.copy.path))?;
        }
        copy.flush().map_err(StoreError::io("write", &self.copy.path))
    }

    /// Tells whether the file still begins with the bytes that were read, and continues from there.
    fn still_stands(&mut self) -> Result<bool, StoreError> {
        let failed = || StoreError::io("read", self.file);
        let source = &mut self.lines.source;
        if !is_still_at(source.get_ref(), self.file) {
            return Ok(false);
        }
        source.rewind().map_err(failed())?;
        let (mut now, mut left) = (Sha256::new(), self.lines.offset);
        while left > 0 {
            let block = source.fill_buf().map_err(failed())?;
            let count = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            if count == 0 {
                return Ok(false);
            }
            now.update(block.get(..count).unwrap_or_default());
            left -= lines::bytes_u64(count);
            source.consume(count);
        }
        Ok(now.finalize() == self.read.clone().finalize())
    }

    fn put_in_place(
        mut self,
        change: &mut dyn LineEdits,
        turn: &FileLock,
        lock: &Path,
    ) -> Result<(), StoreError> {
        if let Some(dated) = self.copy.dated {
            self.copy.file.set_modified(dated).map_err(StoreError::io("date", &self.copy.path))?;
        }
        self.copy.sync()?;
        change.seal()?;
        let chain = self.chain(change.reason(), turn, lock);
        std::fs::rename(&self.copy.path, self.file)
            .map_err(StoreError::io("replace", self.file))?;
        self.copy.is_in_place = true;
        if let Some(chain) = chain {
            // The next process that needs the chain finds out which one fits the log.
            let _ = chain.finish(turn);
        }
        // Programs that ignore the lock may have appended these lines.
        let before = self.lines.offset;
        self.lines(change, CopyExtent::End)?;
        if self.lines.offset > before {
            self.copy.sync()?;
        }
        sync::names_of(self.file)
    }
}

impl CopyRun<'_> {
    /// Prepares the chain of the new log. Only logs have one. A failure must not keep a secret in a log; `verify`
    /// then reports the difference.
    fn chain(&self, reason: RewriteReason, turn: &FileLock, lock: &Path) -> Option<RewrittenChain> {
        let (log, new) = (self.file, &self.copy.path);
        let is_log = lock == lock::path_of(log);
        let counts = self.counts;
        let resettling = ChainRewrite { turn, log, new, reason, counts };
        is_log.then(|| resettling.prepare().ok().flatten()).flatten()
    }
}

/// Creates the hidden file with the mode and owner of the log.
fn make_copy(path: &Path, like: &Metadata) -> io::Result<Copy> {
    let copy =
        Copy { path: path.to_owned(), file: make_anew(path)?, dated: None, is_in_place: false };
    owned_like(&copy.file, like)?;
    copy.file.set_permissions(like.permissions())?;
    Ok(copy)
}

/// Creates a private file for appending. An existing file with that name is removed and never written to.
pub(super) fn make_anew(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.create_new(true).append(true);
    open_private(&mut options, path)
}

/// Gives a file the owner of another file.
pub(super) fn owned_like(file: &File, like: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let made = file.metadata()?;
        if (made.uid(), made.gid()) != (like.uid(), like.gid()) {
            fchown(file, Some(like.uid()), Some(like.gid()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (file, like);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::lines::{LINE_BYTES_MAX, lines_of};
    use super::*;
    use crate::edit::rewrite;

    struct RewriteFixture {
        _folder: tempfile::TempDir,
        store: Store,
        log: PathBuf,
    }

    impl RewriteFixture {
        fn with(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path().join("logs"));
            store.ensure().unwrap();
            let log = store.root().join("a.jsonl");
            std::fs::write(&log, text).unwrap();
            Self { _folder: folder, store, log }
        }

        /// Rewrites `secret` to `*` and calls `meanwhile` at each line.
        fn rewrite(&self, mut meanwhile: impl FnMut(&LogLine<'_>)) -> Result<(), StoreError> {
            rewrite(&self.store, &self.log, &mut |line| {
                meanwhile(&line);
                (line.bytes == b"secret").then(|| b"*".to_vec())
            })
        }

        fn text(&self) -> String {
            std::fs::read_to_string(&self.log).unwrap()
        }

        fn append(&self, text: &str) {
            let mut file = OpenOptions::new().append(true).open(&self.log).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn files(&self) -> Vec<String> {
            let names = std::fs::read_dir(self.store.root()).unwrap();
            let mut names: Vec<String> =
                names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    // S-SCRUB-2
    #[test]
    fn only_the_lines_that_change_do() {
        for (text, expected) in [
            ("one\nsecret\r\nsecret\n\n\0two\nhalf", "one\nsecret\r\n*\n\n\0two\nhalf"),
            ("secret", "*"),
            ("secret\nsecret\n", "*\n*\n"),
            ("", ""),
        ] {
            let world = RewriteFixture::with(text);
            world.rewrite(|_| ()).unwrap();
            assert_eq!(world.text(), expected);
            assert_eq!(world.files(), [".locks", "a.jsonl"]);
        }
    }

    // S-SCRUB-2
    #[test]
    fn lines_appended_during_a_rewrite_are_kept() {
        let world = RewriteFixture::with("secret\nhalf");
        let mut left = vec![" of it\n", "secret\n", "last"];
        world
            .rewrite(|_| {
                if !left.is_empty() {
                    world.append(left.remove(0));
                }
            })
            .unwrap();
        assert_eq!(world.text(), "*\nhalf of it\n*\nlast");
    }

    // S-SCRUB-2
    #[test]
    fn a_log_that_keeps_changing_is_left_alone_in_the_end() {
        let world = RewriteFixture::with("one\nsecret\n");
        let mut times = 0;
        let replace = |line: &LogLine<'_>| {
            if line.offset == 0 && times == 0 {
                times += 1;
                let other = world.log.with_extension("other");
                std::fs::write(&other, "two\nsecret\n").unwrap();
                std::fs::rename(&other, &world.log).unwrap();
            }
        };
        world.rewrite(replace).unwrap();
        assert_eq!(world.text(), "two\n*\n");
        std::fs::write(&world.log, "a\nsecret\n").unwrap();
        let mut letters = ('b'..='z').cycle();
        let change = |line: &LogLine<'_>| {
            if line.offset == 0 {
                std::fs::write(&world.log, format!("{}\nsecret\n", letters.next().unwrap()))
                    .unwrap();
            }
        };
        assert!(world.rewrite(change).unwrap_err().to_string().contains("try again"));
        assert!(world.text().ends_with("\nsecret\n"));
        assert_eq!(world.files(), [".locks", "a.jsonl"], "no copy is left behind");
    }

    #[cfg(unix)]
    // S-SCRUB-2
    #[test]
    fn the_mode_stays_and_nothing_is_written_through_planted_names() {
        use std::os::unix::fs::PermissionsExt;
        let world = RewriteFixture::with("secret\n");
        let target = world.store.root().join("target");
        std::fs::write(&target, "mine").unwrap();
        std::fs::hard_link(&target, world.store.root().join(".a.jsonl.rewrite")).unwrap();
        let mode = || std::fs::metadata(&world.log).unwrap().permissions().mode() & 0o777;
        for expected in [0o600, 0o640] {
            world.append("secret\n");
            std::fs::set_permissions(&world.log, std::fs::Permissions::from_mode(expected))
                .unwrap();
            world.rewrite(|_| ()).unwrap();
            assert_eq!(mode(), expected);
        }
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
        std::fs::remove_file(&world.log).unwrap();
        std::fs::hard_link(&target, &world.log).unwrap();
        assert!(matches!(world.rewrite(|_| ()), Err(StoreError::NotALog { .. })));
    }

    // S-SCRUB-2
    #[test]
    fn a_waiting_write_with_the_longest_name_is_rewritten() {
        let world = RewriteFixture::with("");
        let folder = world.store.ensure_folder(spool::SPOOL).unwrap();
        let file = folder.join(format!("{}@{}.jsonl", "k".repeat(209), "0".repeat(32)));
        std::fs::write(&file, "secret\n").unwrap();
        rewrite(&world.store, &file, &mut |_| Some(b"*".to_vec())).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "*\n");
    }

    // S-SCRUB-2, S-VERIFY-2
    #[test]
    fn a_quarantine_is_not_rewritten_while_somebody_adds_to_it() {
        let world = RewriteFixture::with("torn");
        let mut quarantine = quarantine::Quarantine::open(&world.store, &world.log).unwrap();
        let line =
            quarantine::DamagedLine { offset: 0, reason: "r", bytes: b"torn", line_bytes: 4 };
        quarantine.keep(line).unwrap();
        let file = world.store.quarantines().unwrap().remove(0);
        let mut all = |_: LogLine<'_>| Some(b"*".to_vec());
        let error = rewrite(&world.store, &file, &mut all).unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
        drop(quarantine);
        // Appenders of the log do not wait for it.
        let _turn = FileLock::acquire(&lock::path_of(&world.log), 0).unwrap();
        rewrite(&world.store, &file, &mut all).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "*\n");
    }

    #[test]
    fn appenders_wait_only_for_the_end() {
        let world = RewriteFixture::with("one\nsecret\n");
        let lock = lock::path_of(&world.log);
        let mut free = 0;
        world.rewrite(|_| free += usize::from(FileLock::acquire(&lock, 0).is_ok())).unwrap();
        assert_eq!(free, 2, "both lines were handed out without the lock");
    }

    // S-SCRUB-2
    #[test]
    fn it_ends_beside_a_writer_that_is_always_faster() {
        let world = RewriteFixture::with("secret\n");
        let lock = lock::path_of(&world.log);
        let more =
            format!("{}\nsecret\n", "x".repeat(usize::try_from(REST_BYTES_MAX).unwrap() + 1));
        let mut appended = 0;
        let append = |_: &LogLine<'_>| {
            if FileLock::acquire(&lock, 0).is_ok() {
                world.append(&more);
                appended += 1;
            }
        };
        world.rewrite(append).unwrap();
        assert!(appended > 0);
        let stars = world.text().lines().filter(|line| *line == "*").count();
        assert_eq!((stars, world.text().contains("secret")), (appended + 1, false));
    }

    // S-SCRUB-2
    #[test]
    fn appenders_do_not_wait_for_what_was_appended_meanwhile_either() {
        let line = format!("{}\n", "x".repeat(usize::try_from(REST_BYTES_MAX).unwrap()));
        let world = RewriteFixture::with(&line.repeat(4));
        let lock = lock::path_of(&world.log);
        let (mut handed, mut free) = (0, 0);
        let meanwhile = |_: &LogLine<'_>| {
            handed += 1;
            free += usize::from(FileLock::acquire(&lock, 0).is_ok());
            if handed == 1 {
                world.append(&line.replace('x', "yy"));
            }
        };
        world.rewrite(meanwhile).unwrap();
        assert_eq!((handed, free), (5, 5));
    }

    #[test]
    fn a_line_past_the_bound_is_copied_as_it_is() {
        let long = "x".repeat(LINE_BYTES_MAX + 10);
        let world = RewriteFixture::with(&format!("secret\n{long}\nsecret\n"));
        let mut seen = Vec::new();
        let too_long = lines_of(&world.log, |line| seen.push(line.offset)).unwrap();
        assert_eq!((too_long, seen.len()), (1, 2));
        world.rewrite(|_| ()).unwrap();
        assert!(world.text() == format!("*\n{long}\n*\n"));
    }
}
