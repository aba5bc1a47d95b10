//! The documents: how long each may be, that a link in one leads somewhere, and that of reports of one kind only the
//! newest stays. A stranger reads the first pages whole, or not at all. Not here: what they say, and whether each promise is cited (`main`).

use std::collections::BTreeSet;
use std::path::Path;

use super::{assert_none, bytes_under, root};

/// The most words of a document.
const WORDS_MAX: &[(&str, usize)] =
    &[("README.md", 900), ("ARCHITECTURE.md", 1_500), ("SPEC.md", 6_000)];

/// The most lines of one release in CHANGELOG.md, blank ones not counted.
const RELEASE_LINES_MAX: usize = 40;

/// The longest line of CHANGELOG.md in characters: one change as its user sees it.
const CHANGE_CHARS_MAX: usize = 240;

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

/// A complaint about a text that has more words than it may.
fn too_many_words(name: &str, text: &str, words_max: usize) -> Option<String> {
    let words = text.split_whitespace().count();
    (words > words_max).then(|| format!("{name} has {words} words; {words_max} are allowed"))
}

/// Complaints about releases with too many lines, and about lines that are too long.
fn wordy_releases(changelog: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for release in changelog.split("\n## ").skip(1) {
        let name = release.lines().next().unwrap_or_default();
        let lines = release.lines().skip(1).filter(|line| !line.trim().is_empty()).count();
        if lines > RELEASE_LINES_MAX {
            wrong.push(format!("{name} has {lines} lines; {RELEASE_LINES_MAX} are allowed"));
        }
        let long = release.lines().filter(|line| line.chars().count() > CHANGE_CHARS_MAX);
        wrong.extend(long.map(|line| format!("too long: {line}")));
    }
    wrong
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

/// Reports that a newer one of their kind replaces, and those that the index does not name. A name is
/// `YYYY-MM-DD-KIND.md`.
fn stray_reports(names: &[&str], index: &str) -> Vec<String> {
    let kind = |name: &str| name.splitn(4, '-').nth(3).map(str::to_owned);
    let is_old = |name: &&str| {
        names.iter().any(|other| other > name && kind(other) == kind(name) && kind(name).is_some())
    };
    let old = names.iter().filter(|name| is_old(name));
    let old = old.map(|name| format!("{name} is older than another report of its kind"));
    let unnamed = names.iter().filter(|name| !index.contains(&format!("]({name})")));
    old.chain(unnamed.map(|name| format!("{name} is not in the index of reports"))).collect()
}

#[test]
fn the_first_documents_stay_short() {
    let long = WORDS_MAX
        .iter()
        .filter_map(|(name, words_max)| too_many_words(name, &document(name), *words_max));
    assert_none(&long.chain(wordy_releases(&document("CHANGELOG.md"))).collect::<Vec<_>>());
}

#[test]
fn every_link_in_a_document_leads_somewhere() {
    let broken = markdown().into_iter().flat_map(|(path, text)| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        broken_links(&root().join(folder), name, &text)
    });
    assert_none(&broken.collect::<Vec<_>>());
}

#[test]
fn only_the_newest_report_of_a_kind_stays() {
    let names: Vec<_> = bytes_under(&root().join("benches/runs")).into_keys().collect();
    let names = names.iter().filter_map(|name| name.to_str());
    let names: Vec<&str> = names.filter(|name| *name != "README.md").collect();
    assert!(!names.is_empty(), "the reports were not found");
    assert_none(&stray_reports(&names, &document("benches/runs/README.md")));
}

mod each_rule_can_fail {
    use super::*;

    #[test]
    fn the_words() {
        let wrong = |text: &str| too_many_words("README.md", text, 3);
        assert_eq!(wrong("# One\n\ntwo\n"), None);
        assert_eq!(wrong("# One two three").unwrap(), "README.md has 4 words; 3 are allowed");
    }

    #[test]
    fn the_releases() {
        let release =
            |name: &str, lines: usize| format!("\n## {name}\n\n{}", "- x\n".repeat(lines));
        let good = format!("# Changes\n{}{}", release("0.2.0", 40), release("0.1.0", 40));
        assert_eq!(wordy_releases(&good), Vec::<String>::new());
        let bad = format!("# Changes\n{}{}", release("0.2.0", 40), release("0.1.0", 41));
        assert_eq!(wordy_releases(&bad), ["0.1.0 has 41 lines; 40 are allowed"]);
        let long = format!("# Changes\n\n## 0.1.0\n\n- {}\n", "x".repeat(CHANGE_CHARS_MAX));
        assert_eq!(wordy_releases(&long).len(), 1);
    }

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

    #[test]
    fn the_reports() {
        let index = "[a](2026-01-01-a.md) [a](2026-01-02-a.md) [a b](2026-01-01-a-b.md)";
        assert_eq!(stray_reports(&["2026-01-02-a.md", "2026-01-01-a-b.md"], index), [""; 0]);
        let wrong =
            stray_reports(&["2026-01-01-a.md", "2026-01-02-a.md", "2026-01-03-c.md"], index);
        let expected = ["2026-01-01-a.md is older", "2026-01-03-c.md is not in the index"];
        assert!(
            wrong.len() == 2 && expected.iter().zip(&wrong).all(|(a, b)| b.starts_with(a)),
            "{wrong:?}"
        );
    }
}
