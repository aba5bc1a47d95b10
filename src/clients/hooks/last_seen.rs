//! The time of the last call of each agent: one small file for each kind of call. `setup --check` and the doctor read
//! them. Not here: what they conclude from them.

use std::io::Write;
use std::path::{Path, PathBuf};

use event::Timestamp;
use store::{make_own_file, own_folder};

/// The folder of all files, below that of the cache.
const FOLDER: &str = "fired";

/// Longest name of an agent or of a kind of call, in bytes. Ours have about ten.
const NAME_BYTES_MAX: usize = 32;

/// Longest file that is read, in bytes. A time has about thirty.
const SIGN_BYTES_MAX: usize = 64;

/// Names by which MCP clients call themselves, by their beginning, and the agent that each one is.
const CLIENTS: [(&str, &str); 8] = [
    ("gemini-cli", "gemini"),
    ("qwen", "qwen"),
    ("claude-ai", "claude-desktop"),
    ("cursor", "cursor"),
    ("github-copilot", "copilot"),
    ("copilot", "copilot"),
    ("factory", "droid"),
    ("visual-studio-code", "vscode"),
];

/// Returns the agent of an MCP client, by the name that the client sends.
#[must_use]
pub fn agent_of_client(client: &str) -> &str {
    let known = CLIENTS.iter().find(|(beginning, _)| client.starts_with(beginning));
    known.map_or(client, |(_, agent)| agent)
}

/// Records a call of an agent. A failure is ignored, so that no caller has to wait or to handle it.
pub fn record(cache: &Path, agent: &str, call_kind: &str, now: Timestamp) {
    let _ = try_to_record(cache, agent, call_kind, now);
}

fn try_to_record(cache: &Path, agent: &str, call_kind: &str, now: Timestamp) -> Option<()> {
    let path = path(cache, agent, call_kind)?;
    let folder = path.parent()?;
    own_folder(folder).ok()?;
    // Each process writes a file of its own and renames it, so that concurrent writes do not mix.
    let fresh = folder.join(format!(".{call_kind}.{}", std::process::id()));
    let text = format!("{now:.0}\n");
    make_own_file(&fresh).ok()?.write_all(text.as_bytes()).ok()?;
    std::fs::rename(&fresh, &path).ok()
}

/// Returns the time of the last call of an agent.
#[must_use]
pub fn read(cache: &Path, agent: &str, call_kind: &str) -> Option<Timestamp> {
    let path = path(cache, agent, call_kind)?;
    // Only plain files are read: a pipe in this place would block the reader.
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    text.get(..text.len().min(SIGN_BYTES_MAX))?.trim().parse().ok()
}

/// Returns the path of a file, or nothing for a name that would lead to another folder.
fn path(cache: &Path, agent: &str, call_kind: &str) -> Option<PathBuf> {
    let is_name = |name: &str| {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_plain)
    };
    (is_name(agent) && is_name(call_kind)).then(|| cache.join(FOLDER).join(agent).join(call_kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HOOK-11
    #[test]
    fn the_last_call_is_kept_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path(), "codex", "start"), None);
        for time in ["2026-01-02T03:04:05Z", "2026-01-03T00:00:00Z"] {
            record(folder.path(), "codex", "start", time.parse().unwrap());
            assert_eq!(read(folder.path(), "codex", "start"), Some(time.parse().unwrap()));
        }
        let place = folder.path().join("fired/codex");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1, "nothing is left over");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&place), mode(&place.join("start"))), (0o700, 0o600));
        }
    }

    #[test]
    fn names_that_lead_to_other_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["..", "../x", "a/b", "", "A", &"x".repeat(33)] {
            record(folder.path(), name, "start", Timestamp::UNIX_EPOCH);
            record(folder.path(), "codex", name, Timestamp::UNIX_EPOCH);
        }
        assert!(!folder.path().join(FOLDER).exists());
    }

    #[test]
    fn a_client_is_known_by_the_name_it_gives() {
        for (client, agent) in [
            ("claude-code", "claude-code"),
            ("codex", "codex"),
            ("gemini-cli", "gemini"),
            ("gemini-cli-mcp-client-x", "gemini"),
            ("cursor-vscode", "cursor"),
            ("zed", "zed"),
        ] {
            assert_eq!(agent_of_client(client), agent);
        }
    }

    #[test]
    fn only_plain_files_with_a_time_count() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join(FOLDER).join("codex");
        std::fs::create_dir_all(folder.join("end")).unwrap();
        std::fs::write(folder.join("start"), "2026-01-02T03:04:05Z\n").unwrap();
        std::fs::write(folder.join("mcp"), "no time").unwrap();
        assert_eq!(read(cache.path(), "codex", "start"), "2026-01-02T03:04:05Z".parse().ok());
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.join("start"), folder.join("compact")).unwrap();
        for call_kind in ["mcp", "end", "compact", "prompt"] {
            assert_eq!(read(cache.path(), "codex", call_kind), None, "{call_kind}");
        }
    }
}
