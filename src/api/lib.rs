//! Answers requests in this process. [`local`] is the memory, [`journal`] what happened, [`work_trees`] which memories the files of a
//! repository contradict. Not here: the requests (`requests`), how a request arrives (the faces), the words of a reply (`reply`).

pub mod journal;
mod likeness;
pub mod local;
pub mod query_log;
pub mod reranker;
pub mod second_source;
#[cfg(test)]
mod tests;
pub mod work_trees;

pub use learning::signature;

pub use self::likeness::nearest;
