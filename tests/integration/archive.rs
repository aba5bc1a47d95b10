//! Old lines move to packed segments beside their log, and nobody who asks sees a difference. Not here:
//! crashes and writers meanwhile (`faults::archive`).

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::raw_client::{Client, Era};
use crate::world::{World, run};

mod old_lines;

fn line(number: usize) -> String {
    format!("{{\"id\":\"m{number}\",\"repo\":\"api\",\"lesson\":\"the zebra{number} eats\"}}\n")
}

fn lines(numbers: std::ops::Range<usize>) -> String {
    numbers.map(line).collect()
}

fn segment(world: &World) -> PathBuf {
    world.store().join("archive/api/000001.jsonl.gz")
}

// S-ARCH-1, S-ARCH-2, S-DIGEST-1
#[test]
fn what_was_archived_is_found_by_every_command_and_by_zcat() {
    let world = World::new();
    world.hand_write("api.jsonl", lines(0..30));
    let digest = world.agent_knowledge(&["digest"]).done();
    let dry = world.agent_knowledge(&["archive", "--keep", "10", "--dry-run"]).done();
    assert!(dry.ends_with("20 lines would be archived; nothing was changed\n"), "{dry}");
    assert!(!segment(&world).exists());
    let told = world.asked(&["archive", "api", "--keep", "10"]);
    assert_eq!((&told["lines"], &told["changed"]), (&json!(20), &json!(true)), "{told}");
    assert_eq!(std::fs::read_to_string(world.store().join("api.jsonl")).unwrap(), lines(20..30));
    let zcat = run(world.command("sh").args(["-c", "gzip -dc \"$0\""]).arg(segment(&world)), b"");
    assert_eq!(zcat.done(), lines(0..20));
    assert_eq!(world.agent_knowledge(&["digest"]).done(), digest);
    assert!(world.agent_knowledge(&["search", "zebra3"]).done().contains("the zebra3 eats"));
    assert!(world.agent_knowledge(&["show", "m3"]).done().contains("the zebra3 eats"));
    let verified = world.agent_knowledge(&["verify"]).done();
    assert_eq!(verified, "1 log, 1 segment, 30 lines, 30 events: no problems found\n");
    let verified = world.agent_knowledge(&["verify", "--repo", "api"]).done();
    assert!(verified.contains("1 segment, 30 lines"), "{verified}");
    let status = world.asked(&["status"]);
    assert_eq!((&status["memories"], &status["segments"]), (&json!(30), &json!(1)), "{status}");
    let doctor: Value =
        serde_json::from_str(&world.agent_knowledge(&["doctor", "--json"]).output).unwrap();
    let checks = doctor["checks"].as_array().unwrap();
    let archive = checks.iter().find(|check| check["check"] == "archive").unwrap();
    assert!(archive["says"].as_str().unwrap().starts_with("1 segments"), "{archive}");
    let again = world.agent_knowledge(&["archive", "--keep", "10"]).done();
    assert_eq!(again, "nothing to archive\n");
    assert_eq!(world.agent_knowledge(&["archive"]).done(), "nothing to archive\n");
}

// S-ARCH-4
#[test]
fn a_running_server_follows() {
    let world = World::new();
    world.hand_write("api.jsonl", lines(0..30));
    let mut client = Client::open(&world, Era::Modern);
    let digest = client.read("memory://digest")["digest"].clone();
    for keep in ["20", "10", "0"] {
        world.agent_knowledge(&["archive", "--keep", keep]).done();
        assert_eq!(client.read("memory://digest")["digest"], digest, "keep {keep}");
        let found = client.search("zebra3");
        assert!(found.contains("the zebra3 eats"), "{found}");
    }
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "a walrus"]).done();
    assert!(client.search("walrus").contains("a walrus"));
    assert_eq!(world.asked(&["status"])["memories"], 31);
}

// S-ARCH-5, S-VERIFY-1
#[test]
fn a_secret_in_a_segment_is_told_by_its_place_and_taken_out() {
    let world = World::new();
    // Put together here, so that no scanner takes this file for a leak.
    let key = format!("gh{}_aB3dE5gH7jK9mN1pQ2sT4vW6yZ8cF0000001", 'p');
    let secret = format!("{{\"id\":\"s1\",\"lesson\":\"push with {key} as token\"}}\n");
    world.hand_write("api.jsonl", lines(0..3) + &secret + &lines(3..9));
    let digest = world.agent_knowledge(&["digest"]).done();
    world.agent_knowledge(&["archive", "--keep", "2"]).done();
    let verified = world.agent_knowledge(&["verify", "--json"]);
    let told: Value = serde_json::from_str(&verified.output).unwrap();
    let log = told["logs"].as_array().unwrap().iter().find(|log| log["secrets"] == 1).unwrap();
    assert_eq!(log["segment"], segment(&world).to_str().unwrap(), "{log}");
    assert_eq!(log["log"], world.store().join("api.jsonl").to_str().unwrap());
    assert_eq!((verified.exit, &log["secret_places"][0]["line"]), (Some(1), &json!(4)));
    let told = world.agent_knowledge(&["scrub"]).done();
    assert!(told.contains("1 segments of old lines were rewritten"), "{told}");
    assert!(told.contains("000001.jsonl.gz: line 4, lesson: ") && !told.contains(&key), "{told}");
    assert_eq!(world.agent_knowledge(&["scrub"]).done(), "no secrets found\n");
    assert_eq!(world.agent_knowledge(&["verify"]).exit, Some(0));
    assert_eq!(world.agent_knowledge(&["digest"]).done(), digest, "secrets were never folded");
}

// S-ARCH-4
#[test]
fn a_damaged_segment_is_told_and_the_rest_is_found() {
    let world = World::new();
    world.hand_write("api.jsonl", lines(0..9));
    world.agent_knowledge(&["archive", "--keep", "5"]).done();
    std::fs::write(segment(&world), b"no gzip at all").unwrap();
    let status = world.asked(&["status"]);
    assert_eq!(status["memories"], 5, "{status}");
    let told = status["troubles"][0].to_string();
    assert!(told.contains("000001.jsonl.gz") && told.contains("1 damaged"), "{told}");
    let verified = world.agent_knowledge(&["verify"]);
    assert_eq!(verified.exit, Some(1));
    assert!(verified.output.contains("TROUBLE ") && verified.output.contains("1 damaged"));
}

// S-ARCH-2, S-ARCH-6
#[test]
fn invalid_archive_settings_are_refused_by_both_programs() {
    let world = World::new();
    world.configure("archive_above_lines = 10000\narchive_older_than = \"90d\"\n");
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "x"]).done();
    for (args, exit, told) in [
        (&["--keep", "-1"][..], 65, "--keep: must be a whole number"),
        (&["--older-than", "old"], 65, "--older-than: must be a time, a day or an age"),
        (&["nobody"], 1, "there is no log"),
    ] {
        let ran = world.agent_knowledge(&[&["archive"], args].concat());
        assert_eq!((ran.exit, ran.output.as_str()), (Some(exit), ""), "{args:?}");
        assert!(ran.messages.contains(told), "{}", ran.messages);
    }
    world.agent_knowledge(&["archive", "--older-than", "1d"]).done();
    assert_eq!(world.events("api.jsonl").len(), 1, "it was written just now");
    world.agent_knowledge(&["archive", "--keep", "0"]).done();
    assert_eq!(std::fs::read(world.store().join("api.jsonl")).unwrap(), b"");
    assert_eq!(world.asked(&["status"])["memories"], 1);
}
