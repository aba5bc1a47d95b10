//! From the vectors of an answer to vectors that can be compared: as many as texts, in their order, finite, of one width and of
//! length one. Whatever is odd is refused with one clear message; nothing is guessed. Pure.

use serde_json::Value;

use crate::provider_error::ProviderError;
use settings::EmbeddingProvider;

/// What is known of the vectors that should come.
pub(crate) struct ExpectedVectors<'a> {
    /// Who answers, for messages.
    pub(crate) who: &'a str,
    /// How many texts were sent.
    pub(crate) count: usize,
    /// Numbers per vector, where they are known.
    pub(crate) dims: Option<usize>,
}

/// A vector, or what is odd about it.
pub(crate) type CheckedVector = Result<Vec<f32>, ProviderError>;

/// Checks vectors, each with its place where the answer gave one. An odd vector is an error of its text alone.
///
/// # Errors
/// [`ProviderError::Count`]: it is not clear which vector belongs to which text.
pub(crate) fn check_vectors(
    found: Vec<(Option<u64>, &Value)>,
    expected: &ExpectedVectors<'_>,
) -> Result<Vec<CheckedVector>, ProviderError> {
    let (sent, got) = (expected.count, found.len());
    let count = |got: usize| ProviderError::Count { who: expected.who.to_owned(), sent, got };
    if sent != got {
        return Err(count(got));
    }
    let mut places: Vec<Option<CheckedVector>> = vec![None; sent];
    let mut dims = expected.dims;
    for (at, (index, vector)) in found.into_iter().enumerate() {
        let place = index.map_or(Some(at), |index| usize::try_from(index).ok());
        let place = place.and_then(|place| places.get_mut(place));
        // A place that is named twice leaves another without a vector.
        let Some(free @ None) = place else { return Err(count(sent.saturating_sub(1))) };
        *free =
            Some(unit(vector, expected.who).and_then(|it| of_width(it, &mut dims, expected.who)));
    }
    let whole: Option<Vec<CheckedVector>> = places.into_iter().collect();
    whole.ok_or_else(|| count(got))
}

/// Checks the width of a vector; the first one decides where it is not known.
fn of_width(vector: Vec<f32>, dims: &mut Option<usize>, who: &str) -> CheckedVector {
    let max = usize::try_from(EmbeddingProvider::DIMENSIONS_MAX).unwrap_or(usize::MAX);
    let got = vector.len();
    let first = *dims.get_or_insert(got);
    if got == first && first <= max {
        return Ok(vector);
    }
    let expected = if first > max { format!("at most {max}") } else { first.to_string() };
    Err(ProviderError::Width { who: who.to_owned(), got, expected })
}

/// Reads a vector and makes its length one.
fn unit(vector: &Value, who: &str) -> CheckedVector {
    let not_numbers = || ProviderError::NotNumbers { who: who.to_owned() };
    #[expect(clippy::cast_possible_truncation, reason = "numbers of vectors are of this precision")]
    let number = |value: &Value| {
        value.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
    };
    let numbers: Option<Vec<f32>> =
        vector.as_array().and_then(|numbers| numbers.iter().map(number).collect());
    let numbers = numbers.filter(|numbers| !numbers.is_empty()).ok_or_else(not_numbers)?;
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    if !length.is_finite() {
        return Err(not_numbers());
    }
    if !length.is_normal() {
        return Err(ProviderError::Zeros { who: who.to_owned() });
    }
    Ok(numbers.into_iter().map(|number| number / length).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_values(
        vectors: &[(Option<u64>, Value)],
        count: usize,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let found = vectors.iter().map(|(index, vector)| (*index, vector)).collect();
        check_vectors(found, &ExpectedVectors { who: "p", count, dims: None })?
            .into_iter()
            .collect()
    }

    // S-PROVIDER-4
    #[test]
    fn vectors_stand_at_the_places_that_the_answer_names() {
        let out_of_order = [(Some(1), json!([0.0, 2.0])), (Some(0), json!([3.0, 0.0]))];
        assert_eq!(check_values(&out_of_order, 2).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        let twice = [(Some(0), json!([1.0])), (Some(0), json!([1.0]))];
        assert!(matches!(check_values(&twice, 2), Err(ProviderError::Count { .. })));
        let beyond = [(Some(7), json!([1.0]))];
        assert!(matches!(check_values(&beyond, 1), Err(ProviderError::Count { .. })));
    }

    // S-PROVIDER-4
    #[test]
    fn odd_vectors_are_refused_and_never_guessed() {
        let one = |vector: Value| check_values(&[(None, vector)], 1).unwrap_err();
        for odd in [json!(null), json!([1.0, null]), json!(["1"]), json!([]), json!([1e300])] {
            assert!(matches!(one(odd.clone()), ProviderError::NotNumbers { .. }), "{odd}");
        }
        assert!(matches!(one(json!([0.0, 0.0])), ProviderError::Zeros { .. }));
        let widths = [(None, json!([1.0, 0.0])), (None, json!([1.0]))];
        assert!(matches!(check_values(&widths, 2), Err(ProviderError::Width { got: 1, .. })));
        let wide = json!(vec![1.0; 5_000]);
        assert!(matches!(one(wide), ProviderError::Width { got: 5_000, .. }));
    }
}
