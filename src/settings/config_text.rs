//! Changes the text of a configuration file: comments and order stay, and nothing is returned that the code which reads configurations
//! would not take. Not here: the settings (`table`), the file itself (`store`).

use serde_json::{Value, json};
use toml_edit::{Array, Document, DocumentMut, Item, Table, Value as TomlValue, value};

use super::config::Config;
use super::setting::{Setting, SettingForm};
use super::value_kinds::Switch;

/// The text of a configuration file, which can be changed.
#[derive(Debug)]
pub struct ConfigText {
    document: DocumentMut,
    /// What did not count in the text as it was found: a newer version may have written it, so it stays.
    found: Vec<Fault>,
}

/// A key, and why it does not count.
type Fault = (String, String);

/// Returns what does not count in a text.
fn faults_of(text: &str) -> Result<Vec<Fault>, String> {
    let findings = Config::parse(text).map_err(|fault| fault.why)?.findings.into_iter();
    Ok(findings.map(|finding| (finding.key, finding.why)).collect())
}

impl ConfigText {
    /// Takes a text as it was found. One that no program would read may be mended by a change.
    ///
    /// # Errors
    /// Where it is no TOML, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document = text.parse::<DocumentMut>().map_err(|error| {
            // The reader of the settings says in one line where it is wrong.
            Config::parse(text)
                .map_or_else(|fault| fault.to_string(), |_| error.to_string().replace('\n', " "))
        })?;
        Ok(Self { document, found: faults_of(text).unwrap_or_default() })
    }

    /// Returns the value of a key, as the file has it.
    pub fn value_of(&self, key: &str) -> Option<Value> {
        let item = match key.split_once('.') {
            Some((table, name)) => self.document.get(table)?.as_table_like()?.get(name)?,
            None => self.document.get(key)?,
        };
        item.as_value().map(as_json)
    }

    /// Returns the keys of a table, such as `aliases`.
    pub fn keys_of(&self, table: &str) -> Vec<String> {
        let table = self.document.get(table).and_then(Item::as_table_like);
        let names =
            table.into_iter().flat_map(|table| table.iter().map(|(name, _)| name.to_owned()));
        names.collect()
    }

    /// Sets a key, and returns the value that it has now.
    ///
    /// # Errors
    /// [`SetError`].
    pub fn set(&mut self, key: &str, setting: &Setting, text: &str) -> Result<Value, SetError> {
        let mut new = read_value(setting.form, text).map_err(SetError::Wrong)?;
        // What was wrong with the old value says nothing about the new one.
        let table = key.split_once('.').map(|(table, _)| table);
        self.found.retain(|(found, _)| found != key && Some(found.as_str()) != table);
        let known = as_json(&new);
        let (place, name) = match key.split_once('.') {
            Some((table, name)) => {
                let item = self.document.entry(table).or_insert(Item::Table(Table::new()));
                let place = item.as_table_like_mut();
                (place.ok_or_else(|| SetError::value_for_table(table))?, name)
            }
            None => (self.document.as_table_mut() as _, key),
        };
        // What follows the old value on its line, such as a comment, stays.
        if let Some(old) = place.get(name).and_then(Item::as_value) {
            *new.decor_mut() = old.decor().clone();
        }
        match place.get_mut(name) {
            Some(item) if item.is_table_like() => {
                return Err(SetError::table_for_value(name, text));
            }
            Some(item) => *item = value(new),
            None => drop(place.insert(name, value(new))),
        }
        Ok(known)
    }

    /// Puts another provider into the table `[embedding]`, of which only the precision and the repositories that are left out stay.
    /// Returns the new text.
    pub fn with_embedding(&mut self, settings: &[(&str, Vec<&str>)]) -> Result<String, String> {
        let mut table = match self.document.remove("embedding") {
            None => Table::new(),
            Some(Item::Value(TomlValue::String(precision))) => {
                let mut table = Table::new();
                table.insert("precision", value(precision.into_value()));
                table
            }
            Some(item) => item.into_table().map_err(|_| "embedding is no table".to_owned())?,
        };
        table.retain(|name, _| matches!(name, "precision" | "off_repos"));
        for (name, words) in settings {
            let key = format!("embedding.{name}");
            let form = Setting::named(&key).map(|setting| setting.form);
            let new = match form {
                Some(SettingForm::List | SettingForm::ListOrWord) => {
                    words.iter().copied().collect::<Array>().into()
                }
                Some(form) => read_value(form, words.first().copied().unwrap_or_default())?,
                None => return Err(format!("{key} is no setting")),
            };
            table.insert(name, value(new));
        }
        self.document.insert("embedding", Item::Table(table));
        Ok(self.document.to_string())
    }

    /// Removes a key with its line, and tells whether it was there. Comments on lines of their own stay.
    pub fn unset(&mut self, key: &str) -> bool {
        let left = without_line(&self.document.to_string(), key);
        match left.and_then(|text| text.parse().ok()) {
            Some(document) => {
                self.document = document;
                true
            }
            None => self.unset_inline(key),
        }
    }

    /// Removes a key of a table that is written on one line.
    fn unset_inline(&mut self, key: &str) -> bool {
        let Some((table, name)) = key.split_once('.') else { return false };
        let Some(place) = self.document.get_mut(table).and_then(Item::as_table_like_mut) else {
            return false;
        };
        let was_there = place.remove(name).is_some();
        if place.is_empty() {
            let left = without_line(&self.document.to_string(), table);
            let Some(document) = left.and_then(|text| text.parse().ok()) else { return false };
            self.document = document;
        }
        was_there
    }

    /// Returns the new text.
    ///
    /// # Errors
    /// What the reader says about it, or what does not count in it and counted before.
    pub fn checked(&self) -> Result<String, String> {
        let text = self.document.to_string();
        let new = faults_of(&text)?.into_iter().find(|fault| !self.found.contains(fault));
        new.map_or(Ok(text), |(_, why)| Err(why))
    }
}

/// Why a key was not set.
#[derive(Debug)]
pub enum SetError {
    /// The value is wrong.
    Wrong(String),
    /// The file has something else in its place.
    NoRoom(String),
}

impl SetError {
    fn value_for_table(table: &str) -> Self {
        let remedy = match Setting::named(table) {
            Some(_) => format!("remove it with agent-knowledge config unset {table}"),
            None => format!("remove its line {table} = ... from the file"),
        };
        Self::NoRoom(format!("the file has one value {table} where a table belongs; {remedy}"))
    }

    fn table_for_value(name: &str, text: &str) -> Self {
        let inside = format!("{name}.precision");
        let Some(setting) = Setting::named(&inside) else {
            return Self::NoRoom(format!("the file has a table [{name}] where one value belongs"));
        };
        // What somebody typed is repeated only where a shell reads it as one word.
        let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let value = if is_word { text } else { setting.example };
        Self::NoRoom(format!(
            "the file has a table [{name}]; use agent-knowledge config set {inside} {value}"
        ))
    }
}

fn read_value(form: SettingForm, text: &str) -> Result<TomlValue, String> {
    Ok(match form {
        SettingForm::Text | SettingForm::Directory => text.into(),
        // The reader refuses a text in the place of a number, and says what is allowed.
        SettingForm::Number => match text.trim().parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
        SettingForm::Switch => (Switch::parse(text)? == Switch::On).into(),
        SettingForm::List | SettingForm::ListOrWord if text.trim_start().starts_with('[') => {
            let list = text.trim().parse::<TomlValue>();
            list.map_err(|error| format!("is no list: {}", error.message()))?
        }
        SettingForm::List | SettingForm::ListOrWord => {
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.collect::<Array>().into()
        }
    })
}

/// Returns the text without the lines of a key; none if no line begins with it. The last key of a table takes the head of
/// the table with it, unless somebody has commented on the table.
fn without_line(text: &str, key: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let (table, name) = match key.split_once('.') {
        Some((table, name)) => (document.get(table)?.as_table()?, name),
        None => (document.as_table(), key),
    };
    let value = table.get(name)?.as_value()?.span()?;
    let begin = text.get(..value.start)?.rfind('\n').map_or(0, |end| end + 1);
    let is_last = key.contains('.') && !table.is_dotted() && table.len() == 1;
    let (mut before, after) = (text.get(..begin)?.to_owned(), text.get(value.end..)?);
    let (_, after) = after.split_once('\n').unwrap_or(("", ""));
    let head = table.span().filter(|_| is_last).map(|span| span.start);
    let Some(head) = head else { return Some(before + after) };
    // What is between the head and its only key stays in any case.
    let (above, below) = before.split_at_checked(head)?;
    let (line, between) = below.split_once('\n')?;
    let is_comment =
        |line: Option<&str>| line.is_some_and(|line| line.trim_start().starts_with('#'));
    let below = if between.is_empty() { after } else { between };
    let is_commented =
        line.contains('#') || is_comment(above.lines().last()) || is_comment(below.lines().next());
    let kept = format!("{before}{after}");
    let old = faults_of(text).unwrap_or_default();
    let table_name = key.split_once('.').map(|(table, _)| table);
    // What the table lacks without its last key is a fault of this change.
    let is_known = |fault: &Fault| old.contains(fault) && Some(fault.0.as_str()) != table_name;
    let may_stay = faults_of(&kept).is_ok_and(|faults| faults.iter().all(is_known));
    if is_commented && may_stay {
        return Some(kept);
    }
    // A table that nothing may be without, such as `[judge]`, goes; what was said about it stays.
    let said = line.find('#').and_then(|at| line.get(at..)).map(|said| format!("{said}\n"));
    let above = match above.strip_suffix("\n\n") {
        Some(rest) if said.is_none() => format!("{rest}\n"),
        _ => above.to_owned(),
    };
    let between = between.to_owned();
    before = above + said.as_deref().unwrap_or_default() + &between;
    Some(before + after)
}

fn as_json(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => json!(text.value()),
        TomlValue::Integer(number) => json!(number.value()),
        TomlValue::Boolean(is_on) => json!(is_on.value()),
        TomlValue::Array(items) => items.iter().map(as_json).collect(),
        other => json!(other.to_string().trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, change: impl FnOnce(&mut ConfigText)) -> String {
        let mut file = ConfigText { document: text.parse().unwrap(), found: Vec::new() };
        change(&mut file);
        file.document.to_string()
    }

    fn set(file: &mut ConfigText, key: &str, text: &str) {
        file.set(key, Setting::named(key).unwrap(), text).unwrap();
    }

    // S-CONFIG-2
    #[test]
    fn comments_and_order_stay() {
        let text =
            "# mine\nmemory_mib = 16 # small\n\n# why\n[aliases] # old ones\n\"a.b\" = \"c\"\n";
        let new = changed(text, |file| {
            set(file, "memory_mib", "32");
            set(file, "journal", "off");
            set(file, "aliases.a.b", "d");
            set(file, "sessions.exclude_tools", "codex, cline");
        });
        let expected = "# mine\nmemory_mib = 32 # small\njournal = false\n\n# why\n[aliases] # old ones\n\"a.b\" = \"d\"\n\n[sessions]\nexclude_tools = [\"codex\", \"cline\"]\n";
        assert_eq!(new, expected);
        let back = changed(&new, |file| {
            assert!(file.unset("journal") && file.unset("sessions.exclude_tools"));
            assert!(!file.unset("sessions.private") && !file.unset("logs"));
        });
        assert_eq!(back, text.replace("16", "32").replace("\"c\"", "\"d\""));
    }

    // S-CONFIG-2
    #[test]
    fn comments_of_a_removed_key_stay() {
        let unset = |text: &str, keys: &[&str]| {
            changed(text, |file| keys.iter().for_each(|key| assert!(file.unset(key), "{key}")))
        };
        for (text, keys, expected) in [
            ("# a\n\n# b\njournal = true # c\n# d\n", &["journal"][..], "# a\n\n# b\n# d\n"),
            ("# b\njournal = true\n# d\nmemory_mib = 16", &["memory_mib", "journal"], "# b\n# d\n"),
            (
                "# top\n[sessions]\nprivate = true\n\n# o\n[aliases]\na = \"b\"\n# end\n",
                &["aliases.a", "sessions.private"],
                "# top\n[sessions]\n\n# o\n[aliases]\n# end\n",
            ),
            (
                "[sessions]\nexclude_tools = [\n  \"a\", # why\n]\n\n# o\n[aliases]\na = \"b\"\n",
                &["sessions.exclude_tools"],
                "\n# o\n[aliases]\na = \"b\"\n",
            ),
            (
                "# m\n[judge] # j\n# u\nurl = \"http://localhost\"\nmodel = \"m\"\n# end\n",
                &["judge.url", "judge.model"],
                "# m\n# j\n# u\n# end\n",
            ),
            (
                "# m\njudge = { url = \"http://localhost\", model = \"m\" } # j\n# end\n",
                &["judge.url", "judge.model"],
                "# m\n# end\n",
            ),
            ("# s\nsessions.private = true\n# end\n", &["sessions.private"], "# s\n# end\n"),
        ] {
            assert_eq!(unset(text, keys), expected, "{text}");
        }
        assert!(
            !ConfigText { document: "# a\n".parse().unwrap(), found: Vec::new() }.unset("logs")
        );
    }

    // S-CONFIG-1, S-CONFIG-2
    #[test]
    fn the_example_of_every_setting_can_be_set() {
        // It names where a key is, which makes no sense before there is a server.
        for setting in Setting::all().filter(|setting| setting.key != "judge.key_env") {
            let mut text = ConfigText::parse("").unwrap();
            let example = format!("{} {}", setting.usual_key(), setting.example);
            let words: Vec<&str> = example.split(' ').collect();
            words.chunks(2).for_each(|pair| set(&mut text, pair[0], pair[1]));
            let text = text.checked().unwrap_or_else(|why| panic!("{example}: {why}"));
            assert_eq!(Config::parse(&text).unwrap().findings, [], "{text}");
            assert_eq!(Setting::named(&setting.key.replace('*', "a.b")).unwrap().key, setting.key);
        }
        assert!(Setting::named("log").is_none() && Setting::named("aliases.").is_none());
    }
}
