//! Cases about words: what people paste, other scripts, damaged lines, facts of different ages. Not here: ranking (`retrieval`).

use serde_json::json;

use super::{everything, repository};
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Errors as programs print them, which look as if they had filters.
const PASTED: [&str; 6] = [
    "error validating manifest: kind:StatefulSet name:ledger is immutable",
    "docker: failed to resolve reference tag:3.4.1-slim for acme/ledger",
    "denied: requested access to repo:acme/ledger-cache is refused",
    "npm error code ENOENT while resolving file:../shared-icons",
    "agent:edge-07 lost its lease and was fenced",
    "snapshot until:infinity is out of range for ledger",
];

// S-FIND-2
#[test]
fn case_07_words_of_a_pasted_error() {
    let world = World::new();
    let top = repository(&world, "ledger", Some("https://gitlab.com/ida/ledger"));
    for (number, error) in PASTED.iter().enumerate() {
        let lesson = format!("remedy number {number} helps");
        let args = ["--type", "error", "--symptom", error, "--lesson", &lesson];
        world.log_memory_in(&top, &args).done();
    }
    let mut client = Client::open(&world, Era::Modern);
    for (number, error) in PASTED.iter().enumerate() {
        let expected = format!("remedy number {number} helps");
        let told = everything(&world, &top, &["search", error]);
        assert!(told.contains(&expected), "{error}: {told}");
        let told = everything(&world, &top, &["search", error, "--json"]);
        assert!(told.contains(&expected), "{error}: {told}");
        let mut piped = world.command(AGENT_KNOWLEDGE);
        let log = format!("step 4 of 9\n{error}\nexit status 1\n");
        let ran = run(piped.current_dir(&top).args(["search", "-"]), log.as_bytes());
        assert!(ran.output.contains(&expected), "{error}: {ran:?}");
        assert!(client.search(error).contains(&expected), "{error}");
    }
    // A filter whose value is known still filters.
    world.log_memory_in(&top, &["--type", "decision", "--lesson", "masts are of oak"]).done();
    let told = everything(&world, &top, &["search", "kind:error remedy"]);
    assert!(told.contains("remedy number"), "{told}");
    let told = everything(&world, &top, &["search", "kind:decision remedy"]);
    assert!(!told.contains("helps"), "{told}");
}

#[test]
fn case_20_words_of_other_scripts() {
    let world = World::new();
    for (lesson, query) in [
        ("ห้ามปิดเครื่องพิมพ์ก่อนเที่ยงคืน", "เครื่องพิมพ์"),
        ("データベースの接続は八本まで", "データベースの接続"),
        ("缓存每小时清空一次", "缓存清空"),
        ("서버를 먼저 내려야 합니다", "서버"),
        ("सर्वर को पहले बंद करें", "सर्वर"),
        ("أوقف الخادم قبل الترقية", "الخادم"),
        ("יש לכבות את השרת לפני השדרוג", "השרת"),
        ("σταματήστε τον διακομιστή πρώτα", "διακομιστή"),
        ("İSTANBUL sunucusu önce durur", "istanbul sunucusu"),
        ("STRASSE wird mit ß geschrieben: Straße", "straße"),
        ("máy chủ phải tắt trước", "may chu tat"),
        ("cafe\u{301} au lait is the code word", "café code word"),
        ("полёт начинается утром", "полет начинается"),
    ] {
        world.log_memory(&["--repo", "ida/words", "--type", "fact", "--lesson", lesson]).done();
        let told = world.agent_knowledge(&["search", query, "--repo", "ida/words"]).done();
        assert!(told.contains(lesson), "{query}: {told}");
    }
}

// S-LINE-6
#[test]
fn case_21_damaged_lines_and_conflict_copies() {
    let world = World::new();
    let line = |id: &str, lesson: &str| {
        json!({"v": 1, "id": id, "timestamp": "2026-11-01T10:00:00Z", "repo": "ida/loft", "event_type": "fact",
            "lesson": lesson}).to_string()
    };
    let a = line("01M7MZ0000000000000000000A", "pigeons home at dusk");
    let b = line("01M7MZ0000000000000000000B", "grain is kept in tin");
    let c = line("01M7MZ0000000000000000000C", "rings are blue this year");
    let d = line("01M7MZ0000000000000000000D", "the ladder has nine rungs");
    let e = line("01M7MZ0000000000000000000E", "straw is changed on Sundays");
    let text = format!(
        "{a}\n<<<<<<< HEAD\n{b}\n=======\n>>>>>>> theirs\n{{\"v\":1,\"id\":\"broken\n{d}{e}\n"
    );
    world.hand_write("ida+loft.jsonl", text);
    world.hand_write("ida+loft.sync-conflict-20261102-101010-ABCDEFG.jsonl", format!("{a}\n{c}\n"));
    let told = world.agent_knowledge(&["list", "--repo", "ida/loft"]).done();
    for lesson in ["home at dusk", "kept in tin", "blue this year", "nine rungs", "on Sundays"] {
        assert_eq!(told.matches(lesson).count(), 1, "{lesson}: {told}");
    }
    let told = everything(&world, &world.work(), &["status"]);
    assert!(told.contains("skipped") || told.contains("could not be read"), "{told}");
}

/// A question, and two facts that answer it: one that held until another day, and the one that holds now.
type OutdatedFact = (&'static str, [(&'static str, &'static str); 2]);

const OUTDATED: [OutdatedFact; 6] = [
    (
        "which port does the pier gateway listen on",
        [
            ("02-03", "the pier gateway listens on 6100"),
            ("09-17", "the pier gateway now listens on 6200, since the crane was moved"),
        ],
    ),
    (
        "where does the tide table come from",
        [
            ("03-05", "the tide table comes from the harbour office"),
            (
                "10-21",
                "the tide table now comes from the weather service instead of the harbour office",
            ),
        ],
    ),
    (
        "what do lanterns of the jetty run on",
        [
            ("01-11", "lanterns of the jetty run on kerosene"),
            ("08-02", "lanterns of the jetty run on batteries"),
        ],
    ),
    (
        "may boats moor at the north wall",
        [
            ("02-20", "boats may moor at the north wall overnight"),
            ("07-30", "boats may no longer moor at the north wall overnight"),
        ],
    ),
    (
        "how often does the foghorn sound",
        [
            ("04-01", "the foghorn sounds every 30 seconds"),
            ("09-09", "the foghorn was changed to sound every 45 seconds"),
        ],
    ),
    (
        "with which scale is fish weighed",
        [
            ("05-05", "fish is weighed with the spring scale"),
            ("10-10", "the spring scale is broken; fish is weighed with the beam scale"),
        ],
    ),
];

#[test]
fn case_27_an_outdated_fact_and_a_newer_one() {
    let world = World::new();
    let save = |day: &str, lesson: &str| {
        let event = json!({"repo": "ida/pier", "event_type": "fact", "lesson": lesson, "timestamp": format!("2026-{day}T09:00:00Z")});
        world.log_memory_json(event.to_string(), &[]).done();
    };
    for [(before, older), (day, newer)] in OUTDATED.map(|(_, facts)| facts) {
        save(before, older);
        save(day, newer);
    }
    for (query, [_, (day, newer)]) in OUTDATED {
        // The newer fact is in the answer, in full and with its day, however words alone rank it.
        let told = world.agent_knowledge(&["search", query, "--repo", "ida/pier"]).done();
        let line = told.lines().find(|line| line.contains(newer));
        let day = format!("[2026-{day}]");
        assert!(line.is_some_and(|line| line.contains(&day)), "{query}: {told}");
    }
    // The pairs are listed with the command that settles each, and a settled one is answered by the newer fact alone.
    let told = world.agent_knowledge(&["review", "--repo", "ida/pier", "--json"]).json();
    let pairs = told["pairs"].as_array().unwrap();
    assert!(pairs.len() + 1 >= OUTDATED.len(), "{told}");
    let listed = world.agent_knowledge(&["review", "--repo", "ida/pier"]).done();
    for line in listed.lines().filter_map(|line| line.trim().strip_prefix("the newer holds: ")) {
        let (command, _) = line.split_once(" |").unwrap();
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        world.agent_knowledge(&words).done();
    }
    let mut settled = 0;
    for (query, [(_, older), (_, newer)]) in OUTDATED {
        let told = world.agent_knowledge(&["search", query, "--repo", "ida/pier"]).done();
        let is_alone = !told.lines().any(|line| line.contains(&format!("] {older} ·")));
        settled += usize::from(is_alone && told.contains(newer));
    }
    assert!(settled + 1 >= OUTDATED.len(), "{settled} of {}", OUTDATED.len());
}
