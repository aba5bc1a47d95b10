//! The clients that run in an editor or on the desktop. Each row comes from the documentation of the client or from
//! files that it wrote. Not here: the types of a row (`clients`).

use super::client_spec::{
    ClientEvent, ClientSpec, EntryForm, HookForm, HookSpec, ScopeFiles, ServerForm, ServerSpec,
    SessionFolder,
};
use super::terminals::CLINE_EVENTS;
use crate::setup::locations::{BaseFolder, FileLocation};

const ASKED: &str = "start the server and confirm that you trust it";
const AGENT_MODE: &str = "reload it; servers are available in agent mode";

const CURSOR_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("sessionStart"),
    ClientEvent::new("beforeSubmitPrompt"),
    ClientEvent::new("postToolUse"),
    ClientEvent::new("postToolUseFailure"),
    ClientEvent::new("preCompact"),
    ClientEvent::new("sessionEnd"),
];

/// The folder that is open, as VS Code and its kin write it.
const OPEN_FOLDER: SessionFolder = SessionFolder::Variable("${workspaceFolder}");

/// Cursor starts the servers of the user's file in the home directory and replaces the variable in their arguments: Cursor's reference of
/// mcp.json, and vectorize-io/hindsight PR 4530, which was tried on Windows and WSL.
const fn cursor(file: &'static [FileLocation], hooks: FileLocation) -> Option<ScopeFiles> {
    let next = "restart it, and enable the server under Settings, MCP";
    let server = ServerSpec::json(file, "mcpServers", EntryForm::Plain).with_folder(OPEN_FOLDER);
    Some(ScopeFiles::new(server, HookSpec::new(hooks, HookForm::Lines, CURSOR_EVENTS), next))
}

/// In the file of a project VS Code replaces the variable (its reference of variables; microsoft/vscode #246154). From the user's file it
/// does not start the server while no folder is open (#243526, #245905), but it offers roots (#250078).
const fn vscode(file: &'static [FileLocation], folder: SessionFolder) -> Option<ScopeFiles> {
    let server = ServerSpec::json(file, "servers", EntryForm::Stdio).with_folder(folder);
    Some(ScopeFiles::new(server, None, ASKED))
}

const fn json_server_files(
    file: &'static [FileLocation],
    next: &'static str,
) -> Option<ScopeFiles> {
    let server = ServerSpec::json(file, "mcpServers", EntryForm::Plain);
    Some(ScopeFiles::new(server.with_folder(SessionFolder::Unsaid), None, next))
}

/// Zed starts servers in the project's folder (zed-industries/zed PR 35271, PR 61365), replaces no variables and offers no roots.
const fn zed(file: &'static [FileLocation], next: &'static str) -> Option<ScopeFiles> {
    Some(ScopeFiles::new(ServerSpec::json(file, "context_servers", EntryForm::Custom), None, next))
}

/// Continue runs in editors and in a terminal; only there is it known where it starts servers.
const fn yaml(file: &'static [FileLocation], form: ServerForm) -> Option<ScopeFiles> {
    let server = ServerSpec::new(file, form).with_folder(SessionFolder::Unsaid);
    Some(ScopeFiles::new(server, None, AGENT_MODE))
}

/// The clients.
pub(super) const CLIENTS: &[ClientSpec] = &[
    ClientSpec {
        name: "cursor",
        title: "Cursor",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".cursor")],
        programs: &["cursor", "cursor-agent"],
        user: cursor(
            &[FileLocation::at(BaseFolder::Home, ".cursor/mcp.json")],
            FileLocation::at(BaseFolder::Home, ".cursor/hooks.json"),
        ),
        project: cursor(
            &[FileLocation::at(BaseFolder::Project, ".cursor/mcp.json")],
            FileLocation::at(BaseFolder::Project, ".cursor/hooks.json"),
        ),
    },
    ClientSpec {
        name: "vscode",
        title: "VS Code",
        marker_files: &[FileLocation::at(BaseFolder::Application, "Code/User")],
        programs: &["code"],
        user: vscode(
            &[FileLocation::at(BaseFolder::Application, "Code/User/mcp.json")],
            SessionFolder::Offered,
        ),
        project: vscode(
            &[FileLocation::at(BaseFolder::Project, ".vscode/mcp.json")],
            OPEN_FOLDER,
        ),
    },
    ClientSpec {
        name: "windsurf",
        title: "Windsurf",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".codeium/windsurf")],
        programs: &["windsurf"],
        user: json_server_files(
            &[FileLocation::at(BaseFolder::Home, ".codeium/windsurf/mcp_config.json")],
            "refresh the list of servers in its panel",
        ),
        project: None,
    },
    // The hooks are those of the terminal; only the servers have a file of their own. They are started in `/` (cline/cline #9950), and no
    // variable is replaced (PR 2990).
    ClientSpec {
        name: "cline",
        title: "Cline for VS Code",
        marker_files: &[FileLocation::at(
            BaseFolder::Application,
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings",
        )],
        programs: &[],
        user: Some(ScopeFiles::new(
            ServerSpec::json(
                &[FileLocation::at(
                    BaseFolder::Application,
                    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                )],
                "mcpServers",
                EntryForm::Plain,
            )
            .with_folder(SessionFolder::Unsaid),
            HookSpec::new(
                FileLocation::at(BaseFolder::Home, "Documents/Cline/Hooks"),
                HookForm::Scripts,
                CLINE_EVENTS,
            ),
            "enable hooks in its settings",
        )),
        project: None,
    },
    ClientSpec {
        name: "zed",
        title: "Zed",
        marker_files: &[
            FileLocation::at(BaseFolder::Config, "zed").on_windows(BaseFolder::Application, "Zed")
        ],
        programs: &["zed", "zeditor"],
        user: zed(
            &[FileLocation::at(BaseFolder::Config, "zed/settings.json")
                .on_windows(BaseFolder::Application, "Zed/settings.json")],
            "nothing: it reads changed settings at once",
        ),
        project: zed(
            &[FileLocation::at(BaseFolder::Project, ".zed/settings.json")],
            "trust this project when it asks",
        ),
    },
    ClientSpec {
        name: "continue",
        title: "Continue",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".continue")],
        programs: &["cn"],
        user: yaml(
            &[FileLocation::at(BaseFolder::Home, ".continue/config.yaml")],
            ServerForm::YamlList("mcpServers"),
        ),
        project: yaml(
            &[FileLocation::at(BaseFolder::Project, ".continue/mcpServers/agent-knowledge.yaml")],
            ServerForm::YamlFile,
        ),
    },
    ClientSpec {
        name: "claude-desktop",
        title: "Claude Desktop",
        marker_files: &[FileLocation::at(BaseFolder::Application, "Claude")],
        programs: &[],
        user: json_server_files(
            &[FileLocation::at(BaseFolder::Application, "Claude/claude_desktop_config.json")],
            "quit and start it again",
        ),
        project: None,
    },
];
