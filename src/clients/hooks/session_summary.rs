//! The summary of a session as one event: what failed and was fixed, what still fails, which files were changed. It
//! is short, since the lessons are memories of their own. Not here: when it is saved (`fix_detection`).

use std::path::Path;

use super::recall::SESSION;
use super::session::SessionState;
use event::Draft;
use guard::secrets::RedactedText;
use guard::text::{Layout, neutralise};
use learning::command_effects::is_path;

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
    let files = files(seen, directory);
    let mended = distinct(seen.fixed_goals.iter());
    let failed = seen.failures.iter().map(|failure| &failure.goal);
    let open = distinct(failed.filter(|goal| !seen.doubted_goals.contains(*goal)));
    let is_left_to_mend = !open.is_empty() && !files.is_empty();
    if mended.is_empty() && seen.lesson_keys.is_empty() && !is_left_to_mend {
        return None;
    }
    let parts = [
        sentence("Failed and then fixed: ", &mended),
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
        files: files.into_iter().take(NAMED_MAX).collect(),
        ..Draft::default()
    })
}

/// Returns the changed files as paths from the directory on. Files elsewhere are no part of the work there.
fn files(seen: &SessionState, directory: Option<&Path>) -> Vec<String> {
    let from_there = |file: &RedactedText| {
        let path = Path::new(file.as_str());
        let path = match directory {
            Some(directory) if path.is_absolute() => path.strip_prefix(directory).ok()?,
            _ if path.is_absolute() => return None,
            _ => path.strip_prefix(".").unwrap_or(path),
        };
        Some(path.to_str()?.replace('\\', "/")).filter(|file| !file.is_empty())
    };
    let there: Vec<String> = seen
        .changed_files
        .iter()
        .filter(|file| is_file(file, directory))
        .filter_map(from_there)
        .collect();
    distinct(there.iter())
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
    for one in all {
        let one = neutralise(one.as_ref(), Layout::Line);
        if !kept.contains(&one) {
            kept.push(one);
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

    use super::super::session::SessionEntry;
    use super::*;

    fn failed(goal: &str) -> SessionEntry {
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

    fn changed(file: &str) -> SessionEntry {
        SessionEntry::Did(SessionStep::Changed(file.into()))
    }

    fn summary_of(entries: impl IntoIterator<Item = SessionEntry>) -> Option<Draft> {
        let mut seen = SessionState::default();
        entries.into_iter().for_each(|entry| seen.apply(entry));
        summary_draft(&seen, Some(Path::new("/w/api")))
    }

    // S-HOOK-13
    #[test]
    fn files_failures_and_fixes_are_summarised() {
        let entries = [
            failed("npm install"),
            failed("cargo test"),
            changed("/w/api/src/a.rs"),
            changed("./Makefile"),
            changed("src/a.rs"),
            changed("/tmp/x.log"),
            changed("../web/b.ts"),
            // Some command lines reveal only the program.
            changed("cargo"),
            SessionEntry::Mended("npm install".into()),
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
            assert_eq!(summary_of([failed("cargo test"), changed(no_file)]), None, "{no_file}");
        }
        for file in ["a..b.rs", ".env", "src/a~.rs", "src/a b.rs", "docs/[id].tsx"] {
            assert_eq!(summary_of([failed("cargo test"), changed(file)]).unwrap().files, [file]);
        }
    }

    // S-HOOK-13
    #[test]
    fn an_existing_file_may_have_any_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("$id.tsx"), "").unwrap();
        let mut seen = SessionState::default();
        for entry in [failed("npm test"), changed("./$id.tsx"), changed("./$slug.tsx")] {
            seen.apply(entry);
        }
        let draft = summary_draft(&seen, Some(folder.path())).unwrap();
        assert_eq!(draft.files, ["$id.tsx"]);
    }

    // S-HOOK-13
    #[test]
    fn the_last_run_of_a_goal_decides() {
        let (fails, works, unknown) = (
            || failed("cargo test"),
            || SessionEntry::Mended("cargo test".into()),
            || SessionEntry::Doubted("cargo test".into()),
        );
        let (open, mended) =
            (Some("Still failing: cargo test."), Some("Failed and then fixed: cargo test."));
        for (runs, expected) in [
            (vec![fails(), works()], mended),
            (vec![fails(), works(), fails()], open),
            (vec![fails(), works(), fails(), works()], mended),
            (vec![fails(), unknown()], None),
            (vec![fails(), unknown(), fails()], open),
            (vec![fails(), unknown(), works()], mended),
            (vec![fails(), works(), unknown()], None),
        ] {
            let draft = summary_of(runs.into_iter().chain([changed("src/a.rs")]));
            let lesson = draft.and_then(|draft| draft.lesson);
            let expected = expected.map(|expected| format!("{expected} Changed files: src/a.rs."));
            assert_eq!(lesson, expected);
        }
    }

    // S-HOOK-13
    #[test]
    fn an_uneventful_session_has_no_summary() {
        assert_eq!(summary_of([]), None);
        assert_eq!(summary_of([changed("src/a.rs")]), None, "work like any other");
        assert_eq!(summary_of([failed("cargo test")]), None, "somebody looked, and went");
        assert_eq!(summary_of([failed("cargo test"), changed("/elsewhere/a.rs")]), None);
        assert!(summary_of([failed("cargo test"), changed("src/a.rs")]).is_some());
    }

    // S-HOOK-13
    #[test]
    fn a_summary_stays_short() {
        let many = (0..60).flat_map(|number| {
            let file = format!("src/{number}/{}.rs", "é".repeat(90));
            [failed(&format!("{number} {}", "é".repeat(90))), changed(&file)]
        });
        let draft = summary_of(many).unwrap();
        let lesson = draft.lesson.unwrap();
        assert!(lesson.len() < 2_000 && lesson.contains("and 8 more"), "{lesson}");
        assert_eq!(draft.files.len(), NAMED_MAX);
    }
}
