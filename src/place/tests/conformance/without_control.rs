//! Projects that no version control knows, and folders that are nobody's project.

use super::row::{ExpectedPlace, Row, row};
use super::scene::Scene;

/// The files of a project, the folder in which somebody stands, the project's folder, and why.
const MARKS: &[(&[&str], &str, &str, &str)] = &[
    (&["proj/CLAUDE.md"], "proj/backend", "proj", "rules for agents stand at the top"),
    (&["proj/AGENTS.md"], "proj/a/b/c", "proj", "rules for agents stand at the top"),
    (&["proj/package.json"], "proj/src", "proj", "a package begins at its manifest"),
    (&["proj/pyproject.toml"], "proj/src/shop", "proj", "a package begins at its manifest"),
    (&["proj/Shop.sln"], "proj/Shop.Web", "proj", "a solution has its own name"),
    (&["proj/.svn/wc.db"], "proj/trunk", "proj", "Subversion marks the top"),
    (&["proj/CVS/Root", "proj/src/CVS/Root"], "proj/src", "proj", "CVS marks each folder"),
    (&["proj/.bzr/README"], "proj/x", "proj", "Bazaar marks the top"),
    (&["proj/.fslckout"], "proj/x", "proj", "Fossil marks the top"),
    (&["proj/.vscode/settings.json"], "proj/x", "proj", "an editor was opened on it"),
    (
        &["proj/package.json", "proj/web/package.json"],
        "proj/web",
        "proj/web",
        "the nearest package counts",
    ),
    (
        &["proj/pnpm-workspace.yaml", "proj/web/package.json"],
        "proj/web",
        "proj",
        "a workspace holds its packages",
    ),
    (&["proj/go.work", "proj/api/go.mod"], "proj/api/cmd", "proj", "a workspace holds its modules"),
    (
        &["proj/Makefile", "proj/src/Makefile"],
        "proj/src",
        "proj",
        "each folder may have a Makefile",
    ),
    (
        &["proj/CLAUDE.md", "proj/api/Dockerfile"],
        "proj/api",
        "proj",
        "an image is a part of a project",
    ),
    (&["README.md", "proj/CLAUDE.md"], "proj/x", "proj", "the nearest mark counts"),
];

/// The rows.
pub fn rows() -> Vec<Row> {
    let marked = MARKS.iter().map(|(files, stands, project, why)| {
        let place = format!("{files:?}, standing in {stands}");
        let set_up = |scene: &mut Scene| {
            files.iter().for_each(|file| scene.write(file, ""));
            scene.dir(stands)
        };
        let name = project.rsplit('/').next().unwrap();
        row(&place, set_up, ExpectedPlace::of_path(name, project).kind("mark"), why)
    });
    marked.chain(workspaces()).chain(memories()).chain(nobody()).collect()
}

fn workspaces() -> Vec<Row> {
    let in_workspace = |place: &str, file: &'static str, text: &'static str, own: &'static str| {
        let set_up = move |scene: &mut Scene| {
            scene.write(&format!("proj/{file}"), text);
            scene.write(&format!("proj/packages/web/{own}"), "");
            scene.dir("proj/packages/web/src")
        };
        let expected = ExpectedPlace::of_path("proj", "proj").folder("packages/web/src");
        row(place, set_up, expected, "a workspace holds its packages")
    };
    vec![
        in_workspace(
            "a workspace of npm",
            "package.json",
            "{\"workspaces\": [\"packages/*\"]}",
            "package.json",
        ),
        in_workspace(
            "a workspace of cargo",
            "Cargo.toml",
            "[workspace]\nmembers = []\n",
            "Cargo.toml",
        ),
        in_workspace(
            "a workspace of uv",
            "pyproject.toml",
            "[tool.uv.workspace]\n",
            "pyproject.toml",
        ),
        in_workspace(
            "a build of gradle",
            "settings.gradle.kts",
            "include(\":web\")",
            "build.gradle.kts",
        ),
        in_workspace("a build of bazel", "MODULE.bazel", "", "package.json"),
    ]
}

fn memories() -> Vec<Row> {
    vec![
        row(
            "a subfolder of a folder with memories",
            |scene| {
                scene.memories("proj", "proj");
                scene.dir("proj/backend")
            },
            ExpectedPlace::of_path("proj", "proj").folder("backend").kind("memories"),
            "an agent runs cd backend and goes on",
        ),
        row(
            "a folder with memories below another",
            |scene| {
                scene.memories("proj", "proj");
                scene.memories("backend", "proj/backend");
                scene.dir("proj/backend/src")
            },
            ExpectedPlace::of_path("backend", "proj/backend"),
            "what was saved there stays there",
        ),
        row(
            "a package below a marked project with memories",
            |scene| {
                scene.memories("proj", "proj");
                scene.write("proj/CLAUDE.md", "");
                scene.write("proj/backend/package.json", "{}");
                scene.path("proj/backend")
            },
            ExpectedPlace::of_path("proj", "proj").folder("backend"),
            "people already work on the project above",
        ),
        row(
            "a package below a heap of projects with memories",
            |scene| {
                scene.memories("heap", "heap");
                scene.write("heap/shop/package.json", "{}");
                scene.path("heap/shop")
            },
            ExpectedPlace::of_path("shop", "heap/shop"),
            "somebody once started an agent in the heap",
        ),
        row(
            "a plain folder",
            |scene| scene.dir("notes/2026"),
            ExpectedPlace::of_path("2026", "notes/2026").kind("folder").folder(""),
            "nothing says more than the folder",
        ),
        row(
            "an alias with memories",
            |scene| {
                let old = scene.dir("proj");
                let key = event::RepoKey::from_place("proj", old.to_str().unwrap());
                scene.alias(key.as_str(), "github.com/acme/api");
                scene.dir("proj")
            },
            ExpectedPlace::key("github.com/acme/api"),
            "the configuration says what it became",
        ),
    ]
}

fn nobody() -> Vec<Row> {
    vec![
        row(
            "the home directory",
            |scene| scene.path("~"),
            ExpectedPlace::nobody().kind("nobody"),
            "desktop programs start servers there",
        ),
        row(
            "the home directory with marks and memories",
            |scene| {
                scene.memories("ana", "~");
                scene.write("~/CLAUDE.md", "");
                scene.write("~/package.json", "{}");
                scene.path("~")
            },
            ExpectedPlace::nobody(),
            "a stray package.json makes no project of a home",
        ),
        row(
            "the folder above the home",
            |scene| scene.path("//home"),
            ExpectedPlace::nobody(),
            "all users live there",
        ),
        row(
            "the root",
            |_| std::path::PathBuf::from("/"),
            ExpectedPlace::nobody(),
            "desktop programs start servers there",
        ),
        row(
            "the temporary folder",
            |scene| scene.path("//scratch"),
            ExpectedPlace::nobody(),
            "everybody's files lie there",
        ),
        row(
            "/tmp itself",
            |_| std::path::PathBuf::from("/tmp"),
            ExpectedPlace::nobody(),
            "everybody's files lie there",
        ),
        row(
            "a clone in a temporary folder",
            |scene| scene.repository("//scratch/api", Some("https://github.com/acme/api")),
            ExpectedPlace::key("github.com/acme/api"),
            "people try a clone there",
        ),
        row(
            "a plain folder in a temporary folder, below a stray mark",
            |scene| {
                scene.write("//scratch/package.json", "{}");
                scene.dir("//scratch/x")
            },
            ExpectedPlace::of_path("x", "//scratch/x").kind("folder"),
            "a stray file there is nobody's",
        ),
        row(
            "a repository right in the home directory",
            |scene| scene.repository("~", Some("https://github.com/ana/dotfiles")),
            ExpectedPlace::key("github.com/ana/dotfiles"),
            "dotfiles are a project",
        ),
        row(
            "a marked project below a home that is a repository",
            |scene| {
                scene.repository("~", Some("https://github.com/ana/dotfiles"));
                scene.write("proj/package.json", "{}");
                scene.dir("proj/src")
            },
            ExpectedPlace::of_path("proj", "proj"),
            "a shop's lessons are none of the dotfiles",
        ),
        row(
            "a folder of settings below a home that is a repository",
            |scene| {
                scene.repository("~", Some("https://github.com/ana/dotfiles"));
                scene.dir("~/.config/nvim")
            },
            ExpectedPlace::key("github.com/ana/dotfiles").folder(".config/nvim"),
            "git says that it belongs to it",
        ),
        row(
            "dotfiles in a bare repository",
            |scene| {
                scene.git("~/.cfg", &["init", "--quiet", "--bare"]);
                scene
                    .git("~/.cfg", &["config", "remote.origin.url", "git@github.com:ana/dotfiles"]);
                scene.path("~")
            },
            ExpectedPlace::key("github.com/ana/dotfiles"),
            "the usual way without a .git in the home",
        ),
        row(
            "a folder of settings, with yadm",
            |scene| {
                scene.git("~/.local/share/yadm/repo.git", &["init", "--quiet", "--bare"]);
                let url = ["config", "remote.origin.url", "git@github.com:ana/dotfiles"];
                scene.git("~/.local/share/yadm/repo.git", &url);
                scene.dir("~/.config/nvim")
            },
            ExpectedPlace::key("github.com/ana/dotfiles").folder(".config/nvim"),
            "yadm keeps a bare repository",
        ),
        row(
            "a project beside dotfiles in a bare repository",
            |scene| {
                scene.git("~/.cfg", &["init", "--quiet", "--bare"]);
                scene.dir("notes")
            },
            ExpectedPlace::of_path("notes", "notes"),
            "dotfiles have no projects",
        ),
    ]
}
