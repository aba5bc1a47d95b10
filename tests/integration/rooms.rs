//! The rules of the house, checked on the sources themselves: who may import whom, which file may
//! name which foreign crate, how a file looks, and that every clause of SPEC.md is cited. Rooms that
//! are not built yet break nothing; a room that nobody drew does. Each rule is shown to fail.
//! Not here: what clippy checks.
#![expect(clippy::string_slice, reason = "every cut is at an ASCII character just found")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::world::bytes_under;

/// Which rooms a room may import, as ARCHITECTURE.md draws them. A room may always import itself;
/// the longest name that fits a file is its room.
const MAP: &[(&str, &[&str])] = &[
    ("event", &[]),
    ("store", &["event"]),
    ("writer", &["event", "store"]),
    ("import", &["event", "store", "writer"]),
    ("sync", &["event", "store"]),
    ("setup", &["event"]),
    ("eval", &["event", "store", "writer", "retriever"]),
    ("retriever/projection", &["event"]),
    ("retriever/index", &["event", "store", "retriever/projection"]),
    ("retriever/snapshot", &["event", "store", "retriever/projection", "retriever/index"]),
    (
        "retriever/search",
        &["event", "retriever/projection", "retriever/index", "retriever/snapshot"],
    ),
    (
        "retriever/graph",
        &[
            "event",
            "retriever/projection",
            "retriever/index",
            "retriever/snapshot",
            "retriever/search",
        ],
    ),
    (
        "retriever/render",
        &[
            "event",
            "retriever/projection",
            "retriever/index",
            "retriever/snapshot",
            "retriever/search",
            "retriever/graph",
            "retriever/staleness",
        ],
    ),
    ("retriever/staleness", &["event", "store", "retriever/projection"]),
    (
        "retriever/digest",
        &[
            "event",
            "store",
            "retriever/projection",
            "retriever/index",
            "retriever/snapshot",
            "retriever/follow",
        ],
    ),
    (
        "retriever/upkeep",
        &[
            "event",
            "store",
            "retriever/projection",
            "retriever/index",
            "retriever/snapshot",
            "retriever/render",
            "retriever/watch",
            "setup",
        ],
    ),
    ("retriever/watch", &["event", "store"]),
    (
        "retriever/follow",
        &[
            "event",
            "store",
            "retriever/projection",
            "retriever/index",
            "retriever/snapshot",
            "retriever/checkpoint",
            "retriever/watch",
        ],
    ),
    (
        "retriever/checkpoint",
        &["event", "store", "retriever/projection", "retriever/index", "retriever/snapshot"],
    ),
    ("retriever/cache_lock", &["store", "retriever/index"]),
    ("retriever/engine", &["event", "store", "retriever"]),
    // The exit codes are those of both programs; the door itself only two may call.
    ("writer/exit", &["event", "store", "writer"]),
    ("retriever/serve", &["event", "store", "writer/exit", "retriever"]),
    ("retriever/serve/attach/tests", &["event", "store", "writer", "retriever"]),
    ("retriever/serve/local", &["event", "store", "writer", "retriever"]),
    (
        "retriever/serve/program",
        &["event", "store", "writer", "retriever", "eval", "setup", "import"],
    ),
    ("bin/log-memory", &["event", "store", "writer"]),
    ("bin/agent-knowledge", &["event", "store", "writer", "retriever", "import", "sync", "setup"]),
];

/// Rooms that nothing above may import back, although their neighbours' row says `retriever`.
const NEVER: &[(&str, &str)] =
    &[("retriever/engine", "retriever/serve"), ("eval", "retriever/serve/program")];

/// One foreign crate, one home: the beginnings of the files that may name it.
const HOMES: &[(&str, &[&str])] = &[
    ("fs2", &["store/lock.rs"]),
    ("flate2", &["store/archive"]),
    (
        "rustix",
        &[
            "store/layout.rs",
            "writer/identity.rs",
            "retriever/index/embed/cache/ahead.rs",
            "retriever/serve/attach/process.rs",
            "retriever/watch/heard",
        ],
    ),
    ("dlmalloc", &["bin/log-memory.rs"]),
    ("close_fds", &["retriever/serve/attach/process.rs"]),
    ("signal_hook", &["store/signal.rs"]),
    ("lexopt", &["writer/args.rs"]),
    ("bm25", &["retriever/index/lexical"]),
    ("crc32fast", &["retriever/projection/texts.rs", "retriever/checkpoint"]),
    ("fastembed", &["retriever/index/embed"]),
    ("ort", &["retriever/index/embed"]),
    ("fearless_simd", &["retriever/index/processor.rs"]),
    ("notify", &["retriever/watch"]),
    ("petgraph", &["retriever/graph"]),
    ("rmcp", &["retriever/serve"]),
    ("hyper", &["retriever/serve/http", "retriever/serve/judge"]),
    ("hyper_util", &["retriever/serve/http", "retriever/serve/judge"]),
    ("http_body_util", &["retriever/serve/http", "retriever/serve/judge"]),
    ("tokio", &["retriever/engine", "retriever/serve", "sync"]),
    ("anyhow", &["bin"]),
];

/// The crate that only command lines and their arguments may name, wherever they are.
const COMMAND_LINE_CRATE: &str = "clap";

/// Past this a file has more than one subject (its tests not counted).
const FILE_LINES_MAX: usize = 400;

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

    /// The module as path segments; `mod.rs` is its folder.
    fn module(&self) -> Vec<&str> {
        let stem = self.path.trim_end_matches(".rs").trim_end_matches("/mod");
        stem.split('/').filter(|part| *part != "lib").collect()
    }

    /// The row of the map this file belongs to.
    fn room(&self) -> Option<&'static (&'static str, &'static [&'static str])> {
        let path = self.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let fits = MAP.iter().filter(|(room, _)| is_within(path, room));
        fits.max_by_key(|(room, _)| room.len())
    }
}

fn is_within(path: &str, room: &str) -> bool {
    path.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
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

/// Every path in our own crate that a file names, as `a/b/c` from the crate's root.
fn own_paths(source: &Source) -> BTreeSet<String> {
    let (code, mut found) = (source.code(), BTreeSet::new());
    let module = source.module();
    for start in ["crate::", "agent_knowledge::", "super::"] {
        for (place, _) in code.match_indices(start) {
            if code[..place].ends_with(is_name_char) || code[..place].ends_with("super::") {
                continue;
            }
            let mut rest = &code[place..];
            let mut above = module.clone();
            // `super` in an inner `mod tests` means this file: one step less than it says.
            let in_tests = code.find("#[cfg(test)]").is_some_and(|tests| tests < place);
            let mut steps = usize::from(in_tests);
            while let Some(after) = rest.strip_prefix("super::") {
                rest = after;
                match steps {
                    0 => drop(above.pop()),
                    _ => steps -= 1,
                }
            }
            if start != "super::" {
                rest = &rest[start.len()..];
                above.clear();
            }
            expand(&above.join("/"), rest, &mut found);
        }
    }
    found
}

/// Reads a path or a group of paths (`{a, b::{c, d}}`) and adds each below `above`. Returns what follows.
fn expand<'a>(above: &str, text: &'a str, found: &mut BTreeSet<String>) -> &'a str {
    let join = |name: &str| format!("{above}/{name}").trim_matches('/').to_owned();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches([',', ' ', '\n']);
            if rest.is_empty() || rest.starts_with('}') {
                return rest.strip_prefix('}').unwrap_or(rest);
            }
            let after = expand(above, rest, found);
            // An alias, or something that is no path at all.
            let end = after.find([',', '}']).unwrap_or(after.len());
            rest = &after[end..];
        }
    }
    let end = text.find(|c| !is_name_char(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        found.insert(join(""));
        return rest;
    }
    match rest.strip_prefix("::") {
        Some(more) => expand(&join(name), more, found),
        None => {
            found.insert(join(name));
            rest
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The imports of a file that the map does not allow.
fn forbidden_imports(source: &Source) -> Vec<String> {
    let Some((room, allowed)) = source.room() else {
        let is_map = matches!(source.path.as_str(), "lib.rs" | "retriever/mod.rs");
        let unknown =
            format!("{} is in no room that rooms.rs and ARCHITECTURE.md draw", source.path);
        return if is_map { Vec::new() } else { vec![unknown] };
    };
    let rooms: BTreeSet<&str> = MAP.iter().map(|(room, _)| *room).collect();
    let mut wrong = Vec::new();
    for path in own_paths(source) {
        let Some(target) =
            rooms.iter().filter(|room| is_within(&path, room)).max_by_key(|room| room.len())
        else {
            continue;
        };
        let is_own = is_within(target, room) || is_within(room, target);
        let is_allowed = is_own || allowed.iter().any(|other| is_within(target, other));
        let never = NEVER.iter().any(|(from, to)| is_within(room, from) && is_within(target, to));
        if never || !is_allowed {
            wrong.push(format!("{} imports {path}: {room} may not know {target}", source.path));
        }
    }
    wrong
}

/// The foreign crates that a file names though it is not their home.
fn crates_away_from_home(source: &Source) -> Vec<String> {
    let code = source.code();
    let args_file = source.module().iter().any(|part| matches!(*part, "args" | "cli"));
    let homes =
        HOMES.iter().filter(|(_, homes)| !homes.iter().any(|home| source.path.starts_with(home)));
    let strangers = homes.map(|(name, _)| *name);
    let strangers = strangers.chain((!args_file).then_some(COMMAND_LINE_CRATE));
    strangers
        .filter(|name| names_crate(&code, name))
        .map(|name| format!("{} names {name}, whose home is elsewhere", source.path))
        .collect()
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
fn rooms_import_only_whom_the_map_allows() {
    assert_none(&sources().iter().flat_map(forbidden_imports).collect::<Vec<_>>());
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
fn no_integration_test_is_forgotten() {
    let files = bytes_under(&root().join("tests/integration"));
    let main = std::str::from_utf8(&files[Path::new("main.rs")]).unwrap();
    assert_none(&forgotten(main, files.keys().map(PathBuf::as_path)));
}

#[test]
fn every_clause_of_the_specification_is_cited() {
    let specification =
        std::fs::read_to_string(root().join("SPEC.md")).expect("SPEC.md is missing");
    assert!(!clauses(&specification).is_empty(), "SPEC.md has no numbered clause");
    let files = ["src", "tests"].map(|folder| bytes_under(&root().join(folder)));
    // The examples in this file are no citations.
    let files = files.iter().flatten().filter(|(path, _)| !path.ends_with("integration/rooms.rs"));
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

    fn imports(path: &str, text: &str) -> usize {
        forbidden_imports(&Source::of(path, text)).len()
    }

    #[test]
    fn the_map() {
        assert_eq!(imports("event/id.rs", "use crate::store::Tail;\n"), 1);
        assert_eq!(imports("event/id.rs", "use super::super::store::Tail;\n"), 1);
        assert_eq!(imports("event/id.rs", "use super::limits::X;\n// crate::store\n"), 0);
        assert_eq!(
            imports("store/tail.rs", "use crate::{event::Event, writer::{self, exit}};\n"),
            2
        );
        assert_eq!(imports("writer/mod.rs", "fn f() { crate::retriever::index::build() }\n"), 1);
        assert_eq!(
            imports("retriever/index/lexical.rs", "use crate::retriever::search::rank;\n"),
            1
        );
        assert_eq!(imports("retriever/index/lexical.rs", "use super::super::search::rank;\n"), 1);
        assert_eq!(imports("retriever/search/mod.rs", "use super::index::Lexical;\n"), 0);
        assert_eq!(imports("retriever/search/mod.rs", "use crate::writer::Writer;\n"), 1);
        assert_eq!(imports("retriever/serve/mcp.rs", "use crate::writer::Writer;\n"), 1);
        assert_eq!(imports("retriever/serve/local.rs", "use crate::writer::Writer;\n"), 0);
        assert_eq!(imports("retriever/serve/cli/args.rs", "use crate::writer::exit::Exit;\n"), 0);
        assert_eq!(imports("retriever/render/hits.rs", "use crate::writer::exit::Exit;\n"), 1);
        assert_eq!(imports("retriever/engine/mod.rs", "use super::serve::api;\n"), 1);
        assert_eq!(imports("bin/log-memory.rs", "use agent_knowledge::retriever::serve;\n"), 1);
        assert_eq!(imports("utils/mod.rs", ""), 1);
    }

    #[test]
    fn super_in_tests_is_the_file_itself() {
        let tests =
            "#[cfg(test)]\nmod tests {\n    use super::*;\n    use super::super::Store;\n}\n";
        assert_eq!(imports("store/tail.rs", tests), 0);
        let reaching = tests.replace("super::super::Store", "super::super::super::writer::Writer");
        assert_eq!(imports("store/tail.rs", &reaching), 1);
    }

    #[test]
    fn the_homes() {
        let wrong = |path, text| crates_away_from_home(&Source::of(path, text)).len();
        assert_eq!(wrong("store/append.rs", "use fs2::FileExt;\n"), 1);
        assert_eq!(wrong("store/lock.rs", "use fs2::FileExt;\n"), 0);
        assert_eq!(wrong("event/id.rs", "#[derive(clap::Parser)]\n"), 1);
        assert_eq!(wrong("retriever/serve/cli/args.rs", "use clap::Parser;\n"), 0);
        assert_eq!(wrong("retriever/search/mod.rs", "use tokio;\nuse rmcp::model;\n"), 2);
        assert_eq!(
            wrong("retriever/serve/mcp.rs", "// notify::Watcher\nself::notify::x(); abort::y();\n"),
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
    fn the_forgotten_module() {
        let files =
            ["main.rs", "door.rs", "search/mod.rs", "search/rank.rs", "lost.rs"].map(Path::new);
        assert_eq!(
            forgotten("mod door;\nmod search;\n// mod lost;\n", files.into_iter()),
            ["lost"]
        );
    }
}
