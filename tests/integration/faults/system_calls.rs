//! System calls that fail, injected with strace into the real writer: whatever fails, the program says
//! so, the log is as it was or holds the whole event, and the next append works. Not here: failures that
//! the system makes by itself (`disk_full`).

use std::path::Path;

use super::{contents, tell};
use crate::pieces;
use crate::world::{LOG_MEMORY, Ran, World, run};

/// One call that fails, and what must come of it.
struct Fault {
    /// What strace is told.
    inject: &'static str,
    /// What the calls are on, below the store; only those fail.
    on: &'static str,
    options: &'static [&'static str],
    exit: i32,
    /// How many events the log has more.
    kept: usize,
    /// What the message says, beside the path.
    told: &'static str,
}

const NONE: &[&str] = &[];
const DURABLE: &[&str] = &["--durable"];
const LOG: &str = "api.jsonl";
const LOCK: &str = ".locks/api.jsonl.lock";

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    Fault { inject: "write:error=ENOSPC:when=1", on: LOG, options: NONE, exit: 74, kept: 0, told: "No space left" },
    Fault { inject: "write:error=EDQUOT:when=1", on: LOG, options: NONE, exit: 74, kept: 0, told: "quota" },
    Fault { inject: "write:error=EIO:when=1", on: LOG, options: NONE, exit: 74, kept: 0, told: "Input/output error" },
    Fault { inject: "write:error=EINTR:when=1..5", on: LOG, options: NONE, exit: 0, kept: 1, told: "" },
    Fault { inject: "pread64:error=EIO", on: LOG, options: NONE, exit: 74, kept: 0, told: "Input/output error" },
    Fault { inject: "openat:error=EACCES", on: LOG, options: NONE, exit: 0, kept: 1, told: "waits in the spool" },
    Fault { inject: "openat:error=EROFS", on: LOG, options: NONE, exit: 74, kept: 0, told: "read-only" },
    Fault { inject: "openat:error=EMFILE", on: LOG, options: NONE, exit: 74, kept: 0, told: "Too many open files" },
    Fault { inject: "openat:error=ENFILE", on: LOG, options: NONE, exit: 74, kept: 0, told: "Too many open files" },
    Fault { inject: "openat:error=ENOSPC", on: LOG, options: NONE, exit: 74, kept: 0, told: "No space left" },
    Fault { inject: "openat:error=EACCES", on: LOCK, options: NONE, exit: 0, kept: 1, told: "waits in the spool" },
    Fault { inject: "openat:error=EROFS", on: LOCK, options: NONE, exit: 74, kept: 0, told: "read-only" },
    Fault { inject: "openat:error=EMFILE", on: LOCK, options: NONE, exit: 74, kept: 0, told: "Too many open files" },
    Fault { inject: "flock:error=EINTR:when=1..5", on: LOCK, options: NONE, exit: 0, kept: 1, told: "" },
    Fault { inject: "flock:error=ENOLCK", on: LOCK, options: NONE, exit: 74, kept: 0, told: "No locks available" },
    Fault { inject: "pread64:error=EIO", on: LOCK, options: NONE, exit: 0, kept: 1, told: "" },
    Fault { inject: "pwrite64:error=ENOSPC", on: LOCK, options: NONE, exit: 0, kept: 1, told: "" },
    Fault { inject: "fdatasync:error=EIO", on: LOG, options: DURABLE, exit: 74, kept: 1, told: "do not send it again" },
    Fault { inject: "fdatasync:error=ENOSPC", on: LOG, options: DURABLE, exit: 74, kept: 1, told: "do not send it again" },
    Fault { inject: "fsync:error=EIO", on: "", options: DURABLE, exit: 74, kept: 1, told: "do not send it again" },
];

/// Runs `log-memory` with calls on one path failing.
pub fn log_memory_with(
    world: &World,
    strace: &Path,
    on: &Path,
    inject: &str,
    args: &[&str],
) -> Ran {
    let call = inject.split(':').next().unwrap();
    let mut command = world.command(strace);
    command.arg("-f").arg("-o").arg(world.path("trace")).arg("-P").arg(on);
    command.args(["-e", &format!("trace={call}"), "-e", &format!("inject={inject}")]);
    run(command.arg(LOG_MEMORY).args(args), b"")
}

/// Tells how often strace made a call fail in the last run.
fn injected(world: &World) -> usize {
    std::fs::read_to_string(world.path("trace")).unwrap().matches("(INJECTED)").count()
}

// S-STORE-3, S-STORE-4
#[test]
fn a_failing_system_call_is_reported_and_loses_nothing() {
    let Some(strace) = pieces::strace() else { return };
    let world = World::new();
    let log = world.store().join(LOG);
    let args = ["--repo", "api", "--type", "fact", "--lesson", "an event"];
    world.log_memory(&args).done();
    let mut events = 1;
    for fault in FAULTS {
        let named = format!("{} on {}", fault.inject, fault.on);
        let before = std::fs::read(&log).unwrap();
        let on = world.store().join(fault.on);
        let ran =
            log_memory_with(&world, &strace, &on, fault.inject, &[&args, fault.options].concat());
        assert!(injected(&world) > 0, "{named}: nothing failed: {ran:?}");
        assert_eq!(ran.exit, Some(fault.exit), "{named}: {}", ran.messages);
        assert!(ran.messages.contains(fault.told), "{named}: {}", ran.messages);
        assert_eq!(ran.output.is_empty(), ran.exit != Some(0), "{named}: an id means acknowledged");
        let after = std::fs::read(&log).unwrap();
        assert!(after.starts_with(&before), "{named}: what was there changed");
        assert!(fault.kept == 1 || after == before, "{named}: something was left behind");
        // The next append finds nothing in its way.
        world.log_memory(&args).done();
        events += fault.kept + 1;
        let found = contents(&log);
        assert_eq!((found.events.len(), found.torn.len()), (events, 0), "{named}");
    }
    tell(
        "P5",
        &format!("{} system calls of log-memory made to fail (strace)", FAULTS.len()),
        "each told with its exit code; log whole; next append works",
    );
}

// S-STORE-4
#[test]
fn a_store_that_cannot_be_made_is_told() {
    let Some(strace) = pieces::strace() else { return };
    let errors = ["EACCES", "EROFS", "ENOSPC", "ENOTDIR"];
    for error in errors {
        let world = World::new();
        let args = ["--repo", "api", "--type", "fact", "--lesson", "an event"];
        let inject = format!("mkdir,mkdirat:error={error}");
        let mut command = world.command(&strace);
        command.arg("-o").arg(world.path("trace"));
        command.args(["-e", "trace=mkdir,mkdirat", "-e", &format!("inject={inject}")]);
        let ran = run(command.arg(LOG_MEMORY).args(args), b"");
        assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""), "{error}: {}", ran.messages);
        let told = match error {
            "EACCES" => "you may not write there",
            "EROFS" => "read-only",
            _ => "make the directory",
        };
        assert!(ran.messages.contains(told), "{error}: {}", ran.messages);
        world.log_memory(&args).done();
        assert_eq!(contents(&world.store().join(LOG)).events.len(), 1, "{error}");
    }
    let errors = errors.join(", ");
    tell(
        "P5",
        &format!("making the store fails with {errors} (strace)"),
        "told, exit 74; works after",
    );
}
