//! The name of a person, as git has it. Reads git's files instead of starting git, as `repo` does. Files that a configuration
//! includes are not read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::git_config::{entries, read};
use super::repo::DetectedRepo;

/// Returns the name by which git records what a person does in a directory: `GIT_AUTHOR_NAME`, else `user.name` of the
/// repository, else that of the person's own configuration. `lookup` reads the environment.
#[must_use]
pub fn git_person(lookup: &dyn Fn(&str) -> Option<OsString>, directory: &Path) -> Option<String> {
    let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
    if let Some(name) = set("GIT_AUTHOR_NAME") {
        return name.into_string().ok();
    }
    let of_repository =
        DetectedRepo::detect(directory).git.map(|git| git.common_dir.join("config"));
    let home = |below: &str| set("HOME").map(|home| PathBuf::from(home).join(below));
    let platform = set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| home(".config"));
    let global = match set("GIT_CONFIG_GLOBAL") {
        Some(named) => vec![PathBuf::from(named)],
        // Git reads both, and the later one counts.
        None => {
            home(".gitconfig").into_iter().chain(platform.map(|at| at.join("git/config"))).collect()
        }
    };
    of_repository.into_iter().chain(global).find_map(|path| {
        let config = read(&path)?;
        let last = entries(&config).filter(|entry| entry.is("user", "name")).last()?;
        Some(last.value).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_the_name_of_git() {
        let place = tempfile::tempdir().unwrap();
        let (home, repo) = (place.path().join("home"), place.path().join("repo"));
        std::fs::create_dir_all(repo.join(".git/refs")).unwrap();
        std::fs::create_dir_all(home.join(".config/git")).unwrap();
        let named = |variables: &[(&str, &str)]| {
            let lookup = |name: &str| {
                let given = variables.iter().find(|(other, _)| *other == name);
                match given {
                    Some((_, value)) => Some(OsString::from(value)),
                    None => (name == "HOME").then(|| home.clone().into_os_string()),
                }
            };
            git_person(&lookup, &repo)
        };
        assert_eq!(named(&[]), None);
        std::fs::write(home.join(".config/git/config"), "[user]\nname = Platform\n").unwrap();
        assert_eq!(named(&[]).as_deref(), Some("Platform"));
        let own = "[core]\nname = no\n[User] Name = \"Ada; L\" # me\nemail = a@example.org\n";
        std::fs::write(home.join(".gitconfig"), own).unwrap();
        assert_eq!(named(&[]).as_deref(), Some("Ada; L"));
        std::fs::write(repo.join(".git/config"), "[user]\n\tname = Ada at work ; here\n").unwrap();
        assert_eq!(named(&[]).as_deref(), Some("Ada at work"));
        assert_eq!(named(&[("GIT_AUTHOR_NAME", "Bot")]).as_deref(), Some("Bot"));
    }
}
