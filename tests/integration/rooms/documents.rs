//! The documents: that a link in one leads somewhere. Not here: what they say, and whether each promise is cited (`rooms`).

use std::collections::BTreeSet;
use std::path::Path;

use super::{assert_none, root};
use crate::world::bytes_under;

/// What SPEC.md and the files of `docs/promises` promise, as one text.
pub(super) fn promises() -> String {
    let rooms = bytes_under(&root().join("docs/promises"));
    assert!(!rooms.is_empty(), "docs/promises is missing");
    let rooms = rooms.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    std::iter::once(document("SPEC.md")).chain(rooms).collect::<Vec<_>>().join("\n")
}

fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|_| panic!("{name} is missing"))
}

/// The documents in Markdown, by their paths below the root. Fixtures are the documents of others.
fn markdown() -> Vec<(String, String)> {
    let top = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let top = top.filter(|path| path.is_file());
    let top = top.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let folders = ["assets", "benches", "docs", "packages"];
    let below = folders.iter().flat_map(|folder| {
        let names = bytes_under(&root().join(folder)).into_keys();
        names.map(move |name| format!("{folder}/{}", name.to_str().unwrap().replace('\\', "/")))
    });
    let names = top.chain(below).filter(|name| name.ends_with(".md"));
    names.map(|name| (name.clone(), document(&name))).collect()
}

/// The targets of the links in a text that name no other server. Code has no links.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2));
    let targets = prose.flat_map(|part| part.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

/// The names by which a link reaches the headings of a text.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The links of a document that lead nowhere.
fn broken_links(folder: &Path, name: &str, text: &str) -> Vec<String> {
    let leads = |target: &&str| {
        let (path, heading) = target.split_once('#').unwrap_or((target, ""));
        let place = if path.is_empty() { folder.join(name) } else { folder.join(path) };
        let has_heading =
            || std::fs::read_to_string(&place).is_ok_and(|text| anchors(&text).contains(heading));
        place.exists() && (heading.is_empty() || has_heading())
    };
    let broken = links(text).into_iter().filter(|target| !leads(target));
    broken.map(|target| format!("{name} links to {target}, which is not there")).collect()
}

#[test]
fn every_link_in_a_document_leads_somewhere() {
    let broken = markdown().into_iter().flat_map(|(path, text)| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        broken_links(&root().join(folder), name, &text)
    });
    assert_none(&broken.collect::<Vec<_>>());
}

mod each_rule_can_fail {
    use super::*;

    #[test]
    fn the_links() {
        let text = "[a](a.md#b) `[c](c.md)`\n```\n[d](d.md)\n```\n![e](images/e.png) [f](https://f.example)";
        assert_eq!(links(text), ["a.md#b", "images/e.png"]);
        assert_eq!(anchor("Leave out, and `forget`"), "leave-out-and-forget");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.md"), "# One heading\n").unwrap();
        let broken = |text: &str| broken_links(folder.path(), "a.md", text).len();
        assert_eq!(broken("[here](a.md) [there](a.md#one-heading) [in here](#one-heading)"), 0);
        assert_eq!(broken("[gone](b.md) [no heading](a.md#two) [none here](#two)"), 3);
    }
}
