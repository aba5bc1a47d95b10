//! The goal of a command line: `cargo test -p api` and `cargo test` have the same goal, and a `grep` that finds
//! nothing has not failed. The words are compared with tables; nothing is parsed, so an error here only misses a
//! lesson. Not here: what a failure looks like (`signature`).

use crate::shell_line::{Connector, ShellCommand, segments};

/// Longest command that is examined, in bytes. A longer one is a script and teaches no lesson.
pub const COMMAND_BYTES_MAX: usize = 2_000;

/// Programs that only read or change directory. When they find nothing, that is an answer, and when they succeed,
/// that fixes nothing.
const LOOKS: [&str; 57] = [
    "Set-Location",
    "ls",
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "find",
    "fd",
    "tree",
    "stat",
    "file",
    "wc",
    "sort",
    "uniq",
    "cut",
    "tr",
    "awk",
    "jq",
    "yq",
    "diff",
    "cmp",
    "echo",
    "printf",
    "pwd",
    "cd",
    "pushd",
    "popd",
    "which",
    "whereis",
    "type",
    "command",
    "test",
    "[",
    "[[",
    "true",
    "false",
    "sleep",
    "ps",
    "pgrep",
    "df",
    "du",
    "free",
    "uname",
    "whoami",
    "id",
    "date",
    "env",
    "printenv",
    "history",
    "read",
];

/// Programs that only read when they get one of these first arguments.
const LOOKING: [(&str, &[&str]); 7] = [
    (
        "git",
        &[
            "status",
            "log",
            "diff",
            "show",
            "branch",
            "blame",
            "ls-files",
            "grep",
            "rev-parse",
            "remote",
        ],
    ),
    ("sed", &["-n"]),
    ("npm", &["ls", "list", "view", "outdated"]),
    ("pip", &["list", "show", "freeze"]),
    ("docker", &["ps", "images", "logs", "inspect"]),
    ("kubectl", &["get", "describe", "logs"]),
    ("cargo", &["tree", "metadata", "search"]),
];

/// What `git remote` and `git branch` get when they change something after all.
const CHANGING: [&str; 10] =
    ["add", "rm", "remove", "rename", "set-url", "set-head", "prune", "-D", "-d", "-M"];

/// Words in front of a command that do not change its goal.
const WRAPPERS: [&str; 9] =
    ["sudo", "time", "nice", "nohup", "exec", "command", "env", "doas", "xvfb-run"];

/// Programs whose first argument says which of their many tasks they do.
const MANY: [&str; 52] = [
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "git",
    "docker",
    "docker-compose",
    "podman",
    "kubectl",
    "helm",
    "go",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "pipenv",
    "conda",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "brew",
    "apk",
    "make",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "terraform",
    "bundle",
    "gem",
    "rails",
    "rake",
    "dotnet",
    "gh",
    "az",
    "aws",
    "gcloud",
    "systemctl",
    "service",
    "composer",
    "php",
    "python",
    "python3",
    "node",
    "deno",
    "ruby",
    "bash",
    "sh",
    "npx",
    "just",
];

/// Words after which the next word still belongs to the goal.
const GO_ON: [&str; 7] = ["run", "exec", "-m", "compose", "x", "dlx", "tool"];

/// Different words for the same task.
const SAME: [(&str, &str, &str); 8] = [
    ("npm", "i", "install"),
    ("npm", "ci", "install"),
    ("npm", "t", "test"),
    ("pnpm", "i", "install"),
    ("cargo", "t", "test"),
    ("cargo", "b", "build"),
    ("cargo", "c", "check"),
    ("cargo", "r", "run"),
];

/// Our own programs. Nothing is learned from their output.
const OURS: [&str; 3] = ["agent-knowledge", "log-memory", "log_memory"];

/// Returns the command without its surroundings: a change of directory, variables, and the pipe that cuts its output.
#[must_use]
pub fn core_command(command: &str) -> String {
    let mut kept = segments(command);
    let is_around = |segment: &ShellCommand| {
        let first = segment.text.split(' ').next();
        segment.joint == Connector::And && matches!(first, Some("cd" | "set" | "export" | "source"))
    };
    let around = kept.iter().take_while(|segment| is_around(segment)).count();
    // A line that only changes directory is kept.
    kept.drain(..around.min(kept.len().saturating_sub(1)));
    let mut line = String::new();
    let mut joint = Connector::End;
    for segment in kept {
        let is_cut = matches!(segment.text.split(' ').next(), Some("tail" | "head"));
        if !(joint == Connector::Pipe && is_cut) {
            line.push_str(joint.written());
            line.push_str(&segment.text);
        }
        joint = segment.joint;
    }
    line
}

/// Tells whether the success of a command line proves that its last real command succeeded. A pipe or `|| true` after
/// that command would hide its exit code.
#[must_use]
pub fn proves_success(command: &str) -> bool {
    let all = segments(command);
    let last = all.iter().rposition(|segment| !segment_only_reads(&segment.text));
    last.and_then(|last| all.get(last..)).is_some_and(|rest| {
        rest.iter().all(|segment| matches!(segment.joint, Connector::And | Connector::End))
    })
}

/// Returns the goal of a command in a few words, or nothing if it has none.
#[must_use]
pub fn command_goal(command: &str) -> Option<String> {
    let all = segments(command);
    let last = all.iter().rfind(|segment| !segment_only_reads(&segment.text))?;
    let mut words = words(&last.text);
    let program = words.next()?;
    if !MANY.contains(&program) {
        return Some(program.to_owned());
    }
    let mut goal = program.to_owned();
    for word in words.filter(|word| is_task_word(word)) {
        goal.push(' ');
        goal.push_str(usual_task(program, word));
        if !GO_ON.contains(&word) {
            break;
        }
    }
    Some(goal)
}

/// Returns the commands of a line that do more than look, in order.
#[must_use]
pub fn working_parts(command: &str) -> Vec<String> {
    let all = segments(command).into_iter().filter(|segment| !segment_only_reads(&segment.text));
    all.map(|segment| segment.text).collect()
}

/// Returns what each command of a line does, in order: the program, and its task where it has many. Commands that only
/// look are left out.
#[must_use]
pub fn command_tasks(command: &str) -> Vec<String> {
    let parts = working_parts(command);
    let tasks = parts.iter().filter_map(|part| {
        let mut words = words(part);
        let program = words.next().filter(|program| is_program(program))?;
        let task = words.find(|word| is_task_word(word)).filter(|_| MANY.contains(&program));
        let task = task.map(|task| format!("{program} {}", usual_task(program, task)));
        Some(task.unwrap_or_else(|| program.to_owned()))
    });
    tasks.collect()
}

/// Words of the shell that are no programs.
const KEYWORDS: [&str; 13] = [
    "for", "do", "done", "if", "then", "else", "elif", "fi", "while", "until", "case", "esac",
    "exit",
];

/// Tells whether a word can name a program. In scripts and quoted text others stand at its place.
fn is_program(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._+-@".contains(c);
    word.chars().all(is_name)
        && word.contains(|c: char| c.is_ascii_alphabetic())
        && !KEYWORDS.contains(&word)
}

/// Tells whether a command only asks programs what they can do, or which version they have.
#[must_use]
pub fn asks_for_help(command: &str) -> bool {
    const VERSION: [&str; 4] = ["--version", "-version", "-V", "version"];
    let asks = |part: &String| {
        let mut words = part.split(' ').skip(1);
        let (first, last) = (words.next(), part.rsplit(' ').next());
        let is_alone = words.next().is_none();
        first == Some("help")
            || last.is_some_and(|last| matches!(last, "--help" | "-h" | "--version"))
            || is_alone && first.is_some_and(|first| VERSION.contains(&first))
    };
    let parts = working_parts(command);
    !parts.is_empty() && parts.iter().all(asks)
}

/// Returns the directory to which a line changes before its first real command.
#[must_use]
pub fn directory(command: &str) -> Option<String> {
    let all = segments(command);
    let before = all.iter().take_while(|segment| segment_only_reads(&segment.text));
    let changes = before.filter_map(|segment| {
        segment.text.strip_prefix("cd ").or_else(|| segment.text.strip_prefix("Set-Location "))
    });
    changes.last().map(|place| place.trim_matches(['"', '\'']).to_owned())
}

/// Tells whether a command only reads, or is one of our own programs. Nothing is learned from it.
#[must_use]
pub fn is_trivial(command: &str) -> bool {
    command.len() > COMMAND_BYTES_MAX || only_reads(command)
}

/// The same for a command of any length. The time it takes is linear in the length.
#[must_use]
pub fn only_reads(command: &str) -> bool {
    let is_ours = OURS.iter().any(|ours| command.contains(ours));
    is_ours || segments(command).iter().all(|segment| segment_only_reads(&segment.text))
}

/// Goals that only check the code. Running a check again fixes nothing.
const CHECKS: [&str; 19] = [
    "test",
    "tests",
    "pytest",
    "check",
    "clippy",
    "lint",
    "nextest",
    "vet",
    "tsc",
    "typecheck",
    "jest",
    "rspec",
    "phpunit",
    "mocha",
    "vitest",
    "ctest",
    "mypy",
    "eslint",
    "shellcheck",
];

/// Tells whether a goal is a check.
#[must_use]
pub fn is_check(goal: &str) -> bool {
    goal.split([' ', ':', '.', '-', '_']).any(|word| CHECKS.contains(&word))
}

/// Tells whether a successful command did what a failed one with the same goal should have done, with all of its
/// arguments.
#[must_use]
pub fn stands_for(worked: &str, failed: &str) -> bool {
    let things = |command: &str| -> Vec<String> {
        let all = segments(command);
        let last = all.iter().rfind(|segment| !segment_only_reads(&segment.text));
        let mut named = words(last.map_or("", |last| &last.text)).filter(|word| is_named(word));
        let is_many = named.next().is_some_and(|program| MANY.contains(&program));
        // The first argument says which task is done, and may be a synonym.
        named.skip(usize::from(is_many)).map(str::to_owned).collect()
    };
    let done = things(worked);
    things(failed).iter().all(|thing| done.contains(thing))
}

/// Returns the usual word for a task of a program.
fn usual_task<'a>(program: &str, task: &'a str) -> &'a str {
    let same = SAME.iter().find(|(name, short, _)| *name == program && *short == task);
    same.map_or(task, |(_, _, meant)| meant)
}

/// Tells whether a word is an argument and not an option. `-m` names a module.
fn is_named(word: &str) -> bool {
    !word.starts_with('-') || word == "-m"
}

/// Tells whether a word can name a task. `+nightly` chooses the version of the program.
fn is_task_word(word: &str) -> bool {
    is_named(word) && !is_setting(word) && !word.starts_with('+')
}

/// Returns the words of a command from its program on. The program is named without its folder.
pub(crate) fn words(segment: &str) -> impl Iterator<Item = &str> {
    let is_around = move |word: &&str| WRAPPERS.contains(word) || is_setting(word);
    let mut words =
        segment.split(' ').filter(|word| !word.is_empty()).skip_while(is_around).peekable();
    let program = words.next().map(|word| word.rsplit(['/', '\\']).next().unwrap_or(word));
    program.into_iter().chain(words)
}

/// Tells whether a word sets a variable, before a program or, as with `make`, behind it.
fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !name.is_empty() && name.bytes().all(is_name)
    })
}

/// Tells whether a command only reads.
pub(crate) fn segment_only_reads(segment: &str) -> bool {
    let mut words = words(segment);
    let Some(program) = words.next() else { return true };
    let asked = LOOKING.iter().find(|(name, _)| *name == program).map(|(_, asked)| asked);
    let is_asked = |asked: &&[&str]| match words.next() {
        Some("remote" | "branch") => !words.next().is_some_and(|word| CHANGING.contains(&word)),
        word => word.is_some_and(|word| asked.contains(&word)),
    };
    LOOKS.contains(&program) || asked.is_some_and(is_asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_goals_are_recognised_in_every_spelling() {
        for (command, expected) in [
            ("cargo test -p api", "cargo test"),
            ("cd /w/api && RUST_LOG=debug cargo t --lib 2>&1 | tail -40", "cargo test"),
            ("sudo npm i", "npm install"),
            ("cargo +nightly test", "cargo test"),
            ("npm ci --no-audit", "npm install"),
            ("npm run build -- --force", "npm run build"),
            ("python3 -m pytest tests", "python3 -m pytest"),
            ("/usr/bin/make -j8 all", "make all"),
            ("make MODE=debug all", "make all"),
            ("terraform apply", "terraform apply"),
            ("./configure --prefix=/x", "configure"),
            ("sudo chown -R $USER . && npm ci", "npm install"),
            ("docker compose up -d", "docker compose up"),
        ] {
            assert_eq!(command_goal(command).as_deref(), Some(expected), "{command}");
        }
        for command in ["", "ls -la", "cd x && cat y", "git status"] {
            assert_eq!(command_goal(command), None, "{command}");
        }
    }

    #[test]
    fn success_with_other_arguments_does_not_replace_a_failure() {
        for (worked, failed) in [
            ("npm install --legacy-peer-deps", "npm install"),
            ("sudo chown -R $USER . && npm ci", "npm install"),
            ("git push -u origin main", "git push"),
            ("pip install --user flask", "pip install flask"),
            ("curl -k https://a.example", "curl https://a.example"),
        ] {
            assert!(stands_for(worked, failed), "{worked}");
        }
        for (worked, failed) in [
            ("npm install lodash", "npm install left-pad"),
            ("git commit -m second", "git commit -m first"),
            ("docker run b", "docker run a"),
            ("curl -s https://b.example", "curl https://a.example"),
            ("ssh host2", "ssh host1"),
            ("rm b", "rm a"),
            ("rspec b_spec.rb", "rspec a_spec.rb"),
            ("npm run build b", "npm run build a"),
        ] {
            assert!(!stands_for(worked, failed), "{worked}");
        }
        assert!(
            is_check("cargo test")
                && is_check("npm run lint")
                && is_check("npm run test:unit")
                && is_check("run-tests.sh")
        );
        assert!(!is_check("npm install"));
    }

    #[test]
    fn only_the_pipe_that_cuts_the_output_is_left_out() {
        for (command, expected) in [
            ("cd /w && npm ci 2>&1 | tail -3 && npm run build", "npm ci && npm run build"),
            ("a  --x > /dev/null 2>&1; b | head -1", "a --x; b"),
            ("make 2>/dev/null || true", "make || true"),
            ("a \\\n  --b\nc;", "a --b; c"),
            ("git commit -m 'a && b | tail'", "git commit -m 'a && b | tail'"),
            ("cd /w && set -e", "set -e"),
            ("x & y &", "x & y"),
        ] {
            assert_eq!(core_command(command), expected, "{command}");
        }
    }

    // S-HOOK-6
    #[test]
    fn a_success_that_hides_the_exit_code_proves_nothing() {
        for command in [
            "npm ci",
            "cd /w; npm ci && ls",
            "npm ci > log 2>&1",
            "rm x; npm ci",
            "git commit -m 'a; b'",
            "npm ci;",
        ] {
            assert!(proves_success(command), "{command}");
        }
        for command in [
            "npm ci 2>&1 | tail -5",
            "npm ci || true",
            "npm ci; echo done",
            "npm ci &",
            "npm ci && ls | head",
            "npm ci\nls",
            "ls",
        ] {
            assert!(!proves_success(command), "{command}");
        }
    }

    // S-HOOK-6
    #[test]
    fn commands_that_only_read_are_trivial() {
        for command in [
            "grep -rn foo src",
            "test -f x",
            "[ -d y ]",
            "ls nosuch",
            "cat a | grep b",
            "cd x && rg y",
            "git diff",
            "sed -n 1,20p a",
            "log-memory --lesson x",
            "/usr/bin/agent-knowledge search x",
            "which node; ls",
        ] {
            assert!(is_trivial(command), "{command}");
        }
        for command in [
            "npm ci",
            "cargo test | grep FAIL",
            "git push",
            "git remote set-url o x",
            "sed -i s/a/b/ x",
            "rm x && ls",
        ] {
            assert!(!is_trivial(command), "{command}");
        }
        assert!(is_trivial(&"x ".repeat(COMMAND_BYTES_MAX)));
    }
}
