//! From the cosines of one model to those of the model that likelihoods were fitted on (`relevance`). Pure. Not here: embedding texts
//! to find the scale (the retriever's `model_calibrate`).

/// A straight line from one model's cosines to those of all-MiniLM-L6-v2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineScale {
    offset: f32,
    factor: f32,
}

/// The steepest and the flattest line: beyond, one of the two models tells nothing apart.
const FACTOR_MIN: f32 = 0.1;
const FACTOR_MAX: f32 = 10.0;

/// Least pairs of texts: fewer say little of a quartile.
const PAIRS_MIN: usize = 100;

impl Default for CosineScale {
    fn default() -> Self {
        Self { offset: 0.0, factor: 1.0 }
    }
}

impl CosineScale {
    /// Takes a line; `None` where its numbers make no sense.
    #[must_use]
    pub fn new(offset: f32, factor: f32) -> Option<Self> {
        let is_fine = (FACTOR_MIN..=FACTOR_MAX).contains(&factor) && offset.abs() <= FACTOR_MAX;
        is_fine.then_some(Self { offset, factor })
    }

    /// Finds the line on which the median and the quartiles of one model's cosines fall on those of the other. Both are of the
    /// same pairs of texts, of any order. `None` for few pairs, and where one of the models tells nothing apart.
    #[must_use]
    pub fn fitted(of_model: &[f32], wanted: &[f32]) -> Option<Self> {
        if of_model.len().min(wanted.len()) < PAIRS_MIN {
            return None;
        }
        let (median, spread) = median_and_spread(of_model)?;
        let (wanted_median, wanted_spread) = median_and_spread(wanted)?;
        let factor = wanted_spread / spread;
        Self::new(wanted_median - factor * median, factor)
    }

    /// Maps a cosine.
    #[must_use]
    pub fn map_cosine(self, cosine: f32) -> f32 {
        (self.offset + self.factor * cosine).clamp(-1.0, 1.0)
    }

    /// Returns what is added and what is multiplied by.
    #[must_use]
    pub fn parts(self) -> (f32, f32) {
        (self.offset, self.factor)
    }

    /// Tells whether it changes anything.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self == Self::default()
    }
}

/// Returns the median, and the distance of the quartiles; `None` where that is none.
fn median_and_spread(cosines: &[f32]) -> Option<(f32, f32)> {
    let mut sorted = cosines.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let at = |share: usize| sorted.get(sorted.len() * share / 4).copied();
    let (low, median, high) = (at(1)?, at(2)?, at(3)?);
    (high > low).then_some((median, high - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PROVIDER-9
    #[test]
    fn the_quartiles_of_one_fall_on_the_other() {
        let wanted: Vec<f32> = (0..400_u16).map(|number| f32::from(number) / 1_000.0).collect();
        // A model whose cosines lie between .7 and .9.
        let narrow: Vec<f32> = wanted.iter().rev().map(|cosine| 0.7 + cosine / 2.0).collect();
        let scale = CosineScale::fitted(&narrow, &wanted).unwrap();
        for cosine in [0.0, 0.1, 0.35] {
            assert!((scale.map_cosine(0.7 + cosine / 2.0) - cosine).abs() < 1e-3, "{scale:?}");
        }
        assert_eq!(CosineScale::fitted(&wanted, &wanted), CosineScale::new(0.0, 1.0));
    }

    // S-PROVIDER-9
    #[test]
    fn a_model_that_tells_nothing_apart_has_no_scale() {
        let wanted: Vec<f32> = (0..400_u16).map(|number| f32::from(number) / 1_000.0).collect();
        assert_eq!(CosineScale::fitted(&[0.9; 400], &wanted), None);
        assert_eq!(CosineScale::fitted(&wanted[..50], &wanted[..50]), None);
        assert_eq!(CosineScale::new(f32::NAN, 1.0), None);
        assert_eq!(CosineScale::new(0.0, 0.001), None);
    }
}
