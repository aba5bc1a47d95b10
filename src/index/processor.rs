//! Lets a loop use what this very processor can do. Programs are built for every processor of a kind, and the oldest
//! of them count bits and multiply in rows much slower. The only file that names `fearless_simd`. Not here: the loops
//! themselves, which are plain Rust (`vector::codes`, `late::asked`, `late::turn`).

use fearless_simd::{Level, dispatch};

/// Does some work with the instructions that this processor has, with the same result on each. Write `#[inline(always)]`
/// before the closure and before what it calls: only what is inlined is compiled anew.
#[inline(always)]
pub(super) fn at_its_best<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(Level::new(), _ => work())
}
