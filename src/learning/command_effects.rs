//! The effects of a command that ran between a failure and its fix: it may have helped, changed a file, or done
//! neither. Only commands that are known to set something up get credit. Not here: the goal of a command
//! (`commands`).

use crate::commands::{segment_only_reads, words};
use crate::shell_line::{ShellCommand, segments};

/// Endings of the names of configuration files. A change to one of them can fix the same failure in other
/// repositories. A fix in source code is in the history of its repository instead.
const SETTINGS: [&str; 20] = [
    ".toml",
    ".yaml",
    ".yml",
    ".json",
    ".lock",
    ".cfg",
    ".ini",
    ".env",
    ".conf",
    ".properties",
    ".gradle",
    ".mod",
    "pom.xml",
    "Dockerfile",
    "Makefile",
    "requirements.txt",
    ".npmrc",
    ".nvmrc",
    ".tool-versions",
    "Gemfile",
];

/// Programs that set something up, start or stop something, or clean up, whatever their arguments.
const SETS_UP: [&str; 38] = [
    "mkdir",
    "touch",
    "chmod",
    "chown",
    "ln",
    "export",
    "unset",
    "source",
    ".",
    "kill",
    "pkill",
    "killall",
    "ulimit",
    "sysctl",
    "mount",
    "modprobe",
    "usermod",
    "ldconfig",
    "locale-gen",
    "update-alternatives",
    "ssh-add",
    "ssh-keyscan",
    "rustup",
    "nvm",
    "pyenv",
    "rbenv",
    "asdf",
    "mise",
    "fnm",
    "volta",
    "sdk",
    "corepack",
    "virtualenv",
    "venv",
    "direnv",
    "createdb",
    "configure",
    "redis-server",
];

/// Programs that do so with one of these first arguments.
const SETS_UP_BY: [(&str, &[&str]); 39] = [
    ("npm", &["install", "i", "ci", "add", "rebuild", "update", "config", "cache", "login"]),
    ("pnpm", &["install", "i", "add", "rebuild", "update", "config", "store", "login"]),
    ("yarn", &["install", "add", "config", "cache"]),
    ("bun", &["install", "add"]),
    ("pip", &["install", "uninstall", "cache", "config"]),
    ("pip3", &["install", "uninstall", "cache", "config"]),
    ("uv", &["sync", "add", "venv", "lock", "pip", "python", "cache"]),
    ("poetry", &["install", "add", "lock", "env", "config"]),
    ("pipenv", &["install", "sync", "lock"]),
    ("conda", &["install", "create", "env", "update", "activate", "config"]),
    ("apt", &["install", "update", "upgrade"]),
    ("apt-get", &["install", "update", "upgrade"]),
    ("dnf", &["install", "update"]),
    ("yum", &["install", "update"]),
    ("brew", &["install", "reinstall", "link", "services", "tap", "update", "upgrade"]),
    ("apk", &["add", "update"]),
    ("gem", &["install", "update"]),
    ("bundle", &["install", "update", "config"]),
    ("composer", &["install", "require", "update"]),
    ("cargo", &["install", "add", "update", "fetch", "clean"]),
    ("go", &["get", "mod", "install", "clean", "env"]),
    ("dotnet", &["restore", "workload", "clean"]),
    ("make", &["clean", "distclean", "install", "deps", "setup", "bootstrap", "login"]),
    ("gradle", &["clean", "--stop"]),
    ("gradlew", &["clean", "--stop"]),
    ("mvn", &["clean"]),
    ("terraform", &["init"]),
    ("systemctl", &["start", "stop", "restart", "reload", "enable", "disable", "daemon-reload"]),
    ("docker", &["start", "stop", "restart", "compose", "login", "pull", "network", "volume"]),
    ("docker-compose", &["up", "down", "start", "stop", "restart", "pull"]),
    ("podman", &["start", "stop", "restart", "login", "pull", "network", "volume"]),
    ("kubectl", &["apply", "create", "rollout", "config"]),
    ("helm", &["repo", "dependency"]),
    ("minikube", &["start", "stop", "delete"]),
    ("git", &["submodule", "lfs", "fetch", "config", "remote", "clone"]),
    ("gh", &["auth"]),
    ("az", &["login"]),
    ("gcloud", &["auth", "config"]),
    ("aws", &["configure", "sso"]),
];

/// Second arguments with which such a program only reads, as in `npm config get`.
const ASKS: [&str; 5] = ["get", "list", "ls", "show", "status"];

/// Git commands that change the files of the work tree. They can fix a failed git command, but say nothing about
/// other failures.
const MOVES_FILES: [&str; 12] = [
    "checkout",
    "switch",
    "stash",
    "pull",
    "merge",
    "rebase",
    "reset",
    "restore",
    "apply",
    "am",
    "revert",
    "cherry-pick",
];

/// Parts of the names of generated files. Removing generated files can help.
const MADE_AGAIN: [&str; 9] =
    ["cache", "node_modules", "target", "build", "dist", ".lock", "-lock", ".venv", ".next"];

/// Programs that rewrite source files in place.
const FORMATTERS: [&str; 14] = [
    "rustfmt",
    "prettier",
    "black",
    "isort",
    "gofmt",
    "goimports",
    "autopep8",
    "yapf",
    "dos2unix",
    "2to3",
    "patch",
    "ed",
    "ex",
    "codemod",
];

/// Arguments that turn a general program into a formatter.
const FORMATS: [&str; 6] = ["fmt", "format", "fix", "--fix", "prettier", "--write"];

/// Programs that run the code they are given, which may change any file.
const INTERPRETERS: [&str; 7] = ["python", "python3", "node", "ruby", "perl", "php", "deno"];

/// Endings of files that nothing is built from, and beginnings of paths that hold no sources.
const NO_SOURCES: [&str; 4] = [".log", ".out", ".err", ".pid"];
const NO_SOURCE_PLACES: [&str; 3] = ["/dev/", "/tmp/", "&"];

/// Tells whether a file is a configuration file.
#[must_use]
pub fn is_setting(file: &str) -> bool {
    SETTINGS.iter().any(|end| name_of(file).ends_with(end))
}

/// Returns the name of a file without its folder.
#[must_use]
pub fn name_of(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// Tells whether a change is named by a path. Of some command lines only the program is known.
#[must_use]
pub fn is_path(changed: &str) -> bool {
    changed.contains(['/', '\\', '.'])
}

/// Tells whether a command may have helped a failed `goal`: every part of it sets something up, starts, stops or
/// cleans something.
#[must_use]
pub fn may_help(command: &str, goal: &str) -> bool {
    let all = segments(command);
    let mut done = all.iter().filter(|segment| !segment_only_reads(&segment.text)).peekable();
    done.peek().is_some() && changed_things(command).iter().all(|file| is_setting(file)) && {
        done.all(|segment| sets_up(&segment.text, goal))
    }
}

fn sets_up(segment: &str, goal: &str) -> bool {
    let mut words = program_words(segment);
    let Some(program) = words.next() else { return false };
    let rest: Vec<&str> = words.collect();
    let named = || rest.iter().copied().filter(|word| !word.starts_with('-'));
    match program {
        "rm" => {
            let is_again = |word: &str| MADE_AGAIN.iter().any(|part| name_of(word).contains(part));
            named().next().is_some() && named().all(|word| is_again(word.trim_end_matches('/')))
        }
        "cp" | "mv" => named().next_back().is_some_and(is_setting),
        // `service NAME start`.
        "service" => rest.iter().any(|word| matches!(*word, "start" | "stop" | "restart")),
        _ if named().nth(1).is_some_and(|word| ASKS.contains(&word)) => false,
        "git" if goal.starts_with("git ") && moves_files(segment) => true,
        _ => {
            let asked =
                SETS_UP_BY.iter().find(|(name, _)| *name == program).map(|(_, asked)| *asked);
            SETS_UP.contains(&program)
                || asked.zip(rest.first()).is_some_and(|(asked, first)| {
                    asked.contains(first)
                        || named().next().is_some_and(|word| asked.contains(&word))
                })
        }
    }
}

/// Tells whether git changed the files of the work tree.
#[must_use]
pub fn moves_files(command: &str) -> bool {
    segments(command).iter().any(|segment| {
        let mut words = words(&segment.text);
        words.next() == Some("git")
            && words
                .find(|word| !word.starts_with('-'))
                .is_some_and(|word| MOVES_FILES.contains(&word))
    })
}

/// Returns what a command line changed by itself: the file, or the program if only that is known.
#[must_use]
pub fn changed_things(command: &str) -> Vec<String> {
    segments(command).iter().filter_map(change).collect()
}

fn change(segment: &ShellCommand) -> Option<String> {
    if let Some(target) = &segment.target
        && !NO_SOURCES.iter().any(|end| target.ends_with(end))
        && !NO_SOURCE_PLACES.iter().any(|place| target.starts_with(place))
    {
        return Some(target.clone());
    }
    let mut words = program_words(&segment.text);
    let program = words.next()?;
    let rest: Vec<&str> = words.collect();
    let last = || rest.last().copied().unwrap_or(program).to_owned();
    let has_option = |option: &str| rest.iter().any(|word| word.starts_with(option));
    let is_file = |word: &&str| !word.starts_with('-');
    match program {
        "sed" | "perl" if has_option("-i") || has_option("--in-place") || has_option("-pi") => {
            Some(last())
        }
        "tee" | "truncate" | "dd" => Some(last()),
        "cp" | "mv" if !last().contains("cache") => Some(last()),
        _ if FORMATTERS.contains(&program) => Some(program.to_owned()),
        // `cargo fmt`, `npm run format`, `eslint --fix`, `npx prettier --write`.
        _ if rest.iter().take(3).any(|word| FORMATS.contains(word)) => Some(program.to_owned()),
        _ if INTERPRETERS.contains(&program) => {
            let is_script = segment.has_document
                || rest.first().is_none_or(|word| matches!(*word, "-" | "-c" | "-e"))
                || !rest.iter().any(is_file);
            is_script.then(|| program.to_owned())
        }
        _ => None,
    }
}

/// Returns the words of a command. `python3 -m pip` is read as `pip`.
fn program_words(segment: &str) -> impl Iterator<Item = &str> {
    let all: Vec<&str> = words(segment).collect();
    let skip = match all.as_slice() {
        [program, "-m", _, ..] if INTERPRETERS.contains(program) => 2,
        _ => 0,
    };
    all.into_iter().skip(skip)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HOOK-6
    #[test]
    fn only_setup_commands_may_have_helped() {
        for command in [
            "touch .ready",
            "sudo apt-get update && apt-get install -y libssl-dev",
            "npm ci 2>&1 | tail -3",
            "cargo clean",
            "rm -rf node_modules package-lock.json",
            "git submodule update --init",
            "docker compose up -d db",
            "sudo service postgresql start",
            "python3 -m pip install pyyaml",
            "python3 -m venv .v",
            "cp .env.example .env",
            "systemctl --user restart x",
        ] {
            assert!(may_help(command, "cargo build"), "{command}");
        }
        for command in [
            "cargo fmt",
            "npm run format",
            "npx prettier --write .",
            "npm run build",
            "sed -i s/a/b/ src/foo.c",
            "python3 - <<EOF\nopen('foo.c', 'w')\nEOF",
            "cat > foo.c <<'EOF'\nint x;\nEOF",
            "touch .ready && echo x > src/a.c",
            "rm src/a.c",
            "cp a.c b.c",
            "git checkout -- src/a.c",
            "git pull",
            "npm config get proxy",
            "./gen.sh",
            "ls",
            "",
        ] {
            assert!(!may_help(command, "cargo build"), "{command}");
        }
        assert!(may_help("git pull --rebase", "git push"));
    }

    // S-HOOK-6
    #[test]
    fn changed_files_are_read_from_command_lines() {
        for (command, expected) in [
            ("sed -i 's/a/b/' src/foo.c", "src/foo.c"),
            ("cat > foo.c <<'EOF'\nint x = 1 > 0; // it's\nEOF", "foo.c"),
            ("echo 'registry=x' >> .npmrc", ".npmrc"),
            ("python3 - <<EOF\nopen('foo.c', 'w')\nEOF", "python3"),
            ("python3 -c 'open(\"foo.c\", \"w\")'", "python3"),
            ("cargo fmt", "cargo"),
            ("echo x | tee a.c", "a.c"),
            ("cp a.c b.c", "b.c"),
        ] {
            assert_eq!(changed_things(command), [expected], "{command}");
        }
        for command in [
            "cargo build 2>&1",
            "cargo build > /dev/null 2>&1",
            "make >build.log",
            "python3 setup.py build",
            "echo 'a > b'",
            "touch .ready",
        ] {
            assert_eq!(changed_things(command), Vec::<String>::new(), "{command}");
        }
        assert!(is_setting("/w/Cargo.toml") && is_setting(".npmrc") && !is_setting("src/a.rs"));
    }
}
