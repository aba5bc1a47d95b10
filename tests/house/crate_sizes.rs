//! No crate is larger than a stranger can learn, and than compiles while its author waits. Not here: how long a file may be
//! (`main`).

use std::collections::BTreeMap;

use super::{Source, assert_none, sources};

/// Past this a crate has more than one subject. Lines of code; its tests not counted.
const CRATE_LINES_MAX: usize = 9_000;

/// Tells whether a file holds nothing but tests.
fn is_of_tests(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

/// Counts the lines of a file before the block of its tests, without blank ones and comments.
fn code_lines(source: &Source) -> usize {
    let code = source.code();
    let mut lines = code.lines().filter(|line| !line.trim().is_empty()).peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        // A file of tests is declared in one line; what follows is code.
        if line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.ends_with('{')) {
            break;
        }
        count += 1;
    }
    count
}

/// The crates that have too many lines of code.
fn too_large(sources: &[Source]) -> Vec<String> {
    let mut sizes = BTreeMap::<&str, usize>::new();
    for source in sources.iter().filter(|source| !is_of_tests(&source.path)) {
        let room = source.path.split('/').next().unwrap_or_default();
        *sizes.entry(room).or_default() += code_lines(source);
    }
    let large = sizes.into_iter().filter(|(_, lines)| *lines > CRATE_LINES_MAX);
    large.map(|(room, lines)| format!("{room} has {lines} lines of code")).collect()
}

#[test]
fn no_crate_is_too_large() {
    assert_none(&too_large(&sources()));
}

#[test]
fn a_crate_that_is_too_large_is_found() {
    let lines = |count: usize| "let x = 1;\n".repeat(count);
    let head = "//! For this.\n\n    // Why.\n#[cfg(test)]\nmod laws;\n";
    let full = format!("{head}{}", lines(CRATE_LINES_MAX - 2));
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(10));
    let found = |files: &[(&str, &str)]| {
        too_large(&files.iter().map(|(path, text)| Source::of(path, text)).collect::<Vec<_>>())
    };
    assert!(found(&[("a/lib.rs", &format!("{full}{tests}"))]).is_empty());
    let more = [("a/lib.rs", full.as_str()), ("a/b/c.rs", "fn f() {}\n")];
    assert_eq!(found(&more), ["a has 9001 lines of code"]);
    for path in ["a/tests/c.rs", "a/tests.rs", "a/b/c_tests.rs", "b/c.rs"] {
        assert!(found(&[("a/lib.rs", &full), (path, "fn f() {}\n")]).is_empty(), "{path}");
    }
}
