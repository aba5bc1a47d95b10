//! A JSON text as its parser sees it: where every value, comma and comment is. Comments, trailing
//! commas and a byte order mark are accepted, as clients accept them. Not here: changes (`mod`).

use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use crate::setup::edit::EditError;

/// JSON with comments and trailing commas. Clients do not read the other forms of JSON5.
const ACCEPTED: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A parsed text.
pub(super) struct Tree<'a> {
    pub(super) text: &'a str,
    /// The root, which is an object.
    pub(super) root: Node<'a>,
    tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> Tree<'a> {
    /// Parses a text without its byte order mark.
    pub(super) fn parse(text: &'a str) -> Result<Self, EditError> {
        let collected =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collected, &ACCEPTED).map_err(|error| {
            EditError::at(text, error.range().start, &error.kind().to_string().to_lowercase())
        })?;
        let start = parsed.value.as_ref().map_or(0, Ranged::start);
        let is_object = |root: &Node<'_>| matches!(root, Node::Object(_));
        let root = parsed.value.filter(is_object);
        let root = root.ok_or_else(|| EditError::at(text, start, "expected an object ({)"))?;
        refuse_duplicates_below(text, &root)?;
        Ok(Self { text, root, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Finds the comma after an item that ends at `end`.
    pub(super) fn comma_after(&self, end: usize) -> Option<usize> {
        let first = self.tokens.partition_point(|token| token.start() < end);
        let mut following = self.tokens.iter().skip(first);
        let next = following.find(|token| !is_comment(&token.token));
        next.filter(|token| token.token == Token::Comma).map(Ranged::start)
    }

    /// Whether the last token before `place` is a comment that ends only with its line.
    pub(super) fn follows_line_comment(&self, place: usize) -> bool {
        let before = self.tokens.partition_point(|token| token.start() < place);
        let last = before.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.is_some_and(|last| matches!(last.token, Token::CommentLine(_)))
    }
}

/// The items of an object (each with its name) or an array, as places in the text.
pub(super) fn items(container: &Node<'_>) -> Vec<Range<usize>> {
    let place = |item: &dyn Ranged| item.start()..item.end();
    match container {
        Node::Object(object) => object.properties.iter().map(|member| place(member)).collect(),
        Node::Array(array) => array.elements.iter().map(|element| place(element)).collect(),
        _ => Vec::new(),
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// Readers of JSON disagree about which of two equal names counts, so a change could have no effect.
fn refuse_duplicates(text: &str, object: &Object<'_>) -> Result<(), EditError> {
    let mut seen = HashSet::new();
    for member in &object.properties {
        let name = member.name.as_str();
        if !seen.insert(name) {
            let why = format!("the name {name:?} is used twice in this object");
            return Err(EditError::at(text, member.start(), &why));
        }
        refuse_duplicates_below(text, &member.value)?;
    }
    Ok(())
}

fn refuse_duplicates_below(text: &str, value: &Node<'_>) -> Result<(), EditError> {
    match value {
        Node::Object(object) => refuse_duplicates(text, object),
        Node::Array(array) => {
            array.elements.iter().try_for_each(|element| refuse_duplicates_below(text, element))
        }
        _ => Ok(()),
    }
}
