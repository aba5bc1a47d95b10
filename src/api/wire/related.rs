//! From the arguments of a call to what hangs together with a memory or a file. Not here: whether it is there
//! (`local::related`).

use serde_json::{Map, Value};

use super::fields::Fields;
use super::link::relation;
use super::{REPO_BYTES_MAX, tokens};
use crate::{
    DEPTH_DEFAULT, DEPTH_IMPACT, DEPTH_MAX, Purpose, RelatedRequest, SEARCH_TOKENS_DEFAULT, Way,
};
use event::limits::{FILE_BYTES_MAX, ID_BYTES_MAX};
use event::{Problems, quoted};

/// The fields of `memory_related` that models are told of.
pub const RELATED: [&str; 6] = ["id", "file", "depth", "relation", "repo", "max_tokens"];
/// Those that are understood all the same: few calls need them, and every session would pay for words.
const UNTOLD: [&str; 2] = ["direction", "as_of"];

/// Reads the arguments of `memory_related`: of a memory by `id`, or of a `file`, what a change to it touches.
///
/// # Errors
/// Every problem, each with its field.
pub fn related(arguments: Map<String, Value>) -> Result<RelatedRequest, Problems> {
    let known: Vec<&str> = RELATED.into_iter().chain(UNTOLD).collect();
    let mut fields = Fields::of(&known, arguments);
    let (id, file) = (fields.text("id", FILE_BYTES_MAX), fields.text("file", FILE_BYTES_MAX));
    match (&id, &file) {
        (None, None) => fields.lacks("id", "is empty; give the id of a memory, or a file"),
        (Some(_), Some(_)) => fields.lacks("file", "does not go with id; ask for one of them"),
        _ => {}
    }
    let purpose = if file.is_some() { Purpose::Impact } else { Purpose::Related };
    let depth_usual = if file.is_some() { DEPTH_IMPACT } else { DEPTH_DEFAULT };
    let request = RelatedRequest {
        of: id.or(file).unwrap_or_default(),
        purpose,
        repo: fields.text("repo", REPO_BYTES_MAX),
        depth: fields.number("depth", 1..=DEPTH_MAX).unwrap_or(depth_usual),
        way: way(&mut fields),
        relation: relation(&mut fields, "relation"),
        as_of: fields.point("as_of"),
        max_tokens: tokens(&mut fields, SEARCH_TOKENS_DEFAULT),
    };
    fields.finish(request)
}

fn way(fields: &mut Fields) -> Way {
    let Some(word) = fields.text("direction", ID_BYTES_MAX) else { return Way::Both };
    Way::parse(&word).unwrap_or_else(|| {
        let known = Way::ALL.map(Way::as_str).join(", ");
        fields.lacks("direction", &format!("must be one of {known}; got {}", quoted(&word)));
        Way::Both
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use event::Relation;

    fn read(value: &Value) -> Result<RelatedRequest, Problems> {
        related(value.as_object().unwrap().clone())
    }

    // S-LINK-9, S-LINK-10
    #[test]
    fn a_memory_or_a_file_is_asked_for() {
        let memory = read(
            &json!({"id": "m1", "depth": "2", "relation": "depends-on", "direction": "Outbound"}),
        )
        .unwrap();
        assert_eq!((memory.of.as_str(), memory.purpose, memory.depth), ("m1", Purpose::Related, 2));
        assert_eq!((memory.relation, memory.way), (Some(Relation::DependsOn), Way::Outbound));
        let file = read(&json!({"file": "src/a.rs", "id": null})).unwrap();
        assert_eq!(
            (file.purpose, file.depth, file.way),
            (Purpose::Impact, DEPTH_IMPACT, Way::Both)
        );
        let wrong = json!({"depth": 4, "direction": "up", "relation": "likes"});
        let problems = read(&wrong).unwrap_err().to_string();
        for told in [
            "id: is empty",
            "depth: must be a whole number from 1 to 3",
            "direction: must be one of outbound, inbound, both",
            "relation: must be one of",
        ] {
            assert!(problems.contains(told), "{told}: {problems}");
        }
        assert!(read(&json!({"id": "a", "file": "b"})).is_err());
    }
}
