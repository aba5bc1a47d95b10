//! What the program says when it is called alone: where the caller is, what is known, and the next steps. Not here:
//! finding that out (`cli::home`), the whole state (`status`).

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::reply::Reply;
use super::session_state::StateNote;
use guard::text::{Layout, neutralise};

/// Most clients that are named.
const CLIENTS_MAX: usize = 4;

/// What is known about the caller's place.
#[derive(Debug, Clone, Default)]
pub struct Home {
    /// The key of the repository of the working directory.
    pub repo: String,
    /// The number of its memories.
    pub memories_here: usize,
    /// The number of all memories.
    pub memories: usize,
    /// The number of repositories with memories.
    pub repos: usize,
    /// The state of past sessions; nothing where there are none.
    pub sessions: Option<StateNote>,
    /// The clients that were set up, each with its last call.
    pub set_up: Vec<String>,
    /// The clients that are installed and were not set up.
    pub left_out: Vec<&'static str>,
    /// Whether search by meaning works.
    pub has_model: bool,
    /// Whether the model is being fetched.
    pub fetches_model: bool,
}

/// What the program says when it is called alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HomeAnswer {
    /// The key of the repository of the working directory.
    pub repo: String,
    /// How many memories it has.
    pub memories_here: usize,
    /// How many memories there are.
    pub memories: usize,
    /// How many repositories have memories.
    pub repos: usize,
    /// The clients that were set up, each with its last call.
    pub clients: Vec<String>,
    /// The clients that are installed and were not set up.
    pub not_set_up: Vec<String>,
    /// Whether search by meaning works.
    pub model: bool,
    /// The commands to run next, the most useful first.
    pub next: Vec<String>,
}

impl Answer for HomeAnswer {}

/// A next step: the command, and what it does.
type Step = (&'static str, &'static str);

impl Home {
    /// Puts it in words.
    #[must_use]
    pub fn reply(&self) -> Reply {
        let mut text = String::new();
        let _ = match self.repo.as_str() {
            "" => writeln!(
                text,
                "here      no repository: the working directory is no project, or does not exist"
            ),
            repo => writeln!(text, "here      {}: {}", shown(repo), memories(self.memories_here)),
        };
        let _ = writeln!(
            text,
            "all       {} in {} {}",
            memories(self.memories),
            self.repos,
            if self.repos == 1 { "repository" } else { "repositories" }
        );
        if let Some(note) = &self.sessions {
            let _ = writeln!(text, "sessions  {}", note.says);
        }
        let _ = writeln!(text, "agents    {}", self.agents());
        let meaning = match (self.has_model, self.fetches_model) {
            (true, _) => "by words and by meaning",
            (false, true) => "by words, until the model is fetched",
            (false, false) => "by words",
        };
        let _ = writeln!(text, "search    {meaning}");
        let steps = self.steps();
        let width = steps.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
        let _ = writeln!(text, "\nNext:");
        for (command, what) in &steps {
            let _ = writeln!(text, "  {command:<width$}  {what}");
        }
        let _ = write!(text, "\nAll commands: agent-knowledge --help");
        let steps = steps.iter().map(|(command, _)| (*command).to_owned()).collect();
        let answer = HomeAnswer {
            repo: self.repo.clone(),
            memories_here: self.memories_here,
            memories: self.memories,
            repos: self.repos,
            clients: self.set_up.clone(),
            not_set_up: self.left_out.iter().map(|client| (*client).to_owned()).collect(),
            model: self.has_model,
            next: steps,
        };
        Reply::with_text(text, &answer)
    }

    /// Leaves out a step of a reply that the caller has just done.
    #[must_use]
    pub fn without_step(reply: Reply, done: &str) -> Reply {
        let begin = format!("  {done} ");
        let lines = reply.text.lines().filter(|line| !line.starts_with(&begin));
        let text = lines.collect::<Vec<_>>().join("\n");
        let Ok(mut answer) = reply.answer::<HomeAnswer>() else { return Reply { text, ..reply } };
        answer.next.retain(|step| step != done);
        Reply::with_text(text, &answer)
    }

    fn agents(&self) -> String {
        let named = |clients: Vec<&str>| {
            let more = clients.len().saturating_sub(CLIENTS_MAX);
            let names = clients.into_iter().take(CLIENTS_MAX).collect::<Vec<_>>().join(", ");
            if more == 0 { names } else { format!("{names} and {more} more") }
        };
        let set_up: Vec<&str> = self.set_up.iter().map(String::as_str).collect();
        match (set_up.is_empty(), self.left_out.is_empty()) {
            (true, true) => "none found on this machine".to_owned(),
            (true, false) => format!("{} found, none set up", named(self.left_out.clone())),
            (false, true) => named(set_up),
            (false, false) => {
                format!("{}; not set up: {}", named(set_up), named(self.left_out.clone()))
            }
        }
    }

    /// Returns what to do next, the most useful first.
    fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        match (self.set_up.is_empty(), self.left_out.is_empty()) {
            (true, false) => {
                steps.push(("agent-knowledge init", "get ready: agents, model, past sessions"));
            }
            (false, false) => {
                steps.push(("agent-knowledge setup", "let your other agents save and recall too"));
            }
            (_, true) => {}
        }
        if self.sessions.as_ref().is_some_and(|note| note.command.is_some()) {
            steps.push(("agent-knowledge sessions import", "make your past sessions searchable"));
        }
        if self.memories_here == 0 {
            steps
                .push(("agent-knowledge import --found", "read CLAUDE.md, AGENTS.md and the like"));
            steps.push(("agent-knowledge add", "save a lesson of your own"));
        }
        if !self.has_model && !self.fetches_model {
            steps.push(("agent-knowledge model fetch", "search by meaning too"));
        }
        if self.memories > 0 {
            steps.push(("agent-knowledge ui", "look at it in the browser"));
            steps.push(("agent-knowledge search WORDS", "find lessons"));
        }
        steps
    }
}

fn memories(count: usize) -> String {
    if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
}

fn shown(text: &str) -> String {
    neutralise(text, Layout::Line)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_store_names_the_first_steps() {
        let mut home =
            Home { repo: "acme/web".to_owned(), left_out: vec!["codex"], ..Home::default() };
        let reply = home.reply();
        assert!(reply.text.starts_with("here      acme/web: 0 memories\n"), "{}", reply.text);
        assert!(reply.text.contains("agents    codex found, none set up\n"), "{}", reply.text);
        let expected = [
            "agent-knowledge init",
            "agent-knowledge import --found",
            "agent-knowledge add",
            "agent-knowledge model fetch",
        ];
        assert_eq!(reply.json["next"], json!(expected));
        home.fetches_model = true;
        let fetching = home.reply();
        assert_eq!(fetching.json["next"], json!(expected.get(..3).unwrap()));
        assert!(fetching.text.contains("search    by words, until the model is fetched\n"));
        let after = Home::without_step(reply.clone(), "agent-knowledge init");
        assert_eq!(after.json["next"], json!(expected.get(1..).unwrap()));
        let init = "  agent-knowledge init            get ready: agents, model, past sessions\n";
        assert_eq!(after.text, reply.text.replace(init, ""));
    }

    #[test]
    fn a_complete_setup_leads_to_search() {
        let set_up = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let home = Home {
            memories_here: 3,
            memories: 9,
            repos: 2,
            set_up,
            has_model: true,
            ..Home::default()
        };
        let reply = home.reply();
        assert_eq!(
            reply.json["next"],
            json!(["agent-knowledge ui", "agent-knowledge search WORDS"])
        );
        assert!(reply.text.contains("agents    a, b, c, d and 1 more\n"), "{}", reply.text);
    }
}
