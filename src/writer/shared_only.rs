//! What a replica of a team writes: only what leaves for the team, or else its answers would not be those of the other
//! replicas. Not here: what leaves any other store (crate `sync`).

use event::{CleanEvent, GLOBAL_REPO, MemoryScope, Problems, RepoKey, suspicion};
use settings::Config;

/// The notes of a session, which help nobody else.
const SESSION: &str = "session";

/// Refuses what would stay in a store that is a replica. Other stores take everything.
pub(super) fn check(config: &Config, event: &CleanEvent, repo: &RepoKey) -> Result<(), Problems> {
    if config.member.is_none() {
        return Ok(());
    }
    let event = event.event();
    let mut problems = Problems::none();
    let is_for_all = event.applies() == MemoryScope::Global && repo.as_str() != GLOBAL_REPO;
    if is_for_all || !config.sync.shares(repo) {
        let why = "is not shared by this replica, whose other replicas would never know of it; sync.share of the server names what is";
        problems.add("repo", why);
    }
    if event.is_private() {
        let why =
            "is not possible on a replica: a private memory never leaves its machine; leave it out";
        problems.add("private", why);
    }
    if event.event_type.as_str() == SESSION && event.memory_id.is_none() {
        problems.add(
            "event_type",
            "is a note about a session, which stays on the machine of the session",
        );
    }
    if let Some(why) = suspicion(event) {
        problems.add("lesson", format!("reads like an order to its reader ({why}), and a team shares none; say it as an observation"));
    }
    problems.or(())
}
