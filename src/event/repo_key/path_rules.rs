//! The path rules as laws: the log of any repository is one plain file directly in the store, on every system.
//! Not here: which key a remote or a folder gets (`repo_key::tests`).

use std::path::{Component, Path};

use proptest::prelude::*;

use super::RepoKey;

/// The longest file name that common file systems accept, in bytes.
const FILE_NAME_BYTES_MAX: usize = 255;

/// Room for prefixes and suffixes of a log's name: `.lock`, or the ending of a spool or quarantine file with a
/// process id.
const SUFFIX_BYTES: usize = 40;

/// Names that Windows opens as devices, with any extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Returns a key from every constructor.
fn keys_of(name: &str, other: &str) -> Vec<RepoKey> {
    let mut keys = vec![
        RepoKey::from_line(name),
        RepoKey::from_place(name, other),
        RepoKey::from_file_stem(name),
    ];
    keys.extend(RepoKey::parse(name).ok());
    keys.extend(RepoKey::from_remote(name));
    for url in [
        format!("https://{name}/{other}"),
        format!("git@{other}:{name}"),
        format!("https://github.com/{name}/{other}"),
        format!("ssh://git@{name}.example.org:22/{other}.git"),
    ] {
        keys.extend(RepoKey::from_remote(&url));
    }
    keys
}

/// Returns what the rules forbid about a file name; empty if the name is plain everywhere.
fn wrong_with(name: &str) -> Vec<&'static str> {
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    let is_child = matches!(parts.as_slice(), [Component::Normal(only)] if **only == *name);
    let device = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_plain = |c: char| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+' | '~')
    };
    let rules = [
        (is_child, "is not a direct child of the store"),
        (!name.contains(['/', '\\', ':', '\0']), "contains a separator of some system"),
        (!name.starts_with('.'), "is hidden"),
        (!name.starts_with('-'), "looks like an option"),
        (name.len() > ".jsonl".len() && name.ends_with(".jsonl"), "is not named like a log"),
        (!name.ends_with(['.', ' ']), "is truncated on Windows"),
        (!DEVICES.contains(&device.as_str()), "is a device on Windows"),
        (
            name.chars().all(is_plain),
            "contains a letter that case folding or normalisation changes",
        ),
        (name.len() + SUFFIX_BYTES <= FILE_NAME_BYTES_MAX, "is too long"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, why)| why).collect()
}

#[track_caller]
fn assert_rules(key: &RepoKey) {
    let name = key.file_name();
    assert_eq!(wrong_with(&name), [""; 0], "{name:?} of {key}");
    let stem = name.strip_suffix(".jsonl").unwrap();
    assert_eq!(RepoKey::from_file_stem(stem), *key, "{name:?} is read back as another repository");
    assert_eq!(RepoKey::from_line(key.as_str()), *key, "the key in a line is read as another");
    assert_eq!(RepoKey::parse(key.as_str()).as_ref(), Ok(key), "what we wrote is refused");
}

/// Names that have broken path rules in other programs.
const NASTY: [&str; 37] = [
    "..",
    ".",
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\x",
    "C:\\x",
    "\\\\host\\share",
    "a/../b",
    "",
    " ",
    "~",
    "~root",
    "a~b",
    ".git",
    ".locks",
    ".spool",
    ".locks/x",
    "-rf",
    "--logs",
    "con",
    "CON",
    "con.x",
    "con.x/y",
    "nul.api",
    "aux/x",
    "com1.a",
    "lpt9.b.c",
    "nul.",
    "nul ",
    "a.",
    "a ",
    "x\0y",
    "a\nb",
    "\u{202E}a",
    "Å",
    "k\u{212A}",
    "com¹",
];

// S-REPO-1
#[test]
fn names_that_broke_others_are_plain_files() {
    for name in NASTY {
        for other in NASTY {
            for key in keys_of(name, other) {
                assert_rules(&key);
            }
        }
    }
}

// S-REPO-1
#[test]
fn a_server_named_like_a_device_has_a_log_that_windows_can_open() {
    for host in DEVICES {
        let key = RepoKey::from_remote(&format!("https://{host}.example.org/a/b")).unwrap();
        assert_eq!(key.as_str(), format!("{host}.example.org/a/b"));
        assert_eq!(key.file_name(), format!("+{host}.example.org+a+b.jsonl"));
        assert_rules(&key);
        assert_rules(&RepoKey::from_place(&format!("{host}.api"), "/srv"));
    }
    // Logs written before this rule still belong to their repository.
    let old = RepoKey::from_file_stem("aux.example.org+a+b");
    assert_eq!(old, RepoKey::from_remote("https://aux.example.org/a/b").unwrap());
}

#[test]
fn only_what_windows_reserves_has_the_guard() {
    for name in ["api", "console", "github.com/con/aux", "com", "context.io/a", "auxiliary.x/y"] {
        let key = RepoKey::parse(name).unwrap();
        assert_eq!(key.file_name(), format!("{}.jsonl", name.replace('/', "+")));
    }
}

#[test]
fn the_rules_are_shown_to_fail() {
    for bad in
        ["a/b.jsonl", "../a.jsonl", ".a.jsonl", "con.jsonl", "NUL.x.jsonl", "a.jsonl.", "Å.jsonl"]
    {
        assert!(!wrong_with(bad).is_empty(), "{bad}");
    }
    assert!(!wrong_with(&format!("{}.jsonl", "a".repeat(230))).is_empty());
    assert!(wrong_with("github.com+acme+api.jsonl").is_empty());
}

/// Generates texts as people, forges and attackers write them.
fn a_name() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9._~/+ -]{0,40}",
        "(con|aux|NUL|com1|lpt9|a)[.~/ ]?[a-z.~/]{0,12}",
        "[a-zA-Z0-9.-]{1,20}(/[A-Za-z0-9._%!-]{0,90}){0,6}(\\.git)?/?",
        "([.]{1,2}/){0,3}[a-zå-ö]{0,8}[.]{0,3}",
    ]
}

proptest! {
    // S-REPO-1
    #[test]
    fn every_key_is_one_plain_file_directly_in_the_store(name in a_name(), other in a_name()) {
        for key in keys_of(&name, &other) {
            assert_rules(&key);
        }
    }

    // S-REPO-3
    #[test]
    fn two_keys_never_share_a_file_even_where_case_is_ignored(one in a_name(), two in a_name()) {
        let keys: Vec<RepoKey> = keys_of(&one, &two).into_iter().chain(keys_of(&two, &one)).collect();
        for (first, second) in keys.iter().flat_map(|key| keys.iter().map(move |other| (key, other))) {
            let same_file = first.file_name().eq_ignore_ascii_case(&second.file_name());
            prop_assert_eq!(first == second, same_file, "{} and {}", first, second);
        }
    }
}
