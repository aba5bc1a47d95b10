//! The summary of a session as one event: what failed and was fixed, what still fails, which files were changed. It
//! is short, since the lessons are memories of their own. Not here: when it is saved (`fix_detection`).

use std::path::Path;

use super::recall::SESSION;
use super::session::SessionState;
use event::Draft;
use guard::secrets::RedactedText;
use guard::text::{Layout, neutralise};
use learning::command_effects::is_path;
use place::{FileViewpoint, Machine, PlaceStrength, place_by_files};

/// Most goals, and most files, that are named. Of more, the number is given.
const NAMED_MAX: usize = 8;

/// Longest name that is given in full, in bytes. A longer goal is a script.
const NAME_BYTES_MAX: usize = 80;

/// Characters that a shell expands or removes.
const SIGNS_OF_SHELL: [char; 6] = ['$', '*', '=', '"', '\'', '`'];

/// Returns the summary of a session in a directory, or nothing if there is nothing to report. A failure is reported
/// as open only if the session changed files: otherwise somebody only looked. Checks on the disk whether files with
/// special characters in their names exist.
#[must_use]
pub fn summary_draft(seen: &SessionState, directory: Option<&Path>) -> Option<Draft> {
    let edited = edited_files(seen, directory);
    let files: Vec<String> = edited.iter().map(|file| file.from_top.clone()).collect();
    let fixed = distinct(seen.fixed_goals.iter());
    let failed = seen.failures.iter().map(|failure| &failure.goal);
    let open = distinct(failed.filter(|goal| !seen.doubted_goals.contains(*goal)));
    let has_open_failure = !open.is_empty() && !files.is_empty();
    if fixed.is_empty() && seen.lesson_keys.is_empty() && !has_open_failure {
        return None;
    }
    let parts = [
        sentence("Failed and then fixed: ", &fixed),
        sentence("Still failing: ", &open),
        match seen.lesson_keys.len() {
            0 => String::new(),
            1 => "One lesson was saved.".to_owned(),
            lessons => format!("{lessons} lessons were saved."),
        },
        sentence("Changed files: ", &files),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Some(Draft {
        event_type: Some(SESSION.to_owned()),
        lesson: Some(parts.join(" ")),
        tags: vec![SESSION.to_owned()],
        files: edited.into_iter().take(NAMED_MAX).map(|file| file.for_writer).collect(),
        ..Draft::default()
    })
}

/// A file that the session changed.
struct EditedFile {
    /// Its path from the top of the work tree on.
    from_top: String,
    /// A path that a writer in the session's directory takes for the same file.
    for_writer: String,
}

/// Returns the changed files of the work tree. Files elsewhere are no part of the work there.
fn edited_files(seen: &SessionState, directory: Option<&Path>) -> Vec<EditedFile> {
    // The repository does not matter here, only the top of its work tree.
    let machine = Machine::default();
    let place = directory.map(|directory| place_by_files(directory, &machine));
    let place = place.filter(|place| place.strength() >= PlaceStrength::Project);
    let top = place.as_ref().map(|place| place.top.as_path()).or(directory);
    let common_dir = place.as_ref().and_then(|place| Some(place.git()?.common_dir.as_path()));
    let viewpoint = FileViewpoint { top, common_dir, directory, home: None };
    let edited = |file: &RedactedText| {
        let kept = viewpoint.kept_path(file).text;
        let kept = kept.strip_prefix("./").unwrap_or(&kept);
        if kept.is_empty() || kept == "." || Path::new(kept).has_root() || kept.starts_with("~/") {
            return None;
        }
        let from_top = neutralise(kept, Layout::Line);
        let is_same = viewpoint.kept_path(&from_top).text == from_top;
        let whole =
            top.filter(|_| !is_same).and_then(|top| top.join(kept).to_str().map(str::to_owned));
        Some(EditedFile { for_writer: whole.unwrap_or_else(|| from_top.clone()), from_top })
    };
    let mut files: Vec<EditedFile> = Vec::new();
    let named = seen.changed_files.iter().filter(|file| is_file(file, directory));
    for file in named.filter_map(edited) {
        if files.iter().all(|other| other.from_top != file.from_top) {
            files.push(file);
        }
    }
    files
}

/// Tells whether a change names one file. A word of a command line need not: a shell may expand it, and the directory
/// from which `..` leads is unknown. A name with a special character counts only if a file of that name exists, such
/// as `routes/$id.tsx`.
fn is_file(changed: &str, directory: Option<&Path>) -> bool {
    let is_there = || directory.is_some_and(|directory| directory.join(changed).is_file());
    is_path(changed)
        && !changed.split(['/', '\\']).any(|part| part == "..")
        && (!changed.starts_with('~') && !changed.contains(SIGNS_OF_SHELL) || is_there())
}

/// Returns each item once, in order, as one line.
fn distinct<T: AsRef<str>>(all: impl Iterator<Item = T>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in all {
        let text = neutralise(text.as_ref(), Layout::Line);
        if !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}

fn sentence(head: &str, names: &[String]) -> String {
    let shown = |name: &String| match name.floor_char_boundary(NAME_BYTES_MAX) {
        end if end < name.len() => format!("{}...", name.get(..end).unwrap_or_default()),
        _ => name.clone(),
    };
    let named: Vec<String> = names.iter().take(NAMED_MAX).map(shown).collect();
    match names.len().saturating_sub(NAMED_MAX) {
        _ if named.is_empty() => String::new(),
        0 => format!("{head}{}.", named.join(", ")),
        more => format!("{head}{} and {more} more.", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use learning::command_failure::{CommandFailure, SessionStep};

    use super::super::session_entry::SessionEntry;
    use super::*;

    fn failed_entry(goal: &str) -> SessionEntry {
        SessionEntry::Failed(CommandFailure {
            at: 0,
            command: goal.into(),
            goal: goal.into(),
            excerpt: "error: no".into(),
            words: "error no".into(),
            fingerprint: 0,
            since: Vec::new(),
        })
    }

    fn changed_entry(file: &str) -> SessionEntry {
        SessionEntry::Step(SessionStep::Changed(file.into()))
    }

    fn summary_of(entries: impl IntoIterator<Item = SessionEntry>) -> Option<Draft> {
        let mut state = SessionState::default();
        entries.into_iter().for_each(|entry| state.apply(entry));
        summary_draft(&state, Some(Path::new("/w/api")))
    }

    // S-HOOK-13
    #[test]
    fn files_failures_and_fixes_are_summarised() {
        let entries = [
            failed_entry("npm install"),
            failed_entry("cargo test"),
            changed_entry("/w/api/src/a.rs"),
            changed_entry("./Makefile"),
            changed_entry("src/a.rs"),
            changed_entry("/tmp/x.log"),
            changed_entry("../web/b.ts"),
            // Some command lines reveal only the program.
            changed_entry("cargo"),
            SessionEntry::Fixed("npm install".into()),
            SessionEntry::Learnt("k".to_owned()),
        ];
        let draft = summary_of(entries).unwrap();
        assert_eq!(
            draft.lesson.as_deref(),
            Some(
                "Failed and then fixed: npm install. Still failing: cargo test. One lesson was saved. Changed files: src/a.rs, Makefile."
            )
        );
        assert_eq!(draft.files, ["src/a.rs", "Makefile"]);
        assert!(draft.event_type.as_deref() == Some(SESSION) && draft.tags == [SESSION]);
    }

    // S-HOOK-13
    #[test]
    fn only_files_of_the_directory_are_named() {
        for no_file in [
            "~/.bashrc",
            "~",
            "$OUT/x.json",
            "/w/api/${OUT}/x.json",
            "src/*.rs",
            "\"src/my",
            "file.rs'",
            "`pwd`/a.rs",
            "of=y.img",
            "src/../../web/b.ts",
            "/w/api/../web/b.ts",
            "..",
            r"..\web\b.ts",
            ".",
        ] {
            assert_eq!(
                summary_of([failed_entry("cargo test"), changed_entry(no_file)]),
                None,
                "{no_file}"
            );
        }
        for file in ["a..b.rs", ".env", "src/a~.rs", "src/a b.rs", "docs/[id].tsx"] {
            assert_eq!(
                summary_of([failed_entry("cargo test"), changed_entry(file)]).unwrap().files,
                [file]
            );
        }
    }

    // S-HOOK-13, S-PATH-1
    #[test]
    fn files_of_a_session_are_named_from_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let package = top.join("packages/web");
        for file in ["packages/web/src/cart.ts", "src/cart.ts", "Makefile"] {
            std::fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            std::fs::write(top.join(file), "").unwrap();
        }
        std::fs::create_dir(top.join(".git")).unwrap();
        let mut state = SessionState::default();
        state.apply(failed_entry("npm test"));
        let absolute = |file: &str| top.join(file).to_str().unwrap().to_owned();
        for file in ["src/cart.ts".to_owned(), absolute("src/cart.ts"), absolute("Makefile")] {
            state.apply(changed_entry(&file));
        }
        let draft = summary_draft(&state, Some(&package)).unwrap();
        let lesson = draft.lesson.unwrap();
        let named = "Changed files: packages/web/src/cart.ts, src/cart.ts, Makefile.";
        assert!(lesson.ends_with(named), "{lesson}");
        // The writer stands in the package.
        let expected = ["packages/web/src/cart.ts", &absolute("src/cart.ts"), "Makefile"];
        assert_eq!(draft.files, expected);
    }

    // S-HOOK-13
    #[test]
    fn an_existing_file_may_have_any_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("$id.tsx"), "").unwrap();
        let mut state = SessionState::default();
        for entry in
            [failed_entry("npm test"), changed_entry("./$id.tsx"), changed_entry("./$slug.tsx")]
        {
            state.apply(entry);
        }
        let draft = summary_draft(&state, Some(folder.path())).unwrap();
        assert_eq!(draft.files, ["$id.tsx"]);
    }

    // S-HOOK-13
    #[test]
    fn the_last_run_of_a_goal_decides() {
        let (fails, works, unknown) = (
            || failed_entry("cargo test"),
            || SessionEntry::Fixed("cargo test".into()),
            || SessionEntry::Doubted("cargo test".into()),
        );
        let (open, fixed) =
            (Some("Still failing: cargo test."), Some("Failed and then fixed: cargo test."));
        for (runs, expected) in [
            (vec![fails(), works()], fixed),
            (vec![fails(), works(), fails()], open),
            (vec![fails(), works(), fails(), works()], fixed),
            (vec![fails(), unknown()], None),
            (vec![fails(), unknown(), fails()], open),
            (vec![fails(), unknown(), works()], fixed),
            (vec![fails(), works(), unknown()], None),
        ] {
            let draft = summary_of(runs.into_iter().chain([changed_entry("src/a.rs")]));
            let lesson = draft.and_then(|draft| draft.lesson);
            let expected = expected.map(|expected| format!("{expected} Changed files: src/a.rs."));
            assert_eq!(lesson, expected);
        }
    }

    // S-HOOK-13
    #[test]
    fn an_uneventful_session_has_no_summary() {
        assert_eq!(summary_of([]), None);
        assert_eq!(summary_of([changed_entry("src/a.rs")]), None, "work like any other");
        assert_eq!(summary_of([failed_entry("cargo test")]), None, "somebody looked, and went");
        assert_eq!(
            summary_of([failed_entry("cargo test"), changed_entry("/elsewhere/a.rs")]),
            None
        );
        assert!(summary_of([failed_entry("cargo test"), changed_entry("src/a.rs")]).is_some());
    }

    // S-HOOK-13
    #[test]
    fn a_summary_stays_short() {
        let many = (0..60).flat_map(|number| {
            let file = format!("src/{number}/{}.rs", "é".repeat(90));
            [failed_entry(&format!("{number} {}", "é".repeat(90))), changed_entry(&file)]
        });
        let draft = summary_of(many).unwrap();
        let lesson = draft.lesson.unwrap();
        assert!(lesson.len() < 2_000 && lesson.contains("and 8 more"), "{lesson}");
        assert_eq!(draft.files.len(), NAMED_MAX);
    }
}
