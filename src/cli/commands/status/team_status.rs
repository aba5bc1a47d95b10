//! The state of sharing with a team, in words for `status` and `doctor`. No remote is asked. Not here: finding the state
//! (`sync::TeamState`), a round (the command `sync`).

use crate::program::Program;
use reply::StateNote;
use requests::Reply;
use retriever::resolved_settings::ResolvedSettings;
use retriever::team_link::ORIGIN;
use settings::ConfigTable;
use sync::{RemoteAddress, TeamState, TeamStatus, counted};

/// The command that exchanges lines.
const SYNC: &str = "agent-knowledge sync";

impl Program<'_> {
    /// Adds how sharing stands to a reply, if the settings name a team.
    pub(crate) fn with_team(&self, settled: &ResolvedSettings, reply: Reply) -> Reply {
        match self.team_state(settled) {
            None => reply,
            Some(Ok((state, remote))) => {
                let note = team_state_note(&state, &remote);
                let mut reply = reply.with_line("team", &note.says);
                for warning in &note.warnings {
                    reply = reply.with_line("", warning);
                }
                let team = TeamStatus::from_state(&state, &remote);
                reply.with_field("team", serde_json::to_value(team).unwrap_or_default())
            }
            Some(Err(why)) => reply.with_line("team", &why),
        }
    }

    /// Returns how sharing stands, in words. `None` if the settings name no team.
    pub(crate) fn team_note(&self, settled: &ResolvedSettings) -> Option<StateNote> {
        Some(match self.team_state(settled)? {
            Ok((state, remote)) => team_state_note(&state, &remote),
            Err(why) => {
                StateNote { says: "sharing".to_owned(), warnings: vec![why], command: None }
            }
        })
    }

    fn team_state(
        &self,
        settled: &ResolvedSettings,
    ) -> Option<Result<(TeamState, String), String>> {
        if let Some(finding) = settled.config.hold(ConfigTable::Sync) {
            return Some(Err(finding.to_string()));
        }
        let policy = &settled.config.sync;
        let named = policy.remote.as_deref()?;
        if named == ORIGIN {
            // Which repository that is depends on where somebody stands.
            return None;
        }
        let found = RemoteAddress::parse(named).and_then(|remote| {
            let now = (self.surroundings.clock)().now;
            let state = TeamState::read(&settled.store, policy, &remote, &settled.cache_dir, now)?;
            Ok((state, remote.shown().to_owned()))
        });
        Some(found.map_err(|error| error.to_string()))
    }
}

fn team_state_note(state: &TeamState, remote: &str) -> StateNote {
    let reached = state.reached_at.map_or_else(
        || "never reached from here".to_owned(),
        |at| format!("reached {}", at.strftime("%Y-%m-%d %H:%MZ")),
    );
    let others = match state.origins {
        0 => "no lines of other machines yet".to_owned(),
        many => format!("lines of {}", counted(many, "other machine")),
    };
    let mut warnings = Vec::new();
    if let Some(waiting) = state.waiting {
        let since = waiting.since.strftime("%Y-%m-%d %H:%MZ");
        warnings.push(format!("{} not pushed, since {since}", counted(waiting.lines, "line")));
    }
    let of_repos = state.to_agree.iter().map(|(repo, lines)| {
        format!("not shared until somebody agrees: {repo} ({})", counted(*lines, "line"))
    });
    warnings.extend(of_repos);
    let silent = state.silent.iter().map(|(origin, since)| {
        format!("nothing came from {origin} since {}", since.strftime("%Y-%m-%d"))
    });
    warnings.extend(silent);
    warnings.extend(state.unverified.iter().map(ToString::to_string));
    // Another store that is silent is not fixed here.
    let command = match (state.to_agree.is_empty(), state.waiting) {
        (false, _) => Some(format!("{SYNC} --dry-run")),
        (true, Some(_)) => Some(SYNC.to_owned()),
        (true, None) => None,
    };
    StateNote { says: format!("{remote}: {reached}, {others}"), warnings, command }
}
