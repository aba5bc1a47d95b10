//! P5 where nobody ignores SIGXFSZ for the writer: its default action would kill it in the middle of a
//! line. Not here: the same limit with the signal ignored by the caller (`disk_full`).

use super::disk_full::assert_limit_is_survived;
use super::tell;

// S-STORE-3
#[test]
fn a_file_size_limit_does_not_kill_the_writer() {
    let refusals = assert_limit_is_survived("");
    tell(
        "P5",
        "RLIMIT_FSIZE of 32 kB, SIGXFSZ as the system has it",
        &format!("{refusals} short writes taken back (exit 74), 0 torn; next append works"),
    );
}
