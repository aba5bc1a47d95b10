//! What the value of a setting may be, one type a kind: how it is read from a file and from a variable, and how a schema describes
//! it. Not here: which setting takes which kind (`table`), kinds with a type of their own (`memory_mib`, `sync_policy` and others).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use event::{parse_age, quoted};
use serde_json::json;
use toml::Value;

use super::home_path::{absolute_path, expanded};
use super::repo_pattern::is_pattern;
use super::setting::{Setting, SettingForm};

/// Where a value stands.
#[derive(Clone, Copy)]
pub enum ValueSource<'a> {
    /// In the configuration file. It has the type of the setting.
    File(&'a Value),
    /// In a variable of the environment.
    Variable(&'a OsStr),
}

/// A kind of value.
pub trait ValueKind {
    /// What is read.
    type Value;
    /// What it is in TOML.
    const FORM: SettingForm;
    /// The text that says as much as no value; so does an empty one then.
    const NONE: Option<&'static str> = None;

    /// Reads a value of a file.
    fn read(value: &Value) -> Result<Self::Value, WrongValue>;

    /// Reads a value, wherever it stands.
    fn read_source(source: ValueSource<'_>) -> Result<Self::Value, WrongValue> {
        match source {
            ValueSource::File(value) => Self::read(value),
            ValueSource::Variable(text) => Self::read_variable(text),
        }
    }

    /// Reads the content of a variable.
    fn read_variable(text: &OsStr) -> Result<Self::Value, WrongValue> {
        let text = text.to_string_lossy();
        let number = text.trim().parse().map(Value::Integer);
        let number = number.ok().filter(|_| Self::FORM == SettingForm::Number);
        Self::read(&number.unwrap_or_else(|| Value::String(text.into_owned())))
    }

    /// Returns a value as a file has it; none where it says as much as no value.
    fn write(value: &Self::Value) -> Option<Value>;

    /// Describes the value in JSON Schema.
    fn schema() -> serde_json::Value {
        Self::FORM.schema()
    }
}

/// Why a value is not allowed. What a row of the table says goes first.
#[derive(Debug, Default)]
pub struct WrongValue {
    /// What it must be.
    pub(crate) must: Option<String>,
    /// The value, where it can be no secret.
    pub(crate) got: Option<String>,
}

impl WrongValue {
    /// Returns the error of a value that may be quoted.
    pub(crate) fn quoting(value: &str) -> Self {
        Self { must: None, got: Some(quoted(value)) }
    }

    /// Says what a setting takes, with an example. `name` is the setting as the message names it.
    pub(crate) fn sentence(self, name: &str, setting: &Setting) -> String {
        let must = setting.wrong.map(str::to_owned).or(self.must);
        let must = must.unwrap_or_else(|| format!("must be {}", setting.allowed));
        let example = match must.contains("for example") {
            true => String::new(),
            false => format!(", for example {}", setting.first_example()),
        };
        let got = self.got.map_or_else(String::new, |got| format!("; got {got}"));
        format!("{name} {must}{example}{got}")
    }
}

/// A value that may be absent.
impl<K: ValueKind> ValueKind for Option<K> {
    type Value = Option<K::Value>;
    const FORM: SettingForm = K::FORM;

    fn read(value: &Value) -> Result<Self::Value, WrongValue> {
        let is_none = |none| value.as_str().is_some_and(|text| text.is_empty() || text == none);
        if K::NONE.is_some_and(is_none) { Ok(None) } else { K::read(value).map(Some) }
    }

    fn read_variable(text: &OsStr) -> Result<Self::Value, WrongValue> {
        K::read_variable(text).map(Some)
    }

    fn write(value: &Self::Value) -> Option<Value> {
        let none = || K::NONE.and_then(written_text);
        value.as_ref().map_or_else(none, K::write)
    }

    fn schema() -> serde_json::Value {
        K::schema()
    }
}

/// Makes kinds of which reading says all: `Name: Type as Form = what reads it, what writes it`; `or` is [`ValueKind::NONE`]. The row of a setting explains what is
/// not read.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $Kind:ident $(or $none:literal)?: $Value:ty as $form:ident = $read:expr, $write:expr;)+) => { $(
        $(#[doc = $doc])+
        pub struct $Kind;

        impl ValueKind for $Kind {
            type Value = $Value;
            const FORM: SettingForm = SettingForm::$form;
            $(const NONE: Option<&'static str> = Some($none);)?

            fn read(value: &Value) -> Result<$Value, WrongValue> {
                let read: fn(&Value) -> Option<$Value> = $read;
                read(value).ok_or_else(WrongValue::default)
            }

            fn write(value: &$Value) -> Option<Value> {
                let write: fn(&$Value) -> Option<Value> = $write;
                write(value)
            }
        }
    )+ };
}

kinds! {
    /// Any text; an empty one says as much as none.
    Text: String as Text = |value| value.as_str().map(str::to_owned), |text| written_text(text);
    /// A text with something in it.
    Name: String as Text = |value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned), |text| written_text(text);
    /// The address of a server, without what may be a secret. An empty text is the usual address.
    Address: String as Text = |value| {
        let url = value.as_str().filter(|url| url.is_empty() || is_reachable(url));
        url.map(|url| url.trim_end_matches('/').to_owned())
    }, |text| written_text(text);
    /// The name of a variable that holds a key, and no key. An empty text names none.
    VariableName or "": String as Text = |value| value.as_str().filter(|name| is_variable_name(name)).map(str::to_owned), |name| written_text(name);
    /// How long ago.
    Age: Duration as Text = |value| parse_age(value.as_str()?.trim()).filter(|age| !age.is_zero()), |age| Some(format!("{}h", age.as_secs() / 3_600).into());
    /// The path of a file.
    FilePath: PathBuf as Text = |value| value.as_str().filter(|path| !path.is_empty()).map(|path| expanded(path.as_ref())), |path| Some(written_path(path));
    /// The absolute path of a key. The value is not quoted: it may be the key itself.
    KeyFile: PathBuf as Text = |value| value.as_str().map(|path| expanded(path.as_ref())).filter(|path| path.has_root()), |path| Some(written_path(path));
    /// Several texts.
    Texts: Vec<String> as List = |value| value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect(), |texts| written_list(texts);
    /// Several directories, of which some may begin with `~/`.
    Directories: Vec<PathBuf> as List = |value| value.as_array()?.iter().map(|path| Some(expanded(path.as_str()?.as_ref()))).collect(), |paths| written_paths(paths);
}

/// Writes a list of paths; none is not written.
fn written_paths(paths: &[PathBuf]) -> Option<Value> {
    let written = || paths.iter().map(|path| written_path(path)).collect();
    (!paths.is_empty()).then(|| Value::Array(written()))
}

fn written_text(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}

fn written_path(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

pub(crate) fn written_list(texts: &[String]) -> Option<Value> {
    (!texts.is_empty()).then(|| texts.to_owned().into())
}

/// Tells whether an address begins with https, or with http on this machine, and holds neither a password nor a query. Whoever opens it
/// checks it again, as a whole.
fn is_reachable(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = host.unwrap_or_default();
    let is_loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let is_plain = !host.is_empty() && !url.contains(['@', '?', '#']);
    is_plain && (scheme == "https" || scheme == "http" && is_loopback)
}

/// Tells whether a text is the name of a variable. A key that was pasted in its place is none.
fn is_variable_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    name.len() <= 64
        && name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

/// A whole number.
pub struct Number<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> ValueKind for Number<MIN, MAX> {
    type Value = u32;
    const FORM: SettingForm = SettingForm::Number;

    fn read(value: &Value) -> Result<u32, WrongValue> {
        let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
        number.filter(|number| (MIN..=MAX).contains(number)).ok_or_else(|| WrongValue {
            must: Some(format!("must be a whole number from {MIN} to {MAX}")),
            got: None,
        })
    }

    fn write(value: &u32) -> Option<Value> {
        Some(Value::Integer((*value).into()))
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A setting that is on or off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Switch {
    /// On.
    #[default]
    On,
    /// Off.
    Off,
}

impl Switch {
    /// Parses what a person or a variable says.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "on" | "true" | "1" => Ok(Self::On),
            "off" | "false" | "0" => Ok(Self::Off),
            other => Err(format!("must be on or off, got {other:?}")),
        }
    }
}

impl ValueKind for Switch {
    type Value = Self;
    const FORM: SettingForm = SettingForm::Switch;

    fn read(value: &Value) -> Result<Self, WrongValue> {
        let is_on = value.as_bool().ok_or_else(WrongValue::default)?;
        Ok(if is_on { Self::On } else { Self::Off })
    }

    fn write(value: &Self) -> Option<Value> {
        Some(Value::Boolean(*value == Self::On))
    }

    fn read_variable(text: &OsStr) -> Result<Self, WrongValue> {
        let read = Self::parse(&text.to_string_lossy());
        read.map_err(|must| WrongValue { must: Some(must), got: None })
    }
}

/// A directory that is the same from everywhere: a relative one would be another in each working directory. Wherever it is wrong,
/// the file is refused.
pub struct Directory;

impl ValueKind for Directory {
    type Value = PathBuf;
    const FORM: SettingForm = SettingForm::Directory;

    fn read(value: &Value) -> Result<PathBuf, WrongValue> {
        let text = value.as_str().unwrap_or_default();
        absolute_path(text.as_ref()).map_err(|_| WrongValue::quoting(text))
    }

    /// A path in a variable need not be text.
    fn read_variable(text: &OsStr) -> Result<PathBuf, WrongValue> {
        absolute_path(text).map_err(|_| WrongValue::quoting(&text.to_string_lossy()))
    }

    fn write(value: &PathBuf) -> Option<Value> {
        Some(written_path(value))
    }
}

/// Folders that are trusted: each an absolute path, or one below the home directory. A variable holds them as `PATH` does.
pub struct TrustedFolders;

impl ValueKind for TrustedFolders {
    type Value = Vec<PathBuf>;
    const FORM: SettingForm = SettingForm::List;

    fn read(value: &Value) -> Result<Vec<PathBuf>, WrongValue> {
        let read =
            |text: String| absolute_path(text.as_ref()).map_err(|_| WrongValue::quoting(&text));
        Texts::read(value)?.into_iter().map(read).collect()
    }

    fn read_variable(text: &OsStr) -> Result<Vec<PathBuf>, WrongValue> {
        let paths = std::env::split_paths(text).filter(|path| !path.as_os_str().is_empty());
        paths.map(|path| Directory::read_variable(path.as_os_str())).collect()
    }

    fn write(value: &Vec<PathBuf>) -> Option<Value> {
        written_paths(value)
    }
}

/// Groups that count as the user: numbers, or names of the system. A variable holds them with commas between them.
pub struct TrustedGroups;

impl ValueKind for TrustedGroups {
    type Value = Vec<String>;
    const FORM: SettingForm = SettingForm::List;

    fn read(value: &Value) -> Result<Vec<String>, WrongValue> {
        texts_of(value, is_group)
    }

    fn read_variable(text: &OsStr) -> Result<Vec<String>, WrongValue> {
        let text = text.to_string_lossy();
        let groups = text.split(',').map(|group| Value::from(group.trim()));
        Self::read(&Value::Array(groups.collect()))
    }

    fn write(value: &Vec<String>) -> Option<Value> {
        written_list(value)
    }
}

/// Tells whether a text is the number of a group, or may be a name.
fn is_group(text: &str) -> bool {
    let is_name_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$');
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    !text.is_empty()
        && (is_number && text.parse::<u32>().is_ok()
            || starts_well && text.bytes().all(is_name_byte))
}

/// Several texts, each of which is allowed or quoted in the error.
pub(crate) fn texts_of(
    value: &Value,
    is_allowed: impl Fn(&str) -> bool,
) -> Result<Vec<String>, WrongValue> {
    let texts = Texts::read(value)?;
    let wrong = texts.iter().find(|text| !is_allowed(text));
    wrong.map_or(Ok(()), |wrong| Err(WrongValue::quoting(wrong)))?;
    Ok(texts)
}

/// Keys of repositories, with `*` for any text.
pub struct RepoPatterns;

impl ValueKind for RepoPatterns {
    type Value = Vec<String>;
    const FORM: SettingForm = SettingForm::List;

    fn read(value: &Value) -> Result<Vec<String>, WrongValue> {
        texts_of(value, is_pattern)
    }

    fn write(value: &Vec<String>) -> Option<Value> {
        written_list(value)
    }
}
