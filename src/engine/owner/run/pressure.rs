//! How hard others press: whether they write faster than lines are read, now or lately. One fact with two uses: answers
//! no longer wait for lines that are left out, and texts are embedded slowly. Not here: what is left out
//! (`follow::behind`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use index::embed::worker::Pace;

/// After this long with lines left out now and then, answers no longer wait for them. They stop waiting earlier if one
/// has waited in vain.
const PRESSED: Duration = Duration::from_millis(1_000);

/// After this long without lines left out the pressure is over. Beside writers that never pause nothing is left out for
/// some tenths of a second at a time.
const CALM: Duration = Duration::from_millis(2_000);

/// The rest after each text that is embedded meanwhile: no text waits for ever, and the processor is free.
const EMBED_REST: Duration = Duration::from_millis(1_000);

pub(super) struct Pressure {
    /// Whether it lasts; shared with the callers, who also set it when they have waited in vain.
    is_pressed: Arc<AtomicBool>,
    /// The first and the last time at which lines were left out. `None` while nobody presses.
    behind: Option<(Instant, Instant)>,
}

impl Pressure {
    pub(super) fn new(is_pressed: Arc<AtomicBool>) -> Self {
        Self { is_pressed, behind: None }
    }

    /// Tells whether others press, or did lately.
    pub(super) fn is_under_pressure(&self) -> bool {
        self.behind.is_some()
    }

    /// Notes whether lines are left out now. Returns the new pace of embedding where it changes.
    pub(super) fn record_backlog(&mut self, is_behind: bool, now: Instant) -> Option<Pace> {
        let was = self.behind;
        self.behind = match was {
            _ if is_behind => Some((was.map_or(now, |(first, _)| first), now)),
            Some((_, last)) if now.saturating_duration_since(last) >= CALM => None,
            lately => lately,
        };
        match self.behind {
            None => self.is_pressed.store(false, Ordering::Relaxed),
            Some((first, _)) if now.saturating_duration_since(first) >= PRESSED => {
                self.is_pressed.store(true, Ordering::Relaxed);
            }
            Some(_) => {}
        }
        match (was, self.behind) {
            (None, Some(_)) => Some(Pace::Held(EMBED_REST)),
            (Some(_), None) => Some(Pace::Full),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-READ-8
    #[test]
    fn it_lasts_until_nothing_was_left_out_for_a_while() {
        let is_pressed = Arc::<AtomicBool>::default();
        let mut pressure = Pressure::new(Arc::clone(&is_pressed));
        let start = Instant::now();
        let mut noted = |is_behind, ms| {
            let pace = pressure.record_backlog(is_behind, start + Duration::from_millis(ms));
            (pace, is_pressed.load(Ordering::Relaxed))
        };
        assert_eq!(noted(false, 0), (None, false));
        assert_eq!(noted(true, 100), (Some(Pace::Held(EMBED_REST)), false));
        assert_eq!(noted(false, 200), (None, false), "a moment later");
        assert_eq!(noted(true, 1_050), (None, false));
        assert_eq!(noted(true, 1_100), (None, true), "others go on");
        assert_eq!(noted(false, 3_000), (None, true));
        assert_eq!(noted(false, 3_100), (Some(Pace::Full), false));
        assert_eq!(noted(true, 9_000), (Some(Pace::Held(EMBED_REST)), false));
        // A caller has waited in vain.
        is_pressed.store(true, Ordering::Relaxed);
        assert_eq!(noted(false, 9_100), (None, true));
        assert_eq!(noted(false, 11_000), (Some(Pace::Full), false));
    }
}
