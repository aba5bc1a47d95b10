//! Lets a loop use the instructions of this processor. A program is built for every processor of an architecture,
//! and the oldest of them count bits and multiply vectors much slower. The only file that names `fearless_simd`. Not
//! here: the loops themselves, which are plain Rust (`vector::codes`, `late::query_token`, `late::rotation`).

use fearless_simd::{Level, dispatch};

/// Runs a closure with the instructions of this processor. The result is the same on each. Write `#[inline(always)]`
/// before the closure and before what it calls: only inlined code is compiled again.
#[inline(always)]
pub(super) fn with_native_simd<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(Level::new(), _ => work())
}
