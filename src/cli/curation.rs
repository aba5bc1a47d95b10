//! The commands that change or check existing memories, from their arguments to the answer. Not here: their options
//! (`args::curation`), the rules about values (`api::requests`).

use crate::args::curation::Curation;
use crate::args::output_format::OutputFormat;
use crate::judgement::judged;
use crate::wiring::Wiring;
use api::{ApiError, Doing, ReviewRequest, StaleRequest, Voice};
use reply::Reply;
use retriever::options::{GlobalOptions, Need};

/// Runs a command. Wrong values are reported before anything is opened.
pub(super) fn curate(
    wiring: &mut dyn Wiring,
    settings: &GlobalOptions,
    command: Curation,
) -> Result<(OutputFormat, Reply), ApiError> {
    let mut open = || wiring.open(settings, Need::Words);
    Ok(match command {
        Curation::Change(command) => {
            let (form, request) = command.request()?;
            (form, open()?.change(&request, &Voice::Caller)?)
        }
        Curation::Bulk(command) => {
            let (form, request) = command.request();
            (form, open()?.sweep(&request)?)
        }
        Curation::Review { request, judge, apply, form } => {
            let request: ReviewRequest = request.read()?;
            let api = open()?;
            let reply = api.review(&request)?;
            let doing = if apply { Doing::Do } else { Doing::Show };
            let reply = if judge { judged(wiring, settings, &*api, &reply, doing)? } else { reply };
            (form, reply)
        }
        Curation::Stale(command) => {
            let request: StaleRequest = command.arguments.read()?;
            (command.form, open()?.stale(&request)?)
        }
    })
}
