//! The clients that run in an editor or on the desktop. Each row comes from the documentation of the client or from
//! files that it wrote. Not here: the types of a row (`clients`).

use super::client_spec::{
    ClientEvent, ClientSpec, EntryForm, HookForm, HookSpec, ScopeFiles, ServerForm, ServerSpec,
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

const fn cursor(file: &'static [FileLocation], hooks: FileLocation) -> Option<ScopeFiles> {
    let next = "restart it, and enable the server under Settings, MCP";
    let server = ServerSpec::json(file, "mcpServers", EntryForm::Plain);
    Some(ScopeFiles::new(server, HookSpec::new(hooks, HookForm::Lines, CURSOR_EVENTS), next))
}

const fn vscode(file: &'static [FileLocation]) -> Option<ScopeFiles> {
    Some(ScopeFiles::new(ServerSpec::json(file, "servers", EntryForm::Stdio), None, ASKED))
}

const fn plain(file: &'static [FileLocation], next: &'static str) -> Option<ScopeFiles> {
    Some(ScopeFiles::new(ServerSpec::json(file, "mcpServers", EntryForm::Plain), None, next))
}

const fn zed(file: &'static [FileLocation], next: &'static str) -> Option<ScopeFiles> {
    Some(ScopeFiles::new(ServerSpec::json(file, "context_servers", EntryForm::Custom), None, next))
}

const fn yaml(file: &'static [FileLocation], form: ServerForm) -> Option<ScopeFiles> {
    Some(ScopeFiles::new(ServerSpec { files: file, form }, None, AGENT_MODE))
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
        user: vscode(&[FileLocation::at(BaseFolder::Application, "Code/User/mcp.json")]),
        project: vscode(&[FileLocation::at(BaseFolder::Project, ".vscode/mcp.json")]),
    },
    ClientSpec {
        name: "windsurf",
        title: "Windsurf",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".codeium/windsurf")],
        programs: &["windsurf"],
        user: plain(
            &[FileLocation::at(BaseFolder::Home, ".codeium/windsurf/mcp_config.json")],
            "refresh the list of servers in its panel",
        ),
        project: None,
    },
    // The hooks are those of the terminal; only the servers have a file of their own.
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
            ),
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
        user: plain(
            &[FileLocation::at(BaseFolder::Application, "Claude/claude_desktop_config.json")],
            "quit and start it again",
        ),
        project: None,
    },
];
