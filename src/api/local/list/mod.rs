//! Lists without a query: pages of memories (`browse`, `records`), of events and of what agents were shown (`deliveries`); analyses, sums,
//! and suggestions for tags. Not here: finding by words (`find`), what is known of one memory (`look`).

mod analysis;
mod browse;
mod deliveries;
mod listing;
mod log_events;
mod page_end;
mod records;
mod savings;
mod tag_suggestions;

pub(super) use analysis::{analyze, review};
pub(super) use listing::{complete, list, recent};
pub(super) use log_events::log_events;
