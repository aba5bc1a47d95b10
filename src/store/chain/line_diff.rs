//! Compares the lines that a chain knows with those of the log, to find where somebody changed it. It runs only once
//! the hashes do not fit. Not here: the hashes that decide, and how many lines are compared (`audit`).

use std::collections::HashMap;
use std::ops::Range as Span;

use super::ChainHash;
use super::chain_entry::Range;

/// How many lines ahead the two are searched for a place where they agree again.
const AHEAD_LINES_MAX: usize = 512;

/// How many lines must agree after that place.
const AGREEING_LINES: usize = 2;

/// A line of the log as it is.
pub(super) struct HashedLine {
    pub hash: ChainHash,
    pub bytes: Span<u64>,
}

/// Lines that differ, counted from 0 in the chain and in the log as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangedBlock {
    pub then: Span<usize>,
    pub now: Span<usize>,
}

/// The beginnings of the hashes that the chain knows; `None` for a line of joined ranges, which could be any.
fn known(ranges: &[&Range]) -> Vec<Option<u32>> {
    let mut all = Vec::new();
    for range in ranges {
        let known = range.known();
        if known.is_empty() {
            let lines = usize::try_from(range.lines()).unwrap_or(0);
            all.resize(all.len().saturating_add(lines), None);
        }
        all.extend(known.iter().map(|line| Some(line.short)));
    }
    all
}

fn agree(then: Option<&Option<u32>>, now: Option<&HashedLine>) -> bool {
    match (then, now) {
        (Some(Some(short)), Some(line)) => *short == line.hash.number(),
        (Some(None), Some(_)) => true,
        (_, None) | (None, _) => false,
    }
}

/// Returns the blocks that differ, in order. Lines after the last one that the chain knows are nobody's fault.
pub(super) fn blocks(ranges: &[&Range], now: &[HashedLine]) -> Vec<ChangedBlock> {
    let then = known(ranges);
    let (mut at_then, mut at_now, mut blocks) = (0, 0, Vec::new());
    while at_then < then.len() {
        if agree(then.get(at_then), now.get(at_now)) {
            at_then += 1;
            at_now += 1;
            continue;
        }
        let (gone, new) = to_agreement((&then, at_then), (now, at_now));
        blocks.push(ChangedBlock { then: at_then..at_then + gone, now: at_now..at_now + new });
        at_then += gone;
        at_now += new;
    }
    blocks
}

/// Finds how many lines to pass over in both until they agree again: as few as possible.
fn to_agreement(then: (&[Option<u32>], usize), now: (&[HashedLine], usize)) -> (usize, usize) {
    let ((then, at_then), (now, at_now)) = (then, now);
    let (left_then, left_now) = (then.len() - at_then, now.len().saturating_sub(at_now));
    for both in 1..=AHEAD_LINES_MAX.min(left_then + left_now) {
        for gone in (0..=both.min(left_then)).rev() {
            let new = both - gone;
            if new > left_now || gone == left_then {
                continue;
            }
            let lines = AGREEING_LINES.min(left_then - gone);
            let mut ahead = (0..lines)
                .map(|at| agree(then.get(at_then + gone + at), now.get(at_now + new + at)));
            if ahead.all(|agrees| agrees) {
                return (gone, new);
            }
        }
    }
    // They do not agree again: line for line to the end.
    (left_then, left_now.min(left_then))
}

/// Tells whether the blocks have the same lines as before, in another order.
pub(super) fn is_permutation(
    ranges: &[&Range],
    now: &[HashedLine],
    blocks: &[ChangedBlock],
) -> bool {
    let then = known(ranges);
    let mut counts: HashMap<u32, i64> = HashMap::new();
    for block in blocks {
        for line in then.get(block.then.clone()).unwrap_or_default() {
            let Some(short) = line else { return false };
            *counts.entry(*short).or_default() += 1;
        }
        for line in now.get(block.now.clone()).unwrap_or_default() {
            *counts.entry(line.hash.number()).or_default() -= 1;
        }
    }
    !counts.is_empty() && counts.values().all(|count| *count == 0)
}

/// Finds ranges outside the blocks whose lines agree with what is known of each, but not with the hash over all.
/// Returns them with their bytes in the log as it is.
pub(super) fn ranges_with_other_hash<'a>(
    begin: ChainHash,
    ranges: &[&'a Range],
    now: &[HashedLine],
    blocks: &[ChangedBlock],
) -> Vec<(&'a Range, Span<u64>)> {
    let (mut before, mut found) = (begin, Vec::new());
    let mut left = blocks.iter().peekable();
    // How far the lines have moved because of the blocks before.
    let (mut then_end, mut now_end) = (0_usize, 0_usize);
    for range in ranges {
        let number = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
        let lines = number(range.lines_before)..number(range.lines_end);
        let mut is_in_block = false;
        while let Some(block) = left.peek().filter(|block| block.then.start < lines.end) {
            is_in_block |= block.then.end >= lines.start;
            if block.then.end > lines.end {
                break;
            }
            (then_end, now_end) = (block.then.end, block.now.end);
            left.next();
        }
        let moved = |line: usize| (line + now_end).saturating_sub(then_end);
        let at_now = now.get(moved(lines.start)..moved(lines.end)).unwrap_or_default();
        let head = at_now.iter().fold(before, |head, line| head.after(line.hash));
        if !is_in_block && head != range.head {
            let byte = |line: Option<&HashedLine>| line.map_or(0, |line| line.bytes.start);
            let end = at_now.last().map_or(0, |line| line.bytes.end);
            found.push((*range, byte(at_now.first())..end));
        }
        before = range.head;
    }
    found
}
