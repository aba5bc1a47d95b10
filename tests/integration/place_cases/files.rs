//! Cases about files: those that a lesson names, commits as evidence of staleness, and what is imported from rules and vaults. Not
//! here: what a look at a work tree comes to (`staleness`), every format of an import (`exchange`).

use std::path::{Path, PathBuf};

use super::{commit, everything, repository};
use crate::world::World;

fn stale(world: &World, top: &Path) -> String {
    everything(world, top, &["stale"])
}

/// A monorepo with a file of one name in two packages and at the top, and a lesson learned in one of them.
fn monorepo(world: &World, named: &str) -> PathBuf {
    let top = repository(world, "mono", Some("git@gitlab.com:ida/mono.git"));
    for file in ["app/lib/tax.py", "jobs/lib/tax.py", "lib/tax.py", "Justfile"] {
        commit(world, &top, file, "RATE = 19\n");
    }
    let lesson = ["--type", "fact", "--lesson", "the app rounds tax down", "--file", named];
    world.log_memory_in(&top.join("app"), &lesson).done();
    top
}

// S-STALE-2
#[test]
fn case_06_paths_from_a_subfolder() {
    for named in ["lib/tax.py", "./lib/tax.py", "ABSOLUTE", r"lib\tax.py", "../app/lib/tax.py"] {
        let world = World::new();
        let absolute = world.path("mono/app/lib/tax.py").display().to_string();
        let top = monorepo(&world, if named == "ABSOLUTE" { &absolute } else { named });
        let lines = world.log_lines("gitlab.com+ida+mono.jsonl").concat();
        let line = String::from_utf8(lines).unwrap();
        assert!(line.contains("\"app/lib/tax.py\""), "{named}: {line}");
        commit(&world, &top, "lib/tax.py", "RATE = 7\n");
        assert!(stale(&world, &top).contains("Nothing seems stale"), "{named}: another file");
        let told = everything(&world, &top, &["impact", "jobs/lib/tax.py"]);
        assert!(!told.contains("rounds tax down"), "{named}: {told}");
        let told = everything(&world, &top.join("app"), &["impact", "lib/tax.py"]);
        assert!(told.contains("rounds tax down"), "{named}: {told}");
        commit(&world, &top, "app/lib/tax.py", "RATE = 20\n");
        assert!(stale(&world, &top).contains("changed: app/lib/tax.py"), "{named}");
    }
    let world = World::new();
    let top = monorepo(&world, "../Justfile");
    commit(&world, &top, "Justfile", "all:\n");
    assert!(stale(&world, &top).contains("changed: Justfile"));
    let lesson = ["--type", "fact", "--lesson", "no such thing", "--file", "lib/gone.py"];
    let ran = world.log_memory_in(&top.join("app"), &lesson);
    assert!(ran.exit == Some(0) && ran.messages.contains("lib/gone.py"), "{ran:?}");
}

// S-STALE-3
#[test]
fn case_12_squash_merges_and_renames() {
    let world = World::new();
    let top = repository(&world, "kiln", Some("https://gitlab.com/ida/kiln"));
    commit(&world, &top, "src/glaze.rs", "fn glaze() -> u8 {\n    let heat = 1240;\n    6\n}\n");
    world.git(&top, &["switch", "--quiet", "--create", "ash"]);
    commit(&world, &top, "src/ash.rs", "fn ash() {}\n");
    let save = |lesson: &str, more: &[&str]| {
        let args = [&["--type", "decision", "--lesson", lesson], more].concat();
        world.log_memory_in(&top, &args).done();
    };
    save("ash is sieved twice", &[]);
    save("ash lowers the melting point", &[]);
    save("glaze() is called last", &["--file", "src/glaze.rs"]);
    world.git(&top, &["switch", "--quiet", "main"]);
    world.git(&top, &["merge", "--quiet", "--squash", "ash"]);
    world.git(&top, &["commit", "--quiet", "--message", "ash (#4)"]);
    world.git(&top, &["branch", "--quiet", "-D", "ash"]);
    world.git(&top, &["reflog", "expire", "--expire=now", "--all"]);
    assert!(stale(&world, &top).contains("Nothing seems stale"), "{}", stale(&world, &top));
    // A renamed file is the same file.
    world.git(&top, &["mv", "src/glaze.rs", "src/shine.rs"]);
    world.git(&top, &["commit", "--quiet", "--message", "a better name"]);
    let told = stale(&world, &top);
    assert!(!told.contains("gone: src/glaze.rs"), "{told}");
    // Work that was dropped still counts against what was learned in it.
    world.git(&top, &["switch", "--quiet", "--create", "slip"]);
    commit(&world, &top, "src/slip.rs", "fn slip() {}\n");
    save("slip is poured at noon", &[]);
    world.git(&top, &["switch", "--quiet", "main"]);
    world.git(&top, &["branch", "--quiet", "-D", "slip"]);
    let told = stale(&world, &top);
    assert!(told.contains("poured at noon") && !told.contains("sieved twice"), "{told}");
}

fn write(top: &Path, file: &str, text: &str) {
    let path = top.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The lessons of all logs.
fn lessons(world: &World) -> Vec<String> {
    world.all_events().into_iter().map(|event| event.lesson.to_string()).collect()
}

#[test]
fn case_14_rule_files_of_today() {
    let world = World::new();
    let top = repository(&world, "loom", Some("https://gitlab.com/ida/loom"));
    let rules = [
        (
            ".cursor/rules/yarn.mdc",
            "---\nalwaysApply: true\n---\n- Yarn is ordered on Mondays, by telephone\n",
        ),
        ("weave/AGENTS.md", "- Shuttles are oiled before each shift\n"),
        ("CLAUDE.local.md", "- My own loom stands by the window\n"),
        (
            ".github/instructions/dye.instructions.md",
            "---\napplyTo: \"**\"\n---\n- Indigo needs three dips\n",
        ),
        (".claude/rules/warp.md", "- Warp threads are counted twice\n"),
        (".windsurf/rules/reed.md", "- The reed has forty dents\n"),
        (".clinerules/heddle.md", "- Heddles hang from the left\n"),
    ];
    rules.iter().for_each(|(file, text)| write(&top, file, text));
    write(&top, "docs/hands.md", "- Wash your hands before you touch silk\n");
    let text = "# CLAUDE.md\n\nThis file provides guidance to Claude Code (claude.ai/code) when working with code here.\n\n\
        [![build](https://img.example/b.svg)](https://ci.example)\n\n- [Commands](#commands)\n- [x] rename the shed\n\n\
        @docs/hands.md\n\n<details>\n<important if=\"you weave\">\n- Use the small shuttle for silk\n</important>\n</details>\n";
    write(&top, "CLAUDE.md", text);
    let ran = world.agent_knowledge_in(&top, &["import", "--found"]);
    let told = format!("{}{}", ran.output, ran.messages);
    let saved = lessons(&world);
    for (file, text) in rules {
        let rule = text.rsplit("- ").next().unwrap().trim();
        let is_read = saved.iter().any(|lesson| lesson.contains(rule));
        let folder = file.rsplit_once('/').map_or(file, |(folder, _)| folder);
        assert!(is_read || told.contains(folder), "{file} is neither read nor named: {told}");
    }
    for expected in ["small shuttle for silk", "Wash your hands"] {
        assert!(saved.iter().any(|lesson| lesson.contains(expected)), "{expected}: {saved:?}");
    }
    for junk in
        ["provides guidance", "img.example", "(#commands)", "@docs", "important", "details", "[x]"]
    {
        assert!(!saved.iter().any(|lesson| lesson.contains(junk)), "{junk}: {saved:?}");
    }
}

#[test]
fn case_28_vaults_with_odd_notes() {
    let world = World::new();
    let vault = world.path("vault");
    for (file, text) in [
        (".obsidian/app.json", "{}\n"),
        (
            "Looms: old and new.md",
            "\u{feff}---\ntitle: 2026-03-01\ntags: null\n---\r\nThe oldest loom needs two people\r\n",
        ),
        ("broken.md", "---\ntitle: [unclosed\n---\nBroken matter still holds a fact about reeds\n"),
        ("empty.md", ""),
        (".trash/old.md", "What lies in the bin is no lesson\n"),
        ("Templates/day.md", "# <% tp.date.now() %>\n\n<% tp.file.cursor() %>\n"),
        ("list.md", "```dataview\nTABLE yarn FROM #stock\n```\n"),
        ("pictures/loom.png", "x"),
    ] {
        write(&vault, file, text);
    }
    let into = ["--repo", "ida/vault"];
    let import = [&["import", vault.to_str().unwrap()][..], &into].concat();
    let told = everything(&world, &world.work(), &import);
    assert!(told.contains("not read: pictures/loom.png: no Markdown"), "{told}");
    let saved = lessons(&world);
    assert!(saved.iter().any(|lesson| lesson.contains("two people")), "{told}: {saved:?}");
    assert!(saved.iter().any(|lesson| lesson.contains("about reeds")), "{told}: {saved:?}");
    for junk in ["tp.", "dataview", "TABLE yarn", "in the bin"] {
        assert!(!saved.iter().any(|lesson| lesson.contains(junk)), "{junk}: {saved:?}");
    }
    let count = saved.len();
    everything(&world, &world.work(), &import);
    assert_eq!(lessons(&world).len(), count, "a second import changes nothing");
}
