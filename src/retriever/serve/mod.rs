//! The faces: thin layers that translate a call, ask [`api`], and hand on the words.
//! Not here: ranking (`search`), wording (`render`).

pub mod api;
pub mod local;
