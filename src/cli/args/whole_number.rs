//! Whole numbers as values of options. Not here: numbers of requests, which `requests` reads.

use std::ops::RangeInclusive;

/// Reads a whole number within bounds, and says what is allowed where it is none.
pub fn whole_number<T: TryFrom<u64> + Clone + Send + Sync + 'static>(
    allowed: RangeInclusive<u64>,
    example: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| allowed.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            let (least, most) = (allowed.start(), allowed.end());
            format!("must be a whole number from {least} to {most}, for example {example}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_is_told_what_is_allowed() {
        let days = whole_number::<u16>(1..=366, 30);
        assert_eq!((days("1"), days(" 366 ")), (Ok(1), Ok(366)));
        for wrong in ["0", "367", "-1", "x", "", "1.5", "99999999999999999999"] {
            let told = "must be a whole number from 1 to 366, for example 30".to_owned();
            assert_eq!(days(wrong), Err(told), "{wrong}");
        }
    }
}
