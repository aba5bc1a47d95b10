//! x
#[cfg(feature = "retriever")]
pub mod retriever;
