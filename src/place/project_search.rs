//! The project of a folder that no version control knows: the nearest folder above with memories or a mark. Not here: which files
//! are marks (`project_mark`).

use std::path::{Path, PathBuf};

use crate::place::PlaceSource;
use crate::project_mark::{MarkKind, mark_of};

/// What the search asks.
pub(crate) struct ProjectQuestions<'a> {
    /// Whether a folder is nobody's project, so that the search ends.
    pub(crate) is_boundary: &'a dyn Fn(&Path) -> bool,
    /// Whether a folder has memories of its own.
    pub(crate) has_memories: &'a dyn Fn(&Path) -> bool,
}

/// A folder with a mark.
struct MarkedFolder {
    folder: PathBuf,
    kind: MarkKind,
    mark: String,
}

/// Finds the folder of the project, and how it is known.
pub(crate) fn project_above(
    start: &Path,
    questions: &ProjectQuestions<'_>,
) -> Option<(PathBuf, PlaceSource)> {
    let mut nearest: Option<MarkedFolder> = None;
    for folder in start.ancestors().take_while(|folder| !(questions.is_boundary)(folder)) {
        let mark = mark_of(folder);
        let so_far = nearest.as_ref().map(|nearest| nearest.kind);
        if decides_by_memories(so_far, mark.is_some()) && (questions.has_memories)(folder) {
            return Some((folder.to_owned(), PlaceSource::Memories(folder.to_owned())));
        }
        match (so_far, mark) {
            (None | Some(MarkKind::Part), Some((kind, mark))) => {
                nearest = Some(MarkedFolder { folder: folder.to_owned(), kind, mark });
            }
            (_, Some((MarkKind::Workspace, mark))) => {
                let kind = MarkKind::Workspace;
                nearest = Some(MarkedFolder { folder: folder.to_owned(), kind, mark });
            }
            // A row of folders with parts of a project ends at the first without.
            (Some(MarkKind::Part | MarkKind::Workspace), _) => break,
            (None | Some(_), _) => {}
        }
    }
    let MarkedFolder { folder, mark, .. } = nearest?;
    Some((folder.clone(), PlaceSource::Mark { folder, mark }))
}

/// Tells whether memories would make a folder the project, after what was found below it. A package belongs to the marked project
/// above it that people already work on; the top of a project belongs to none.
fn decides_by_memories(below: Option<MarkKind>, is_marked: bool) -> bool {
    match below {
        None | Some(MarkKind::Part) => true,
        Some(MarkKind::Package) => is_marked,
        Some(MarkKind::Top | MarkKind::Workspace) => false,
    }
}
