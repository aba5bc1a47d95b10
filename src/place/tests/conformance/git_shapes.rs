//! What is a repository to git, and which one a folder belongs to.

use super::row::{ExpectedPlace, Row, row};

const API: Option<&str> = Some("https://github.com/acme/api");
const GITHUB: &str = "github.com/acme/api";

/// The rows.
pub fn rows() -> Vec<Row> {
    [plain(), linked(), ghosts()].into_iter().flatten().collect()
}

fn plain() -> Vec<Row> {
    vec![
        row(
            "a subfolder of a clone",
            |scene| {
                scene.repository("api", API);
                scene.dir("api/src/deep")
            },
            ExpectedPlace::key(GITHUB).folder("src/deep").branch("main"),
            "every subfolder agrees with the top",
        ),
        row(
            "a repository without a remote",
            |scene| scene.repository("shop", None),
            ExpectedPlace::of_path("shop", "shop/.git").kind("common directory"),
            "its path is all that tells it from others",
        ),
        row(
            "a repository without a commit",
            |scene| {
                scene.git("fresh", &["init", "--quiet"]);
                scene.path("fresh")
            },
            ExpectedPlace::of_path("fresh", "fresh/.git").branch("main"),
            "git init is enough",
        ),
        row(
            "two repositories of one name",
            |scene| {
                scene.repository("b/shop", None);
                scene.repository("a/shop", None)
            },
            ExpectedPlace::other_than("b/shop"),
            "two folders named alike are two projects",
        ),
        row(
            "a folder reached by a symbolic link",
            |scene| {
                scene.repository("shop", None);
                std::os::unix::fs::symlink(scene.path("shop"), scene.path("link")).unwrap();
                scene.path("link")
            },
            ExpectedPlace::same_as("shop"),
            "a link is another way to the same folder",
        ),
        row(
            "inside the folder .git",
            |scene| {
                scene.repository("shop", None);
                scene.path("shop/.git/hooks")
            },
            ExpectedPlace::same_as("shop"),
            "a hook of git runs there",
        ),
        row(
            "a repository inside another",
            |scene| {
                scene.repository("outer", API);
                scene.repository("outer/inner", Some("https://github.com/acme/inner"))
            },
            ExpectedPlace::key("github.com/acme/inner").folder(""),
            "the nearest one counts, as for git",
        ),
        row(
            "a folder of a name that is not UTF-8",
            |scene| {
                use std::os::unix::ffi::OsStrExt;
                let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
                let top = scene.path("x").with_file_name(name);
                std::fs::create_dir_all(&top).unwrap();
                let other = top.with_file_name(std::ffi::OsStr::from_bytes(b"caf\xea"));
                std::fs::create_dir_all(&other).unwrap();
                std::os::unix::fs::symlink(other, scene.path("other")).unwrap();
                top
            },
            ExpectedPlace::other_than("other").kind("folder"),
            "two names that look alike as text are two folders",
        ),
        row(
            "a folder with a line break and a quote in its name",
            |scene| scene.repository("a \"b\"\nc", None),
            ExpectedPlace::of_path("a \"b\"\nc", "a \"b\"\nc/.git"),
            "any name that the disk takes is a name",
        ),
        row(
            "a ceiling for git's search",
            |scene| {
                scene.repository("api", API);
                scene.set("GIT_CEILING_DIRECTORIES", "$HOME/code/api");
                scene.dir("api/vendor")
            },
            ExpectedPlace::of_path("vendor", "api/vendor").kind("folder"),
            "git itself does not look further",
        ),
    ]
}

fn linked() -> Vec<Row> {
    vec![
        row(
            "a linked work tree of a repository without a remote",
            |scene| {
                scene.repository("shop", None);
                scene.git("shop", &["worktree", "add", "--quiet", "-b", "feat", "../shop-feat"]);
                scene.path("shop-feat")
            },
            ExpectedPlace::same_as("shop").branch("feat").folder(""),
            "all work trees share what was learned",
        ),
        row(
            "a linked work tree with relative paths",
            |scene| {
                scene.repository("shop", None);
                scene.git("shop", &["worktree", "add", "--quiet", "-b", "feat", "../shop-feat"]);
                scene.write("shop-feat/.git", "gitdir: ../shop/.git/worktrees/shop-feat\n");
                scene.path("shop-feat")
            },
            ExpectedPlace::same_as("shop").branch("feat"),
            "git can write its pointers relatively",
        ),
        row(
            "a work tree that an agent made in the repository",
            |scene| {
                scene.repository("shop", API);
                let tree = ".claude/worktrees/feat-x";
                scene.git("shop", &["worktree", "add", "--quiet", "-b", "worktree-feat-x", tree]);
                scene.path("shop/.claude/worktrees/feat-x")
            },
            ExpectedPlace::key(GITHUB).branch("worktree-feat-x").folder(""),
            "the work of an agent is of its repository",
        ),
        row(
            "a submodule with a remote",
            |scene| {
                scene.repository("library", None);
                scene.repository("api", API);
                let add = ["submodule", "--quiet", "add", "$HOME/code/library", "vendor/library"];
                scene.git("api", &add);
                let url = "https://github.com/acme/library";
                scene.git("api/vendor/library", &["remote", "set-url", "origin", url]);
                scene.path("api/vendor/library")
            },
            ExpectedPlace::key("github.com/acme/library").folder(""),
            "a submodule is a repository of its own",
        ),
        row(
            "a folder of a submodule that was not fetched",
            |scene| {
                scene.repository("api", API);
                scene.dir("api/vendor/library")
            },
            ExpectedPlace::key(GITHUB).folder("vendor/library"),
            "without .git it is a folder of its parent",
        ),
        row(
            "a bare repository",
            |scene| {
                scene.git("shop.git", &["init", "--quiet", "--bare"]);
                scene.path("shop.git")
            },
            ExpectedPlace::of_path("shop", "shop.git"),
            ".git at the end is no part of the name",
        ),
        row(
            "a work tree of a bare repository",
            |scene| {
                scene.repository("source", None);
                scene.git(".", &["clone", "--quiet", "--bare", "source", "shop.git"]);
                scene.git("shop.git", &["worktree", "add", "--quiet", "../tree", "main"]);
                scene.path("tree")
            },
            ExpectedPlace::same_as("shop.git").branch("main"),
            "the bare repository is shared by its work trees",
        ),
        row(
            "work trees beside a hidden bare repository",
            |scene| {
                scene.repository("source", API);
                scene.git("shop", &["clone", "--quiet", "--bare", "../source", ".bare"]);
                scene.write("shop/.git", "gitdir: ./.bare\n");
                let url = "git@github.com:acme/api.git";
                scene.git("shop", &["config", "remote.origin.url", url]);
                scene.git("shop", &["worktree", "add", "--quiet", "main"]);
                scene.path("shop/main")
            },
            ExpectedPlace::key(GITHUB).branch("main"),
            "people who work with work trees set this up",
        ),
        row(
            "a separate directory of git files",
            |scene| {
                scene.git("shop", &["init", "--quiet", "--separate-git-dir", "../files"]);
                scene.path("shop")
            },
            ExpectedPlace::of_path("files", "files"),
            "the directory of git files tells it from others",
        ),
        row(
            "a .git that is a symbolic link",
            |scene| {
                scene.repository("shop", None);
                let tree = scene.dir("other");
                std::os::unix::fs::symlink(scene.path("shop/.git"), tree.join(".git")).unwrap();
                tree
            },
            ExpectedPlace::same_as("shop"),
            "a checkout of repo links its git files",
        ),
        row(
            "a work tree with settings of its own",
            |scene| {
                scene.repository("shop", None);
                scene.git("shop", &["worktree", "add", "--quiet", "-b", "feat", "../shop-feat"]);
                scene.git("shop", &["config", "extensions.worktreeConfig", "true"]);
                let url = "https://github.com/acme/api";
                scene.git("shop-feat", &["config", "--worktree", "remote.origin.url", url]);
                scene.path("shop-feat")
            },
            ExpectedPlace::key(GITHUB),
            "git reads config.worktree as well",
        ),
        row(
            "GIT_DIR and GIT_WORK_TREE of a hook",
            |scene| {
                scene.repository("shop", API);
                scene.set("GIT_DIR", "$HOME/code/shop/.git");
                scene.set("GIT_WORK_TREE", "$HOME/code/shop");
                scene.dir("shop/src")
            },
            ExpectedPlace::key(GITHUB).folder("src"),
            "git runs its hooks with these",
        ),
        row(
            "dotfiles with GIT_DIR",
            |scene| {
                scene.git("~/.files", &["init", "--quiet", "--bare"]);
                scene.set("GIT_DIR", "$HOME/.files");
                scene.set("GIT_WORK_TREE", "$HOME");
                scene.path("~")
            },
            ExpectedPlace::of_path(".files", "~/.files"),
            "git is told where its files are",
        ),
    ]
}

fn ghosts() -> Vec<Row> {
    let empty = ["HEAD", "config", "hooks", "objects", "refs"];
    vec![
        row(
            "empty files of a sandbox in a subfolder",
            move |scene| {
                scene.repository("mono", API);
                empty.iter().for_each(|name| scene.write(&format!("mono/packages/web/{name}"), ""));
                scene.path("mono/packages/web")
            },
            ExpectedPlace::key(GITHUB).folder("packages/web"),
            "git takes no empty files for a repository",
        ),
        row(
            "empty files of a sandbox without a repository above",
            move |scene| {
                empty.iter().for_each(|name| scene.write(&format!("web/{name}"), ""));
                scene.path("web")
            },
            ExpectedPlace::of_path("web", "web").kind("folder"),
            "the files appear and vanish with each command",
        ),
        row(
            "an empty .git of a sandbox without a repository above",
            |scene| {
                ["HEAD", "config"]
                    .iter()
                    .for_each(|name| scene.write(&format!("web/.git/{name}"), ""));
                scene.dir("web/.git/objects");
                scene.dir("web/.git/refs");
                scene.path("web")
            },
            ExpectedPlace::of_path("web", "web").kind("folder"),
            "the files appear and vanish with each command",
        ),
        row(
            "an empty folder .git in a subfolder",
            |scene| {
                scene.repository("mono", API);
                scene.dir("mono/packages/web/.git");
                scene.path("mono/packages/web")
            },
            ExpectedPlace::key(GITHUB).folder("packages/web"),
            "git goes on upwards",
        ),
        row(
            "an empty file .git in a subfolder",
            |scene| {
                scene.repository("mono", API);
                scene.write("mono/packages/web/.git", "");
                scene.path("mono/packages/web")
            },
            ExpectedPlace::key(GITHUB).folder("packages/web"),
            "an empty file points nowhere",
        ),
        row(
            "folders with the names of a bare repository, and a HEAD of prose",
            |scene| {
                scene.repository("mono", API);
                ["objects", "refs"].iter().for_each(|name| {
                    scene.dir(&format!("mono/game/{name}"));
                });
                scene.write("mono/game/HEAD", "of the team: Ana\n");
                scene.write("mono/game/config", "");
                scene.path("mono/game")
            },
            ExpectedPlace::key(GITHUB).folder("game"),
            "HEAD must name a ref or a commit",
        ),
        row(
            "a .git with HEAD and refs but no objects",
            |scene| {
                scene.repository("mono", API);
                scene.write("mono/sub/.git/HEAD", "ref: refs/heads/main\n");
                scene.dir("mono/sub/.git/refs");
                scene.path("mono/sub")
            },
            ExpectedPlace::key(GITHUB).folder("sub"),
            "objects must be a folder",
        ),
        row(
            "the remains of a .git in an image, with nothing above",
            |scene| {
                scene.write("app/.git/HEAD", "ref: refs/heads/main\n");
                scene.write(
                    "app/.git/config",
                    "[remote \"origin\"]\nurl = git@github.com:acme/api\n",
                );
                scene.path("app")
            },
            ExpectedPlace::key(GITHUB),
            "images leave the objects out to be small",
        ),
        row(
            "a .git that may not be read",
            |scene| {
                use std::os::unix::fs::PermissionsExt;
                scene.repository("shop", None);
                let git_dir = scene.path("shop/.git");
                let closed = std::fs::Permissions::from_mode(0o000);
                std::fs::set_permissions(git_dir, closed).unwrap();
                scene.path("shop")
            },
            ExpectedPlace::of_path("shop", "shop/.git"),
            "another user's repository is still one",
        ),
    ]
}
