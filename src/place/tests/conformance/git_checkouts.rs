//! What is checked out in a git repository, and which of its remotes counts.

use super::row::{ExpectedPlace, Row, row};

const API: Option<&str> = Some("https://github.com/acme/api");
const GITHUB: &str = "github.com/acme/api";

/// The rows.
pub fn rows() -> Vec<Row> {
    [heads(), remotes()].into_iter().flatten().collect()
}

fn heads() -> Vec<Row> {
    vec![
        row(
            "a branch with a slash, in packed refs",
            |scene| {
                scene.repository("shop", API);
                scene.git("shop", &["switch", "--quiet", "--create", "feature/login"]);
                scene.git("shop", &["pack-refs", "--all"]);
                scene.path("shop")
            },
            ExpectedPlace::key(GITHUB).branch("feature/login"),
            "branches have slashes in their names",
        ),
        row(
            "a detached HEAD",
            |scene| {
                scene.repository("shop", API);
                scene.git("shop", &["checkout", "--quiet", "--detach"]);
                scene.path("shop")
            },
            ExpectedPlace::key(GITHUB).no_branch(),
            "a commit alone is no branch",
        ),
        row(
            "in the middle of a rebase",
            |scene| {
                scene.repository("shop", API);
                scene.git("shop", &["checkout", "--quiet", "--detach"]);
                scene.write("shop/.git/rebase-merge/head-name", "refs/heads/feat\n");
                scene.path("shop")
            },
            ExpectedPlace::key(GITHUB).branch("feat"),
            "the branch under rebase is the one at work",
        ),
        row(
            "branches in reftables",
            |scene| {
                scene.git("shop", &["init", "--quiet", "--ref-format=reftable"]);
                scene.git("shop", &["config", "remote.origin.url", "https://github.com/acme/api"]);
                scene.path("shop")
            },
            ExpectedPlace::key(GITHUB).no_branch(),
            "an unknown branch is none, and no odd name",
        ),
        row(
            "a HEAD that is a symbolic link",
            |scene| {
                let top = scene.repository("shop", API);
                std::fs::remove_file(top.join(".git/HEAD")).unwrap();
                std::os::unix::fs::symlink("refs/heads/main", top.join(".git/HEAD")).unwrap();
                top
            },
            ExpectedPlace::key(GITHUB).branch("main"),
            "very old repositories have that",
        ),
        row(
            "commits with 64 digits",
            |scene| {
                scene.git("shop", &["init", "--quiet", "--object-format=sha256"]);
                scene.git("shop", &["commit", "--quiet", "--allow-empty", "--message", "one"]);
                scene.git("shop", &["checkout", "--quiet", "--detach"]);
                scene.path("shop")
            },
            ExpectedPlace::of_path("shop", "shop/.git"),
            "git has two kinds of ids",
        ),
    ]
}

fn remotes() -> Vec<Row> {
    vec![
        row(
            "a fork with its own origin",
            |scene| {
                scene.repository("api", Some("https://github.com/me/api"));
                scene.git("api", &["remote", "add", "upstream", "https://github.com/acme/api"]);
                scene.path("api")
            },
            ExpectedPlace::key("github.com/me/api"),
            "origin is where this clone's work goes",
        ),
        row(
            "an upstream without an origin",
            |scene| {
                scene.repository("api", None);
                scene.git("api", &["remote", "add", "fork", "https://github.com/me/api"]);
                scene.git("api", &["remote", "add", "upstream", "https://github.com/acme/api"]);
                scene.path("api")
            },
            ExpectedPlace::key(GITHUB),
            "upstream says more than any other name",
        ),
        row(
            "an origin on this disk and an upstream",
            |scene| {
                scene.repository("api", Some("/nowhere/api.git"));
                scene.git("api", &["remote", "add", "upstream", "https://github.com/acme/api"]);
                scene.path("api")
            },
            ExpectedPlace::key(GITHUB),
            "a path says nothing to others",
        ),
        row(
            "a clone of a clone on this disk",
            |scene| {
                scene.repository("api", API);
                scene.git(".", &["clone", "--quiet", "api", "copy"]);
                scene.path("copy")
            },
            ExpectedPlace::key(GITHUB),
            "agents clone the clone into a sandbox",
        ),
        row(
            "a clone by file://",
            |scene| {
                scene.repository("api", API);
                scene.git(".", &["clone", "--quiet", "file://$HOME/code/api", "copy"]);
                scene.path("copy")
            },
            ExpectedPlace::key(GITHUB),
            "the same clone by another spelling",
        ),
        row(
            "two clones of a bare repository on this disk",
            |scene| {
                scene.git("//srv/api.git", &["init", "--quiet", "--bare"]);
                scene.repository("one", Some("$ROOT/srv/api.git"));
                scene.repository("two", Some("file://$ROOT/srv/api"))
            },
            ExpectedPlace::same_as("one"),
            "all push to the same repository",
        ),
        row(
            "a clone of a repository that has no remote",
            |scene| {
                scene.repository("source", None);
                scene.git(".", &["clone", "--quiet", "source", "copy"]);
                scene.path("copy")
            },
            ExpectedPlace::of_path("copy", "copy/.git"),
            "a copy for trials is its own",
        ),
        row(
            "two clones that name each other",
            |scene| {
                scene.repository("one", Some("../two"));
                scene.repository("two", Some("../one"))
            },
            ExpectedPlace::of_path("two", "two/.git"),
            "a circle must end",
        ),
        row(
            "a remote that a cloud removed",
            |scene| {
                scene.remember("$HOME/code/api/.git", GITHUB);
                scene.repository("api", None)
            },
            ExpectedPlace::key(GITHUB).kind("remembered"),
            "a cloud agent takes the remote away at the start",
        ),
        row(
            "an alias of a renamed repository",
            |scene| {
                scene.alias("github.com/acme/old", GITHUB);
                scene.repository("api", Some("https://github.com/acme/old"))
            },
            ExpectedPlace::key(GITHUB),
            "the configuration says that it was renamed",
        ),
        row(
            "a proxy of one session as the only remote",
            |scene| scene.repository("api", Some("http://p@127.0.0.1:45001/x/y")),
            ExpectedPlace::of_path("api", "api/.git"),
            "a port that passes is no identity",
        ),
        row(
            "a proxy of one session and a forge",
            |scene| {
                scene.repository("api", Some("http://p@127.0.0.1:45001/x/y"));
                scene.git("api", &["remote", "add", "github", "https://github.com/acme/api"]);
                scene.path("api")
            },
            ExpectedPlace::key(GITHUB),
            "the forge lasts longer than the session",
        ),
    ]
}
