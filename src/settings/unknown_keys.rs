//! The keys of a configuration file that this version does not know, with the key that was probably meant, and values of a wrong
//! type. Not here: values of the right type that are not allowed (`config`).

use event::quoted;
use toml::de::DeTable;
use toml::{Table, Value};

use super::config_fault::ConfigFault;
use super::config_finding::ConfigFinding;
use super::config_table::ConfigTable;
use super::setting::Setting;

/// Names under which people write a key into a file.
const KEYS_THEMSELVES: [&str; 8] =
    ["key", "api_key", "apikey", "token", "api_token", "secret", "password", "authorization"];

/// Names a key that is not known, with what was probably meant.
fn unknown_key(key: String, section: Option<ConfigTable>) -> ConfigFinding {
    let name = key.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let asks =
        matches!(section, Some(ConfigTable::Embedding | ConfigTable::Rerank | ConfigTable::Judge));
    let why = match meant(&key) {
        _ if asks && KEYS_THEMSELVES.contains(&name.as_str()) => format!(
            "{}: a key does not belong in a file; put it into a variable of the environment, and set key_env to the name \
             of that variable",
            quoted(&key)
        ),
        Some(meant) => {
            let example = Setting::named(meant).map(|setting| setting.example_line(meant));
            let example = example.map_or_else(String::new, |line| format!(" For example {line}"));
            format!(
                "{} is no setting of this version; did you mean {meant}?{example}",
                quoted(&key)
            )
        }
        None => match section.map(known_of) {
            None => format!("{} is no setting of this version", quoted(&key)),
            Some(known) => {
                format!("{} is no setting of this version; allowed are {known}", quoted(&key))
            }
        },
    };
    ConfigFinding { file: None, line: None, key, section, why }
}

/// Returns the keys of a table, with an example of the first.
fn known_of(section: ConfigTable) -> String {
    let start = format!("{}.", section.as_str());
    let of_table = || Setting::all().filter(|setting| setting.key.starts_with(&start));
    let names: Vec<&str> =
        of_table().filter_map(|setting| setting.key.strip_prefix(&*start)).collect();
    let example = of_table().next().map(|setting| setting.example_line(setting.key));
    format!("{}, for example {}", names.join(", "), example.unwrap_or_default())
}

/// Takes out of a file, or of one of its tables, what this version does not know, and adds what that was.
///
/// # Errors
/// A value of a wrong type.
pub(crate) fn take_unknown(
    section: Option<ConfigTable>,
    table: &mut Table,
    findings: &mut Vec<ConfigFinding>,
) -> Result<(), ConfigFault> {
    for (name, mut value) in std::mem::take(table) {
        let start = section.map_or_else(String::new, |section| format!("{}.", section.as_str()));
        let key = start + &name;
        let inner = ConfigTable::named(&key);
        match (inner, &mut value, Setting::named(&key)) {
            (Some(_), Value::Table(table), _) => take_unknown(inner, table, findings)?,
            (_, value, Some(setting)) => check_form(&key, setting, value)?,
            (Some(_), _, None) => return Err(no_table(&key)),
            (None, _, None) => {
                findings.push(unknown_key(key, section));
                continue;
            }
        }
        table.insert(name, value);
    }
    Ok(())
}

/// Refuses a value of a wrong type. It is not repeated: it may be a secret.
fn check_form(key: &str, setting: &Setting, value: &Value) -> Result<(), ConfigFault> {
    if setting.form.fits(value) {
        return Ok(());
    }
    let (kind, allowed) = (setting.form.toml_type(), setting.allowed);
    let why = format!(
        "{key} is of a wrong type: it must be {kind} ({allowed}), for example {}",
        setting.example_line(key)
    );
    Err(ConfigFault::of_key(key, why))
}

fn no_table(name: &str) -> ConfigFault {
    let first = Setting::all().find(|one| one.key.starts_with(&format!("{name}.")));
    let example = first.map_or_else(String::new, |setting| {
        format!(", for example {}", setting.example_line(&setting.usual_key()))
    });
    let why = format!("{name} is of a wrong type: it must be a table [{name}]{example}");
    ConfigFault::of_key(name, why)
}

/// Returns the setting that was probably meant: one with a slip of a letter, or one of the same name elsewhere.
fn meant(key: &str) -> Option<&'static str> {
    let known = || Setting::all().map(|setting| setting.key).filter(|key| !key.ends_with('*'));
    let name = key.rsplit('.').next().unwrap_or(key);
    let tables = ConfigTable::ALL.iter().map(|table| table.as_str());
    let slip = known().chain(tables).find(|known| is_slip(known, key));
    let elsewhere = || {
        let mut same = known().filter(|known| known.rsplit('.').next() == Some(name));
        same.next().filter(|_| same.next().is_none())
    };
    slip.or_else(elsewhere)
}

/// Tells whether two names differ by one letter that is wrong, missing or too many, or by two that changed places.
fn is_slip(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_").into_bytes();
    let (one, other) = (plain(one), plain(other));
    let start = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.split_at(start).1, other.split_at(start).1);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let left = |rest: &[u8]| rest.split_at(rest.len() - end).0.to_vec();
    let (one, other) = (left(one), left(other));
    let are_swapped = one.len() == 2 && other.iter().eq(one.iter().rev());
    one.len() <= 1 && other.len() <= 1 || are_swapped
}

/// Sets the line of each finding.
pub(crate) fn set_lines(findings: &mut [ConfigFinding], text: &str) {
    for finding in findings {
        finding.line = line_of(&finding.key, text);
    }
}

/// Returns the line of a key, that of a table before its first dot.
pub(crate) fn line_of(key: &str, text: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let (first, second) = match key.split_once('.') {
        Some((first, second)) if ConfigTable::named(first).is_some() => (first, Some(second)),
        _ => (key, None),
    };
    let (key, value) = table.get_ref().iter().find(|(key, _)| key.get_ref() == first)?;
    let inner = second.and_then(|name| {
        let table = value.get_ref().as_table()?;
        table.iter().find(|(key, _)| key.get_ref() == name).map(|(key, _)| key.span())
    });
    let before = text.get(..inner.unwrap_or_else(|| key.span()).start)?;
    Some(before.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::setting::SettingForm;

    fn findings(text: &str) -> Vec<ConfigFinding> {
        Config::parse(text).unwrap().findings
    }

    // S-CONFIG-4
    #[test]
    fn a_key_that_is_not_known_is_named_with_what_was_meant() {
        for (text, line, told) in [
            (
                "journal = true\nlog = \"/l\"",
                2,
                "\"log\" is no setting of this version; did you mean logs?",
            ),
            ("colour = 3", 1, "\"colour\" is no setting of this version; it is left out"),
            ("\n[shares]\na = 1", 2, "\"shares\" is no setting"),
            (
                "[sync]\n\nshrae = [\"*\"]",
                3,
                "did you mean sync.share? For example share = [\"github.com/acme/*\"] below [sync]; until it is removed, \
                 or a newer version reads it, nothing is exchanged",
            ),
            ("share = [\"*\"]", 1, "did you mean sync.share?"),
            ("sync.deny = [\"a\"]", 1, "\"sync.deny\" is no setting"),
            ("[section_budgets]\nfuture = 3", 2, "future"),
        ] {
            let found = findings(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].line, Some(line), "{text}");
            let shown = found[0].to_string();
            assert!(shown.contains(told), "{text}: {shown}");
        }
    }

    // S-CONFIG-4
    #[test]
    fn a_wrong_type_names_line_key_and_an_example() {
        let mut tables: Vec<String> = Vec::new();
        for setting in Setting::all() {
            let key = setting.key.replace('*', "gotchas");
            let wrong = if setting.form == SettingForm::Number { "\"x\"" } else { "7.5" };
            let (text, line) = match key.split_once('.') {
                Some((table, name)) => {
                    tables.push(table.to_owned());
                    (format!("# mine\n\n[{table}]\n{name} = {wrong}\n"), 4)
                }
                None => (format!("# mine\n\n{key} = {wrong}\n"), 3),
            };
            let fault = Config::parse(&text).unwrap_err();
            assert_eq!((fault.line, &fault.key), (Some(line), &key), "{text}");
            let shown = fault.to_string();
            let example = setting.example_line(&key);
            for told in [&*format!("line {line}: {key} "), setting.allowed, &example] {
                assert!(shown.contains(told), "{text}: {shown}");
            }
            let (line, table) = example.split_once(" below ").unwrap_or((&example, ""));
            let right = Config::parse(&format!("{table}\n{line}\n"));
            assert!(right.is_ok(), "the example is refused: {right:?}");
        }
        tables.dedup();
        for table in tables {
            if table == "embedding" {
                continue; // A text is right there.
            }
            let shown = Config::parse(&format!("\n{table} = 7.5")).unwrap_err().to_string();
            for told in [&*format!("line 2: {table} is of a wrong type"), "for example", "below ["]
            {
                assert!(shown.contains(told), "{shown}");
            }
        }
        let shown = Config::parse("a = 1\nb c = 2\n").unwrap_err().to_string();
        assert!(shown.starts_with("line 2: is no TOML from column 3 on"), "{shown}");
        assert!(
            !shown.contains('\n') && shown.contains("for example memory_mib = 1024"),
            "{shown}"
        );
        let shown = Config::parse("[aliases]\n\"a b\" = \"c\"").unwrap_err().to_string();
        assert!(shown.starts_with("line 2: aliases") && shown.contains("old-name ="), "{shown}");
    }

    #[test]
    fn a_slip_is_one_letter() {
        for (one, other) in [
            ("log", "logs"),
            ("memory_mb", "memory_mib"),
            ("journla", "journal"),
            ("cachs", "cache"),
            ("Memory-MiB", "memory_mib"),
        ] {
            assert!(is_slip(one, other) && is_slip(other, one), "{one} {other}");
        }
        assert!(!is_slip("log", "model") && !is_slip("lgos_", "logs"));
    }
}
