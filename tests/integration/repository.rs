//! One repository has one key wherever it stands, and two repositories never share a file: with
//! real git. Not here: how every form of a URL is normalised (`event::RepoKey` tests that itself).

use std::path::{Path, PathBuf};

use event::Event;

use crate::world::World;

const API: &str = "github.com/acme/api";

/// Writes an event in a directory and returns it as it stands in the log.
fn written_in(world: &World, directory: &Path) -> Event {
    written(world, directory, &[])
}

fn written(world: &World, directory: &Path, more: &[&str]) -> Event {
    let args = [&["--type", "fact", "--lesson", "x"], more].concat();
    let id = world.log_memory_in(directory, &args).done();
    let id = id.trim_end();
    world.all_events().into_iter().find(|event| event.id.as_str() == id).expect("it was written")
}

/// Makes a repository with one commit, and a remote where one is given.
fn repository(world: &World, name: &str, remote: Option<&str>) -> PathBuf {
    let top = world.path(name);
    world.git(&top, &["init", "--quiet"]);
    world.git(&top, &["commit", "--quiet", "--allow-empty", "--message", "first"]);
    if let Some(url) = remote {
        world.git(&top, &["remote", "add", "origin", url]);
    }
    top
}

// S-REPO-2
#[test]
fn one_remote_gives_one_key_however_it_is_reached() {
    let world = World::new();
    let urls = [
        "https://github.com/Acme/API.git",
        "git@github.com:acme/api.git",
        "ssh://git@ssh.github.com:443/acme/api",
        "https://user:secret@github.com/acme/api/",
    ];
    for (number, url) in urls.into_iter().enumerate() {
        let clone = repository(&world, &format!("clone-{number}"), Some(url));
        assert_eq!(written_in(&world, &clone).repo, API, "{url}");
    }
    assert_eq!(world.log_names(), ["github.com+acme+api.jsonl"]);
    let log = std::fs::read_to_string(world.store().join("github.com+acme+api.jsonl")).unwrap();
    assert!(!log.contains("secret"), "a password in a remote's URL reached the disk");
}

// S-REPO-3
#[test]
fn subfolders_and_work_trees_belong_to_their_repository() {
    let world = World::new();
    for (name, remote) in [("shared", Some("git@github.com:acme/api.git")), ("lonely", None)] {
        let top = repository(&world, name, remote);
        let deep = top.join("src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        let tree = world.path(format!("{name}-tree"));
        world.git(&top, &["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
        let key = written_in(&world, &top).repo;
        assert_eq!(written_in(&world, &deep).repo, key, "{name}");
        let beside = written_in(&world, &tree);
        assert_eq!((beside.repo.as_str(), beside.branch.as_deref()), (key.as_str(), Some("side")));
    }
    assert_eq!(world.log_names().len(), 2, "{:?}", world.log_names());
}

#[test]
fn a_bare_clone_and_its_work_trees_are_one_repository() {
    let world = World::new();
    let source = repository(&world, "source", None);
    let bare = world.path("api.git");
    world.git(&world.work(), &["clone", "--quiet", "--bare", path(&source), path(&bare)]);
    let tree = world.path("tree");
    world.git(&bare, &["worktree", "add", "--quiet", path(&tree), "main"]);
    let lonely = written_in(&world, &bare).repo;
    assert!(lonely.starts_with("api~"), "{lonely}");
    assert_eq!(written_in(&world, &tree).repo, lonely);
    world.git(&bare, &["remote", "set-url", "origin", "https://github.com/acme/api"]);
    assert_eq!(written_in(&world, &bare).repo, API);
    assert_eq!(written_in(&world, &tree).repo, API);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let world = World::new();
    let library = repository(&world, "library", None);
    let top = repository(&world, "api", Some("https://github.com/acme/api"));
    world.git(&top, &["submodule", "--quiet", "add", path(&library), "vendor/library"]);
    let inside = top.join("vendor/library");
    world.git(&inside, &["remote", "set-url", "origin", "https://github.com/acme/library"]);
    let event = written_in(&world, &inside);
    assert_eq!(event.repo, "github.com/acme/library");
    assert_eq!(event.commit, Some(world.git(&inside, &["rev-parse", "HEAD"])));
    assert_eq!(written_in(&world, &top).repo, API);
}

// S-REPO-3
#[test]
fn folders_of_one_name_do_not_share_a_file() {
    let world = World::new();
    let plain = ["a/api", "b/api"].map(|name| world.path(name));
    plain.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let with_git = ["c/api", "d/api"].map(|name| repository(&world, name, None));
    let folders: Vec<_> = plain.into_iter().chain(with_git).collect();
    for folder in &folders {
        let key = written_in(&world, folder).repo;
        assert!(key.starts_with("api~"), "{key}");
        assert_eq!(written_in(&world, folder).repo, key, "the same folder, the same key");
    }
    assert_eq!(world.log_names().len(), folders.len(), "{:?}", world.log_names());
}

#[test]
fn a_clone_that_moves_keeps_its_key() {
    let world = World::new();
    let before = repository(&world, "before", Some("https://github.com/acme/api"));
    let key = written_in(&world, &before).repo;
    let after = world.path("after");
    std::fs::rename(before, &after).unwrap();
    assert_eq!(written_in(&world, &after).repo, key);
}

// S-REPO-4
#[test]
fn a_renamed_repository_is_found_by_its_alias() {
    let world = World::new();
    world.configure("[aliases]\n\"github.com/acme/old\" = \"github.com/acme/api\"\n");
    let old = repository(&world, "old", Some("https://github.com/acme/old"));
    assert_eq!(written_in(&world, &old).repo, API);
    assert_eq!(written(&world, &world.work(), &["--repo", "github.com/acme/old"]).repo, API);
}

// S-REPO-4
#[test]
fn a_short_name_finds_its_repository_while_it_is_unique() {
    let world = World::new();
    let work = world.work();
    written(&world, &work, &["--repo", API]);
    assert_eq!(written(&world, &work, &["--repo", "api"]).repo, API);
    assert_eq!(written(&world, &work, &["--repo", "Acme/API"]).repo, API);
    written(&world, &work, &["--repo", "https://gitlab.com/other/api.git"]);
    let ran = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "x"]);
    assert_eq!((ran.exit, ran.output.as_str()), (Some(65), ""));
    let both = "github.com/acme/api or gitlab.com/other/api";
    assert!(ran.messages.contains("--repo: ") && ran.messages.contains(both), "{}", ran.messages);
}

// S-REPO-4
#[test]
fn the_name_of_the_folder_joins_its_repository() {
    let world = World::new();
    let top = repository(&world, "api", Some("https://github.com/acme/api"));
    let odd = repository(&world, "My API (copy)", Some("https://github.com/acme/api"));
    std::fs::create_dir_all(top.join("src")).unwrap();
    for (directory, name) in [
        (&top, "api"),
        (&top, "API"),
        (&top.join("src"), "src"),
        (&odd, "My API (copy)"),
        (&odd, "api"),
    ] {
        let event = written(&world, directory, &["--repo", name]);
        assert_eq!((event.repo.as_str(), event.branch.is_some()), (API, true), "{name}");
    }
    // Where the word alone could mean several, the directory decides.
    written(&world, &world.work(), &["--repo", "https://gitlab.com/other/api.git"]);
    assert_eq!(written(&world, &top, &["--repo", "api"]).repo, API);
    let found = |name: &str, directory: &Path| {
        let ran = world.agent_knowledge_in(directory, &["search", "x", "--repo", name, "--json"]);
        let answer: serde_json::Value = serde_json::from_str(&ran.done()).unwrap();
        answer["memories"][0]["repo"].as_str().map(str::to_owned)
    };
    assert_eq!(found("api", &top).as_deref(), Some(API));
    assert_eq!(found("src", &top.join("src")).as_deref(), Some(API));
    assert_eq!(found("My API (copy)", &odd).as_deref(), Some(API));
    // The name of another known repository means that one, whatever the folder is called.
    let shop = repository(&world, "web", Some("https://github.com/acme/shop"));
    written(&world, &world.work(), &["--repo", "github.com/acme/web"]);
    assert_eq!(written(&world, &shop, &["--repo", "web"]).repo, "github.com/acme/web");
    let plain = world.path("plain");
    std::fs::create_dir_all(&plain).unwrap();
    let here = written_in(&world, &plain).repo;
    assert_eq!(written(&world, &plain, &["--repo", "plain"]).repo, here, "also without git");
    let ran =
        world.log_memory_in(&plain, &["--repo", "not plain", "--type", "fact", "--lesson", "x"]);
    assert_eq!(ran.exit, Some(65), "another odd name is refused");
}

#[test]
fn branch_and_commit_are_recorded_as_git_tells_them() {
    let world = World::new();
    let top = repository(&world, "api", Some("https://github.com/acme/api"));
    let commit = world.git(&top, &["rev-parse", "HEAD"]);
    world.git(&top, &["switch", "--quiet", "--create", "feature/login"]);
    let loose = written_in(&world, &top);
    assert_eq!(
        (loose.branch.as_deref(), &loose.commit),
        (Some("feature/login"), &Some(commit.clone()))
    );
    world.git(&top, &["pack-refs", "--all"]);
    assert_eq!(written_in(&world, &top).commit, Some(commit.clone()));
    world.git(&top, &["switch", "--quiet", "--detach"]);
    let detached = written_in(&world, &top);
    assert_eq!((detached.branch, detached.commit), (None, Some(commit)));
}

#[test]
fn no_commit_and_no_git_are_no_trouble() {
    let world = World::new();
    let fresh = world.path("fresh");
    world.git(&fresh, &["init", "--quiet"]);
    let event = written_in(&world, &fresh);
    assert_eq!((event.branch.as_deref(), event.commit), (Some("main"), None));
    let plain = written_in(&world, &world.work());
    assert_eq!((plain.branch, plain.commit), (None, None));
}

#[test]
fn what_git_tells_belongs_to_this_repository_only() {
    let world = World::new();
    let top = repository(&world, "api", Some("https://github.com/acme/api"));
    let other = written(&world, &top, &["--repo", "github.com/acme/other"]);
    assert_eq!((other.branch, other.commit), (None, None));
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

// S-REPO-4
#[test]
fn a_mistyped_repository_is_answered_with_the_known_one() {
    let world = World::new();
    let lesson = ["--type", "error", "--lesson", "the zebra port is taken"];
    world.log_memory(&[&lesson[..], &["--repo", "github.com/acme/web-api"]].concat()).done();
    let note = |repo: &str| world.agent_knowledge(&["search", "zebra", "--repo", repo]).done();
    for typed in ["web-apo", "github.com/acme/wep-api", "webapi"] {
        assert!(note(typed).contains("Did you mean github.com/acme/web-api?"), "{}", note(typed));
    }
    assert!(!note("billing").contains("Did you mean"), "{}", note("billing"));
}
