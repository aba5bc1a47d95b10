//! The tables of a configuration file, and what becomes of a table with a key that this version does not know: a newer
//! version may have written it. Not here: what each table says (`config` and the files of the tables).

/// A table of the configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigTable {
    /// The external model that makes vectors.
    Embedding,
    /// The external model that orders likely hits.
    Rerank,
    /// The language model that judges memories.
    Judge,
    /// The engine that searches ask as well.
    Engine,
    /// Past sessions of other tools.
    Sessions,
    /// What a team gets.
    Sync,
    /// How long the sections of a briefing are.
    SectionBudgets,
    /// Old names of repositories.
    Aliases,
}

/// What a key or value that this version does not know does to its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownRule {
    /// It is left out, and the rest of the table counts.
    LeftOut,
    /// It holds the table: nothing is done that the table allows, since the key may forbid it.
    Holds {
        /// What is not done meanwhile, as the end of a sentence.
        held: &'static str,
    },
    /// The file is refused, because the table decides where a lesson goes.
    Refused,
}

impl ConfigTable {
    /// All tables.
    pub const ALL: [Self; 8] = [
        Self::Embedding,
        Self::Rerank,
        Self::Judge,
        Self::Engine,
        Self::Sessions,
        Self::Sync,
        Self::SectionBudgets,
        Self::Aliases,
    ];

    /// Returns its name in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Rerank => "rerank",
            Self::Judge => "judge",
            Self::Engine => "engine",
            Self::Sessions => "sessions",
            Self::Sync => "sync",
            Self::SectionBudgets => "section_budgets",
            Self::Aliases => "aliases",
        }
    }

    /// Says what it is for.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Embedding => {
                "Which model makes vectors: the one of this machine, or an external one that memories and queries are sent to."
            }
            Self::Rerank => "An external model that puts likely hits into another order.",
            Self::Judge => {
                "The language model that may settle contradictions, write lessons from past sessions and suggest tags: a program, or a \
                 server with its model."
            }
            Self::Engine => "A server that finds candidates, for stores that no machine can hold.",
            Self::Sessions => "Which past sessions of other tools are neither read nor shown.",
            Self::Sync => {
                "With whom lessons are shared, and of which repositories. Nothing is shared unless it is named."
            }
            Self::SectionBudgets => {
                "How long the sections of a briefing are, such as `decisions = 200`; 0 leaves a section out."
            }
            Self::Aliases => "Old and current keys of renamed repositories.",
        }
    }

    /// Finds a table by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.as_str() == name)
    }

    /// Returns what an unknown key or value does to the table. A table that says what may leave this machine, or what is read
    /// on it, is held.
    #[must_use]
    pub fn unknown_rule(self) -> UnknownRule {
        let held = match self {
            Self::Embedding => "no external model makes vectors",
            Self::Rerank => "no external model orders hits",
            Self::Judge => "no language model is asked",
            Self::Engine => "no engine is asked or fed",
            Self::Sessions => "past sessions are neither read nor shown",
            Self::Sync => "nothing is exchanged with a team",
            Self::SectionBudgets => return UnknownRule::LeftOut,
            Self::Aliases => return UnknownRule::Refused,
        };
        UnknownRule::Holds { held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;

    // S-CONFIG-4
    #[test]
    fn every_table_of_the_settings_has_a_rule() {
        let tables = Setting::all().filter_map(|setting| setting.key.split_once('.'));
        for (table, _) in tables {
            assert!(ConfigTable::named(table).is_some(), "[{table}] must be in ConfigTable");
        }
        for section in ConfigTable::ALL {
            let is_of = |key: &str| key.split_once('.').is_some_and(|it| it.0 == section.as_str());
            assert!(Setting::all().any(|setting| is_of(setting.key)), "{section:?}");
        }
    }
}
