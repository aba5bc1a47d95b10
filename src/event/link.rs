//! Links between memories and places in code: which relations exist, what can be linked, and how a line encodes
//! a link. Not here: what several links add up to (`memory`), links that are derived rather than stated
//! (`search::links`).

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Number, Value};

use super::limits::ID_BYTES_MAX;
use super::time_text::format_timestamp;
use super::{EventId, parse_timestamp};

/// How two things are related, read from the source to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Relation {
    /// The two are related in an unspecified way.
    RelatedTo,
    /// The source replaces the target.
    Supersedes,
    /// The source holds only if the target does.
    DependsOn,
    /// Source and target cannot both be true.
    Contradicts,
    /// The source is a narrower case of the target.
    Specializes,
    /// The source is part of the target.
    PartOf,
    /// Either can be used.
    AlternativeTo,
    /// The source continues the target.
    BuildsOn,
    /// The source calls the target, in code.
    Calls,
    /// The source imports the target, in code.
    Imports,
    /// The source inherits from the target, in code.
    Inherits,
    /// The target caused the source.
    CausedBy,
    /// The source caused the target.
    LedTo,
    /// The source was learned in the course of the target.
    LearnedIn,
    /// The source is about the target, usually a file.
    Touches,
}

impl Relation {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 15] = [
        Self::RelatedTo,
        Self::Supersedes,
        Self::DependsOn,
        Self::Contradicts,
        Self::Specializes,
        Self::PartOf,
        Self::AlternativeTo,
        Self::BuildsOn,
        Self::Calls,
        Self::Imports,
        Self::Inherits,
        Self::CausedBy,
        Self::LedTo,
        Self::LearnedIn,
        Self::Touches,
    ];

    /// Returns the word as it stands in a line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RelatedTo => "related_to",
            Self::Supersedes => "supersedes",
            Self::DependsOn => "depends_on",
            Self::Contradicts => "contradicts",
            Self::Specializes => "specializes",
            Self::PartOf => "part_of",
            Self::AlternativeTo => "alternative_to",
            Self::BuildsOn => "builds_on",
            Self::Calls => "calls",
            Self::Imports => "imports",
            Self::Inherits => "inherits",
            Self::CausedBy => "caused_by",
            Self::LedTo => "led_to",
            Self::LearnedIn => "learned_in",
            Self::Touches => "touches",
        }
    }

    /// Reads the word, in any case, with hyphens or underscores; `relates_to` is another name of `related_to`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // Fast path: nearly all lines contain the canonical word.
        if let Some(relation) = Self::ALL.into_iter().find(|relation| relation.as_str() == text) {
            return Some(relation);
        }
        let word = text.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        if word == "relates_to" {
            return Some(Self::RelatedTo);
        }
        Self::ALL.into_iter().find(|relation| relation.as_str() == word)
    }

    /// Tells whether this relation must not form cycles, over any number of steps.
    #[must_use]
    pub fn is_acyclic(self) -> bool {
        matches!(
            self,
            Self::CausedBy | Self::LedTo | Self::Supersedes | Self::LearnedIn | Self::PartOf
        )
    }
}

/// A link end: a memory, or a place in the code of the link's repository. Both are encoded as an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node(EventId);

/// The prefix of the id of a place in code.
const CODE: &str = "code:";
/// The separator between a path and a symbol.
const SYMBOL: &str = "::";

/// Characters that an id must not contain, and those that would end a path too early.
const IN_SYMBOL: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'\'').add(b'\\').add(b'`').add(b'%');
const IN_PATH: &AsciiSet = &IN_SYMBOL.add(b':');

impl Node {
    /// Reads the id of a line. An id that begins with `code:` is a place in code, even if a memory has the same
    /// id.
    #[must_use]
    pub fn from_id(id: EventId) -> Self {
        Self(id)
    }

    /// Names a place in code: a path below the root of its repository, and perhaps a symbol in it.
    ///
    /// # Errors
    /// A sentence that says what is allowed, if the path is empty or the id would exceed 128 bytes.
    pub fn code(path: &str, symbol: Option<&str>) -> Result<Self, String> {
        let path = path.trim().replace('\\', "/");
        let path = path.trim_start_matches("./");
        if path.is_empty() {
            return Err("names no file; write code:src/main.rs or code:src/main.rs::run".to_owned());
        }
        let mut id = format!("{CODE}{}", utf8_percent_encode(path, IN_PATH));
        if let Some(symbol) = symbol.map(str::trim).filter(|symbol| !symbol.is_empty()) {
            id.push_str(SYMBOL);
            id.extend(utf8_percent_encode(symbol, IN_SYMBOL));
        }
        let id_bytes = id.len();
        EventId::foreign(&id).map(Self).ok_or_else(|| {
            format!(
                "makes an id of {id_bytes} bytes; at most {ID_BYTES_MAX} are allowed: name the file by the end of its path"
            )
        })
    }

    /// Reads `code:path` or `code:path::symbol` as people write it; returns `None` for anything else.
    ///
    /// # Errors
    /// Those of [`Node::code`].
    pub fn parse_code(text: &str) -> Option<Result<Self, String>> {
        let rest = text.trim().strip_prefix(CODE)?;
        let decoded = decoded(rest);
        let (path, symbol) = match decoded.split_once(SYMBOL) {
            Some((path, symbol)) => (path, Some(symbol)),
            None => (&*decoded, None),
        };
        Some(Self::code(path, symbol))
    }

    /// Returns the id as it stands in a line.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.0
    }

    /// Returns the path and the symbol of a place in code; `None` for a memory.
    #[must_use]
    pub fn place(&self) -> Option<(String, Option<String>)> {
        let rest = self.0.as_str().strip_prefix(CODE)?;
        let (path, symbol) = match rest.split_once(SYMBOL) {
            Some((path, symbol)) => (path, Some(symbol)),
            None => (rest, None),
        };
        Some((decoded(path).into_owned(), symbol.map(|symbol| decoded(symbol).into_owned())))
    }

    /// Tells whether this end is a place in code.
    #[must_use]
    pub fn is_code(&self) -> bool {
        is_code(&self.0)
    }
}

/// Tells whether an id names a place in code rather than a memory.
#[must_use]
pub fn is_code(id: &EventId) -> bool {
    id.as_str().starts_with(CODE)
}

/// Formats a node for people. The text may contain anything except line breaks.
impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place() {
            None => out.write_str(self.0.short()),
            Some((path, None)) => write!(out, "{path}"),
            Some((path, Some(symbol))) => write!(out, "{path}{SYMBOL}{symbol}"),
        }
    }
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// How certain or how close a link is, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strength(u16);

impl Strength {
    /// The strength of a link that states none.
    pub const USUAL: Self = Self(500);

    /// Converts a share from 0 to 1; returns `None` for any other number.
    #[must_use]
    pub fn from_share(share: f64) -> Option<Self> {
        let thousandths = (share * 1_000.0).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is within 0 and 1,000"
        )]
        (0.0..=1_000.0).contains(&thousandths).then_some(Self(thousandths as u16))
    }

    /// Returns the share, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

/// The origin of a link when the caller names none.
pub const MANUAL: &str = "manual";
/// The origin that a program states for links it made by itself.
pub const AUTO: &str = "auto";

/// One link without its source. The source is the memory that the event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Map<String, Value>", into = "Map<String, Value>"))]
pub struct Link {
    /// The target.
    pub target: Node,
    /// The relation.
    pub relation: Relation,
    /// How certain or close the link is.
    pub strength: Strength,
    /// Since when the link holds, if stated.
    pub valid_from: Option<Timestamp>,
    /// Until when the link holds, if stated.
    pub valid_to: Option<Timestamp>,
    /// Who or what stated the link: `manual`, `auto`, or a name such as `tree-sitter:api`.
    pub origin: String,
}

const TARGET: &str = "target";
const RELATION: &str = "relation";
const STRENGTH: &str = "strength";
const FROM: &str = "valid_from";
const TO: &str = "valid_to";
const ORIGIN: &str = "origin";

impl Link {
    /// Returns a link with default values.
    #[must_use]
    pub fn plain(relation: Relation, target: Node) -> Self {
        let (valid_from, valid_to) = (None, None);
        let origin = MANUAL.to_owned();
        Self { target, relation, strength: Strength::USUAL, valid_from, valid_to, origin }
    }

    /// Tells whether the link holds at a time.
    #[must_use]
    pub fn holds_at(&self, time: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= time) && self.valid_to.is_none_or(|to| time < to)
    }

    /// Returns the fields of the line.
    pub(super) fn fields(&self) -> Map<String, Value> {
        let mut fields = end_fields(&self.target, self.relation);
        if let Some(strength) = Number::from_f64(self.strength.share()) {
            fields.insert(STRENGTH.to_owned(), strength.into());
        }
        for (name, time) in [(FROM, self.valid_from), (TO, self.valid_to)] {
            if let Some(time) = time {
                fields.insert(name.to_owned(), format_timestamp(time).into());
            }
        }
        fields.insert(ORIGIN.to_owned(), self.origin.as_str().into());
        fields
    }

    /// Reads the fields of a line. Returns `None` if they name no target, or no relation that this version
    /// knows. Other fields that cannot be understood are treated as absent.
    pub(super) fn read(fields: &Map<String, Value>) -> Option<Self> {
        let (target, relation) = read_end(fields)?;
        let time = |name: &str| fields.get(name).and_then(Value::as_str).and_then(parse_timestamp);
        let strength = fields.get(STRENGTH).and_then(Value::as_f64).and_then(Strength::from_share);
        let origin = fields.get(ORIGIN).and_then(Value::as_str).filter(|name| !name.is_empty());
        Some(Self {
            target,
            relation,
            strength: strength.unwrap_or(Strength::USUAL),
            valid_from: time(FROM),
            valid_to: time(TO),
            origin: origin.unwrap_or(MANUAL).to_owned(),
        })
    }
}

/// Returns the fields of a line that ends a link.
pub(super) fn end_fields(target: &Node, relation: Relation) -> Map<String, Value> {
    Map::from_iter([
        (TARGET.to_owned(), target.id().as_str().into()),
        (RELATION.to_owned(), relation.as_str().into()),
    ])
}

/// Reads the target and the relation of a link from a line.
pub(super) fn read_end(fields: &Map<String, Value>) -> Option<(Node, Relation)> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let target = EventId::foreign(text(TARGET)?.trim())?;
    Some((Node::from_id(target), Relation::parse(text(RELATION)?)?))
}

impl From<Link> for Map<String, Value> {
    fn from(link: Link) -> Self {
        link.fields()
    }
}

impl TryFrom<Map<String, Value>> for Link {
    type Error = &'static str;

    fn try_from(fields: Map<String, Value>) -> Result<Self, Self::Error> {
        Self::read(&fields).ok_or("no link")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // S-LINK-1
    #[test]
    fn relations_are_read_as_written_and_by_their_other_names() {
        for relation in Relation::ALL {
            assert_eq!(Relation::parse(relation.as_str()), Some(relation));
        }
        assert_eq!(Relation::parse("relates_to"), Some(Relation::RelatedTo));
        assert_eq!(Relation::parse(" Depends-On "), Some(Relation::DependsOn));
        assert_eq!(Relation::parse("likes"), None);
        assert_eq!(Relation::ALL.into_iter().filter(|relation| relation.is_acyclic()).count(), 5);
    }

    // S-LINK-2
    #[test]
    fn a_place_in_code_has_one_id_however_it_is_written() {
        let id = |text: &str| Node::parse_code(text).unwrap().unwrap().id().as_str().to_owned();
        assert_eq!(id("code:src/a.rs"), "code:src/a.rs");
        assert_eq!(id("code:./src\\a.rs::Foo::bar"), "code:src/a.rs::Foo::bar");
        assert_eq!(id("code:my dir/a'b.rs"), "code:my%20dir/a%27b.rs");
        assert_eq!(id(&id("code:my dir/50%/a'b.rs::x y")), id("code:my dir/50%/a'b.rs::x y"));
        assert!(Node::parse_code("src/a.rs").is_none());
        let long = format!("code:{}", "a/".repeat(80));
        let refused = Node::parse_code(&long).unwrap().unwrap_err();
        assert!(refused.contains("165 bytes; at most 128"), "{refused}");
        assert!(Node::parse_code("code:  ").unwrap().is_err());
    }

    proptest! {
        // S-LINK-2
        #[test]
        fn every_short_path_comes_back_from_its_id(path in "[a-zA-Z0-9ü:%'` /._-]{1,20}", symbol in "[a-zA-Z:_<> ]{0,12}") {
            let (path, symbol) = (format!("a{path}b"), symbol.trim());
            let node = Node::code(&path, Some(symbol)).unwrap();
            let (found, found_symbol) = node.place().unwrap();
            prop_assert_eq!((found, found_symbol.unwrap_or_default()), (path, symbol.to_owned()));
            prop_assert!(node.is_code());
        }

        // S-LINK-1
        #[test]
        fn a_link_is_read_as_it_was_written(
            relation in prop::sample::select(Relation::ALL.to_vec()), strength in 0_u16..=1_000,
            from in prop::option::of(0_i64..4_000_000_000), origin in "[a-z:-]{1,12}"
        ) {
            let time = from.and_then(|second| Timestamp::from_second(second).ok());
            let target = Node::from_id(EventId::foreign("m2").unwrap());
            let strength = Strength::from_share(f64::from(strength) / 1_000.0).unwrap();
            let link = Link { target, relation, strength, valid_from: time, valid_to: time, origin };
            prop_assert_eq!(Link::read(&link.fields()), Some(link));
        }
    }

    // S-LINK-1
    #[test]
    fn absent_fields_get_defaults_and_a_link_needs_a_target() {
        let read = |value: Value| Link::read(value.as_object().unwrap());
        let plain = read(serde_json::json!({"target": "m2", "relation": "relates_to"})).unwrap();
        assert_eq!(plain, Link::plain(Relation::RelatedTo, plain.target.clone()));
        let odd = serde_json::json!({"target": "m2", "relation": "calls", "strength": 7, "valid_to": "soon", "origin": ""});
        assert_eq!(read(odd).unwrap(), Link::plain(Relation::Calls, plain.target));
        assert_eq!(read(serde_json::json!({"target": "m 2", "relation": "calls"})), None);
        assert_eq!(read(serde_json::json!({"target": "m2", "relation": "likes"})), None);
    }

    #[test]
    fn a_link_holds_from_its_first_to_before_its_last_moment() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let target = Node::from_id(EventId::foreign("m2").unwrap());
        let mut link = Link::plain(Relation::Calls, target);
        assert!(link.holds_at(at("2000-01-01T00:00:00Z")));
        link.valid_from = Some(at("2026-01-02T00:00:00Z"));
        link.valid_to = Some(at("2026-02-02T00:00:00Z"));
        let holds = ["2026-01-01", "2026-01-02", "2026-02-01", "2026-02-02"]
            .map(|day| link.holds_at(at(&format!("{day}T00:00:00Z"))));
        assert_eq!(holds, [false, true, true, false]);
    }
}
