//! What hooks, clients and arguments say beside the directory of the process.

use place::DirectoryOrigin::{Argument, Hook, Root};

use super::row::{ExpectedPlace, Row, row};

const API: Option<&str> = Some("https://github.com/acme/api");
const GITHUB: &str = "github.com/acme/api";

/// The rows.
pub fn rows() -> Vec<Row> {
    [roots(), variables(), hooks_and_arguments()].into_iter().flatten().collect()
}

fn roots() -> Vec<Row> {
    vec![
        row(
            "a server in the home with a root",
            |scene| {
                scene.repository("api", API);
                scene.names(Root, "file://$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "Cursor starts servers of its global settings there",
        ),
        row(
            "a server in / with a root in a subfolder",
            |scene| {
                scene.repository("api", API);
                scene.dir("api/my web");
                scene.names(Root, "file://$HOME/code/api/my%20web");
                "/".into()
            },
            ExpectedPlace::key(GITHUB).folder("my web"),
            "a URI has its spaces encoded",
        ),
        row(
            "a server in the home with several roots",
            |scene| {
                scene.repository("api", API);
                scene.dir("notes");
                scene.names(Root, "file://$HOME/code/notes");
                scene.names(Root, "file://$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "a repository says more than a folder",
        ),
        row(
            "a server in another clone with a root",
            |scene| {
                scene.repository("api", API);
                scene.names(Root, "file://$HOME/code/api");
                scene.repository("tool", Some("https://github.com/acme/tool"))
            },
            ExpectedPlace::key(GITHUB),
            "the client says on what it works",
        ),
        row(
            "a server in a clone with a root that is no folder",
            |scene| {
                scene.names(Root, "https://example.org/x");
                scene.repository("api", API)
            },
            ExpectedPlace::key(GITHUB),
            "a page of the web is no folder",
        ),
        row(
            "a server in the home with the home as a root",
            |scene| {
                scene.names(Root, "file://$HOME");
                scene.path("~")
            },
            ExpectedPlace::nobody(),
            "a window without a folder has the home",
        ),
    ]
}

fn variables() -> Vec<Row> {
    vec![
        row(
            "CLAUDE_PROJECT_DIR above a folder without git",
            |scene| {
                scene.dir("proj");
                scene.set("CLAUDE_PROJECT_DIR", "$HOME/code/proj");
                scene.dir("proj/backend")
            },
            ExpectedPlace::of_path("proj", "proj").folder("backend").kind("declared"),
            "the client says where the project begins",
        ),
        row(
            "CLAUDE_PROJECT_DIR above a package",
            |scene| {
                scene.write("proj/backend/package.json", "{}");
                scene.set("CLAUDE_PROJECT_DIR", "$HOME/code/proj");
                scene.path("proj/backend")
            },
            ExpectedPlace::of_path("proj", "proj").folder("backend"),
            "the client says where the project begins",
        ),
        row(
            "CLAUDE_PROJECT_DIR above a repository",
            |scene| {
                scene.dir("proj");
                scene.set("CLAUDE_PROJECT_DIR", "$HOME/code/proj");
                scene.repository("proj/api", API)
            },
            ExpectedPlace::key(GITHUB),
            "a repository inside is one of its own",
        ),
        row(
            "CLAUDE_PROJECT_DIR elsewhere, in a repository",
            |scene| {
                scene.repository("shop", Some("https://github.com/acme/shop"));
                scene.set("CLAUDE_PROJECT_DIR", "$HOME/code/shop");
                scene.repository("api", API)
            },
            ExpectedPlace::key(GITHUB),
            "the agent went over to another repository",
        ),
        row(
            "CLAUDE_PROJECT_DIR from a scratch folder",
            |scene| {
                scene.repository("api", API);
                scene.set("CLAUDE_PROJECT_DIR", "$HOME/code/api");
                scene.dir("//scratch/x")
            },
            ExpectedPlace::key(GITHUB),
            "the agent went to a scratch folder for a moment",
        ),
        row(
            "GEMINI_PROJECT_DIR from the home",
            |scene| {
                scene.repository("api", API);
                scene.set("GEMINI_PROJECT_DIR", "$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "another client's variable",
        ),
        row(
            "CURSOR_PROJECT_DIR from the home",
            |scene| {
                scene.repository("api", API);
                scene.set("CURSOR_PROJECT_DIR", "$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "another client's variable",
        ),
        row(
            "several folders of Cursor's window",
            |scene| {
                scene.repository("api", API);
                scene.set("WORKSPACE_FOLDER_PATHS", "$HOME/code/gone, $HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "a window may have several folders",
        ),
        row(
            "npx in a project, started by a client in the home",
            |scene| {
                scene.repository("api", API);
                scene.set("INIT_CWD", "$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "npm says where it was started",
        ),
        row(
            "a variable that the client did not replace",
            |scene| {
                scene.set("CLAUDE_PROJECT_DIR", "${workspaceFolder}");
                scene.repository("api", API)
            },
            ExpectedPlace::key(GITHUB),
            "an unknown variable is passed as it is",
        ),
    ]
}

fn hooks_and_arguments() -> Vec<Row> {
    vec![
        row(
            "a hook with a directory, started elsewhere",
            |scene| {
                scene.repository("api", API);
                scene.names(Hook, "$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "the session stands there, not the hook",
        ),
        row(
            "a hook whose directory was removed",
            |scene| {
                scene.repository("api", API);
                scene.names(Hook, "$HOME/code/api/.claude/worktrees/feat/src");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "the nearest parent is the repository",
        ),
        row(
            "a hook whose directory is a URI",
            |scene| {
                scene.repository("api", API);
                scene.names(Hook, "file://$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "some clients send URIs",
        ),
        row(
            "an argument with a folder",
            |scene| {
                scene.repository("api", API);
                scene.names(Argument, "$HOME/code/api");
                scene.repository("tool", Some("https://github.com/acme/tool"))
            },
            ExpectedPlace::key(GITHUB),
            "who gives an argument means it",
        ),
        row(
            "an argument with a plain folder",
            |scene| {
                scene.dir("notes");
                scene.names(Argument, "~/code/notes");
                scene.repository("tool", Some("https://github.com/acme/tool"))
            },
            ExpectedPlace::of_path("notes", "notes"),
            "who gives an argument means it",
        ),
        row(
            "an argument that the client did not replace",
            |scene| {
                scene.names(Argument, "${workspaceFolder}");
                scene.repository("api", API)
            },
            ExpectedPlace::key(GITHUB),
            "not every client knows the variable",
        ),
        row(
            "an argument with the home, and a root",
            |scene| {
                scene.repository("api", API);
                scene.names(Argument, "$HOME");
                scene.names(Root, "file://$HOME/code/api");
                scene.path("~")
            },
            ExpectedPlace::key(GITHUB),
            "the home is no project, whoever names it",
        ),
        row(
            "an argument that says undefined",
            |scene| {
                scene.names(Argument, "undefined");
                scene.repository("api", API)
            },
            ExpectedPlace::key(GITHUB),
            "a program without a value writes that",
        ),
    ]
}
