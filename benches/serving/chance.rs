//! Seeded random numbers for test data: the same seed gives the same data on every machine. Not here: the data.

/// SplitMix64: one multiply-and-shift step, which is enough for test data.
#[derive(Clone)]
pub struct Chance(u64);

impl Chance {
    /// The random numbers of item `number` under a seed, so that any item can be made without the items before
    /// it.
    pub fn of(seed: u64, number: u64) -> Self {
        let mut chance = Self(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        chance.next();
        chance
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    /// Picks each choice with the same probability.
    pub fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let at = self.below(choices.len());
        choices.get(at).copied().unwrap_or_default()
    }

    /// Picks early choices often and late ones rarely. Rank r has a probability of about 1/r, which is Zipf's
    /// law.
    pub fn early_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let at = self.rank(choices.len());
        choices.get(at).copied().unwrap_or_default()
    }

    /// Returns a rank below the bound by the same law: its logarithm is uniform.
    pub fn rank(&mut self, bound: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (bound.max(1) as f64).powf(share);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to bound")]
        let rank = rank as usize;
        rank.saturating_sub(1).min(bound.saturating_sub(1))
    }
}
