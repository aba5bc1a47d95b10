//! Whether a change to YAML is the one that was meant, by a parser: the text is read before and after, and all but our
//! entry must have the same value. Not here: the change (`yaml`).

use yaml_rust2::yaml::Hash;
use yaml_rust2::{Yaml, YamlLoader};

use super::{EditError, YamlBlock};

/// Refuses a text that is not YAML, has another top than names and values, or holds something else under the key than
/// the client reads there.
///
/// # Errors
/// [`EditError`] with the line, if the parser names one.
pub(super) fn check(text: &str, block: YamlBlock<'_>) -> Result<(), EditError> {
    let top = top_members(text)?;
    let (wanted, is_wanted) = match (top.get(&name(block.key)), block.is_list) {
        (None | Some(Yaml::Null), _) => return Ok(()),
        (Some(Yaml::Array(found)), false) => ("names and values, each on a line", found.is_empty()),
        (Some(Yaml::Hash(found)), true) => ("a list of entries with `- name:`", found.is_empty()),
        (Some(Yaml::Array(_)), true) | (Some(Yaml::Hash(_)), false) => return Ok(()),
        (Some(_), true) => ("a list of entries with `- name:`", false),
        (Some(_), false) => ("names and values, each on a line", false),
    };
    if is_wanted {
        return Ok(());
    }
    let line =
        text.lines().position(|line| line.trim_start_matches('\u{FEFF}').starts_with(block.key));
    Err(EditError {
        line: line.unwrap_or(0) + 1,
        column: 1,
        why: format!("{} must hold {wanted}", block.key),
    })
}

/// Refuses a change after which anything but our entry has another value.
///
/// # Errors
/// [`EditError`] at the first line that differs.
pub(super) fn check_change(
    before: &str,
    after: &str,
    block: YamlBlock<'_>,
) -> Result<(), EditError> {
    let others = |text: &str| top_members(text).map(|top| without_our_entry(top, block));
    let was = others(before)?;
    let line = before.lines().zip(after.lines()).take_while(|(old, new)| old == new).count();
    let changed = EditError {
        line: line + 1,
        column: 1,
        why: "this file cannot be changed safely; add the entry by hand".to_owned(),
    };
    if others(after).is_ok_and(|is| is == was) { Ok(()) } else { Err(changed) }
}

/// Returns the names and values at the top of a text.
fn top_members(text: &str) -> Result<Hash, EditError> {
    let text = text.trim_start_matches('\u{FEFF}');
    let documents = YamlLoader::load_from_str(text).map_err(|error| EditError {
        line: error.marker().line(),
        column: error.marker().col() + 1,
        why: error.info().to_owned(),
    })?;
    let wrong = |why: &str| EditError { line: 1, column: 1, why: why.to_owned() };
    match <[Yaml; 1]>::try_from(documents) {
        Ok([Yaml::Hash(top)]) => Ok(top),
        Ok([Yaml::Null]) => Ok(Hash::new()),
        Ok(_) => Err(wrong("the file must hold names and values, for example `model: x`")),
        Err(documents) if documents.is_empty() => Ok(Hash::new()),
        Err(_) => Err(wrong("the file contains several documents")),
    }
}

/// Removes our entry, and then the key if nothing is left below it.
fn without_our_entry(mut top: Hash, block: YamlBlock<'_>) -> Hash {
    let is_ours = |value: &Yaml| value["name"].as_str() == Some(block.name);
    let is_empty = match top.get_mut(&name(block.key)) {
        Some(Yaml::Hash(children)) => {
            children.remove(&name(block.name));
            children.is_empty()
        }
        Some(Yaml::Array(children)) => {
            children.retain(|child| !is_ours(child));
            children.is_empty()
        }
        Some(other) => other.is_null(),
        None => false,
    };
    if is_empty {
        top.remove(&name(block.key));
    }
    top
}

fn name(text: &str) -> Yaml {
    Yaml::String(text.to_owned())
}
