//! Of several durable writers that wait for the disk at the same time, one syncs for all. Not here: that
//! what they wrote survives (`power_loss`).

use super::{contents, tell};
use crate::pieces;
use crate::world::{LOG_MEMORY, World, run};

const WRITERS: usize = 8;

// S-STORE-4
#[test]
fn durable_writers_that_wait_for_a_slow_disk_share_its_syncs() {
    let Some(strace) = pieces::strace() else { return };
    let world = World::new();
    let args = ["--repo", "api", "--type", "fact", "--lesson", "durable", "--durable"];
    world.log_memory(&args).done();
    let log = world.store().join("api.jsonl");
    let mut command = world.command(strace);
    // A disk that takes 0.7 s for a sync: all have written before the first one ends.
    command.args(["-f", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_exit=700000"]);
    command.arg("-o").arg(world.path("trace")).arg("-P").arg(&log);
    let script = "\"$@\" & ".repeat(WRITERS) + "wait";
    command.args(["sh", "-c", &script, "sh", LOG_MEMORY]).args(args);
    let printed = run(&mut command, b"").done();
    assert_eq!(printed.lines().count(), WRITERS, "{printed}");
    assert_eq!(contents(&log).events.len(), WRITERS + 1);
    let trace = std::fs::read_to_string(world.path("trace")).unwrap();
    let syncs = trace.lines().filter(|line| line.contains(" fdatasync(")).count();
    assert!((1..WRITERS).contains(&syncs), "{syncs} syncs for {WRITERS} writers: {trace}");
    tell(
        "P2",
        &format!("{WRITERS} durable writers at once, a disk that takes 0.7 s for a sync (strace)"),
        &format!("all acknowledged as synced, {syncs} syncs"),
    );
}
