//! Cases about which repository it is: spellings of a remote, changes over time, past sessions. Not here: every spelling (`event`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{briefing, commit, everything, follow, hook, key_at, learn, repository};
use super::{start_of_session, told_command};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// The key of a repository with a remote, where git's own configuration of the user counts too.
#[track_caller]
fn key_of_url(world: &World, top: &Path, url: &str) -> String {
    world.git(top, &["config", "remote.origin.url", url]);
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.env_remove("GIT_CONFIG_GLOBAL").current_dir(top).args(["whoami", "--json"]);
    run(&mut command, b"").json()["repo"].as_str().unwrap().to_owned()
}

fn write(path: PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A member of a team that shares what one host's group has.
fn member(team: &Path, remote: &str) -> (World, PathBuf) {
    let world = World::new();
    world.configure(&format!(
        "[sync]\nremote = {:?}\nshare = [\"gitlab.com/fjell/*\"]\n",
        team.display()
    ));
    let top = repository(&world, "ski", Some(remote));
    (world, top)
}

// S-REPO-2, S-SYNC-2
#[test]
fn case_02_spellings_of_one_remote() {
    let world = World::new();
    let top = repository(&world, "ski", None);
    write(world.home().join(".ssh/config"), "Include hosts/*.conf\nHost *\n  Compression yes\n");
    let hosts = "Host \"gl-arbeid\" gl-privat\n  HostName=gitlab.com\n\nHost lift\n\tHostname git.fjell.example\n\tPort 2202\n";
    write(world.home().join(".ssh/hosts/all.conf"), hosts);
    let settings = "[include]\n\tpath = ~/.config/git/short\n[url \"https://git.fjell.example/\"]\n\tinsteadOf = https://speil.fjell.example/\n";
    write(world.home().join(".gitconfig"), settings);
    write(
        world.home().join(".config/git/short"),
        "[url \"git@gitlab.com:\"]\n\tinsteadOf = \"lab:\" ; short\n",
    );
    for (expected, urls) in [
        (
            "gitlab.com/fjell/ski",
            &[
                "https://gitlab.com/Fjell/Ski.git",
                "gl-arbeid:fjell/ski.git",
                "ssh://git@gl-privat/fjell/ski",
                "lab:fjell/ski",
                "ssh://git@altssh.gitlab.com:443/fjell/ski.git",
            ][..],
        ),
        (
            "git.fjell.example/loype/ski",
            &[
                "https://speil.fjell.example/loype/ski.git",
                "lift:loype/ski",
                "https://deploy:x@git.fjell.example:8443/loype/ski",
                "ssh://git@git.fjell.example:2202/loype/ski.git",
            ],
        ),
        (
            "github.com/fjell/ski",
            &[
                "http://proxy_user@127.0.0.1:40123/git/fjell/ski",
                "http://proxy_user@127.0.0.1:51999/git/fjell/ski",
                "http://localhost:8080/git/fjell/ski.git",
            ],
        ),
        (
            "stash.fjell.example/alp/ski",
            &[
                "https://stash.fjell.example/scm/alp/ski.git",
                "ssh://git@stash.fjell.example:7999/alp/ski.git",
            ],
        ),
        (
            "dev.azure.com/fjell/heis/ski",
            &[
                "https://fjell.visualstudio.com/Heis/_git/ski",
                "https://fjell.visualstudio.com/DefaultCollection/Heis/_git/ski",
                "fjell@vs-ssh.visualstudio.com:v3/fjell/Heis/ski",
                "git@ssh.dev.azure.com:v3/fjell/Heis/ski",
            ],
        ),
    ] {
        for url in urls {
            assert_eq!(key_of_url(&world, &top, url), expected, "{url}");
        }
    }

    // Nora and Odd spell it otherwise, and nothing says that both mean one place.
    let team = World::new();
    let remote = team.path("memory.git");
    team.git(&remote, &["init", "--quiet", "--bare"]);
    let (nora, her_top) = member(&remote, "https://gitlab.com/fjell/ski.git");
    let (odd, his_top) = member(&remote, "git@lab-of-odd:fjell/ski.git");
    learn(&nora, &her_top, "wax is chosen by the snow, not the air");
    learn(&odd, &his_top, "poles are 85 percent of the height");
    nora.agent_knowledge_in(&her_top, &["sync", "--yes"]).done();
    let told = everything(&odd, &his_top, &["sync", "--yes"]);
    assert!(
        told.contains("lab-of-odd/fjell/ski") && told.contains("gitlab.com/fjell/ski"),
        "{told}"
    );
    assert!(briefing(&odd, &his_top).contains("gitlab.com/fjell/ski"), "the briefing names it");
    let join = told_command(&told, "config set");
    follow(&odd, &his_top, &join).done();
    // What was saved before leaves once somebody agrees, and not before.
    let told = everything(&odd, &his_top, &["sync", "--dry-run"]);
    let named = "1 older line of lab-of-odd/fjell/ski";
    assert!(told.contains(named) && told.contains("joined to gitlab.com/fjell/ski"), "{told}");
    let told = everything(&odd, &his_top, &["sync"]);
    assert!(told.contains("1 older line") && told.contains("--yes"), "{told}");
    nora.agent_knowledge_in(&her_top, &["sync"]).done();
    assert!(!briefing(&nora, &her_top).contains("85 percent"));
    odd.agent_knowledge_in(&his_top, &["sync", "--yes"]).done();
    nora.agent_knowledge_in(&her_top, &["sync"]).done();
    assert!(briefing(&nora, &her_top).contains("85 percent"));
    assert!(briefing(&odd, &his_top).contains("by the snow"));
    learn(&odd, &his_top, "gloves dry overnight");
    odd.agent_knowledge_in(&his_top, &["sync"]).done();
    nora.agent_knowledge_in(&her_top, &["sync"]).done();
    assert!(briefing(&nora, &her_top).contains("dry overnight"));
}

// S-REPO-5
#[test]
fn case_04_a_repository_changes_its_identity() {
    // It gets a remote, after one lesson in a new store.
    let world = World::new();
    let top = repository(&world, "loom", None);
    learn(&world, &top, "warp before weft");
    world.git(&top, &["remote", "add", "upstream", "git@codeberg.org:ida/loom.git"]);
    let told = start_of_session(&world, &top);
    assert!(told.contains("warp before weft"), "{told}");
    // Its owner changes, and somebody is told where the memories are.
    world.git(&top, &["remote", "set-url", "upstream", "git@codeberg.org:guild/loom.git"]);
    let told = briefing(&world, &top);
    assert!(told.contains("codeberg.org/ida/loom") && told.contains("1 memory"), "{told}");
    for command in ["doctor", "status"] {
        let told = everything(&world, &top, &[command]);
        assert!(told.contains("config set aliases.codeberg.org/ida/loom"), "{command}: {told}");
    }
    follow(&world, &top, &told_command(&told, "config set")).done();
    assert!(briefing(&world, &top).contains("warp before weft"));

    // The same after a single lesson, whatever came first.
    let world = World::new();
    let top = repository(&world, "kiln", Some("https://codeberg.org/ida/kiln"));
    learn(&world, &top, "cone six at dawn");
    world.git(&top, &["remote", "set-url", "origin", "https://codeberg.org/guild/pots"]);
    let told = start_of_session(&world, &top);
    assert!(told.contains("codeberg.org/ida/kiln"), "{told}");

    // The folder moves.
    let world = World::new();
    let top = repository(&world, "forge", None);
    learn(&world, &top, "quench in oil");
    let moved = world.path("smithy");
    std::fs::rename(&top, &moved).unwrap();
    let told = briefing(&world, &moved);
    let join = told_command(&told, "config set");
    follow(&world, &moved, &join).done();
    assert!(briefing(&world, &moved).contains("quench in oil"));
    // A new repository at the old path is told nothing of it, and what it learns stays there.
    let reused = world.path("forge");
    world.git(&reused, &["init", "--quiet"]);
    commit(&world, &reused, "PLAN.md", "another beginning\n");
    assert!(!start_of_session(&world, &reused).contains("quench in oil"));
    learn(&world, &reused, "tongs hang on the left");
    let told = briefing(&world, &reused);
    assert!(told.contains("tongs hang") && !told.contains("quench in oil"), "{told}");
    let told = briefing(&world, &moved);
    assert!(!told.contains("tongs hang") && told.contains("quench in oil"), "{told}");
}

/// Writes a session of Claude Code in which a failure was mended.
fn write_session(world: &World, id: &str, cwd: &Path, branch: &str, words: [&str; 4]) {
    let [question, failed, mended, error] = words;
    let error = format!("Exit code 1\n{error}");
    let call = |id: &str, command: &str| json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]);
    let result = |id: &str, is_error: bool, text: &str| json!([{ "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text }]);
    let turns: [(&str, Value); 6] = [
        ("user", json!(question)),
        ("assistant", call("t1", failed)),
        ("user", result("t1", true, &error)),
        ("assistant", call("t2", mended)),
        ("user", result("t2", false, "12 passed")),
        (
            "assistant",
            json!([{ "type": "text", "text": "The socket is in the run folder, so it works now." }]),
        ),
    ];
    let lines = turns.iter().enumerate().map(|(number, (kind, content))| {
        json!({ "type": kind, "uuid": format!("{id}-{number}"), "parentUuid": null, "isSidechain": false, "cwd": cwd,
            "gitBranch": branch, "sessionId": id, "version": "2.1.270", "timestamp": format!("2026-10-01T09:0{number}:00.000Z"),
            "message": { "role": kind, "id": format!("{id}-m{number}"), "content": content } })
    });
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    write(world.home().join(".claude/projects/-past").join(format!("{id}.jsonl")), &text);
}

fn found_here(world: &World, top: &Path, query: &str) -> String {
    everything(world, top, &["sessions", "search", query, "--this-repo"])
}

/// What was asked, which command failed, which one worked then, and the error.
const MENDED: [[&str; 4]; 4] = [
    [
        "why does the spindle stall",
        "npm run test:spin",
        "npm run test:spin -- --freeze-loom",
        "Error: thread lease expired for bobbin 4711 in spin fixture",
    ],
    [
        "where is the bobbin wound",
        "cargo build --bin bobbin",
        "cargo build --bin bobbin --offline",
        "error: heddle frame 4711 missing from the castle of the loom",
    ],
    [
        "which dye fades in the sun",
        "npm test",
        "npm test -- --runInBand",
        "Error: shuttle 4711 lost in the race of the batten",
    ],
    [
        "what turns the treadle",
        "go test ./treadle",
        "go test -count=1 ./treadle",
        "treadle: error: pedal jammed under beam 4711 beside the flywheel",
    ],
];

// S-REPO-6
#[test]
fn case_05_sessions_of_removed_work_trees() {
    let world = World::new();
    let top = repository(&world, "mill", Some("https://gitlab.com/ida/mill"));
    let mill = "gitlab.com/ida/mill";
    let folders = [
        (top.join(".claude/worktrees/calm-fox"), "worktree-calm-fox"),
        (world.path("mill-bobbin"), "bobbin"),
        (world.path("mill.worktrees/dye"), "dye"),
        (top.join("parts/gone/since"), "main"),
    ];
    for (number, ((folder, branch), words)) in folders.iter().zip(MENDED).enumerate() {
        write_session(&world, &format!("0{number}"), folder, branch, words);
    }
    world.agent_knowledge_in(&top, &["sessions", "import", "--yes"]).done();
    for words in ["spindle stall", "bobbin wound", "dye fades", "turns the treadle"] {
        let told = found_here(&world, &top, words);
        assert!(told.contains(words), "{words}: {told}");
    }
    // Each of the failures comes again, with another number in it: a hook says what worked then.
    for (number, [_, failed, mended, error]) in MENDED.iter().enumerate() {
        let error = error.replace("4711", "4712");
        let failed = json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "t9",
            "session_id": format!("later-{number}"), "tool_input": { "command": failed }, "error": format!("Exit code 1\n{error}") });
        let told = hook(&world, &top, failed);
        assert!(told.contains(mended), "{mended}: {told}");
    }

    // Codex's folder, by a repository that the store knows; corrected once that is so.
    let world = World::new();
    let tree = world.home().join(".codex/worktrees/9f3c/mill");
    write_session(
        &world,
        "0e",
        &tree,
        "task-9f3c",
        ["how is the flax combed", "comb", "comb --fine", "comb: tooth 4711 bent in the hackle"],
    );
    world.agent_knowledge(&["sessions", "import", "--yes"]).done();
    let top = repository(&world, "mill", Some("https://gitlab.com/ida/mill"));
    learn(&world, &top, "flax is combed thrice");
    assert_eq!(key_at(&world, &top), mill);
    world.agent_knowledge(&["sessions", "import", "--yes"]).done();
    let told = found_here(&world, &top, "flax combed");
    assert!(told.contains("how is the flax combed"), "{told}");
    commit(&world, &top, "later.md", "x\n");
}
