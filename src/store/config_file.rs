//! The configuration files: the user's, which is read only if nobody else could have written it, and the project's, which decides only
//! how much agents are shown. Not here: what their texts mean (`settings`).

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use settings::variables::CONFIG;
use settings::{Config, ConfigFinding, PlatformDirs, ProjectConfig};

use super::config_source::{in_file, read_bounded, read_text};
use super::shared_rights::{trust_settings, trust_variables};
use super::{FileLock, StoreError, layout, make_own_file, make_private_dir, trusted};

/// Longest configuration file, in bytes. Thousands of aliases fit; a longer file is refused.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Longest file of a project, in bytes: far more than all sections take.
const PROJECT_BYTES_MAX: u64 = 64 * 1024;

/// Where the file of a project is, from the top folder.
const PROJECT_FOLDER: &str = ".agent-knowledge";
const PROJECT_FILE: &str = "config.toml";

/// How long a change waits for another one, in milliseconds: each takes a few.
const TURN_MS_MAX: u64 = 10_000;

/// Reads a configuration file. A missing file counts as empty. What this version does not know is left out, and named in
/// [`Config::findings`].
///
/// # Errors
/// [`StoreError::Config`] names the file and what is wrong in it; [`StoreError::Untrusted`].
pub fn read_config(path: &Path) -> Result<Config, StoreError> {
    match trusted(path) {
        // A file without metadata cannot be read either, and the error of reading says more.
        Ok(()) | Err(StoreError::Io { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut config = Config::parse(&config_text(path)?).map_err(|fault| in_file(path, fault))?;
    config.findings.iter_mut().for_each(|finding| finding.file = Some(path.to_owned()));
    Ok(config)
}

/// Returns where the user's configuration is: in the file that a variable names, or where the platform keeps it. `None` where there is no
/// home.
pub fn user_config_file(lookup: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = lookup(CONFIG).filter(|file| !file.is_empty()).map(PathBuf::from);
    named.or_else(|| PlatformDirs::of_platform().map(|places| places.config_file))
}

/// Reads the user's configuration, and trusts the groups and folders that it names from here on. A named file that does not exist is named in the findings: it must not keep a lesson from
/// being saved.
///
/// # Errors
/// Those of [`read_config`].
pub fn read_user_config(lookup: &dyn Fn(&str) -> Option<OsString>) -> Result<Config, StoreError> {
    trust_variables(lookup);
    let Some(path) = user_config_file(lookup) else { return Ok(Config::default()) };
    // Unlike a file that may not be read.
    let found = path.metadata().map_err(|error| error.kind());
    let is_absent = matches!(found, Err(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory));
    if is_absent && lookup(CONFIG).is_some_and(|file| !file.is_empty()) {
        let findings = vec![ConfigFinding::absent(&path, CONFIG)];
        return Ok(Config { findings, ..Config::default() });
    }
    let config = read_config(&path)?;
    trust_settings(&config, lookup);
    Ok(config)
}

/// Returns the text of a configuration file; a missing one is empty.
///
/// # Errors
/// [`StoreError::Config`] says why it cannot be read.
pub fn config_text(path: &Path) -> Result<String, StoreError> {
    read_text(path, FILE_BYTES_MAX)
}

/// Returns the path of a project's settings, below its top folder.
#[must_use]
pub fn project_config_file(top: &Path) -> PathBuf {
    top.join(PROJECT_FOLDER).join(PROJECT_FILE)
}

/// Reads the settings of a project; a missing file counts as empty. Links are not followed: they could lead to a file of
/// the user, whose text an error would repeat.
///
/// # Errors
/// [`StoreError::Config`] names the file and what is wrong in it.
pub fn read_project_config(top: &Path) -> Result<ProjectConfig, StoreError> {
    let path = project_config_file(top);
    if !layout::is_own_folder(&top.join(PROJECT_FOLDER))? {
        return Ok(ProjectConfig::default());
    }
    let Some((file, _)) = layout::open_to_read(&path)? else {
        return Ok(ProjectConfig::default());
    };
    let read = read_bounded(file, PROJECT_BYTES_MAX).and_then(|text| ProjectConfig::parse(&text));
    let mut config = read.map_err(|fault| in_file(&path, fault))?;
    config.findings.iter_mut().for_each(|finding| finding.file = Some(path.clone()));
    Ok(config)
}

/// The turn to change a configuration file: without it, one of two changes at the same time would be lost.
#[derive(Debug)]
pub struct ConfigTurn {
    path: PathBuf,
    lock: PathBuf,
    _held: FileLock,
}

impl ConfigTurn {
    /// Waits until no other process changes the file. A missing folder is made, for its user only.
    ///
    /// # Errors
    /// [`StoreError`] if others take too long, or the lock cannot be made.
    pub fn acquire(path: &Path) -> Result<Self, StoreError> {
        let path = real(path);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_private_dir(folder).map_err(StoreError::io("make the folder", folder))?;
        }
        let mut lock = path.clone();
        lock.as_mut_os_string().push(".lock");
        let held = FileLock::acquire(&lock, TURN_MS_MAX)?;
        Ok(Self { path, lock, _held: held })
    }

    /// Replaces the file completely or not at all. It keeps its mode; a new one can be read by its user only. A link stays,
    /// and the file that it names is replaced, because people keep such files in git.
    ///
    /// # Errors
    /// The system's error.
    pub fn replace(&self, text: &str) -> io::Result<()> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let fresh = self.path.with_file_name(name);
        let written = write_new(&fresh, text)
            .and_then(|()| match self.path.metadata() {
                Ok(found) => std::fs::set_permissions(&fresh, found.permissions()),
                Err(_) => Ok(()),
            })
            .and_then(|()| std::fs::rename(&fresh, &self.path));
        written.inspect_err(|_| {
            // A leftover does no harm.
            let _ = std::fs::remove_file(&fresh);
        })
    }
}

impl Drop for ConfigTurn {
    fn drop(&mut self) {
        // Removed while the lock is held: a waiting process sees that the file is gone, and makes another.
        let _ = std::fs::remove_file(&self.lock);
    }
}

/// Returns the file that a link names.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = make_own_file(path).map_err(io::Error::other)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn project(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(PROJECT_FOLDER)).unwrap();
        std::fs::write(project_config_file(folder.path()), text).unwrap();
        folder
    }

    // S-CONFIG-3
    #[test]
    fn a_project_sets_budgets_and_nothing_else() {
        let folder = project("[section_budgets]\ndecisions = 200\n");
        let config = read_project_config(folder.path()).unwrap();
        assert_eq!(config.section_budgets, BTreeMap::from([("decisions".to_owned(), 200)]));
        for text in [
            "logs = \"/tmp/elsewhere\"",
            "model = \"/tmp/model\"",
            "[judge]\ncommand = [\"run\"]",
            "[engine]\nurl = \"postgres://x@127.0.0.1/x\"",
            "[sync]\nremote = \"x\"\nshare = [\"*\"]",
            "[aliases]\na = \"b\"",
        ] {
            let why = read_project_config(project(text).path()).unwrap_err().to_string();
            assert!(why.contains("no setting of a project"), "{text}: {why}");
        }
        let own = project("[section_budgets]\neverywhere = 0\n");
        assert!(read_project_config(own.path()).unwrap_err().to_string().contains("the user's"));
        let nothing = tempfile::tempdir().unwrap();
        assert_eq!(read_project_config(nothing.path()).unwrap(), ProjectConfig::default());
    }

    // S-CONFIG-3
    #[cfg(unix)]
    #[test]
    fn links_and_long_files_are_refused() {
        let secret = tempfile::tempdir().unwrap();
        std::fs::write(secret.path().join(PROJECT_FILE), "password = \"hunter2\"").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(secret.path(), folder.path().join(PROJECT_FOLDER)).unwrap();
        let why = read_project_config(folder.path()).unwrap_err().to_string();
        assert!(!why.contains("password"), "{why}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(PROJECT_FOLDER)).unwrap();
        let path = project_config_file(folder.path());
        std::os::unix::fs::symlink(secret.path().join(PROJECT_FILE), path).unwrap();
        assert!(read_project_config(folder.path()).is_err());
        let long = project(&"#".repeat(100_000));
        assert!(read_project_config(long.path()).unwrap_err().to_string().contains("longer than"));
    }

    #[test]
    fn what_is_endless_is_no_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "# ".repeat(usize::try_from(FILE_BYTES_MAX / 2).unwrap())).unwrap();
        assert_eq!(read_config(&path).unwrap(), Config::default());
        std::fs::write(
            &path,
            format!("{}#", "# ".repeat(usize::try_from(FILE_BYTES_MAX / 2).unwrap())),
        )
        .unwrap();
        assert!(read_config(&path).unwrap_err().to_string().contains("longer than 1048576 bytes"));
        assert_eq!(read_config(&folder.path().join("none")).unwrap(), Config::default());
    }
}
