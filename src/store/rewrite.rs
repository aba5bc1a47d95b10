//! Rewriting a log in its place, so that at every moment the old one or the new one is there, whole.
//! Not here: what is changed in it (`retriever::upkeep::scrub`, `archive`).
//!
//! Most of the work is done without the lock, so that no appender waits for it: lines are copied into
//! a hidden file beside the log. Then, under the appenders' lock, it is made sure that what was read
//! still stands, the rest is copied, the copy put on the disk and renamed over the log. Appenders look
//! after locking which file has the name. A program that knows no lock and had the old file open may
//! have written meanwhile; what it wrote by the time of the renaming is copied too.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, Seek, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::layout::is_still_at;
use super::lines::{self, LinePiece, Lines, line_at};
use super::lock::{self, FileLock};
use super::{LogLine, Store, StoreError, layout, quarantine, spool, sync};

/// How often the rewriting starts over because somebody changed what had been read.
const REPLACED_TRIES_MAX: usize = 3;

/// How much may always be left to be copied while appenders wait, in bytes.
const REST_BYTES_MAX: u64 = 1024 * 1024;

/// Rewrites a file of a store: each line for which `change` returns other bytes is replaced by them,
/// everything else stays as it is. `change` is given what [`super::lines_of`] gives; where it starts over,
/// because somebody changed the file meanwhile, it is given the line at offset 0 again.
///
/// # Errors
/// [`StoreError`]; the file is then as it was, or rewritten and perhaps not on the disk yet.
pub fn rewrite(
    store: &Store,
    file: &Path,
    change: &mut dyn FnMut(LogLine<'_>) -> Option<Vec<u8>>,
) -> Result<(), StoreError> {
    store.ensure()?;
    #[cfg(feature = "archive")]
    if super::archive::is_segment(file) {
        return super::archive::reseal(store, file, change);
    }
    let lock = lock_of(store, file);
    // One rewriting at a time: they share the name of the copy.
    let _only = FileLock::take(&lock.with_extension("rewrite"), lock::WAIT_MS_MAX)?;
    for _ in 0..REPLACED_TRIES_MAX {
        match attempt(file, &lock, &mut Replacing(change))? {
            Attempt::Done => return Ok(()),
            Attempt::Changed => {}
        }
    }
    let why = "another program keeps changing what is in it; try again";
    Err(StoreError::io("rewrite", file)(io::Error::other(why)))
}

/// What becomes of a line.
pub(super) enum LineFate {
    /// It stays as it is.
    Stays,
    /// Other bytes stand in its place.
    Becomes(Vec<u8>),
    /// It stands there no more.
    #[cfg_attr(
        not(feature = "archive"),
        expect(dead_code, reason = "only archiving takes lines out")
    )]
    Leaves,
}

/// What a rewriting changes.
pub(super) trait LineEdits {
    /// Tells what becomes of the next line.
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError>;

    /// Everything was read that stood there when it began. What is long work is done now, since after
    /// this appenders wait.
    fn before_the_lock(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Under the lock: what was read still stands, and the copy takes its place right after this.
    fn seal(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Changes lines and nothing else.
struct Replacing<'a>(&'a mut dyn FnMut(LogLine<'_>) -> Option<Vec<u8>>);

impl LineEdits for Replacing<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError> {
        Ok((self.0)(line).map_or(LineFate::Stays, LineFate::Becomes))
    }
}

/// How a rewriting ended.
pub(super) enum Attempt {
    /// It took the file's place, or there is no file.
    Done,
    /// Somebody changed what had been read; the file is as they left it.
    Changed,
}

/// Rewrites a file once. Whoever calls it holds the lock of those who rewrite; `lock` is that of those
/// who append.
pub(super) fn attempt(
    file: &Path,
    lock: &Path,
    change: &mut dyn LineEdits,
) -> Result<Attempt, StoreError> {
    let Some(mut copying) = Copying::begin(file)? else { return Ok(Attempt::Done) };
    copying.most(change)?;
    // What is on the disk already need not be waited for under the lock.
    copying.copy.sync()?;
    change.before_the_lock()?;
    let _turn = FileLock::take(lock, lock::WAIT_MS_MAX)?;
    if !copying.still_stands()? {
        return Ok(Attempt::Changed);
    }
    copying.lines(change, Until::End)?;
    copying.put_in_place(change)?;
    Ok(Attempt::Done)
}

/// Returns the lock of whoever adds to a file: of a quarantine its own, of what waits that of its log.
pub(super) fn lock_of(store: &Store, file: &Path) -> PathBuf {
    quarantine::lock_of(file).unwrap_or_else(|| lock::path_of(&store.log_of(&Store::repo_of(file))))
}

/// Bytes that a file's name may have on every usual file system.
const NAME_BYTES_MAX: usize = 255;

/// Returns where the copy of a file is made: hidden beside it. Under a hash where the name has no room.
fn copy_of(file: &Path) -> PathBuf {
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
enum Until {
    /// Lines that begin before this. The last one may not be finished: leave it.
    Offset(u64),
    /// The last line with it.
    End,
}

impl Until {
    fn is_past(self, offset: u64) -> bool {
        match self {
            Self::Offset(end) => offset < end,
            Self::End => true,
        }
    }
}

/// A copy in the making.
struct Copying<'a> {
    file: &'a Path,
    lines: Lines,
    /// Of everything read so far.
    read: Sha256,
    copy: Copy,
}

/// The hidden file beside the log; removed unless it takes the log's place.
struct Copy {
    path: PathBuf,
    file: File,
    is_in_place: bool,
}

impl Copy {
    fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_all().map_err(StoreError::io("put on the disk", &self.path))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if !self.is_in_place {
            // One that stays behind is no log, and the next rewriting removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl<'a> Copying<'a> {
    fn begin(file: &'a Path) -> Result<Option<Self>, StoreError> {
        let Some((opened, metadata)) = lines::open(file)? else { return Ok(None) };
        let path = copy_of(file);
        let copy = make_copy(&path, &metadata).map_err(StoreError::io("make", &path))?;
        if let Some(folder) = path.parent().filter(|folder| folder.ends_with(spool::SPOOL)) {
            let now = copy.file.metadata().and_then(|metadata| metadata.modified()).ok();
            spool::remove_unfinished(folder, now);
        }
        Ok(Some(Self { file, lines: Lines::of(opened), read: Sha256::new(), copy }))
    }

    /// Copies what is there without the lock, and what was appended meanwhile, until little is left. Writers that never
    /// pause may be as fast as the copying: then they have to wait, and what cannot wait goes to the spool.
    fn most(&mut self, change: &mut dyn LineEdits) -> Result<(), StoreError> {
        let mut left = self.left()?;
        loop {
            self.lines(change, Until::Offset(self.lines.offset + left))?;
            let more = self.left()?;
            if more <= REST_BYTES_MAX || more > left / 2 {
                return Ok(());
            }
            left = more;
        }
    }

    /// How much of the file is not copied yet, in bytes.
    fn left(&self) -> Result<u64, StoreError> {
        let metadata = self.lines.source.get_ref().metadata();
        let length = metadata.map_err(StoreError::io("read", self.file))?.len();
        Ok(length.saturating_sub(self.lines.offset))
    }

    fn lines(&mut self, change: &mut dyn LineEdits, until: Until) -> Result<(), StoreError> {
        let failed = || StoreError::io("read", self.file);
        let mut held = Vec::new();
        let mut copy = io::BufWriter::new(&self.copy.file);
        while until.is_past(self.lines.offset)
            && let Some(piece) = self.lines.next(&mut held).map_err(failed())?
        {
            let is_unfinished = !held.ends_with(b"\n") && matches!(piece, LinePiece::Line(_));
            if is_unfinished && until != Until::End {
                self.lines.put_back(&held).map_err(failed())?;
                break;
            }
            self.read.update(&held);
            let fate = match piece {
                LinePiece::Line(offset) => change.line(line_at(offset, &held))?,
                LinePiece::Part => LineFate::Stays,
            };
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

    /// Tells whether what was read is still what the file begins with. Goes on from there.
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

    fn put_in_place(mut self, change: &mut dyn LineEdits) -> Result<(), StoreError> {
        self.copy.sync()?;
        change.seal()?;
        std::fs::rename(&self.copy.path, self.file)
            .map_err(StoreError::io("put the rewritten lines in the place of", self.file))?;
        self.copy.is_in_place = true;
        // From programs that know no lock.
        let before = self.lines.offset;
        self.lines(change, Until::End)?;
        if self.lines.offset > before {
            self.copy.sync()?;
        }
        sync::names_of(self.file)
    }
}

/// Makes the hidden file, with the mode and owner of the log.
fn make_copy(path: &Path, like: &Metadata) -> io::Result<Copy> {
    let copy = Copy { path: path.to_owned(), file: make_anew(path)?, is_in_place: false };
    owned_like(&copy.file, like)?;
    copy.file.set_permissions(like.permissions())?;
    Ok(copy)
}

/// Makes a private file to append to. Nothing is written into one that is there already: what stands under the name
/// is only ever removed.
pub(super) fn make_anew(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.create_new(true).append(true);
    layout::private(&mut options);
    options.open(path)
}

/// Gives a file the owner of another.
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

        /// Rewrites `secret` to `*`; `meanwhile` happens at each line.
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
    fn what_is_appended_while_it_works_is_kept_also_by_programs_that_know_no_lock() {
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
    fn a_log_that_changes_under_it_is_read_again_and_at_last_left_alone() {
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
        let mut quarantine = quarantine::Quarantine::of(&world.store, &world.log).unwrap();
        let line = quarantine::Damaged { offset: 0, reason: "r", bytes: b"torn", line_bytes: 4 };
        quarantine.keep(line).unwrap();
        let file = world.store.quarantines().unwrap().remove(0);
        let mut all = |_: LogLine<'_>| Some(b"*".to_vec());
        let error = rewrite(&world.store, &file, &mut all).unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
        drop(quarantine);
        // Appenders of the log are not held off by it.
        let _turn = FileLock::take(&lock::path_of(&world.log), 0).unwrap();
        rewrite(&world.store, &file, &mut all).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "*\n");
    }

    #[test]
    fn appenders_wait_only_for_the_end() {
        let world = RewriteFixture::with("one\nsecret\n");
        let lock = lock::path_of(&world.log);
        let mut free = 0;
        world.rewrite(|_| free += usize::from(FileLock::take(&lock, 0).is_ok())).unwrap();
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
            if FileLock::take(&lock, 0).is_ok() {
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
            free += usize::from(FileLock::take(&lock, 0).is_ok());
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
