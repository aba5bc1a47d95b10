//! The integration tests: one program, one module per promise. Each drives the real programs in a
//! world of its own. Not here: what one room promises by itself; that is tested inside the room.
#![cfg(test)]

// How a test gets a machine of its own: home, store, clock of git, programs.
mod world;
// What only some machines have: the model, real clients, data.
mod pieces;
// An MCP client made of lines.
mod raw_client;

// What people wrote down for agents is taken over, and what proved itself is written back.
mod agent_files;
// What hangs together, what the whole looks like, and what repositories share.
mod analysis;
// Old lines move to packed segments, and nobody who asks sees a difference.
mod archive;
// What may be asked, and how the program ends when it may not.
mod asking;
// Our own benchmark is what was frozen, and recall on it stays above floors.
mod benchmark;
// Over its bound the memory leaves out the oldest, and says so.
mod bounded;
// The official clients connect, and find what they need.
mod clients;
// The state is a function of the lines, also of a server that was killed.
mod digest;
// What may not pass the door, what is said about it, and how the program ends.
mod door;
// How well it recalls is measured as worked out by hand.
mod eval;
// Kills, full disks, failing system calls, stopped lock holders, lost hints and lost power.
mod faults;
// What a briefing tells, and what is picked from menus.
mod briefing;
// Filters as fields and in the query, phrases, slips.
mod filters;
// Lines of every age and damage load for ever.
mod format;
// A running server notices everything that happens to the logs.
mod freshness;
// What the memory says about itself.
mod health;
// What no input may break: the laws of the fuzz targets, in short.
mod in_flight;
mod laws;
// What becomes of memories: verdicts, replacement, forgetting and its undoing.
mod life;
mod links;
// Nobody else gets in: modes, planted links, a second user, no open port.
mod local_security;
// Any number of writers, and dying ones, lose nothing that was acknowledged.
mod many_writers;
// The server, in both eras of the protocol.
mod mcp;
// Over HTTP: no web page, no stranger, bounded, both eras.
mod http;
// No message, however broken, ends the server, its protocol or its bounds.
mod mcp_fuzz;
// Meaning finds what words do not, and is computed once.
mod model;
// What clients install from this repository agrees with itself and with the program.
mod packages;
// What reads like an instruction is held back, and nothing reaches a reply unframed.
mod poison;
// What was acknowledged is found by the next question.
mod recall;
// Replies are bounded and harmless.
mod reply;
// One repository has one key wherever it stands; two never share a file.
mod related;
mod repository;
// A restart from a checkpoint knows what a cold start knows.
mod restart;
// How well it finds what developers look for.
mod retrieval;
// The rules of the house: who imports whom, and how a file looks.
mod rooms;
// Many processes share one retriever, which may die at any time.
#[cfg(unix)]
mod sharing;
// Clients are set up, checked, and left as they were.
mod setup;
// A secret that is in a log can be taken out, and nothing else is lost.
mod scrub;
// No secret reaches the disk, a message or a reply.
mod secrets;
// The helper that agents call needs nothing but the binary.
mod shell_helper;
// What the code has left behind is told, whatever becomes of git.
mod staleness;
// A store that others could have written is not trusted.
mod store_refusals;
// Hooks speak up when something fails, learn what mends it, and disturb nobody.
mod hooks;
// Whether every line is well, and everything around them.
mod upkeep;
