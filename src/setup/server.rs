//! The MCP server as each client wants it named. Not here: which client wants which form (`clients`), and
//! reading files.

use serde_json::{Map, Value, json};
use toml::Table;

use super::clients::{EntryForm, ServerForm};
use super::edit::json::Json;
use super::edit::{Wrong, toml as toml_edit, yaml};

/// Our name among the servers of a client.
pub(super) const NAME: &str = "agent-knowledge";

/// What starts our server.
const ARGUMENT: &str = "mcp";

/// Members of an entry that are ours to change. All others its user may have set.
const OURS: [&str; 3] = ["command", "args", "transport"];

/// An entry that shall be in a file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) form: ServerForm,
    /// The program's path.
    pub(super) program: String,
}

impl Entry {
    /// Puts it there.
    pub(super) fn put(&self, text: &str) -> Result<String, Wrong> {
        match self.form {
            ServerForm::Json(key, form) => self.put_json(text, key, form),
            ServerForm::Toml(key) => {
                let mut table = toml_edit::read(text, [key, NAME])?.unwrap_or_default();
                table.extend(self.table());
                toml_edit::set(text, [key, NAME], &table)
            }
            ServerForm::YamlExtension(key) => {
                self.put_yaml(text, extension(key), &self.extension_lines())
            }
            ServerForm::YamlList(key) => self.put_yaml(text, element(key), &self.element_lines()),
            ServerForm::YamlFile => Ok(self.yaml_file()),
        }
    }

    /// Takes it out again. What stood above it goes where it is empty now and was not there in `original`.
    pub(super) fn take(&self, text: &str, original: Option<&str>) -> Result<String, Wrong> {
        match self.form {
            ServerForm::Json(key, _) => {
                let mut json = Json::parse(text)?;
                json.remove(&[key, NAME])?;
                let was_there = original
                    .is_some_and(|text| Json::parse(text).is_ok_and(|j| j.get(&[key]).is_some()));
                if !was_there && json.get(&[key]) == Some(json!({})) {
                    json.remove(&[key])?;
                }
                Ok(json.text().to_owned())
            }
            ServerForm::Toml(key) => toml_edit::remove(text, [key, NAME]),
            ServerForm::YamlExtension(key) => take_yaml(text, extension(key), original),
            ServerForm::YamlList(key) => take_yaml(text, element(key), original),
            ServerForm::YamlFile => Ok(String::new()),
        }
    }

    /// Whether it is there, and starts this program.
    pub(super) fn stands(&self, text: &str) -> Result<bool, Wrong> {
        match self.form {
            ServerForm::Json(key, form) => {
                let found = Json::parse(text)?.get(&[key, NAME]).unwrap_or_default();
                let is_same = |(name, value): (&String, &Value)| {
                    !OURS.contains(&name.as_str()) || found.get(name) == Some(value)
                };
                Ok(found.is_object() && self.members(form).iter().all(is_same))
            }
            ServerForm::Toml(key) => {
                let found = toml_edit::read(text, [key, NAME])?.unwrap_or_default();
                Ok(self.table().iter().all(|(name, value)| found.get(name) == Some(value)))
            }
            ServerForm::YamlExtension(key) => self.stands_in_yaml(text, extension(key)),
            ServerForm::YamlList(key) => self.stands_in_yaml(text, element(key)),
            ServerForm::YamlFile => Ok(text == self.yaml_file()),
        }
    }

    fn put_json(&self, text: &str, key: &str, form: EntryForm) -> Result<String, Wrong> {
        let mut json = Json::parse(text)?;
        let members = self.members(form);
        let Some(Value::Object(found)) = json.get(&[key, NAME]) else {
            json.set(&[key, NAME], &Value::Object(members))?;
            return Ok(json.text().to_owned());
        };
        for (name, value) in &members {
            if OURS.contains(&name.as_str()) || !found.contains_key(name) {
                json.set(&[key, NAME, name], value)?;
            }
        }
        Ok(json.text().to_owned())
    }

    fn members(&self, form: EntryForm) -> Map<String, Value> {
        let (program, args) = (&self.program, [ARGUMENT]);
        let members = match form {
            EntryForm::Plain => json!({ "command": program, "args": args }),
            EntryForm::Stdio => json!({ "type": "stdio", "command": program, "args": args }),
            EntryForm::Local => {
                json!({ "type": "local", "command": [program, ARGUMENT], "enabled": true })
            }
            EntryForm::LocalTools => {
                json!({ "type": "local", "command": program, "args": args, "tools": ["*"] })
            }
            EntryForm::StdioSwitch => {
                json!({ "type": "stdio", "command": program, "args": args, "disabled": false })
            }
            EntryForm::Transport => {
                json!({ "transport": { "type": "stdio", "command": program, "args": args } })
            }
            EntryForm::Custom => {
                json!({ "source": "custom", "command": program, "args": args, "env": {} })
            }
        };
        members.as_object().cloned().unwrap_or_default()
    }

    fn table(&self) -> Table {
        let args = toml::Value::Array(vec![ARGUMENT.into()]);
        [("command".to_owned(), self.program.clone().into()), ("args".to_owned(), args)]
            .into_iter()
            .collect()
    }

    /// The program as YAML writes it: in double quotes as JSON does.
    fn quoted(&self) -> String {
        Value::from(self.program.as_str()).to_string()
    }

    fn extension_lines(&self) -> Vec<String> {
        let lines = [
            format!("{NAME}:"),
            format!("  name: {NAME}"),
            "  type: stdio".to_owned(),
            format!("  cmd: {}", self.quoted()),
            "  args:".to_owned(),
            format!("    - {ARGUMENT}"),
            "  enabled: true".to_owned(),
            // In seconds; the server answers in milliseconds.
            "  timeout: 60".to_owned(),
        ];
        lines.to_vec()
    }

    fn element_lines(&self) -> Vec<String> {
        let lines = [
            format!("- name: {NAME}"),
            format!("  command: {}", self.quoted()),
            "  args:".to_owned(),
            format!("    - {ARGUMENT}"),
        ];
        lines.to_vec()
    }

    fn yaml_file(&self) -> String {
        let element: Vec<String> =
            self.element_lines().iter().map(|line| format!("  {line}\n")).collect();
        format!("name: {NAME}\nversion: 0.0.1\nschema: v1\nmcpServers:\n{}", element.concat())
    }

    fn put_yaml(
        &self,
        text: &str,
        place: yaml::Place<'_>,
        lines: &[String],
    ) -> Result<String, Wrong> {
        if self.stands_in_yaml(text, place)? {
            return Ok(text.to_owned());
        }
        yaml::set(text, place, lines)
    }

    fn stands_in_yaml(&self, text: &str, place: yaml::Place<'_>) -> Result<bool, Wrong> {
        let program = self.quoted();
        let starts_it = |line: &String| {
            let value = ["cmd: ", "command: "].iter().find_map(|key| line.trim().strip_prefix(key));
            value.is_some_and(|value| value == program || value == self.program)
        };
        Ok(yaml::read(text, place)?.is_some_and(|lines| lines.iter().any(starts_it)))
    }
}

fn extension(key: &str) -> yaml::Place<'_> {
    yaml::Place { key, begins: "agent-knowledge:" }
}

fn element(key: &str) -> yaml::Place<'_> {
    yaml::Place { key, begins: "- name: agent-knowledge" }
}

fn take_yaml(text: &str, place: yaml::Place<'_>, original: Option<&str>) -> Result<String, Wrong> {
    let without = yaml::remove(text, place)?;
    let key = format!("{}:", place.key);
    let was_there = original.is_some_and(|text| text.lines().any(|line| line.starts_with(&key)));
    if was_there { Ok(without) } else { yaml::remove_empty_key(&without, place) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(form: ServerForm, program: &str) -> Entry {
        Entry { form, program: program.to_owned() }
    }

    const FORMS: [ServerForm; 6] = [
        ServerForm::Json("mcpServers", EntryForm::Stdio),
        ServerForm::Json("mcp", EntryForm::Local),
        ServerForm::Json("mcpServers", EntryForm::Transport),
        ServerForm::Toml("mcp_servers"),
        ServerForm::YamlExtension("extensions"),
        ServerForm::YamlList("mcpServers"),
    ];

    // S-SETUP-2
    #[test]
    fn an_entry_with_another_path_is_updated_and_not_doubled() {
        for form in FORMS {
            let (old, new) = (entry(form, r"C:\old\ak.exe"), entry(form, "/new path/ak"));
            let text = old.put("").unwrap();
            assert!(old.stands(&text).unwrap() && !new.stands(&text).unwrap(), "{text}");
            let text = new.put(&text).unwrap();
            assert!(new.stands(&text).unwrap() && !text.contains("old"), "{text}");
            assert_eq!(new.put(&text).unwrap(), text);
            let left = new.take(&text, None).unwrap();
            assert!(["", "{}\n"].contains(&left.as_str()), "{left:?}");
        }
    }

    #[test]
    fn what_its_user_added_to_the_entry_stays() {
        let form = ServerForm::Json("mcpServers", EntryForm::StdioSwitch);
        let text = "{\"mcpServers\":{\"agent-knowledge\":{\"command\":\"/old\",\"args\":[],\"disabled\":true,\"env\":{\"A\":\"1\"}}}}";
        let after = entry(form, "/new").put(text).unwrap();
        assert_eq!(
            after,
            "{\"mcpServers\":{\"agent-knowledge\":{\"command\":\"/new\",\"args\":[\"mcp\"],\"disabled\":true,\"env\":{\"A\":\"1\"},\"type\":\"stdio\"}}}"
        );
        let form = ServerForm::Toml("mcp_servers");
        let text = "[mcp_servers.agent-knowledge]\ncommand = \"/old\"\nenv = { A = \"1\" }\n";
        let after = entry(form, "/new").put(text).unwrap();
        assert!(after.contains("A = \"1\"") && after.contains("/new"), "{after}");
    }

    #[test]
    fn what_was_empty_before_is_left_empty() {
        for (form, original) in [
            (FORMS[0], "{\"mcpServers\": {}}"),
            (FORMS[4], "extensions:\n"),
            (FORMS[5], "mcpServers:\nother: 1\n"),
        ] {
            let entry = entry(form, "/ak");
            let text = entry.put(original).unwrap();
            assert_eq!(entry.take(&text, Some(original)).unwrap(), original);
        }
    }
}
