//! Which tools a client over HTTP may call, and how often. Over standard streams the client is a program of the user, who may
//! call all. Not here: who the client is (`access::admitted`).

use access::admitted_caller::{AdmittedCaller, too_many};
use requests::fields::CallArguments;
use requests::rights::Rights;
use requests::verb::Verb;

/// Tells whether a client may ask for a verb now, and counts the call if it is an expensive one. `allowed` is what this server lets its
/// clients do, whatever is known of this one; without a verb, the name is of no tool.
///
/// # Errors
/// Says what is missing, for the model.
pub fn check(
    verb: Option<&Verb>,
    given: &CallArguments,
    allowed: Rights,
    admitted: Option<&AdmittedCaller>,
) -> Result<(), String> {
    let needed = verb.map_or(Rights::Read, Verb::rights);
    if let Some(admitted) = admitted {
        admitted.check_right(needed)?;
    }
    if needed > allowed {
        return Err(format!("this needs a token with the right {needed}"));
    }
    let (Some(verb), Some(admitted)) = (verb, admitted) else { return Ok(()) };
    admitted.charge(verb, given).map_err(too_many)
}

/// Counts an expensive call of a client.
///
/// # Errors
/// Says when to try again.
pub fn charge(admitted: Option<&AdmittedCaller>) -> Result<(), String> {
    admitted.map_or(Ok(()), |admitted| admitted.pay().map_err(too_many))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{find_tool, tool_names};
    use event::Timestamp;
    use requests::tool::{ANALYZE, CONTEXT, SAVE, SEARCH, ToolSet};

    fn asked(tool: &str, allowed: Rights, admitted: Option<&AdmittedCaller>) -> Result<(), String> {
        check(find_tool(tool).map(|(verb, _)| verb), &CallArguments::new(), allowed, admitted)
    }

    // S-TOKEN-3
    #[test]
    fn a_tool_needs_its_right() {
        let now = Timestamp::UNIX_EPOCH;
        for given in Rights::ALL {
            let admitted = AdmittedCaller::for_tests(given, Some("ci"), now);
            for tool in tool_names(ToolSet::Full) {
                let needed = find_tool(tool).unwrap().0.rights();
                let is_allowed = asked(tool, Rights::Admin, Some(&admitted)).is_ok();
                assert_eq!(is_allowed, given >= needed, "{tool} {given}");
                assert!(asked(tool, Rights::Admin, None).is_ok(), "over standard streams");
                assert_eq!(
                    asked(tool, given, None).is_ok(),
                    given >= needed,
                    "nobody is known, and it is not for all"
                );
            }
        }
        let reader = AdmittedCaller::for_tests(Rights::Read, Some("ci"), now);
        let told = asked(SAVE, Rights::Admin, Some(&reader)).unwrap_err();
        assert!(told.contains("the right write") && told.contains("token ci has read"), "{told}");
    }

    // S-HTTP-9
    #[test]
    fn expensive_tools_end_and_a_search_does_not() {
        let admitted = AdmittedCaller::for_tests(Rights::Read, Some("ci"), Timestamp::UNIX_EPOCH);
        let asked = |tool: &str| asked(tool, Rights::Admin, Some(&admitted));
        let refused = (0..1_000).find_map(|_| asked(CONTEXT).err()).unwrap();
        assert!(refused.ends_with("try again in 1 s"), "{refused}");
        assert!(asked(ANALYZE).is_err() && asked(SEARCH).is_ok());
    }
}
