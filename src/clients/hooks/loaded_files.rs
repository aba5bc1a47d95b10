//! The rule files that a client reads by itself: a briefing need not repeat them. Not here: which files can be
//! imported (`agent_files`).

use std::path::Path;

use crate::agent_files::{LoadedRules, imports_loaded_with, rules_loaded_from};

/// Returns the files that a client loads at the start of a session in a directory, as paths from the top of its repository; none
/// for an unknown client. A file that only some versions or settings load is not listed, since a rule said twice costs less
/// than one that nobody says.
pub(super) fn loaded_files(agent: &str, directory: Option<&Path>) -> Vec<String> {
    let mut files: Vec<String> = fixed_files(agent).iter().map(|file| (*file).to_owned()).collect();
    let top =
        directory.and_then(|inside| inside.ancestors().find(|folder| folder.join(".git").exists()));
    let Some(top) = top else { return files };
    match agent {
        "claude-code" => {
            files.extend(rules_loaded_from(top, ".claude/rules", LoadedRules::WithoutFiles));
            files.extend(imports_loaded_with(top, &files));
        }
        "gemini" => files.extend(imports_loaded_with(top, &files)),
        "cursor" => files.extend(rules_loaded_from(top, ".cursor/rules", LoadedRules::SaidAlways)),
        _ => {}
    }
    files
}

/// Files of a fixed name.
fn fixed_files(agent: &str) -> &'static [&'static str] {
    match agent {
        "claude-code" => &["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"],
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
    use crate::agent_files::is_rule_path;

    #[test]
    fn every_loaded_file_is_one_that_can_be_imported() {
        for agent in
            ["claude-code", "codex", "opencode", "droid", "amp", "cursor", "gemini", "copilot"]
        {
            let files = loaded_files(agent, None);
            assert!(!files.is_empty() && files.iter().all(|file| is_rule_path(file)), "{agent}");
        }
        assert!(loaded_files("unknown", None).is_empty());
    }

    // S-CONTEXT-8
    #[test]
    fn rules_that_a_client_loads_at_the_start_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            ("CLAUDE.md", "@docs/style.md\n- use pnpm\n"),
            ("docs/style.md", "- tabs\n"),
            (".claude/rules/all.md", "- always\n"),
            (".claude/rules/api.md", "---\npaths: src/api/**\n---\n- some\n"),
            (".cursor/rules/all.mdc", "---\nalwaysApply: true\n---\n- always\n"),
            (".cursor/rules/some.mdc", "---\ndescription: of the api\n---\n- some\n"),
            ("src/x.rs", ""),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let inside = folder.path().join("src");
        let claude = loaded_files("claude-code", Some(&inside));
        assert_eq!(
            claude.get(3..),
            Some(&[".claude/rules/all.md", "docs/style.md"].map(str::to_owned)[..])
        );
        assert_eq!(
            loaded_files("cursor", Some(&inside)).get(2..),
            Some(&[".cursor/rules/all.mdc".to_owned()][..])
        );
    }
}
