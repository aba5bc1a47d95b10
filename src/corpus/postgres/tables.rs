//! The tables, which are made where they are missing. Not here: reading and writing them.

/// Makes the schema, all or nothing. Two that begin at once wait for each other.
///
/// A row of passages is some 700 bytes, so that it stays in the table itself: the score of a passage reads its vector.
pub(super) const MAKE: &str = "
begin;
select pg_advisory_xact_lock(4711032601);
create schema if not exists agent_knowledge;
create extension if not exists vector;
create table if not exists agent_knowledge.memory (
    key uuid primary key, mark bigint not null, is_live boolean not null, repo text not null, kind text not null,
    agent text not null, tags text[] not null, time_us bigint, meaning public.halfvec(384), record bytea not null);
create table if not exists agent_knowledge.passage (
    key uuid not null, part smallint not null, is_live boolean not null, repo text not null, kind text not null,
    agent text not null, tags text[] not null, time_us bigint, terms integer[] not null, weights public.sparsevec not null,
    primary key (key, part));
create index if not exists passage_terms on agent_knowledge.passage using gin (terms);
create index if not exists passage_repo on agent_knowledge.passage (repo);
create index if not exists memory_meaning on agent_knowledge.memory using hnsw (meaning public.halfvec_cosine_ops);
create table if not exists agent_knowledge.term (
    term text collate \"C\" primary key, passages bigint not null) with (fillfactor = 70);
create table if not exists agent_knowledge.totals (
    one boolean primary key default true check (one), layout integer not null, passages bigint not null,
    documents bigint not null, terms bigint not null, reply_terms bigint not null, weighed_with real not null);
insert into agent_knowledge.totals values (true, 1, 0, 0, 0, 0, 0) on conflict do nothing;
commit;
";

/// The layout of the tables. It goes up when they change, and another one is refused.
pub(super) const LAYOUT: i32 = 1;

/// The settings of a connection. A list of a common term is read in full only where that costs less than the whole table, which
/// the planner cannot know.
pub(super) const SETTINGS: &str = "
set enable_seqscan = off; set jit = off; set plan_cache_mode = force_custom_plan; set hnsw.ef_search = 400;
set hnsw.iterative_scan = relaxed_order; set work_mem = '32MB'; set max_parallel_workers_per_gather = 0";
