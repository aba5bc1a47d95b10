//! Records a search that found nothing, which shows what knowledge is missing. Not here: the log (`api::query_log`), the answer about it
//! (`list::analysis`).

use super::search_run::{SearchRun, likely_count};
use requests::{MIN_RELEVANCE_PERCENT_DEFAULT, SearchRequest, SearchScope};
use search::SearchResult;

impl SearchRun<'_> {
    /// Records that a search found nothing. Some searches say nothing about missing knowledge and are not recorded: those
    /// of hooks, which set their own threshold, and those with filters or of one repository, which may be why nothing was
    /// found. Excluded kinds are no such filter: the failure hook leaves out the memories of work done, and a lesson is missing all the same.
    pub(super) fn record_failed_search(&self, found: &SearchResult<'_>) {
        let (request, parsed) = (self.request, self.parsed);
        let SearchRequest { kinds, tags, files, agents, branches, .. } = request;
        let is_plain = request.min_relevance_percent <= MIN_RELEVANCE_PERCENT_DEFAULT
            && [kinds, tags, files, agents, branches].into_iter().all(Vec::is_empty)
            && (request.since, request.until) == (None, None)
            && matches!(request.scope, SearchScope::All(_))
            && !parsed.has_filters();
        let is_without_result = likely_count(&found.hits) + found.held_back == 0;
        if let Some(log) = &self.local.core.query_log
            && is_plain
            && is_without_result
            && !parsed.text.trim().is_empty()
        {
            log.record_search(&parsed.text, self.here.as_ref(), self.local.core.now());
        }
    }
}
