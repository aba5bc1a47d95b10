//! Whoever was let in: what they may do, in whose name, and how many expensive calls. It goes with the request to whatever
//! answers it. Not here: the check that lets somebody in (`request_guard`).

use std::sync::Arc;

use hyper::http::request::Parts;
use rmcp::model::Extensions;

use super::expensive_calls::{ExpensiveCalls, Payer};
use super::named_token::NamedToken;
use super::rights::Rights;
use event::Timestamp;

/// Whoever sent a request.
#[derive(Clone)]
pub(crate) struct Admitted {
    pub(super) rights: Rights,
    /// The named token that was shown, or that made the session.
    pub(super) token: Option<Arc<NamedToken>>,
    pub(super) payer: Payer,
    pub(super) calls: Arc<ExpensiveCalls>,
    pub(super) now: Timestamp,
}

impl Admitted {
    #[cfg(test)]
    pub(crate) fn with(rights: Rights, name: Option<&str>, now: Timestamp) -> Self {
        let token = name.map(|name| Arc::new(NamedToken::called(name, rights, now)));
        let payer = Payer::Token(name.unwrap_or("owner").into());
        Self { rights, token, payer, calls: Arc::default(), now }
    }

    /// Returns what it may do.
    pub(crate) fn rights(&self) -> Rights {
        self.rights
    }

    /// Returns the name in which its deeds are logged, where it cannot choose one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.token.as_ref().map(|token| token.name.as_str())
    }

    /// Returns a mark of a deed as one of this client's: two may choose the same one.
    pub(crate) fn own_key(&self, key: &str) -> String {
        // No name and no mark has a space.
        format!("{} {key}", self.name().unwrap_or_default())
    }

    /// Returns the named token that it has its rights from.
    pub(super) fn token(&self) -> Option<Arc<NamedToken>> {
        self.token.clone()
    }

    /// Tells whether it has a right.
    ///
    /// # Errors
    /// Says which right is missing, and the remedy.
    pub(crate) fn may(&self, needed: Rights) -> Result<(), String> {
        if self.rights >= needed {
            return Ok(());
        }
        let shown = match self.name() {
            Some(name) => format!("the token {name}"),
            None => "this token".to_owned(),
        };
        Err(format!(
            "this needs a token with the right {needed}, and {shown} has {}; the owner of the server makes one with \
             agent-knowledge token create NAME --rights {needed}",
            self.rights
        ))
    }

    /// Counts an expensive call.
    ///
    /// # Errors
    /// The seconds to wait.
    pub(crate) fn pay(&self) -> Result<(), i64> {
        self.calls.count(&self.payer, self.now)
    }
}

/// Says that a client made too many expensive calls.
pub(crate) fn too_many(seconds: i64) -> String {
    format!(
        "too many calls that look at all memories came from this client; try again in {seconds} s"
    )
}

/// Returns whoever sent the request that MCP answers. Over standard streams there is nobody to admit.
pub(crate) fn admitted(extensions: &Extensions) -> Option<&Admitted> {
    extensions.get::<Parts>()?.extensions.get::<Admitted>()
}
