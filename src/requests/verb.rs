//! What a verb is: one thing that can be asked, and how each face spells it. Its path and method are those of REST, its name that of
//! gRPC, its tool that of MCP; all of them read its arguments into one [`Request`]. Not here: which verbs there are (`verbs`).

use serde_json::Value;

use crate::api_error::ApiError;
use crate::change::Voice;
use crate::fields::{CallArguments, is_absent};
use crate::parameter::Parameter;
use crate::request::{Api, Request};
use crate::rights::Rights;
use crate::tool::VerbTool;
use reply::Reply;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbKind {
    /// It reads, by GET.
    Read,
    /// It changes something, by POST.
    Action,
    /// It makes something new, by POST.
    Make,
}

/// What a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbCost {
    /// About as much as a search.
    Usual,
    /// More: it looks at all memories, or at the machine.
    Expensive,
    /// More if one of these fields is given.
    ExpensiveWith(&'static [&'static str]),
}

/// One verb.
pub struct Verb {
    /// What it asks for.
    pub kind: VerbKind,
    /// Its path below the prefix; one segment may stand in braces.
    pub path: &'static str,
    /// Its name in the description.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The segment in braces, and the parameter that it fills.
    pub in_path: Option<(&'static str, &'static str)>,
    /// Its parameters. Another field is refused, even if the request behind it knows that: a read must not change
    /// anything, and a path says which change is meant.
    pub parameters: fn() -> Vec<Parameter>,
    /// Whether it understands further fields, which it checks by itself.
    pub takes_more: bool,
    /// Whether it is for the owner of the server alone.
    pub is_for_admins: bool,
    /// Whether it takes much more than a search.
    pub cost: VerbCost,
    /// Reads its arguments.
    pub request: fn(CallArguments) -> Result<Request, ApiError>,
    /// What a caller over a network is told instead of an answer, where that says more.
    pub answer: fn(&Request, Result<Reply, ApiError>) -> Result<Reply, ApiError>,
    /// The tool over MCP, if it has one.
    pub tool: Option<VerbTool>,
}

impl Verb {
    /// Asks a memory, and returns what the caller is told.
    ///
    /// # Errors
    /// [`ApiError`].
    pub fn call(
        &self,
        api: &dyn Api,
        given: CallArguments,
        voice: &Voice,
    ) -> Result<Reply, ApiError> {
        let request = (self.request)(given)?;
        (self.answer)(&request, api.ask_as(&request, voice))
    }

    /// Returns the right that it needs.
    pub fn rights(&self) -> Rights {
        match self.kind {
            _ if self.is_for_admins => Rights::Admin,
            VerbKind::Read => Rights::Read,
            VerbKind::Action | VerbKind::Make => Rights::Write,
        }
    }

    /// Tells whether a call with these arguments takes much more than a search.
    #[must_use]
    pub fn is_expensive(&self, given: &CallArguments) -> bool {
        let is_set = |field: &str| given.get(field).is_some_and(|value| !is_off(value));
        match self.cost {
            VerbCost::Expensive => true,
            VerbCost::ExpensiveWith(fields) => fields.iter().any(|field| is_set(field)),
            VerbCost::Usual => false,
        }
    }

    /// Gives it a tool over MCP.
    pub const fn with_tool(self, tool: VerbTool) -> Self {
        Self { tool: Some(tool), ..self }
    }

    /// Changes what a caller over a network is told.
    pub const fn answered(
        self,
        answer: fn(&Request, Result<Reply, ApiError>) -> Result<Reply, ApiError>,
    ) -> Self {
        Self { answer, ..self }
    }

    /// Makes it one that takes much more than a search.
    pub const fn expensive(self) -> Self {
        Self { cost: VerbCost::Expensive, ..self }
    }

    /// The same where one of these fields is given.
    pub const fn expensive_with(self, fields: &'static [&'static str]) -> Self {
        Self { cost: VerbCost::ExpensiveWith(fields), ..self }
    }

    /// Makes it one for the owner of the server.
    pub const fn for_admins(self) -> Self {
        Self { is_for_admins: true, ..self }
    }

    /// Tells whether a path is its own; then returns what stands at the segment in braces, if it has one.
    pub fn place_in<'p>(&self, path: &'p str) -> Option<Option<&'p str>> {
        let (mut own, mut given) = (self.path.split('/'), path.split('/'));
        let mut place = None;
        loop {
            match (own.next(), given.next()) {
                (None, None) => return Some(place),
                (Some(own), Some(given)) if own.starts_with('{') && !given.is_empty() => {
                    place = Some(given);
                }
                (Some(own), Some(given)) if own == given => {}
                _ => return None,
            }
        }
    }
}

/// Tells whether a switch is off, as a query, a body or a message of gRPC writes it.
fn is_off(value: &Value) -> bool {
    is_absent(value) || *value == Value::Bool(false) || value == "false"
}

/// The segment that names a memory, and the parameter of most changes that it fills.
pub const ID: Option<(&str, &str)> = Some(("id", "ids"));

fn as_it_is(_: &Request, answer: Result<Reply, ApiError>) -> Result<Reply, ApiError> {
    answer
}

/// A verb that reads, whose path has no segment in braces.
pub const fn read(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Vec<Parameter>,
    request: fn(CallArguments) -> Result<Request, ApiError>,
) -> Verb {
    let (kind, in_path, takes_more) = (VerbKind::Read, None, false);
    let (is_for_admins, cost, tool) = (false, VerbCost::Usual, None);
    Verb {
        kind,
        path,
        name,
        about,
        in_path,
        parameters,
        takes_more,
        is_for_admins,
        cost,
        request,
        answer: as_it_is,
        tool,
    }
}

/// A change of the memory that the path names.
pub const fn change(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Vec<Parameter>,
    request: fn(CallArguments) -> Result<Request, ApiError>,
) -> Verb {
    Verb { kind: VerbKind::Action, in_path: ID, ..read(path, name, about, parameters, request) }
}
