//! Whose rights this process has, who else may write or read a path, and which groups and folders the user trusts, as he says in his configuration or in variables. A volume of a container or a Windows
//! drive lets others write as far as its modes say, and nobody else is there. Not here: what is refused without it (`layout`,
//! `trust`).

#![cfg_attr(not(unix), expect(dead_code, reason = "modes are looked at on Unix alone"))]

use std::ffi::OsString;
#[cfg(unix)]
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use settings::{Config, GeneralSettings};

/// Groups that count as the user alone, and folders in which the modes do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SharedRights {
    groups: Vec<u32>,
    folders: Vec<PathBuf>,
}

/// What this process trusts. It is like the number of its user: a property of the process, which both programs set as they read
/// their configuration.
static CURRENT: RwLock<Option<Arc<SharedRights>>> = RwLock::new(None);

/// The names and numbers of the system's groups.
const GROUP_FILE: &str = "/etc/group";

impl SharedRights {
    pub(super) fn from_settings(general: &GeneralSettings) -> Self {
        let groups = general.trusted_groups.iter().filter_map(|group| group_number(group));
        Self { groups: groups.collect(), folders: general.trusted_folders.clone() }
    }

    /// Returns what this process trusts.
    pub(super) fn of_process() -> Arc<Self> {
        let current = CURRENT.read().unwrap_or_else(PoisonError::into_inner);
        current.clone().unwrap_or_default()
    }

    /// Tells whether a group counts as the user alone.
    pub(super) fn has_group(&self, group: u32) -> bool {
        self.groups.contains(&group)
    }

    /// Tells whether a path is a trusted folder, or below one.
    pub(super) fn has_folder(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
    }
}

/// Sets what this process trusts, by the variables alone: they count before the file is read, which may lie in such a folder.
pub(super) fn trust_variables(lookup: &dyn Fn(&str) -> Option<OsString>) {
    trust_settings(&Config::default(), lookup);
}

/// Sets what this process trusts. A variable wins over the file.
pub(super) fn trust_settings(config: &Config, lookup: &dyn Fn(&str) -> Option<OsString>) {
    let mut config = config.clone();
    // A wrong variable is reported by the code that reads all of them; it makes nothing trusted.
    let _ = config.set_variables(lookup);
    let rights = SharedRights::from_settings(&config.general);
    let mut current = CURRENT.write().unwrap_or_else(PoisonError::into_inner);
    *current = Some(Arc::new(rights));
}

/// Returns the number of a group. A name is looked up in the system's file; one that is not there is trusted with nothing.
fn group_number(group: &str) -> Option<u32> {
    let by_name = || number_in(&std::fs::read_to_string(GROUP_FILE).ok()?, group);
    group.parse().ok().or_else(by_name)
}

fn number_in(groups: &str, name: &str) -> Option<u32> {
    let mut lines = groups.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| {
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok())?
    })
}

/// The number of the user whose rights this process has; 0 is the administrator.
#[cfg(unix)]
pub(super) fn user_number() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Tells whether the mode of a path lets other users write. On systems with one group for each user, with the user's number, the
/// user is its only member. The user may trust other groups, and folders in which modes say nothing.
#[cfg(unix)]
#[must_use]
pub fn can_others_write(path: &Path, found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (user, trusted) = (user_number(), SharedRights::of_process());
    let (mode, group) = (found.mode(), found.gid());
    let is_own_group = user != 0 && group == user || trusted.has_group(group);
    let is_shared = mode & 0o002 != 0 || (mode & 0o020 != 0 && !is_own_group);
    is_shared && !trusted.has_folder(path)
}

/// Tells whether the mode of a path lets other users read, beside those whom the user trusts.
#[cfg(unix)]
#[must_use]
pub fn can_others_read(path: &Path, found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let trusted = SharedRights::of_process();
    let group_bits = if trusted.has_group(found.gid()) { 0 } else { 0o050 };
    found.mode() & (0o005 | group_bits) != 0 && !trusted.has_folder(path)
}

/// Tells whether this process is the administrator in the home directory of this user: containers run as root in the home of
/// somebody else, and what they make there is his.
#[cfg(unix)]
#[must_use]
pub fn is_home_owner(owner: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let home = || etcetera::home_dir().ok()?.metadata().ok().map(|home| home.uid());
    user_number() == 0 && home() == Some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STORE-2
    #[test]
    fn groups_and_folders_of_the_user_are_trusted_and_no_others() {
        let config =
            Config::parse("trusted_groups = [\"2000\"]\ntrusted_folders = [\"/mnt/c/ak\"]");
        let rights = SharedRights::from_settings(&config.unwrap().general);
        assert!(rights.has_group(2000) && !rights.has_group(2001));
        let has = |path: &str| rights.has_folder(Path::new(path));
        assert!(has("/mnt/c/ak") && has("/mnt/c/ak/logs"));
        assert!(!has("/mnt/c") && !has("/mnt/c/ak2"));
        let groups = "root:x:0:\nteam-a:x:2000:ana,ben\nbroken\n";
        assert_eq!(number_in(groups, "team-a"), Some(2000));
        assert_eq!((number_in(groups, "ana"), number_in(groups, "broken")), (None, None));
    }
}
