//! The promises as tests of a server, the same for every one. Not here: the promises (`promises`), servers.

use std::ffi::OsString;

/// Returns the address of a server in a variable. `None` where there is none.
pub fn server_in(variable: &str) -> Option<OsString> {
    let server = std::env::var_os(variable);
    if server.is_none() {
        let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!is_ci, "{variable} is missing, and CI may not skip what needs it");
        eprintln!("skipped: {variable} is missing; scripts/test-engine starts a server");
    }
    server
}

/// Makes the tests of a server. `$database` returns an empty engine, or `None` where there is no server.
macro_rules! promises_of_a_server {
    ($database:path) => {
        // S-CORPUS-1, S-CORPUS-7
        #[test]
        fn lessons_rank_as_on_one_machine() {
            let Some(engine) = $database() else { return };
            crate::promises::answers_as_one_machine_does(&engine, &crate::collections::lessons());
        }

        // S-CORPUS-1, S-CORPUS-7
        #[test]
        fn turns_rank_as_on_one_machine() {
            let Some(turns) = crate::collections::turns() else { return };
            let Some(engine) = $database() else { return };
            crate::promises::answers_as_one_machine_does(&engine, &turns);
        }

        // S-CORPUS-1, S-CORPUS-7
        #[test]
        fn lessons_with_vectors_rank_as_on_one_machine() {
            let Some(engine) = $database() else { return };
            let mut lessons = crate::collections::lessons();
            lessons.snapshot = crate::collections::with_vectors(lessons.snapshot);
            crate::promises::answers_as_one_machine_does(&engine, &lessons);
        }

        // S-CORPUS-3
        #[test]
        fn filters_are_those_of_one_machine() {
            let Some(engine) = $database() else { return };
            crate::promises::filters_as_one_machine_does(&engine);
        }

        // S-CORPUS-4
        #[test]
        fn putting_again_changes_nothing() {
            let Some(engine) = $database() else { return };
            crate::promises::putting_is_idempotent(&engine);
            crate::promises::a_change_leaves_nothing_behind(&engine);
        }

        // S-CORPUS-5
        #[test]
        fn a_feeder_follows_the_fold() {
            let Some(engine) = $database() else { return };
            crate::promises::feeding_follows_the_fold(&engine);
        }

        // S-CORPUS-4
        #[test]
        fn what_goes_meanwhile_is_no_hit() {
            let Some(engine) = $database() else { return };
            crate::promises::what_goes_meanwhile_is_no_hit(&engine);
        }
    };
}
pub(crate) use promises_of_a_server;
