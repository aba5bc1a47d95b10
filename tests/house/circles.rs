//! No files of a crate import each other in a circle, a folder's own file (`mod.rs`, `lib.rs`, or `a.rs` beside `a/`) included.
//! What a folder's own file only re-exports ties nothing together: whoever imports such a name imports the file that defines it.
//! Not here: which crate may import which (`main`).

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, assert_none, is_name_char, sources};

/// A file with the paths that its own code names, and the names that it only hands on.
struct Module {
    /// Every path in its own crate that the file names, as `crate/a/b`.
    named: BTreeSet<String>,
    /// The names that it re-exports, with the paths that define them.
    re_exports: BTreeMap<String, String>,
}

impl Module {
    fn of(source: &Source) -> Self {
        // What only the tests of a file import ties nothing together.
        let code = source.text.split("\n#[cfg(test)]").next().unwrap_or_default();
        let code = Source::of(&source.path, code).code();
        let (mut rest, mut re_exports) = (String::new(), BTreeMap::new());
        let mut last = 0;
        for (place, _) in code.match_indices("use ") {
            let line = code[..place].rfind('\n').map_or(0, |end| end + 1);
            let end = code[place..].find(';').map_or(code.len(), |end| place + end + 1);
            if !code[line..place].trim_start().starts_with("pub") || line < last {
                continue;
            }
            rest.push_str(&code[last..line]);
            last = end;
            for path in named_in(source.module(), &code[place + 4..end], &children(&code)) {
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                re_exports.insert(name, path);
            }
        }
        rest.push_str(&code[last..]);
        let named = named_in(source.module(), &rest, &children(&code));
        Self { named, re_exports }
    }
}

/// Returns the modules that a file declares below itself.
fn children(code: &str) -> Vec<&str> {
    let declared = code.split("mod ").skip(1).filter_map(|rest| rest.split_once(';'));
    declared.map(|(name, _)| name).filter(|name| name.chars().all(is_name_char)).collect()
}

/// Every path in its own crate that a piece of the code of a module names, as `crate/a/b`.
fn named_in(module: &str, code: &str, children: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let starts = ["crate::", "self::", "super::"].into_iter().map(str::to_owned);
    let starts = starts.chain(children.iter().map(|child| format!("{child}::")));
    for start in starts {
        for (place, _) in code.match_indices(start.as_str()) {
            // `pub(in crate::a)` imports nothing.
            let before = &code[..place];
            if before.ends_with(|c| is_name_char(c) || c == ':') || before.ends_with("pub(in ") {
                continue;
            }
            let (mut rest, mut above) = (&code[place..], module);
            match start.as_str() {
                "crate::" => {
                    (above, rest) = (module.split('/').next().unwrap_or_default(), &rest[7..]);
                }
                "self::" => rest = &rest[6..],
                _ => {}
            }
            while let Some(after) = rest.strip_prefix("super::") {
                (above, rest) = (above.rsplit_once('/').map_or("", |(parent, _)| parent), after);
            }
            expand(above, rest, &mut found);
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

/// Returns the module that defines what a path names, by way of re-exports.
fn defining<'a>(modules: &'a BTreeMap<String, Module>, path: &str) -> Option<&'a String> {
    let mut path = path.to_owned();
    // A re-export of a re-export; none is longer.
    for _ in 0..8 {
        let mut end = path.len();
        let (name, module) = loop {
            match modules.get_key_value(&path[..end]) {
                Some(found) => break found,
                None => end = path[..end].rfind('/')?,
            }
        };
        let below = path[end..].trim_start_matches('/');
        let (first, more) = below.split_once('/').unwrap_or((below, ""));
        match module.re_exports.get(first) {
            Some(defined) => path = format!("{defined}/{more}").trim_end_matches('/').to_owned(),
            None => return Some(name),
        }
    }
    None
}

/// The files that are in a circle of imports.
fn in_circles(sources: &[Source]) -> BTreeSet<String> {
    let is_code =
        |source: &&Source| !source.path.contains("/tests/") && !source.path.ends_with("/tests.rs");
    let modules: BTreeMap<String, Module> = sources
        .iter()
        .filter(is_code)
        .map(|source| (source.module().to_owned(), Module::of(source)))
        .collect();
    let arrows: BTreeMap<&String, BTreeSet<&String>> = modules
        .iter()
        .map(|(name, module)| {
            let to = module.named.iter().filter_map(|path| defining(&modules, path));
            (name, to.filter(|other| *other != name).collect())
        })
        .collect();
    modules.keys().filter(|module| reached(&arrows, module).contains(module)).cloned().collect()
}

fn reached<'a>(
    arrows: &BTreeMap<&'a String, BTreeSet<&'a String>>,
    from: &'a String,
) -> BTreeSet<&'a String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        open.extend(arrows[next].iter().copied().filter(|to| seen.insert(*to)));
    }
    seen
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let found = in_circles(&sources());
    let wrong = found.iter().map(|path| format!("src/{path}.rs is in a circle of imports"));
    assert_none(&wrong.collect::<Vec<_>>());
}

#[test]
fn the_circles_can_be_found() {
    let found = |texts: &[(&str, &str)]| {
        let sources: Vec<Source> =
            texts.iter().map(|(path, text)| Source::of(path, text)).collect();
        in_circles(&sources).len()
    };
    let tail = ("store/tail.rs", "use super::lock::Lock;\n");
    assert_eq!(found(&[tail, ("store/lock.rs", "use crate::tail::{self, Tail};\n")]), 2);
    assert_eq!(found(&[tail, ("store/lock.rs", "// crate::tail\n")]), 0);
    let by_way_of = ("store/lock.rs", "use crate::sync::one;\n");
    let sync = ("store/sync.rs", "fn f() { crate::tail::g() }\n");
    assert_eq!(found(&[tail, by_way_of, sync]), 3);
    let tests = "//! Locks.\n#[cfg(test)]\nmod tests {\n    use crate::tail::Tail;\n}\n";
    assert_eq!(found(&[tail, ("store/lock.rs", tests)]), 0);
    // A folder's own file that uses what is below it, and defines what that uses.
    let child = ("store/chain/entry.rs", "use super::Chain;\n");
    assert_eq!(
        found(&[child, ("store/chain.rs", "mod entry;\nuse entry::Entry;\nstruct Chain;\n")]),
        2
    );
    assert_eq!(found(&[child, ("store/chain/mod.rs", "mod entry;\nfn f() { entry::g() }\n")]), 2);
    // It only hands on a name.
    assert_eq!(
        found(&[child, ("store/chain.rs", "mod entry;\npub use entry::Entry;\nstruct Chain;\n")]),
        0
    );
    let handed =
        ("store/lib.rs", "mod lock;\nmod tail;\npub use lock::Lock;\npub use tail::Tail;\n");
    let lock = ("store/lock.rs", "use crate::Tail;\n");
    assert_eq!(found(&[handed, lock, ("store/tail.rs", "use crate::Lock;\n")]), 2);
    assert_eq!(found(&[handed, lock, ("store/tail.rs", "struct Tail;\n")]), 0);
}
