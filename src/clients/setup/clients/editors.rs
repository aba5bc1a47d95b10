//! The clients that live in an editor or on the desktop. Each row was read off its makers' pages or off files
//! that it wrote. Not here: what the words of a row mean (`clients`).

use super::terminals::CLINE_EVENTS;
use super::{Client, EntryForm, Event, Files, HookForm, Hooks, Server, ServerForm};
use crate::setup::places::{Base, Spot};

const ASKED: &str = "start the server when it asks whether you trust it";
const AGENT_MODE: &str = "reload it; servers are used in agent mode";

const CURSOR_EVENTS: &[Event] = &[
    Event::of("sessionStart"),
    Event::of("beforeSubmitPrompt"),
    Event::of("postToolUse"),
    Event::of("postToolUseFailure"),
    Event::of("preCompact"),
    Event::of("sessionEnd"),
];

const fn cursor(file: &'static [Spot], hooks: Spot) -> Option<Files> {
    let next = "restart it, and switch the server on under Settings, MCP";
    let server = Server::json(file, "mcpServers", EntryForm::Plain);
    Some(Files::new(server, Hooks::new(hooks, HookForm::Lines, CURSOR_EVENTS), next))
}

const fn vscode(file: &'static [Spot]) -> Option<Files> {
    Some(Files::new(Server::json(file, "servers", EntryForm::Stdio), None, ASKED))
}

const fn plain(file: &'static [Spot], next: &'static str) -> Option<Files> {
    Some(Files::new(Server::json(file, "mcpServers", EntryForm::Plain), None, next))
}

const fn zed(file: &'static [Spot], next: &'static str) -> Option<Files> {
    Some(Files::new(Server::json(file, "context_servers", EntryForm::Custom), None, next))
}

const fn yaml(file: &'static [Spot], form: ServerForm) -> Option<Files> {
    Some(Files::new(Server { files: file, form }, None, AGENT_MODE))
}

/// The clients.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "cursor",
        title: "Cursor",
        found: &[Spot::at(Base::Home, ".cursor")],
        programs: &["cursor", "cursor-agent"],
        user: cursor(
            &[Spot::at(Base::Home, ".cursor/mcp.json")],
            Spot::at(Base::Home, ".cursor/hooks.json"),
        ),
        project: cursor(
            &[Spot::at(Base::Project, ".cursor/mcp.json")],
            Spot::at(Base::Project, ".cursor/hooks.json"),
        ),
    },
    Client {
        name: "vscode",
        title: "VS Code",
        found: &[Spot::at(Base::Application, "Code/User")],
        programs: &["code"],
        user: vscode(&[Spot::at(Base::Application, "Code/User/mcp.json")]),
        project: vscode(&[Spot::at(Base::Project, ".vscode/mcp.json")]),
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        found: &[Spot::at(Base::Home, ".codeium/windsurf")],
        programs: &["windsurf"],
        user: plain(
            &[Spot::at(Base::Home, ".codeium/windsurf/mcp_config.json")],
            "refresh the servers in its panel",
        ),
        project: None,
    },
    // The same hooks as in the terminal; only the servers have a file of their own.
    Client {
        name: "cline",
        title: "Cline for VS Code",
        found: &[Spot::at(
            Base::Application,
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings",
        )],
        programs: &[],
        user: Some(Files::new(
            Server::json(
                &[Spot::at(
                    Base::Application,
                    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                )],
                "mcpServers",
                EntryForm::Plain,
            ),
            Hooks::new(
                Spot::at(Base::Home, "Documents/Cline/Hooks"),
                HookForm::Scripts,
                CLINE_EVENTS,
            ),
            "switch hooks on in its settings",
        )),
        project: None,
    },
    Client {
        name: "zed",
        title: "Zed",
        found: &[Spot::at(Base::Config, "zed").on_windows(Base::Application, "Zed")],
        programs: &["zed", "zeditor"],
        user: zed(
            &[Spot::at(Base::Config, "zed/settings.json")
                .on_windows(Base::Application, "Zed/settings.json")],
            "nothing: it reads its settings as they change",
        ),
        project: zed(
            &[Spot::at(Base::Project, ".zed/settings.json")],
            "trust this project when it asks",
        ),
    },
    Client {
        name: "continue",
        title: "Continue",
        found: &[Spot::at(Base::Home, ".continue")],
        programs: &["cn"],
        user: yaml(
            &[Spot::at(Base::Home, ".continue/config.yaml")],
            ServerForm::YamlList("mcpServers"),
        ),
        project: yaml(
            &[Spot::at(Base::Project, ".continue/mcpServers/agent-knowledge.yaml")],
            ServerForm::YamlFile,
        ),
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        found: &[Spot::at(Base::Application, "Claude")],
        programs: &[],
        user: plain(
            &[Spot::at(Base::Application, "Claude/claude_desktop_config.json")],
            "quit and start it again",
        ),
        project: None,
    },
];
