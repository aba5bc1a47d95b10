//! The commands that look after what memories say, from their arguments to the answer. Not here: the form of the
//! command line (`args::tend`), the rules about values (`wire`).

use super::judged::judged;
use super::{Need, Settings, Wiring};
use crate::args::{Form, Tending};
use api::wire;
use api::{ApiError, Doing, StaleRequest, Voice};
use reply::Reply;

/// Does what a command asks for; what is wrong with its values is said before anything is opened.
pub(super) fn tended(
    wiring: &mut dyn Wiring,
    settings: &Settings,
    command: Tending,
) -> Result<(Form, Reply), ApiError> {
    let mut open = || wiring.open(settings, Need::Words);
    Ok(match command {
        Tending::Tend(tend) => {
            let (form, request) = (tend.form(), tend.request()?);
            (form, open()?.change(&request, &Voice::Caller)?)
        }
        Tending::Sweeping(sweeping) => {
            let (form, request) = sweeping.request();
            (form, open()?.sweep(&request)?)
        }
        Tending::Review { repo, limit, judge, apply, form } => {
            let request = wire::review(repo, limit)?;
            let api = open()?;
            let reply = api.review(&request)?;
            let doing = if apply { Doing::Do } else { Doing::Show };
            let reply = if judge { judged(wiring, settings, &*api, &reply, doing)? } else { reply };
            (form, reply)
        }
        Tending::Stale { repo, form } => (form, open()?.stale(&StaleRequest { repo })?),
    })
}
