//! Which texts a parameter takes, as patterns for the description: as narrow as what is accepted. Not here: the check
//! itself (`requests`).

use serde_json::{Value, json};

use event::limits::{ID_BYTES_MAX, REPO_KEY_BYTES_MAX};
use requests::parameter::{Parameter, ParameterValues};

/// A blank text counts as left out, so where a field may be left out it may be blank. Control characters are dropped.
const OR_BLANK: &str = r"^[\s\u0000-\u001F\u007F-\u009F]*$|";

/// A text that is not blank.
const NOT_BLANK: &str = r"[^\s\u0000-\u001F\u007F-\u00A0\u00AD\u0300-\u036F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202F\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0]";

/// An id, or a short form of it.
const ID: &str = "^[!-~]+$";

/// An id of our own making: an origin of links.
const ORIGIN: &str = r"^[!#-&(-\[\]-_a-~]+$";

/// A time in RFC 3339, a day or an age.
const TIME: &str = concat!(
    r"^[0-9]{1,9}[hdw]$|^[12][0-9]{3}-",
    r"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))",
    r"(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?$",
);

/// The name of a repository, its key, or the URL of its remote. One letter before a colon is a drive, not a host.
const REPO: &str = concat!(
    r"^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*(/[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)*$",
    r"|^((https?|ssh|git)://([A-Za-z0-9_-]+@)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]{1,5})?/",
    r"|[A-Za-z0-9_-]+@[A-Za-z0-9-]{2,}(\.[A-Za-z0-9-]+)*:)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(/[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)*$",
);

/// What the field `next` of a page says: a time, an id and, where it is needed, a number.
const CURSOR: &str = concat!(
    r"^(-|[12][0-9]{3}-",
    r"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))",
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z)",
    r"~[!#-&(-\[\]-_a-}]{1,128}(~[0-9]{1,18})?$",
);

/// The place after an event.
const SEQUENCE: &str = "^[0-9]{1,18}-[0-9]{1,18}$";

/// A kind of event, in any case.
const KIND: &str = "^[A-Za-z][A-Za-z0-9_-]{0,31}$";

/// Successes/attempts. That there are no more successes than attempts, no pattern says.
const RATE: &str = "^[0-9]{1,9} */ *[1-9][0-9]{0,8}$";

/// The place after an event, to go on from there. A client may send its header before it has read one.
pub fn sequence(may_be_empty: bool) -> Value {
    let empty = if may_be_empty { "^$|" } else { "" };
    json!({ "type": "string", "pattern": format!("{empty}{SEQUENCE}") })
}

/// A place that stands in a path.
pub fn in_path() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": ID_BYTES_MAX, "pattern": ID })
}

/// A text that says something.
pub fn not_empty() -> Value {
    json!({ "type": "string", "minLength": 1, "pattern": NOT_BLANK })
}

/// The schema of a text or a time.
pub fn text(parameter: &Parameter) -> Value {
    let pattern = match (&parameter.values, parameter.name) {
        (ParameterValues::Time, _) => TIME.to_owned(),
        (ParameterValues::Sequence, _) => SEQUENCE.to_owned(),
        (_, "repo") => REPO.to_owned(),
        (_, "cursor") => CURSOR.to_owned(),
        (_, "event_type") => KIND.to_owned(),
        (_, "success_rate") => RATE.to_owned(),
        (_, "origin") => ORIGIN.to_owned(),
        (_, "valid_from" | "valid_to") => format!("^now$|{TIME}"),
        _ if parameter.is_required => return not_empty(),
        _ => return json!({ "type": "string" }),
    };
    let blank = if parameter.is_required { "" } else { OR_BLANK };
    let mut schema = json!({ "type": "string", "pattern": format!("{blank}{pattern}") });
    if let (Some(most), Some(fields)) = (chars_max(parameter.name), schema.as_object_mut()) {
        fields.insert("maxLength".to_owned(), most.into());
    }
    schema
}

/// Returns the most characters of a text with a pattern; of ASCII, these are bytes.
fn chars_max(name: &str) -> Option<usize> {
    match name {
        "repo" => Some(REPO_KEY_BYTES_MAX),
        "origin" => Some(ID_BYTES_MAX),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use requests::define::ApiRequest;
    use requests::log_events::AuditRequest;
    use requests::save;

    // S-REST-4
    #[test]
    fn narrow_fields_have_a_pattern() {
        let schema = |parameters: Vec<Parameter>, name: &str| {
            text(parameters.iter().find(|one| one.name == name).unwrap())
        };
        for name in ["repo", "since", "cursor"] {
            let pattern = schema(AuditRequest::parameters(), name)["pattern"].to_string();
            assert!(pattern.contains("|^"), "it may be blank: {pattern}");
        }
        assert_eq!(schema(AuditRequest::parameters(), "agent"), json!({ "type": "string" }));
        let kind = schema(save::parameters(), "event_type")["pattern"].to_string();
        assert!(kind.contains("|^[A-Za-z]"), "it may be blank: {kind}");
        assert_eq!(schema(save::parameters(), "lesson"), not_empty());
        assert_eq!(schema(save::parameters(), "repo")["maxLength"], REPO_KEY_BYTES_MAX);
    }
}
