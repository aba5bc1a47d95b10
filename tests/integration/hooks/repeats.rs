//! A command that works the second time teaches nothing by itself, whatever secret stands in it, and what ran between
//! is learned. Not here: what counts as the same command (`clients::hooks`).

use super::{FAILED, FORMATS, Format, by_hooks, repo};
use crate::world::{World, bytes_under};

fn token(end: char) -> String {
    format!("{}_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe{end}", ["gh", "p"].concat())
}

/// A failed command, a successful one between (or none), and the one that then worked.
fn lessons(format: &Format, failed: &str, between: &[&str], worked: &str) -> Vec<String> {
    let world = World::new();
    let folder = repo(&world, "one");
    let _ = format.say(&world, &(format.failed)("s1", &folder, failed, FAILED));
    for command in between.iter().chain([&worked]) {
        let _ = format.say(&world, &(format.succeeded)("s1", &folder, command));
    }
    assert_secret_free(&world);
    by_hooks(&world).into_iter().map(|event| event.lesson).collect()
}

fn assert_secret_free(world: &World) {
    for (path, bytes) in bytes_under(&world.path("")) {
        for end in ['3', '4'] {
            let secret = token(end);
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

// S-HOOK-6
#[test]
fn a_repeat_with_a_secret_teaches_nothing() {
    let (one, other) = (token('3'), token('4'));
    for format in &FORMATS {
        for (failed, worked) in [
            (format!("GITHUB_TOKEN={one} npm install"), format!("GITHUB_TOKEN={one} npm install")),
            (
                format!("GITHUB_TOKEN={one} npm install"),
                format!("GITHUB_TOKEN={other} npm install"),
            ),
            (format!("GITHUB_TOKEN={one} npm install"), "npm install".to_owned()),
            ("npm install".to_owned(), format!("CI=1 GITHUB_TOKEN={one} npm install")),
            (format!("npm install --token {one}"), format!("npm install --token {one}")),
            (format!("npm install --token {one}"), format!("npm install --token {other}")),
            ("npm install".to_owned(), "npm install --verbose".to_owned()),
        ] {
            let learned = lessons(format, &failed, &[], &worked);
            assert_eq!(learned, Vec::<String>::new(), "{}: {failed} {worked}", format.agent);
        }
    }
}

// S-HOOK-5
#[test]
fn what_ran_before_a_repeat_is_the_lesson() {
    let command = format!("GITHUB_TOKEN={} npm install", token('3'));
    let format = &FORMATS[0];
    for step in
        ["npm config set proxy http://proxy.example:3128", "cargo update -p x --precise 1.2.3"]
    {
        let learned = lessons(format, &command, &["npm config get proxy", step], &command);
        let [lesson] = learned.as_slice() else { panic!("{step}: {learned:?}") };
        assert!(lesson.ends_with(&format!("npm install` worked after `{step}`.")), "{lesson}");
        assert!(lesson.contains("[REDACTED:github-token]"), "{lesson}");
    }
}
