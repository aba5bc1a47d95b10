//! Git's settings as git would have them for one repository: which files there are, in which order, and the files that they
//! include. Not here: the text of one file (`setting_text`), what a setting means.

use std::path::{Path, PathBuf};

use crate::machine::Machine;
use crate::setting_text::{Setting, settings};
use crate::small_file::small_text;
use crate::wild_pattern::{Star, matches};

/// How deep files may include each other. Git allows the same.
const DEPTH_MAX: usize = 10;

/// Most files that are read, whatever includes them.
const FILES_MAX: usize = 200;

/// Where the package managers of other systems put the settings of all users, below the root.
const OTHER_SYSTEM_FILES: [&str; 2] = ["/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// What an included file may depend on.
pub(crate) struct IncludeCase<'a> {
    /// The machine.
    pub(crate) machine: &'a Machine,
    /// The repository's directory of git files, where there is one.
    pub(crate) git_dir: Option<&'a Path>,
    /// The current branch.
    pub(crate) branch: Option<&'a str>,
    /// The URLs of the repository's remotes.
    pub(crate) remote_urls: Vec<String>,
}

impl IncludeCase<'_> {
    /// Returns the settings of one file, with those of the files that it includes in their places.
    pub(crate) fn file_settings(&self, path: &Path) -> Option<Vec<Setting>> {
        let text = small_text(path)?;
        let mut files = FILES_MAX;
        Some(self.with_included(path, &text, DEPTH_MAX, &mut files))
    }

    /// Returns the settings of the user and of the machine, the first to be overruled first.
    pub(crate) fn user_settings(&self) -> Vec<Setting> {
        let files = user_files(self.machine);
        let mut found: Vec<Setting> =
            files.iter().filter_map(|path| self.file_settings(path)).flatten().collect();
        let announced = self.machine.git_settings().iter();
        found.extend(announced.filter_map(|(name, value)| Setting::from_name(name, value)));
        found
    }

    fn with_included(
        &self,
        path: &Path,
        text: &str,
        depth: usize,
        files: &mut usize,
    ) -> Vec<Setting> {
        let mut found = Vec::new();
        for setting in settings(text) {
            let included = self.included(path, &setting).filter(|_| depth > 0 && *files > 0);
            found.push(setting);
            let Some(included) = included else { continue };
            *files -= 1;
            if let Some(text) = small_text(&included) {
                found.extend(self.with_included(&included, &text, depth - 1, files));
            }
        }
        found
    }

    /// Returns the file that a setting includes here.
    fn included(&self, from: &Path, setting: &Setting) -> Option<PathBuf> {
        let is_included = setting.is("include", "path") && setting.subsection.is_empty()
            || setting.is("includeIf", "path") && self.is_true(from, &setting.subsection);
        is_included.then(|| path_beside(from, &self.machine.expanded(&setting.value)))
    }

    /// Tells whether a condition of `includeIf` holds.
    fn is_true(&self, from: &Path, condition: &str) -> bool {
        let Some((kind, pattern)) = condition.split_once(':') else { return false };
        match kind {
            "gitdir" => self.is_in_git_dir(from, pattern, &str::to_owned),
            "gitdir/i" => self.is_in_git_dir(from, pattern, &str::to_ascii_lowercase),
            "onbranch" => {
                let pattern = with_all_below(pattern);
                self.branch.is_some_and(|branch| matches(&pattern, branch, Star::OnePart))
            }
            "hasconfig" => {
                let pattern = pattern.strip_prefix("remote.*.url:").map(with_all_below);
                let mut urls = self.remote_urls.iter();
                pattern.is_some_and(|pattern| urls.any(|url| matches(&pattern, url, Star::OnePart)))
            }
            _ => false,
        }
    }

    fn is_in_git_dir(&self, from: &Path, pattern: &str, cased: &dyn Fn(&str) -> String) -> bool {
        let Some(git_dir) = self.git_dir else { return false };
        let pattern = match pattern.strip_prefix("./") {
            Some(below) => path_beside(from, Path::new(below)).to_string_lossy().into_owned(),
            None => self.machine.expanded(pattern).to_string_lossy().into_owned(),
        };
        let is_anchored = Path::new(&pattern).is_absolute() || pattern.starts_with('/');
        let pattern = if is_anchored { pattern } else { format!("**/{pattern}") };
        let pattern = cased(&with_all_below(&pattern.replace('\\', "/")));
        let real = git_dir.canonicalize();
        // A pattern may name a folder by a symbolic link, and git compares both.
        let mut paths = [Some(git_dir.to_owned()), real.ok()].into_iter().flatten();
        paths.any(|path| {
            let path = cased(&path.to_string_lossy().replace('\\', "/"));
            matches(&pattern, &path, Star::OnePart)
        })
    }
}

/// A pattern that ends with `/` matches all below.
fn with_all_below(pattern: &str) -> String {
    if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() }
}

fn path_beside(file: &Path, path: &Path) -> PathBuf {
    file.parent().unwrap_or_else(|| Path::new("")).join(path)
}

/// The files of the machine and of the user, as `git help config` lists them.
fn user_files(machine: &Machine) -> Vec<PathBuf> {
    let is_without_system =
        machine.variable("GIT_CONFIG_NOSYSTEM").is_some_and(|value| value != "0");
    let mut files = match machine.path("GIT_CONFIG_SYSTEM") {
        _ if is_without_system => Vec::new(),
        Some(named) => vec![named],
        None => {
            let others = OTHER_SYSTEM_FILES.iter().map(PathBuf::from);
            std::iter::once(machine.system.join("gitconfig")).chain(others).collect()
        }
    };
    match machine.path("GIT_CONFIG_GLOBAL") {
        Some(named) => files.push(named),
        // Git reads both, and the later one counts.
        None => {
            let platform = machine.path("XDG_CONFIG_HOME").or_else(|| machine.at_home(".config"));
            files.extend(platform.map(|folder| folder.join("git/config")));
            files.extend(machine.at_home(".gitconfig"));
        }
    }
    files
}
