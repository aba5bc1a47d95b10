//! Checks the head of a call before anything of it is read. A browser cannot speak gRPC, so no web page has a reason to
//! ask, under whatever name. Not here: what the checks compare (`web::request_guard`).

use hyper::Method;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use tonic::Status;

use access::admitted_caller::AdmittedCaller;
use access::server_names::is_loopback;
use event::Timestamp;
use web::http_server::ServerKeys;
use web::request_guard::Refusal;

/// What the content type begins with.
const GRPC: &str = "application/grpc";

/// Checks the head of a call.
pub fn check(parts: &Parts, keys: &ServerKeys, now: Timestamp) -> Result<AdmittedCaller, Status> {
    let names_us = parts.uri.authority().is_none_or(is_loopback);
    let hosts = parts.headers.get_all(HOST).iter();
    let mut hosts = hosts.map(|host| Authority::try_from(host.as_bytes()));
    if !names_us || !hosts.all(|host| host.is_ok_and(|host| is_loopback(&host))) {
        let detail = "the authority is not this machine's loopback interface";
        return Err(Status::permission_denied(detail));
    }
    if parts.headers.contains_key(ORIGIN) {
        return Err(Status::permission_denied("no web page may ask"));
    }
    let admitted = keys.admit(parts, now).map_err(|refusal| match refusal {
        Refusal::Guessing => Status::resource_exhausted(
            "too many wrong tokens came from this address; wait a minute",
        ),
        _ => Status::unauthenticated("send the token as metadata, authorization: Bearer TOKEN"),
    })?;
    let content_type = parts.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_grpc = content_type.is_some_and(|given| given.starts_with(GRPC.as_bytes()));
    if parts.method != Method::POST || !is_grpc {
        return Err(Status::internal("a call is POST with Content-Type application/grpc"));
    }
    Ok(admitted)
}

#[cfg(test)]
mod tests {
    use hyper::Request;
    use tonic::Code;

    use super::*;
    use access::named_token::TokensFile;
    use access::token::Token;

    const OURS: &str = "http://localhost:7422/agent_knowledge.v1.MemoryService/Search";

    fn judged(uri: &str, headers: &[(&str, &str)], token: Option<&Token>) -> Code {
        let mut request = Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let none = TokensFile::at("/nowhere/at/all/tokens".into());
        let keys = ServerKeys::new(token.cloned(), none, || None).unwrap();
        let checked = check(&parts, &keys, Timestamp::UNIX_EPOCH);
        checked.map_or_else(|status| status.code(), |_| Code::Ok)
    }

    // S-GRPC-4
    #[test]
    fn no_page_and_no_other_name_gets_in() {
        let grpc = ("content-type", "application/grpc+proto");
        assert_eq!(judged(OURS, &[grpc], None), Code::Ok);
        assert_eq!(judged(&OURS.replace("localhost", "[::1]"), &[grpc], None), Code::Ok);
        for name in ["evil.example", "127.0.0.1.evil.example", "0.0.0.0", "a@localhost"] {
            let uri = OURS.replace("localhost", name);
            assert_eq!(judged(&uri, &[grpc], None), Code::PermissionDenied, "{name}");
            let host = ("host", name);
            assert_eq!(judged(OURS, &[grpc, host], None), Code::PermissionDenied, "{name}");
        }
        let origin = ("origin", "http://localhost:7422");
        assert_eq!(judged(OURS, &[grpc, origin], None), Code::PermissionDenied);
        assert_eq!(judged(OURS, &[("content-type", "text/plain")], None), Code::Internal);
        assert_eq!(judged(OURS, &[], None), Code::Internal);
    }

    // S-GRPC-4
    #[test]
    fn a_configured_token_must_be_shown() {
        let secret = "0123456789abcdef0123456789abcdef";
        let token = Token::parse(secret, "here").unwrap();
        let with = |shown: &[&str]| {
            let shown: Vec<_> = shown.iter().map(|one| ("authorization", *one)).collect();
            let headers = [&[("content-type", "application/grpc")], shown.as_slice()].concat();
            judged(OURS, &headers, Some(&token))
        };
        let right = format!("Bearer {secret}");
        assert_eq!(with(&[&right]), Code::Ok);
        for wrong in [&[][..], &[secret], &["Bearer x"], &[&right, &right]] {
            assert_eq!(with(wrong), Code::Unauthenticated, "{wrong:?}");
        }
    }
}
