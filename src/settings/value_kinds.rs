//! What the value of a setting may be, one type a kind: how it is read from a file and from a variable, and how a schema describes
//! it. Not here: which setting takes which kind (`table`), kinds with a type of their own (`memory_mib`, `sync_policy` and others).

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use event::{parse_age, quoted};
use serde_json::json;
use toml::Value;

use super::platform_dirs::expanded;
use super::repo_pattern::is_pattern;
use super::setting::{Setting, SettingForm};

/// A kind of value. [`Kind::FORM`] is checked before a value is read.
pub trait Kind {
    /// What is read.
    type Value;
    /// What it is in TOML.
    const FORM: SettingForm;

    /// Reads a value of a file.
    fn read(value: &Value) -> Result<Self::Value, WrongValue>;

    /// Returns a value as a file has it; none where it says as much as no value.
    fn write(_value: &Self::Value) -> Option<Value> {
        None
    }

    /// Reads the content of a variable.
    fn read_variable(text: &OsStr) -> Result<Self::Value, WrongValue> {
        let text = text.to_string_lossy();
        let number = text.trim().parse().map(Value::Integer);
        let number = number.ok().filter(|_| Self::FORM == SettingForm::Number);
        Self::read(&number.unwrap_or_else(|| Value::String(text.into_owned())))
    }

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
impl<K: Kind> Kind for Option<K> {
    type Value = Option<K::Value>;
    const FORM: SettingForm = K::FORM;

    fn read(value: &Value) -> Result<Self::Value, WrongValue> {
        K::read(value).map(Some)
    }

    fn write(value: &Self::Value) -> Option<Value> {
        value.as_ref().and_then(K::write)
    }

    fn read_variable(text: &OsStr) -> Result<Self::Value, WrongValue> {
        K::read_variable(text).map(Some)
    }

    fn schema() -> serde_json::Value {
        K::schema()
    }
}

/// Any text; an empty one says as much as none.
pub struct Text;

impl Kind for Text {
    type Value = String;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<String, WrongValue> {
        value.as_str().map(str::to_owned).ok_or_else(WrongValue::default)
    }

    fn write(value: &String) -> Option<Value> {
        Some(value).filter(|text| !text.is_empty()).cloned().map(Value::String)
    }
}

/// A text with something in it.
pub struct Name;

impl Kind for Name {
    type Value = String;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<String, WrongValue> {
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(WrongValue::default)
    }
}

/// The address of a server, without what may be a secret. An empty text is the usual address.
pub struct Address;

impl Kind for Address {
    type Value = String;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<String, WrongValue> {
        let url = value.as_str().filter(|url| url.is_empty() || is_reachable(url));
        url.map(|url| url.trim_end_matches('/').to_owned()).ok_or_else(WrongValue::default)
    }

    fn write(value: &String) -> Option<Value> {
        Text::write(value)
    }
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

/// The name of a variable that holds a key, and no key. An empty text names none.
pub struct VariableName;

impl Kind for VariableName {
    type Value = Option<String>;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<Option<String>, WrongValue> {
        // A key that was pasted here is not repeated.
        let name = value.as_str().ok_or_else(WrongValue::default)?;
        if name.is_empty() {
            return Ok(None);
        }
        let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
        let is_name = name.len() <= 64
            && name.bytes().next().is_some_and(is_letter)
            && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit());
        is_name.then(|| Some(name.to_owned())).ok_or_else(WrongValue::default)
    }

    fn write(value: &Option<String>) -> Option<Value> {
        value.clone().map(Value::String)
    }
}

/// A whole number.
pub struct Number<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Kind for Number<MIN, MAX> {
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

/// How long ago.
pub struct Age;

impl Kind for Age {
    type Value = Duration;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<Duration, WrongValue> {
        let age = value.as_str().and_then(|text| parse_age(text.trim()));
        age.filter(|age| !age.is_zero()).ok_or_else(WrongValue::default)
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

impl Kind for Switch {
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

impl Kind for Directory {
    type Value = PathBuf;
    const FORM: SettingForm = SettingForm::Directory;

    fn read(value: &Value) -> Result<PathBuf, WrongValue> {
        let text = value.as_str().unwrap_or_default();
        let path = Some(expanded(text)).filter(|path| path.is_absolute());
        path.ok_or_else(|| WrongValue::quoting(text))
    }

    /// A person who sets a variable is in a working directory.
    fn read_variable(text: &OsStr) -> Result<PathBuf, WrongValue> {
        Ok(PathBuf::from(text))
    }
}

/// The path of a file.
pub struct FilePath;

impl Kind for FilePath {
    type Value = PathBuf;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<PathBuf, WrongValue> {
        value
            .as_str()
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .ok_or_else(WrongValue::default)
    }
}

/// The absolute path of a key. The value is not quoted: it may be the key itself.
pub struct KeyFile;

impl Kind for KeyFile {
    type Value = PathBuf;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<PathBuf, WrongValue> {
        value
            .as_str()
            .map(PathBuf::from)
            .filter(|path| path.has_root())
            .ok_or_else(WrongValue::default)
    }
}

/// Several texts.
pub struct Texts;

impl Kind for Texts {
    type Value = Vec<String>;
    const FORM: SettingForm = SettingForm::List;

    fn read(value: &Value) -> Result<Vec<String>, WrongValue> {
        let texts = value.as_array().ok_or_else(WrongValue::default)?.iter();
        texts
            .map(|text| text.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(WrongValue::default)
    }

    fn write(value: &Vec<String>) -> Option<Value> {
        (!value.is_empty()).then(|| value.clone().into())
    }
}

/// Several directories, of which some may begin with `~/`.
pub struct Directories;

impl Kind for Directories {
    type Value = Vec<PathBuf>;
    const FORM: SettingForm = SettingForm::List;

    fn read(value: &Value) -> Result<Vec<PathBuf>, WrongValue> {
        Ok(Texts::read(value)?.iter().map(|path| expanded(path)).collect())
    }
}

/// Keys of repositories, with `*` for any text.
pub struct RepoPatterns;

impl Kind for RepoPatterns {
    type Value = Vec<String>;
    const FORM: SettingForm = SettingForm::List;

    fn read(value: &Value) -> Result<Vec<String>, WrongValue> {
        let texts = Texts::read(value)?;
        match texts.iter().find(|text| !is_pattern(text)) {
            None => Ok(texts),
            Some(wrong) => Err(WrongValue::quoting(wrong)),
        }
    }

    fn write(value: &Vec<String>) -> Option<Value> {
        Texts::write(value)
    }
}

/// One of several words, as JSON Schema has it.
pub(crate) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> serde_json::Value {
    json!({ "enum": words.into_iter().collect::<Vec<_>>() })
}
