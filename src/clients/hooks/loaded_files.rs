//! The rule files that a client reads by itself: a briefing need not repeat them. Not here: which files can be
//! imported (`agent_files`).

/// Returns the files that a client loads at the start of a session, as paths from the top of a repository; none for an
/// unknown client. A file that only some versions or settings load is not listed, since a rule said twice costs less
/// than one that nobody says.
#[must_use]
pub(super) fn loaded_files(agent: &str) -> &'static [&'static str] {
    match agent {
        "claude-code" => &["CLAUDE.md"],
        "codex" | "opencode" | "droid" | "amp" => &["AGENTS.md"],
        "cursor" => &["AGENTS.md", ".cursorrules"],
        "gemini" => &["GEMINI.md"],
        "copilot" => &["AGENTS.md", ".github/copilot-instructions.md"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_files::AGENT_FILES;

    #[test]
    fn every_loaded_file_is_one_that_can_be_imported() {
        for agent in
            ["claude-code", "codex", "opencode", "droid", "amp", "cursor", "gemini", "copilot"]
        {
            let files = loaded_files(agent);
            assert!(
                !files.is_empty() && files.iter().all(|file| AGENT_FILES.contains(file)),
                "{agent}"
            );
        }
        assert!(loaded_files("unknown").is_empty());
    }
}
