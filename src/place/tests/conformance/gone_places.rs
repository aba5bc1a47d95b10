//! Directories that were removed before anybody asked.

use super::row::{ExpectedPlace, Row, row};
use super::scene::Scene;

const API: Option<&str> = Some("https://github.com/acme/api");
const GITHUB: &str = "github.com/acme/api";

/// A removed directory, the repository that is there, and why.
const REMOVED: &[(&str, &str, &str)] = &[
    ("shop/.claude/worktrees/feat-x", "shop", "Claude Code removes its work trees"),
    ("shop/.worktrees/feat-x/src", "shop", "many keep work trees inside"),
    ("shop/src/old", "shop", "a folder was removed by a checkout"),
    ("shop-feat", "shop", "a work tree beside the repository"),
    ("shop-feat-two/src", "shop", "its name may have several parts"),
    ("shop.feat", "shop", "worktrunk writes a dot"),
    ("shop_feat", "shop", "others write an underscore"),
    ("shop-api-feat", "shop-api", "the longest name that is there counts"),
    ("shop.worktrees/feat", "shop", "VS Code keeps work trees beside"),
    ("shop-worktrees/feat/src", "shop", "others write a dash"),
    ("shop__worktrees/feat", "shop", "others write two underscores"),
    ("worktrees/shop/feat", "shop", "a folder for the work trees of all repositories"),
    ("worktrees/shop-api-feat", "shop-api", "the same, by the beginning of the name"),
    (".worktrees/1a4b-feat/shop/src", "shop", "Vibe Kanban names the repository last"),
];

/// The rows.
pub fn rows() -> Vec<Row> {
    let beside = REMOVED.iter().map(|(gone, repository, why)| {
        let set_up = |scene: &mut Scene| {
            scene.repository("shop", None);
            scene.repository("shop-api", None);
            scene.path(gone)
        };
        row(&format!("{gone} beside {repository}"), set_up, ExpectedPlace::same_as(repository), why)
    });
    beside.chain(of_tools()).chain(others()).collect()
}

/// A removed directory of a tool below the home, and another work tree of the tool that is there.
const OF_TOOLS: &[(&str, &str, &str)] = &[
    (
        "~/.codex/worktrees/1a4b/shop",
        "~/.codex/worktrees/9c2d/shop",
        "Codex keeps work trees by ids",
    ),
    (
        "~/.cursor/worktrees/shop/a1",
        "~/.cursor/worktrees/shop/b2",
        "Cursor keeps them by repositories",
    ),
    (
        "~/.claude-worktrees/shop/keen-otter",
        "~/.claude-worktrees/shop/calm-fox",
        "Claude's desktop program too",
    ),
    ("~/conductor/shop/lisbon", "~/conductor/shop/oslo", "Conductor names them after cities"),
];

fn of_tools() -> impl Iterator<Item = Row> {
    OF_TOOLS.iter().flat_map(|(gone, other, why)| {
        let by_other = |scene: &mut Scene| {
            scene.repository("shop", API);
            scene.dir(other).parent().map(|above| std::fs::remove_dir(above.join("x")));
            std::fs::remove_dir(scene.path(other)).unwrap();
            let tree = scene.path(other);
            let tree = tree.to_str().unwrap();
            scene.git("shop", &["worktree", "add", "--quiet", "-b", "other", tree]);
            scene.path(gone)
        };
        let by_store = |scene: &mut Scene| {
            scene.stored("shop", GITHUB);
            scene.path(gone)
        };
        [
            row(&format!("{gone}, where {other} is"), by_other, ExpectedPlace::key(GITHUB), why),
            row(
                &format!("{gone}, by the store"),
                by_store,
                ExpectedPlace::key(GITHUB).kind("removed tree"),
                why,
            ),
        ]
    })
}

fn others() -> Vec<Row> {
    vec![
        row(
            "a removed work tree of a bare repository",
            |scene| {
                scene.git("shop/.bare", &["init", "--quiet", "--bare"]);
                scene.path("shop/feat")
            },
            ExpectedPlace::same_as("shop/.bare"),
            "the bare repository stands beside its work trees",
        ),
        row(
            "a removed folder of a marked project",
            |scene| {
                scene.write("proj/CLAUDE.md", "");
                scene.path("proj/backend/old")
            },
            ExpectedPlace::of_path("proj", "proj").folder("backend/old"),
            "the nearest parent is the project",
        ),
        row(
            "a removed folder of which nothing is known",
            |scene| scene.path("nothing-like-it/src"),
            ExpectedPlace::of_path("src", "nothing-like-it/src").kind("folder"),
            "only its own path is left",
        ),
        row(
            "a removed work tree where the home is a repository",
            |scene| {
                scene.repository("~", Some("https://github.com/ana/dotfiles"));
                scene.repository("shop", API);
                scene.path("shop-feat")
            },
            ExpectedPlace::key(GITHUB),
            "the dotfiles are not what it was about",
        ),
        row(
            "a path through a file",
            |scene| {
                scene.repository("shop", API);
                scene.write("shop/README.md", "");
                scene.path("shop/README.md/x")
            },
            ExpectedPlace::key(GITHUB),
            "a folder became a file meanwhile",
        ),
        row(
            "a path with parents in it",
            |scene| {
                scene.repository("shop", API);
                scene.path("shop/gone/../src")
            },
            ExpectedPlace::key(GITHUB),
            "a shell kept the way it went",
        ),
    ]
}
