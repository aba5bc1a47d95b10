//! What is said where memories were left out to stay within the bound. Not here: `status` and `doctor`,
//! which say it in their own form.

use search::snapshot::Room;

/// Says that not all memories were searched.
pub(super) fn note(room: Room) -> Option<String> {
    room.notice().map(|notice| format!("Note: {notice}."))
}

/// Says that a memory was left out.
pub(super) fn too_old(id: &str, room: Room) -> String {
    let notice = room.notice().unwrap_or_default();
    format!("memory {id:?} is too old to be kept at hand: {notice}")
}

/// Says that there is no such memory, or none at hand: a short form of the id of one that was left out
/// cannot be recognised.
pub(super) fn no_memory(id: &str, room: Room) -> String {
    let hint = format!("no memory {id:?}; ids stand at the end of each line of a search");
    match room.notice() {
        Some(notice) => format!("{hint}; {notice}"),
        None => hint,
    }
}
