//! What the machine says about places: the user's home, temporary folders, and the variables that git, SSH and AWS read. It is
//! asked once; later questions need no environment. Not here: what the files in these folders say.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Variables that git reads, and that say where a repository or its remote is.
const VARIABLES: [&str; 14] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_SSH_COMMAND",
    "GIT_AUTHOR_NAME",
    "XDG_CONFIG_HOME",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_CONFIG_FILE",
];

/// Most settings that `GIT_CONFIG_COUNT` may announce.
const SETTINGS_MAX: usize = 100;

/// Folders for temporary files that every system of a family has.
const TEMPORARY: [&str; 6] =
    ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm", "/data/local/tmp"];

/// Folders in which Windows starts programs that stand nowhere, below the drive, and the drive itself.
const OF_THE_SYSTEM: [&str; 4] = ["", "windows", "windows/system32", "windows/syswow64"];

/// The machine and its user.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Folders for temporary files.
    pub temporary: Vec<PathBuf>,
    /// The folder with the settings of all users, usually `/etc`.
    pub system: PathBuf,
    variables: Vec<(&'static str, OsString)>,
    settings: Vec<(String, String)>,
    real: OnceLock<RealFolders>,
}

/// A machine whose environment is empty.
impl Default for Machine {
    fn default() -> Self {
        Self::from_environment(&|_| None)
    }
}

impl Machine {
    /// Asks for all variables that count.
    #[must_use]
    pub fn from_environment(lookup: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let absolute = |name| set(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let variables: Vec<_> =
            VARIABLES.iter().filter_map(|name| Some((*name, set(name)?))).collect();
        let temporary = ["TMPDIR", "TEMP", "TMP"].into_iter().filter_map(absolute);
        Self {
            home: absolute("HOME").or_else(|| absolute("USERPROFILE")),
            temporary: temporary.chain(TEMPORARY.iter().map(PathBuf::from)).collect(),
            system: PathBuf::from("/etc"),
            settings: environment_settings(&set),
            variables,
            real: OnceLock::new(),
        }
    }

    /// Returns a variable that is set and not empty.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Returns a variable with the path of a file or folder.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from)
    }

    /// Returns the settings of git that the environment holds, by their full names.
    pub(crate) fn git_settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// Returns a path below the home directory.
    pub(crate) fn at_home(&self, below: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(below))
    }

    /// Replaces `~` at the beginning of a path.
    pub(crate) fn expanded(&self, path: &str) -> PathBuf {
        let below = path.strip_prefix("~/").or_else(|| path.strip_prefix("~\\"));
        match (below, &self.home) {
            (Some(below), Some(home)) => home.join(below),
            (None, Some(home)) if path == "~" => home.clone(),
            _ => PathBuf::from(path),
        }
    }

    /// Tells whether a folder is nobody's project unless a repository lies right there: the home directory and all above it, a
    /// folder for temporary files, the folder of the system.
    #[must_use]
    pub fn is_no_project(&self, folder: &Path) -> bool {
        if folder.parent().is_none() || folder.as_os_str().is_empty() {
            return true;
        }
        let real = self.real.get_or_init(|| RealFolders::resolve(self));
        let mut homes = self.home.iter().chain(&real.home);
        let mut temporary = self.temporary.iter().chain(&real.temporary);
        homes.any(|home| home.starts_with(folder))
            || temporary.any(|place| place == folder)
            || is_of_the_system(folder)
    }
}

/// The same folders without symbolic links, found when first asked for.
#[derive(Debug, Clone)]
struct RealFolders {
    home: Option<PathBuf>,
    temporary: Vec<PathBuf>,
}

impl RealFolders {
    fn resolve(machine: &Machine) -> Self {
        let real = |path: &PathBuf| path.canonicalize().ok();
        Self {
            home: machine.home.as_ref().and_then(real),
            temporary: machine.temporary.iter().filter_map(real).collect(),
        }
    }
}

/// Reads the settings that `GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_0` and their like hold.
fn environment_settings(set: &dyn Fn(&str) -> Option<OsString>) -> Vec<(String, String)> {
    let text = |name: String| set(&name)?.into_string().ok();
    let count = text("GIT_CONFIG_COUNT".to_owned()).and_then(|count| count.trim().parse().ok());
    let numbers = 0..count.unwrap_or(0).min(SETTINGS_MAX);
    let pair = |number| {
        let value = text(format!("GIT_CONFIG_VALUE_{number}")).unwrap_or_default();
        Some((text(format!("GIT_CONFIG_KEY_{number}"))?, value))
    };
    numbers.filter_map(pair).collect()
}

/// Tells whether a folder is the top of a drive or a folder of Windows, by any system's spelling.
fn is_of_the_system(folder: &Path) -> bool {
    let text = folder.to_string_lossy().replace('\\', "/").to_ascii_lowercase();
    // `//?/` is how Windows writes a path in full.
    let text = text.trim_start_matches("//?/").trim_end_matches('/');
    let below_drive = text.get(1..2).filter(|colon| *colon == ":").and_then(|_| text.get(2..));
    let below_mount = text.strip_prefix("/mnt/").and_then(|rest| rest.get(1..));
    let mut below = [below_drive, below_mount].into_iter().flatten();
    below.any(|below| OF_THE_SYSTEM.contains(&below.trim_start_matches('/')))
}
