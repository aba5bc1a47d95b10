//! One request for vectors: its body is read, then it waits for a free call as all others do. Not here: the answer (`embeddings`).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Response};

use crate::embeddings;
use crate::request_guard::Refusal;
use crate::response_body::Body;
use crate::service::{HttpService, read_body};
use access::admitted_caller::AdmittedCaller;
use access::connection_limit::Connection;
use access::http_bounds::BODY_BYTES_MAX;

impl HttpService {
    /// Answers a request for vectors, on a thread that may block.
    pub(super) async fn answer_embeddings(
        &self,
        request: (Method, Incoming),
        admitted: AdmittedCaller,
        connection: &Arc<Connection>,
    ) -> Result<Response<Body>, Refusal> {
        let (method, body) = request;
        let visit = self.guests.visit();
        let body = read_body(body, BODY_BYTES_MAX).await?;
        self.nothing_private().await?;
        let call = self.guests.call();
        let permit = self.free_call().await?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let _in_call = connection.begin_call();
        let core = Arc::clone(self.guests.core());
        let answer = tokio::task::spawn_blocking(move || {
            let _until_answered = (visit, call, permit);
            embeddings::answer(&core, &method, &body, &admitted)
        });
        answer.await.map(|answer| answer.map(BodyExt::boxed)).map_err(|_| Refusal::Failed)
    }
}
