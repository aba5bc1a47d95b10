//! The clients that run in a terminal. Each row comes from the client itself or its documentation. They start servers in the folder in
//! which they were started; Claude Code also names it in CLAUDE_PROJECT_DIR. Not here: the types of a row (`clients`).

use super::client_spec::{
    ClientEvent, ClientSpec, EntryForm, HookForm, HookSpec, ScopeFiles, ServerForm, ServerSpec,
    Timeout,
};
use crate::setup::locations::{BaseFolder, FileLocation};

const RESTART: &str = "restart it";
const NEW_SESSION: &str = "start a new session";
const TRUST: &str = "trust this folder when it asks";

/// The tools of Claude Code whose success can fix a failure. Events of other tools are not needed.
const FIXING_TOOLS: &str = "Bash|PowerShell|Edit|Write|MultiEdit|NotebookEdit";

/// How long a client waits, in seconds. Hooks end after 150 ms; this is for a machine that is stuck.
const WAIT_S: u32 = 5;

const CLAUDE_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("SessionStart"),
    ClientEvent::new("SubagentStart"),
    ClientEvent::new("UserPromptSubmit"),
    ClientEvent::matching("PostToolUse", FIXING_TOOLS),
    ClientEvent::new("PostToolUseFailure"),
    ClientEvent::new("PreCompact"),
    ClientEvent::new("SessionEnd"),
];

const QWEN_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("SessionStart"),
    ClientEvent::new("UserPromptSubmit"),
    ClientEvent::new("PostToolUse"),
    ClientEvent::new("PostToolUseFailure"),
    ClientEvent::new("PreCompact"),
    ClientEvent::new("SessionEnd"),
];

const CODEX_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("SessionStart"),
    ClientEvent::new("SubagentStart"),
    ClientEvent::new("UserPromptSubmit"),
    ClientEvent::new("PostToolUse"),
    ClientEvent::new("PreCompact"),
    ClientEvent::new("SessionEnd"),
];

/// For clients without an event for failures: failures show in the output of the tool.
const SHORT_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("SessionStart"),
    ClientEvent::new("UserPromptSubmit"),
    ClientEvent::new("PostToolUse"),
    ClientEvent::new("PreCompact"),
    ClientEvent::new("SessionEnd"),
];

const GEMINI_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("SessionStart"),
    ClientEvent::new("BeforeAgent"),
    ClientEvent::new("AfterTool"),
    ClientEvent::new("PreCompress"),
    ClientEvent::new("SessionEnd"),
];

const COPILOT_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("sessionStart"),
    ClientEvent::new("subagentStart"),
    ClientEvent::new("userPromptSubmitted"),
    ClientEvent::new("postToolUse"),
    ClientEvent::new("postToolUseFailure"),
    ClientEvent::new("preCompact"),
    ClientEvent::new("sessionEnd"),
];

pub(super) const CLINE_EVENTS: &[ClientEvent] = &[
    ClientEvent::new("TaskStart"),
    ClientEvent::new("TaskResume"),
    ClientEvent::new("UserPromptSubmit"),
    ClientEvent::new("PostToolUse"),
    ClientEvent::new("PreCompact"),
    ClientEvent::new("TaskComplete"),
    ClientEvent::new("TaskCancel"),
];

const CLAUDE_HOOKS: HookForm = HookForm::GroupsOfPrograms(Timeout::Seconds(WAIT_S));
const LINES_IN_SECONDS: HookForm = HookForm::GroupsOfLines(Timeout::Seconds(WAIT_S));
/// Codex warns of more than 3 seconds for the end of a session.
const CODEX_HOOKS: HookForm = HookForm::GroupsOfLines(Timeout::Seconds(3));
const LINES_IN_MILLIS: HookForm = HookForm::GroupsOfLines(Timeout::Millis(WAIT_S * 1_000));
/// Qwen Code used milliseconds in earlier versions, and uses seconds now.
const LINES_UNTIMED: HookForm = HookForm::GroupsOfLines(Timeout::Omitted);

const CODEX_NEXT: &str = "start codex, open /hooks and trust the hooks of agent-knowledge: until then Codex does not run them";

const fn codex(config: &'static [FileLocation], hooks: FileLocation) -> Option<ScopeFiles> {
    let server = ServerSpec::new(config, ServerForm::Toml("mcp_servers"));
    Some(ScopeFiles::new(server, HookSpec::new(hooks, CODEX_HOOKS, CODEX_EVENTS), CODEX_NEXT))
}

const fn gemini(file: &'static [FileLocation; 1], next: &'static str) -> Option<ScopeFiles> {
    let server = ServerSpec::json(file, "mcpServers", EntryForm::Plain);
    Some(ScopeFiles::new(server, HookSpec::new(file[0], LINES_IN_MILLIS, GEMINI_EVENTS), next))
}

const fn qwen(file: &'static [FileLocation; 1], next: &'static str) -> Option<ScopeFiles> {
    let server = ServerSpec::json(file, "mcpServers", EntryForm::Plain);
    Some(ScopeFiles::new(server, HookSpec::new(file[0], LINES_UNTIMED, QWEN_EVENTS), next))
}

const fn opencode(files: &'static [FileLocation], plugin: FileLocation) -> Option<ScopeFiles> {
    let server = ServerSpec::json(files, "mcp", EntryForm::Local);
    Some(ScopeFiles::new(server, HookSpec::new(plugin, HookForm::Plugin, &[]), RESTART))
}

const fn copilot(file: &'static [FileLocation], hooks: FileLocation) -> Option<ScopeFiles> {
    let server = ServerSpec::json(file, "mcpServers", EntryForm::LocalTools);
    Some(ScopeFiles::new(server, HookSpec::new(hooks, HookForm::Shells, COPILOT_EVENTS), RESTART))
}

/// Droid reads the hooks of its settings only if it has no file for hooks. A new file for hooks would disable the
/// user's own.
const fn droid(
    file: &'static [FileLocation],
    settings: FileLocation,
    instead: &'static [FileLocation],
) -> Option<ScopeFiles> {
    let server = ServerSpec::json(file, "mcpServers", EntryForm::StdioSwitch);
    let hooks = HookSpec {
        file: settings,
        alternative_files: instead,
        form: LINES_IN_SECONDS,
        events: SHORT_EVENTS,
    };
    Some(ScopeFiles::new(server, Some(hooks), RESTART))
}

const fn amp(file: &'static [FileLocation], next: &'static str) -> Option<ScopeFiles> {
    Some(ScopeFiles::new(ServerSpec::json(file, "amp.mcpServers", EntryForm::Plain), None, next))
}

/// The clients.
pub(super) const CLIENTS: &[ClientSpec] = &[
    ClientSpec {
        name: "claude-code",
        title: "Claude Code",
        marker_files: &[
            FileLocation::at(BaseFolder::Claude, ""),
            FileLocation::at(BaseFolder::ClaudeState, ".claude.json"),
        ],
        programs: &["claude"],
        user: Some(ScopeFiles::new(
            ServerSpec::json(
                &[FileLocation::at(BaseFolder::ClaudeState, ".claude.json")],
                "mcpServers",
                EntryForm::Stdio,
            ),
            HookSpec::new(
                FileLocation::at(BaseFolder::Claude, "settings.json"),
                CLAUDE_HOOKS,
                CLAUDE_EVENTS,
            ),
            NEW_SESSION,
        )),
        project: Some(ScopeFiles::new(
            ServerSpec::json(
                &[FileLocation::at(BaseFolder::Project, ".mcp.json")],
                "mcpServers",
                EntryForm::Stdio,
            ),
            HookSpec::new(
                FileLocation::at(BaseFolder::Project, ".claude/settings.json"),
                CLAUDE_HOOKS,
                CLAUDE_EVENTS,
            ),
            "start a new session and approve the server when Claude Code asks, once for each project",
        )),
    },
    ClientSpec {
        name: "codex",
        title: "Codex",
        marker_files: &[FileLocation::at(BaseFolder::Codex, "")],
        programs: &["codex"],
        user: codex(
            &[FileLocation::at(BaseFolder::Codex, "config.toml")],
            FileLocation::at(BaseFolder::Codex, "hooks.json"),
        ),
        project: codex(
            &[FileLocation::at(BaseFolder::Project, ".codex/config.toml")],
            FileLocation::at(BaseFolder::Project, ".codex/hooks.json"),
        ),
    },
    ClientSpec {
        name: "gemini",
        title: "Gemini CLI",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".gemini")],
        programs: &["gemini"],
        user: gemini(
            &[FileLocation::at(BaseFolder::Home, ".gemini/settings.json")],
            "start it in a trusted folder; elsewhere it connects to no server",
        ),
        project: gemini(&[FileLocation::at(BaseFolder::Project, ".gemini/settings.json")], TRUST),
    },
    ClientSpec {
        name: "opencode",
        title: "OpenCode",
        marker_files: &[FileLocation::at(BaseFolder::Config, "opencode")],
        programs: &["opencode"],
        user: opencode(
            &[
                FileLocation::at(BaseFolder::Config, "opencode/opencode.json"),
                FileLocation::at(BaseFolder::Config, "opencode/opencode.jsonc"),
            ],
            FileLocation::at(BaseFolder::Config, "opencode/plugins/agent-knowledge.js"),
        ),
        project: opencode(
            &[
                FileLocation::at(BaseFolder::Project, "opencode.json"),
                FileLocation::at(BaseFolder::Project, "opencode.jsonc"),
            ],
            FileLocation::at(BaseFolder::Project, ".opencode/plugins/agent-knowledge.js"),
        ),
    },
    ClientSpec {
        name: "copilot",
        title: "Copilot CLI",
        marker_files: &[FileLocation::at(BaseFolder::Copilot, "")],
        programs: &["copilot"],
        user: copilot(
            &[FileLocation::at(BaseFolder::Copilot, "mcp-config.json")],
            FileLocation::at(BaseFolder::Copilot, "hooks/agent-knowledge.json"),
        ),
        project: copilot(
            &[FileLocation::at(BaseFolder::Project, ".github/mcp.json")],
            FileLocation::at(BaseFolder::Project, ".github/hooks/agent-knowledge.json"),
        ),
    },
    ClientSpec {
        name: "droid",
        title: "Droid",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".factory")],
        programs: &["droid"],
        user: droid(
            &[FileLocation::at(BaseFolder::Home, ".factory/mcp.json")],
            FileLocation::at(BaseFolder::Home, ".factory/settings.json"),
            &[
                FileLocation::at(BaseFolder::Home, ".factory/hooks.json"),
                FileLocation::at(BaseFolder::Home, ".factory/hooks/hooks.json"),
            ],
        ),
        project: droid(
            &[FileLocation::at(BaseFolder::Project, ".factory/mcp.json")],
            FileLocation::at(BaseFolder::Project, ".factory/settings.json"),
            &[
                FileLocation::at(BaseFolder::Project, ".factory/hooks.json"),
                FileLocation::at(BaseFolder::Project, ".factory/hooks/hooks.json"),
            ],
        ),
    },
    ClientSpec {
        name: "qwen",
        title: "Qwen Code",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".qwen")],
        programs: &["qwen"],
        user: qwen(&[FileLocation::at(BaseFolder::Home, ".qwen/settings.json")], RESTART),
        project: qwen(&[FileLocation::at(BaseFolder::Project, ".qwen/settings.json")], TRUST),
    },
    ClientSpec {
        name: "cline",
        title: "Cline",
        marker_files: &[FileLocation::at(BaseFolder::Home, ".cline")],
        programs: &["cline"],
        user: Some(ScopeFiles::new(
            ServerSpec::json(
                &[FileLocation::at(
                    BaseFolder::Home,
                    ".cline/data/settings/cline_mcp_settings.json",
                )],
                "mcpServers",
                EntryForm::Transport,
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
        name: "amp",
        title: "Amp",
        marker_files: &[FileLocation::at(BaseFolder::Config, "amp")],
        programs: &["amp"],
        user: amp(&[FileLocation::at(BaseFolder::Config, "amp/settings.json")], RESTART),
        project: amp(
            &[FileLocation::at(BaseFolder::Project, ".amp/settings.json")],
            "approve the server: amp mcp approve agent-knowledge",
        ),
    },
    ClientSpec {
        name: "goose",
        title: "Goose",
        marker_files: &[FileLocation::at(BaseFolder::Config, "goose")
            .on_windows(BaseFolder::Application, "Block/goose")],
        programs: &["goose"],
        user: Some(ScopeFiles::new(
            ServerSpec::new(
                &[FileLocation::at(BaseFolder::Config, "goose/config.yaml")
                    .on_windows(BaseFolder::Application, "Block/goose/config/config.yaml")],
                ServerForm::YamlExtension("extensions"),
            ),
            None,
            NEW_SESSION,
        )),
        project: None,
    },
];
