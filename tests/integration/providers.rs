//! External models: how they are set, what is sent to whom, and how one takes the place of another. Not here: what a provider can
//! do wrong (crate `providers`).

mod left_out;
mod own_server;
mod reranking;
mod setting;
mod stand_in_provider;
mod stand_in_reranker;
mod switching;
