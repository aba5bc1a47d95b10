//! Checks of what other programs did to logs: copies of a log that a program which synchronises folders made, and lines
//! that were joined. Not here: the files themselves (`file_checks`), every line (`verify`).

use std::path::PathBuf;

use super::diagnosis::Diagnosis;
use crate::counted_noun::counted;
use crate::display_path::display_path;
use store::Store;

/// Most logs with such a finding that are named one by one.
const TOLD_MAX: usize = 20;

/// Names copies, and logs with joined lines.
pub(super) fn changed_by_others(logs: &[PathBuf]) -> Vec<Diagnosis> {
    let copies = logs.iter().filter_map(|log| {
        let original = Store::original_of_copy(log)?;
        let original = original.file_name()?.to_string_lossy().into_owned();
        Some(format!(
            "{} is a copy of {original} that a program which synchronises folders made; its lines are read, each once",
            display_path(log)
        ))
    });
    let joined = logs.iter().filter_map(|log| {
        let (count, first) = Store::joined_lines(log);
        let lines = counted(count, "line");
        (count > 0).then(|| {
            format!(
                "{}: {lines} with several events and no line break between them, the first is line {first}; all are read",
                display_path(log)
            )
        })
    });
    copies.chain(joined).take(TOLD_MAX).map(|says| Diagnosis::warn("logs", says)).collect()
}
