//! Saving by the real program: an invalid event is refused whole, with every problem reported at once and nothing
//! written; a valid one is acknowledged by its id alone. Not here: many writers at once (`many_writers`).

use std::fs::{File, OpenOptions};
use std::path::Path;

use serde_json::Value;

use crate::world::{LOG_MEMORY, Ran, World, bytes_under, run};

const GOOD: &[&str] = &["--repo", "api", "--type", "error", "--lesson", "verify ownership first"];

/// Runs `attempt` in a world without a store and in one that holds an event; neither may change by a byte.
fn refused(attempt: impl Fn(&World) -> Ran) -> Ran {
    let empty = World::new();
    let ran = attempt(&empty);
    assert!(!empty.store().exists(), "refused, and still made a store: {ran:?}");
    let seeded = World::new();
    seeded.log_memory(GOOD).done();
    let before = bytes_under(&seeded.store());
    attempt(&seeded);
    assert_eq!(bytes_under(&seeded.store()), before, "refused, and still wrote: {ran:?}");
    ran
}

/// Runs flags that must be refused with this exit code and all of these words.
#[track_caller]
fn refused_flags(args: &[&str], exit: i32, words: &[&str]) {
    let ran = refused(|world| world.log_memory(args));
    let shown: Vec<String> = args.iter().map(|arg| arg.chars().take(40).collect()).collect();
    assert_eq!(ran.exit, Some(exit), "{shown:?}: {}", ran.messages);
    assert_eq!(ran.output, "", "{shown:?}: standard output is for ids");
    for word in words {
        assert!(ran.messages.contains(word), "{shown:?}: no {word:?} in {}", ran.messages);
    }
    assert!(ran.messages.len() < 4_000, "{shown:?}: {} bytes of messages", ran.messages.len());
    assert!(ran.messages.lines().all(|line| line.starts_with("log-memory: ")), "{}", ran.messages);
}

/// Sends one event as JSON that must be refused; returns its problems as field and message.
#[track_caller]
fn refused_json(input: &str) -> Vec<(String, String)> {
    let ran = refused(|world| world.log_memory_json(input, &[]));
    let shown: String = input.chars().take(60).collect();
    assert_eq!(ran.exit, Some(65), "{shown}: {}", ran.messages);
    assert_eq!(ran.messages, "", "{shown}: the report is data");
    let report: Value = serde_json::from_str(&ran.output).expect("one line, one report");
    assert_eq!((&report["event"], &report["status"]), (&1.into(), &"refused".into()), "{shown}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let problems = report["problems"].as_array().unwrap().iter();
    problems.map(|problem| (text(&problem["field"]), text(&problem["message"]))).collect()
}

#[track_caller]
fn refused_json_for(input: &str, field: &str, words: &[&str]) {
    let problems = refused_json(input);
    let [(named, message)] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(named, field, "{message}");
    for word in words {
        assert!(message.contains(word), "no {word:?} in {message}");
    }
}

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [GOOD, more].concat()
}

// S-EXIT-1
#[test]
fn a_wrong_option_is_reported_with_the_likely_one() {
    refused_flags(&["--nonsense"], 64, &["--nonsense: unknown option", "log-memory --help"]);
    refused_flags(&["--event-type", "error"], 64, &["--event-type", "did you mean --type?"]);
    refused_flags(&["-x"], 64, &["-x: unknown option", "--help"]);
    refused_flags(&["--type", "error", "--lesson"], 64, &["--lesson"]);
    refused_flags(&["--type", "error", "--lesson", "two", "words"], 64, &["\"words\"", "quotes"]);
    refused_flags(&with(&["--durable=yes"]), 64, &["--durable"]);
    refused_flags(&["--json", "-", "--type", "error"], 64, &["--type cannot be combined"]);
}

// S-WRITE-2, S-EXIT-1
#[test]
fn a_missing_field_is_named_with_an_example() {
    refused_flags(&[], 65, &["--lesson: is empty", "for example"]);
    refused_flags(&["--type", "error"], 65, &["--lesson: is empty", "for example"]);
    refused_flags(&["--type", "error", "--lesson", " \n\t"], 65, &["--lesson: is empty"]);
}

// S-WRITE-5
#[test]
fn a_missing_type_is_guessed_and_told() {
    let world = World::new();
    let ran = world.log_memory(&["--repo", "web", "--lesson", "npm ci failed: chown first"]);
    assert!(ran.messages.contains("saved as error, which its words suggest"), "{ran:?}");
    assert_eq!(world.events("web.jsonl")[0].event_type.as_str(), "error");
    let ran = world.log_memory(&["--repo", "web", "--type", "fact", "--lesson", "npm ci failed"]);
    assert_eq!((ran.exit, ran.messages.as_str()), (Some(0), ""));
}

// S-WRITE-2, S-WRITE-4
#[test]
fn a_wrong_value_is_reported_with_the_allowed_ones() {
    for rate in ["often", "10/9", "1/0", "-1/2", "1/2/3", "9/99999999"] {
        refused_flags(&with(&["--success-rate", rate]), 65, &["--success-rate: must", "\"9/10\""]);
    }
    refused_flags(&with(&["--type", "Two Words"]), 65, &["--type: must", "error, success"]);
    refused_flags(&with(&["--timestamp", "soon"]), 65, &["--timestamp: must", "2025-10-31T"]);
    refused_flags(&with(&["--id", "a b"]), 65, &["--id: must", "leave it out"]);
    refused_flags(&with(&["--agent", "a\nb"]), 65, &["--agent: must be one line"]);
    let tag: &str = Box::leak("t".repeat(65).into_boxed_str());
    refused_flags(&with(&["--tags", tag]), 65, &["--tags: is 65 bytes", "at most 64"]);
}

// S-REPO-1
#[test]
fn a_repository_cannot_lead_out_of_the_store() {
    let paths = [
        "../../etc",
        "..",
        "/etc/passwd",
        "a/../b",
        "-rf",
        ".hidden",
        "nul",
        "a\\b",
        "a+b",
        "note: this",
    ];
    for repo in paths {
        refused_flags(&with(&["--repo", repo]), 65, &["--repo: must be", "github.com/acme/api"]);
    }
    refused_json_for(
        r#"{"repo":"../../etc","event_type":"error","lesson":"x"}"#,
        "repo",
        &["github.com/acme/api"],
    );
}

// S-WRITE-3
#[test]
fn characters_that_hide_or_control_are_refused_in_every_field() {
    let fields =
        ["context", "command", "lesson", "tags", "symptom", "file", "agent", "session", "source"];
    for field in fields {
        let flag: &str = Box::leak(format!("--{field}").into_boxed_str());
        refused_flags(&with(&[flag, "a\u{1B}[31mb"]), 65, &[flag, "U+001B", "NO_COLOR"]);
        refused_flags(&with(&[flag, "a\u{202E}b"]), 65, &[flag, "U+202E", "remove it"]);
    }
    let nul = r#"{"repo":"api","event_type":"error","lesson":"a\u0000b"}"#;
    refused_json_for(nul, "lesson", &["U+0000 at character 2", "not binary data"]);
}

// S-WRITE-2
#[test]
fn a_huge_text_is_refused_with_a_short_message() {
    let long: &str = Box::leak("x".repeat(100_000).into_boxed_str());
    refused_flags(&with(&["--lesson", long]), 65, &["--lesson: is 100000 bytes", "at most 32768"]);
    for flag in ["--timestamp", "--success-rate", "--repo", "--id", "--type"] {
        refused_flags(&with(&[flag, long]), 65, &[flag]);
    }
    let unknown: &str = Box::leak(format!("--{long}").into_boxed_str());
    refused_flags(&with(&[long]), 64, &["unexpected word"]);
    refused_flags(&with(&[unknown]), 64, &["unknown option"]);
    let huge = "x".repeat(10_000_000);
    let lesson = format!(r#"{{"repo":"api","event_type":"error","lesson":"{huge}"}}"#);
    refused_json_for(&lesson, "lesson", &["10000000 bytes", "at most 32768"]);
    let name = refused_json(&format!(r#"{{"{huge}":1}}"#));
    assert!(name.iter().all(|(field, message)| field.len() + message.len() < 4_000));
}

// S-WRITE-4
#[test]
fn all_problems_are_named_at_once() {
    let bad = [
        "--repo",
        "../x",
        "--type",
        "Two Words",
        "--timestamp",
        "soon",
        "--success-rate",
        "often",
        "--tags",
        "a\u{7}b",
        "--context",
        "\u{1B}",
    ];
    let fields =
        ["--repo", "--type", "--timestamp", "--success-rate", "--tags", "--context", "--lesson"];
    refused_flags(&bad, 65, &fields.map(|field| Box::leak(format!("{field}: ").into()) as &str));
    let problems = refused_json(
        r#"{"repo":"../x","event_type":"","success_rate":"often","timestamp":"soon"}"#,
    );
    let fields: Vec<&str> = problems.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["repo", "event_type", "timestamp", "lesson", "success_rate"]);
    let problems = refused_json(r#"{"type":"error","lesson":5,"tags":{},"files":[1]}"#);
    let fields: Vec<&str> = problems.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["type", "lesson", "tags", "files", "event_type"]);
}

// S-WRITE-4
#[test]
fn json_that_is_not_an_event_is_reported_by_field() {
    let unknown = r#"{"event_type":"error","lesson":"x","less":"y"}"#;
    refused_json_for(unknown, "less", &["unknown field", "did you mean \"lesson\"?"]);
    let number = r#"{"repo":"api","event_type":"error","lesson":5}"#;
    refused_json_for(number, "lesson", &["must be a string, got a number"]);
    refused_json_for("{\"lesson\":\"torn", "event", &["is not JSON", "{\"event_type\""]);
    refused_json_for("\"text\"", "event", &["must be a JSON object"]);
    refused_json_for(
        &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        "event",
        &["JSON"],
    );
}

#[test]
fn an_empty_batch_is_refused() {
    for nothing in ["", " \n\n", "[]"] {
        let ran = refused(|world| world.log_memory_json(nothing, &[]));
        assert_eq!((ran.exit, ran.output.as_str()), (Some(65), ""));
        assert!(ran.messages.contains("--json: the input contains no event"), "{}", ran.messages);
    }
}

// S-WRITE-5, S-LINE-4
#[test]
fn an_id_is_printed_alone_and_is_in_the_log() {
    let world = World::new();
    let output = world.log_memory(GOOD).done();
    let id = output.strip_suffix('\n').unwrap();
    assert!(id.len() == 26 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{output:?}");
    let [event] = world.events("api.jsonl").try_into().unwrap();
    assert_eq!((event.id.as_str(), event.repo.as_str()), (id, "api"));
    assert_eq!((event.agent_id.as_str(), event.source.as_deref()), ("Tester", Some("human")));
}

// S-LINE-2, S-LINE-3
#[test]
fn every_founding_flag_reaches_its_field() {
    let world = World::new();
    let args = [
        "--repo",
        "gptcoach2",
        "--type",
        "error",
        "--context",
        "npm install failed with EACCES",
        "--command",
        "sudo chown -R $USER . && npm ci",
        "--lesson",
        "always verify ownership before npm operations",
        "--success-rate",
        "9/10",
        "--tags",
        "npm, permissions,node_modules",
        "--agent",
        "claude-code",
        "--timestamp",
        "2025-10-31T04:58:01Z",
        "--id",
        "m1",
        "--durable",
    ];
    assert_eq!(world.log_memory(&args).done(), "m1\n");
    let expected = concat!(
        r#"{"id":"m1","timestamp":"2025-10-31T04:58:01Z","agent_id":"claude-code","repo":"gptcoach2","#,
        r#""event_type":"error","context":"npm install failed with EACCES","#,
        r#""command":"sudo chown -R $USER . && npm ci","#,
        r#""lesson":"always verify ownership before npm operations","success_rate":"9/10","#,
        r#""tags":["npm","permissions","node_modules"],"host":"testbox","source":"agent"}"#,
    );
    assert_eq!(world.log_lines("gptcoach2.jsonl"), [expected.as_bytes()]);
}

// S-WRITE-5
#[test]
fn a_batch_reports_on_each_event_in_its_place() {
    let world = World::new();
    let input = concat!(
        r#"{"repo":"a","event_type":"error","lesson":"one"}"#,
        "\n",
        "not json\n",
        r#"{"repo":"b","event_type":"fact","lesson":"two"}"#,
        "\n",
        r#"{"repo":"a","event_type":"error","lesson":""}"#,
        "\n",
        r#"{"repo":"a","event_type":"error","lesson":"three"}"#,
        "\n",
    );
    let ran = world.log_memory_json(input, &["--durable"]);
    assert_eq!((ran.exit, ran.messages.as_str()), (Some(65), ""));
    let reports: Vec<Value> =
        ran.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| reports.iter().map(|report| report[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("event"), [1, 2, 3, 4, 5]);
    assert_eq!(of("status"), ["synced", "refused", "synced", "refused", "synced"]);
    assert_eq!(world.log_names(), ["a.jsonl", "b.jsonl"]);
    let written: Vec<String> =
        world.all_events().iter().map(|event| event.id.to_string()).collect();
    assert_eq!(
        written,
        [&reports[0], &reports[4], &reports[2]].map(|report| report["id"].as_str().unwrap())
    );
}

// S-EXIT-1, S-STORE-2
#[test]
fn a_file_in_the_place_of_a_directory_is_file_trouble() {
    let world = World::new();
    std::fs::write(world.path("file"), "mine").unwrap();
    let inside = world.path("file").join("logs");
    let ran = world.log_memory(&[GOOD, &["--logs", inside.to_str().unwrap()]].concat());
    assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""));
    assert!(ran.messages.contains(inside.to_str().unwrap()), "{}", ran.messages);
    assert_eq!(std::fs::read(world.path("file")).unwrap(), b"mine");
    std::fs::create_dir_all(world.store().join("api.jsonl")).unwrap();
    let ran = world.log_memory(GOOD);
    assert_eq!(ran.exit, Some(74));
    assert!(ran.messages.contains("api.jsonl") && ran.messages.contains("move it away"));
}

// S-EXIT-1
#[test]
fn a_batch_file_that_is_not_there_is_file_trouble() {
    let ran = refused(|world| world.log_memory(&["--json", "nowhere.jsonl"]));
    assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""));
    assert!(ran.messages.contains("failed to read nowhere.jsonl"), "{}", ran.messages);
}

// S-STORE-6
#[test]
fn a_held_lock_delays_no_writer_and_loses_nothing() {
    let world = World::new();
    world.log_memory(GOOD).done();
    let lock = OpenOptions::new().write(true).open(world.store().join(".locks/api.jsonl.lock"));
    let lock: File = lock.unwrap();
    lock.lock().unwrap();
    let start = std::time::Instant::now();
    let ran = world.log_memory(GOOD);
    let batch = world.log_memory_json(r#"{"event_type":"error","lesson":"l","repo":"api"}"#, &[]);
    assert!(start.elapsed().as_secs() < 20, "an agent must not hang");
    assert_eq!((ran.exit, ran.output.lines().count()), (Some(0), 1));
    assert!(ran.messages.contains("waits in the spool"), "{}", ran.messages);
    let report: Value = serde_json::from_str(batch.done().trim_end()).unwrap();
    assert_eq!(report["status"], "written");
    assert!(report["waits"].as_str().unwrap().contains("spool"), "{report}");
    assert_eq!(world.log_lines("api.jsonl").len(), 1);
    assert_eq!(world.asked(&["status"])["memories"], 3, "found where it waits");
    assert_eq!(world.asked(&["status"])["waiting"], 2);
    lock.unlock().unwrap();
    let last = world.log_memory(GOOD).done();
    let ids: Vec<String> =
        world.events("api.jsonl").iter().map(|event| event.id.to_string()).collect();
    assert_eq!((ids.len(), ids[1].as_str()), (4, ran.output.trim_end()));
    assert_eq!(
        (ids[2].as_str(), ids[3].as_str()),
        (report["id"].as_str().unwrap(), last.trim_end())
    );
    assert_eq!(world.asked(&["status"])["waiting"], 0);
}

// S-EXIT-1
#[test]
fn a_wrong_configuration_is_reported_with_allowed_values() {
    let wrong = [
        ("logs =", "line 1"),
        ("logs = 3", "logs is of a wrong type"),
        ("[aliases]\nold = \"../new\"", "github.com/acme/api"),
        ("[aliases]\nold = 3", "aliases.old is of a wrong type"),
    ];
    for (text, word) in wrong {
        let ran = refused(|world| {
            world.configure("");
            std::fs::write(world.config_file(), text).unwrap();
            world.log_memory(GOOD)
        });
        assert_eq!((ran.exit, ran.output.as_str()), (Some(78), ""), "{text}");
        assert!(ran.messages.contains("config.toml"), "{}", ran.messages);
        assert!(ran.messages.contains(word), "no {word:?} in {}", ran.messages);
    }
}

// S-STORE-1
#[test]
fn settings_precedence_is_flag_environment_file_platform() {
    let world = World::new();
    let went_to = |configured: bool, environment: bool, flag: bool| {
        world.configure("");
        if configured {
            world.configure(&format!("logs = {:?}", world.path("by-file")));
        }
        let mut command = world.command(LOG_MEMORY);
        command.args(GOOD).env_remove("AGENT_KNOWLEDGE_LOGS");
        if environment {
            command.env("AGENT_KNOWLEDGE_LOGS", world.path("by-environment"));
        }
        if flag {
            command.arg("--logs").arg(world.path("by-flag"));
        }
        let count =
            |place: &Path| std::fs::read(place.join("api.jsonl")).map_or(0, |log| log.len());
        let platform = world.home().join(".local/share/agent-knowledge/logs");
        let places =
            ["by-flag", "by-environment", "by-file"].map(|name| world.path(name)).into_iter();
        let places: Vec<_> = places.chain([platform]).collect();
        let before: Vec<usize> = places.iter().map(|place| count(place)).collect();
        run(&mut command, b"").done();
        places.iter().zip(before).position(|(place, before)| count(place) > before).unwrap()
    };
    assert_eq!(went_to(true, true, true), 0);
    assert_eq!(went_to(true, true, false), 1);
    assert_eq!(went_to(true, false, false), 2);
    if cfg!(target_os = "linux") {
        assert_eq!(went_to(false, false, false), 3);
    }
}

#[test]
fn an_event_is_written_even_if_the_output_is_closed() {
    let world = World::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = world.command(LOG_MEMORY).args(GOOD).stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(world.events("api.jsonl").len(), 1);
}

#[test]
fn help_and_version_go_to_stdout() {
    let world = World::new();
    let help = world.log_memory(&["--help"]).done();
    assert!(help.contains("Usage: log-memory") && help.contains("Exit codes: 0"), "{help}");
    let version = format!("log-memory {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(world.log_memory(&["--version"]).done(), version);
}
