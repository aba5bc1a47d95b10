//! Whoever was let in: what they may do, in whose name, and how many expensive calls. It goes with the request to whatever
//! answers it. Not here: the check that lets somebody in (`request_guard`).

use std::sync::Arc;

use hyper::http::request::Parts;
use rmcp::model::Extensions;

use crate::expensive_calls::{ExpensiveCalls, Payer};
use crate::named_token::NamedToken;
use event::Timestamp;
use requests::fields::CallArguments;
use requests::rights::Rights;
use requests::verb::Verb;

/// Whoever sent a request.
#[derive(Clone)]
pub struct AdmittedCaller {
    /// What it may do.
    pub rights: Rights,
    /// The named token that was shown, or that made the session.
    pub token: Option<Arc<NamedToken>>,
    /// Who pays for expensive calls.
    pub payer: Payer,
    /// The expensive calls of all clients.
    pub calls: Arc<ExpensiveCalls>,
    /// When it was let in.
    pub now: Timestamp,
}

impl AdmittedCaller {
    /// Makes a caller with rights, for tests.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn for_tests(rights: Rights, name: Option<&str>, now: Timestamp) -> Self {
        let token = name.map(|name| Arc::new(NamedToken::for_tests(name, rights, now)));
        let payer = Payer::Token(name.unwrap_or("owner").into());
        Self { rights, token, payer, calls: Arc::default(), now }
    }

    /// Returns what it may do.
    pub fn rights(&self) -> Rights {
        self.rights
    }

    /// Returns the name in which its deeds are logged, where it cannot choose one.
    pub fn name(&self) -> Option<&str> {
        self.token.as_ref().map(|token| token.name.as_str())
    }

    /// Returns a mark of a deed as one of this client's: two may choose the same one.
    pub fn own_key(&self, key: &str) -> String {
        // No name and no mark has a space.
        format!("{} {key}", self.name().unwrap_or_default())
    }

    /// Returns the named token that it has its rights from.
    pub fn token(&self) -> Option<Arc<NamedToken>> {
        self.token.clone()
    }

    /// Tells whether it has a right.
    ///
    /// # Errors
    /// Says which right is missing, and the remedy.
    pub fn check_right(&self, needed: Rights) -> Result<(), String> {
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

    /// Counts a call of a verb with these arguments, if it is an expensive one.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn charge(&self, verb: &Verb, given: &CallArguments) -> Result<(), i64> {
        if verb.is_expensive(given) { self.pay() } else { Ok(()) }
    }

    /// Counts an expensive call.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn pay(&self) -> Result<(), i64> {
        self.calls.count(&self.payer, self.now)
    }
}

/// Says that a client made too many expensive calls.
pub fn too_many(seconds: i64) -> String {
    format!(
        "too many calls that look at all memories came from this client; try again in {seconds} s"
    )
}

/// Returns whoever sent the request that MCP answers. Over standard streams there is nobody to admit.
pub fn admitted_caller(extensions: &Extensions) -> Option<&AdmittedCaller> {
    extensions.get::<Parts>()?.extensions.get::<AdmittedCaller>()
}
