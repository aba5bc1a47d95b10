//! Taking a secret out of a log loses nothing else, whatever happens meanwhile. The rule is the test's
//! own, and the rewriting the real one. Not here: what a line becomes (`upkeep`), and the
//! real rules.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use event::{RepoKey, clean, codec};
use guard::secrets::Finding;
use store::Store;
use upkeep::scrub::{ScrubMode, ScrubRequest, scrub};
use upkeep::surfaces::OwnFolders;
use upkeep::{CheckReport, CheckVerdict, SecretRecogniser};

use crate::world::World;

mod real;

/// The word that the test's rule knows.
const SECRET: &str = "hush-hush";

fn find(text: &str) -> Vec<Finding> {
    let places = text.match_indices(SECRET);
    places.map(|(start, _)| Finding { rule: "test", span: start..start + SECRET.len() }).collect()
}

fn scrub_all(world: &World) -> CheckReport {
    let recogniser = SecretRecogniser {
        find: &find,
        fields: &|event| codec::fields_of(clean::clean(event).event()),
    };
    let request = ScrubRequest {
        store: &Store::at(world.store()),
        repo: Some(RepoKey::parse("api").unwrap()),
        how: ScrubMode::Change,
        recogniser: &recogniser,
        places: OwnFolders {
            store: &world.store(),
            cache: &world.path("cache"),
            sessions: &world.path("past"),
        },
    };
    scrub(&request).unwrap()
}

const WRITERS: usize = 8;
const EVENTS_EACH: usize = 40;

/// A writer waits for one more scrub that met a secret after so many events, so that scrubbing and
/// writing keep up with each other on any machine. What it wrote since the last one is such a secret.
const EVENTS_PER_SCRUB: usize = 8;

/// Longest such a wait may take: a debug build on a busy machine, but never for ever.
const WAIT: Duration = Duration::from_secs(60);

// S-SCRUB-2, S-STORE-5
#[test]
fn writers_that_go_on_while_it_works_lose_nothing() {
    let world = World::new();
    let (is_over, scrubs) = (AtomicBool::new(false), AtomicUsize::new(0));
    let write = |writer: usize| {
        let write_one = |number: usize| {
            let start = Instant::now();
            while scrubs.load(Ordering::Acquire) < number / EVENTS_PER_SCRUB {
                assert!(start.elapsed() < WAIT, "no scrub came to its end");
                thread::yield_now();
            }
            let lesson = format!("{SECRET} {writer} {number}");
            let args = ["--repo", "api", "--type", "fact", "--lesson", &lesson];
            let id = world.log_memory(&args).done().trim_end().to_owned();
            (id, format!("[REDACTED:test] {writer} {number}"))
        };
        (0..EVENTS_EACH).map(write_one).collect::<Vec<_>>()
    };
    let write = &write;
    let printed: BTreeSet<(String, String)> = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                let is_changed = scrub_all(&world).reply.json["changed"] == true;
                scrubs.fetch_add(usize::from(is_changed), Ordering::Release);
            }
        });
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        let printed = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        is_over.store(true, Ordering::Release);
        printed
    });
    assert_eq!(scrub_all(&world).verdict, CheckVerdict::Fine);
    let events = world.events("api.jsonl");
    let found: BTreeSet<(String, String)> =
        events.iter().map(|event| (event.id.to_string(), event.lesson.clone())).collect();
    assert_eq!(events.len(), printed.len());
    assert_eq!(found, printed, "acknowledged and found differ");
}

// S-SCRUB-2
#[test]
fn scrubbing_keeps_memories_and_a_private_file() {
    use crate::raw_client::{Client, Era};
    let world = World::new();
    world.hand_write("api.jsonl", format!("{{\"lesson\":\"the zebra {SECRET} eats\"}}\n"));
    let mut client = Client::open(&world, Era::Modern);
    let before = client.search("zebra");
    assert!(before.contains("zebra"), "{before}");
    scrub_all(&world);
    let after = client.search("zebra");
    assert!(after.contains("[REDACTED:test]") && !after.contains(SECRET), "{after}");
    let id = |reply: &str| {
        let line = reply.lines().find(|line| line.starts_with("1. [")).unwrap();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(id(&before), id(&after), "a line without id keeps the one its bytes gave it");
    let told = world.asked(&["status"]);
    assert_eq!(told["memories"], 1, "{told}");
}

// S-SCRUB-1
#[test]
fn the_command_tells_that_there_is_nothing_to_do() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "no secret"]).done();
    let bytes = world.log_lines("api.jsonl");
    assert_eq!(world.agent_knowledge(&["scrub"]).done(), "no secrets found\n");
    assert_eq!(world.agent_knowledge(&["scrub", "--dry-run"]).exit, Some(0));
    assert_eq!(world.log_lines("api.jsonl"), bytes);
    let ran = world.agent_knowledge(&["scrub", "--repo", "nobody"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.messages.contains("there is no log"), "{}", ran.messages);
}
