//! Where clients look for rules in a work tree: one table, with the page that says so. Not here: looking there (`found_files`).

/// Endings of plain Markdown.
const MARKDOWN: &[&str] = &[".md"];
/// Endings where a client reads any text.
const TEXTS: &[&str] = &[".md", ".mdc", ".markdown", ".txt"];

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RulePlace {
    /// One file.
    File,
    /// A folder with files that end so, at any depth. A folder with more behind a hyphen is one for a mode: `.roo/rules-code`.
    Folder(&'static [&'static str]),
}

/// One row: a path that clients read.
#[derive(Debug)]
pub(super) struct RuleSource {
    /// The path from the top of the work tree; packages of a monorepo may have the same below their own folder.
    pub(super) path: &'static str,
    pub(super) place: RulePlace,
    /// The page that names the path.
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever checks the table"))]
    pub(super) source: &'static str,
}

const fn file(path: &'static str, source: &'static str) -> RuleSource {
    RuleSource { path, place: RulePlace::File, source }
}

const fn folder(
    path: &'static str,
    ends: &'static [&'static str],
    source: &'static str,
) -> RuleSource {
    RuleSource { path, place: RulePlace::Folder(ends), source }
}

/// Names as of November 2026. Files come in this order; those that most clients read stand first.
pub(super) const RULE_SOURCES: &[RuleSource] = &[
    // Claude Code
    file("CLAUDE.md", "code.claude.com/docs/en/memory"),
    // Codex, Cursor, Copilot, Amp, OpenCode, Devin, Zed and others
    file("AGENTS.md", "agents.md"),
    file(".cursorrules", "cursor.com/docs/rules (older)"),
    file("GEMINI.md", "github.com/google-gemini/gemini-cli, docs/cli/gemini-md.md"),
    file(".github/copilot-instructions.md", "docs.github.com/copilot, add repository instructions"),
    file(".claude/CLAUDE.md", "code.claude.com/docs/en/memory"),
    file("CLAUDE.local.md", "code.claude.com/docs/en/memory"),
    folder(".claude/rules", MARKDOWN, "code.claude.com/docs/en/memory"),
    file("AGENTS.override.md", "developers.openai.com/codex, AGENTS.md"),
    file("AGENTS.local.md", "github.com/dyoshikawa/rulesync, src/constants"),
    file("AGENT.md", "zed.dev/docs/ai/rules"),
    folder(".cursor/rules", &[".mdc", ".md"], "cursor.com/docs/rules"),
    folder(
        ".github/instructions",
        &[".instructions.md"],
        "docs.github.com/copilot, path-specific instructions",
    ),
    // Devin Desktop, which was Windsurf
    folder(".devin/rules", MARKDOWN, "docs.devin.ai/desktop/cascade/memories"),
    folder(".windsurf/rules", MARKDOWN, "docs.devin.ai/desktop/cascade/memories (older)"),
    file(".windsurf/rules", "an early form, one file"),
    file(".windsurfrules", "zed.dev/docs/ai/rules"),
    folder(".clinerules", TEXTS, "docs.cline.bot/features/cline-rules/overview"),
    file(".clinerules", "docs.cline.bot/features/cline-rules/overview"),
    folder(".roo/rules", TEXTS, "docs.roocode.com/features/custom-instructions"),
    file(".roorules", "docs.roocode.com/features/custom-instructions"),
    folder(".kilocode/rules", TEXTS, "kilo.ai/docs/getting-started/migrating"),
    folder(".kilo/rules", TEXTS, "github.com/dyoshikawa/rulesync, src/constants/kilo-paths.ts"),
    folder(".kiro/steering", MARKDOWN, "kiro.dev/docs/steering"),
    file(".junie/AGENTS.md", "github.com/dyoshikawa/rulesync, src/constants/junie-paths.ts"),
    file(".junie/guidelines.md", "www.jetbrains.com/help/junie/customize-guidelines.html"),
    folder(
        ".aiassistant/rules",
        MARKDOWN,
        "www.jetbrains.com/help/ai-assistant/configure-project-rules.html",
    ),
    folder(".continue/rules", MARKDOWN, "docs.continue.dev/customize/deep-dives/rules"),
    folder(".augment/rules", MARKDOWN, "www.augmentcode.com/changelog/introducing-augment-rules"),
    file(".augment-guidelines", "www.augmentcode.com/changelog/introducing-augment-rules"),
    file(".augment-guidelines.md", "www.augmentcode.com/changelog/introducing-augment-rules"),
    folder(".amazonq/rules", MARKDOWN, "docs.aws.amazon.com/amazonq, context-project-rules"),
    folder(".trae/rules", MARKDOWN, "agentconfig.ing/files/trae-rules"),
    // Antigravity
    folder(".agent/rules", MARKDOWN, "antigravity.google/docs/rules-workflows"),
    folder(".agents/rules", MARKDOWN, "antigravity.google/docs/rules-workflows"),
    file(".rules", "zed.dev/docs/ai/rules"),
    file(".goosehints", "goose-docs.ai/docs/guides/context-engineering/using-goosehints"),
    file("QWEN.md", "github.com/QwenLM/qwen-code, docs/users/features/memory.md"),
    file("QWEN.local.md", "github.com/QwenLM/qwen-code, docs/users/features/memory.md"),
    folder(
        ".qwen/rules",
        MARKDOWN,
        "github.com/dyoshikawa/rulesync, src/constants/qwencode-paths.ts",
    ),
    file("WARP.md", "docs.warp.dev, project rules"),
    file("replit.md", "docs.replit.com, replit.md"),
];

/// Words by which a hidden folder, or a folder in one, says that it holds rules.
const RULE_WORDS: &[&str] = &["rules", "steering", "guidelines", "instructions"];

/// Tells whether a name looks like rules for a client that the table does not know.
pub(super) fn is_rule_word(name: &str) -> bool {
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    RULE_WORDS.contains(&name)
}

/// Tells whether a file ends as texts do.
pub(super) fn is_text_name(name: &str) -> bool {
    TEXTS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Returns where in a path the path of a row begins.
fn start_of_row(file: &str) -> Option<usize> {
    let is_of_row = |source: &RuleSource, at: usize| {
        let rest = file.get(at..).unwrap_or_default();
        match source.place {
            RulePlace::File => rest == source.path,
            RulePlace::Folder(_) => {
                let below = rest.strip_prefix(source.path);
                below.is_some_and(|below| below.starts_with(['/', '-']))
            }
        }
    };
    let mut starts = std::iter::once(0).chain(file.match_indices('/').map(|(at, _)| at + 1));
    starts.find(|at| RULE_SOURCES.iter().any(|row| is_of_row(row, *at)))
}

/// Tells whether a path is one that clients read.
#[must_use]
pub fn is_rule_path(file: &str) -> bool {
    start_of_row(file).is_some()
}

/// Returns the folder for which a rule file stands: the top of its package; empty for the top of the work tree.
pub(super) fn package_of_rule(file: &str) -> &str {
    let start = start_of_row(file).unwrap_or_default();
    file.get(..start.saturating_sub(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_source_and_a_path_below_the_top() {
        for row in RULE_SOURCES {
            assert!(!row.source.is_empty() && !row.path.starts_with('/'), "{row:?}");
        }
    }

    // S-FILE-7
    #[test]
    fn a_rule_file_stands_for_the_folder_of_its_package() {
        for (file, package) in [
            ("AGENTS.md", ""),
            (".cursor/rules/web/a.mdc", ""),
            ("packages/web/AGENTS.md", "packages/web"),
            ("packages/web/.cursor/rules/a.mdc", "packages/web"),
            ("apps/x/.roo/rules-code/a.md", "apps/x"),
            ("docs/RULES.md", ""),
        ] {
            assert_eq!(package_of_rule(file), package, "{file}");
        }
    }
}
