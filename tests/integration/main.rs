//! The integration tests: one program with one module per promise. Each test runs the real programs in a
//! hermetic environment. Not here: what one crate promises by itself, which is tested in that crate.
#![cfg(test)]

// A hermetic environment for each test: home, store, git clock and programs.
mod world;
// What only some machines have: the model, real clients and data.
mod pieces;
// An MCP client that sends and reads raw lines.
mod raw_client;

#[cfg(unix)]
mod terminal;

// Agent files are imported as memories, and proven lessons are exported into them.
mod agent_files;
// Analyses of all memories, logged searches without results, and patterns across repositories.
mod analysis;
// Old lines move to packed segments, and answers stay the same.
mod archive;
// Invalid options and values are refused with a remedy and the documented exit code.
mod asking;
// The benchmark data is unchanged, and recall on it stays above floors.
mod benchmark;
// People save, correct and configure from a terminal.
mod by_hand;
// Over its memory limit the server leaves out the oldest memories and reports that.
mod bounded;
// A real browser walks the dashboard, and pages of other origins do not get in.
mod browser;
// Lines that somebody edits, deletes or moves are told, and nothing else is.
mod chain;
// No mixture of writers is told as a change, and every change is.
mod chain_laws;
// Shells complete words, manual pages are read, and failures are JSON where it is asked for.
#[cfg(unix)]
mod completing;
// The official clients connect and find what they need.
mod clients;
// Most pairs that a review shows contradict each other.
mod contradictions;
// Of an outdated note and the current one, the current one comes first.
mod current_notes;
// The state is a function of the log lines, even for a server that was killed.
mod digest;
// Invalid events are refused whole with every problem named, and nothing is written.
mod door;
// Planted orders come through no surface unmarked; surfaces are enumerated from the programs.
mod disclosure;
// The evaluation computes the same numbers as a calculation by hand.
mod eval;
mod exchange;
// Kills, full disks, failing system calls, stopped lock holders, lost notifications and lost power.
mod faults;
// The content of a briefing, and the prompts, completions and resources that people pick from menus.
mod briefing;
// Every command works on a machine without anything and in a directory that was removed, or says what it needs.
#[cfg(unix)]
mod first_command;
// Filters as fields and in the query, phrases, and spelling mistakes.
mod filters;
// Log lines of every age, and damaged lines, load forever.
mod format;
// A running server notices every change to the logs.
mod freshness;
// What the memory reports about itself.
mod health;
// What a newer version wrote into the configuration stops no save, and nothing is done that it may forbid.
mod newer_settings;
// A query that waits for an embedding batch sees the result of that batch.
mod in_flight;
// The laws of the fuzz targets, checked briefly.
mod laws;
// The lifecycle of memories: verdicts, replacement, forgetting and undo.
mod life;
// Links that people and agents add and remove.
mod links;
// Other users cannot get in: file modes, planted links, a second user, no open port.
mod local_security;
// Many concurrent writers, including killed ones, lose no acknowledged event.
mod many_writers;
// The MCP server, in both eras of the protocol.
mod mcp;
// MCP over HTTP: requests from web pages and strangers are refused, connections are limited, both eras work.
mod http;
// gRPC: the same calls as REST, streams, and what is refused.
mod grpc;
// No message, however malformed, stops the server, breaks its protocol or exceeds its limits.
mod mcp_fuzz;
// Search by meaning finds what words do not, and each embedding is computed once.
mod model;
// Nobody takes the place of a memory of another store, and actions of others need trust.
mod origins;
// A person picks a memory at a terminal.
#[cfg(unix)]
mod pasted_words;
mod picking;
// External models: what is sent to whom, and how one takes the place of another.
mod providers;
// The packages for clients agree with each other and with the program.
mod packages;
// One test for each kind of report about the place of a lesson, by its number.
#[cfg(unix)]
mod place_cases;
// A week of one project ends with one repository.
mod place_story;
// Text that reads like an instruction is held back, and all text in a reply is marked as a note.
mod poison;
// An acknowledged event is found by the next query.
mod recall;
// Texts lose their secrets before anybody reshapes them, whatever way they take.
mod redaction;
// Replies are bounded and contain only harmless text.
mod reply;
// What is related to a memory or a file.
mod related;
// An agent in a container: its lessons reach the team's server, and its answers come from both.
mod remote_team;
// Replicas of a team give the same answers, byte for byte.
mod replicas;
mod repo_words;
// A repository has the same key everywhere, and two repositories never share a file.
mod repository;
// A restart from a checkpoint gives the same state as a cold start.
mod restart;
// How well searches find what developers look for.
mod retrieval;
// The rules of the architecture: which crate may import which, and how a file looks.
// Many processes share one retriever, which may be killed at any time.
#[cfg(unix)]
mod sharing;
// Past sessions of other tools: asked first, kept private, found, forgotten.
mod sessions;
// No secret of a transcript survives in what is kept, in an index or in an answer.
mod session_place;
mod session_secrets;
// Clients are set up, checked, and restored to their original files.
mod setup;
// A secret can be removed from a log, and nothing else is lost.
mod scrub;
// No secret reaches the disk, a message or a reply.
mod secrets;
// The shell helper for agents needs only the log-memory program.
mod shell_helper;
// Memories of branches that are not merged say so, and hooks leave them out.
mod other_branches;
// A file is that of the folder somebody stands in.
mod right_file;
// A lesson is of the package somebody stands in.
mod right_package;
// Memories that no longer match the code are listed, whatever the state of git.
mod staleness;
// A store that others could have written is not trusted.
mod store_place;
mod store_refusals;
// Hooks show known lessons at a failure, learn the fix, and never disturb the agent.
mod hooks;
// Two people share lessons through a git repository of their team.
mod team;
// A briefing that is kept in a file, and tags that suggest themselves.
#[cfg(unix)]
mod watched_context;
// Checks of every log line and of everything around the logs.
mod upkeep;
// What a trial from outside broke once.
#[cfg(unix)]
mod edges;
