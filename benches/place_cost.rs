//! Measures what it costs to find the repository of a directory before a save, beside the save itself: a save that names its repository and one that
//! takes the directory's take turns in one process. Not here: whole processes (`append`, `hook`).
//!
//! `cargo bench --no-default-features --bench place_cost -- [ROUNDS]`
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use event::{Draft, Timestamp};
use place::Machine;
use settings::Config;
use store::{Durability, Store};
use writer::{Identity, Moment, Writer};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Default number of rounds.
const ROUNDS_DEFAULT: usize = 4_000;
/// Files of a folder without version control.
const FILES: usize = 300;

/// Where a save is made from.
struct Scene {
    name: &'static str,
    writer: Writer,
    /// The repository that the save names.
    repo: Option<&'static str>,
    nanoseconds: Vec<u128>,
}

fn main() -> Outcome<()> {
    let rounds = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .find_map(|word| word.parse().ok());
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-place-cost");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    let mut scenes = scenes(&root)?;
    for round in 0..rounds.unwrap_or(ROUNDS_DEFAULT) {
        for scene in &mut scenes {
            let draft = Draft {
                repo: scene.repo.map(str::to_owned),
                event_type: Some("fact".to_owned()),
                lesson: Some(format!("{round} {}", "lesson ".repeat(40))),
                ..Draft::default()
            };
            let moment = Moment { now: Timestamp::UNIX_EPOCH, random: round as u128 };
            let began = Instant::now();
            scene.writer.record(draft, moment, Durability::Written)?;
            scene.nanoseconds.push(began.elapsed().as_nanos());
        }
    }
    report(&mut scenes);
    Ok(())
}

fn report(scenes: &mut [Scene]) {
    println!("| a save | min, µs | p50, µs | above the first, µs |\n|---|---|---|---|");
    let mut floor = None;
    for Scene { name, nanoseconds, .. } in scenes {
        nanoseconds.sort_unstable();
        let at = |part: usize| {
            nanoseconds.get(nanoseconds.len() * part / 4).copied().unwrap_or(0) as f64 / 1e3
        };
        let floor = *floor.get_or_insert(at(2));
        println!("| {name} | {:.1} | {:.1} | {:.1} |", at(0), at(2), at(2) - floor);
    }
}

fn scenes(root: &Path) -> Outcome<Vec<Scene>> {
    let home = root.join("home");
    write(&home.join(".ssh/config"), "Host work\n  HostName github.com\n")?;
    write(
        &home.join(".gitconfig"),
        "[url \"git@github.com:\"]\n  insteadOf = gh:\n[user]\n  name = Ana\n",
    )?;
    let plain = root.join("plain");
    for number in 0..FILES {
        write(&plain.join(format!("{number}.txt")), "x")?;
    }
    let at = |name: &str, url: &str| clone(&root.join(name), url);
    let (forge, alias, rewritten) = (
        at("forge", "git@github.com:acme/api.git")?,
        at("alias", "git@work:acme/api.git")?,
        at("rewritten", "gh:acme/api")?,
    );
    let deep = forge.join("packages/web/src");
    fs::create_dir_all(&deep)?;
    let workspace = at("workspace", "git@github.com:acme/shop.git")?;
    let globs = r#"{"name":"shop","workspaces":["packages/*"]}"#;
    write(&workspace.join("package.json"), globs)?;
    write(&workspace.join("packages/web/package.json"), "{}")?;
    let package = workspace.join("packages/web");
    let named = |name, directory: &Path, repo| scene(name, root, &home, directory, repo);
    Ok(vec![
        named("that names its repository", &plain, Some("github.com/acme/api")),
        named("in a clone of GitHub", &forge, None),
        named("four folders below its top", &deep, None),
        named("in a package of a workspace", &package, None),
        named("in a clone whose server is a name of SSH's settings", &alias, None),
        named("in a clone whose URL git rewrites", &rewritten, None),
        named("in a folder of 300 files without version control", &plain, None),
    ])
}

fn scene(
    name: &'static str,
    root: &Path,
    home: &Path,
    directory: &Path,
    repo: Option<&'static str>,
) -> Scene {
    let lookup = |variable: &str| (variable == "HOME").then(|| OsString::from(home));
    let logs = root.join("logs").join(name.replace(' ', "-"));
    let writer = Writer {
        store: Store::at(logs).on(Machine::from_environment(&lookup)),
        config: Config::default(),
        directory: directory.to_owned(),
        identity: Identity::from_environment(&lookup, directory),
    };
    Scene { name, writer, repo, nanoseconds: Vec::new() }
}

fn clone(top: &Path, url: &str) -> Outcome<PathBuf> {
    fs::create_dir_all(top.join(".git/objects"))?;
    write(&top.join(".git/refs/heads/main"), &format!("{}\n", "a".repeat(40)))?;
    write(&top.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    write(
        &top.join(".git/config"),
        &format!("[core]\n  bare = false\n[remote \"origin\"]\n  url = {url}\n"),
    )?;
    Ok(top.to_owned())
}

fn write(path: &Path, text: &str) -> Outcome<()> {
    fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    Ok(fs::write(path, text)?)
}
