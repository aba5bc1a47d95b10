//! The thread that watches the known work trees, so that a memory is known as stale before anybody asks. What the system
//! reports of files is a hint; what counts is whether anything differs that the last look depends on. Hints may be missing, so
//! the work trees are also compared now and then. While nobody is attached it watches nothing. Not here: a look
//! (`known_tree`), what is reported (`stale_events`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use engine::watch::{FolderHint, FolderWatch};
use search::snapshot::Snapshot;

use super::known_tree::{KnownTree, TreeLook};
use super::merge_state::GitPatience;
use super::moved_state::FollowedNames;
use super::stale_events::ReportedTree;
use crate::journal::Journal;
use crate::journal::agent_delivery::DeliveryJournal;
use crate::local::Core;

/// How long it waits after a hint for others: a checkout writes many files, and git moves `HEAD` last.
const SETTLE_MS: u64 = 300;

/// How often work trees are compared without a hint, where the system reports changes and where it does not.
const COMPARE_MS: u64 = 10_000;
const COMPARE_UNWATCHED_MS: u64 = 2_000;

/// How often it is checked whether somebody is attached, while nobody is.
const UNATTENDED_MS: u64 = 2_000;

/// A look is followed by a pause of so many times its length: it takes at most a twentieth of a processor.
const PAUSE_PER_LOOK: u32 = 19;

/// The longest pause: a slow git must not keep listeners waiting for long.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Most folders that are watched, of all work trees together. Systems allow a user some thousand. Where there are more, the
/// work trees are compared every [`COMPARE_UNWATCHED_MS`] instead.
const FOLDERS_MAX: usize = 1_024;

/// Most paths that wait for the thread; of more, anything may have happened.
const HINTS_MAX: usize = 4_096;

/// Starts the thread. It ends with `core`. `is_attended` tells whether somebody is attached.
pub fn start(core: &Arc<Core>, is_attended: impl Fn() -> bool + Send + 'static) {
    let hints = Arc::new(Mutex::new(Hints::default()));
    let (watching, core_of_thread, given) =
        (core.watching, Arc::downgrade(core), Arc::clone(&hints));
    let run = move || {
        let thread = std::thread::current();
        let watch = FolderWatch::start(watching, move |hint| {
            lock(&given).add(hint);
            thread.unpark();
        });
        let watcher = StaleWatcher {
            core: core_of_thread,
            hints,
            watch,
            is_all_watched: false,
            seen: BTreeMap::new(),
        };
        watcher.run(is_attended);
    };
    // Without a thread memories are found stale when somebody asks.
    if let Ok(handle) = std::thread::Builder::new().name("stale".to_owned()).spawn(run) {
        let _ = core.work_trees.watcher.set(handle.thread().clone());
    }
}

/// What the system reported since the last look.
#[derive(Debug, Default)]
struct Hints {
    paths: BTreeSet<PathBuf>,
    is_anything: bool,
}

impl Hints {
    fn add(&mut self, hint: FolderHint) {
        match hint {
            FolderHint::At(path) if self.paths.len() < HINTS_MAX => drop(self.paths.insert(path)),
            FolderHint::At(_) | FolderHint::Anything => self.is_anything = true,
        }
    }
}

fn lock(hints: &Mutex<Hints>) -> MutexGuard<'_, Hints> {
    // No code panics while holding the lock, so the data is valid.
    hints.lock().unwrap_or_else(PoisonError::into_inner)
}

struct StaleWatcher {
    core: Weak<Core>,
    hints: Arc<Mutex<Hints>>,
    watch: FolderWatch,
    is_all_watched: bool,
    /// What is known of each work tree, by its top.
    seen: BTreeMap<PathBuf, SeenTree>,
}

struct SeenTree {
    tree: Arc<KnownTree>,
    /// The last look; `None` before the first.
    look: Option<Arc<TreeLook>>,
    /// `None` where there is no journal.
    reported: Option<ReportedTree>,
}

impl StaleWatcher {
    fn run(mut self, is_attended: impl Fn() -> bool) {
        let mut compared: Option<Instant> = None;
        loop {
            if !is_attended() {
                self.watch.watch_exactly(&BTreeSet::new());
                compared = None;
                std::thread::park_timeout(Duration::from_millis(UNATTENDED_MS));
                if self.core.strong_count() == 0 {
                    return;
                }
                continue;
            }
            let due = self.compare_after(compared);
            if !due.is_zero() && !self.is_hinted() {
                std::thread::park_timeout(due);
            }
            pause(Duration::from_millis(SETTLE_MS));
            let Some(core) = self.core.upgrade() else { return };
            let began = Instant::now();
            let is_due = self.compare_after(compared).is_zero();
            if is_due {
                compared = Some(began);
            }
            self.look(&core, is_due);
            // Nothing is held during the pause: the end waits for it.
            drop(core);
            pause((began.elapsed() * PAUSE_PER_LOOK).min(PAUSE_MAX));
        }
    }

    /// How long it takes until the work trees are compared without a hint.
    fn compare_after(&self, compared: Option<Instant>) -> Duration {
        let every_ms = if self.is_all_watched { COMPARE_MS } else { COMPARE_UNWATCHED_MS };
        let passed = compared.map_or(Duration::MAX, |compared| compared.elapsed());
        Duration::from_millis(every_ms).saturating_sub(passed)
    }

    fn is_hinted(&self) -> bool {
        let hints = lock(&self.hints);
        hints.is_anything || !hints.paths.is_empty()
    }

    /// Compares the work trees that something happened to, or all, and tells what that leads to.
    fn look(&mut self, core: &Core, is_due: bool) {
        let hints = std::mem::take(&mut *lock(&self.hints));
        hints.paths.iter().for_each(|path| self.watch.record_change(path));
        let trees = core.work_trees.all();
        // A work tree that belongs to another repository now is another one.
        self.seen.retain(|_, seen| trees.iter().any(|tree| Arc::ptr_eq(tree, &seen.tree)));
        let is_of_logs = hints.paths.iter().any(|path| path.starts_with(core.store.root()));
        let is_all = is_due || is_of_logs || hints.is_anything;
        let is_news = |tree: &&Arc<KnownTree>| {
            let look = self.seen.get(tree.top()).and_then(|seen| seen.look.as_ref());
            is_all || look.is_none_or(|look| hints.paths.iter().any(|path| matters(path, look)))
        };
        let due: Vec<Arc<KnownTree>> = trees.iter().filter(is_news).cloned().collect();
        if due.is_empty() {
            if !hints.paths.is_empty() {
                // The watch of a folder may have ended with what happened to it.
                self.plan(core);
            }
            return;
        }
        let Ok(snapshot) = core.engine.snapshot_for_upkeep() else { return };
        for tree in &due {
            self.look_at(tree, core, &snapshot);
        }
        self.plan(core);
    }

    fn look_at(&mut self, tree: &Arc<KnownTree>, core: &Core, snapshot: &Snapshot) {
        let Some(look) = tree.look((core.clock)().now, snapshot) else {
            core.work_trees.forget(tree);
            self.seen.remove(tree.top());
            return;
        };
        // The next search then finds it known.
        let _ = tree.unmerged(&look.place, snapshot, ((core.clock)().now, GitPatience::Watcher));
        let all = (&[][..], FollowedNames::FoldersAndFiles);
        let _ = tree.moved(&look.place, snapshot, all, ((core.clock)().now, GitPatience::Watcher));
        let journal = core.delivery_journal.as_ref().map(DeliveryJournal::journal);
        let seen = self.seen.entry(tree.top().to_owned()).or_insert_with(|| SeenTree {
            tree: Arc::clone(tree),
            look: None,
            reported: journal.map(|journal: &Journal| ReportedTree::read(journal, tree)),
        });
        let is_reported = seen.look.as_ref().is_some_and(|last| Arc::ptr_eq(last, &look));
        if !is_reported && let (Some(reported), Some(journal)) = (&mut seen.reported, journal) {
            // What could not be reported is reported with the next look.
            let is_reported = reported.report(&look, journal, (core.clock)().now);
            seen.look = is_reported.then_some(look);
        } else {
            seen.look = Some(look);
        }
    }

    /// Watches what the last looks depend on.
    fn plan(&mut self, core: &Core) {
        let mut folders = BTreeSet::from([core.store.root().to_owned()]);
        let looks = || self.seen.values().filter_map(|seen| seen.look.as_ref());
        // A commit or a checkout matters most.
        let wanted = looks().flat_map(|look| git_folders(look));
        let wanted = wanted.chain(looks().flat_map(|look| file_folders(look)));
        let mut is_whole = true;
        for folder in wanted {
            is_whole = folders.len() < FOLDERS_MAX || folders.contains(&folder);
            if !is_whole {
                break;
            }
            folders.insert(folder);
        }
        if self.watch.watch_exactly(&folders) {
            // It may have changed between the look and now.
            lock(&self.hints).is_anything = true;
        }
        self.is_all_watched = is_whole && self.watch.watches_all(&folders);
    }
}

/// Tells whether a look depends on a path.
fn matters(path: &Path, look: &TreeLook) -> bool {
    let top = &*look.place.top;
    if let Some(git) = look.place.git() {
        let is_ref = path.starts_with(git.common_dir.join("refs"))
            || path.starts_with(git.common_dir.join("reftable"))
            || path.starts_with(git.git_dir.join("reftable"));
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        if path == git.git_dir.join("HEAD")
            || path == git.common_dir.join("packed-refs")
            || (is_ref && !is_lock)
        {
            return true;
        }
    }
    let Ok(path) = path.strip_prefix(top) else { return false };
    // A folder above a file may be gone, or come.
    look.files.iter().any(|file| Path::new(file).starts_with(path))
}

/// The folders where git notes which commit is checked out.
fn git_folders(look: &TreeLook) -> Vec<PathBuf> {
    let Some(git) = look.place.git() else { return Vec::new() };
    let heads = git.common_dir.join("refs/heads");
    let of_branch = git.branch.as_ref().map(|branch| heads.join(branch));
    let of_branch = of_branch.and_then(|file| file.parent().map(Path::to_owned));
    let reftables = [&git.common_dir, &git.git_dir].map(|folder| folder.join("reftable"));
    let folders = [git.git_dir.clone(), git.common_dir.clone(), heads].into_iter().chain(reftables);
    folders.chain(of_branch).filter(|folder| folder.is_dir()).collect()
}

/// The folders of the files that memories name, or the nearest ones above that are there.
fn file_folders(look: &TreeLook) -> BTreeSet<PathBuf> {
    let top = &*look.place.top;
    let above = |file: &String| {
        let file = top.join(file);
        let above = file.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
        above.map(Path::to_owned).find(|folder| is_plain_folder(folder))
    };
    look.files.iter().filter_map(above).collect()
}

/// A link may lead out of the work tree.
fn is_plain_folder(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Pauses for so long, whoever wakes this thread.
fn pause(length: Duration) {
    let began = Instant::now();
    while let Some(left) = length.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}
