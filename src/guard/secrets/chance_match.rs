//! The letters of a name that stand in a text by chance: in a drawn value, and in the id of a memory. Not here: names
//! (`named_secret`).

use super::bound_value::BoundValue;
use super::charset::ALNUM;
use super::context::NAME_BYTES_MAX;
use super::ids::{can_be_id, is_id_around};
use super::named_secret::NameInText;
use super::value_statistics::ValueStatistics;

/// Bytes of a drawn value in which a short name can stand by chance.
const DRAWN_BYTES_MIN: usize = 16;

/// Bytes of a name that is taken for chance before a plain word.
const SAID_NAME_BYTES_MAX: usize = 3;

impl NameInText<'_> {
    /// Tells whether a short name is part of a drawn value or an id, in which its letters stand by chance, as in `kPwd9Xq2`.
    pub(super) fn stands_by_chance(&self) -> bool {
        let Self { text, start, end, .. } = *self;
        let name = text.slice(start, end);
        let rest = name.get(1..).unwrap_or_default();
        let is_one_case = name.iter().all(|byte| !byte.is_ascii_lowercase())
            || rest.iter().all(|byte| !byte.is_ascii_uppercase());
        let is_part = || {
            let run = self.run().0;
            run.len() >= DRAWN_BYTES_MIN && ValueStatistics::count(run).is_drawn()
        };
        self.row.name == "password" && name.len() < 5 && (!is_one_case || is_part())
            || self.is_of_id()
    }

    /// Tells whether the name is part of an id of a memory, as in `PW7X0MTE: linked`.
    fn is_of_id(&self) -> bool {
        let name = self.text.slice(self.start, self.end);
        !name.iter().any(u8::is_ascii_lowercase) && {
            let (run, from) = self.run();
            is_id_around(run, self.start - from..self.end - from)
        }
    }

    /// Tells whether a word is said of what can be an id with a short name in it, as in our answer `KTSY3PW2: linked.`
    pub(super) fn is_remark_about_id(&self, bound: &BoundValue<'_>) -> bool {
        let between = self.text.slice(self.end, bound.from);
        self.end - self.start <= SAID_NAME_BYTES_MAX
            && can_be_id(self.run().0)
            && between.ends_with(b": ")
            && bound.trimmed().iter().all(u8::is_ascii_lowercase)
    }

    /// Returns the letters and digits in which the name stands, and where they begin.
    fn run(&self) -> (&[u8], usize) {
        let from = self.text.run_back(self.start, ALNUM, NAME_BYTES_MAX);
        (self.text.slice(from, self.text.run(self.end, ALNUM, NAME_BYTES_MAX)), from)
    }
}
