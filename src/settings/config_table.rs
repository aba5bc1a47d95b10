//! The tables of a configuration file, and what becomes of a table with a key that this version does not know: a newer
//! version may have written it. Not here: the keys of each table (`table`), what they mean together (`config`).

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

/// Makes the enum of all tables out of a row for each: `Name = "name", rule;` below what it is for.
macro_rules! config_tables {
    ($($(#[doc = $doc:literal])+ $Table:ident = $name:literal, $rule:expr;)+) => {
        /// A table of the configuration file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ConfigTable { $($(#[doc = $doc])+ $Table,)+ }

        impl ConfigTable {
            /// All tables.
            pub const ALL: &'static [Self] = &[$(Self::$Table),+];

            /// Returns its name in the file.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$Table => $name,)+ }
            }

            /// Says what it is for.
            pub(crate) fn about(self) -> &'static str {
                match self { $(Self::$Table => concat!($($doc),+).trim(),)+ }
            }

            /// Returns what an unknown key or value does to the table. A table that says what may leave this machine, or what is
            /// read on it, is held.
            #[must_use]
            pub fn unknown_rule(self) -> UnknownRule {
                match self { $(Self::$Table => $rule,)+ }
            }
        }
    };
}

const fn holds(held: &'static str) -> UnknownRule {
    UnknownRule::Holds { held }
}

config_tables! {
    /// Which model makes vectors: the one of this machine, or an external one that memories and queries are sent to.
    Embedding = "embedding", holds("no external model makes vectors");
    /// An external model that puts likely hits into another order.
    Rerank = "rerank", holds("no external model orders hits");
    /// The language model that may settle contradictions, write lessons from past sessions and suggest tags: a program, or a server with its model.
    Judge = "judge", holds("no language model is asked");
    /// A server that finds candidates, for stores that no machine can hold.
    Engine = "engine", holds("no engine is asked or fed");
    /// Which past sessions of other tools are left out.
    Sessions = "sessions", holds("past sessions are neither read nor shown");
    /// With whom lessons are shared, and of which repositories. Nothing is shared unless it is named.
    Sync = "sync", holds("nothing is exchanged with a team");
    /// How long the sections of a briefing are, such as `decisions = 200`; 0 leaves a section out.
    SectionBudgets = "section_budgets", UnknownRule::LeftOut;
    /// Old and current keys of renamed repositories.
    Aliases = "aliases", UnknownRule::Refused;
}

impl ConfigTable {
    /// Finds a table by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|section| section.as_str() == name)
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
            let is_of =
                |key: &str| key.split_once('.').is_some_and(|(table, _)| table == section.as_str());
            assert!(Setting::all().any(|setting| is_of(setting.key)), "{section:?}");
        }
    }
}
