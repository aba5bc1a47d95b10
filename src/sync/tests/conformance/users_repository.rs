//! The repository of the user's code, whose remote the team's lines go through: not one byte of it changes.

use std::process::Command;

use sync::{GitRemote, RemoteAddress};

use crate::laptops::{Kind, Team, git};

// S-SYNC-5
#[test]
fn not_one_byte_of_the_users_repository_changes() {
    let team = Team::new(Kind::Git);
    let code = team.folder.path().join("code");
    std::fs::create_dir(&code).unwrap();
    git(&code, &["init", "--quiet"], "");
    std::fs::write(code.join("main.rs"), "fn main() {}\n").unwrap();
    git(&code, &["add", "."], "");
    git(&code, &["commit", "--quiet", "-m", "code"], "");
    let url = team.remote_path().display().to_string();
    git(&code, &["remote", "add", "origin", &url], "");
    git(&code, &["push", "--quiet", "origin", "HEAD:refs/heads/main"], "");
    git(&code, &["fetch", "--quiet", "origin"], "");
    // A hook that would leave a mark.
    let hook = code.join(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}/mark\n", team.folder.path().display()))
        .unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let status = git(&code, &["status", "--porcelain=v2", "--branch"], "");
    let mark = team.folder.path().join("before");
    std::fs::write(&mark, "").unwrap();
    let written = std::fs::metadata(&mark).unwrap().modified().unwrap();

    let (mut ana, mut bo) = (team.laptop("ana"), team.laptop("bo"));
    let origin = GitRemote::origin_url(&code).unwrap();
    ana.remote = RemoteAddress::parse(&origin).unwrap();
    bo.remote = ana.remote.clone();
    for laptop in [&ana, &bo, &ana] {
        laptop.write("one");
        laptop.sync();
    }
    assert_eq!(ana.mirror(&bo.origin()).len(), 1);

    let found = Command::new("find").arg(&code).arg("-newer").arg(&mark).output().unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), "", "newer than {written:?}");
    assert!(!team.folder.path().join("mark").exists());
    assert_eq!(git(&code, &["status", "--porcelain=v2", "--branch"], ""), status);
    let branches =
        git(&team.remote_path(), &["for-each-ref", "--format=%(refname)", "refs/heads"], "");
    assert_eq!(branches, "refs/heads/main");
    let clone = team.folder.path().join("clone");
    git(team.folder.path(), &["clone", "--quiet", &url, "clone"], "");
    let refs = git(&clone, &["for-each-ref", "--format=%(refname)"], "");
    assert!(!refs.contains("agent-knowledge"), "{refs}");
}
