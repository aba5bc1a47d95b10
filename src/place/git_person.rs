//! The name of a person, as git has it. Reads git's files instead of starting git. Not here: which agent works (`writer`).

use std::path::Path;

use crate::git_repository::{GitAt, GitRepository};
use crate::git_settings::IncludeCase;
use crate::machine::Machine;
use crate::remote::own_settings;

/// Returns the name by which git records what a person does in a directory: `GIT_AUTHOR_NAME`, else `user.name` of the
/// repository, else that of the person's own configuration.
#[must_use]
pub fn git_person(machine: &Machine, directory: &Path) -> Option<String> {
    if let Some(name) = machine.variable("GIT_AUTHOR_NAME") {
        return name.clone().into_string().ok();
    }
    let found = directory.ancestors().find_map(|folder| match GitAt::look(folder) {
        GitAt::Repository(found) => Some(found),
        _ => None,
    });
    let mut case = IncludeCase {
        machine,
        git_dir: found.as_ref().map(|found| &*found.git_dir),
        branch: found.as_ref().and_then(|found| found.head.branch.as_deref()),
        remote_urls: Vec::new(),
    };
    let own = found.as_ref().map(|GitRepository { common_dir, git_dir, .. }| {
        own_settings(&mut case, common_dir, git_dir)
    });
    // The repository's own settings come last, and the last counts.
    let mut all = case.user_settings();
    all.extend(own.unwrap_or_default());
    let last = all.into_iter().rfind(|setting| setting.is("user", "name"))?;
    Some(last.value).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn a_person_has_the_name_of_git() {
        let place = tempfile::tempdir().unwrap();
        let (home, repo) = (place.path().join("home"), place.path().join("repo"));
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(repo.join(".git").join(folder)).unwrap();
        }
        std::fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::create_dir_all(home.join(".config/git")).unwrap();
        let named = |variables: &[(&str, &str)]| {
            let lookup = |name: &str| {
                let given = variables.iter().find(|(other, _)| *other == name);
                match given {
                    Some((_, value)) => Some(OsString::from(value)),
                    None => (name == "HOME").then(|| home.clone().into_os_string()),
                }
            };
            let mut machine = Machine::from_environment(&lookup);
            machine.system = place.path().join("etc");
            git_person(&machine, &repo)
        };
        assert_eq!(named(&[]), None);
        std::fs::write(home.join(".config/git/config"), "[user]\nname = Platform\n").unwrap();
        assert_eq!(named(&[]).as_deref(), Some("Platform"));
        let own = "[core]\nname = no\n[User] Name = \"Ada; L\" # me\nemail = a@example.org\n";
        std::fs::write(home.join(".gitconfig"), own).unwrap();
        assert_eq!(named(&[]).as_deref(), Some("Ada; L"));
        let work = "[includeIf \"gitdir:**/repo/\"]\npath = work\n";
        std::fs::write(home.join(".gitconfig"), format!("{own}{work}")).unwrap();
        std::fs::write(home.join("work"), "[user]\nname = Ada of work\n").unwrap();
        assert_eq!(named(&[]).as_deref(), Some("Ada of work"));
        std::fs::write(repo.join(".git/config"), "[user]\n\tname = Ada at work ; here\n").unwrap();
        assert_eq!(named(&[]).as_deref(), Some("Ada at work"));
        assert_eq!(named(&[("GIT_AUTHOR_NAME", "Bot")]).as_deref(), Some("Bot"));
    }
}
