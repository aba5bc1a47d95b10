//! Which tools a client over HTTP may call, and how often. Over standard streams the client is a program of the user, who may
//! call all. Not here: who the client is (`http::admitted`).

use crate::schema::{ANALYZE, CONTEXT, FEEDBACK, FORGET, LINK, SAVE, SESSIONS, STALE, UNLINK};
use access::admitted::{Admitted, too_many};
use access::rights::Rights;

/// Returns the right that a tool needs: past sessions and work trees are those of the owner of the server.
pub fn rights(tool: &str) -> Rights {
    match tool {
        SAVE | FEEDBACK | FORGET | LINK | UNLINK => Rights::Write,
        SESSIONS | STALE => Rights::Admin,
        _ => Rights::Read,
    }
}

/// Tells whether a client may call a tool now, and counts the call if it is an expensive one. `is_allowed` says whether this server
/// has the tool for its clients, whatever is known of this one.
///
/// # Errors
/// Says what is missing, for the model.
pub fn check(tool: &str, is_allowed: bool, admitted: Option<&Admitted>) -> Result<(), String> {
    if let Some(admitted) = admitted {
        admitted.may(rights(tool))?;
    }
    if !is_allowed {
        return Err(format!("this needs a token with the right {}", rights(tool)));
    }
    // Each of them looks at all memories, or at files and git.
    let is_expensive = matches!(tool, CONTEXT | SESSIONS | STALE | ANALYZE);
    if is_expensive { charge(admitted) } else { Ok(()) }
}

/// Counts an expensive call of a client.
///
/// # Errors
/// Says when to try again.
pub fn charge(admitted: Option<&Admitted>) -> Result<(), String> {
    admitted.map_or(Ok(()), |admitted| admitted.pay().map_err(too_many))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{SEARCH, ToolSet};
    use event::Timestamp;

    // S-TOKEN-3
    #[test]
    fn a_tool_needs_its_right() {
        let now = Timestamp::UNIX_EPOCH;
        for given in Rights::ALL {
            let admitted = Admitted::with(given, Some("ci"), now);
            for tool in ToolSet::Full.names() {
                let is_allowed = check(tool, true, Some(&admitted)).is_ok();
                assert_eq!(is_allowed, given >= rights(tool), "{tool} {given}");
                assert!(check(tool, true, None).is_ok(), "over standard streams");
                assert!(
                    check(tool, false, None).is_err(),
                    "nobody is known, and it is not for all"
                );
            }
        }
        let told =
            check(SAVE, true, Some(&Admitted::with(Rights::Read, Some("ci"), now))).unwrap_err();
        assert!(told.contains("the right write") && told.contains("token ci has read"), "{told}");
    }

    // S-HTTP-9
    #[test]
    fn expensive_tools_end_and_a_search_does_not() {
        let admitted = Admitted::with(Rights::Read, Some("ci"), Timestamp::UNIX_EPOCH);
        let asked = |tool: &str| check(tool, true, Some(&admitted));
        let refused = (0..1_000).find_map(|_| asked(CONTEXT).err()).unwrap();
        assert!(refused.ends_with("try again in 1 s"), "{refused}");
        assert!(asked(ANALYZE).is_err() && asked(SEARCH).is_ok());
    }
}
