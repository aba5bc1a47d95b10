//! Whatever stands in the files, there is an answer, and the same one each time. Not here: which answer.

use event::RepoKey;
use proptest::prelude::*;

use super::scene::Scene;

/// Files that are read, by their paths in a scene.
const FILES: &[&str] = &[
    "~/.gitconfig",
    "~/.ssh/config",
    "~/.aws/config",
    "api/.git",
    "api/.git/HEAD",
    "api/.git/config",
    "api/.git/commondir",
    "api/.git/packed-refs",
    "api/.gitmodules",
    "api/.jj/repo",
    "api/.jj/repo/store/git_target",
    "api/.hg/hgrc",
    "api/.hg/requires",
    "api/.hg/sharedpath",
    "api/.sl/config",
    "api/package.json",
    "api/src/package.json",
    "api/pnpm-workspace.yaml",
    "api/Cargo.toml",
    "api/settings.gradle",
    "api/go.work",
    "api/src/.git",
];

/// Parts of such files.
const PARTS: &[&str] = &[
    "gitdir: ",
    "../",
    ".git",
    "/worktrees/",
    "x",
    "ref: ",
    "refs/heads/",
    "main",
    "\n",
    "[remote \"origin\"]\n",
    "url = ",
    "git@gh:",
    "https://",
    "github.com",
    "/",
    ":",
    "@",
    "[",
    "]",
    "\"",
    "\\",
    "=",
    "#",
    "%",
    "%h",
    "~",
    "[include]\npath = ",
    ".gitconfig",
    "[url \"",
    "insteadOf = ",
    "Host ",
    "HostName ",
    "Include ",
    "config",
    "*",
    "**",
    "[!",
    "?",
    "[paths]\n",
    "default = ",
    "%include ",
    "codecommit::",
    "://",
    "\u{feff}",
    "\u{202e}",
    "é",
    "\0",
    "[submodule \"src\"]\n",
    "core.sshCommand",
    "[includeIf \"gitdir:",
    "[includeIf \"onbranch:",
    "{\"workspaces\":[\"",
    "packages:\n- ",
    "[workspace]\nmembers=[\"",
    "include(\"",
    "projectDir",
    "use (",
    "/*",
    "{a,",
];

fn a_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => proptest::sample::select(PARTS).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_directory_has_an_answer(
        files in proptest::collection::vec((proptest::sample::select(FILES), a_text()), 0..8),
        directory in prop_oneof![Just("api/src".to_owned()), Just("api".to_owned()), a_text()],
    ) {
        let scene = Scene::new();
        for (file, text) in &files {
            let path = scene.path(file);
            // A file may stand where another needs a folder.
            if path.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok()) {
                let _ = std::fs::write(&path, text);
            }
        }
        let directory = scene.path(&directory);
        let place = scene.place(&directory, &mut Vec::new());
        prop_assert_eq!(&place, &scene.place(&directory, &mut Vec::new()));
        prop_assert_eq!(place.package(), place.package());
        if let Some(key) = &place.repository {
            prop_assert_eq!(&RepoKey::parse(key.as_str()).unwrap(), key);
        }
    }
}
