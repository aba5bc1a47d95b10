//! Links: making them, ending them, and reading many of them from lines of JSON. Not here: what a link is
//! (`event::link`), whether its source and target exist (`local::links`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::bounds::repo_rule;
use super::define::{ApiRequest, request};
use super::fields::Fields;
use super::parameter::Presence;
use super::rule::{Rule, choice, share, text};
use event::limits::{FILE_BYTES_MAX, ID_BYTES_MAX, SHORT_BYTES_MAX};
use event::{EventId, MANUAL, Problems, Relation, Strength};

request! {
    /// A link that is made, or changed.
    pub struct LinkArguments {
        /// What the link starts from: the id of a memory, or a file
        source: String = end().positional("SOURCE", Presence::RequiredUnless("bulk"));
        /// How the two are related
        relation: Relation = relation().for_tools(RELATIONS).positional("RELATION", Presence::RequiredUnless("bulk"));
        /// What it leads to: the id of a memory, or a file
        target: String = end().positional("TARGET", Presence::RequiredUnless("bulk"));
        /// How certain or close the relation is, 0 to 1 [default: 0.5]
        strength: Option<Strength> = share().option("strength", "SHARE").conflicts_with("bulk");
        /// When it begins to hold: a time, a day, now or an age
        valid_from: Option<String> = text(SHORT_BYTES_MAX).option("valid-from", "TIME").any_value()
            .conflicts_with("bulk");
        /// When it ends: a time, a day, now or an age from now
        valid_to: Option<String> = text(SHORT_BYTES_MAX).option("valid-to", "TIME").any_value()
            .conflicts_with("bulk");
        /// Who or what made it [default: manual]
        origin: Option<String> = text(ID_BYTES_MAX).option("origin", "NAME").any_value();
        /// The repository of files [default: that of the memory, else of this directory]
        repo: Option<String> = repo_rule().conflicts_with("bulk");
    }
    checked by origin_is_an_id
}

request! {
    /// A link that is ended.
    pub struct UnlinkArguments {
        /// What the link starts from: the id of a memory, or a file
        source: String = end().positional("SOURCE", Presence::RequiredUnless("origin"));
        /// How the two are related
        relation: Relation = relation().for_tools(RELATIONS).positional("RELATION", Presence::RequiredUnless("origin"));
        /// What it leads to: the id of a memory, or a file
        target: String = end().positional("TARGET", Presence::RequiredUnless("origin"));
        /// The repository of files [default: that of the memory, else of this directory]
        repo: Option<String> = repo_rule().conflicts_with("origin");
    }
}

/// The relations, for tools: a schema has no list of words.
const RELATIONS: &str = "related_to, supersedes, depends_on, contradicts, specializes, part_of, alternative_to, \
    builds_on, calls, imports, inherits, caused_by, led_to, learned_in or touches";

/// Most links of one request: more would make a line between processes longer than its bound.
pub const EDITS_MAX: usize = 50_000;

/// Links that are made or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkRequest {
    /// One link.
    One(LinkEdit),
    /// Many links. A wrong one does not stop the others.
    Many(Vec<NumberedEdit>),
    /// Ends all links of this origin.
    EndOrigin(String),
}

/// A link among many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedEdit {
    /// Its line, counted from 1.
    pub line: usize,
    /// The link, or its problems.
    pub edit: Result<LinkEdit, Problems>,
}

/// One link that is made or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEdit {
    /// Its source: the id of a memory, any unique short form of it, or a file.
    pub source: String,
    /// How the two are related.
    pub relation: Relation,
    /// Its target, named the same way.
    pub target: String,
    /// The repository of files, by key or unique short name; `None` is that of the linked memory, else the one of the
    /// working directory.
    pub repo: Option<String>,
    /// Whether it is made or ended.
    pub action: LinkAction,
}

/// Whether a link is made or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkAction {
    /// Make it, or change it to these terms.
    Make(LinkTerms),
    /// End it.
    End,
}

/// The fields of a link beside its source, relation and target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTerms {
    /// How certain or close the relation is.
    pub strength: Strength,
    /// When it begins to hold: a time, a day, `now`, or an age.
    pub valid_from: Option<String>,
    /// When it ends: a time, a day, `now`, or an age from now.
    pub valid_to: Option<String>,
    /// Who or what made it.
    pub origin: String,
}

impl From<LinkArguments> for LinkEdit {
    fn from(given: LinkArguments) -> Self {
        let LinkArguments { source, relation, target, valid_from, valid_to, repo, .. } = given;
        let strength = given.strength.unwrap_or(Strength::USUAL);
        let origin = given.origin.unwrap_or_else(|| MANUAL.to_owned());
        let action = LinkAction::Make(LinkTerms { strength, valid_from, valid_to, origin });
        Self { source, relation, target, repo, action }
    }
}

impl From<UnlinkArguments> for LinkEdit {
    fn from(UnlinkArguments { source, relation, target, repo }: UnlinkArguments) -> Self {
        Self { source, relation, target, repo, action: LinkAction::End }
    }
}

/// A path may take more bytes than the id that it becomes.
fn end() -> Rule<String> {
    text(FILE_BYTES_MAX).required("is empty; give the id of a memory, or a file as code:path")
}

fn relation() -> Rule<Relation> {
    let message = "is empty; say how the two are related, for example depends_on";
    choice().required_or(message, || Relation::RelatedTo)
}

fn origin_is_an_id(request: &LinkArguments, fields: &mut Fields) {
    check_origin(request.origin.as_deref(), fields);
}

fn check_origin(origin: Option<&str>, fields: &mut Fields) {
    if origin.is_some_and(|name| EventId::foreign(name).is_none()) {
        let message = "must be visible ASCII without spaces or quotes, such as tree-sitter:api";
        fields.report_missing("origin", message);
    }
}

/// Reads the origin of links that are ended.
///
/// # Errors
/// What is allowed.
pub fn read_end_of_origin(given: &str) -> Result<LinkRequest, Problems> {
    let given = Map::from_iter([("origin".to_owned(), given.into())]);
    let mut fields = Fields::new(&["origin"], &[], given);
    let origin = fields.text("origin", ID_BYTES_MAX);
    check_origin(origin.as_deref(), &mut fields);
    if origin.is_none() {
        let message = "is empty; name the origin whose links to end, for example tree-sitter:api";
        fields.report_missing("origin", message);
    }
    fields.finish(LinkRequest::EndOrigin(origin.unwrap_or_default()))
}

/// Reads links that are made, one JSON object on each line. `origin` is that of a line that names none. The problems
/// of a line are part of the result.
///
/// # Errors
/// Reports that there are no lines, or too many.
pub fn read_links(text: &str, origin: Option<&str>) -> Result<LinkRequest, Problems> {
    let lines = (1..).zip(text.trim_start_matches('\u{FEFF}').lines());
    let lines: Vec<(usize, &str)> = lines.filter(|(_, line)| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return Err(Problems::one("bulk", format!("has no line; {EXAMPLE}")));
    }
    if lines.len() > EDITS_MAX {
        let message = format!("has {} links; at most {EDITS_MAX} are allowed", lines.len());
        return Err(Problems::one("bulk", message));
    }
    let numbered = |(line, text)| NumberedEdit { line, edit: of_line(text, origin) };
    Ok(LinkRequest::Many(lines.into_iter().map(numbered).collect()))
}

const EXAMPLE: &str = "write one object per line, for example {\"source\":\"code:src/a.rs\",\"relation\":\"imports\",\"target\":\"code:src/b.rs\"}";

fn of_line(line: &str, origin: Option<&str>) -> Result<LinkEdit, Problems> {
    let wrong = |what: String| Problems::one("line", format!("{what}; {EXAMPLE}"));
    match serde_json::from_str(line) {
        Ok(Value::Object(mut object)) => {
            if let Some(origin) = origin {
                object.entry("origin").or_insert_with(|| origin.into());
            }
            LinkArguments::from_command(object).map(LinkEdit::from)
        }
        Ok(_) => Err(wrong("is not a JSON object".to_owned())),
        Err(error) => Err(wrong(format!("is not JSON ({error})"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn link(value: &Value) -> Result<LinkEdit, Problems> {
        LinkArguments::from_command(object(value)).map(LinkEdit::from)
    }

    // S-LINK-6
    #[test]
    fn a_link_needs_two_ends_and_a_known_relation() {
        let edit = link(&json!({"source": "m1", "relation": "Relates-To", "target": "code:a.rs", "strength": "0.25"})).unwrap();
        let LinkAction::Make(terms) = edit.action else { panic!() };
        assert_eq!((edit.relation, terms.strength.share()), (Relation::RelatedTo, 0.25));
        assert_eq!(terms.origin, MANUAL);
        let wrong = json!({"relation": "likes", "target": "m2", "strength": 3, "origin": "a b"});
        let problems = link(&wrong).unwrap_err().to_string();
        for told in [
            "source: is empty",
            "relation: must be one of related_to, ",
            "strength: must be a number from 0 to 1, got 3",
            "origin: must be",
        ] {
            assert!(problems.contains(told), "{told}: {problems}");
        }
        assert!(
            UnlinkArguments::from_command(object(&json!({"source": "a", "target": "b"}))).is_err()
        );
    }

    #[test]
    fn tools_are_told_every_relation() {
        let words = Relation::ALL.map(Relation::as_str).join(", ");
        assert_eq!(RELATIONS.replace(" or ", ", "), words);
    }

    // S-LINK-7
    #[test]
    fn a_wrong_line_does_not_stop_the_other_lines() {
        let text = "{\"source\":\"a\",\"relation\":\"calls\",\"target\":\"b\"}\n\nnot json\n[1]\n{\"source\":\"a\",\"relation\":\"calls\",\"target\":\"b\",\"origin\":\"me\"}\n";
        let LinkRequest::Many(edits) = read_links(text, Some("scan:api")).unwrap() else {
            panic!()
        };
        let lines: Vec<(usize, bool)> =
            edits.iter().map(|one| (one.line, one.edit.is_ok())).collect();
        assert_eq!(lines, [(1, true), (3, false), (4, false), (5, true)]);
        let origins: Vec<String> = edits
            .into_iter()
            .filter_map(|one| match one.edit.ok()?.action {
                LinkAction::Make(terms) => Some(terms.origin),
                LinkAction::End => None,
            })
            .collect();
        assert_eq!(origins, ["scan:api", "me"]);
        assert!(read_links(" \n", None).is_err());
    }
}
