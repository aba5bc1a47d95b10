//! Containers, shared disks, and the paths of other systems.

use super::row::{ExpectedPlace, Row, row};

const API: Option<&str> = Some("https://github.com/acme/api");
const GITHUB: &str = "github.com/acme/api";

/// The rows.
pub fn rows() -> Vec<Row> {
    [lost_pointers(), other_systems()].into_iter().flatten().collect()
}

fn lost_pointers() -> Vec<Row> {
    vec![
        row(
            "a work tree in a container without its repository",
            |scene| {
                scene.write("feat/.git", "gitdir: $ROOT/host/mainr/.git/worktrees/feat\n");
                scene.path("feat")
            },
            ExpectedPlace::of_path("mainr", "//host/mainr/.git").kind("pointer"),
            "the text names the repository, which has this key outside",
        ),
        row(
            "a subfolder of such a work tree",
            |scene| {
                scene.write("feat/.git", "gitdir: $ROOT/host/mainr/.git/worktrees/feat\n");
                scene.dir("feat/src")
            },
            ExpectedPlace::same_as("feat").folder("src"),
            "a subfolder agrees with the top",
        ),
        row(
            "such a work tree, where the store knows the repository",
            |scene| {
                scene.remember("$ROOT/host/mainr/.git", GITHUB);
                scene.write("feat/.git", "gitdir: $ROOT/host/mainr/.git/worktrees/feat\n");
                scene.path("feat")
            },
            ExpectedPlace::key(GITHUB).kind("remembered"),
            "the store was told outside the container",
        ),
        row(
            "a work tree with its repository mounted beside it",
            |scene| {
                scene.repository("mainr", API);
                scene.git("mainr", &["worktree", "add", "--quiet", "-b", "feat", "../feat"]);
                scene.write("feat/.git", "gitdir: /somewhere/else/mainr/.git/worktrees/feat\n");
                scene.path("feat")
            },
            ExpectedPlace::key(GITHUB).branch("feat"),
            "both folders are mounted at new paths",
        ),
        row(
            "a work tree whose repository forgot it",
            |scene| {
                scene.repository("mainr", None);
                scene.write("feat/.git", "gitdir: $HOME/code/mainr/.git/worktrees/feat\n");
                scene.path("feat")
            },
            ExpectedPlace::same_as("mainr").no_branch(),
            "git worktree prune ran too early",
        ),
        row(
            "a work tree of a bare repository that is not mounted",
            |scene| {
                scene.write("feat/.git", "gitdir: $ROOT/host/mainr.git/worktrees/feat\n");
                scene.path("feat")
            },
            ExpectedPlace::of_path("mainr", "//host/mainr.git"),
            "the text names the bare repository",
        ),
        row(
            "a pointer that Windows wrote, on the same disk",
            |scene| {
                scene.write("feat/.git", "gitdir: C:/code/mainr/.git/worktrees/feat\n");
                scene.path("feat")
            },
            ExpectedPlace::other_than("other").kind("pointer"),
            "git of Windows made the work tree",
        ),
        row(
            "a submodule whose git files are not mounted",
            |scene| {
                scene.repository("api", API);
                let text =
                    "[submodule \"lib\"]\npath = vendor/lib\nurl = git@github.com:acme/lib.git\n";
                scene.write("api/.gitmodules", text);
                scene.write("api/vendor/lib/.git", "gitdir: /gone/api/.git/modules/lib\n");
                scene.path("api/vendor/lib")
            },
            ExpectedPlace::key("github.com/acme/lib"),
            "its parent says where it is from",
        ),
        row(
            "such a submodule with a relative URL",
            |scene| {
                scene.repository("api", API);
                let text = "[submodule \"lib\"]\npath = lib\nurl = ../lib.git\n";
                scene.write("api/.gitmodules", text);
                scene.write("api/lib/.git", "gitdir: ../.git/modules/lib\n");
                scene.path("api/lib")
            },
            ExpectedPlace::key("github.com/acme/lib"),
            "it counts from its parent's remote",
        ),
        row(
            "a pointer to another folder that is gone",
            |scene| {
                scene.write("shop/.git", "gitdir: ../files\n");
                scene.path("shop")
            },
            ExpectedPlace::of_path("files", "files").kind("pointer"),
            "the separate directory is not mounted",
        ),
        row(
            "two work trees of one lost repository",
            |scene| {
                scene.write("one/.git", "gitdir: /host/mainr/.git/worktrees/one\n");
                scene.write("two/.git", "gitdir: /host/mainr/.git/worktrees/two\n");
                scene.path("one")
            },
            ExpectedPlace::same_as("two"),
            "both texts name the same repository",
        ),
    ]
}

fn other_systems() -> Vec<Row> {
    use place::DirectoryOrigin::{Hook, Root};
    vec![
        row(
            "a hook of Windows, with nothing of it here",
            |scene| {
                scene.names(Hook, "C:\\Users\\ana\\code\\shop");
                scene.path("~")
            },
            ExpectedPlace::other_than("other").kind("folder"),
            "its text is all there is",
        ),
        row(
            "the home of Windows as a folder",
            |scene| {
                scene.names(Hook, "C:\\Windows\\System32");
                scene.path("~")
            },
            ExpectedPlace::nobody(),
            "desktop programs of Windows start servers there",
        ),
        row(
            "a share of the Subsystem for Linux",
            |scene| {
                scene.repository("api", API);
                scene.names(Root, "file://wsl.localhost/Ubuntu$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "an editor of Windows has the folder open",
        ),
        row(
            "a folder of an editor's window on another system",
            |scene| {
                scene.repository("api", API);
                scene.names(Root, "vscode-remote://wsl%2Bubuntu$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "the program runs where the folder is",
        ),
        row(
            "the same folder by two mounts",
            |scene| {
                scene.repository("api", API);
                scene.repository("//workspaces/api", API)
            },
            ExpectedPlace::same_as("api"),
            "a remote is the same wherever a clone stands",
        ),
        row(
            "a relative directory",
            |scene| {
                scene.names(Hook, "src");
                scene.repository("api", API)
            },
            ExpectedPlace::key(GITHUB),
            "a relative path names nothing by itself",
        ),
        row(
            "an empty directory",
            |_| std::path::PathBuf::new(),
            ExpectedPlace::nobody(),
            "a connection from elsewhere has none",
        ),
        row(
            "a drive itself",
            |scene| {
                scene.names(Hook, "D:\\");
                scene.path("~")
            },
            ExpectedPlace::nobody(),
            "a drive is no project",
        ),
        row(
            "a path with a line break and a NUL's neighbour",
            |scene| {
                scene.names(Hook, "/no\nwhere/\u{1}x");
                scene.repository("api", API)
            },
            ExpectedPlace::key(GITHUB),
            "odd input must not stop the program",
        ),
    ]
}
