//! Links between what is known: which relations there are, what can be linked, and how a link stands in a line. Not
//! here: what several of them add up to (`retriever::projection`), links that are found rather than told
//! (`retriever::graph`).

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Number, Value};

use super::codec::written;
use super::limits::ID_BYTES_MAX;
use super::{EventId, parse_timestamp};

/// How two things are related, read from the source to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Relation {
    /// They have to do with each other.
    RelatedTo,
    /// It stands in the place of the other.
    Supersedes,
    /// It holds only where the other does.
    DependsOn,
    /// Both cannot be true.
    Contradicts,
    /// It is a narrower case of the other.
    Specializes,
    /// It belongs to the other.
    PartOf,
    /// Either does.
    AlternativeTo,
    /// It goes on from the other.
    BuildsOn,
    /// It calls the other, as code does.
    Calls,
    /// It imports the other, as code does.
    Imports,
    /// It inherits from the other, as code does.
    Inherits,
    /// The other is why it happened.
    CausedBy,
    /// It is why the other happened.
    LedTo,
    /// It was learned in the course of the other.
    LearnedIn,
    /// It is about the other, mostly a file.
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
        // As we write it, which is how nearly all of them stand.
        if let Some(relation) = Self::ALL.into_iter().find(|relation| relation.as_str() == text) {
            return Some(relation);
        }
        let word = text.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        if word == "relates_to" {
            return Some(Self::RelatedTo);
        }
        Self::ALL.into_iter().find(|relation| relation.as_str() == word)
    }

    /// Tells whether nothing can be so related to itself, by however many steps.
    #[must_use]
    pub fn is_acyclic(self) -> bool {
        matches!(
            self,
            Self::CausedBy | Self::LedTo | Self::Supersedes | Self::LearnedIn | Self::PartOf
        )
    }
}

/// What can be linked: a memory, or a place in the code of the repository that the link is of. Either stands in a
/// line as an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node(EventId);

/// How the id of a place in code begins.
const CODE: &str = "code:";
/// What parts a path from a symbol.
const SYMBOL: &str = "::";

/// What no id may hold, and what would end a path too early.
const IN_SYMBOL: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'\'').add(b'\\').add(b'`').add(b'%');
const IN_PATH: &AsciiSet = &IN_SYMBOL.add(b':');

impl Node {
    /// Reads the id of a line. One that begins with `code:` is a place in code, whatever else may have that id.
    #[must_use]
    pub fn of(id: EventId) -> Self {
        Self(id)
    }

    /// Names a place in code: a path below the root of its repository, and perhaps a symbol in it.
    ///
    /// # Errors
    /// A sentence that says what is allowed, where there is no path or the id would be longer than 128 bytes.
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

    /// Reads `code:path` or `code:path::symbol` as people write it; `None` for anything else.
    ///
    /// # Errors
    /// As [`Node::code`].
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

    /// Tells whether it is a place in code.
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

/// Writes a node as people read it; what it says may hold anything but line breaks.
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

/// How sure or how close a link is, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strength(u16);

impl Strength {
    /// That of a link of which nothing is said.
    pub const USUAL: Self = Self(500);

    /// Takes a share from 0 to 1; `None` for anything else.
    #[must_use]
    pub fn of(share: f64) -> Option<Self> {
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

/// Who says that two things are linked, where nobody else is named.
pub const MANUAL: &str = "manual";
/// What a program says that linked them by itself.
pub const AUTO: &str = "auto";

/// One link, but for its source, which is what its event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Map<String, Value>", into = "Map<String, Value>"))]
pub struct Link {
    /// What is linked to.
    pub target: Node,
    /// How.
    pub relation: Relation,
    /// How sure or close.
    pub strength: Strength,
    /// Since when it holds, where that is said.
    pub valid_from: Option<Timestamp>,
    /// Until when, where that is said.
    pub valid_to: Option<Timestamp>,
    /// Who or what says so: `manual`, `auto`, or a name such as `tree-sitter:api`.
    pub origin: String,
}

const TARGET: &str = "target";
const RELATION: &str = "relation";
const STRENGTH: &str = "strength";
const FROM: &str = "valid_from";
const TO: &str = "valid_to";
const ORIGIN: &str = "origin";

impl Link {
    /// A link of which nothing more is said.
    #[must_use]
    pub fn plain(relation: Relation, target: Node) -> Self {
        let (valid_from, valid_to) = (None, None);
        let origin = MANUAL.to_owned();
        Self { target, relation, strength: Strength::USUAL, valid_from, valid_to, origin }
    }

    /// Tells whether it holds at a time.
    #[must_use]
    pub fn holds_at(&self, time: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= time) && self.valid_to.is_none_or(|to| time < to)
    }

    /// Returns the fields of its line.
    pub(super) fn fields(&self) -> Map<String, Value> {
        let mut fields = end_fields(&self.target, self.relation);
        if let Some(strength) = Number::from_f64(self.strength.share()) {
            fields.insert(STRENGTH.to_owned(), strength.into());
        }
        for (name, time) in [(FROM, self.valid_from), (TO, self.valid_to)] {
            if let Some(time) = time {
                fields.insert(name.to_owned(), written(time).into());
            }
        }
        fields.insert(ORIGIN.to_owned(), self.origin.as_str().into());
        fields
    }

    /// Reads the fields of a line; `None` where they name no target, or no relation that this version knows.
    /// What else cannot be understood is as if it were not said.
    pub(super) fn read(fields: &Map<String, Value>) -> Option<Self> {
        let (target, relation) = read_end(fields)?;
        let time = |name: &str| fields.get(name).and_then(Value::as_str).and_then(parse_timestamp);
        let strength = fields.get(STRENGTH).and_then(Value::as_f64).and_then(Strength::of);
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

/// The fields of a line that ends a link.
pub(super) fn end_fields(target: &Node, relation: Relation) -> Map<String, Value> {
    Map::from_iter([
        (TARGET.to_owned(), target.id().as_str().into()),
        (RELATION.to_owned(), relation.as_str().into()),
    ])
}

/// Reads what a line links to, and how.
pub(super) fn read_end(fields: &Map<String, Value>) -> Option<(Node, Relation)> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let target = EventId::foreign(text(TARGET)?.trim())?;
    Some((Node::of(target), Relation::parse(text(RELATION)?)?))
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
            let target = Node::of(EventId::foreign("m2").unwrap());
            let strength = Strength::of(f64::from(strength) / 1_000.0).unwrap();
            let link = Link { target, relation, strength, valid_from: time, valid_to: time, origin };
            prop_assert_eq!(Link::read(&link.fields()), Some(link));
        }
    }

    // S-LINK-1
    #[test]
    fn what_is_not_said_is_the_usual_and_no_target_is_no_link() {
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
        let target = Node::of(EventId::foreign("m2").unwrap());
        let mut link = Link::plain(Relation::Calls, target);
        assert!(link.holds_at(at("2000-01-01T00:00:00Z")));
        link.valid_from = Some(at("2026-01-02T00:00:00Z"));
        link.valid_to = Some(at("2026-02-02T00:00:00Z"));
        let holds = ["2026-01-01", "2026-01-02", "2026-02-01", "2026-02-02"]
            .map(|day| link.holds_at(at(&format!("{day}T00:00:00Z"))));
        assert_eq!(holds, [false, true, true, false]);
    }
}
