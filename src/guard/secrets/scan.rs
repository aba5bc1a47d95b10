//! The pass over a text: from place to place that is worth a look, to the reports. Not here: the
//! looks themselves.

use std::ops::Range;

use super::anchors::{Anchor, candidates, shifted};
use super::assigned::{Look, run_end};
use super::hit::{Hit, Rank, merged};
use super::prefixed;
use super::structure::Structure;
use super::text::Text;
use super::unescaped::Unescaped;
use super::{command, cookie, form, kubernetes, named, stray};

/// Bytes of a mark of ours: more than the longest name of a rule.
const MARK_BYTES_MAX: usize = 64;

/// Layers of escapes that are undone: JSON in JSON in a line of JSON.
const LAYERS_MAX: usize = 3;

/// Reports every secret of a text, in order and without overlap.
pub(super) fn secrets(text: &[u8]) -> Vec<Hit> {
    let mut hits = seen(text);
    let mut layers: Vec<Unescaped> = Vec::new();
    while layers.len() < LAYERS_MAX {
        let bytes = layers.last().map_or(text, |layer| layer.bytes.as_slice());
        let Some(layer) = Unescaped::of(bytes) else { break };
        layers.push(layer);
        let Some(layer) = layers.last() else { break };
        for hit in seen(&layer.bytes) {
            let origin =
                |place| layers.iter().rev().fold(place, |place, layer| layer.origin(place));
            hits.push(Hit { from: origin(hit.from), to: origin(hit.to), ..hit });
        }
    }
    if hits.is_empty() { hits } else { merged(hits) }
}

/// Reports every secret of a text as it stands, in no order.
fn seen(bytes: &[u8]) -> Vec<Hit> {
    let text = Text(bytes);
    let mut pass = Pass {
        text,
        hits: Vec::new(),
        behind: 0,
        value: 0..0,
        names_behind: 0,
        looked_at: 0..0,
        looks: 0,
        manifests_to: 0,
        cookies_to: 0,
    };
    let mut window = 0;
    for (place, byte) in bytes.iter().enumerate() {
        window = shifted(window, *byte);
        let Some(start) = place.checked_sub(2) else { continue };
        for entry in candidates(window) {
            let word = entry.text();
            if start >= pass.behind && text.is_at(start, word) {
                pass.look(start, start + word.len(), entry.anchor());
            }
        }
    }
    stray::report(text, &mut pass.hits);
    pass.hits
}

struct Pass<'a> {
    text: Text<'a>,
    hits: Vec<Hit>,
    /// Nothing that begins before this is looked at any more.
    behind: usize,
    /// The last value that was found behind a name; names inside it are part of it.
    value: Range<usize>,
    /// No name that begins before this is looked at any more: it stands in a crowd.
    names_behind: usize,
    /// The values that the last looks went through, and how many looks began inside them.
    looked_at: Range<usize>,
    looks: usize,
    /// The end of the last manifest that was looked at.
    manifests_to: usize,
    /// The end of the last cookies that were looked at.
    cookies_to: usize,
}

/// Looks from names inside a value that another name was given. Such a crowd (`key=key=key=…`) would
/// have every name walk the same value; no writer of secrets makes one.
const CROWD_MAX: usize = 4;

impl Pass<'_> {
    // Rare beside the bytes that are passed over: the loop over those must stay small.
    #[inline(never)]
    fn look(&mut self, start: usize, end: usize, anchor: Anchor) {
        let found = match anchor {
            Anchor::Prefixed(kind) => prefixed::found(self.text, start, &kind),
            Anchor::Provider(provider) => {
                self.name(start, |text| named::of_provider(text, start, end, &provider))
            }
            Anchor::Word(word) => self.name(start, |text| named::of_word(text, start, end, &word)),
            Anchor::Command(known) => command::found(self.text, start, end, &known),
            Anchor::Form(Structure::Cookie) => {
                if start >= self.cookies_to {
                    self.cookies_to = cookie::report(self.text, end, &mut self.hits);
                }
                None
            }
            Anchor::Form(Structure::Redacted) => {
                // Only what looks like a mark of ours hides what stands in it.
                let is_rule = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
                let to = self.text.run_while(end, MARK_BYTES_MAX, is_rule);
                if to > end && self.text.at(to) == b']' {
                    self.behind = to + 1;
                }
                None
            }
            Anchor::Form(Structure::KubernetesSecret) => {
                if start >= self.manifests_to && kubernetes::is_secret(self.text, end) {
                    self.manifests_to =
                        kubernetes::report(self.text, start, self.manifests_to, &mut self.hits);
                }
                None
            }
            Anchor::Form(form) => form::found(self.text, start, end, form),
        };
        if let Some(hit) = found {
            // A value after a name may begin with something more telling, which then names it.
            if hit.rank >= Rank::Form {
                self.behind = hit.to;
            }
            self.hits.push(hit);
        }
    }

    fn name(&mut self, start: usize, look: impl Fn(Text<'_>) -> Look<Hit>) -> Option<Hit> {
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
        let look = look(self.text);
        if self.looks == 0 {
            self.looked_at = look.values.clone();
        }
        if let Some(hit) = look.found {
            self.value = hit.from..hit.to;
        }
        look.found
    }
}
