//! The commands that look after what memories say, from their arguments to the answer. Not here: the form of the
//! command line (`args::tend`), the rules about values (`wire`).

use super::judgement::judged;
use super::{GlobalOptions, Need, Wiring};
use crate::args::{Curation, OutputFormat};
use api::wire;
use api::{ApiError, Doing, StaleRequest, Voice};
use reply::Reply;

/// Does what a command asks for; what is wrong with its values is said before anything is opened.
pub(super) fn tended(
    wiring: &mut dyn Wiring,
    settings: &GlobalOptions,
    command: Curation,
) -> Result<(OutputFormat, Reply), ApiError> {
    let mut open = || wiring.open(settings, Need::Words);
    Ok(match command {
        Curation::MemoryChange(tend) => {
            let (form, request) = (tend.form(), tend.request()?);
            (form, open()?.change(&request, &Voice::Caller)?)
        }
        Curation::BulkChange(sweeping) => {
            let (form, request) = sweeping.request();
            (form, open()?.sweep(&request)?)
        }
        Curation::Review { repo, limit, judge, apply, form } => {
            let request = wire::review(repo, limit)?;
            let api = open()?;
            let reply = api.review(&request)?;
            let doing = if apply { Doing::Do } else { Doing::Show };
            let reply = if judge { judged(wiring, settings, &*api, &reply, doing)? } else { reply };
            (form, reply)
        }
        Curation::Stale { repo, form } => (form, open()?.stale(&StaleRequest { repo })?),
    })
}
