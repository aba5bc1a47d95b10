//! P9: replay is idempotent. Logs that are repeated and shuffled by blocks give the same digest. Not
//! here: digests after restarts and kills.

use serde_json::json;

use super::{sized, tell};
use crate::many_writers::Random;
use crate::world::World;

const LOGS: usize = 3;
/// Blocks are of this many lines at most.
const BLOCK_LINES_MAX: u32 = 20;

fn digest(world: &World) -> String {
    let printed = world.agent_knowledge(&["digest"]).done();
    let digest = printed.lines().find(|line| line.starts_with("sha256:")).expect("a digest");
    digest.to_owned()
}

/// Events, events about them, two contents of one id, lines without id, and damage.
fn lines(log: usize, count: usize) -> Vec<String> {
    let line = |number: usize| {
        let id = format!("id{log}x{number}");
        let value = match number % 8 {
            5 => {
                json!({ "id": id, "event_type": "feedback", "memory_id": format!("id{log}x{}", number - 1), "lesson": "it helped" })
            }
            6 => {
                json!({ "id": format!("id{log}x{}", number - 1), "lesson": format!("another content {number}") })
            }
            7 => json!({ "lesson": format!("without id {number}"), "context": "by hand" }),
            _ => json!({ "id": id, "event_type": "fact", "lesson": format!("lesson {number}"),
                "timestamp": format!("2026-01-02T03:{:02}:05Z", number % 60) }),
        };
        value.to_string()
    };
    (0..count).map(line).collect()
}

/// The lines three times over, cut into blocks, and the blocks in another order.
fn shuffled(lines: &[String], random: &mut Random) -> Vec<String> {
    let repeated = [lines, lines, lines].concat();
    let (mut blocks, mut rest) = (Vec::new(), repeated.as_slice());
    while !rest.is_empty() {
        let length = usize::try_from(1 + random.below(BLOCK_LINES_MAX)).unwrap().min(rest.len());
        let (block, more) = rest.split_at(length);
        blocks.push(block);
        rest = more;
    }
    for last in (1..blocks.len()).rev() {
        let other = random.below(u32::try_from(last + 1).unwrap());
        blocks.swap(last, usize::try_from(other).unwrap());
    }
    blocks.concat()
}

fn world_of(logs: &[Vec<String>]) -> World {
    let world = World::new();
    for (number, lines) in logs.iter().enumerate() {
        world.hand_write(&format!("repo{number}.jsonl"), format!("{}\n", lines.join("\n")));
    }
    world
}

// S-READ-3
#[test]
fn repeated_and_shuffled_logs_have_the_same_digest() {
    let (count, orders) = (sized(200, 2_000), sized(4, 25));
    let logs: Vec<Vec<String>> = (0..LOGS).map(|log| lines(log, count)).collect();
    let once = digest(&world_of(&logs));
    let mut random = Random(1);
    for order in 0..orders {
        let others: Vec<Vec<String>> =
            logs.iter().map(|lines| shuffled(lines, &mut random)).collect();
        assert_eq!(digest(&world_of(&others)), once, "order {order}");
    }
    let mut more = logs.clone();
    more[0].push(json!({ "id": "new", "lesson": "one more" }).to_string());
    assert_ne!(digest(&world_of(&more)), once, "the digest tells nothing");
    tell(
        "P9",
        &format!("{LOGS} logs of {count} lines, three times over, {orders} orders of blocks"),
        "one digest",
    );
}
