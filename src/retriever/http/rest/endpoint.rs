//! What an endpoint is: its method, its path, its parameters and the one call of [`Api`] that answers it. Not here: which
//! there are (`endpoints`).

use hyper::Method;
use serde_json::{Map, Value};

use api::requests::parameter::Parameter;
use api::{Api, ApiError, Reply, Voice};

/// The arguments of a request.
pub(super) type Given = Map<String, Value>;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It reads, by GET.
    Read,
    /// It changes something, by POST.
    Deed,
    /// It makes something new, by POST.
    Make,
}

/// One endpoint.
pub(super) struct Endpoint {
    pub(super) kind: Kind,
    /// Its path below the prefix; one segment may stand in braces.
    pub(super) path: &'static str,
    /// Its name in the description.
    pub(super) name: &'static str,
    /// What it does.
    pub(super) about: &'static str,
    /// The segment in braces, and the parameter that it fills.
    pub(super) in_path: Option<(&'static str, &'static str)>,
    /// Its parameters. Another field is refused, even if the request behind it knows that: a read must not change
    /// anything, and a path says which change is meant.
    pub(super) parameters: fn() -> Vec<Parameter>,
    /// Whether it understands further fields, which it checks by itself.
    pub(super) takes_more: bool,
    /// The call.
    pub(super) call: fn(&dyn Api, Given, &Voice) -> Result<Reply, ApiError>,
}

impl Endpoint {
    /// Returns its method.
    pub(super) fn method(&self) -> Method {
        if self.kind == Kind::Read { Method::GET } else { Method::POST }
    }

    /// Tells whether a path is its own; then returns what stands at the segment in braces, if it has one.
    pub(super) fn place_in<'p>(&self, path: &'p str) -> Option<Option<&'p str>> {
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

/// The segment that names a memory, and the parameter of most changes that it fills.
pub(super) const ID: Option<(&str, &str)> = Some(("id", "ids"));

/// An endpoint without a segment in braces.
pub(super) const fn read(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Vec<Parameter>,
    call: fn(&dyn Api, Given, &Voice) -> Result<Reply, ApiError>,
) -> Endpoint {
    let (kind, in_path, takes_more) = (Kind::Read, None, false);
    Endpoint { kind, path, name, about, in_path, parameters, takes_more, call }
}

/// A change of the memory that the path names.
pub(super) const fn change(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Vec<Parameter>,
    call: fn(&dyn Api, Given, &Voice) -> Result<Reply, ApiError>,
) -> Endpoint {
    Endpoint { kind: Kind::Deed, in_path: ID, ..read(path, name, about, parameters, call) }
}
