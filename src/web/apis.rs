//! What answers clients, by their rights. Not here: the answers (`api::local`).

use std::sync::Arc;

use api::local::Local;
use daemon::guests::Guests;
use requests::Api;
use requests::caller::Caller;
use requests::rights::Rights;

/// Whom a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user of this machine.
    Owner,
    /// Other machines, which are told nothing private.
    OtherMachines,
    /// A team, which every replica must tell the same: nothing of this machine.
    Team,
}

/// What answers clients: past sessions are for the owner of the server alone, so others are answered without them.
#[derive(Clone)]
pub struct Apis {
    whole: Arc<dyn Api>,
    shared: Arc<dyn Api>,
}

impl Apis {
    /// Makes what answers an audience from the retriever.
    pub fn new(guests: &Guests, caller: &Caller, audience: Audience) -> Self {
        let local = || {
            let local = Local::new(Arc::clone(guests.core()), caller.clone());
            if audience == Audience::Owner { local } else { local.for_other_machines() }
        };
        let shared: Arc<dyn Api> = Arc::new(local().without_past_sessions());
        let whole = match audience {
            Audience::Team => Arc::clone(&shared),
            Audience::Owner | Audience::OtherMachines => Arc::new(local()),
        };
        Self { whole, shared }
    }

    #[cfg(test)]
    pub(crate) fn same_for_all(api: Arc<dyn Api>) -> Self {
        Self { whole: Arc::clone(&api), shared: api }
    }

    /// Returns what answers a client with these rights.
    pub fn for_rights(&self, rights: Rights) -> &Arc<dyn Api> {
        if rights == Rights::Admin { &self.whole } else { &self.shared }
    }
}
