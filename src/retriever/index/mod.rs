//! Indexes (stub: the founder merges this file by hand).
pub mod embed;
pub mod vector;
