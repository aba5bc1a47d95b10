//! The settings with their values and what set them, and new values in the configuration file. Not here: the command (`config`),
//! changing the text of the file (`settings::ConfigText`).

use std::path::Path;

use serde_json::{Value, json};

use crate::command_context::Process;
use crate::commands::config::setting_names::{example, known_setting};
use crate::program::Program;
use guard::secrets::redacted;
use guard::text::{Layout, neutralise};
use requests::{ApiError, Reply};
use retriever::failure::store_error;
use retriever::options::GlobalOptions;
use settings::variables::{VARIABLES, VariableDisplay};
use settings::{ConfigText, PlatformDirs, SetError, Setting, SettingForm, Switch};
use store::{ConfigTurn, config_text, read_config, trusted};
use writer::exit::{Exit, complain};

/// A setting with its value.
pub(crate) struct SettingRow {
    pub(crate) key: String,
    pub(crate) value: Option<Value>,
    /// `default`, `project`, `file`, `environment` or `option`.
    pub(crate) origin: &'static str,
    /// The file, the variable or the option.
    pub(crate) from: Option<String>,
}

impl Program<'_> {
    pub(crate) fn set_variable(&self, name: &str) -> Option<String> {
        let value = (self.surroundings.lookup)(name).filter(|value| !value.is_empty());
        value.map(|value| value.to_string_lossy().into_owned())
    }

    /// Returns every setting with its value. A file that no program would read is an error.
    pub(crate) fn setting_rows(
        &self,
        settings: &GlobalOptions,
        path: &Path,
    ) -> Result<Vec<SettingRow>, ApiError> {
        read_config(path).map_err(|error| store_error(&error))?;
        let file = open_config(path)?;
        let mut rows = Vec::new();
        for setting in Setting::all() {
            let keys = match setting.key.strip_suffix(".*") {
                Some(table) => {
                    let names = file.keys_of(table).into_iter();
                    names.map(|name| format!("{table}.{name}")).collect()
                }
                None => vec![setting.key.to_owned()],
            };
            rows.extend(
                keys.into_iter().map(|key| self.row(settings, (&file, path), setting, key)),
            );
        }
        rows.extend(self.project_rows(&rows));
        for variable in VARIABLES {
            let Some(content) = self.set_variable(variable.name) else { continue };
            let value = match variable.shown {
                VariableDisplay::Content => json!(content),
                VariableDisplay::Name => json!("(not shown)"),
                VariableDisplay::Nothing => continue,
            };
            let key = variable.name.to_owned();
            let from = Some(key.clone());
            rows.push(SettingRow { key, value: Some(value), origin: "environment", from });
        }
        Ok(rows)
    }

    fn row(
        &self,
        settings: &GlobalOptions,
        (file, path): (&ConfigText, &Path),
        setting: &Setting,
        key: String,
    ) -> SettingRow {
        let option = match setting.key {
            "logs" => settings.logs.as_ref(),
            "model" => settings.model.as_ref(),
            _ => None,
        };
        let variable = setting.variable.and_then(|name| Some((name, self.set_variable(name)?)));
        let (value, origin, from) = match (option, variable, file.value_of(&key)) {
            (Some(named), ..) => {
                (Some(json!(named.display().to_string())), "option", Some(format!("--{key}")))
            }
            (None, Some((name, value)), _) => {
                (Some(of_variable(setting, &value)), "environment", Some(name.to_owned()))
            }
            (None, None, Some(value)) => (Some(value), "file", Some(path.display().to_string())),
            (None, None, None) => (default_of(setting), "default", None),
        };
        SettingRow { key, value, origin, from }
    }

    pub(crate) fn value_of(
        &self,
        settings: &GlobalOptions,
        path: &Path,
        key: &str,
    ) -> Result<Reply, ApiError> {
        known_setting(key)?;
        let mut rows = self.setting_rows(settings, path)?;
        rows.retain(|row| row.key == key);
        match rows.pop() {
            Some(row) if row.value.is_some() => Ok(Reply::new(row.words(), row.json())),
            _ => Err(ApiError::NotFound(format!("{key} is not set, and has no default"))),
        }
    }

    pub(crate) fn set_keys(
        &self,
        path: &Path,
        pairs: &[String],
        process: &mut Process<'_>,
    ) -> Result<Reply, ApiError> {
        let wanted = wanted(pairs)?;
        trusted(path).map_err(|error| store_error(&error))?;
        // What is refused makes no folder and no lock.
        changed(path, &wanted)?;
        let turn = ConfigTurn::acquire(path).map_err(|error| store_error(&error))?;
        let (text, set) = changed(path, &wanted)?;
        replace_config(&turn, path, &text)?;
        let winners = wanted.iter().filter_map(|WantedSetting { key, setting, .. }| {
            let variable = setting.variable.filter(|name| self.set_variable(name).is_some())?;
            Some((*key, variable))
        });
        let mut overridden = Vec::new();
        for (key, variable) in winners {
            let message =
                format!("{variable} is set, so it wins over {key} in the file until it is unset");
            complain(process.messages, process.name, &message);
            overridden.push(variable);
        }
        let lines = set.iter().map(|row| format!("{} = {}", row.name(), row.words()));
        let text = lines.chain([format!("in {}", path.display())]).collect::<Vec<_>>().join("\n");
        let json = json!({ "file": path.display().to_string(),
            "set": set.iter().map(SettingRow::json).collect::<Vec<_>>(), "overridden_by": overridden });
        Ok(Reply::new(text, json))
    }
}

/// Returns the text with its new values, which the reader allows, and what was set.
fn changed(
    path: &Path,
    wanted: &[WantedSetting<'_>],
) -> Result<(String, Vec<SettingRow>), ApiError> {
    let mut file = open_config(path)?;
    let mut set = Vec::new();
    for WantedSetting { key, setting, text } in wanted {
        let value = file.set(key, setting, text);
        let value = value.map_err(|error| match error {
            SetError::Wrong(why) => refused(wanted, &format!("{key} {why}")),
            SetError::NoRoom(why) => invalid(format!("{}: {why}; nothing is changed", line(key))),
        })?;
        let key = (*key).to_owned();
        set.push(SettingRow { key, value: Some(value), origin: "file", from: None });
    }
    let text = file.checked().map_err(|why| refused(wanted, &why))?;
    Ok((text, set))
}

pub(crate) fn unset(path: &Path, keys: &[String]) -> Result<Reply, ApiError> {
    for key in keys {
        known_setting(key)?;
    }
    trusted(path).map_err(|error| store_error(&error))?;
    let turn = path.exists().then(|| ConfigTurn::acquire(path)).transpose();
    let turn = turn.map_err(|error| store_error(&error))?;
    let mut file = open_config(path)?;
    for key in keys {
        if !file.unset(key) {
            let message = format!("{} is not in {}", line(key), path.display());
            return Err(ApiError::NotFound(message));
        }
    }
    let text = file.checked().map_err(|why| invalid(format!("nothing is changed: {why}")))?;
    turn.map_or(Ok(()), |turn| replace_config(&turn, path, &text))?;
    let names = line(&keys.join(", "));
    let text = format!("removed {names} from {}", path.display());
    Ok(Reply::new(text, json!({ "file": path.display().to_string(), "unset": keys })))
}

/// Opens the text of the file; a missing one is empty.
pub(crate) fn open_config(path: &Path) -> Result<ConfigText, ApiError> {
    let text = config_text(path).map_err(|error| wrong_file(format!("failed to {error}")))?;
    ConfigText::parse(&text).map_err(|why| {
        wrong_file(format!("failed to read the configuration {}, {why}", path.display()))
    })
}

/// Puts a text in the place of the old one.
pub(crate) fn replace_config(turn: &ConfigTurn, path: &Path, text: &str) -> Result<(), ApiError> {
    turn.replace(text).map_err(|error| ApiError::Failed {
        exit: Exit::Io,
        message: format!("failed to write {}: {error}", path.display()),
    })
}

impl SettingRow {
    fn words(&self) -> String {
        let text = match &self.value {
            None => "not set".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(is_on)) => if *is_on { "on" } else { "off" }.to_owned(),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect::<Vec<_>>()
                .join(", "),
            Some(other) => other.to_string(),
        };
        line(&text)
    }

    /// Returns its key, as a person may see it.
    fn name(&self) -> String {
        line(&self.key)
    }

    fn json(&self) -> Value {
        let value = match &self.value {
            Some(Value::String(_)) => json!(self.words()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| {
                    item.as_str().map_or_else(|| item.clone(), |text| json!(redacted(text)))
                })
                .collect(),
            other => json!(other),
        };
        json!({ "key": self.key, "value": value, "origin": self.origin, "from": self.from })
    }
}

/// Returns a text of the file as a person may see it: without secrets, and without what commands a terminal.
fn line(text: &str) -> String {
    neutralise(&redacted(text), Layout::Line)
}

pub(crate) fn rows_reply(rows: &[SettingRow], path: &Path, findings: &[String]) -> Reply {
    let width = |of: &dyn Fn(&SettingRow) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let keys = width(&|row| row.name().chars().count());
    // A long value must not push the origins of all others to the right.
    let values = width(&|row| row.words().chars().count()).min(VALUE_COLUMNS);
    let lines = rows.iter().map(|row| {
        let origin = match (row.origin, &row.from) {
            ("file", _) | (_, None) => row.origin,
            (_, Some(from)) => from.as_str(),
        };
        format!("{:keys$}  {:values$}  {origin}", row.name(), row.words())
    });
    let is_new = if path.exists() { "" } else { " (does not exist yet)" };
    let head = format!("file  {}{is_new}\n", path.display());
    let text = std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n");
    let json = json!({ "file": path.display().to_string(), "exists": path.exists(),
        "settings": rows.iter().map(SettingRow::json).collect::<Vec<_>>(),
        "not_counted": findings.iter().map(|finding| line(finding)).collect::<Vec<_>>() });
    Reply::new(text, json)
}

/// Columns of the values, at most.
const VALUE_COLUMNS: usize = 48;

fn of_variable(setting: &Setting, text: &str) -> Value {
    match setting.form {
        SettingForm::Switch => {
            Switch::parse(text).map_or_else(|_| json!(text), |set| json!(set == Switch::On))
        }
        SettingForm::Number => {
            text.trim().parse::<i64>().map_or_else(|_| json!(text), |number| json!(number))
        }
        SettingForm::Text
        | SettingForm::Directory
        | SettingForm::List
        | SettingForm::ListOrWord => json!(text),
    }
}

fn default_of(setting: &Setting) -> Option<Value> {
    let places = PlatformDirs::of_platform();
    let place = places.as_ref().and_then(|places| places.of_setting(setting.key));
    let usual = || (setting.default)().map(|value| json!(value));
    place.map_or_else(usual, |place| Some(json!(place.display().to_string())))
}

/// A setting and the value that somebody wants.
struct WantedSetting<'a> {
    key: &'a str,
    setting: &'static Setting,
    text: &'a str,
}

/// Reads keys with their values.
fn wanted(pairs: &[String]) -> Result<Vec<WantedSetting<'_>>, ApiError> {
    let pairs = pairs.chunks(2).map(|pair| {
        let key = pair.first().map_or("", String::as_str);
        let setting = known_setting(key)?;
        match pair.get(1) {
            Some(text) => Ok(WantedSetting { key, setting, text }),
            None => Err(invalid(format!(
                "{}: has no value; it takes {}; for example: {}; nothing is changed",
                line(key),
                setting.allowed,
                example(key, setting)
            ))),
        }
    });
    pairs.collect()
}

/// Says why the new text is refused, which key is to blame, what it takes, and an example.
fn refused(wanted: &[WantedSetting<'_>], why: &str) -> ApiError {
    // The reader begins with the key, or with its table and often its name.
    let is_named = |one: &&WantedSetting<'_>| {
        let after_table = one.key.replacen('.', ": ", 1);
        why.starts_with(one.key) || why.starts_with(&format!("{after_table} "))
    };
    let is_of_table = |one: &&WantedSetting<'_>| {
        one.key
            .split_once('.')
            .is_some_and(|(table, _)| why.trim_start_matches('[').starts_with(table))
    };
    let blamed = wanted.iter().find(is_named).or_else(|| wanted.iter().find(is_of_table));
    match blamed {
        Some(WantedSetting { key, setting, text }) if !key.contains('.') => invalid(format!(
            "{key}: must be {}, got {}; for example: {}; nothing is changed",
            setting.allowed,
            event::quoted(text),
            example(key, setting)
        )),
        Some(WantedSetting { key, setting, .. }) if !why.contains("for example") => {
            invalid(format!("{why}; for example: {}; nothing is changed", example(key, setting)))
        }
        _ => invalid(format!("{why}; nothing is changed")),
    }
}

fn invalid(message: String) -> ApiError {
    ApiError::Failed { exit: Exit::Invalid, message }
}

fn wrong_file(message: String) -> ApiError {
    ApiError::Failed { exit: Exit::Config, message }
}
