//! The commands that change or check existing memories, from their arguments to the answer. Not here: their options
//! (`args::curation`), the rules about values (`requests::requests`).

use crate::args::curation::Curation;
use crate::args::output_format::OutputFormat;
use crate::judgement::judged;
use crate::program::Program;
use reply::Reply;
use requests::Request;
use requests::{ApiError, Doing, ReviewRequest, StaleRequest, Voice};
use retriever::options::{GlobalOptions, Need};

/// Runs a command. Wrong values are reported before anything is opened.
pub(super) fn curate(
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    command: Curation,
) -> Result<(OutputFormat, Reply), ApiError> {
    let mut open = || program.open(settings, Need::Words);
    Ok(match command {
        Curation::Change(command) => {
            let (form, request) = command.request()?;
            (form, open()?.ask_as(&Request::Change(request), &Voice::Caller)?)
        }
        Curation::Bulk(command) => {
            let (form, request) = command.request();
            (form, open()?.ask(&Request::Sweep(request))?)
        }
        Curation::Review { request, judge, apply, form } => {
            let request: ReviewRequest = request.read()?;
            let api = open()?;
            let reply = api.ask(&Request::Review(request))?;
            let doing = if apply { Doing::Do } else { Doing::Show };
            let reply =
                if judge { judged(program, settings, &*api, &reply, doing)? } else { reply };
            (form, reply)
        }
        Curation::Stale(command) => {
            let request: StaleRequest = command.arguments.read()?;
            (command.form, open()?.ask(&Request::Stale(request))?)
        }
    })
}
