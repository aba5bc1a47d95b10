//! Files of a memory that were written after it last held, or are gone, by a look at the work tree alone. Cheap enough for
//! every answer, and only a hint. Not here: the precise check with git (`check`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::tree::{is_gone, path_in, written_at};
use super::{NOT_ABOUT_FILES, last_held};
use event::{AGENT_FILE, EventId, Timestamp};
use memory::Memory;

/// The changed files of memories, by the ids of the memories.
pub type ChangedFiles = BTreeMap<EventId, Vec<String>>;

/// Most files that are checked for one answer: each check may wait for a disk.
const LOOKS_MAX: usize = 64;

/// Most of them for one memory, so that many files of one do not block others.
const LOOKS_OF_ONE_MAX: usize = 16;

/// How long a checkout may take. The times of files from a checkout say nothing.
const CHECKOUT: Duration = Duration::from_secs(10 * 60);

/// Finds the files of memories that were written after these last held, in the work tree `top` of their repository.
#[must_use]
pub fn changed_since<'a>(
    memories: impl Iterator<Item = &'a Arc<Memory>>,
    top: &Path,
) -> ChangedFiles {
    let mut changed = ChangedFiles::new();
    let Some(made) = first_checkout_end(top) else { return changed };
    let mut looks_left = LOOKS_MAX;
    for memory in memories {
        let Some(held) = last_held(memory) else { continue };
        let event = memory.event();
        let is_rule = event.tags.iter().any(|tag| tag == AGENT_FILE);
        let is_other = NOT_ABOUT_FILES.contains(&memory.provenance.kind.as_str());
        if is_rule || is_other || changed.contains_key(&memory.id) {
            continue;
        }
        // Lines have whole seconds, so a file of the memory's second is not newer.
        let is_later = |file: &&String| is_later(top, file, held.max(made));
        let looked_at = event.files.len().min(LOOKS_OF_ONE_MAX).min(looks_left);
        looks_left -= looked_at;
        let files = event.files.iter().take(looked_at).filter(is_later);
        let files: Vec<String> = files.cloned().collect();
        if !files.is_empty() {
            changed.insert(memory.id.clone(), files);
        }
    }
    changed
}

/// Finds the files of memories that are known to be gone from the work tree `top` of their repository, and that `is_renamed` does
/// not know under another name.
#[must_use]
pub fn gone_from<'a>(
    memories: impl Iterator<Item = &'a Arc<Memory>>,
    top: &Path,
    is_renamed: impl Fn(&str) -> bool,
) -> ChangedFiles {
    let mut gone = ChangedFiles::new();
    let mut looks_left = LOOKS_MAX;
    for memory in memories {
        if NOT_ABOUT_FILES.contains(&memory.provenance.kind.as_str()) {
            continue;
        }
        let event = memory.event();
        let looked_at = event.files.len().min(LOOKS_OF_ONE_MAX).min(looks_left);
        looks_left -= looked_at;
        let is_gone = |file: &&String| is_gone(top, file) && !is_renamed(file);
        let files: Vec<String> =
            event.files.iter().take(looked_at).filter(is_gone).cloned().collect();
        if !files.is_empty() {
            gone.insert(memory.id.clone(), files);
        }
    }
    gone
}

/// Tells whether a file of the work tree `top` is known to be written after a time, other than by a checkout.
#[must_use]
pub fn is_written_after(top: &Path, file: &str, time: Timestamp) -> bool {
    first_checkout_end(top).is_some_and(|made| is_later(top, file, time.max(made)))
}

fn is_later(top: &Path, file: &str, time: Timestamp) -> bool {
    let written = path_in(top, file).and_then(|path| written_at(top, &path));
    written.is_some_and(|written| written.as_second() > time.as_second())
}

/// Returns the time by which the first checkout was complete; `None` where the system does not know when the work tree
/// was made.
fn first_checkout_end(top: &Path) -> Option<Timestamp> {
    let made = top.join(".git").symlink_metadata().ok()?.created().ok()?;
    Timestamp::try_from(made.checked_add(CHECKOUT)?).ok()
}
