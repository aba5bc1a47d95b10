//! Notices about memories that are left out to stay within the memory limit. Not here: `status` and `doctor`, which
//! report it themselves.

use search::snapshot::MemoryUsage;

/// Says that not all memories were searched.
pub(super) fn bound_notice(room: MemoryUsage) -> Option<String> {
    room.notice().map(|notice| format!("Note: {notice}."))
}

/// Says that a memory was left out.
pub(super) fn too_old_notice(id: &str, room: MemoryUsage) -> String {
    let notice = room.notice().unwrap_or_default();
    format!("memory {id:?} is too old to be loaded: {notice}")
}

/// Says that there is no such memory. It may be among those left out: a short form of their ids cannot be recognized.
pub(super) fn no_memory_notice(id: &str, room: MemoryUsage) -> String {
    let hint = format!("no memory {id:?}; each line of a search ends with an id");
    match room.notice() {
        Some(notice) => format!("{hint}; {notice}"),
        None => hint,
    }
}
