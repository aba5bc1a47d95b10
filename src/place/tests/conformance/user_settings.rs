//! What the settings of git and SSH make of a remote.

use super::row::{ExpectedPlace, Row, row};
use super::scene::Scene;

/// The URL of the remote, the file of settings and its text, the key, and why.
const SETTINGS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "git@github.com-corp:acme/api.git",
        "~/.ssh/config",
        "Host github.com-corp\n  HostName ghe.corp.example\n",
        "ghe.corp.example/acme/api",
        "SSH's settings say more than the name",
    ),
    (
        "git@github.com-work:acme/api.git",
        "~/.ssh/config",
        "Host github.com-work\n  HostName github.com\n",
        GITHUB,
        "two accounts on GitHub need a second name",
    ),
    (
        "git@work:acme/api.git",
        "~/.ssh/config",
        "Host home work\nHostName=GitHub.com\nUser git\n",
        GITHUB,
        "an equals sign and several names are allowed",
    ),
    (
        "git@gh-2:acme/api.git",
        "~/.ssh/config",
        "Host gh-*\n\tHostName \"ssh.github.com\"\n\tPort 443\n",
        GITHUB,
        "a pattern, quotes and GitHub's other door",
    ),
    (
        "git@git-eu:acme/api.git",
        "~/.ssh/config",
        "Host git-*\n  HostName %h.corp.example\n",
        "git-eu.corp.example/acme/api",
        "a token stands for the name",
    ),
    (
        "git@gh-no:acme/api.git",
        "~/.ssh/config",
        "Host gh-* !gh-no\n HostName github.com\n",
        "gh-no/acme/api",
        "a pattern with ! takes a name out",
    ),
    (
        "git@gh-1:acme/api.git",
        "~/.ssh/config",
        "Host gh-1\n HostName github.com\nHost *\n HostName x.example\n",
        GITHUB,
        "SSH takes the first value",
    ),
    (
        "git@gh-1:acme/api.git",
        "~/.ssh/config",
        "Match host gh-1\n HostName x.example\nHost gh-1\n HostName github.com\n",
        GITHUB,
        "a Match block is passed over",
    ),
    (
        "ssh://git@gh-1:2222/acme/api.git",
        "~/.ssh/config",
        "host GH-1\n hostname github.com\n",
        GITHUB,
        "keywords and names have no case",
    ),
    (
        "git@git.corp.example:acme/api.git",
        "~/.ssh/config",
        "Host git.corp.example\n HostName 10.0.0.7\n",
        "git.corp.example/acme/api",
        "an address is a way to the server, not its name",
    ),
    (
        "git@git.corp.example:acme/api.git",
        "~/.ssh/config",
        "Host git.corp.example\n HostName localhost\n Port 2222\n",
        "git.corp.example/acme/api",
        "a tunnel is a way to the server",
    ),
    (
        "git@git.corp.example:acme/api.git",
        "~/.ssh/config",
        "Host git.corp.example\n HostName ssh.git.corp.example\n",
        "git.corp.example/acme/api",
        "a door of the server is a way to it",
    ),
    (
        "git@nas:acme/api.git",
        "~/.ssh/config",
        "Host nas\n HostName 192.168.1.5\n",
        "192.168.1.5/acme/api",
        "a name of this user alone says nothing to others",
    ),
    (
        "git@github.com:acme/api.git",
        "~/.ssh/config",
        "Host github.com\n HostName proxy.corp.example\n",
        GITHUB,
        "everybody knows GitHub by its name",
    ),
    (
        "git@sys:acme/api.git",
        "//etc/ssh/ssh_config",
        "Host sys\n HostName github.com\n",
        GITHUB,
        "the machine's settings count as well",
    ),
    (
        "gh:acme/api",
        "~/.gitconfig",
        "[url \"git@github.com:\"]\n\tinsteadOf = gh:\n",
        GITHUB,
        "the usual shorthand of git",
    ),
    (
        "gh:acme/api",
        "~/.config/git/config",
        "[url \"https://github.com/\"] insteadof = \"gh:\" ; short\n",
        GITHUB,
        "git's other file of the user",
    ),
    (
        "gh:acme/api",
        "//etc/gitconfig",
        "[URL \"https://github.com/\"]\ninsteadOf = gh:\n",
        GITHUB,
        "git's file of the machine",
    ),
    (
        "https://mirror.corp.example/team/api.git",
        "~/.gitconfig",
        "[url \"https://git.corp.example/\"]\n\tinsteadOf = https://mirror.corp.example/\n",
        "git.corp.example/team/api",
        "the rewritten server is where it is",
    ),
    (
        "https://github.com/acme/api",
        "~/.gitconfig",
        "[url \"https://mirror.corp.example/gh/\"]\n\tinsteadOf = https://github.com/\n",
        GITHUB,
        "a mirror before GitHub holds GitHub's repositories",
    ),
    (
        "https://github.com/acme/api",
        "~/.gitconfig",
        "[url \"git@github.com:\"]\n\tinsteadOf = https://github.com/\n",
        GITHUB,
        "SSH in place of HTTPS",
    ),
    (
        "https://git.corp.example/acme/api",
        "~/.gitconfig",
        "[url \"http://proxy@127.0.0.1:40001/corp/\"]\n\tinsteadOf = https://git.corp.example/\n",
        "git.corp.example/acme/api",
        "a proxy of one session is no place",
    ),
    (
        "gh:acme/api",
        "~/.gitconfig",
        "[url \"https://gitlab.com/\"]\ninsteadOf = g\n[url \"https://github.com/\"]\ninsteadOf = gh:\n",
        GITHUB,
        "git takes the longest beginning",
    ),
    (
        "https://github.com/acme/api",
        "~/.gitconfig",
        "[url \"git@example.org:\"]\npushInsteadOf = https://github.com/\n",
        GITHUB,
        "where pushes go is another question",
    ),
    (
        "work:acme/api",
        "~/.gitconfig",
        "[url \"git@gh-work:\"]\ninsteadOf = work:\n",
        "gh-work/acme/api",
        "an unknown name is kept as it is",
    ),
];

const GITHUB: &str = "github.com/acme/api";

/// The rows.
pub fn rows() -> Vec<Row> {
    let of_one_file = SETTINGS.iter().map(|(url, file, text, key, why)| {
        let place = format!("{url} with {file}: {text:?}");
        let set_up = |scene: &mut Scene| {
            scene.write(file, text);
            scene.repository("api", Some(url))
        };
        row(&place, set_up, ExpectedPlace::key(key).kind("remote"), why)
    });
    of_one_file.chain(of_several_files()).collect()
}

fn of_several_files() -> Vec<Row> {
    let github = || ExpectedPlace::key(GITHUB).kind("remote");
    vec![
        row(
            "SSH's settings with Include and a pattern",
            |scene| {
                scene.write("~/.ssh/config", "Include conf.d/*.conf\nHost *\n User git\n");
                scene.write("~/.ssh/conf.d/10-work.conf", "Host gh-work\n HostName github.com\n");
                scene.repository("api", Some("git@gh-work:acme/api"))
            },
            github(),
            "people keep one file for each client",
        ),
        row(
            "SSH's settings with Include by ~ in a Host block",
            |scene| {
                scene.write("~/.ssh/config", "Host gh-*\n Include ~/clients/ssh\n");
                scene.write("~/clients/ssh", "HostName github.com\n");
                scene.repository("api", Some("git@gh-work:acme/api"))
            },
            github(),
            "an Include holds for the hosts of its block",
        ),
        row(
            "an SSH alias behind an insteadOf",
            |scene| {
                scene.write("~/.gitconfig", "[url \"git@gh-work:\"]\ninsteadOf = work:\n");
                scene.write("~/.ssh/config", "Host gh-work\nHostName github.com\n");
                scene.repository("api", Some("work:acme/api"))
            },
            github(),
            "git rewrites first, then SSH resolves",
        ),
        row(
            "core.sshCommand with another file of SSH",
            |scene| {
                scene.write("~/.ssh/work", "Host gh\nHostName github.com\n");
                let top = scene.repository("api", Some("git@gh:acme/api"));
                scene
                    .git("api", &["config", "core.sshCommand", "ssh -i ~/.ssh/key -F ~/.ssh/work"]);
                top
            },
            github(),
            "git starts SSH with that file",
        ),
        row(
            "insteadOf in a file that ~/.gitconfig includes",
            |scene| {
                scene.write("~/.gitconfig", "[include]\n\tpath = .gitconfig.d/short\n");
                scene.write("~/.gitconfig.d/short", "[url \"git@github.com:\"]\ninsteadOf = gh:\n");
                scene.repository("api", Some("gh:acme/api"))
            },
            github(),
            "dotfiles are split into files",
        ),
        row(
            "insteadOf for repositories below a folder",
            |scene| {
                scene
                    .write("~/.gitconfig", "[includeIf \"gitdir:~/code/work/\"]\npath = ~/.work\n");
                scene.write("~/.work", "[url \"https://git.corp.example/\"]\ninsteadOf = wk:\n");
                scene.repository("work/api", Some("wk:acme/api"))
            },
            ExpectedPlace::key("git.corp.example/acme/api"),
            "work and private folders differ",
        ),
        row(
            "insteadOf for repositories below another folder",
            |scene| {
                scene
                    .write("~/.gitconfig", "[includeIf \"gitdir:~/code/work/\"]\npath = ~/.work\n");
                scene.write("~/.work", "[url \"https://git.corp.example/\"]\ninsteadOf = wk:\n");
                scene.repository("own/api", Some("wk:acme/api"))
            },
            ExpectedPlace::key("wk/acme/api"),
            "the condition does not hold here",
        ),
        row(
            "insteadOf for repositories below a folder in any case, from a work tree elsewhere",
            |scene| {
                scene.write(
                    "~/.gitconfig",
                    "[includeIf \"gitdir/i:~/CODE/Work/\"]\npath = ~/.work\n",
                );
                scene.write("~/.work", "[url \"https://git.corp.example/\"]\ninsteadOf = wk:\n");
                scene.repository("work/api", Some("wk:acme/api"));
                scene.git("work/api", &["worktree", "add", "--quiet", "-b", "feat", "../../feat"]);
                scene.path("feat")
            },
            ExpectedPlace::key("git.corp.example/acme/api").branch("feat"),
            "git asks where its own files are",
        ),
        row(
            "insteadOf for repositories below a folder beside the settings",
            |scene| {
                scene.write("~/.gitconfig", "[includeIf \"gitdir:./code/\"]\npath = .w\n");
                scene.write("~/.w", "[url \"git@github.com:\"]\ninsteadOf = gh:\n");
                scene.repository("api", Some("gh:acme/api"))
            },
            github(),
            "a condition may count from its own file",
        ),
        row(
            "insteadOf for repositories with a remote",
            |scene| {
                let condition =
                    "[includeIf \"hasconfig:remote.*.url:gh:acme/**\"]\npath = ~/.acme\n";
                scene.write("~/.gitconfig", condition);
                scene.write("~/.acme", "[url \"git@github.com:\"]\ninsteadOf = gh:\n");
                scene.repository("api", Some("gh:acme/api"))
            },
            github(),
            "git can ask for the remotes themselves",
        ),
        row(
            "insteadOf on a branch",
            |scene| {
                scene.write("~/.gitconfig", "[includeIf \"onbranch:ma*\"]\npath = ~/.main\n");
                scene.write("~/.main", "[url \"git@github.com:\"]\ninsteadOf = gh:\n");
                scene.repository("api", Some("gh:acme/api"))
            },
            github(),
            "git can ask for the branch",
        ),
        row(
            "a remote in a file that .git/config includes",
            |scene| {
                let top = scene.repository("api", None);
                scene.git("api", &["config", "include.path", "../.gitremotes"]);
                scene.write(
                    "api/.gitremotes",
                    "[remote \"origin\"]\nurl = git@github.com:acme/api\n",
                );
                top
            },
            github(),
            "a team shares its settings in the tree",
        ),
        row(
            "settings in the environment",
            |scene| {
                scene.set("GIT_CONFIG_COUNT", "1");
                scene.set("GIT_CONFIG_KEY_0", "url.https://github.com/.insteadOf");
                scene.set("GIT_CONFIG_VALUE_0", "gh:");
                scene.repository("api", Some("gh:acme/api"))
            },
            github(),
            "agents of clouds are configured like this",
        ),
        row(
            "another file in GIT_CONFIG_GLOBAL",
            |scene| {
                scene.set("GIT_CONFIG_GLOBAL", "$HOME/.other");
                scene.write("~/.other", "[url \"https://github.com/\"]\ninsteadOf = gh:\n");
                scene.write("~/.gitconfig", "[url \"https://gitlab.com/\"]\ninsteadOf = gh:\n");
                scene.repository("api", Some("gh:acme/api"))
            },
            github(),
            "git reads that file alone",
        ),
        row(
            "the region of CodeCommit in the environment",
            |scene| {
                scene.set("AWS_REGION", "eu-west-1");
                scene.repository("api", Some("codecommit://api"))
            },
            ExpectedPlace::key("git-codecommit.eu-west-1.amazonaws.com/v1/repos/api"),
            "the helper asks AWS's settings for it",
        ),
        row(
            "the region of CodeCommit in a profile",
            |scene| {
                scene.write(
                    "~/.aws/config",
                    "[default]\nregion=us-east-1\n[profile prod]\nregion = eu-west-1\n",
                );
                scene.repository("api", Some("codecommit://prod@api"))
            },
            ExpectedPlace::key("git-codecommit.eu-west-1.amazonaws.com/v1/repos/api"),
            "the helper asks AWS's settings for it",
        ),
        row(
            "settings that include each other",
            |scene| {
                scene.write(
                    "~/.gitconfig",
                    "[include]\npath = .gitconfig\n[url \"https://github.com/\"]\ninsteadOf=gh:\n",
                );
                scene.write("~/.ssh/config", "Include config\nHost x\nHostName github.com\n");
                scene.repository("api", Some("gh:acme/api"))
            },
            github(),
            "a circle must not hang the program",
        ),
    ]
}
