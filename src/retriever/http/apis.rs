//! What answers clients, by their rights. Not here: the answers (`api::local`).

use std::sync::Arc;

use super::rights::Rights;
use crate::daemon::Guests;
use api::Api;
use api::caller::Caller;
use api::local::Local;

/// What answers clients: past sessions are for the owner of the server alone, so others are answered without them.
#[derive(Clone)]
pub(crate) struct Apis {
    whole: Arc<dyn Api>,
    shared: Arc<dyn Api>,
}

impl Apis {
    pub(crate) fn new(guests: &Guests, caller: &Caller, for_other_machines: bool) -> Self {
        let local = || {
            let local = Local::new(Arc::clone(guests.core()), caller.clone());
            if for_other_machines { local.for_other_machines() } else { local }
        };
        Self { whole: Arc::new(local()), shared: Arc::new(local().without_past_sessions()) }
    }

    #[cfg(all(test, feature = "web"))]
    pub(crate) fn both(api: Arc<dyn Api>) -> Self {
        Self { whole: Arc::clone(&api), shared: api }
    }

    /// Returns what answers a client with these rights.
    pub(crate) fn of(&self, rights: Rights) -> &Arc<dyn Api> {
        if rights == Rights::Admin { &self.whole } else { &self.shared }
    }
}
