//! Changes to JSON that leave every other byte where it is: comments, order, indentation, line ends.
//! Not here: what is put there, and into which file.

mod scan;
mod style;

use serde_json::Value;

use super::EditError;
use scan::{Kind, Node, scan};
use style::Style;

/// A JSON text and what stands in it.
#[derive(Debug, Clone)]
pub(crate) struct Json {
    text: String,
    root: Node,
}

/// A way from the root to a value, by names; of an element of an array its number is the name.
pub(crate) type Path<'a> = &'a [&'a str];

impl Json {
    /// Reads a text. One of white space alone is an empty object, as all clients take it.
    pub(crate) fn parse(text: &str) -> Result<Self, EditError> {
        let is_empty = text.trim_start_matches('\u{FEFF}').trim().is_empty();
        let text = if is_empty { "{}\n".to_owned() } else { text.to_owned() };
        let root = scan(&text)?;
        if !matches!(root.kind, Kind::Object(_)) {
            return Err(EditError::at(&text, root.span.start, "an object ({) must stand here"));
        }
        Ok(Self { text, root })
    }

    /// The text as it is now.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What it means.
    pub(crate) fn value(&self) -> Value {
        self.root.value()
    }

    /// What stands at a path.
    pub(crate) fn get(&self, path: Path<'_>) -> Option<Value> {
        self.node(path).map(Node::value)
    }

    fn node(&self, path: Path<'_>) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, name| match &node.kind {
            Kind::Array(items) => Some(&items.get(name.parse::<usize>().ok()?)?.value),
            Kind::Object(_) | Kind::Scalar(_) => Some(&node.member(name)?.1.value),
        })
    }

    /// Sets a member, and makes the objects on the way to it.
    ///
    /// # Errors
    /// Where something else than an object stands on the way.
    pub(crate) fn set(&mut self, path: Path<'_>, value: &Value) -> Result<(), EditError> {
        if let Some(node) = self.node(path) {
            if node.value() == *value {
                return Ok(());
            }
            let style = Style::of(&self.text, &self.root);
            let rendered = style.render(value, style.depth_at(&self.text, node.span.start));
            let span = node.span.clone();
            return self.replaced(span, &rendered);
        }
        self.grow(path, value)
    }

    /// Adds an element to the array at a path, which is made where there is none.
    ///
    /// # Errors
    /// Where something else than an array stands there.
    pub(crate) fn push(&mut self, path: Path<'_>, value: &Value) -> Result<(), EditError> {
        let Some(node) = self.node(path) else {
            return self.grow(path, &Value::Array(vec![value.clone()]));
        };
        if !matches!(node.kind, Kind::Array(_)) {
            return Err(EditError::at(&self.text, node.span.start, "an array ([) must stand here"));
        }
        let node = node.clone();
        self.insert(&node, None, value)
    }

    /// Adds a member whose parents may be missing too.
    fn grow(&mut self, path: Path<'_>, value: &Value) -> Result<(), EditError> {
        let mut node = &self.root;
        for (place, name) in path.iter().enumerate() {
            if !matches!(node.kind, Kind::Object(_)) {
                return Err(EditError::at(
                    &self.text,
                    node.span.start,
                    "an object ({) must stand here",
                ));
            }
            if let Some((_, item)) = node.member(name) {
                node = &item.value;
                continue;
            }
            let below = path.iter().skip(place + 1).rev();
            let value = below.fold(value.clone(), |value, name| {
                Value::Object(std::iter::once(((*name).to_owned(), value)).collect())
            });
            let node = node.clone();
            return self.insert(&node, Some(name), &value);
        }
        Ok(())
    }

    /// Inserts an item at the end of an object or an array.
    fn insert(&mut self, into: &Node, key: Option<&str>, value: &Value) -> Result<(), EditError> {
        let style = Style::of(&self.text, &self.root);
        let inner = into.span.start + 1..into.span.end - 1;
        let within = self.text.get(inner.clone()).unwrap_or_default();
        // Before the white space that leads to the closing bracket, and after any comment.
        let end = inner.start + within.trim_end_matches([' ', '\t', '\r', '\n']).len();
        let is_inline = style.is_minified() || (!into.items().is_empty() && !within.contains('\n'));
        let depth = style.depth_at(&self.text, into.span.start);
        let name = key.map(|key| style.name(key, is_inline)).unwrap_or_default();
        let last = into.items().last();
        let comma = if last.and_then(|item| item.comma).is_some() { "," } else { "" };
        let body = if is_inline {
            let space = if last.is_some() { style.space() } else { "" };
            format!("{space}{name}{}{comma}", style.inline(value))
        } else {
            let line = style.line(depth + 1);
            let close = if within.is_empty() { style.line(depth) } else { String::new() };
            format!("{line}{name}{}{comma}{close}", style.render(value, depth + 1))
        };
        let mut text = self.text.clone();
        text.insert_str(end, &body);
        if let Some(last) = last.filter(|last| last.comma.is_none()) {
            text.insert(last.value.span.end, ',');
        }
        self.become_text(text)
    }

    /// Removes a member; what is not there needs no removing.
    pub(crate) fn remove(&mut self, path: Path<'_>) -> Result<(), EditError> {
        let Some((name, above)) = path.split_last() else { return Ok(()) };
        let Some(node) = self.node(above).cloned() else { return Ok(()) };
        match node.member(name) {
            Some((place, _)) => self.take(&node, place),
            None => Ok(()),
        }
    }

    /// Removes the elements of the array at a path that `is_one` of those meant.
    pub(crate) fn remove_elements(
        &mut self,
        path: Path<'_>,
        is_one: &dyn Fn(&Value) -> bool,
    ) -> Result<(), EditError> {
        // Each round takes one away, so there are no more rounds than elements.
        while let Some(node) = self.node(path).cloned() {
            let Kind::Array(items) = &node.kind else { return Ok(()) };
            let Some(place) = items.iter().position(|item| is_one(&item.value.value())) else {
                return Ok(());
            };
            self.take(&node, place)?;
        }
        Ok(())
    }

    /// Takes one item out of its object or array, with its line and its comma.
    fn take(&mut self, from: &Node, place: usize) -> Result<(), EditError> {
        let items = from.items();
        let Some(item) = items.get(place) else { return Ok(()) };
        let before = self.text.get(from.span.start + 1..item.begins).unwrap_or_default();
        let kept = before.trim_end_matches([' ', '\t', '\r', '\n']);
        let end = item.comma.map_or(item.value.span.end, |comma| comma + 1);
        let mut text = self.text.clone();
        let is_only = items.len() == 1;
        let rest = self.text.get(end..from.span.end - 1).unwrap_or_default();
        // What follows on the line must not come into a comment that ends the line before.
        let ends_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let previous = place.checked_sub(1).and_then(|previous| items.get(previous));
        let since = previous
            .map_or(from.span.start + 1, |item| item.comma.unwrap_or(item.value.span.end) + 1);
        let gap = self.text.get(since..item.begins).unwrap_or_default();
        let stays = !ends_line && ends_in_line_comment(gap);
        let start = if stays { item.begins } else { from.span.start + 1 + kept.len() };
        let opens = start == from.span.start + 1;
        let end = if is_only && opens && rest.trim().is_empty() { from.span.end - 1 } else { end };
        text.replace_range(start..end, "");
        // A last item without a comma leaves the one before it with none, too.
        if item.comma.is_none()
            && let Some(comma) = previous.and_then(|previous| previous.comma)
        {
            text.remove(comma);
        }
        self.become_text(text)
    }

    fn replaced(&mut self, span: std::ops::Range<usize>, with: &str) -> Result<(), EditError> {
        let mut text = self.text.clone();
        text.replace_range(span, with);
        self.become_text(text)
    }

    fn become_text(&mut self, text: String) -> Result<(), EditError> {
        self.root = scan(&text)?;
        self.text = text;
        Ok(())
    }
}

/// Whether the last of white space and comments is a comment that takes the rest of its line.
fn ends_in_line_comment(gap: &str) -> bool {
    let mut rest = gap.trim_start();
    while !rest.is_empty() {
        let end = if rest.starts_with("//") { "\n" } else { "*/" };
        let Some((_, after)) = rest.split_once(end) else { return end == "\n" };
        let is_last = after.trim().is_empty();
        if is_last {
            return end == "\n";
        }
        rest = after.trim_start();
    }
    false
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
