//! Reads the text of a configuration file. In its place may be a device, a pipe, or a file that is not text. Not here: what the text
//! means (`settings`), whom to trust (`trust`).

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use settings::ConfigFault;

use super::StoreError;

/// The remedy for a path that cannot be a configuration.
const ELSEWHERE: &str = "a configuration is a text file, for example ~/.config/agent-knowledge/config.toml; move this away, or name \
                         another file with AGENT_KNOWLEDGE_CONFIG";

/// Reads the text of a configuration file; a missing one is empty. Links are followed, because people keep such files in git.
///
/// # Errors
/// [`StoreError::Config`] says why it cannot be read, and what to do.
pub(super) fn read_text(path: &Path, bytes_max: u64) -> Result<String, StoreError> {
    let read = match open(path) {
        Ok(None) => return Ok(String::new()),
        Ok(Some(file)) => read_bounded(file, bytes_max),
        Err(error) => Err(unreadable(&error, path)),
    };
    read.map_err(|fault| in_file(path, fault))
}

/// Returns the error of a file with this fault.
pub(super) fn in_file(path: &Path, fault: ConfigFault) -> StoreError {
    StoreError::Config { path: path.to_owned(), line: fault.line, why: fault.why }
}

/// Opens a file. A pipe without a writer is opened too, instead of hanging the program.
fn open(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        // Nothing can be below a file.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads a file that is no longer than allowed.
pub(super) fn read_bounded(file: File, bytes_max: u64) -> Result<String, ConfigFault> {
    let failed = |error: &io::Error| {
        ConfigFault::of_file(format!("cannot be read: {}; {ELSEWHERE}", error.kind()))
    };
    let kind = file.metadata().map_err(|error| failed(&error))?.file_type();
    let mut bytes = Vec::new();
    // An endless file ends here. A device may be empty, as `/dev/null` is. A pipe without a writer is empty too: a pipe in
    // the place of the file keeps nobody from saving.
    let may_be_read = kind.is_file() || is_device(kind) || is_pipe(kind);
    let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
    if !may_be_read || is_device(kind) && !bytes.is_empty() {
        return Err(ConfigFault::of_file(format!("is {}; {ELSEWHERE}", name_of(kind))));
    }
    read.map_err(|error| failed(&error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bytes_max {
        let why = format!("is longer than {bytes_max} bytes, which no settings take; shorten it");
        return Err(ConfigFault::of_file(why));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let why = "has a character that is not in UTF-8; write it again, or save the file as UTF-8";
        ConfigFault { line: Some(line), ..ConfigFault::of_file(why.to_owned()) }
    })
}

fn unreadable(error: &io::Error, path: &Path) -> ConfigFault {
    ConfigFault::of_file(match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "may not be read by this user; allow it: chmod u+r {0}, and chmod u+x for the folders above it",
            path.display()
        ),
        kind => format!("cannot be read: {kind}; {ELSEWHERE}"),
    })
}

#[cfg(unix)]
fn is_device(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&kind)
}

#[cfg(not(unix))]
fn is_device(_kind: FileType) -> bool {
    false
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_kind: FileType) -> bool {
    false
}

fn name_of(kind: FileType) -> &'static str {
    match kind.is_dir() {
        true => "a directory",
        false => "a device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_refused(path: &Path, expected: &[&str]) {
        let error = read_text(path, 100).unwrap_err();
        assert!(matches!(error, StoreError::Config { .. }), "{error}");
        let message = error.to_string();
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
        assert!(!message.contains("os error"), "{message}");
    }

    // S-CONFIG-4
    #[test]
    fn what_can_be_no_configuration_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        assert_refused(folder.path(), &["is a directory", "AGENT_KNOWLEDGE_CONFIG"]);
        std::fs::write(&path, b"a = 1\nb = \"\xFF\"\n").unwrap();
        assert_refused(&path, &["config.toml, line 2: ", "UTF-8"]);
        std::fs::write(&path, "#".repeat(101)).unwrap();
        assert_refused(&path, &["longer than 100 bytes", "shorten it"]);
        assert_eq!(read_text(&path.join("below"), 100).unwrap(), "");
        #[cfg(unix)]
        {
            let pipe = folder.path().join("pipe");
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            assert_eq!(read_text(&pipe, 9).unwrap(), "");
            assert_refused(Path::new("/dev/zero"), &["is a device", "AGENT_KNOWLEDGE_CONFIG"]);
            assert_eq!(read_text(Path::new("/dev/null"), 9).unwrap(), "");
            let circle = folder.path().join("circle");
            std::os::unix::fs::symlink(&circle, &circle).unwrap();
            assert_refused(&circle, &["cannot be read", "AGENT_KNOWLEDGE_CONFIG"]);
        }
    }

    // S-CONFIG-4
    #[test]
    fn what_may_not_be_read_is_refused_with_the_remedy() {
        let denied = unreadable(&io::ErrorKind::PermissionDenied.into(), Path::new("/c"));
        assert!(denied.why.contains("chmod u+r /c"), "{denied}");
    }
}
