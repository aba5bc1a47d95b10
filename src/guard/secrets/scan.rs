//! The pass over a text: the prefilter finds anchors, and the rule of each anchor looks around it. Not here:
//! the rules themselves.

use std::ops::Range;

use super::accent_folding::folded;
use super::binding::BindingScan;
use super::bound_value::run_end;
use super::context::begins_word;
use super::escapes::UnescapedText;
use super::hit::{Hit, Rank, merged};
use super::named_secret::NameInText;
use super::nearby_value::{Nearness, Reach};
use super::table::{Anchor, TableKind, each_anchor};
use super::text::Text;
use super::{
    bare_address, columns, cookie, login, login_pair, manifest, nearby_value, prefixed, random_key,
    respelled_key, shape, user_info,
};
use crate::prefilter::TableRow;

/// Bytes of a mark of ours: more than the longest name of a rule.
const MARK_BYTES_MAX: usize = 64;

/// Bytes of the ending of a word, such as those of its cases.
const STEM_BYTES_MAX: usize = 16;

/// Layers of escapes that are decoded: JSON in JSON in a line of JSON.
const LAYERS_MAX: usize = 3;

/// Looks from names inside a value that another name was given. In a crowd (`key=key=key=…`) every name would
/// walk the same value; no secret looks like that.
const CROWD_MAX: usize = 4;

/// Reports every secret of a text, in order and without overlap.
pub(super) fn secrets(text: &[u8]) -> Vec<Hit> {
    let mut hits = ScanPass::over(text);
    let mut layers: Vec<UnescapedText> = Vec::new();
    let mut is_folded = false;
    while !is_folded {
        let bytes = layers.last().map_or(text, |layer| layer.bytes.as_slice());
        let decoded = if layers.len() < LAYERS_MAX { UnescapedText::decode(bytes) } else { None };
        // The last layer is one without accents, however many there were before.
        is_folded = decoded.is_none();
        let Some(layer) = decoded.or_else(|| folded(bytes)) else { break };
        let found = ScanPass::over(&layer.bytes);
        layers.push(layer);
        let origin = |place| layers.iter().rev().fold(place, |place, layer| layer.origin(place));
        hits.extend(found.into_iter().map(|hit| Hit {
            from: origin(hit.from),
            to: origin(hit.to),
            ..hit
        }));
    }
    if hits.is_empty() { hits } else { merged(hits) }
}

/// Returns where a name stands: what stands around a short name in the table is no part of it, and a stem is part of a
/// longer word.
fn name_in(text: Text<'_>, place: Range<usize>, anchor: &str, is_stem: bool) -> (usize, usize) {
    let Range { start, end } = place;
    let is_edge = |letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric();
    let lead = usize::from(anchor.starts_with([' ', '(']));
    let end = if anchor.len() < 5 { start + anchor.trim_end_matches(is_edge).len() } else { end };
    let goes_on = |byte: u8| byte.is_ascii_lowercase() || byte >= 0x80;
    let end = if is_stem { text.run_while(end, STEM_BYTES_MAX, goes_on) } else { end };
    (start + lead, end)
}

#[derive(Default)]
struct ScanPass<'a> {
    text: Text<'a>,
    hits: Vec<Hit>,
    /// Matches that begin before this offset are done.
    behind: usize,
    /// The last value that was found after a name; names inside it are part of it.
    value: Range<usize>,
    /// No name that begins before this is looked at any more: it stands in a crowd.
    names_behind: usize,
    /// The values that the last looks read, and how many looks began inside them.
    looked_at: Range<usize>,
    looks: usize,
    /// The ends of the last manifest and of the last cookies.
    manifests_to: usize,
    /// The end of the last header of a table that was looked at.
    columns_to: usize,
    cookies_to: usize,
    /// The ends of the text that was searched for drawn values near a name, and near a word that means an account.
    names_to: usize,
    accounts_to: usize,
}

impl<'a> ScanPass<'a> {
    /// Reports every secret of a text as it stands, in no order.
    fn over(bytes: &'a [u8]) -> Vec<Hit> {
        let mut pass = Self { text: Text(bytes), ..Self::default() };
        each_anchor(bytes, |place, anchor| {
            if place.start >= pass.behind {
                pass.look(place, anchor());
            }
        });
        bare_address::report(pass.text, &mut pass.hits);
        random_key::report(pass.text, &mut pass.hits);
        respelled_key::report(pass.text, &mut pass.hits);
        pass.hits
    }

    // Rare beside the bytes that are passed over: the loop over those must stay small.
    #[inline(never)]
    fn look(&mut self, place: Range<usize>, found: Anchor) {
        let Anchor { kind, text: anchor, row, number } = found;
        let text = self.text;
        let (start, end) = if kind == TableKind::Name {
            name_in(text, place, anchor, row.fields[0] == "stem")
        } else {
            (place.start, place.end)
        };
        let name = NameInText { text, start, end, anchor, row };
        if kind == TableKind::Name && name.reaches() {
            self.near(Reach::of_name(text, start, end));
        }
        let found = match kind {
            TableKind::Prefix => prefixed::found(text, start, end, anchor, &row),
            TableKind::Provider => self.name(start, || name.scan_provider()),
            TableKind::Name => {
                let found = self.name(start, || name.scan_secret());
                if found.is_none() && row.name == "password" {
                    columns::mapped(&name, &mut self.hits);
                }
                if found.is_none() && start >= self.columns_to && row.name == "password" {
                    if name.reaches() {
                        nearby_value::report_number(text, start, end, row.name, &mut self.hits);
                    }
                    if !text.at(end).is_ascii_lowercase() {
                        // One password column of a table is read, and one name in each cell.
                        let is_column = columns::report(&name, &mut self.hits);
                        let ends: &[u8] = if is_column { b"\n" } else { b"|,;\t\n" };
                        self.columns_to = text.run_while(end, 256, |byte| !ends.contains(&byte));
                        columns::inserted(text, start, end, row.name, &mut self.hits);
                    }
                }
                found
            }
            TableKind::Command => login::password_in_command(text, start, end, &row),
            TableKind::Shape => shape::found(text, start, number, &row),
            TableKind::Hint => {
                if row.fields[0] == "password-option"
                    && let Some(hit) = login_pair::option_password(text, start, end)
                {
                    self.hits.push(hit);
                }
                match row.fields[0] {
                    "name" => self.near(Reach::of_name(text, start, end)),
                    "account" if begins_word(text, start) => {
                        self.near(Reach::of_account(text, start, end));
                    }
                    "password-option" => self.near(Reach::of_option(text, end, Nearness::Name)),
                    "option" => self.near(Reach::of_option(text, end, Nearness::Account)),
                    _ => {}
                }
                None
            }
            TableKind::Place => self.place(start, end, &row),
        };
        if let Some(hit) = found {
            // A value after a name may begin with a prefix, which then names it.
            if hit.rank >= Rank::Form {
                self.behind = hit.to;
            }
            self.hits.push(hit);
        }
    }

    /// Reports the values near a word. What was searched for another word is not searched again.
    fn near(&mut self, reach: Reach) {
        let done = match reach.nearness {
            Nearness::Name => &mut self.names_to,
            Nearness::Account => &mut self.accounts_to,
        };
        let from = reach.from.max(*done);
        *done = reach.to.max(*done);
        nearby_value::report(self.text, Reach { from, ..reach }, "password", &mut self.hits);
    }

    fn name(&mut self, start: usize, look: impl FnOnce() -> BindingScan<Hit>) -> Option<Hit> {
        if start < self.names_behind || self.value.contains(&start) {
            return None;
        }
        let is_inside = self.looked_at.contains(&start);
        if !is_inside && start >= self.looked_at.end {
            (self.looked_at, self.looks) = (start..start, 0);
        }
        self.looks += usize::from(is_inside);
        if self.looks > CROWD_MAX {
            self.names_behind = run_end(self.text, self.looked_at.end);
            return None;
        }
        let look = look();
        if self.looks == 0 {
            self.looked_at = look.values;
        }
        if let Some(hit) = look.found {
            self.value = hit.from..hit.to;
        }
        look.found
    }

    fn place(&mut self, start: usize, end: usize, row: &TableRow) -> Option<Hit> {
        let text = self.text;
        match row.name {
            "address" => return user_info::password_in_address(text, end),
            "curl-user" => return user_info::password_of_curl(text, start, end),
            "echo" => return login::echoed_password(text, end),
            "stars" => return login_pair::ppp_secret(text, start),
            "here-string" => return login::here_string(text, start, end),
            "cookie" if start >= self.cookies_to => {
                self.cookies_to = cookie::report(text, end, &mut self.hits);
            }
            "manifest" if start >= self.manifests_to && manifest::is_secret(text, end) => {
                self.manifests_to =
                    manifest::report(text, start, self.manifests_to, &mut self.hits);
            }
            "redacted" => {
                // Only a text in the form of our own mark hides its content.
                let is_rule = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
                let to = text.run_while(end, MARK_BYTES_MAX, is_rule);
                if to > end && text.at(to) == b']' {
                    self.behind = to + 1;
                }
            }
            _ => {}
        }
        None
    }
}
