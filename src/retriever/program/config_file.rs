//! Changes the configuration file of a person: comments and order stay, and no byte is written before the new text was
//! read by the code that reads configurations. Not here: the settings (`store::Setting`), showing them (`config`).

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use store::{Config, Setting, SettingForm, Switch};
use toml_edit::{Array, DocumentMut, Item, Table, Value as TomlValue, value};

/// A configuration file as text that can be changed.
pub(super) struct ConfigFile {
    path: PathBuf,
    document: DocumentMut,
}

impl ConfigFile {
    /// Opens a file; a missing one is empty.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => {
                other.map_err(|error| format!("failed to read {}: {error}", path.display()))?
            }
        };
        let document = text.parse::<DocumentMut>();
        let document = document.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), document })
    }

    /// Returns where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the value of a key, as the file has it.
    pub(super) fn value_of(&self, key: &str) -> Option<Value> {
        let item = match key.split_once('.') {
            Some((table, name)) => self.document.get(table)?.as_table_like()?.get(name)?,
            None => self.document.get(key)?,
        };
        item.as_value().map(as_json)
    }

    /// Returns the keys of a table, such as `aliases`.
    pub(super) fn keys_of(&self, table: &str) -> Vec<String> {
        let table = self.document.get(table).and_then(Item::as_table_like);
        let names =
            table.into_iter().flat_map(|table| table.iter().map(|(name, _)| name.to_owned()));
        names.collect()
    }

    /// Sets a key, and returns the value that it has now.
    pub(super) fn set(
        &mut self,
        key: &str,
        setting: &Setting,
        text: &str,
    ) -> Result<Value, String> {
        let mut new = read_value(setting.form, text)?;
        let known = as_json(&new);
        let (place, name) = match key.split_once('.') {
            Some((table, name)) => {
                let table = self.document.entry(table).or_insert(Item::Table(Table::new()));
                let place = table.as_table_like_mut();
                (
                    place.ok_or_else(|| "the file has a value where a table belongs".to_owned())?,
                    name,
                )
            }
            None => (self.document.as_table_mut() as _, key),
        };
        // What follows the old value on its line, such as a comment, stays.
        if let Some(old) = place.get(name).and_then(Item::as_value) {
            *new.decor_mut() = old.decor().clone();
        }
        match place.get_mut(name) {
            Some(item) => *item = value(new),
            None => drop(place.insert(name, value(new))),
        }
        Ok(known)
    }

    /// Removes a key, and tells whether it was there.
    pub(super) fn unset(&mut self, key: &str) -> bool {
        let Some((table, name)) = key.split_once('.') else {
            return self.document.remove(key).is_some();
        };
        let Some(place) = self.document.get_mut(table).and_then(Item::as_table_like_mut) else {
            return false;
        };
        let was_there = place.remove(name).is_some();
        if place.is_empty() {
            self.document.remove(table);
        }
        was_there
    }

    /// Checks the new text, and puts it in the place of the old one.
    pub(super) fn save(&self) -> Result<(), SaveError> {
        let text = self.document.to_string();
        Config::parse(&text).map_err(SaveError::Refused)?;
        replace(&self.path, &text).map_err(|error| {
            SaveError::Failed(format!("failed to write {}: {error}", self.path.display()))
        })
    }
}

/// Why a file was not changed.
pub(super) enum SaveError {
    /// No program of ours would read the new text.
    Refused(String),
    /// It could not be written.
    Failed(String),
}

fn read_value(form: SettingForm, text: &str) -> Result<TomlValue, String> {
    Ok(match form {
        SettingForm::Text => text.into(),
        // The reader refuses a text in the place of a number, and says what is allowed.
        SettingForm::Number => match text.trim().parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
        SettingForm::Switch => (Switch::parse(text)? == Switch::On).into(),
        SettingForm::List if text.trim_start().starts_with('[') => {
            let list = text.trim().parse::<TomlValue>();
            list.map_err(|error| format!("is no list: {}", error.to_string().trim()))?
        }
        SettingForm::List => {
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.collect::<Array>().into()
        }
    })
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

/// Replaces the file completely or not at all. It keeps its mode; a new one can be read by its user only. A link stays,
/// and the file that it names is replaced, because people keep such files in git.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = write_new(&fresh, text)
        .and_then(|()| match path.metadata() {
            Ok(found) => std::fs::set_permissions(&fresh, found.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| std::fs::rename(&fresh, &path));
    written.inspect_err(|_| {
        // A leftover does no harm.
        let _ = std::fs::remove_file(&fresh);
    })
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, change: impl FnOnce(&mut ConfigFile)) -> String {
        let mut file = ConfigFile { path: PathBuf::new(), document: text.parse().unwrap() };
        change(&mut file);
        file.document.to_string()
    }

    fn set(file: &mut ConfigFile, key: &str, text: &str) {
        file.set(key, &Setting::of(key).unwrap(), text).unwrap();
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
}
