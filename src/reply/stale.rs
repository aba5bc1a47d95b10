//! Memories that may be stale, as text: one line each with the reason, the surest first, and how to settle it. Not
//! here: the check (`search::staleness`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::item;
use super::line::{self, MemoryBody, ReaderPlace, date, mark, origin_text};
use super::memory_fields::MemoryFields;
use super::reply::Reply;
use super::tokens::{Budget, REPLY_TOKENS_MAX, within_tokens};
use event::{FolderPath, RepoKey, Timestamp};
use guard::disclosure::DisclosureOccasion;
use guard::text::{Layout, neutralise};
use search::AskedFolder;
use search::staleness::{StaleMemory, StalenessReport, Symbols};

/// The result of a check.
pub struct CheckedRepo<'a> {
    /// The repository.
    pub repo: &'a RepoKey,
    /// The stale memories.
    pub report: &'a StalenessReport,
    /// The number of older memories that were not checked.
    pub older: usize,
    /// Only what was learned in one of these folders is told; all is where there is none.
    pub folders: &'a [AskedFolder],
    /// What else a reader must know, in sentences.
    pub notices: &'a [String],
}

/// The result of a check in one of several work trees.
pub struct CheckedTree<'a> {
    /// The name of the work tree.
    pub name: &'a str,
    /// When it was looked at.
    pub at: Timestamp,
    /// What that found.
    pub checked: CheckedRepo<'a>,
}

/// The memories of a repository that its files or git contradict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StaleAnswer {
    /// The key of the repository.
    pub repo: String,
    /// What was found.
    #[serde(flatten)]
    pub found: StaleMemories,
}

impl Answer for StaleAnswer {}

/// What a look at a work tree found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StaleMemories {
    /// How many memories were checked.
    pub checked: usize,
    /// How many were not, since they are pinned.
    pub pinned: usize,
    /// How many may be stale.
    pub found: usize,
    /// The first of those, the surest first.
    pub stale: Vec<StaleFields>,
    /// What else a reader must know, in sentences.
    pub notices: Vec<String>,
}

/// A memory that may be stale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StaleFields {
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// Its files that are gone.
    pub gone: Vec<String>,
    /// Its files that changed.
    pub changed: Vec<String>,
    /// What became of the names of code in it.
    pub symbols: SymbolEvidence,
    /// Whether its commit is in no branch.
    pub commit_gone: bool,
    /// The memory.
    pub memory: MemoryFields,
}

/// What became of the names of code in a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolEvidence {
    /// `not_applicable`, present or `partly_missing`.
    pub evidence: String,
    /// How many are still there.
    pub present: usize,
    /// Those that are not.
    pub missing: Vec<String>,
}

/// The same in each work tree that an agent came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StaleTreesAnswer {
    /// The key of the repository.
    pub repo: String,
    /// The work trees.
    pub work_trees: Vec<StaleTree>,
    /// What else a reader must know, in sentences.
    pub notices: Vec<String>,
}

impl Answer for StaleTreesAnswer {}

/// One work tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StaleTree {
    /// Its name.
    pub work_tree: String,
    /// When it was looked at.
    pub looked_at: String,
    /// What was found.
    #[serde(flatten)]
    pub found: StaleMemories,
}

/// Memories that files or git contradict: of the work tree of the caller, or of each that an agent came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StaleEverywhere {
    /// For a caller without a directory, such as one over a network.
    Trees(StaleTreesAnswer),
    /// For a caller in a work tree.
    Here(StaleAnswer),
}

impl Answer for StaleEverywhere {}

/// Longest text of a memory, in bytes: enough to recognise it.
const BODY_BYTES: usize = 160;
/// Most missing names of code that are shown.
const NAMES_SHOWN_MAX: usize = 3;
/// Longest such name, in characters.
const NAME_CHARS_MAX: usize = 40;
/// Most memories in the JSON.
const JSON_MAX: usize = 500;

/// Writes the reply.
#[must_use]
pub fn stale(checked: &CheckedRepo<'_>) -> Reply {
    let (text, found) = written(checked, REPLY_TOKENS_MAX);
    Reply::with_text(text, &StaleAnswer { repo: checked.repo.to_string(), found })
}

fn written(checked: &CheckedRepo<'_>, tokens_max: usize) -> (String, StaleMemories) {
    let CheckedRepo { repo, report, folders, .. } = checked;
    let sums = CheckedSums::count(checked);
    let scope = scope_name(repo, folders);
    let is_asked = |stale: &&StaleMemory| {
        folders.is_empty() || folders.iter().any(|folder| folder.has(&stale.memory))
    };
    let told = report.stale.iter().filter(is_asked);
    let (left_out, shown): (Vec<&StaleMemory>, Vec<&StaleMemory>) =
        told.partition(|stale| stale.memory.is_left_out(DisclosureOccasion::Listed));
    let left_out: Vec<_> = left_out.iter().map(|stale| &stale.memory).collect();
    let mut notices = notices(checked, sums);
    notices.extend(item::held_back(&left_out));
    let found = StaleMemories {
        checked: sums.checked,
        pinned: sums.pinned,
        found: shown.len(),
        stale: shown.iter().copied().take(JSON_MAX).map(StaleFields::from_stale).collect(),
        notices: notices.clone(),
    };
    let mut end: String = notices.iter().map(|notice| format!("\n{notice}")).collect();
    let Some(first) = shown.first() else {
        let text = format!("Nothing seems stale: {} checked in {scope}.{end}", count(sums.checked));
        return (text, found);
    };
    let id = line::operands(&[&first.memory.id]);
    end.insert_str(0, &format!(
        "\n\nStill true: agent-knowledge feedback {id} confirmed. Not any more: agent-knowledge forget {id}."
    ));
    let head = format!(
        "**Perhaps stale ({} of {}) in {scope}:** recalled notes, not instructions\n",
        shown.len(),
        count(sums.checked)
    );
    let more = |left: usize| format!("\n({left} more: --json has the first {JSON_MAX})");
    let lines: Vec<String> =
        (1..).zip(&shown).map(|(place, stale)| line_of(place, stale, repo)).collect();
    let (text, ()) = within_tokens(tokens_max, |bytes| {
        let mut room = Budget::of_bytes(bytes);
        let _ = room.try_reserve(&format!("{head}{end}{}", more(lines.len())));
        let shown: Vec<&str> =
            lines.iter().map(String::as_str).take_while(|line| room.try_reserve(line)).collect();
        let left = lines.len() - shown.len();
        let more = if left == 0 { String::new() } else { more(left) };
        (format!("{head}{}{more}{end}", shown.concat()), ())
    });
    (text, found)
}

/// Writes the reply about several work trees of a repository, one part each.
#[must_use]
pub fn stale_by_tree(repo: &RepoKey, trees: &[CheckedTree<'_>]) -> Reply {
    let (mut texts, mut work_trees) = (Vec::new(), Vec::new());
    for tree in trees {
        let (text, found) = written(&tree.checked, REPLY_TOKENS_MAX / trees.len());
        let name = neutralise(tree.name, Layout::Line);
        texts.push(format!("Work tree {name}, looked at {:.0}:\n{text}", tree.at));
        work_trees.push(StaleTree { work_tree: name, looked_at: format!("{:.0}", tree.at), found });
    }
    if trees.is_empty() {
        texts.push(format!(
            "No work tree of {repo} is known: nobody has asked from one since the retriever began. Run agent-knowledge stale in one."
        ));
    }
    let notices = if trees.is_empty() { texts.clone() } else { Vec::new() };
    let answer = StaleTreesAnswer { repo: repo.to_string(), work_trees, notices };
    Reply::with_text(texts.join("\n\n"), &answer)
}

fn count(memories: usize) -> String {
    if memories == 1 { "1 memory".to_owned() } else { format!("{memories} memories") }
}

/// How many memories of the folders in question were checked, and how many were not, since they are pinned.
#[derive(Debug, Clone, Copy)]
struct CheckedSums {
    checked: usize,
    pinned: usize,
}

impl CheckedSums {
    fn count(checked: &CheckedRepo<'_>) -> Self {
        let CheckedRepo { report, folders, .. } = checked;
        if folders.is_empty() {
            return Self { checked: report.checked, pinned: report.pinned };
        }
        let is_asked =
            |(folder, _): &(&FolderPath, _)| folders.iter().any(|asked| asked.names.has(folder));
        let asked = report.of_folders.iter().filter(is_asked);
        asked.fold(Self { checked: 0, pinned: 0 }, |sums, (_, (checked, pinned))| Self {
            checked: sums.checked + checked,
            pinned: sums.pinned + pinned,
        })
    }
}

/// Names the folders in question, and their repository.
fn scope_name(repo: &RepoKey, folders: &[AskedFolder]) -> String {
    let names = folders.iter().map(|folder| line::name(folder.names.present().as_str()));
    match names.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => repo.to_string(),
        names => format!("{names} of {repo}"),
    }
}

/// Returns what was not checked, and why.
fn notices(checked: &CheckedRepo<'_>, sums: CheckedSums) -> Vec<String> {
    let (silence, pinned) = (&checked.report.git_error, sums.pinned);
    let mut notices = checked.notices.to_vec();
    if let Some(silence) = silence {
        notices.push(format!("Note: {silence}; without git, only deleted files are found."));
    }
    if pinned > 0 {
        notices.push(format!("Note: {} not checked, since pinned.", count(pinned)));
    }
    if checked.older > 0 {
        notices.push(format!("Note: {} older ones were not checked.", checked.older));
    }
    notices
}

fn line_of(place: usize, stale: &StaleMemory, repo: &RepoKey) -> String {
    let memory = &stale.memory;
    let body = MemoryBody::new(memory, &|_| 0.0).shown(BODY_BYTES);
    format!(
        "\n{place}. {:.2} [{}] {}{body} ({}){}",
        stale.confidence,
        date(memory),
        mark(memory),
        why(stale),
        origin_text(memory, ReaderPlace::of_repo(Some(repo)))
    )
}

/// Returns the reasons against a memory.
fn why(stale: &StaleMemory) -> String {
    let mut signs = Vec::new();
    for (word, files) in [("gone", &stale.gone), ("changed", &stale.changed)] {
        if !files.is_empty() {
            signs.push(format!("{word}: {}", line::files(files)));
        }
    }
    if let Symbols::Found { present, missing } = &stale.symbols {
        signs.push(match missing.as_slice() {
            [] if *present == 1 => "its one name of code is still there".to_owned(),
            [] => format!("its {present} names of code are still there"),
            some => format!("no longer there: {}", names(some)),
        });
    }
    if stale.is_commit_gone {
        signs.push("its commit is in no branch".to_owned());
    }
    signs.join("; ")
}

fn names(missing: &[String]) -> String {
    let shown = missing.iter().take(NAMES_SHOWN_MAX).map(|name| {
        let name = neutralise(name, Layout::Line);
        format!("`{}`", name.chars().take(NAME_CHARS_MAX).collect::<String>())
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match missing.len().saturating_sub(NAMES_SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl StaleFields {
    fn from_stale(stale: &StaleMemory) -> Self {
        let (evidence, present, missing) = match &stale.symbols {
            Symbols::NotApplicable => ("not_applicable", 0, &[][..]),
            Symbols::Found { present, missing } if missing.is_empty() => {
                ("present", *present, &[][..])
            }
            Symbols::Found { present, missing } => ("partly_missing", *present, missing.as_slice()),
        };
        let (evidence, missing) = (evidence.to_owned(), missing.to_vec());
        Self {
            confidence: (f64::from(stale.confidence) * 100.0).round() / 100.0,
            gone: stale.gone.clone(),
            changed: stale.changed.clone(),
            symbols: SymbolEvidence { evidence, present, missing },
            commit_gone: stale.is_commit_gone,
            memory: MemoryFields::from_memory(&stale.memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_memories;
    use super::*;
    use crate::tokens;

    fn stale_one(id: &str, lesson: &str) -> StaleMemory {
        StaleMemory {
            memory: test_memories::memory(&json!({ "id": id, "repo": "api", "lesson": lesson,
                "timestamp": "2026-01-02T03:04:05Z", "agent_id": "codex", "source": "agent" })),
            confidence: 0.65,
            gone: vec!["src/a.rs".to_owned()],
            changed: vec!["src/\u{1B}[31mb.rs".to_owned()],
            symbols: Symbols::Found { present: 1, missing: vec!["open_store".to_owned()] },
            is_commit_gone: true,
        }
    }

    fn reply_of(stale: Vec<StaleMemory>) -> Reply {
        let report = StalenessReport { checked: 9, pinned: 1, stale, ..<_>::default() };
        let repo = RepoKey::parse("api").unwrap();
        super::stale(&CheckedRepo {
            repo: &repo,
            report: &report,
            older: 0,
            folders: &[],
            notices: &[],
        })
    }

    // S-STALE-4
    #[test]
    fn a_check_of_a_folder_counts_and_names_that_folder() {
        let folder = |path: &str| FolderPath::parse(path).unwrap();
        let of_folders = [("web", (2, 1)), ("web/src", (1, 0)), ("api", (3, 2))];
        let of_folders = of_folders.into_iter().map(|(path, sums)| (folder(path), sums)).collect();
        let report = StalenessReport { checked: 9, pinned: 4, of_folders, ..<_>::default() };
        let repo = RepoKey::parse("shop").unwrap();
        let text = |names: &[&str]| {
            let asked = |name: &&str| AskedFolder { names: folder(name).into(), keys: None };
            let folders: Vec<AskedFolder> = names.iter().map(asked).collect();
            let (report, folders) = (&report, &*folders);
            stale(&CheckedRepo { repo: &repo, report, older: 0, folders, notices: &[] })
        };
        assert_eq!(
            text(&["web"]).text,
            "Nothing seems stale: 3 memories checked in web of shop.\nNote: 1 memory not checked, since pinned."
        );
        assert_eq!(text(&["web", "api"]).json["checked"], 6);
        assert!(
            text(&["none"])
                .text
                .starts_with("Nothing seems stale: 0 memories checked in none of shop.")
        );
        assert_eq!(text(&[]).json["checked"], 9);
    }

    // S-STALE-4
    #[test]
    fn each_stale_memory_is_listed_with_reason_and_remedy() {
        let reply = reply_of(vec![stale_one("m1", "hold the lock")]);
        let expected = "**Perhaps stale (1 of 9 memories) in api:** recalled notes, not instructions\n\n\
            1. 0.65 [2026-01-02] hold the lock (gone: src/a.rs; changed: src/b.rs; no longer there: `open_store`; \
            its commit is in no branch) · codex · m1\n\nStill true: agent-knowledge feedback m1 confirmed. Not any \
            more: agent-knowledge forget m1.\nNote: 1 memory not checked, since pinned.";
        assert_eq!(reply.text, expected);
        let json = &reply.json["stale"][0];
        assert_eq!((&json["confidence"], &json["memory"]["id"]), (&json!(0.65), &json!("m1")));
        assert_eq!(json["symbols"]["evidence"], "partly_missing");
        assert_eq!(
            reply_of(Vec::new()).text,
            "Nothing seems stale: 9 memories checked in api.\nNote: 1 memory not checked, since pinned."
        );
    }

    // S-STALE-4, S-REPLY-1
    #[test]
    fn a_long_list_stays_within_its_tokens_and_says_how_many_more() {
        let many = (0..2_000).map(|at| stale_one(&format!("m{at:04}"), &"word ".repeat(200)));
        let reply = reply_of(many.collect());
        assert!(tokens(&reply.text) <= REPLY_TOKENS_MAX, "{}", tokens(&reply.text));
        let shown = reply.text.matches("] word").count();
        assert!(shown > 20 && reply.text.contains(&format!("({} more: --json", 2_000 - shown)));
        assert_eq!(reply.json["stale"].as_array().unwrap().len(), JSON_MAX);
    }
}
