//! What other tools keep about a repository, into memories: one folder for each kind of source. Everything goes
//! through the one door. Not here: which memories there are already, which callers pass in.

pub mod agent_files;
