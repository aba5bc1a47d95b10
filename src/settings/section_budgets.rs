//! The table `[section_budgets]` of the settings: how many tokens each section of a briefing may take. Not here: the other settings
//! (`config`), the briefing (`search`).

use std::collections::BTreeMap;

use event::quoted;
use toml::Table;

use super::config_finding::ConfigFinding;
use super::config_table::ConfigTable;
use super::value_kinds::{Number, ValueKind};

/// The sections of a briefing, in order.
pub const BRIEFING_SECTIONS: [&str; 11] = [
    "user",
    "everywhere",
    "for_task",
    "for_files",
    "open_tasks",
    "changed_since",
    "decisions",
    "gotchas",
    "proven",
    "stale",
    "last_session",
];
/// Most tokens of a section, which is more than any briefing has.
const SECTION_TOKENS_MAX: u32 = 100_000;

/// How many tokens a section may take; 0 leaves it out.
pub(crate) type SectionTokens = Number<0, SECTION_TOKENS_MAX>;

/// Reads the budgets of sections. A section that this version does not know, or a number that it does not allow, is left out.
pub(crate) fn read_budgets(table: Table) -> (BTreeMap<String, usize>, Vec<ConfigFinding>) {
    let (mut budgets, mut findings) = (BTreeMap::new(), Vec::new());
    for (section, tokens) in table {
        match budget(&section, &tokens) {
            Ok(tokens) => drop(budgets.insert(section, tokens)),
            Err(why) => findings.push(ConfigFinding::of_value(
                &format!("{}.{section}", ConfigTable::SectionBudgets.as_str()),
                Some(ConfigTable::SectionBudgets),
                why,
            )),
        }
    }
    (budgets, findings)
}

fn budget(section: &str, tokens: &toml::Value) -> Result<usize, String> {
    if !BRIEFING_SECTIONS.contains(&section) {
        let known = BRIEFING_SECTIONS.join(", ");
        return Err(format!(
            "section_budgets: {} is no section; they are {known}",
            quoted(section)
        ));
    }
    let most = SectionTokens::read(tokens).ok().and_then(|tokens| usize::try_from(tokens).ok());
    most.ok_or_else(|| {
        format!(
            "section_budgets: {section} must be a number of tokens from 0 to {SECTION_TOKENS_MAX}, for example 120; 0 \
             leaves the section out"
        )
    })
}
