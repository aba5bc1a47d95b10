//! Repositories of jj, Mercurial and Sapling.

use super::row::{ExpectedPlace, Row, row};

const GITHUB: &str = "github.com/acme/api";

/// The rows.
pub fn rows() -> Vec<Row> {
    [jujutsu(), mercurial(), sapling()].into_iter().flatten().collect()
}

fn jujutsu() -> Vec<Row> {
    vec![
        row(
            "jj with its own git repository and a remote",
            |scene| {
                scene.jj("shop", "git");
                scene.git("shop/.jj/repo/store/git", &["init", "--quiet", "--bare"]);
                let url = ["config", "remote.origin.url", "git@github.com:acme/api"];
                scene.git("shop/.jj/repo/store/git", &url);
                scene.dir("shop/src")
            },
            ExpectedPlace::key(GITHUB).folder("src"),
            "git_target leads to the remote",
        ),
        row(
            "jj without a remote, in a subfolder",
            |scene| {
                scene.jj("shop", "git");
                scene.git("shop/.jj/repo/store/git", &["init", "--quiet", "--bare"]);
                scene.dir("shop/src")
            },
            ExpectedPlace::of_path("shop", "shop").folder("src"),
            "a subfolder agrees with the top",
        ),
        row(
            "a second workspace of jj",
            |scene| {
                scene.jj("shop", "git");
                scene.git("shop/.jj/repo/store/git", &["init", "--quiet", "--bare"]);
                scene.write("shop-ws/.jj/repo", "../../shop/.jj/repo");
                scene.dir("shop-ws/.jj/working_copy");
                scene.path("shop-ws")
            },
            ExpectedPlace::same_as("shop").folder(""),
            "workspaces share a repository",
        ),
        row(
            "a second workspace with an absolute path",
            |scene| {
                scene.jj("shop", "git");
                scene.git("shop/.jj/repo/store/git", &["init", "--quiet", "--bare"]);
                scene.write("shop-ws/.jj/repo", "$HOME/code/shop/.jj/repo");
                scene.path("shop-ws")
            },
            ExpectedPlace::same_as("shop"),
            "older versions of jj write that",
        ),
        row(
            "jj beside git's own folder",
            |scene| {
                scene.repository("shop", None);
                scene.jj("shop", "../../../.git");
                scene.path("shop")
            },
            ExpectedPlace::of_path("shop", "shop/.git").branch("main"),
            "git and jj work on the same repository",
        ),
        row(
            "a second workspace of jj beside git",
            |scene| {
                scene.repository("shop", None);
                scene.jj("shop", "../../../.git");
                scene.write("shop-ws/.jj/repo", "../../shop/.jj/repo");
                scene.path("shop-ws")
            },
            ExpectedPlace::same_as("shop"),
            "the workspace has no .git, and is the same repository",
        ),
        row(
            "jj on a git repository elsewhere",
            |scene| {
                scene.repository("api", Some("https://github.com/acme/api"));
                scene.jj("shop", "$HOME/code/api/.git");
                scene.path("shop")
            },
            ExpectedPlace::key(GITHUB),
            "jj can use a repository of git elsewhere",
        ),
        row(
            "an empty folder .jj in a clone",
            |scene| {
                scene.repository("api", Some("https://github.com/acme/api"));
                scene.dir("api/sub/.jj");
                scene.path("api/sub")
            },
            ExpectedPlace::key(GITHUB).folder("sub"),
            "an empty folder is no repository",
        ),
        row(
            "jj without git behind it",
            |scene| {
                scene.write("shop/.jj/repo/store/type", "Simple");
                scene.dir("shop/docs")
            },
            ExpectedPlace::of_path("shop", "shop").folder("docs"),
            "jj has other stores than git",
        ),
    ]
}

fn mercurial() -> Vec<Row> {
    vec![
        row(
            "hg with a path",
            |scene| {
                scene.hg("shop", Some("https://hg.example.org/acme/api"));
                scene.dir("shop/src")
            },
            ExpectedPlace::key("hg.example.org/acme/api").folder("src"),
            "hgrc has the URL",
        ),
        row(
            "hg by SSH",
            |scene| {
                scene.hg("shop", Some("ssh://hg@hg.example.org//acme/api"));
                scene.path("shop")
            },
            ExpectedPlace::key("hg.example.org/acme/api").kind("remote"),
            "SSH and HTTPS reach one repository",
        ),
        row(
            "hg without a path",
            |scene| {
                scene.hg("shop", None);
                scene.dir("shop/src")
            },
            ExpectedPlace::of_path("shop", "shop").folder("src"),
            "a subfolder agrees with the top",
        ),
        row(
            "hg on a git remote",
            |scene| {
                scene.hg("shop", Some("git+ssh://git@github.com/acme/api.git"));
                scene.path("shop")
            },
            ExpectedPlace::key(GITHUB),
            "hg-git works on a repository of GitHub",
        ),
        row(
            "a share of hg",
            |scene| {
                scene.hg("shop", None);
                scene.write("shop-2/.hg/sharedpath", "$HOME/code/shop/.hg");
                scene.write("shop-2/.hg/requires", "share-safe\nshared\n");
                scene.path("shop-2")
            },
            ExpectedPlace::same_as("shop"),
            "shares are the work trees of hg",
        ),
        row(
            "a share of hg with a relative path",
            |scene| {
                scene.hg("shop", Some("https://hg.example.org/acme/api"));
                scene.write("shop-2/.hg/sharedpath", "../../shop/.hg");
                scene.write("shop-2/.hg/requires", "relshared\nshare-safe\n");
                scene.path("shop-2")
            },
            ExpectedPlace::key("hg.example.org/acme/api"),
            "hg share --relative writes that",
        ),
        row(
            "a clone of hg on this disk",
            |scene| {
                scene.hg("shop", Some("https://hg.example.org/acme/api"));
                scene.hg("copy", Some("$HOME/code/shop"));
                scene.path("copy")
            },
            ExpectedPlace::key("hg.example.org/acme/api"),
            "its default leads to the first clone",
        ),
        row(
            "a branch of hg",
            |scene| {
                scene.hg("shop", None);
                scene.write("shop/.hg/branch", "stable\n");
                scene.path("shop")
            },
            ExpectedPlace::of_path("shop", "shop").branch("stable"),
            "hg keeps the branch in a file",
        ),
        row(
            "a bookmark of hg",
            |scene| {
                scene.hg("shop", None);
                scene.write("shop/.hg/branch", "default\n");
                scene.write("shop/.hg/bookmarks.current", "feat");
                scene.path("shop")
            },
            ExpectedPlace::of_path("shop", "shop").branch("feat"),
            "a bookmark is what git calls a branch",
        ),
        row(
            "hg with an included file and a path to push to",
            |scene| {
                scene.hg("shop", None);
                scene.write(
                    "shop/.hg/hgrc",
                    "%include ../team.rc\n[paths]\ndefault:pushurl = ssh://x/y\n",
                );
                scene.write(
                    "shop/team.rc",
                    "[ui]\nx = 1\n[paths]\ndefault = https://hg.example.org/acme/api\n",
                );
                scene.path("shop")
            },
            ExpectedPlace::key("hg.example.org/acme/api"),
            "a team shares its paths in the tree",
        ),
        row(
            "an empty folder .hg in a clone of git",
            |scene| {
                scene.repository("api", Some("https://github.com/acme/api"));
                scene.dir("api/sub/.hg");
                scene.path("api/sub")
            },
            ExpectedPlace::key(GITHUB).folder("sub"),
            "an empty folder is no repository",
        ),
    ]
}

fn sapling() -> Vec<Row> {
    vec![
        row(
            "sl with a git remote",
            |scene| {
                scene.write("shop/.sl/requires", "store\n");
                scene.write(
                    "shop/.sl/config",
                    "[paths]\ndefault = https://github.com/acme/api.git\n",
                );
                scene.dir("shop/src")
            },
            ExpectedPlace::key(GITHUB).folder("src"),
            "Sapling clones from GitHub",
        ),
        row(
            "a share of sl",
            |scene| {
                scene.write("shop/.sl/requires", "store\n");
                scene.write("shop-2/.sl/requires", "shared\n");
                scene.write("shop-2/.sl/sharedpath", "$HOME/code/shop/.sl");
                scene.path("shop-2")
            },
            ExpectedPlace::same_as("shop"),
            "shares are the work trees of Sapling",
        ),
        row(
            "a repository of hg inside one of git",
            |scene| {
                scene.repository("api", Some("https://github.com/acme/api"));
                scene.hg("api/vendor/lib", Some("https://hg.example.org/acme/lib"));
                scene.path("api/vendor/lib")
            },
            ExpectedPlace::key("hg.example.org/acme/lib").folder(""),
            "the nearest repository counts, whoever made it",
        ),
        row(
            "sl without a remote",
            |scene| {
                scene.write("shop/.sl/requires", "store\n");
                scene.write("shop/.sl/bookmarks.current", "feat\n");
                scene.dir("shop/src")
            },
            ExpectedPlace::of_path("shop", "shop").branch("feat"),
            "a subfolder agrees with the top",
        ),
    ]
}
