//! The names of settings that somebody types: which setting is meant, and an example of a command that sets it. Not here: reading and
//! changing values (`setting_rows`).

use event::RepoKey;
use guard::secrets::redacted;
use guard::text::{Layout, neutralise};
use requests::ApiError;
use settings::{BRIEFING_SECTIONS, Setting};
use writer::exit::Exit;

/// Returns the setting of a key.
///
/// # Errors
/// [`ApiError::Failed`] names the setting that was probably meant.
pub(crate) fn known_setting(key: &str) -> Result<&'static Setting, ApiError> {
    Setting::named(key).ok_or_else(|| {
        let keys: Vec<&str> = Setting::all().map(|setting| setting.key).collect();
        let near = api::nearest(key, &keys).and_then(Setting::named);
        let meant = near.map_or_else(String::new, |setting| {
            let key = example_key(setting, setting.key);
            format!("; did you mean {key}? For example: {}", example(&key, setting))
        });
        let quoted = event::quoted(key);
        let message =
            format!("{quoted} is no setting{meant}. All settings: agent-knowledge config");
        ApiError::Failed { exit: Exit::Invalid, message }
    })
}

/// Returns a command that sets a key to a value that is allowed.
pub(crate) fn example(key: &str, setting: &Setting) -> String {
    format!("agent-knowledge config set {} {}", example_key(setting, key), setting.example)
}

/// Returns the key that an example sets: the given one, unless its table takes no such name.
fn example_key(setting: &Setting, key: &str) -> String {
    let Some(table) = setting.key.strip_suffix('*') else { return setting.key.to_owned() };
    let is_taken = |name: &&str| match table {
        "section_budgets." => BRIEFING_SECTIONS.contains(name),
        _ => RepoKey::parse(name).is_ok(),
    };
    match key.strip_prefix(table).filter(is_taken) {
        Some(_) => neutralise(&redacted(key), Layout::Line),
        None => setting.usual_key(),
    }
}
