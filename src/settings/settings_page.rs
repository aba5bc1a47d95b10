//! `docs/settings.md`: every setting with what it takes, as people read it. Not here: the schema for editors (`settings_schema`).

use std::fmt::Write;

use super::config_table::ConfigTable;
use super::setting::Setting;
use super::variables::VARIABLES;

const HEAD: &str = "\
# Settings

All settings of `config.toml`, made from the table in `src/settings/table.rs`. `agent-knowledge config` shows them with their values
and says where the file is; `agent-knowledge config set KEY VALUE` changes it. An option of the command line wins over a variable of
the environment, a variable over the file, and the file over the default. While a table has a key or value that this version does not
know, nothing leaves this machine by it and nothing is read.

Editors that check TOML, such as those with taplo, know every key once the file begins with `#:schema` and the path or address of
[settings.schema.json](settings.schema.json).

";

const TABLE_HEAD: &str = "| Key | Takes | Unless it is set | What it is for |\n|---|---|---|---|\n";

/// Returns the page of the settings in Markdown.
#[must_use]
pub fn settings_page() -> String {
    let mut page = HEAD.to_owned() + TABLE_HEAD;
    for setting in Setting::all().filter(|setting| !setting.key.contains('.')) {
        page += &row(setting.key, setting);
    }
    for &table in ConfigTable::ALL {
        let name = table.as_str();
        let about = table.about();
        let _ = write!(page, "\n## `[{name}]`\n\n{about}\n\n{TABLE_HEAD}");
        for setting in Setting::all() {
            let key = setting.key.strip_prefix(name).and_then(|key| key.strip_prefix('.'));
            page += &key.map_or_else(String::new, |key| row(key, setting));
        }
    }
    page += "\n## Variables\n\nWhat no file sets is set by variables of the environment.\n\n\
             | Variable | What it is for |\n|---|---|\n";
    for variable in VARIABLES {
        let _ = writeln!(page, "| `{}` | {} |", variable.name, variable.about);
    }
    page
}

fn row(key: &str, setting: &Setting) -> String {
    let key = if key == "*" { "any name" } else { &format!("`{key}`") };
    let default = (setting.default)();
    let default = default.map_or_else(String::new, |value| format!("`{value}`"));
    let example = format!("`{}`", setting.toml_example());
    let variable =
        setting.variable.map_or_else(String::new, |name| format!(" `{name}` wins over it."));
    let (allowed, about) = (setting.allowed, setting.about);
    format!("| {key} | {allowed}, such as {example} | {default} | {about}{variable} |\n")
        .replace(" *", " \\*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings_schema::settings_schema;

    /// Compares a page with the one in `docs`, and writes it there if asked to.
    #[track_caller]
    fn is_committed(file: &str, made: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
        if std::env::var_os("AGENT_KNOWLEDGE_WRITE_PAGES").is_some() {
            std::fs::write(&path, made).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let how = "AGENT_KNOWLEDGE_WRITE_PAGES=1 cargo test -p settings";
        assert!(committed == made, "docs/{file} is not what the table makes; write it with {how}");
    }

    // S-CONFIG-1
    #[test]
    fn the_committed_page_and_schema_are_what_the_table_makes() {
        is_committed("settings.md", &settings_page());
        let schema = serde_json::to_string_pretty(&settings_schema()).unwrap() + "\n";
        is_committed("settings.schema.json", &schema);
    }
}
