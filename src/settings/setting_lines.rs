//! The settings that are not their defaults, as lines that processes compare which must have the same ones. A line has the key and
//! the value of the file, so it stays the same when a Rust name changes. Not here: who compares them (`retriever`).

use std::collections::BTreeMap;

use toml::Value;

use super::config::Config;
use super::config_table::ConfigTable;
use super::setting::Setting;
use super::setting_fields::SettingFields;

impl Config {
    /// Returns a line `key = value` for each setting that counts and is not its default, by key. Those of external models are not
    /// among them: a process follows them in the file.
    #[must_use]
    pub fn changed_lines(&self, counts: fn(&Setting) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        for (key, value) in self.file_values() {
            let setting = Setting::named(&key).filter(|setting| counts(setting));
            if setting.is_some_and(|setting| (setting.default)().as_ref() != Some(&value)) {
                lines.push(format!("{key} = {value}"));
            }
        }
        let held = [
            (ConfigTable::Sessions, self.sessions.is_held),
            (ConfigTable::Sync, self.sync.is_held),
        ];
        let held = held.iter().filter(|(_, is_held)| *is_held);
        lines.extend(held.map(|(table, _)| format!("[{}] is held", table.as_str())));
        lines
    }

    /// Returns the values as a file has them, by key.
    fn file_values(&self) -> BTreeMap<String, Value> {
        let in_tables = self.to_tables().into_iter().flat_map(|(table, values)| {
            values.into_iter().map(move |(key, value)| (format!("{}.{key}", table.as_str()), value))
        });
        self.general.to_table().into_iter().chain(in_tables).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a file with the example of a setting, and what that cannot stand without.
    fn with_example(setting: &Setting) -> Config {
        let mut text = format!("{} = {}\n", setting.usual_key(), setting.toml_example());
        let companions: Vec<&str> = match setting.key {
            "judge.key_env" => {
                vec!["judge.url", "http://localhost:11434/v1", "judge.model", "NAME"]
            }
            _ => setting.example.split(' ').skip(1).collect(),
        };
        for pair in companions.chunks(2) {
            text += &format!("{} = {:?}\n", pair[0], pair[1]);
        }
        Config::parse_strict(&text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    // S-SERVE-2
    #[test]
    fn each_setting_has_a_line_that_a_file_could_have() {
        assert_eq!(Config::default().changed_lines(|_| true), [""; 0]);
        let of_models = ["embedding.", "rerank."];
        for setting in Setting::all() {
            if of_models.iter().any(|table| setting.key.starts_with(table)) {
                continue;
            }
            let config = with_example(setting);
            let lines = config.changed_lines(|_| true);
            let start = format!("{} = ", setting.usual_key());
            assert!(lines.iter().any(|line| line.starts_with(&start)), "{start} {lines:?}");
            assert_eq!(Config::parse_strict(&lines.join("\n")).as_ref(), Ok(&config), "{lines:?}");
        }
    }

    // S-REPLICA-4
    #[test]
    fn replicas_compare_what_answers_depend_on() {
        let text = "embedding = 'int8'\nlogs = '/l'\nquery_log = false\n[sync]\nshare = ['github.com/acme/*']\ntrust = 'full'\nevery_seconds = 9\n\
                    [section_budgets]\ndecisions = 120\n[aliases]\nold = 'github.com/acme/new'";
        let lines = Config::parse_strict(text).unwrap().changed_lines(|one| one.is_for_replicas);
        let expected = [
            "aliases.old = \"github.com/acme/new\"",
            "embedding = \"int8\"",
            "section_budgets.decisions = 120",
            "sync.share = [\"github.com/acme/*\"]",
            "sync.trust = \"full\"",
        ];
        assert_eq!(lines, expected);
    }
}
