//! The laws of the fuzz targets, held against a moment's worth of inputs with every run of the tests.
//! Not here: the laws themselves (`fuzz/laws.rs`), and minutes of inputs (`scripts/fuzz`).

#[path = "../../fuzz/laws.rs"]
mod inputs;

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Text that is close to what we read: JSON and its pieces, escapes, breaks, secrets' neighbours.
fn near_json() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[{}\\[\\]\":,\\\\ ]{1,4}",
        Just("\"lesson\":\"x\"".to_owned()),
        Just("\"tags\":\"[\\\"a\\\"]\"".to_owned()),
        Just("\\ud83d".to_owned()),
        Just("\\u0085\u{85}\u{2028}\u{1E}".to_owned()),
        "(true|null|-0|1e308|18446744073709551616|0\\.1)",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
}

/// Any JSON value of a few levels.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z0-9/.,\u{85}\u{200B} ]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Every field of a line and of a call.
const FIELDS: [&str; 29] = [
    "id",
    "timestamp",
    "agent_id",
    "repo",
    "event_type",
    "context",
    "command",
    "lesson",
    "success_rate",
    "tags",
    "symptoms",
    "files",
    "commit",
    "branch",
    "folder",
    "session_id",
    "host",
    "source",
    "memory_id",
    "schema",
    "query",
    "all_repos",
    "kinds",
    "limit",
    "max_tokens",
    "ids",
    "explain",
    "task",
    "topic",
];

/// Objects whose fields are mostly ours, with values that mostly are not.
fn any_fields() -> impl Strategy<Value = Map<String, Value>> {
    let name = prop_oneof![9 => prop::sample::select(&FIELDS[..]).prop_map(str::to_owned), 1 => any::<String>()];
    let plain = prop::sample::select(&["error", "9/10", "2026-02-03", "acme/web", "5"][..]);
    let value = prop_oneof![3 => any_value(), 1 => plain.prop_map(Value::from)];
    prop::collection::vec((name, value), 0..10).prop_map(|fields| fields.into_iter().collect())
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let seeds = std::fs::read_dir(folder).unwrap();
    seeds.map(|seed| std::fs::read(seed.unwrap().path()).unwrap()).collect()
}

#[test]
fn the_seeds_of_the_fuzz_targets_keep_the_laws() {
    for (target, seeds) in
        ["line_decode", "redact", "tail", "mcp_input"].map(|name| (name, seeds(name)))
    {
        assert!(seeds.len() >= 4, "{target}");
        for seed in seeds {
            match target {
                "line_decode" => inputs::line_decode(&seed),
                "redact" => inputs::redact(std::str::from_utf8(&seed).unwrap()),
                "tail" => inputs::tail(&seed),
                _ => inputs::mcp_input(&seed),
            }
        }
    }
}

// S-LINE-1
#[test]
fn long_lines_are_followed_in_any_pieces() {
    let line = |bytes: usize| [vec![b'x'; bytes], vec![b'\n']].concat();
    let log: Vec<u8> =
        [70_000, 262_143, 262_144, 3, 2_097_151, 2_097_152, 2_097_153, 3_000_000, 0, 5]
            .into_iter()
            .flat_map(line)
            .collect();
    for size in [100_001, 262_144, log.len()] {
        inputs::grown(&log.chunks(size).collect::<Vec<_>>());
    }
}

proptest! {
    // S-LINE-7, S-LINE-9
    #[test]
    fn what_is_read_is_written_as_one_line_and_read_alike(
        bytes in prop_oneof![near_json(), prop::collection::vec(any::<u8>(), 0..120)]
    ) {
        inputs::line_decode(&bytes);
    }

    // S-LINE-9
    #[test]
    fn any_fields_are_written_as_one_line_and_read_alike(fields in any_fields()) {
        inputs::line_decode(json!(fields).to_string().as_bytes());
    }

    #[test]
    fn redacting_is_done_once_and_for_all(text in any::<String>(), bytes in near_json()) {
        inputs::redact(&text);
        inputs::redact(&String::from_utf8_lossy(&bytes));
    }

    // S-LINE-1
    #[test]
    fn a_log_grows_in_any_pieces(pieces in prop::collection::vec("[a\\n\\r\u{0}é]{0,5}", 0..8)) {
        inputs::grown(&pieces.iter().map(String::as_bytes).collect::<Vec<_>>());
    }

    // S-MCP-2
    #[test]
    fn any_arguments_are_a_request_within_bounds_or_problems(tool in 0_u8..5, fields in any_fields()) {
        inputs::arguments_of(tool, fields);
    }
}
