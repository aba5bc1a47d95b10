//! Changes to JSON that leave every other byte where it is: comments, order, indentation, line ends. The parser is
//! `jsonc-parser`; its own editing is not used, since it breaks one-line objects and drops comments and blank lines
//! beside a change. Not here: what is put there, and into which file.

mod style;
mod tree;

use std::ops::Range;

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged as _;
use serde_json::Value;

use super::EditError;
use style::JsonStyle;
use tree::{Tree, items};

const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// A JSON text whose root is an object.
#[derive(Debug, Clone)]
pub(crate) struct Json {
    /// Whether the text begins with a byte order mark, which the parser does not accept.
    is_marked: bool,
    body: String,
    value: Value,
}

/// A way from the root to a value, by names. The name of an element of an array is its number.
pub(crate) type JsonPath<'a> = &'a [&'a str];

/// A part of the text and what replaces it.
type Splice = (Range<usize>, String);

impl Json {
    /// Parses a text. White space alone is an empty object, as all clients read it.
    pub(crate) fn parse(text: &str) -> Result<Self, EditError> {
        let unmarked = text.strip_prefix(BYTE_ORDER_MARK);
        let body = unmarked.unwrap_or(text);
        let body = if body.trim().is_empty() { "{}\n" } else { body };
        let value = Tree::parse(body)?.root.into();
        Ok(Self { is_marked: unmarked.is_some(), body: body.to_owned(), value })
    }

    /// The text as it is now.
    pub(crate) fn text(&self) -> String {
        let mark = if self.is_marked { BYTE_ORDER_MARK.to_string() } else { String::new() };
        mark + &self.body
    }

    /// The value of the whole text.
    pub(crate) fn value(&self) -> Value {
        self.value.clone()
    }

    /// The value at a path.
    pub(crate) fn get(&self, path: JsonPath<'_>) -> Option<Value> {
        self.find(path).cloned()
    }

    fn find(&self, path: JsonPath<'_>) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, name| match value {
            Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
            other => other.get(name),
        })
    }

    /// Sets a member, and adds the objects on the way to it.
    ///
    /// # Errors
    /// Where something else than an object is on the way.
    pub(crate) fn set(&mut self, path: JsonPath<'_>, value: &Value) -> Result<(), EditError> {
        if self.find(path) == Some(value) {
            return Ok(());
        }
        let tree = Tree::parse(&self.body)?;
        let splices = match node_at(&tree.root, path) {
            Some(node) => {
                let style = JsonStyle::detect(&tree);
                let depth = style.depth_at(tree.text, node.start());
                vec![(node.start()..node.end(), style.render(value, depth))]
            }
            None => grow(&tree, path, value)?,
        };
        self.apply(splices)
    }

    /// Adds an element to the array at a path, and adds the array where there is none.
    ///
    /// # Errors
    /// Where something else than an array is there.
    pub(crate) fn push(&mut self, path: JsonPath<'_>, value: &Value) -> Result<(), EditError> {
        let tree = Tree::parse(&self.body)?;
        let splices = match node_at(&tree.root, path) {
            None => grow(&tree, path, &Value::Array(vec![value.clone()]))?,
            Some(array @ Node::Array(_)) => insert(&tree, array, None, value),
            Some(other) => {
                return Err(EditError::at(tree.text, other.start(), "expected an array ([)"));
            }
        };
        self.apply(splices)
    }

    /// Removes a member, if it is there.
    pub(crate) fn remove(&mut self, path: JsonPath<'_>) -> Result<(), EditError> {
        let Some((name, above)) = path.split_last() else { return Ok(()) };
        let tree = Tree::parse(&self.body)?;
        let Some(container @ Node::Object(object)) = node_at(&tree.root, above) else {
            return Ok(());
        };
        let place = object.properties.iter().position(|member| member.name.as_str() == *name);
        let splices = place.map(|place| remove_item(&tree, container, place)).unwrap_or_default();
        self.apply(splices)
    }

    /// Removes the elements of the array at a path for which `is_one` holds.
    pub(crate) fn remove_elements(
        &mut self,
        path: JsonPath<'_>,
        is_one: &dyn Fn(&Value) -> bool,
    ) -> Result<(), EditError> {
        // Each round removes one element, so there are no more rounds than elements.
        while let Some(Value::Array(elements)) = self.find(path) {
            let Some(place) = elements.iter().position(is_one) else { return Ok(()) };
            let tree = Tree::parse(&self.body)?;
            let Some(array) = node_at(&tree.root, path) else { return Ok(()) };
            let splices = remove_item(&tree, array, place);
            self.apply(splices)?;
        }
        Ok(())
    }

    /// Applies splices, which do not overlap, and parses what comes out.
    fn apply(&mut self, mut splices: Vec<Splice>) -> Result<(), EditError> {
        let mut body = self.body.clone();
        splices.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        for (place, with) in splices {
            body.replace_range(place, &with);
        }
        self.value = Tree::parse(&body)?.root.into();
        self.body = body;
        Ok(())
    }
}

fn node_at<'t, 'a>(root: &'t Node<'a>, path: JsonPath<'_>) -> Option<&'t Node<'a>> {
    path.iter().try_fold(root, |node, name| match node {
        Node::Array(array) => array.elements.get(name.parse::<usize>().ok()?),
        Node::Object(object) => object.get(name).map(|member| &member.value),
        _ => None,
    })
}

/// Adds a member, and with it the objects on the way that are missing.
fn grow(tree: &Tree<'_>, path: JsonPath<'_>, value: &Value) -> Result<Vec<Splice>, EditError> {
    let mut node = &tree.root;
    for (depth, name) in path.iter().enumerate() {
        let Node::Object(object) = node else {
            return Err(EditError::at(tree.text, node.start(), "expected an object ({)"));
        };
        if let Some(member) = object.get(name) {
            node = &member.value;
            continue;
        }
        let below = path.iter().skip(depth + 1).rev();
        let value = below.fold(value.clone(), |value, name| {
            Value::Object(std::iter::once(((*name).to_owned(), value)).collect())
        });
        return Ok(insert(tree, node, Some(name), &value));
    }
    Ok(Vec::new())
}

/// Inserts an item at the end of an object or an array.
fn insert(tree: &Tree<'_>, into: &Node<'_>, key: Option<&str>, value: &Value) -> Vec<Splice> {
    let style = JsonStyle::detect(tree);
    let inner = into.start() + 1..into.end() - 1;
    let within = tree.text.get(inner.clone()).unwrap_or_default();
    // Before the white space that leads to the closing bracket, and after any comment.
    let end = inner.start + within.trim_end_matches(WHITE).len();
    let last = items(into).last().map(|last| last.end);
    let is_inline = style.is_minified() || (last.is_some() && !within.contains('\n'));
    let depth = style.depth_at(tree.text, into.start());
    let name = key.map(|key| style.name(key, is_inline)).unwrap_or_default();
    let comma = last.and_then(|last| tree.comma_after(last));
    let ending = if comma.is_some() { "," } else { "" };
    let body = if is_inline {
        let space = if last.is_some() { style.space() } else { "" };
        format!("{space}{name}{}{ending}", style.inline(value))
    } else {
        let line = style.line(depth + 1);
        let close = if within.is_empty() { style.line(depth) } else { String::new() };
        format!("{line}{name}{}{ending}{close}", style.render(value, depth + 1))
    };
    match last.filter(|_| comma.is_none()) {
        Some(last) if last == end => vec![(end..end, format!(",{body}"))],
        Some(last) => vec![(last..last, ",".to_owned()), (end..end, body)],
        None => vec![(end..end, body)],
    }
}

/// Takes one item out of its object or array, with its line and its comma.
fn remove_item(tree: &Tree<'_>, from: &Node<'_>, place: usize) -> Vec<Splice> {
    let items = items(from);
    let Some(item) = items.get(place) else { return Vec::new() };
    let inner = from.start() + 1..from.end() - 1;
    let before = tree.text.get(inner.start..item.start).unwrap_or_default();
    let comma = tree.comma_after(item.end);
    let end = comma.map_or(item.end, |comma| comma + 1);
    let rest = tree.text.get(end..inner.end).unwrap_or_default();
    // What follows on the line must not become part of a comment that ends the line before.
    let ends_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let stays = !ends_line && tree.follows_line_comment(item.start);
    let start = if stays { item.start } else { inner.start + before.trim_end_matches(WHITE).len() };
    let is_all = items.len() == 1 && start == inner.start && rest.trim().is_empty();
    let mut splices = vec![(start..if is_all { inner.end } else { end }, String::new())];
    // A last item without a comma leaves none after the item before it either.
    let previous = place.checked_sub(1).and_then(|previous| items.get(previous));
    if comma.is_none()
        && let Some(comma) = previous.and_then(|previous| tree.comma_after(previous.end))
    {
        splices.push((comma..comma + 1, String::new()));
    }
    splices
}

/// The white space of JSON.
const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
