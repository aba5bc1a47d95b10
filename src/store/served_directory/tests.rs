//! Paths that are used again: which key a directory has, whatever lay there before.

use std::process::Command;

use event::Timestamp;
use place::{Locator, Machine, Steps};
use settings::Config;

use super::*;

/// A store, and a folder for projects.
struct PathWorld {
    folder: tempfile::TempDir,
    store: Store,
    config: Config,
}

impl PathWorld {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let lookup = |name: &str| (name == "HOME").then(|| home.join("home").into_os_string());
        let store = Store::at(home.join("logs")).on(Machine::from_environment(&lookup));
        store.ensure().unwrap();
        Self { folder, store, config: Config::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn git(&self, name: &str, args: &[&str]) {
        let top = self.path(name);
        std::fs::create_dir_all(&top).unwrap();
        let mut command = Command::new("git");
        command.current_dir(&top).env("HOME", &top).env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(args);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn begin(&self, name: &str, words: &str) {
        self.git(name, &["init", "--quiet"]);
        self.git(name, &["commit", "--quiet", "--allow-empty", "-m", words]);
    }

    fn place(&self, name: &str) -> Place {
        self.store.place_at(&self.path(name), &self.config)
    }

    /// Where memories of a place go.
    fn key(&self, name: &str) -> String {
        self.place(name).repository.unwrap().to_string()
    }

    /// Saves something there, as far as the store remembers it.
    fn save(&self, name: &str) -> String {
        let place = self.place(name);
        let own = place.own_key.clone().unwrap();
        std::fs::write(self.store.log_of(&own), "{}\n").unwrap();
        self.store.remember_place(&place, Timestamp::UNIX_EPOCH);
        self.key(name)
    }

    fn remove(&self, name: &str) {
        std::fs::remove_dir_all(self.path(name)).unwrap();
        // A file system may give the number of the directory to the next one.
        std::fs::create_dir_all(self.path("other")).unwrap();
    }

    fn join(&mut self, old: &str, new: &str) {
        let key = |text: &str| RepoKey::parse(text).unwrap();
        self.config.aliases.insert(key(old), key(new));
    }
}

// S-REPO-9
#[test]
fn a_new_repository_is_not_told_what_was_moved_away() {
    let mut world = PathWorld::new();
    world.begin("shop", "one");
    let old = world.save("shop");
    std::fs::rename(world.path("shop"), world.path("store")).unwrap();
    let moved = world.save("store");
    world.join(&old, &moved);
    world.begin("shop", "two");
    let new = world.key("shop");
    assert!(new != old && new != moved && new.starts_with("shop~"), "{new}");
    assert_eq!(world.save("shop"), new, "and it stays so");
    assert_eq!(world.key("store"), moved);
    // A third one, and the first one back in its place.
    world.remove("shop");
    world.begin("shop", "three");
    let third = world.save("shop");
    assert!(third != new && third != old, "{third}");
    world.remove("shop");
    std::fs::rename(world.path("store"), world.path("shop")).unwrap();
    assert_eq!(world.key("shop"), moved, "by the alias");
}

// S-REPO-9
#[test]
fn a_clone_anew_is_the_same_and_a_new_beginning_is_not() {
    let world = PathWorld::new();
    world.begin("api", "one");
    let key = world.save("api");
    world.git("api", &["commit", "--quiet", "--allow-empty", "-m", "more"]);
    world.git("api", &["gc", "--quiet"]);
    let (from, to) = (world.path("api"), world.path("copy"));
    world.git("", &["clone", "--quiet", "--no-local", &from.display().to_string(), "copy"]);
    world.git("copy", &["remote", "remove", "origin"]);
    world.remove("api");
    std::fs::rename(&to, &from).unwrap();
    assert_eq!(world.key("api"), key, "it has the same commits");
    assert_eq!(world.save("api"), key);
    // History may be written anew in the same directory.
    world.git("api", &["checkout", "--quiet", "--orphan", "fresh"]);
    world.git("api", &["commit", "--quiet", "--allow-empty", "-m", "anew"]);
    assert_eq!(world.key("api"), key);
    world.remove("api");
    world.begin("api", "another");
    assert_ne!(world.key("api"), key);
}

/// Makes the files of a repository of Mercurial or Sapling, with a first change.
fn begin_mercurial(world: &PathWorld, name: &str, (files, first): (&str, u8)) {
    let files = world.path(name).join(files);
    std::fs::create_dir_all(files.join("store")).unwrap();
    std::fs::write(files.join("requires"), "revlogv1\nstore\n").unwrap();
    let mut entry = [0; 64];
    entry[3] = 1;
    entry[32..52].fill(first);
    std::fs::write(files.join("store/00changelog.i"), entry).unwrap();
}

/// Makes the files of a repository of Jujutsu, which keeps a commit in git.
fn begin_jujutsu(world: &PathWorld, name: &str, words: &str) {
    let store = format!("{name}/.jj/repo/store");
    world.git(&format!("{store}/git"), &["init", "--quiet", "--bare"]);
    std::fs::write(world.path(&store).join("git_target"), "git").unwrap();
    let git = world.path(&store).join("git");
    let run = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(&git).env("HOME", &git).env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(args);
        let done = command.stdin(std::process::Stdio::null()).output().unwrap();
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    let tree = run(&["hash-object", "-w", "-t", "tree", "--stdin"]);
    let commit = run(&["commit-tree", &tree, "-m", words]);
    run(&["update-ref", &format!("refs/jj/keep/{commit}"), &commit]);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), &target).unwrap()),
        }
    }
}

// S-REPO-9
#[test]
fn a_path_of_other_programs_is_used_again() {
    type Begin = fn(&PathWorld, &str, u8);
    let programs: [(&str, Begin); 3] = [
        ("hg", |world, name, first| begin_mercurial(world, name, (".hg", first))),
        ("sl", |world, name, first| begin_mercurial(world, name, (".sl", first))),
        ("jj", |world, name, first| begin_jujutsu(world, name, &first.to_string())),
    ];
    for (program, begin) in programs {
        let mut world = PathWorld::new();
        begin(&world, "shop", 1);
        let old = world.save("shop");
        assert_eq!(world.key("shop"), old, "{program}");
        // Restored from a backup.
        copy(&world.path("shop"), &world.path("backup"));
        world.remove("shop");
        std::fs::rename(world.path("backup"), world.path("shop")).unwrap();
        assert_eq!(world.key("shop"), old, "{program}");
        assert_eq!(world.save("shop"), old, "{program}");
        // Moved away and joined; another one is begun in its place.
        std::fs::rename(world.path("shop"), world.path("store")).unwrap();
        let moved = world.save("store");
        world.join(&old, &moved);
        begin(&world, "shop", 2);
        let new = world.key("shop");
        assert!(new != old && new != moved && new.starts_with("shop~"), "{program}: {new}");
        assert_eq!(world.save("shop"), new, "{program}");
        assert_eq!(world.key("store"), moved, "{program}");
        // Deleted, and begun anew.
        world.remove("shop");
        begin(&world, "shop", 3);
        let third = world.key("shop");
        assert!(third != new && third != old, "{program}: {third}");
    }
}

// S-REPO-9
#[test]
fn without_commits_the_directory_decides() {
    let world = PathWorld::new();
    world.git("new", &["init", "--quiet"]);
    let key = world.save("new");
    assert_eq!(world.key("new"), key);
    world.git("new", &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    assert_eq!(world.save("new"), key);
    let known = world.store.place_records();
    assert!(known.last().unwrap().first_commit.is_some(), "it has one now: {known:?}");
    world.remove("new");
    world.git("new", &["init", "--quiet"]);
    let second = world.save("new");
    assert_ne!(second, key);
    assert_eq!(world.key("new"), second);
}

// S-REPO-9
#[test]
fn a_folder_is_another_once_the_first_one_lies_elsewhere() {
    let mut world = PathWorld::new();
    let make = |world: &PathWorld, name: &str| {
        std::fs::create_dir_all(world.path(name)).unwrap();
        std::fs::write(world.path(name).join("AGENTS.md"), "x\n").unwrap();
    };
    make(&world, "notes");
    let old = world.save("notes");
    world.remove("notes");
    make(&world, "notes");
    assert_eq!(world.save("notes"), old, "a tool unpacked it anew");
    std::fs::rename(world.path("notes"), world.path("diary")).unwrap();
    let moved = world.key("diary");
    world.join(&old, &moved);
    make(&world, "notes");
    std::fs::create_dir_all(world.path("notes/2026")).unwrap();
    let new = world.key("notes/2026");
    assert!(new != old && new != moved, "{new}");
    assert_eq!(world.save("notes"), new);
    // Without the alias as well, once something was saved in the other place.
    world.save("diary");
    world.config.aliases.clear();
    assert_eq!((world.key("notes"), world.key("diary")), (new, moved));
}

// S-REPO-5, S-REPO-9
#[test]
fn a_remote_joins_the_key_of_its_own_repository() {
    let world = PathWorld::new();
    world.begin("web", "one");
    let first = world.save("web");
    world.remove("web");
    world.begin("web", "two");
    let second = world.save("web");
    world.git("web", &["remote", "add", "origin", "git@github.com:acme/web.git"]);
    assert_eq!(world.save("web"), "github.com/acme/web");
    let joins = world.store.certain_joins();
    let key = |text: &str| RepoKey::parse(text).unwrap();
    assert_eq!(joins.get(&key(&second)), Some(&key("github.com/acme/web")), "{joins:?}");
    assert_eq!(joins.get(&key(&first)), None);
    // What was there before is asked about, and so is nothing that lies elsewhere.
    let known = [key(&first), key(&second), key("github.com/acme/web")];
    let place = world.place("web");
    let here = place.repository.clone().unwrap();
    let found = world.store.former_repos(&place, &here, &known, &<_>::default());
    let told: Vec<String> = found.iter().map(|former| former.sentence(&here, Some(1))).collect();
    let replaced = format!("another repository lay in this directory, {first} (1 memory)");
    assert!(told.iter().any(|told| told.contains(&replaced)), "{told:?}");
}

#[test]
fn records_of_older_versions_say_the_same() {
    let world = PathWorld::new();
    world.begin("old", "one");
    let key = world.save("old");
    let record = world.store.root().join(".places/directories");
    let text = std::fs::read_to_string(&record).unwrap();
    let (before, born) = text.split_once("\"born\"").unwrap();
    let (_, after) = born.split_once(',').unwrap();
    std::fs::write(&record, format!("{before}{after}")).unwrap();
    assert_eq!(world.key("old"), key);
    world.remove("old");
    world.begin("old", "two");
    assert_ne!(world.key("old"), key, "another commit, whatever the number of the directory");
}

// S-REPO-5
#[test]
fn of_a_record_longer_than_4_mib_the_newest_lines_count() {
    let world = PathWorld::new();
    world.begin("first", "one");
    let first = world.save("first");
    world.begin("last", "one");
    let record = world.store.root().join(".places/directories");
    let line = std::fs::read_to_string(&record).unwrap();
    let other = |number: usize| line.replace("/first/", &format!("/elsewhere-{number}/"));
    let mut text = line.clone();
    let mut number = 0;
    while text.len() <= 5 * 1024 * 1024 {
        text.push_str(&other(number));
        number += 1;
    }
    std::fs::write(&record, text).unwrap();
    let last = world.save("last");
    let known = world.store.place_records();
    assert!(known.len() > 10_000 && known.len() < number, "{} of {number}", known.len());
    assert_eq!(known.last().unwrap().repo.to_string(), last);
    assert_eq!(world.save("last"), last);
    assert_eq!(world.store.place_records().len(), known.len(), "nothing new was to be said");
    // What is no longer read is as if it had not been written.
    assert_eq!(world.key("first"), first);
    let steps = Steps::disabled();
    let machine = world.store.machine();
    let by_files = Locator::new(machine, &place::NothingStored, steps).at(&world.path("first"));
    assert_eq!(by_files.repository.unwrap().to_string(), first);
}
