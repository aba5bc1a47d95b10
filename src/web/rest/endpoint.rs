//! What an endpoint is: its method, its path, its parameters and the one call of [`Api`] that answers it. Not here: which
//! there are (`endpoints`).

use hyper::Method;
use serde_json::{Map, Value};

use access::admitted::Admitted;
use access::rights::Rights;
use api::requests::fields::is_absent;
use api::requests::parameter::Parameter;
use api::{Api, ApiError, Reply, Voice};

/// The arguments of a request.
pub type Given = Map<String, Value>;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbKind {
    /// It reads, by GET.
    Read,
    /// It changes something, by POST.
    Deed,
    /// It makes something new, by POST.
    Make,
}

/// What a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// About as much as a search.
    Usual,
    /// More: it looks at all memories, or at the machine.
    Expensive,
    /// More if one of these fields is given.
    ExpensiveWith(&'static [&'static str]),
}

/// One endpoint.
pub struct Endpoint {
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
    pub cost: Cost,
    /// The call.
    pub call: fn(&dyn Api, Given, &Voice) -> Result<Reply, ApiError>,
}

impl Endpoint {
    /// Returns its method.
    pub fn method(&self) -> Method {
        if self.kind == VerbKind::Read { Method::GET } else { Method::POST }
    }

    /// Returns the right that it needs.
    pub fn rights(&self) -> Rights {
        match self.kind {
            _ if self.is_for_admins => Rights::Admin,
            VerbKind::Read => Rights::Read,
            VerbKind::Deed | VerbKind::Make => Rights::Write,
        }
    }

    /// Counts a call if it is an expensive one.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn charge(&self, given: &Given, admitted: &Admitted) -> Result<(), i64> {
        let is_set = |field: &str| given.get(field).is_some_and(|value| !is_off(value));
        match self.cost {
            Cost::Expensive => admitted.pay(),
            Cost::ExpensiveWith(fields) if fields.iter().any(|field| is_set(field)) => {
                admitted.pay()
            }
            Cost::ExpensiveWith(_) | Cost::Usual => Ok(()),
        }
    }

    /// Makes it one that takes much more than a search.
    pub const fn expensive(self) -> Self {
        Self { cost: Cost::Expensive, ..self }
    }

    /// The same where one of these fields is given.
    pub const fn expensive_with(self, fields: &'static [&'static str]) -> Self {
        Self { cost: Cost::ExpensiveWith(fields), ..self }
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

/// An endpoint without a segment in braces.
pub const fn read(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Vec<Parameter>,
    call: fn(&dyn Api, Given, &Voice) -> Result<Reply, ApiError>,
) -> Endpoint {
    let (kind, in_path, takes_more) = (VerbKind::Read, None, false);
    let (is_for_admins, cost) = (false, Cost::Usual);
    Endpoint { kind, path, name, about, in_path, parameters, takes_more, is_for_admins, cost, call }
}

/// A change of the memory that the path names.
pub const fn change(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Vec<Parameter>,
    call: fn(&dyn Api, Given, &Voice) -> Result<Reply, ApiError>,
) -> Endpoint {
    Endpoint { kind: VerbKind::Deed, in_path: ID, ..read(path, name, about, parameters, call) }
}
