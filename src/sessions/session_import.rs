//! From the transcripts on the disk to what is kept of them. [`ImportPlan::make`] looks which files are new or changed, and
//! opens none of those; [`ImportPlan::run`] reads them on several threads and writes them in the order of the plan, so that
//! the result does not depend on the threads. Not here: reading a file (`readers`), the tables (`session_rows`).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::file_rows::{ExcludedSessions, KnownFile};
use super::file_state::{FileStat, TranscriptChange, TranscriptState};
use super::import_scope::ImportScope;
use super::kept_session::kept_session;
use super::listed_file::{ListedFile, keep_roots, listed_files};
use super::read_queue::ReadQueue;
use super::repo_of_session::SessionRepos;
use super::row_text::{file_key, shown_file};
use super::session_store::{SessionError, SessionStore};
use super::session_writes::{
    GoneMark, PackedSession, WrittenSession, file_row, keep_file, keep_session, mark_gone,
};
use transcripts::exchange::{ExchangeBuilder, SessionRead};
use transcripts::source::{ReadError, Resume, TranscriptFile, TranscriptPlaces, TranscriptReader};
use transcripts::transcript::Census;

/// Files that are read but not yet written, beside the one that each thread reads. Each is small once it is read: a hundredth
/// of its size.
const QUEUE_FILES: usize = 4;

/// Bytes of transcripts whose exchanges are written in one transaction.
const BATCH_BYTES: u64 = 64 << 20;

/// The files of one tool, as far as the system tells without opening them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFiles {
    /// How many.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the oldest was last written, in nanoseconds since 1970.
    pub oldest_ns: Option<i64>,
    /// How many are new or have changed, and their bytes.
    pub changed: u64,
    /// The bytes of those.
    pub changed_bytes: u64,
    /// When the oldest of those was last written, in nanoseconds since 1970.
    pub oldest_unread_ns: Option<i64>,
    /// Roots that could not be listed, with the reason.
    pub errors: Vec<String>,
}

/// What an import would do.
pub struct ImportPlan {
    /// The files of each tool that has any, by name.
    pub tools: BTreeMap<&'static str, ToolFiles>,
    todo: Vec<PlannedFile>,
    /// Files that no longer exist, and files that exist again.
    gone: Vec<i64>,
    back: Vec<i64>,
    /// Where files were found of which that is not kept yet.
    roots: Vec<(i64, i64)>,
    scope: ImportScope,
}

struct PlannedFile {
    reader: &'static dyn TranscriptReader,
    file: TranscriptFile,
    /// The key of the folder that was listed to find it.
    root: i64,
    stat: FileStat,
    resume: Option<Resume>,
    ordinal: u32,
    /// Sessions left out of what was read before.
    left_out: u64,
}

/// How far an import is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// Files that were read, and that will be.
    pub files: usize,
    /// All of them.
    pub files_total: usize,
    /// Their bytes.
    pub bytes: u64,
    /// All bytes.
    pub bytes_total: u64,
    /// Sessions that were new or have changed.
    pub sessions: u64,
    /// Exchanges that were new or have changed.
    pub exchanges: u64,
    /// Exchanges that other sessions had already.
    pub copied: u64,
    /// Sessions that were left out: excluded, or of no repository.
    pub left_out: u64,
    /// Sessions that the person forgot, which are not kept again.
    pub forgotten: u64,
    /// How the records were recognised.
    pub census: Census,
    /// Files that could not be read to their end, with the reason.
    pub errors: Vec<String>,
    /// The rows of sessions that are new or have changed.
    pub changed: BTreeSet<u32>,
}

impl ImportPlan {
    /// Looks for transcripts, and which of them are new or have changed. Files that were never read are not opened.
    ///
    /// # Errors
    /// [`SessionError`] if what is kept cannot be read.
    pub fn make(
        readers: &[&'static dyn TranscriptReader],
        places: &TranscriptPlaces<'_>,
        kept: Option<&SessionStore>,
        mut scope: ImportScope,
    ) -> Result<Self, SessionError> {
        scope.work_trees.clone_from(&places.work_trees);
        let mut known = kept.map(SessionStore::known_files).transpose()?.unwrap_or_default();
        let (mut tools, mut todo, mut seen) = (BTreeMap::new(), Vec::new(), HashSet::new());
        let (mut back, mut roots, mut listed) = (Vec::new(), Vec::new(), HashSet::new());
        let choice = scope.choice();
        for reader in readers.iter().copied().filter(|reader| scope.has_tool(reader.tool().name)) {
            let mut found = ToolFiles::default();
            for listed_file in listed_files(reader, places, &scope, &mut listed, &mut found.errors)
            {
                let ListedFile { file, root } = &listed_file;
                if !seen.insert(file.path.clone()) {
                    continue;
                }
                let known = known.remove(&file_key(&file.path.to_string_lossy()));
                // A tool may bring back what it deleted, as it was; then it is not read again.
                back.extend(known.as_ref().filter(|known| known.is_gone).map(|known| known.row));
                let without_root = known.as_ref().filter(|known| known.root.is_none());
                roots.extend(without_root.map(|known| (known.row, *root)));
                if !scope.has_path(&file.path) {
                    continue;
                }
                let known = known.filter(|known| {
                    known.left_out.is_none_or(|left_out| left_out.choice == choice)
                });
                todo.extend(plan_file(reader, listed_file, known, &mut found));
            }
            if found != ToolFiles::default() {
                tools.insert(reader.tool().name, found);
            }
        }
        // The smaller file first: a copy of a session is never smaller than the session. Transcripts come before files of
        // prompts alone.
        todo.sort_by(|a, b| {
            let key = |planned: &PlannedFile| {
                (planned.reader.holds_only_prompts(&planned.file), planned.stat.size)
            };
            key(a).cmp(&key(b)).then_with(|| a.file.path.cmp(&b.file.path))
        });
        // Only who listed the folder of a file can say that it is not there.
        let is_gone = |file: &KnownFile| {
            !file.is_gone && file.root.is_some_and(|root| listed.contains(&root))
        };
        let gone = known.into_values().filter(is_gone).map(|file| file.row).collect();
        Ok(Self { tools, todo, gone, back, roots, scope })
    }

    /// Returns how many files are to be read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.todo.len()
    }

    /// Tells whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.todo.is_empty()
    }

    /// Reads the files of the plan and keeps what they hold. `watch` is called after each file; the import ends early,
    /// with all that was read kept, once `stop` is set. `threads` is at least one.
    ///
    /// # Errors
    /// [`SessionError`]. What was kept until then stays.
    pub fn run(
        self,
        kept: &mut SessionStore,
        threads: usize,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(&ImportProgress),
    ) -> Result<ImportProgress, SessionError> {
        let Self { todo, gone, back, roots, scope, .. } = self;
        kept.name_files_by_key()?;
        let mut progress = ImportProgress {
            files_total: todo.len(),
            bytes_total: todo.iter().map(|file| file.stat.size).sum(),
            ..<_>::default()
        };
        let error = kept.error();
        let marked = kept.connection.transaction().and_then(|write| {
            mark_gone(&write, &gone, GoneMark::Gone)?;
            mark_gone(&write, &back, GoneMark::Back)?;
            keep_roots(&write, &roots)?;
            write.commit()
        });
        marked.map_err(&error)?;
        let threads = threads.max(1);
        let queue = ReadQueue::new(&todo, threads + QUEUE_FILES, stop);
        std::thread::scope(|scope_of_threads| {
            let _end = queue.end_guard();
            // Threads that wait to deliver end when nobody receives.
            let (send, receive) = sync_channel(QUEUE_FILES);
            for _ in 0..threads {
                let (send, queue, scope) = (send.clone(), &queue, &scope);
                scope_of_threads.spawn(move || read_files(queue, scope, &send));
            }
            drop(send);
            write_files(kept, &queue, &receive, &mut progress, watch).map_err(error)
        })?;
        progress.changed.extend(kept.correct_repos(&mut SessionRepos::new(&scope))?);
        let changed: Vec<u32> = progress.changed.iter().copied().collect();
        kept.refresh_fixed_failures(&changed)?;
        Ok(progress)
    }
}

/// Plans the reading of a file, unless it has not changed.
fn plan_file(
    reader: &'static dyn TranscriptReader,
    ListedFile { file, root }: ListedFile,
    known: Option<KnownFile>,
    found: &mut ToolFiles,
) -> Option<PlannedFile> {
    let stat = FileStat::read(&file.path).ok()?;
    found.files += 1;
    found.bytes += stat.size;
    found.oldest_ns =
        Some(found.oldest_ns.map_or(stat.mtime_ns, |oldest| oldest.min(stat.mtime_ns)));
    let known = known.filter(|known| known.parser_version == reader.tool().parser_version);
    let changed = known.as_ref().map(|known| known.state.change_since(&file.path, stat));
    let changed = changed.transpose().ok()?.unwrap_or(TranscriptChange::Rewritten);
    if changed == TranscriptChange::Unchanged {
        return None;
    }
    found.changed += 1;
    found.changed_bytes += stat.size;
    let oldest = found.oldest_unread_ns.unwrap_or(stat.mtime_ns);
    found.oldest_unread_ns = Some(oldest.min(stat.mtime_ns));
    let grown = known.filter(|_| changed == TranscriptChange::Grown);
    let ordinal = grown.as_ref().map_or(0, |known| known.ordinal);
    let left_out = grown.as_ref().and_then(|known| known.left_out);
    let left_out = left_out.map_or(0, |left_out| left_out.sessions);
    let resume = grown.map(|known| known.resume);
    Some(PlannedFile { reader, file, root, stat, resume, ordinal, left_out })
}

/// A file that was read.
struct FileRead {
    place: usize,
    sessions: Vec<PackedSession>,
    left_out: u64,
    census: Census,
    /// The choice under which it was read.
    choice: i64,
    state: TranscriptState,
    resume: Resume,
    ordinal: u32,
    error: Option<String>,
}

/// Reads one file after the other until none is left.
fn read_files(
    queue: &ReadQueue<'_, PlannedFile>,
    scope: &ImportScope,
    send: &SyncSender<FileRead>,
) {
    let mut repos = SessionRepos::new(scope);
    let _end = queue.end_guard();
    while let Some((place, planned)) = queue.next() {
        if send.send(read_file(place, planned, scope, &mut repos)).is_err() {
            return;
        }
    }
}

fn read_file(
    place: usize,
    planned: &PlannedFile,
    scope: &ImportScope,
    repos: &mut SessionRepos<'_>,
) -> FileRead {
    let (tool, path, stat) = (planned.reader.tool().name, &planned.file.path, planned.stat);
    let as_it_was = || TranscriptState::read(path, stat, stat.size).ok();
    let before = as_it_was();
    let (mut sessions, mut left_out) = (Vec::new(), 0);
    let (mut last_offset, mut ordinal) = (None, planned.ordinal);
    let mut deliver = |session: SessionRead| {
        if let Some(last) = session.exchanges.last() {
            (last_offset, ordinal) = (session.last_offset, last.ordinal);
        }
        match kept_session(tool, session, scope, repos) {
            Some(session) => sessions.push(session),
            None => left_out += 1,
        }
    };
    let mut builder = ExchangeBuilder::new(planned.ordinal, &mut deliver);
    let outcome = planned.reader.read(&planned.file, planned.resume.as_ref(), &mut builder);
    let census = builder.finish();
    let (mut resume, error) = match outcome {
        Ok(resume) => (resume, None),
        Err(error) => (Resume::default(), Some(error)),
    };
    sessions.iter_mut().for_each(|session| session.is_cut_off |= error.is_some());
    let end = resume.offset;
    // A file that was rewritten meanwhile, or not read to its end, is read whole when it changes; one that the system
    // failed to read, also when it does not.
    let is_same = error.is_none() && (end == 0 || before == as_it_was());
    let state = TranscriptState::read(path, stat, end).ok().filter(|_| is_same);
    let stat =
        if error.as_ref().is_some_and(ReadError::may_pass) { FileStat::UNREAD } else { stat };
    let state = state.unwrap_or(TranscriptState { stat, head: 0, tail: 0, end: 0 });
    // The last exchange may go on, so the next reading begins with it.
    resume.offset = last_offset.unwrap_or(end).min(end);
    let choice = scope.choice();
    let error = error.map(|error| error.about(&shown_file(&planned.file.root, path)));
    FileRead { place, sessions, left_out, census, choice, state, resume, ordinal, error }
}

/// Writes the files in the order of the plan, in batches.
fn write_files(
    kept: &mut SessionStore,
    queue: &ReadQueue<'_, PlannedFile>,
    receive: &Receiver<FileRead>,
    progress: &mut ImportProgress,
    watch: &mut dyn FnMut(&ImportProgress),
) -> rusqlite::Result<()> {
    let (mut waiting, mut due) = (HashMap::new(), 0);
    let mut is_open = true;
    while is_open {
        let write = kept.connection.transaction()?;
        let mut batch_bytes = 0;
        while is_open && batch_bytes < BATCH_BYTES {
            let Ok(read) = receive.recv() else {
                is_open = false;
                break;
            };
            waiting.insert(read.place, read);
            while let Some((read, planned)) = waiting.remove(&due).zip(queue.file(due)) {
                due += 1;
                queue.advance(due);
                batch_bytes += planned.stat.size;
                write_file(&write, planned, read, progress)?;
                watch(progress);
            }
        }
        write.commit()?;
    }
    Ok(())
}

fn write_file(
    write: &rusqlite::Transaction<'_>,
    planned: &PlannedFile,
    read: FileRead,
    progress: &mut ImportProgress,
) -> rusqlite::Result<()> {
    let (tool, file) = (planned.reader.tool(), &planned.file);
    let key = file_key(&file.path.to_string_lossy());
    let row = file_row(write, &key, tool.name, planned.reader.holds_only_prompts(file))?;
    keep_roots(write, &[(row, planned.root)])?;
    progress.left_out += read.left_out;
    for session in read.sessions {
        let WrittenSession { new, copied, is_forgotten, row: session } =
            keep_session(write, row, tool.name, planned.ordinal, session)?;
        progress.sessions += u64::from(new > 0);
        progress.changed.extend(session.filter(|_| new > 0));
        progress.exchanges += new;
        progress.copied += copied;
        progress.forgotten += u64::from(is_forgotten);
    }
    let known = KnownFile {
        row,
        parser_version: tool.parser_version,
        state: read.state,
        resume: read.resume,
        ordinal: read.ordinal,
        left_out: Some(ExcludedSessions {
            sessions: planned.left_out + read.left_out,
            choice: read.choice,
        })
        .filter(|left_out| left_out.sessions > 0),
        is_gone: false,
        root: Some(planned.root),
    };
    keep_file(write, &known, &read.census, read.error.as_deref())?;
    progress.files += 1;
    progress.bytes += planned.stat.size;
    progress.census.add(&read.census);
    progress.errors.extend(read.error);
    Ok(())
}

#[cfg(test)]
#[path = "session_import_tests.rs"]
mod tests;
