//! From the arguments of a call to links that are made or ended, one by one or from lines of JSON. Not here: whether
//! the ends are there (`local::links`).

use serde_json::{Map, Value};

use super::REPO_BYTES_MAX;
use super::fields::Fields;
use crate::{Deed, EDITS_MAX, Edit, LinkRequest, Numbered, Terms};
use event::limits::{FILE_BYTES_MAX, ID_BYTES_MAX, SHORT_BYTES_MAX};
use event::{EventId, MANUAL, Problems, Relation, Strength, quoted};

/// The fields of a link that is made.
const LINK: [&str; 8] =
    ["source", "relation", "target", "repo", "strength", "valid_from", "valid_to", "origin"];
/// The fields of a link that is ended.
const UNLINK: [&str; 4] = ["source", "relation", "target", "repo"];

/// Reads a link that is made.
///
/// # Errors
/// Every problem, each with its field.
pub fn link(arguments: Map<String, Value>) -> Result<Edit, Problems> {
    let mut fields = Fields::of(&LINK, arguments);
    let strength = fields.share("strength").unwrap_or(Strength::USUAL);
    let valid_from = fields.text("valid_from", SHORT_BYTES_MAX);
    let valid_to = fields.text("valid_to", SHORT_BYTES_MAX);
    let origin = origin(&mut fields).unwrap_or_else(|| MANUAL.to_owned());
    edit(fields, Deed::Make(Terms { strength, valid_from, valid_to, origin }))
}

/// Reads a link that is ended.
///
/// # Errors
/// Every problem, each with its field.
pub fn unlink(arguments: Map<String, Value>) -> Result<Edit, Problems> {
    edit(Fields::of(&UNLINK, arguments), Deed::End)
}

/// Reads the origin of links that are ended.
///
/// # Errors
/// What is allowed.
pub fn end_origin(given: &str) -> Result<LinkRequest, Problems> {
    let given = Map::from_iter([("origin".to_owned(), given.into())]);
    let mut fields = Fields::of(&["origin"], given);
    let origin = origin(&mut fields);
    if origin.is_none() {
        fields.lacks("origin", "is empty; name whose links are ended, for example tree-sitter:api");
    }
    fields.finish(LinkRequest::EndOrigin(origin.unwrap_or_default()))
}

/// Reads links that are made, one JSON object on each line; `origin` stands in where a line names none. A line that is
/// wrong is told in its place.
///
/// # Errors
/// That there are none, or too many.
pub fn links(text: &str, origin: Option<&str>) -> Result<LinkRequest, Problems> {
    let lines = (1..).zip(text.trim_start_matches('\u{FEFF}').lines());
    let lines: Vec<(usize, &str)> = lines.filter(|(_, line)| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return Err(Problems::one("bulk", format!("holds no line; {EXAMPLE}")));
    }
    if lines.len() > EDITS_MAX {
        let message = format!("has {} links; at most {EDITS_MAX} are taken at once", lines.len());
        return Err(Problems::one("bulk", message));
    }
    let numbered = |(line, text)| Numbered { line, edit: of_line(text, origin) };
    Ok(LinkRequest::Many(lines.into_iter().map(numbered).collect()))
}

const EXAMPLE: &str = "write one object a line, for example {\"source\":\"code:src/a.rs\",\"relation\":\"imports\",\"target\":\"code:src/b.rs\"}";

fn of_line(line: &str, origin: Option<&str>) -> Result<Edit, Problems> {
    let wrong = |what: String| Problems::one("line", format!("{what}; {EXAMPLE}"));
    match serde_json::from_str(line) {
        Ok(Value::Object(mut object)) => {
            if let Some(origin) = origin {
                object.entry("origin").or_insert_with(|| origin.into());
            }
            link(object)
        }
        Ok(_) => Err(wrong("is no JSON object".to_owned())),
        Err(error) => Err(wrong(format!("is not JSON ({error})"))),
    }
}

fn edit(mut fields: Fields, deed: Deed) -> Result<Edit, Problems> {
    let source = end(&mut fields, "source");
    let relation = relation(&mut fields, "relation");
    if relation.is_none() {
        fields.lacks("relation", "is empty; say how the two are related, for example depends_on");
    }
    let target = end(&mut fields, "target");
    let repo = fields.text("repo", REPO_BYTES_MAX);
    let relation = relation.unwrap_or(Relation::RelatedTo);
    fields.finish(Edit { source, relation, target, repo, deed })
}

/// A path may take more bytes than the id that its end becomes.
fn end(fields: &mut Fields, name: &str) -> String {
    let text = fields.text(name, FILE_BYTES_MAX);
    if text.is_none() {
        fields.lacks(name, "is empty; give the id of a memory, or a file as code:path");
    }
    text.unwrap_or_default()
}

/// Reads a relation that may be left out.
pub(super) fn relation(fields: &mut Fields, name: &str) -> Option<Relation> {
    let word = fields.text(name, ID_BYTES_MAX)?;
    let relation = Relation::parse(&word);
    if relation.is_none() {
        let known = Relation::ALL.map(Relation::as_str).join(", ");
        fields.lacks(name, &format!("must be one of {known}; got {}", quoted(&word)));
    }
    relation
}

fn origin(fields: &mut Fields) -> Option<String> {
    let name = fields.text("origin", ID_BYTES_MAX)?;
    if EventId::foreign(&name).is_none() {
        fields.lacks(
            "origin",
            "must be visible ASCII without spaces or quotes, such as tree-sitter:api",
        );
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    // S-LINK-6
    #[test]
    fn a_link_needs_two_ends_and_a_known_relation() {
        let edit = link(object(&json!({"source": "m1", "relation": "Relates-To", "target": "code:a.rs", "strength": "0.25"}))).unwrap();
        let Deed::Make(terms) = edit.deed else { panic!() };
        assert_eq!((edit.relation, terms.strength.share()), (Relation::RelatedTo, 0.25));
        assert_eq!(terms.origin, MANUAL);
        let wrong = json!({"relation": "likes", "target": "m2", "strength": 3, "origin": "a b"});
        let problems = link(object(&wrong)).unwrap_err().to_string();
        for told in [
            "source: is empty",
            "relation: must be one of related_to, ",
            "strength: must be a number from 0 to 1, got 3",
            "origin: must be",
        ] {
            assert!(problems.contains(told), "{told}: {problems}");
        }
        assert!(unlink(object(&json!({"source": "a", "target": "b"}))).is_err());
    }

    // S-LINK-7
    #[test]
    fn of_many_lines_each_is_read_by_itself() {
        let text = "{\"source\":\"a\",\"relation\":\"calls\",\"target\":\"b\"}\n\nnot json\n[1]\n{\"source\":\"a\",\"relation\":\"calls\",\"target\":\"b\",\"origin\":\"me\"}\n";
        let LinkRequest::Many(edits) = links(text, Some("scan:api")).unwrap() else { panic!() };
        let lines: Vec<(usize, bool)> =
            edits.iter().map(|one| (one.line, one.edit.is_ok())).collect();
        assert_eq!(lines, [(1, true), (3, false), (4, false), (5, true)]);
        let origins: Vec<String> = edits
            .into_iter()
            .filter_map(|one| match one.edit.ok()?.deed {
                Deed::Make(terms) => Some(terms.origin),
                Deed::End => None,
            })
            .collect();
        assert_eq!(origins, ["scan:api", "me"]);
        assert!(links(" \n", None).is_err());
    }
}
