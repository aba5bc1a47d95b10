//! The entry of our MCP server in the form that each client needs. Not here: which client needs which form
//! (`clients`), and reading files.

use serde_json::{Map, Value, json};

use super::clients::{EntryForm, ServerForm};
use super::edit::json::Json;
use super::edit::{EditError, YamlBlock, toml, yaml};
use super::ownership::{self, ARGUMENT, NAME};

/// The members of an entry that setup may change. All others belong to the user.
const OURS: [&str; 3] = ["command", "args", "transport"];

/// The first lines that Continue needs in a new file.
const PREAMBLE: &str = "name: Local Assistant\nversion: 1.0.0\nschema: v1\n";

/// The desired entry of a file.
#[derive(Debug, Clone)]
pub(super) struct ServerEntry {
    pub(super) form: ServerForm,
    /// The path of the program.
    pub(super) program: String,
    /// The directory of the logs, if the client must be told it.
    pub(super) store: Option<String>,
    /// The client's variable for the folder of a session. Only JSON carries it: no client with another form has one.
    pub(super) directory: Option<&'static str>,
}

impl ServerEntry {
    /// Adds or updates the entry. An entry with our name that is not ours is refused.
    pub(super) fn add_to(&self, text: &str) -> Result<String, EditError> {
        self.refuse_others(text)?;
        match self.form {
            ServerForm::Json(key, form) => self.put_json(text, key, form),
            ServerForm::Toml(key) => toml::set(text, [key, NAME], &self.members(EntryForm::Plain)),
            ServerForm::YamlExtension(key) => {
                self.put_yaml(text, extension(key), "cmd", &self.extension_lines())
            }
            ServerForm::YamlList(key) => {
                let text = if text.trim().is_empty() { PREAMBLE } else { text };
                self.put_yaml(text, element(key), "command", &self.element_lines())
            }
            ServerForm::YamlFile => Ok(self.yaml_file()),
        }
    }

    /// Removes the entry, or restores the one of `original`. The object above it is removed if it is empty and
    /// `original` does not have it.
    pub(super) fn remove_from(
        &self,
        text: &str,
        original: Option<&str>,
    ) -> Result<String, EditError> {
        self.refuse_others(text)?;
        match self.form {
            ServerForm::Json(key, _) => take_json(text, key, original),
            ServerForm::Toml(key) => {
                let earlier = original.map_or(Ok(None), |text| toml::read(text, [key, NAME]));
                match earlier.ok().flatten() {
                    Some(Value::Object(mut earlier)) => {
                        earlier.retain(|name, _| OURS.contains(&name.as_str()));
                        toml::set(text, [key, NAME], &earlier)
                    }
                    _ => toml::remove(text, [key, NAME]),
                }
            }
            ServerForm::YamlExtension(key) => take_yaml(text, extension(key), "cmd", original),
            ServerForm::YamlList(key) => {
                let left = take_yaml(text, element(key), "command", original)?;
                let is_ours = original.is_none() && left == PREAMBLE;
                Ok(if is_ours { String::new() } else { left })
            }
            ServerForm::YamlFile => Ok(String::new()),
        }
    }

    /// Refuses an entry with our name that its user made or changed.
    fn refuse_others(&self, text: &str) -> Result<(), EditError> {
        let wanted = self.plain();
        let (found, wanted) = match self.form {
            ServerForm::Json(key, form) => {
                (Json::parse(text)?.get(&[key, NAME]), self.members(form).into())
            }
            ServerForm::Toml(key) => (toml::read(text, [key, NAME])?, wanted),
            ServerForm::YamlExtension(key) => (yaml::read(text, extension(key))?, wanted),
            ServerForm::YamlList(key) => (yaml::read(text, element(key))?, wanted),
            ServerForm::YamlFile if text.trim().is_empty() || self.is_its_file(text) => {
                return Ok(());
            }
            ServerForm::YamlFile => return Err(ownership::foreign_file_error()),
        };
        match found {
            Some(found) if !ownership::is_ours(&found, &wanted) => {
                Err(ownership::foreign_entry_error(text))
            }
            _ => Ok(()),
        }
    }

    /// Whether a whole file is as we write it, for any program and store.
    fn is_its_file(&self, text: &str) -> bool {
        let store = self.store_in(text).flatten();
        let then = Self { store, ..self.clone() };
        ownership::differs_only_in_word(text, &then.yaml_file(), &then.quoted())
    }

    /// Whether the file contains nothing else.
    pub(super) fn owns_whole_file(&self) -> bool {
        matches!(self.form, ServerForm::YamlFile)
    }

    /// Whether the entry is there and starts this program.
    pub(super) fn is_in(&self, text: &str) -> Result<bool, EditError> {
        match self.form {
            ServerForm::Json(key, form) => {
                let found = Json::parse(text)?.get(&[key, NAME]).unwrap_or_default();
                let is_same = |(name, value): (&String, &Value)| {
                    !OURS.contains(&name.as_str()) || found.get(name) == Some(value)
                };
                let members = self.members(form);
                let is_same = members.iter().all(is_same);
                Ok(is_same && ownership::is_ours(&found, &members.into()))
            }
            ServerForm::Toml(key) => {
                let found = toml::read(text, [key, NAME])?.unwrap_or_default();
                let members = self.members(EntryForm::Plain);
                let is_same = members.iter().all(|(name, value)| found.get(name) == Some(value));
                Ok(is_same && ownership::is_ours(&found, &members.into()))
            }
            ServerForm::YamlExtension(key) => self.stands_in_yaml(text, extension(key)),
            ServerForm::YamlList(key) => self.stands_in_yaml(text, element(key)),
            ServerForm::YamlFile => Ok(text == self.yaml_file()),
        }
    }

    fn put_json(&self, text: &str, key: &str, form: EntryForm) -> Result<String, EditError> {
        let mut json = Json::parse(text)?;
        let members = self.members(form);
        let Some(Value::Object(found)) = json.get(&[key, NAME]) else {
            json.set(&[key, NAME], &Value::Object(members))?;
            return Ok(json.text());
        };
        for (name, value) in &members {
            if OURS.contains(&name.as_str()) || !found.contains_key(name) {
                json.set(&[key, NAME, name], value)?;
            }
        }
        Ok(json.text())
    }

    fn members(&self, form: EntryForm) -> Map<String, Value> {
        let (program, args) = (&self.program, self.arguments());
        let members = match form {
            EntryForm::Plain => json!({ "command": program, "args": args }),
            EntryForm::Stdio => json!({ "type": "stdio", "command": program, "args": args }),
            EntryForm::Local => {
                let words: Vec<&str> = std::iter::once(&**program).chain(args).collect();
                json!({ "type": "local", "command": words, "enabled": true })
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

    fn arguments(&self) -> Vec<&str> {
        ownership::arguments(self.store.as_deref(), self.directory)
    }

    /// The entry as most clients have it.
    fn plain(&self) -> Value {
        self.members(EntryForm::Plain).into()
    }

    /// The program in double quotes, which JSON and YAML read alike.
    fn quoted(&self) -> String {
        Value::from(self.program.as_str()).to_string()
    }

    /// The arguments as elements of a YAML list.
    fn argument_lines(&self, margin: &str) -> Vec<String> {
        let plain = |word: &str| word == ARGUMENT;
        let word =
            |word: &str| if plain(word) { word.to_owned() } else { Value::from(word).to_string() };
        self.arguments()
            .into_iter()
            .map(|argument| format!("{margin}- {}", word(argument)))
            .collect()
    }

    fn extension_lines(&self) -> Vec<String> {
        let head = [
            format!("{NAME}:"),
            format!("  name: {NAME}"),
            "  type: stdio".to_owned(),
            format!("  cmd: {}", self.quoted()),
            "  args:".to_owned(),
        ];
        // In seconds; the server answers in milliseconds.
        let tail = ["  enabled: true", "  timeout: 60"].map(str::to_owned);
        head.into_iter().chain(self.argument_lines("    ")).chain(tail).collect()
    }

    fn element_lines(&self) -> Vec<String> {
        let head = [
            format!("- name: {NAME}"),
            format!("  command: {}", self.quoted()),
            "  args:".to_owned(),
        ];
        head.into_iter().chain(self.argument_lines("    ")).collect()
    }

    fn yaml_file(&self) -> String {
        let element: Vec<String> =
            self.element_lines().iter().map(|line| format!("  {line}\n")).collect();
        format!("name: {NAME}\nversion: 0.0.1\nschema: v1\nmcpServers:\n{}", element.concat())
    }

    /// In an existing block only the program is updated. One with other arguments is written anew if setup wrote all of it.
    fn put_yaml(
        &self,
        text: &str,
        place: YamlBlock<'_>,
        member: &str,
        lines: &[String],
    ) -> Result<String, EditError> {
        if self.stands_in_yaml(text, place)? {
            return Ok(text.to_owned());
        }
        match yaml::read(text, place)? {
            Some(found) if found.get("args") == self.plain().get("args") => {
                yaml::set_member(text, place, member, &self.quoted())
            }
            Some(found) => {
                let store = ownership::store_of(&found);
                let without = yaml::remove(text, place)?;
                let before = Self { store, ..self.clone() };
                let before =
                    if place.is_list { before.element_lines() } else { before.extension_lines() };
                let is_whole = yaml::add(&without, place, &before)? == text;
                if is_whole {
                    yaml::add(&without, place, lines)
                } else {
                    Err(self.other_arguments(text))
                }
            }
            None => yaml::add(text, place, lines),
        }
    }

    /// Refuses a block that its user changed as well: its lines are not known one by one.
    fn other_arguments(&self, text: &str) -> EditError {
        let why = format!(
            "the entry {NAME} has other arguments than setup would write, and changes of yours; set args: {}",
            Value::from(self.arguments())
        );
        EditError::at(text, text.find(NAME).unwrap_or(0), &why)
    }

    /// Returns the store that the entry names; `None` where there is no entry of ours.
    pub(super) fn store_in(&self, text: &str) -> Option<Option<String>> {
        let found = match self.form {
            ServerForm::Json(key, _) => Json::parse(text).ok()?.get(&[key, NAME]),
            ServerForm::Toml(key) => toml::read(text, [key, NAME]).ok()?,
            ServerForm::YamlExtension(key) => yaml::read(text, extension(key)).ok()?,
            ServerForm::YamlList(key) => yaml::read(text, element(key)).ok()?,
            ServerForm::YamlFile => yaml::read(text, element("mcpServers")).ok()?,
        };
        found.map(|found| ownership::store_of(&found))
    }

    fn stands_in_yaml(&self, text: &str, block: YamlBlock<'_>) -> Result<bool, EditError> {
        let wanted = self.plain();
        let is_same = |found: &Value, name| found.get(name) == wanted.get(name);
        Ok(yaml::read(text, block)?.is_some_and(|found| {
            is_same(&found, "command")
                && is_same(&found, "args")
                && ownership::is_ours(&found, &wanted)
        }))
    }
}

fn extension(key: &str) -> YamlBlock<'_> {
    YamlBlock { key, is_list: false, name: NAME }
}

fn element(key: &str) -> YamlBlock<'_> {
    YamlBlock { key, is_list: true, name: NAME }
}

fn take_json(text: &str, key: &str, original: Option<&str>) -> Result<String, EditError> {
    let mut json = Json::parse(text)?;
    let original = original.and_then(|text| Json::parse(text).ok());
    let was = |path: &[&str]| original.as_ref().and_then(|json| json.get(path));
    match was(&[key, NAME]) {
        Some(earlier) => json.set(&[key, NAME], &earlier)?,
        None => json.remove(&[key, NAME])?,
    }
    if was(&[key]).is_none() && json.get(&[key]) == Some(json!({})) {
        json.remove(&[key])?;
    }
    Ok(json.text())
}

fn take_yaml(
    text: &str,
    block: YamlBlock<'_>,
    member: &str,
    original: Option<&str>,
) -> Result<String, EditError> {
    let earlier = original.and_then(|text| yaml::read(text, block).ok().flatten());
    if let Some(earlier) = earlier.as_ref().and_then(|earlier| earlier.get("command")) {
        return match yaml::read(text, block)? {
            Some(_) => yaml::set_member(text, block, member, &earlier.to_string()),
            None => Ok(text.to_owned()),
        };
    }
    let without = yaml::remove(text, block)?;
    let key = format!("{}:", block.key);
    let has_key =
        |text: &str| text.trim_start_matches('\u{FEFF}').lines().any(|line| line.starts_with(&key));
    match original.filter(|text| has_key(text)) {
        Some(original) => yaml::restore_empty_key(&without, original, block),
        None => yaml::remove_empty_key(&without, block),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(form: ServerForm, program: &str) -> ServerEntry {
        ServerEntry { form, program: program.to_owned(), store: None, directory: None }
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
            let text = old.add_to("").unwrap();
            assert!(old.is_in(&text).unwrap() && !new.is_in(&text).unwrap(), "{text}");
            let text = new.add_to(&text).unwrap();
            assert!(new.is_in(&text).unwrap() && !text.contains("old"), "{text}");
            assert_eq!(new.add_to(&text).unwrap(), text);
            let left = new.remove_from(&text, None).unwrap();
            assert!(["", "{}\n"].contains(&left.as_str()), "{left:?}");
        }
    }

    // S-SETUP-2
    #[test]
    fn an_earlier_entry_learns_the_folder_of_the_session() {
        let form = ServerForm::Json("mcpServers", EntryForm::Plain);
        let before = entry(form, "/ak").add_to("").unwrap();
        let now = ServerEntry { directory: Some("${workspaceFolder}"), ..entry(form, "/ak") };
        assert!(!now.is_in(&before).unwrap());
        let text = now.add_to(&before).unwrap();
        assert!(now.is_in(&text).unwrap() && text.contains("${workspaceFolder}"), "{text}");
        assert_eq!(now.add_to(&text).unwrap(), text);
        assert_eq!(now.remove_from(&text, Some(&before)).unwrap(), before);
    }

    #[test]
    fn additions_of_the_user_to_the_entry_stay() {
        let form = ServerForm::Json("mcpServers", EntryForm::StdioSwitch);
        let text = "{\"mcpServers\":{\"agent-knowledge\":{\"command\":\"/old\",\"args\":[\"mcp\"],\"disabled\":true,\"env\":{\"A\":\"1\"}}}}";
        let after = entry(form, "/new").add_to(text).unwrap();
        assert_eq!(
            after,
            "{\"mcpServers\":{\"agent-knowledge\":{\"command\":\"/new\",\"args\":[\"mcp\"],\"disabled\":true,\"env\":{\"A\":\"1\"},\"type\":\"stdio\"}}}"
        );
        let form = ServerForm::Toml("mcp_servers");
        let text = "[mcp_servers.agent-knowledge]\ncommand = \"/old\"\nargs = [\"mcp\"]\nenv = { A = \"1\" }\n";
        let after = entry(form, "/new").add_to(text).unwrap();
        assert!(after.contains("A = \"1\"") && after.contains("/new"), "{after}");
    }

    #[test]
    fn empty_containers_stay_empty() {
        for (form, original) in [
            (FORMS[0], "{\"mcpServers\": {}}"),
            (FORMS[4], "extensions:\n"),
            (FORMS[5], "mcpServers:\nother: 1\n"),
        ] {
            let entry = entry(form, "/ak");
            let text = entry.add_to(original).unwrap();
            assert_eq!(entry.remove_from(&text, Some(original)).unwrap(), original);
        }
    }

    // S-SETUP-4
    #[test]
    fn an_entry_with_our_name_of_the_user_is_refused() {
        for (form, text) in [
            (FORMS[0], "{\"mcpServers\":{\"agent-knowledge\":{\"url\":\"https://x.example\"}}}"),
            (FORMS[1], "{\"mcp\":{\"agent-knowledge\":{\"type\":\"remote\",\"url\":\"x\"}}}"),
            (FORMS[3], "[mcp_servers.agent-knowledge]\nurl = \"https://x.example\"\n"),
            (FORMS[3], "[mcp_servers.agent-knowledge]\ncommand = \"npx\"\nargs = [\"x\"]\n"),
            (FORMS[4], "extensions:\n  agent-knowledge:\n    type: sse\n    uri: x\n"),
            (FORMS[5], "mcpServers:\n  - name: agent-knowledge\n    url: x\n"),
            (ServerForm::YamlFile, "name: agent-knowledge\nmine: 1\n"),
        ] {
            let entry = entry(form, "/ak");
            let wrong = entry.add_to(text).unwrap_err();
            assert!(wrong.why.contains("remove"), "{wrong:?}");
            assert!(
                !entry.is_in(text).unwrap() && entry.remove_from(text, None).is_err(),
                "{text}"
            );
        }
    }

    // S-SETUP-6
    #[test]
    fn an_older_entry_of_ours_is_restored() {
        for form in FORMS {
            let original = entry(form, "/old/ak").add_to("").unwrap();
            let new = entry(form, "/new/ak");
            let text = new.add_to(&original).unwrap();
            let left = new.remove_from(&text, Some(&original)).unwrap();
            assert!(entry(form, "/old/ak").is_in(&left).unwrap(), "{left}");
        }
    }

    #[test]
    fn only_the_program_changes_in_a_yaml_block() {
        let text = "\u{FEFF}extensions:\n  agent-knowledge: # mine\n    cmd: /old # path\n    args: [mcp]\n    timeout: 9\n";
        let after = entry(FORMS[4], "/new").add_to(text).unwrap();
        assert_eq!(after, text.replace("cmd: /old", "cmd: \"/new\""));
        let text = "mcpServers:\n  - command: /old\n    name: agent-knowledge\n    args:\n      - mcp\n    env: {}\n";
        let after = entry(FORMS[5], "/new").add_to(text).unwrap();
        assert_eq!(after, text.replace("command: /old", "command: \"/new\""));
    }

    #[test]
    fn yaml_entries_are_read_in_all_common_forms() {
        let ours = json!({ "command": "/ak", "args": ["mcp"] });
        for (text, is) in [
            ("agent-knowledge: # mine\n  type: stdio\n  cmd: /old # x\n  args:\n    - mcp", true),
            ("agent-knowledge:\n  cmd: /old\n  args: [mcp]\n  envs:\n    url: x", true),
            ("- command: \"/old\"\n  name: agent-knowledge\n  args:\n  - \"mcp\"", true),
            ("- name: agent-knowledge\n  command: npx\n  args:\n  - x\n  - mcp", false),
            ("agent-knowledge:\n  type: sse\n  uri: https://x.example", false),
        ] {
            let is_list = text.starts_with('-');
            let block = if is_list { element("mcpServers") } else { extension("extensions") };
            let text = format!("{}:\n  {}\n", block.key, text.replace('\n', "\n  "));
            let found = yaml::read(&text, block).unwrap().unwrap();
            assert_eq!(ownership::is_ours(&found, &ours), is, "{text}");
        }
    }
}
