//! What a user can do about files that he may not read or write, or that others may write. It looks at the owner and at the file
//! system before it names a command, since one that cannot work costs trust. Not here: what is refused (`layout`, `trust`).

use std::fmt;
#[cfg(unix)]
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::file_system::MountedFileSystem;
#[cfg(unix)]
use super::shared_rights::user_number;

/// What to do in the sandbox of an agent, which keeps its commands from writing.
pub(super) const IN_A_SANDBOX: &str = "in the sandbox of an agent, save with the MCP tool memory_save, whose server runs outside, or let the \
                                       sandbox write there (Codex: writable_roots)";

/// What a user can do: words, and the command that they lead to where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// What is to be known before the command; empty where the command says all.
    pub lead: String,
    /// The command.
    pub command: Option<String>,
}

impl Remedy {
    fn command(command: String) -> Self {
        Self { lead: String::new(), command: Some(command) }
    }

    fn words(lead: String) -> Self {
        Self { lead, command: None }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lead, command } = self;
        let between = if lead.is_empty() || command.is_none() { "" } else { ": " };
        write!(out, "{lead}{between}{}", command.as_deref().unwrap_or_default())
    }
}

/// Says how the user of this process may get at a path that he may not read or write. `whole` is the folder of ours around it: where
/// one file in it is another user's, others are as well.
#[must_use]
pub fn access_remedy(path: &Path, whole: &Path) -> Remedy {
    let seen = nearest(path);
    if MountedFileSystem::of_path(&seen).is_read_only {
        return Remedy::words(format!("its file system is read-only; {IN_A_SANDBOX}"));
    }
    owner_remedy(&seen, whole).unwrap_or_else(|| match keeps_its_owner_out(&seen) {
        true => Remedy::command(format!("chmod u+rwX {}", quoted(&seen))),
        false => Remedy::words(format!(
            "its owner and mode allow it, so something else forbids it; {IN_A_SANDBOX}"
        )),
    })
}

/// Says how to take over what belongs to somebody else: the outermost folder of another user, since he may have made all in it.
#[cfg(unix)]
fn owner_remedy(seen: &Path, whole: &Path) -> Option<Remedy> {
    use std::os::unix::fs::MetadataExt;
    let user = user_number();
    let is_of_another = |place: &Path| place.metadata().is_ok_and(|found| found.uid() != user);
    if user == 0 {
        return None;
    }
    let home = etcetera::home_dir().ok();
    let below_home =
        |place: &&Path| home.as_ref().is_some_and(|home| place.starts_with(home) && *place != home);
    let outermost = seen.ancestors().filter(below_home).filter(|place| is_of_another(place)).last();
    let alone = is_of_another(seen).then_some(seen);
    let theirs = outermost.or(alone)?;
    let theirs = if theirs.starts_with(whole) { whole } else { theirs };
    Some(Remedy::command(format!("sudo chown -R \"$(id -u)\" {}", quoted(theirs))))
}

#[cfg(not(unix))]
fn owner_remedy(_seen: &Path, _whole: &Path) -> Option<Remedy> {
    None
}

/// Tells whether a mode keeps the owner of a file from it.
#[cfg(unix)]
fn keeps_its_owner_out(seen: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let needed = if seen.is_dir() { 0o700 } else { 0o600 };
    seen.metadata().is_ok_and(|found| found.mode() & needed != needed)
}

#[cfg(not(unix))]
fn keeps_its_owner_out(_seen: &Path) -> bool {
    false
}

/// Returns the path, or the nearest folder above it that can be looked at.
fn nearest(path: &Path) -> PathBuf {
    let mut places = path.ancestors().filter(|place| !place.as_os_str().is_empty());
    places.find(|place| place.symlink_metadata().is_ok()).unwrap_or(path).to_owned()
}

/// Says how to end that others may write to a path, or how to say that nobody else is there.
#[cfg(unix)]
#[must_use]
pub fn sharing_remedy(path: &Path, found: &Metadata) -> Remedy {
    use std::os::unix::fs::MetadataExt;
    let (shown, system) = (quoted(path), MountedFileSystem::of_path(path));
    let named = format!("agent-knowledge config set trusted_folders {shown}");
    if let Some(kind) = system.kind_without_modes() {
        let lead = match system.is_windows_drive() {
            true => "it is a drive of Windows without modes: give it modes with the option metadata in /etc/wsl.conf, or say that nobody \
                     else is there"
                .to_owned(),
            false => format!("its file system ({kind}) keeps no modes; say that nobody else is there"),
        };
        return Remedy { lead, command: Some(named) };
    }
    let (user, group) = (user_number(), found.gid());
    let sudo = if user == 0 || found.uid() == user { "" } else { "sudo " };
    let command = Some(format!("{sudo}chmod go-w {shown}"));
    let alone = match found.mode() & 0o002 != 0 {
        true => format!("if nobody else is there, {named}"),
        false => format!(
            "if group {group} is yours alone, agent-knowledge config set trusted_groups {group} or \
             AGENT_KNOWLEDGE_TRUSTED_GROUPS={group} (fsGroup of Kubernetes gives a volume this mode at each start, unless \
             fsGroupChangePolicy is OnRootMismatch)"
        ),
    };
    Remedy { lead: format!("{alone}; if not, remove that permission"), command }
}

/// Returns a path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:,=".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn set(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    // S-STORE-9
    #[test]
    fn a_command_is_named_that_can_work() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a b.jsonl");
        std::fs::write(&log, "").unwrap();
        set(&log, 0o400);
        assert_eq!(
            access_remedy(&log, folder.path()).to_string(),
            format!("chmod u+rwX '{}'", log.display())
        );
        set(&log, 0o600);
        assert!(
            access_remedy(&log.join("x"), folder.path()).lead.contains("memory_save"),
            "nothing here forbids it"
        );
    }

    // S-STORE-2
    #[test]
    fn a_group_or_everybody_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let told = |mode| {
            set(folder.path(), mode);
            sharing_remedy(folder.path(), &folder.path().metadata().unwrap()).to_string()
        };
        let group = told(0o2770);
        assert!(
            group.contains("trusted_groups") && group.contains("fsGroupChangePolicy"),
            "{group}"
        );
        let all = told(0o777);
        assert!(all.contains("chmod go-w") && all.contains("trusted_folders"), "{all}");
    }
}
