//! Lists without a query: pages of memories, events and deliveries, analyses and sums. Not here: finding by words (`find`).

pub(super) mod analysis;
pub(super) mod browse;
pub(super) mod deliveries;
pub(super) mod listing;
pub(super) mod log_events;
pub(super) mod page_end;
pub(super) mod records;
pub(super) mod savings;
pub(super) mod tag_suggestions;
