//! The clients that live in a terminal. Each row was read off the client itself or its makers' pages.
//! Not here: what the words of a row mean (`clients`).

use super::{Client, EntryForm, Event, Files, HookForm, Hooks, Server, ServerForm, Timeout};
use crate::setup::places::{Base, Spot};

const RESTART: &str = "restart it";
const NEW_SESSION: &str = "start a new session";
const TRUST: &str = "trust this folder when it asks";

/// Tools of Claude Code whose success can mend a failure; of the others nobody need tell us.
const MENDING: &str = "Bash|PowerShell|Edit|Write|MultiEdit|NotebookEdit";

/// So long a client waits. Hooks end by themselves after 150 ms; this is for a machine that stands still.
const WAIT_S: u32 = 5;

const CLAUDE_EVENTS: &[Event] = &[
    Event::of("SessionStart"),
    Event::of("UserPromptSubmit"),
    Event::matching("PostToolUse", MENDING),
    Event::of("PostToolUseFailure"),
    Event::of("PreCompact"),
    Event::of("SessionEnd"),
];

const QWEN_EVENTS: &[Event] = &[
    Event::of("SessionStart"),
    Event::of("UserPromptSubmit"),
    Event::of("PostToolUse"),
    Event::of("PostToolUseFailure"),
    Event::of("PreCompact"),
    Event::of("SessionEnd"),
];

/// Of clients that have no event for failure: it shows in what the tool answered.
const SHORT_EVENTS: &[Event] = &[
    Event::of("SessionStart"),
    Event::of("UserPromptSubmit"),
    Event::of("PostToolUse"),
    Event::of("PreCompact"),
    Event::of("SessionEnd"),
];

const GEMINI_EVENTS: &[Event] = &[
    Event::of("SessionStart"),
    Event::of("BeforeAgent"),
    Event::of("AfterTool"),
    Event::of("PreCompress"),
    Event::of("SessionEnd"),
];

const COPILOT_EVENTS: &[Event] = &[
    Event::of("sessionStart"),
    Event::of("userPromptSubmitted"),
    Event::of("postToolUse"),
    Event::of("postToolUseFailure"),
    Event::of("preCompact"),
    Event::of("sessionEnd"),
];

pub(super) const CLINE_EVENTS: &[Event] = &[
    Event::of("TaskStart"),
    Event::of("TaskResume"),
    Event::of("UserPromptSubmit"),
    Event::of("PostToolUse"),
    Event::of("PreCompact"),
    Event::of("TaskComplete"),
    Event::of("TaskCancel"),
];

const CLAUDE_HOOKS: HookForm = HookForm::GroupsOfPrograms(Timeout::Seconds(WAIT_S));
const LINES_IN_SECONDS: HookForm = HookForm::GroupsOfLines(Timeout::Seconds(WAIT_S));
/// Codex warns of more than 3 seconds for the end of a session.
const CODEX_HOOKS: HookForm = HookForm::GroupsOfLines(Timeout::Seconds(3));
const LINES_IN_MILLIS: HookForm = HookForm::GroupsOfLines(Timeout::Millis(WAIT_S * 1_000));
/// Qwen Code counted in milliseconds once, and counts in seconds now.
const LINES_UNTIMED: HookForm = HookForm::GroupsOfLines(Timeout::Unsaid);

const CODEX_NEXT: &str = "start codex, open /hooks and trust those of agent-knowledge: until then Codex does not run them";

const fn codex(config: &'static [Spot], hooks: Spot) -> Option<Files> {
    let server = Server { files: config, form: ServerForm::Toml("mcp_servers") };
    Some(Files::new(server, Hooks::new(hooks, CODEX_HOOKS, SHORT_EVENTS), CODEX_NEXT))
}

const fn gemini(file: &'static [Spot; 1], next: &'static str) -> Option<Files> {
    let server = Server::json(file, "mcpServers", EntryForm::Plain);
    Some(Files::new(server, Hooks::new(file[0], LINES_IN_MILLIS, GEMINI_EVENTS), next))
}

const fn qwen(file: &'static [Spot; 1], next: &'static str) -> Option<Files> {
    let server = Server::json(file, "mcpServers", EntryForm::Plain);
    Some(Files::new(server, Hooks::new(file[0], LINES_UNTIMED, QWEN_EVENTS), next))
}

const fn opencode(files: &'static [Spot], plugin: Spot) -> Option<Files> {
    let server = Server::json(files, "mcp", EntryForm::Local);
    Some(Files::new(server, Hooks::new(plugin, HookForm::Plugin, &[]), RESTART))
}

const fn copilot(file: &'static [Spot], hooks: Spot) -> Option<Files> {
    let server = Server::json(file, "mcpServers", EntryForm::LocalTools);
    Some(Files::new(server, Hooks::new(hooks, HookForm::Shells, COPILOT_EVENTS), RESTART))
}

/// Its settings are read for hooks only where it has no file of hooks; making one would silence theirs.
const fn droid(file: &'static [Spot], settings: Spot, instead: &'static [Spot]) -> Option<Files> {
    let server = Server::json(file, "mcpServers", EntryForm::StdioSwitch);
    let hooks = Hooks { file: settings, instead, form: LINES_IN_SECONDS, events: SHORT_EVENTS };
    Some(Files::new(server, Some(hooks), RESTART))
}

const fn amp(file: &'static [Spot], next: &'static str) -> Option<Files> {
    Some(Files::new(Server::json(file, "amp.mcpServers", EntryForm::Plain), None, next))
}

/// The clients.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        found: &[Spot::at(Base::Claude, ""), Spot::at(Base::ClaudeState, ".claude.json")],
        programs: &["claude"],
        user: Some(Files::new(
            Server::json(
                &[Spot::at(Base::ClaudeState, ".claude.json")],
                "mcpServers",
                EntryForm::Stdio,
            ),
            Hooks::new(Spot::at(Base::Claude, "settings.json"), CLAUDE_HOOKS, CLAUDE_EVENTS),
            NEW_SESSION,
        )),
        project: Some(Files::new(
            Server::json(&[Spot::at(Base::Project, ".mcp.json")], "mcpServers", EntryForm::Stdio),
            Hooks::new(
                Spot::at(Base::Project, ".claude/settings.json"),
                CLAUDE_HOOKS,
                CLAUDE_EVENTS,
            ),
            "start a new session and approve the server when Claude Code asks, once for each project",
        )),
    },
    Client {
        name: "codex",
        title: "Codex",
        found: &[Spot::at(Base::Codex, "")],
        programs: &["codex"],
        user: codex(&[Spot::at(Base::Codex, "config.toml")], Spot::at(Base::Codex, "hooks.json")),
        project: codex(
            &[Spot::at(Base::Project, ".codex/config.toml")],
            Spot::at(Base::Project, ".codex/hooks.json"),
        ),
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        found: &[Spot::at(Base::Home, ".gemini")],
        programs: &["gemini"],
        user: gemini(
            &[Spot::at(Base::Home, ".gemini/settings.json")],
            "start it in a folder that you trust; elsewhere it connects to no server",
        ),
        project: gemini(&[Spot::at(Base::Project, ".gemini/settings.json")], TRUST),
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        found: &[Spot::at(Base::Config, "opencode")],
        programs: &["opencode"],
        user: opencode(
            &[
                Spot::at(Base::Config, "opencode/opencode.json"),
                Spot::at(Base::Config, "opencode/opencode.jsonc"),
            ],
            Spot::at(Base::Config, "opencode/plugins/agent-knowledge.js"),
        ),
        project: opencode(
            &[Spot::at(Base::Project, "opencode.json"), Spot::at(Base::Project, "opencode.jsonc")],
            Spot::at(Base::Project, ".opencode/plugins/agent-knowledge.js"),
        ),
    },
    Client {
        name: "copilot",
        title: "Copilot CLI",
        found: &[Spot::at(Base::Copilot, "")],
        programs: &["copilot"],
        user: copilot(
            &[Spot::at(Base::Copilot, "mcp-config.json")],
            Spot::at(Base::Copilot, "hooks/agent-knowledge.json"),
        ),
        project: copilot(
            &[Spot::at(Base::Project, ".github/mcp.json")],
            Spot::at(Base::Project, ".github/hooks/agent-knowledge.json"),
        ),
    },
    Client {
        name: "droid",
        title: "Droid",
        found: &[Spot::at(Base::Home, ".factory")],
        programs: &["droid"],
        user: droid(
            &[Spot::at(Base::Home, ".factory/mcp.json")],
            Spot::at(Base::Home, ".factory/settings.json"),
            &[
                Spot::at(Base::Home, ".factory/hooks.json"),
                Spot::at(Base::Home, ".factory/hooks/hooks.json"),
            ],
        ),
        project: droid(
            &[Spot::at(Base::Project, ".factory/mcp.json")],
            Spot::at(Base::Project, ".factory/settings.json"),
            &[
                Spot::at(Base::Project, ".factory/hooks.json"),
                Spot::at(Base::Project, ".factory/hooks/hooks.json"),
            ],
        ),
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        found: &[Spot::at(Base::Home, ".qwen")],
        programs: &["qwen"],
        user: qwen(&[Spot::at(Base::Home, ".qwen/settings.json")], RESTART),
        project: qwen(&[Spot::at(Base::Project, ".qwen/settings.json")], TRUST),
    },
    Client {
        name: "cline",
        title: "Cline",
        found: &[Spot::at(Base::Home, ".cline")],
        programs: &["cline"],
        user: Some(Files::new(
            Server::json(
                &[Spot::at(Base::Home, ".cline/data/settings/cline_mcp_settings.json")],
                "mcpServers",
                EntryForm::Transport,
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
        name: "amp",
        title: "Amp",
        found: &[Spot::at(Base::Config, "amp")],
        programs: &["amp"],
        user: amp(&[Spot::at(Base::Config, "amp/settings.json")], RESTART),
        project: amp(
            &[Spot::at(Base::Project, ".amp/settings.json")],
            "approve the server: amp mcp approve agent-knowledge",
        ),
    },
    Client {
        name: "goose",
        title: "Goose",
        found: &[Spot::at(Base::Config, "goose").on_windows(Base::Application, "Block/goose")],
        programs: &["goose"],
        user: Some(Files::new(
            Server {
                files: &[Spot::at(Base::Config, "goose/config.yaml")
                    .on_windows(Base::Application, "Block/goose/config/config.yaml")],
                form: ServerForm::YamlExtension("extensions"),
            },
            None,
            NEW_SESSION,
        )),
        project: None,
    },
];
