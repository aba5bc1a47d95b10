//! A private log of searches that found nothing: it shows which knowledge is missing. It stays on this machine, holds
//! no secrets, is bounded, and can be switched off. Not here: grouping the searches (`search::links`).

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use event::{RepoKey, Timestamp, parse_timestamp};
use guard::secrets::RedactedText;
use search::links::LoggedQuery;
use store::{make_own_file, open_own_file, open_private, own_folder};

/// The folder of these logs, below the cache directory.
const FOLDER: &str = "gaps";

/// The folder of earlier versions. They reshaped some queries before they removed secrets, so no rule finds what is left in them.
const OUTDATED_FOLDER: &str = "searches";

/// A longer log loses its older half. This holds some thousand searches.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Most bytes of a query that are kept: the rest of a pasted text says nothing about missing knowledge.
const QUERY_BYTES_MAX: usize = 300;

/// The log of one store.
#[derive(Debug)]
pub struct QueryLog {
    path: PathBuf,
    /// Held by the thread that writes. Between processes one line is one write.
    turn: Mutex<()>,
}

impl QueryLog {
    /// Names the log of a store, in a cache directory. Nothing is created yet.
    #[must_use]
    pub fn for_store(cache: &Path, store: &Path) -> Self {
        let sum = Sha256::digest(store.as_os_str().as_encoded_bytes());
        let name: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = cache.join(FOLDER).join(format!("{name}.jsonl"));
        Self { path, turn: Mutex::default() }
    }

    /// Records that a search found nothing. A failure is ignored: no answer depends on it.
    pub fn record_search(&self, query: &RedactedText, repo: Option<&RepoKey>, now: Timestamp) {
        let _ = self.try_to_record(query, repo, now);
    }

    fn try_to_record(
        &self,
        query: &RedactedText,
        repo: Option<&RepoKey>,
        now: Timestamp,
    ) -> Option<()> {
        let query = query.line().cut(QUERY_BYTES_MAX);
        let at = format!("{now:.0}");
        let line = json!({ "at": at, "repo": repo.map(RepoKey::as_str), "query": query });
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.path.parent()?;
        if !folder.exists() {
            let _ = std::fs::remove_dir_all(folder.with_file_name(OUTDATED_FOLDER));
        }
        own_folder(folder).ok()?;
        self.shorten();
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        open_private(&mut options, &self.path).ok()?.write_all(format!("{line}\n").as_bytes()).ok()
    }

    /// Keeps the newer half of a log that is too long.
    fn shorten(&self) -> Option<()> {
        let mut file = open_own_file(&self.path).ok()??;
        let length_bytes = file.metadata().ok()?.len();
        if length_bytes < FILE_BYTES_MAX {
            return None;
        }
        file.seek(SeekFrom::Start(length_bytes.saturating_sub(FILE_BYTES_MAX / 2))).ok()?;
        let mut kept = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut kept).ok()?;
        let from = kept.iter().position(|byte| *byte == b'\n').map_or(kept.len(), |at| at + 1);
        let fresh = self.path.with_extension(format!("{}.new", std::process::id()));
        make_own_file(&fresh).ok()?.write_all(kept.get(from..)?).ok()?;
        std::fs::rename(&fresh, &self.path).ok()
    }

    /// Returns the recorded searches, the oldest first. Lines that cannot be read are skipped.
    #[must_use]
    pub fn read(&self) -> Vec<LoggedQuery> {
        let Ok(Some(file)) = open_own_file(&self.path) else { return Vec::new() };
        let mut bytes = Vec::new();
        if file.take(2 * FILE_BYTES_MAX).read_to_end(&mut bytes).is_err() {
            return Vec::new();
        }
        String::from_utf8_lossy(&bytes).lines().filter_map(asking).collect()
    }
}

fn asking(line: &str) -> Option<LoggedQuery> {
    let value: Value = serde_json::from_str(line).ok()?;
    let at = parse_timestamp(value.get("at")?.as_str()?)?;
    let repo = value.get("repo").and_then(Value::as_str).map(str::to_owned);
    Some(LoggedQuery { at, repo, query: value.get("query")?.as_str()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    // S-ANALYZE-6
    #[test]
    fn recorded_searches_are_read_back_without_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let log = QueryLog::for_store(folder.path(), Path::new("/logs"));
        assert!(log.read().is_empty());
        log.record_search(&"walrus\nbuild".into(), RepoKey::parse("api").ok().as_ref(), now());
        log.record_search(&"why is password=hunter2secretX refused".into(), None, now());
        let queries = log.read();
        assert_eq!(
            (queries[0].query.as_str(), queries[0].repo.as_deref()),
            ("walrus build", Some("api"))
        );
        assert!(!std::fs::read_to_string(&log.path).unwrap().contains("hunter2secretX"));
        assert!(QueryLog::for_store(folder.path(), Path::new("/other")).read().is_empty());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&log.path), mode(log.path.parent().unwrap())), (0o600, 0o700));
        }
    }

    // S-ANALYZE-6
    #[test]
    fn it_never_grows_past_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let log = QueryLog::for_store(folder.path(), Path::new("/logs"));
        let long = "walrus ".repeat(500);
        for number in 0..1_500 {
            log.record_search(&format!("{number} {long}").into(), None, now());
            assert!(log.path.metadata().unwrap().len() < FILE_BYTES_MAX + 1_024);
        }
        let queries = log.read();
        assert!(queries.last().unwrap().query.starts_with("1499 walrus"));
        assert!(queries.len() > 100 && !queries[0].query.starts_with("0 "));
        assert_eq!(std::fs::read_dir(folder.path().join(FOLDER)).unwrap().count(), 1);
    }
}
