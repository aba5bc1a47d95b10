//! `@path` in a rule file: Claude Code, Gemini and others read the file at this path too. Finds these paths, not in code and never
//! outside the work tree. Not here: reading the files (`followed_imports`).

use std::path::Path;

use super::rule_sources::is_text_name;

/// An `@path` of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtImport {
    /// As it stands in the text, without the `@`.
    pub path: String,
    /// The file from the top of the work tree, or why it is not read.
    pub target: Result<String, String>,
}

/// Finds the imports of a text. What is no path, such as a package `@acme/ui` or a decorator, is none.
pub(super) fn at_imports(top: &Path, file: &str, prose: &[String]) -> Vec<AtImport> {
    let mut imports: Vec<AtImport> = Vec::new();
    for path in prose.iter().flat_map(|line| at_words(line)) {
        if imports.iter().all(|known| known.path != path) {
            imports.extend(at_import(top, file, path));
        }
    }
    imports
}

/// Returns the words of a line that begin with `@`, outside code, without what ends a sentence.
pub(super) fn at_words(line: &str) -> Vec<&str> {
    let words = without_code(line).flat_map(str::split_whitespace);
    let words = words.filter_map(|word| {
        let path = word.trim_start_matches(['(', '[', '*', '_', '"']).strip_prefix('@')?;
        let path = path.trim_end_matches([',', ';', ':', '.', ')', ']', '*', '!', '?', '"']);
        (!path.is_empty()).then_some(path)
    });
    words.collect()
}

/// Returns the parts of a line between its code spans.
fn without_code(line: &str) -> impl Iterator<Item = &str> {
    let is_balanced = line.matches('`').count().is_multiple_of(2);
    let parts = line.split('`').enumerate();
    parts.filter(move |(number, _)| !is_balanced || number.is_multiple_of(2)).map(|(_, part)| part)
}

fn at_import(top: &Path, file: &str, path: &str) -> Option<AtImport> {
    let import = |target| Some(AtImport { path: path.to_owned(), target });
    let refused = |why: &str| import(Err(why.to_owned()));
    if path.starts_with('~') || Path::new(path).is_absolute() {
        return refused("outside the work tree");
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = resolved(folder, path);
    let is_relative = path.starts_with("./") || path.starts_with("../");
    let from_top = resolved("", path).filter(|_| !is_relative);
    let found = [beside.clone(), from_top].into_iter().flatten();
    let found = found
        .filter(|name| !name.is_empty() && !name.starts_with(".git/"))
        .find(|name| top.join(name).symlink_metadata().is_ok());
    match found {
        Some(name) if top.join(&name).is_dir() => None,
        Some(name) if !is_text(&name) => refused("neither Markdown nor plain text"),
        Some(name) => import(Ok(name)),
        None if beside.is_none() => refused("outside the work tree"),
        None if is_relative || is_text_name(path) => refused("there is no such file"),
        None => None,
    }
}

/// A name without an ending is text: README, CONTRIBUTING.
fn is_text(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    is_text_name(name) || !last.trim_start_matches('.').contains('.')
}

/// Joins a path to a folder; `None` where it leads out of the top.
fn resolved(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns a text in which the imports are plain paths, so that no reader of the memory imports them once more.
pub(super) fn without_at(text: &str, imports: &[AtImport]) -> String {
    let mut text = text.to_owned();
    if imports.is_empty() {
        return text;
    }
    for path in at_words(&text.clone()) {
        if imports.iter().any(|import| import.path == path) {
            text = text.replace(&format!("@{path}"), path);
        }
    }
    text
}
