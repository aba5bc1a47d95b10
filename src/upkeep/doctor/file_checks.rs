//! Checks of the store's files: whether this process can use them, whether other users can, whether a lock is
//! held, whether writes wait. Not here: the contents of lines.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::diagnosis::Diagnosis;
use super::log_contents::changed_by_others;
use crate::counted_noun::counted;
use crate::display_path::{display_path, shell_word};
use store::{ChainFaultKind, LockState, Store, access_remedy, create_probe_file, line_count};
#[cfg(unix)]
use store::{can_others_read, can_others_write, sharing_remedy};

/// Most logs with a problem that are listed one by one.
const TOLD_MAX: usize = 20;

/// Our folders inside the store.
const FOLDERS: [&str; 5] = [".locks", ".spool", ".quarantine", ".chain", "archive"];

pub(super) fn examine(store: &Store) -> Vec<Diagnosis> {
    let root = store.root();
    let found = match root.metadata() {
        Ok(found) if found.is_dir() => found,
        Ok(_) => {
            let says = format!("{} is not a directory", display_path(root));
            return vec![Diagnosis::fail("store", says).with_fix(moved_away(root))];
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let says =
                format!("{} does not exist yet; the first lesson creates it", display_path(root));
            return vec![Diagnosis::fine("store", says)];
        }
        Err(error) => {
            return vec![Diagnosis::fail("store", format!("{}: {error}", display_path(root)))];
        }
    };
    let mut findings = vec![directory(root, &found)];
    findings.extend(FOLDERS.iter().filter_map(|name| folder(&root.join(name))));
    match store.logs() {
        Ok(logs) => {
            findings.extend(about_logs(&logs));
            findings.extend(changed_by_others(&logs));
            findings.push(locks(store, &logs));
            findings.extend(chains(store, &logs));
        }
        Err(error) => findings.push(Diagnosis::fail("logs", format!("failed to {error}"))),
    }
    findings.extend(count_archived(store));
    findings.extend(waiting(store));
    findings
}

/// Counts archived lines. `verify` reads the segments and finds damage.
fn count_archived(store: &Store) -> Option<Diagnosis> {
    let segments = match store.segments() {
        Ok(segments) if segments.is_empty() => return None,
        Ok(segments) => segments,
        Err(error) => return Some(Diagnosis::fail("archive", format!("failed to {error}"))),
    };
    let bytes = segments.iter().filter_map(|path| Some(path.symlink_metadata().ok()?.len()));
    let (count, bytes) = (segments.len(), bytes.sum::<u64>());
    Some(Diagnosis::fine("archive", format!("{count} segments of old lines, {bytes} bytes")))
}

fn directory(root: &Path, found: &Metadata) -> Diagnosis {
    if let Some(finding) = open_to_others("store", root, found) {
        return finding;
    }
    match create_probe_file(root) {
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            let says = format!("the disk of {} is full: nothing can be saved", display_path(root));
            Diagnosis::fail("store", says).with_fix(format!("df -h {}", shell_word(root)))
        }
        Err(error) => {
            let says = format!("no file can be written in {}: {error}", display_path(root));
            Diagnosis::fail("store", says).with_remedy(access_remedy(root, root))
        }
        Ok(made) if owner(&made) != owner(found) => {
            let says = format!("{} belongs to another user", display_path(root));
            let fix = format!("sudo chown -R \"$(id -u)\" {}", shell_word(root));
            Diagnosis::warn("store", says).with_fix(fix)
        }
        Ok(_) => Diagnosis::fine("store", display_path(root)),
    }
}

fn folder(folder: &Path) -> Option<Diagnosis> {
    let found = folder.symlink_metadata().ok()?;
    if found.is_dir() {
        return open_to_others("store", folder, &found);
    }
    let says = format!("{} is not a plain folder", display_path(folder));
    Some(Diagnosis::fail("store", says).with_fix(moved_away(folder)))
}

fn about_logs(logs: &[PathBuf]) -> Vec<Diagnosis> {
    let long = logs.iter().filter_map(|log| too_long(log));
    let wrong: Vec<Diagnosis> = logs.iter().filter_map(|log| about_log(log)).chain(long).collect();
    if wrong.is_empty() {
        return vec![Diagnosis::fine("logs", format!("{} logs", logs.len()))];
    }
    let more = wrong.len().saturating_sub(TOLD_MAX);
    let mut findings: Vec<Diagnosis> = wrong.into_iter().take(TOLD_MAX).collect();
    if more > 0 {
        findings.push(Diagnosis::fail("logs", format!("and {more} more logs with a problem")));
    }
    findings
}

fn about_log(log: &Path) -> Option<Diagnosis> {
    let fail = |says: &str| Diagnosis::fail("logs", format!("{}: {says}", display_path(log)));
    let found = match log.symlink_metadata() {
        Ok(found) => found,
        Err(error) => return Some(fail(&error.to_string())),
    };
    if found.is_symlink() {
        return Some(fail("is a symbolic link, which is refused").with_fix(moved_away(log)));
    }
    if !found.is_file() {
        return Some(fail("is a directory or a device, not a log").with_fix(moved_away(log)));
    }
    if has_second_name(&found) {
        let (log, own) = (shell_word(log), shell_word(&log.with_extension("own")));
        let fix = format!("cp -p {log} {own} && mv {own} {log}");
        return Some(fail("has a second name (a hard link), which is refused").with_fix(fix));
    }
    if let Err(error) = std::fs::OpenOptions::new().read(true).append(true).open(log) {
        let fix = access_remedy(log, log.parent().unwrap_or(log));
        return Some(fail(&format!("cannot be read and written: {error}")).with_remedy(fix));
    }
    open_to_others("logs", log, &found)
}

fn too_long(log: &Path) -> Option<Diagnosis> {
    let lines = store::lines_of_long_log(log)?;
    let says = format!(
        "{} has {lines} lines; old ones can be archived and stay searchable",
        display_path(log)
    );
    Some(Diagnosis::warn("logs", says).with_fix("agent-knowledge archive".to_owned()))
}

fn moved_away(path: &Path) -> String {
    let mut away = path.as_os_str().to_owned();
    away.push(".away");
    format!("mv {} {}", shell_word(path), shell_word(Path::new(&away)))
}

#[cfg(unix)]
fn open_to_others(about: &'static str, path: &Path, found: &Metadata) -> Option<Diagnosis> {
    if can_others_write(path, found) {
        let says = format!("{} can be written by others", display_path(path));
        return Some(Diagnosis::fail(about, says).with_remedy(sharing_remedy(path, found)));
    }
    if can_others_read(path, found) {
        let says = format!("{} can be read by others", display_path(path));
        return Some(
            Diagnosis::warn(about, says).with_fix(format!("chmod go-rwx {}", shell_word(path))),
        );
    }
    None
}

#[cfg(not(unix))]
fn open_to_others(_about: &'static str, _path: &Path, _found: &Metadata) -> Option<Diagnosis> {
    None
}

#[cfg(unix)]
fn owner(found: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(found)
}

#[cfg(not(unix))]
fn owner(_found: &Metadata) -> u32 {
    0
}

#[cfg(unix)]
fn has_second_name(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

#[cfg(not(unix))]
fn has_second_name(_found: &Metadata) -> bool {
    false
}

/// Lock files remain after use and do no harm.
fn locks(store: &Store, logs: &[PathBuf]) -> Diagnosis {
    let mut longest_ms = 0;
    for log in logs {
        match store.try_lock_of(log) {
            Ok(LockState::Free) => {}
            Ok(LockState::FreeAfter(waited_ms)) => longest_ms = longest_ms.max(waited_ms),
            Ok(LockState::Held(waited_ms)) => {
                let name = log.file_name().unwrap_or_default().to_string_lossy();
                let lock = store.root().join(format!(".locks/{name}.lock"));
                let says = format!(
                    "{} has been locked by another process for more than {waited_ms} ms",
                    display_path(log)
                );
                return Diagnosis::fail("locks", says)
                    .with_fix(format!("fuser -v {}", shell_word(&lock)));
            }
            Err(error) => return Diagnosis::fail("locks", format!("failed to {error}")),
        }
    }
    match longest_ms {
        0 => Diagnosis::fine("locks", "no lock is held"),
        longest_ms => Diagnosis::fine("locks", format!("in use, free after {longest_ms} ms")),
    }
}

/// Compares the logs with their chains. `verify` says which lines were changed. `locks` reports a log whose lock is held,
/// and waiting for it once is enough.
fn chains(store: &Store, logs: &[PathBuf]) -> Option<Diagnosis> {
    let gone = store.logs_gone().unwrap_or_default();
    let mirrors = store.mirrors().unwrap_or_default();
    let is_free =
        |log: &&PathBuf| !matches!(store.try_lock_of(log), Ok(LockState::Held(_)) | Err(_));
    let (mut lines, mut lost, mut changed) = (0, Vec::new(), Vec::new());
    let (mut own, mut others) = (0, 0);
    for log in logs.iter().chain(&gone).chain(&mirrors).filter(is_free) {
        let Ok(Some(audit)) = store.audit_chain(log) else { continue };
        lines += audit.lines;
        let origin = store::origin_of(log);
        match origin {
            Some(_) => others += 1,
            None => own += 1,
        }
        if !audit.is_whole() {
            let name = log.file_name().unwrap_or_default().to_string_lossy();
            let name = origin
                .map_or_else(|| name.to_string(), |origin_name| format!("{name} of {origin_name}"));
            if audit.faults.iter().any(|fault| fault.kind == ChainFaultKind::Gone) {
                lost.push(format!("{name} is gone ({})", counted(audit.lines, "line")));
            } else {
                changed.push(name);
            }
        }
    }
    if !changed.is_empty() {
        let names = changed.join(", ");
        lost.push(format!("lines of {names} were changed after they were written"));
    }
    if lost.is_empty() {
        let as_written = if lines == 1 { "is as it was" } else { "are as they were" };
        let (lines, mut logs) = (counted(lines, "line"), counted(own, "log"));
        if others > 0 {
            logs += &format!(" and {}", counted(others, "mirror"));
        }
        let says = format!("{lines} in {logs} {as_written} written");
        return (own + others > 0).then(|| Diagnosis::fine("chain", says));
    }
    let says = lost.join("; ");
    Some(Diagnosis::warn("chain", says).with_fix("agent-knowledge verify".to_owned()))
}

/// Counts waiting writes in the spool and damaged lines in the quarantine.
fn waiting(store: &Store) -> Vec<Diagnosis> {
    let mut findings = Vec::new();
    match store.spooled() {
        Ok(files) if !files.is_empty() => {
            let lines: usize = files.iter().map(|file| line_count(file)).sum();
            let says = format!(
                "{lines} lines in {} files wait, because another process held their log; the next write or search moves them into it",
                files.len()
            );
            findings.push(Diagnosis::warn("spool", says));
        }
        Ok(_) => {}
        Err(error) => findings.push(Diagnosis::fail("spool", format!("failed to {error}"))),
    }
    if let Ok(files) = store.quarantines() {
        let lines: usize = files.iter().map(|file| line_count(file)).sum();
        if lines > 0 {
            let folder = display_path(&store.root().join(".quarantine"));
            findings
                .push(Diagnosis::fine("quarantine", format!("{lines} damaged lines in {folder}")));
        }
    }
    findings
}
