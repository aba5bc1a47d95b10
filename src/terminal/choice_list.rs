//! What can be chosen, what fits the words typed so far, and which one is chosen. Not here: how it is shown (`screen`).

use crate::fuzzy::{fit, folded_letters};
use crate::keys::TerminalKey;

/// Longest query, in letters.
const QUERY_CHARS_MAX: usize = 200;

/// One that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickRow {
    /// What names it.
    pub id: String,
    /// What a row begins with; it is not searched.
    pub day: String,
    /// What a row says, on one line.
    pub text: String,
}

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEffect {
    /// Somebody goes on choosing.
    Continue,
    /// The selected one is chosen.
    Chosen,
    /// Nothing is chosen.
    Left,
}

/// The candidates, and those that fit.
#[derive(Debug)]
pub struct ChoiceList {
    all: Vec<PickRow>,
    letters: Vec<Vec<char>>,
    query: String,
    fitting: Vec<usize>,
    selected: usize,
    /// Whether the query has changed since the fitting ones were found.
    is_behind: bool,
}

impl ChoiceList {
    /// Offers candidates, the best first, to somebody who has typed `query`.
    #[must_use]
    pub fn new(all: Vec<PickRow>, query: &str) -> Self {
        let letters = all.iter().map(|one| folded_letters(&one.text)).collect();
        let query = query.chars().take(QUERY_CHARS_MAX).collect();
        let mut list =
            Self { all, letters, query, fitting: Vec::new(), selected: 0, is_behind: true };
        list.catch_up();
        list
    }

    /// What was typed.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// How many fit, and of how many.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.fitting.len(), self.all.len())
    }

    /// The place of the selected one among those that fit.
    #[must_use]
    pub fn place(&self) -> usize {
        self.selected
    }

    /// The selected one, if any fits.
    #[must_use]
    pub fn selected(&self) -> Option<&PickRow> {
        self.all.get(*self.fitting.get(self.selected)?)
    }

    /// Those that fit, from one place on, the best first.
    pub fn from(&self, place: usize) -> impl Iterator<Item = &PickRow> {
        self.fitting.iter().skip(place).filter_map(|one| self.all.get(*one))
    }

    /// Does what a key asks. `page` is how many rows are shown. What fits is found before the next key that is no letter, or by
    /// [`ChoiceList::catch_up`]: who types fast, or pastes, waits once.
    pub fn press(&mut self, key: TerminalKey, page: usize) -> KeyEffect {
        if let TerminalKey::Letter(_)
        | TerminalKey::Backspace
        | TerminalKey::DropWord
        | TerminalKey::DropAll = key
        {
            self.edit(key);
            return KeyEffect::Continue;
        }
        self.catch_up();
        let last = self.fitting.len().saturating_sub(1);
        match key {
            TerminalKey::Choose if self.fitting.is_empty() => {}
            TerminalKey::Choose => return KeyEffect::Chosen,
            TerminalKey::Leave => return KeyEffect::Left,
            TerminalKey::Up => self.selected = self.selected.saturating_sub(1),
            TerminalKey::Down => self.selected = (self.selected + 1).min(last),
            TerminalKey::PageUp => self.selected = self.selected.saturating_sub(page.max(1)),
            TerminalKey::PageDown => self.selected = (self.selected + page.max(1)).min(last),
            TerminalKey::First => self.selected = 0,
            TerminalKey::Last => self.selected = last,
            TerminalKey::Letter(_)
            | TerminalKey::Backspace
            | TerminalKey::DropWord
            | TerminalKey::DropAll => {}
        }
        KeyEffect::Continue
    }

    fn edit(&mut self, key: TerminalKey) {
        let before = self.query.len();
        match key {
            TerminalKey::Letter(letter) if self.query.chars().count() < QUERY_CHARS_MAX => {
                self.query.push(letter);
            }
            TerminalKey::Backspace => drop(self.query.pop()),
            TerminalKey::DropWord => {
                let kept = self.query.trim_end().trim_end_matches(|c: char| !c.is_whitespace());
                self.query.truncate(kept.len());
            }
            TerminalKey::DropAll => self.query.clear(),
            _ => {}
        }
        self.is_behind |= self.query.len() != before;
    }

    /// Finds those that fit every word, if the query has changed; among equals their order stays.
    pub fn catch_up(&mut self) {
        if !std::mem::take(&mut self.is_behind) {
            return;
        }
        let words: Vec<Vec<char>> = self.query.split_whitespace().map(folded_letters).collect();
        let scored = self.letters.iter().enumerate().filter_map(|(place, text)| {
            let scores = words.iter().map(|word| fit(word, text).map(|fit| fit.score));
            Some((scores.sum::<Option<i32>>()?, place))
        });
        let mut scored: Vec<(i32, usize)> = scored.collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.fitting = scored.into_iter().map(|(_, place)| place).collect();
        self.selected = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> ChoiceList {
        let of = |(id, text): (usize, &&str)| PickRow {
            id: id.to_string(),
            day: String::new(),
            text: (*text).to_owned(),
        };
        ChoiceList::new(texts.iter().enumerate().map(of).collect(), "")
    }

    fn ids(list: &ChoiceList) -> String {
        list.from(0).map(|one| one.id.as_str()).collect()
    }

    // S-PICK-1
    #[test]
    fn every_word_typed_makes_the_list_shorter() {
        let mut list = list(&["npm ci fails", "cargo ci", "ci of npm", "else"]);
        assert_eq!((ids(&list).as_str(), list.counts()), ("0123", (4, 4)));
        for letter in "ci".chars() {
            assert_eq!(list.press(TerminalKey::Letter(letter), 9), KeyEffect::Continue);
        }
        list.catch_up();
        assert_eq!(ids(&list), "012");
        for letter in " npm".chars() {
            list.press(TerminalKey::Letter(letter), 9);
        }
        list.catch_up();
        assert_eq!(ids(&list), "02");
        list.press(TerminalKey::DropWord, 9);
        list.catch_up();
        assert_eq!((list.query(), ids(&list).as_str()), ("ci ", "012"));
        list.press(TerminalKey::Backspace, 9);
        list.press(TerminalKey::DropAll, 9);
        list.catch_up();
        assert_eq!((list.query(), ids(&list).as_str()), ("", "0123"));
    }

    // S-PICK-1
    #[test]
    fn the_selection_stays_among_those_that_fit() {
        let mut list = list(&["a", "b", "c", "d", "e"]);
        for (key, place) in [
            (TerminalKey::Up, 0),
            (TerminalKey::Down, 1),
            (TerminalKey::PageDown, 3),
            (TerminalKey::PageDown, 4),
            (TerminalKey::Down, 4),
            (TerminalKey::PageUp, 2),
            (TerminalKey::Last, 4),
            (TerminalKey::First, 0),
        ] {
            assert_eq!(list.press(key, 2), KeyEffect::Continue);
            assert_eq!(list.place(), place, "{key:?}");
        }
        assert_eq!(list.press(TerminalKey::Choose, 2), KeyEffect::Chosen);
        list.press(TerminalKey::Letter('z'), 2);
        list.catch_up();
        assert_eq!((list.selected(), list.counts()), (None, (0, 5)));
        assert_eq!(
            list.press(TerminalKey::Choose, 2),
            KeyEffect::Continue,
            "nothing is there to choose"
        );
        assert_eq!(list.press(TerminalKey::Leave, 2), KeyEffect::Left);
    }
}
