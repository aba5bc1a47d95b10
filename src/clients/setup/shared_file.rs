//! A text file of a project in which a part is ours: read as a whole, and replaced as a whole if nobody changed it in
//! between. Not here: what our part contains.

use std::path::Path;

use super::SetupError;
use super::desired_state::FileKind;
use super::files::{self, ExpectedContent, ReadAccess};

/// Reads the file; `None` if there is none.
///
/// # Errors
/// [`SetupError`]; a link is refused.
pub fn read_shared(path: &Path) -> Result<Option<String>, SetupError> {
    refuse_link(path)?;
    files::read(path)
}

/// Replaces the file completely or not at all; `None` removes it. `before` is the text that was read.
///
/// # Errors
/// [`SetupError`]; a link is refused, and so is a file that was changed in between.
pub fn replace_shared(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
) -> Result<(), SetupError> {
    refuse_link(path)?;
    let expected = before.map_or(ExpectedContent::Nothing, ExpectedContent::Text);
    match after {
        Some(text) => files::write(path, text, FileKind::Data, ReadAccess::SystemDefault, expected),
        None => files::refuse_changed(path, expected).and_then(|()| files::remove(path)),
    }
}

fn refuse_link(path: &Path) -> Result<(), SetupError> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if is_link { Err(SetupError::Link { path: path.to_owned() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FILE-5
    #[test]
    fn a_file_is_replaced_only_if_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("AGENTS.md");
        assert_eq!(read_shared(&file).unwrap(), None);
        replace_shared(&file, None, Some("ours")).unwrap();
        std::fs::write(&file, "theirs").unwrap();
        for after in [Some("ours"), None] {
            let refused = replace_shared(&file, Some("ours"), after);
            assert!(matches!(refused, Err(SetupError::Changed { .. })), "{refused:?}");
        }
        assert_eq!(read_shared(&file).unwrap().as_deref(), Some("theirs"));
        replace_shared(&file, Some("theirs"), None).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    // S-FILE-5
    #[cfg(unix)]
    #[test]
    fn a_link_is_neither_read_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(matches!(read_shared(&link), Err(SetupError::Link { .. })));
        let refused = replace_shared(&link, Some("text"), Some("ours"));
        assert!(matches!(refused, Err(SetupError::Link { .. })), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
    }
}
