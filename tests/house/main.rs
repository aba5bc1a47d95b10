//! The rules of the house, checked on the sources themselves: who may import whom, which file may
//! name which foreign crate, how a file looks, and that every clause of SPEC.md and docs/promises is
//! cited. Rooms that are not built yet break nothing; a room that nobody drew does. Each rule is shown to fail.
//! Not here: what clippy checks.
#![cfg(test)]
#![expect(clippy::string_slice, reason = "every cut is at an ASCII character just found")]

mod circles;
mod crate_sizes;
mod documents;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A crate, and those of ours that it may depend on.
type Room = (&'static str, &'static [&'static str]);

/// Which of our crates a crate may depend on, as ARCHITECTURE.md draws them; each stands after all that it may use. Cargo
/// refuses every import that a manifest does not allow; this table keeps the manifests to the drawing.
const MAP: &[Room] = &[
    ("guard", &[]),
    ("git", &[]),
    ("event", &["guard"]),
    ("place", &["event"]),
    ("settings", &["event"]),
    ("dashboard", &[]),
    ("store", &["guard", "event", "place", "settings"]),
    ("http_client", &[]),
    ("writer", &["guard", "event", "place", "settings", "store"]),
    ("learning", &["guard", "event"]),
    ("memory", &["guard", "event"]),
    ("index", &["settings", "store", "memory"]),
    ("search", &["guard", "git", "event", "place", "store", "memory", "index"]),
    ("engine", &["guard", "event", "settings", "store", "memory", "index", "search"]),
    ("corpus", &["event", "settings", "store", "http_client", "memory", "index", "search"]),
    ("transcripts", &["guard", "event", "store"]),
    ("sessions", &["guard", "event", "place", "store", "learning", "index", "transcripts"]),
    ("reply", &["guard", "event", "memory", "index", "search", "transcripts", "sessions"]),
    (
        "requests",
        &["guard", "event", "place", "writer", "learning", "memory", "search", "sessions", "reply"],
    ),
    (
        "api",
        &[
            "guard", "event", "settings", "place", "store", "writer", "learning", "memory",
            "index", "search", "engine", "sessions", "reply", "requests",
        ],
    ),
    ("sync", &["guard", "git", "event", "settings", "store"]),
    ("providers", &["guard", "settings", "store", "http_client", "index", "sessions"]),
    (
        "clients",
        &["guard", "event", "place", "store", "writer", "learning", "reply", "requests", "api"],
    ),
    ("exchange", &["guard", "event", "store", "writer", "transcripts"]),
    (
        "upkeep",
        &[
            "guard", "git", "event", "settings", "store", "memory", "index", "search", "engine",
            "sessions", "reply", "clients",
        ],
    ),
    ("access", &["guard", "event", "store", "requests"]),
    ("daemon", &["event", "store", "writer", "index", "engine", "reply", "requests", "api"]),
    (
        "mcp",
        &[
            "guard", "event", "place", "writer", "reply", "requests", "api", "clients", "access",
            "daemon",
        ],
    ),
    (
        "web",
        &[
            "guard",
            "event",
            "dashboard",
            "store",
            "http_client",
            "writer",
            "memory",
            "index",
            "search",
            "engine",
            "reply",
            "requests",
            "api",
            "access",
            "daemon",
            "mcp",
        ],
    ),
    ("grpc", &["guard", "event", "writer", "reply", "requests", "api", "access", "daemon", "web"]),
    (
        "remote",
        &[
            "guard",
            "event",
            "place",
            "settings",
            "store",
            "http_client",
            "writer",
            "reply",
            "requests",
            "access",
        ],
    ),
    ("terminal", &["guard", "event", "index", "reply"]),
    (
        "retriever",
        &[
            "guard",
            "event",
            "settings",
            "place",
            "store",
            "writer",
            "memory",
            "index",
            "search",
            "engine",
            "corpus",
            "sessions",
            "reply",
            "requests",
            "api",
            "sync",
            "providers",
            "upkeep",
            "access",
            "daemon",
            "mcp",
            "web",
            "grpc",
            "remote",
        ],
    ),
    (
        "cli",
        &[
            "guard",
            "event",
            "settings",
            "place",
            "store",
            "writer",
            "memory",
            "index",
            "search",
            "engine",
            "transcripts",
            "sessions",
            "reply",
            "requests",
            "api",
            "sync",
            "providers",
            "clients",
            "exchange",
            "upkeep",
            "access",
            "daemon",
            "mcp",
            "web",
            "remote",
            "terminal",
            "retriever",
        ],
    ),
    (
        "eval",
        &[
            "guard",
            "event",
            "settings",
            "store",
            "writer",
            "index",
            "search",
            "engine",
            "reply",
            "requests",
            "api",
            "retriever",
            "cli",
        ],
    ),
];

/// One foreign crate, one home: the beginnings of the files that may name it.
const HOMES: &[(&str, &[&str])] = &[
    ("async_nats", &["sync/team_stream.rs", "sync/stream_rules.rs", "sync/tests/conformance"]),
    ("tokio_postgres", &["corpus/postgres"]),
    ("fs2", &["store/lock.rs"]),
    ("flate2", &["store/archive", "sessions/stored_exchange.rs", "transcripts/real_files.rs"]),
    (
        "rustix",
        &[
            "store/shared_rights.rs",
            "writer/identity.rs",
            "index/embed/cache/readahead.rs",
            "index/embed/worker/priority.rs",
            "daemon/process.rs",
            "terminal/raw_terminal.rs",
            "engine/watch/changes",
            "git/git_program.rs",
        ],
    ),
    ("rustls", &["http_client/"]),
    ("ureq", &["http_client/"]),
    ("base64", &["corpus/qdrant"]),
    ("tracing", &["mcp"]),
    ("tracing_subscriber", &["mcp/stdio.rs"]),
    ("indicatif", &["cli/program.rs", "eval/measurement.rs"]),
    ("dlmalloc", &["writer/main.rs"]),
    ("close_fds", &["daemon/process.rs"]),
    ("signal_hook", &["store/signal.rs"]),
    ("lexopt", &["writer/flags.rs"]),
    ("bm25", &["index/lexical"]),
    ("crc32fast", &["memory/texts.rs", "engine/checkpoint", "sessions/index_cache.rs"]),
    ("ort", &["index/embed"]),
    ("ndarray", &["index/embed/plain_network.rs"]),
    ("unicode_categories", &["index/embed/bert_words.rs"]),
    ("fearless_simd", &["index/processor.rs"]),
    ("notify", &["engine/watch"]),
    ("petgraph", &["search/links"]),
    ("strsim", &["api/likeness.rs"]),
    ("regex_automata", &["guard/rule_regex.rs"]),
    ("rmcp", &["mcp/", "web/", "access/admitted_caller.rs", "access/client_name.rs"]),
    ("tokio_tungstenite", &["web/rest/event_socket"]),
    ("hyper", &["access/", "web/", "grpc/"]),
    ("hyper_util", &["access/", "web/", "grpc/"]),
    ("http_body_util", &["access/", "web/", "grpc/"]),
    ("prost", &["grpc/"]),
    ("prost_reflect", &["grpc/"]),
    ("prost_types", &["grpc/"]),
    ("tonic", &["grpc/"]),
    ("tonic_health", &["grpc/"]),
    ("tonic_reflection", &["grpc/"]),
    (
        "tokio",
        &[
            "access/",
            "mcp/",
            "web/",
            "grpc/",
            "sync/team_stream.rs",
            "sync/tests/conformance",
            "corpus/postgres",
        ],
    ),
    ("tokio_rustls", &["access/tls.rs", "access/tls_files.rs"]),
    (
        "rusqlite",
        &["sessions", "transcripts", "exchange/foreign_database.rs", "exchange/stores/tests.rs"],
    ),
    (
        "schemars",
        &["reply/", "requests/verb.rs", "web/rest/openapi.rs", "web/rest/answer_schemas.rs"],
    ),
    ("ruzstd", &["transcripts/records.rs"]),
    ("jsonc_parser", &["clients/setup/edit/json"]),
    ("yaml_rust2", &["clients/setup/edit", "exchange/front_matter.rs"]),
    ("toml_edit", &["clients/setup/edit/toml.rs", "settings/config_text.rs"]),
    ("unicode_width", &["terminal/screen.rs"]),
    ("clap_mangen", &["cli/commands/man_pages.rs"]),
    ("clap_complete", &["cli/commands/completions.rs"]),
    ("clap", &["cli/", "retriever/serve_options.rs", "eval/args.rs", "eval/cli.rs"]),
];

/// Past this a file has more than one subject (its tests not counted).
const FILE_LINES_MAX: usize = 400;

/// A name that more files or types than this have says too little.
const NAMESAKES_MAX: usize = 2;

/// File names that a convention explains.
const CONVENTIONAL: &[&str] = &["mod", "lib", "main", "tests", "error"];

/// Folders whose files have the names of requests, on purpose: one request has the same name in each.
const NAMED_AFTER_REQUESTS: &[&str] = &["requests/", "api/local/", "cli/"];

/// The folder whose files are commands: the arguments of each have its name, whatever else has.
const COMMANDS: &str = "cli/commands/";

/// The type that each test environment has.
const TEST_WORLD: &str = "World";

/// Longest name of a test, in characters.
const TEST_NAME_MAX: usize = 60;

/// One file under `src`.
struct Source {
    /// Its path below `src`, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn of(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// The text without comment lines.
    fn code(&self) -> String {
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        self.text.lines().filter(is_code).map(|line| format!("{line}\n")).collect()
    }

    /// The module as a path; `mod.rs` and `lib.rs` are their folders.
    fn module(&self) -> &str {
        self.path.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("/lib")
    }
}

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every file below a directory, by its path in it.
fn bytes_under(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn sources() -> Vec<Source> {
    let sources: Vec<Source> = bytes_under(&root().join("src"))
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|(path, bytes)| Source {
            path: path.to_str().unwrap().replace('\\', "/"),
            text: String::from_utf8(bytes).unwrap(),
        })
        .collect();
    assert!(sources.len() > 20, "the sources were not found");
    sources
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The dependencies of a manifest that the map does not allow.
fn forbidden_dependencies(room: &str, manifest: &str) -> Vec<String> {
    let Some((_, allowed)) = MAP.iter().find(|(name, _)| *name == room) else {
        return vec![format!(
            "{room} is a crate that tests/house/main.rs and ARCHITECTURE.md do not draw"
        )];
    };
    let manifest: toml::Table = manifest.parse().expect("a manifest is TOML");
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    let names = dependencies.into_iter().flat_map(toml::Table::keys);
    let ours = names.filter(|name| MAP.iter().any(|(room, _)| room == name));
    ours.filter(|name| !allowed.contains(&name.as_str()))
        .map(|name| format!("{room} may not depend on {name}"))
        .collect()
}

/// The rooms of a map that may use one that does not stand before them.
fn upward_arrows(map: &[Room]) -> Vec<String> {
    let mut before = BTreeSet::new();
    let mut wrong = Vec::new();
    for (room, allowed) in map {
        let upward = allowed.iter().filter(|name| !before.contains(*name));
        wrong.extend(upward.map(|name| format!("{room} may use {name}, which is not before it")));
        before.insert(*room);
    }
    wrong
}

/// The foreign crates that a file names though it is not their home.
fn crates_away_from_home(source: &Source) -> Vec<String> {
    let code = source.code();
    let strangers =
        HOMES.iter().filter(|(_, homes)| !homes.iter().any(|home| source.path.starts_with(home)));
    strangers
        .map(|(name, _)| *name)
        .filter(|name| names_crate(&code, name))
        .map(|name| format!("{} names {name}, whose home is elsewhere", source.path))
        .collect()
}

/// Returns the names of the types that a file defines.
fn types(source: &Source) -> Vec<String> {
    let names = source.text.lines().filter_map(definition);
    let names = names.filter(|name| *name != TEST_WORLD && !is_of_command(source, name));
    names.map(str::to_owned).collect()
}

/// Tells whether a type is the arguments of the command that its file is.
fn is_of_command(source: &Source, name: &str) -> bool {
    let command = source.module().strip_prefix(COMMANDS);
    command.is_some_and(|command| command.replace('_', "").eq_ignore_ascii_case(name))
}

fn definition(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let prefixes = ["pub(super) ", "pub(crate) ", "pub "];
    let rest = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line);
    let name = ["struct ", "enum ", "trait "].iter().find_map(|kind| rest.strip_prefix(kind))?;
    let name = &name[..name.find(|c| !is_name_char(c)).unwrap_or(name.len())];
    // A macro takes the name of its type as an argument.
    (!name.is_empty()).then_some(name)
}

/// Returns the name of a file that needs a name of its own.
fn own_file_name(source: &Source) -> Option<String> {
    let stem = source.path.rsplit('/').next()?.trim_end_matches(".rs");
    let is_explained = CONVENTIONAL.contains(&stem)
        || NAMED_AFTER_REQUESTS.iter().any(|folder| source.path.starts_with(folder));
    (!is_explained).then(|| stem.to_owned())
}

/// Returns the names that occur too often.
fn overused(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let many = counts.into_iter().filter(|(_, count)| *count > NAMESAKES_MAX);
    many.map(|(name, count)| format!("{name} is the name of {count} things")).collect()
}

/// Variables that are no settings, as those of tests are: a retriever gets the first from the process that starts it, a developer sets
/// the second.
const OWN_VARIABLES: [&str; 2] = ["AGENT_KNOWLEDGE_STARTED", "AGENT_KNOWLEDGE_WRITE_PAGES"];

/// The variables of ours that a source names, for which the help and `docs/settings.md` have a line by their tables.
fn variables_named(source: &Source) -> BTreeSet<String> {
    let code = source.code();
    let names = code.split("\"AGENT_KNOWLEDGE_").skip(1).filter_map(|rest| rest.split_once('"'));
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    names
        // One that ends with a line is the beginning of all names.
        .filter(|(name, _)| is_name(name) && !name.ends_with('_') && !name.is_empty())
        .map(|(name, _)| format!("AGENT_KNOWLEDGE_{name}"))
        .filter(|name| !OWN_VARIABLES.contains(&name.as_str()))
        .filter(|name| !name.starts_with("AGENT_KNOWLEDGE_TEST_"))
        .collect()
}

/// Returns the names of tests that are too long.
fn long_test_names(text: &str) -> Vec<String> {
    let tests = text.split("#[test]").skip(1);
    let names = tests.filter_map(|rest| rest.split("fn ").nth(1)?.split('(').next());
    names.filter(|name| name.chars().count() > TEST_NAME_MAX).map(str::to_owned).collect()
}

/// Tells whether a text imports the one function that appends to a log, or names it in place.
fn imports_append(text: &str) -> bool {
    let imports = text.split("use store::").skip(1).filter_map(|rest| rest.split(';').next());
    let mut names = imports.flat_map(|names| names.split(|c| !is_name_char(c)));
    names.any(|name| name == "append") || text.contains("store::append(")
}

fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(place, _)| {
        let (before, after) = (&code[..place], &code[place + name.len()..]);
        let is_path =
            after.starts_with("::") || (before.ends_with("use ") && after.starts_with([';', ' ']));
        is_path && !before.ends_with(|c: char| is_name_char(c) || c == ':')
    })
}

/// What is wrong with the look of a file.
fn untidiness(source: &Source) -> Vec<String> {
    let mut wrong = Vec::new();
    if !source.text.starts_with("//! ") {
        wrong.push(format!("{} does not say in its first line what it is for", source.path));
    }
    let lines = source.text.lines().take_while(|line| *line != "#[cfg(test)]").count();
    let is_of_tests = source.path.ends_with("/tests.rs");
    if lines > FILE_LINES_MAX && !is_of_tests {
        wrong.push(format!("{} has {lines} lines before its tests", source.path));
    }
    wrong
}

/// The ids of the clauses in a specification: `**S-LINE-1**` at the beginning of a line.
fn clauses(specification: &str) -> Vec<String> {
    let beginnings =
        specification.lines().map(|line| line.trim_start_matches(['#', '-', '*', ' ']));
    beginnings
        .filter_map(|line| line.split("**").next().filter(|id| is_clause(id)))
        .map(str::to_owned)
        .collect()
}

fn is_clause(id: &str) -> bool {
    let Some((subject, number)) = id.strip_prefix("S-").and_then(|rest| rest.rsplit_once('-'))
    else {
        return false;
    };
    let is_subject = !subject.is_empty() && subject.bytes().all(|byte| byte.is_ascii_uppercase());
    is_subject && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Every clause id that a text cites.
fn citations(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| is_clause(word)).map(str::to_owned).collect()
}

/// Clauses that nobody cites, that stand twice, and citations of clauses that do not exist.
fn unfaithful(specification: &str, cited: &BTreeSet<String>) -> Vec<String> {
    let clauses = clauses(specification);
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    for clause in &clauses {
        if !known.insert(clause.clone()) {
            wrong.push(format!("{clause} stands twice"));
        }
    }
    wrong.extend(
        known.difference(cited).map(|clause| format!("{clause} is cited by no code and no test")),
    );
    wrong.extend(
        cited.difference(&known).map(|clause| format!("{clause} is cited but is no clause")),
    );
    wrong
}

/// Modules of this program that `main.rs` does not name: their tests would never run.
fn forgotten<'a>(main: &str, files: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let names = files.filter(|path| **path != *Path::new("main.rs")).filter_map(|path| {
        let module = if path.ends_with("mod.rs") {
            path.parent()?.to_owned()
        } else {
            path.with_extension("")
        };
        // What lies deeper is its parent's to name.
        (module.components().count() == 1).then(|| module.to_str().unwrap().to_owned())
    });
    names.filter(|name| !main.lines().any(|line| line == format!("mod {name};"))).collect()
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

// S-WRITE-1
#[test]
fn crates_depend_only_on_what_the_map_allows() {
    let folders = std::fs::read_dir(root().join("src")).unwrap();
    let rooms: Vec<PathBuf> = folders.map(|folder| folder.unwrap().path()).collect();
    assert_eq!(rooms.len(), MAP.len(), "a crate is missing, or is not on the map");
    let wrong = rooms.iter().flat_map(|room| {
        let manifest = std::fs::read_to_string(room.join("Cargo.toml")).unwrap();
        forbidden_dependencies(room.file_name().unwrap().to_str().unwrap(), &manifest)
    });
    assert_none(&wrong.collect::<Vec<_>>());
}

#[test]
fn no_arrow_of_the_map_goes_upwards() {
    assert_none(&upward_arrows(MAP));
}

// S-WRITE-1
#[test]
fn only_the_door_appends() {
    let elsewhere = sources().into_iter().filter(|source| !source.path.starts_with("writer/"));
    let appends = elsewhere.filter(|source| imports_append(&source.text));
    assert_none(&appends.map(|source| format!("{} appends", source.path)).collect::<Vec<_>>());
}

#[test]
fn each_foreign_crate_has_one_home() {
    assert_none(&sources().iter().flat_map(crates_away_from_home).collect::<Vec<_>>());
}

#[test]
fn every_file_says_what_it_is_for_and_has_one_subject() {
    assert_none(&sources().iter().flat_map(untidiness).collect::<Vec<_>>());
}

#[test]
fn no_name_stands_for_many_things() {
    let sources = sources();
    assert_none(&overused(sources.iter().flat_map(types)));
    assert_none(&overused(sources.iter().filter_map(own_file_name)));
}

#[test]
fn every_variable_is_in_a_table_of_the_settings() {
    let sources = sources();
    let is_table = |source: &&Source| {
        ["settings/variables.rs", "settings/table.rs"].contains(&source.path.as_str())
    };
    let tables: BTreeSet<String> =
        sources.iter().filter(is_table).flat_map(variables_named).collect();
    let read = sources.iter().flat_map(|source| {
        let missing = variables_named(source).into_iter().filter(|name| !tables.contains(name));
        missing.map(|name| format!("{}: {name} is in no table", source.path)).collect::<Vec<_>>()
    });
    assert_none(&read.collect::<Vec<_>>());
}

#[test]
fn names_of_tests_are_short() {
    let tests = bytes_under(&root().join("tests"));
    let tests = tests.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let texts = tests.chain(sources().into_iter().map(|source| source.text));
    let long: Vec<String> = texts.flat_map(|text| long_test_names(&text)).collect();
    assert_none(&long);
}

#[test]
fn no_integration_test_is_forgotten() {
    let files = bytes_under(&root().join("tests/integration"));
    let main = std::str::from_utf8(&files[Path::new("main.rs")]).unwrap();
    assert_none(&forgotten(main, files.keys().map(PathBuf::as_path)));
}

#[test]
fn every_clause_of_the_specification_is_cited() {
    let specification = documents::promises();
    assert!(!clauses(&specification).is_empty(), "SPEC.md has no numbered clause");
    let files = ["src", "tests"].map(|folder| bytes_under(&root().join(folder)));
    // The examples in this file are no citations.
    let files = files.iter().flatten().filter(|(path, _)| !path.ends_with("house/main.rs"));
    let cited = files.flat_map(|(_, bytes)| citations(&String::from_utf8_lossy(bytes))).collect();
    assert_none(&unfaithful(&specification, &cited));
}

#[test]
fn git_leaves_the_fixtures_as_they_are() {
    let attributes =
        std::fs::read_to_string(root().join(".gitattributes")).expect(".gitattributes is missing");
    assert!(
        attributes.lines().any(|line| line.trim() == "tests/fixtures/** -text"),
        "{attributes}"
    );
}

mod each_rule_can_fail {
    use super::*;

    #[test]
    fn the_map() {
        let wrong = |room, text| forbidden_dependencies(room, text).len();
        assert_eq!(wrong("event", "[dependencies]\nguard.workspace = true\n"), 0);
        assert_eq!(wrong("event", "[dependencies]\nstore.workspace = true\n"), 1);
        assert_eq!(wrong("event", "[dev-dependencies]\nstore.workspace = true\n"), 0);
        assert_eq!(
            wrong("index", "[dependencies]\nsearch = { workspace = true }\nbm25 = \"2\"\n"),
            1
        );
        assert_eq!(wrong("utils", ""), 1);
    }

    #[test]
    fn the_order_of_the_map() {
        let room = |name| (name, &[] as &[_]);
        assert!(upward_arrows(&[room("guard"), ("event", &["guard"])]).is_empty());
        let upward = upward_arrows(&[("event", &["guard"]), room("guard")]);
        assert_eq!(upward, ["event may use guard, which is not before it"]);
        assert_eq!(upward_arrows(&[("event", &["event"])]).len(), 1);
    }

    #[test]
    fn the_door() {
        assert!(imports_append("use store::{Store, append};\n"));
        assert!(imports_append("fn f() { store::append(x) }\n"));
        assert!(!imports_append("use store::Store;\nfn append() {}\n"));
    }

    #[test]
    fn the_homes() {
        let wrong = |path, text| crates_away_from_home(&Source::of(path, text)).len();
        assert_eq!(wrong("store/append.rs", "use fs2::FileExt;\n"), 1);
        assert_eq!(wrong("store/lock.rs", "use fs2::FileExt;\n"), 0);
        assert_eq!(wrong("event/id.rs", "#[derive(clap::Parser)]\n"), 1);
        assert_eq!(wrong("cli/args/serve.rs", "use clap::Parser;\n"), 0);
        assert_eq!(wrong("search/lib.rs", "use tokio;\nuse rmcp::model;\n"), 2);
        assert_eq!(
            wrong("mcp/mcp_server.rs", "// notify::Watcher\nself::notify::x(); abort::y();\n"),
            0
        );
    }

    #[test]
    fn the_look() {
        let wrong = |text: &str| untidiness(&Source::of("a.rs", text)).len();
        assert_eq!(wrong("//! For this.\n"), 0);
        assert_eq!(wrong("use x;\n"), 1);
        assert_eq!(wrong(&format!("//! For this.\n{}", "x\n".repeat(FILE_LINES_MAX))), 1);
        assert_eq!(
            wrong(&format!("//! For this.\n#[cfg(test)]\n{}", "x\n".repeat(FILE_LINES_MAX))),
            0
        );
    }

    #[test]
    fn the_names() {
        let texts =
            ["pub struct Place {", "enum Place {", "    pub(super) struct Place;", "struct World;"];
        let sources = texts.map(|text| Source::of("a/b.rs", text));
        let names: Vec<String> = sources.iter().flat_map(types).collect();
        assert_eq!(overused(names.iter().cloned()), ["Place is the name of 3 things"]);
        assert!(overused(names.into_iter().take(2)).is_empty());
        let arguments = Source::of("cli/commands/man_pages.rs", "struct ManPages {\nstruct Page {");
        assert_eq!(types(&arguments), ["Page"]);
        assert_eq!(own_file_name(&sources[0]).as_deref(), Some("b"));
        for path in ["a/mod.rs", "api/local/b.rs"] {
            assert_eq!(own_file_name(&Source::of(path, "")), None);
        }
        let text = format!("#[test]\nfn {}() {{}}\n#[test]\nfn short() {{}}\n", "x".repeat(61));
        assert_eq!(long_test_names(&text), ["x".repeat(61)]);
    }

    #[test]
    fn the_clauses() {
        let text =
            "# S\n**S-LINE-1** One.\n- **S-LINE-2** Two, see S-LINE-1.\n### **S-EXIT-1** Three.\n";
        assert_eq!(clauses(text), ["S-LINE-1", "S-LINE-2", "S-EXIT-1"]);
        let cited = citations("// S-LINE-1, (S-EXIT-1); S-line-9 XS-LINE-2 S-LINE-3");
        let expected = ["S-LINE-2 is cited by no", "S-LINE-3 is cited but"];
        let wrong = unfaithful(text, &cited);
        assert!(
            wrong.iter().zip(expected).all(|(found, start)| found.starts_with(start)),
            "{wrong:?}"
        );
        assert_eq!(wrong.len(), 2);
        assert_eq!(
            unfaithful("**S-A-1** x\n**S-A-1** y\n", &citations("S-A-1")),
            ["S-A-1 stands twice"]
        );
    }

    #[test]
    fn the_variables() {
        let named = |text: &str| variables_named(&Source::of("cli/x.rs", text));
        let found = named(
            "// \"AGENT_KNOWLEDGE_NO\"\nvar(\"AGENT_KNOWLEDGE_LOGS\"); \"AGENT_KNOWLEDGE_ x\"\n",
        );
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["AGENT_KNOWLEDGE_LOGS"]);
        assert!(named("var_os(\"AGENT_KNOWLEDGE_STARTED\")").is_empty());
    }

    #[test]
    fn the_forgotten_module() {
        let files =
            ["main.rs", "door.rs", "search/mod.rs", "search/rank.rs", "lost.rs"].map(Path::new);
        assert_eq!(
            forgotten("mod door;\nmod search;\n// mod lost;\n", files.into_iter()),
            ["lost"]
        );
    }
}
