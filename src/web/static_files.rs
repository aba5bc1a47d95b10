//! The files of the page, at `/` and below `/ui/`. They are the same for everybody and hold no memory, so they need no
//! token. A path leads to a file only if it is exactly the file's name: nothing is decoded or resolved, and no file of
//! the disk is read. Not here: the files (`dashboard`), who may ask (`request_guard`), what the page shows (`rest`).

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName,
    HeaderValue, IF_NONE_MATCH, REFERRER_POLICY,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};

use dashboard::{Asset, asset, page};

/// The path of the page.
pub const PAGE: &str = "/";

/// What the paths of its other files begin with.
const FOLDER: &str = "/ui/";

/// The page loads only its own files, asks only its own server, and makes no text to elements or scripts.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'",
);

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

const TEXT: &str = "text/plain; charset=utf-8";

/// Tells whether a path belongs to the page.
pub fn is_page(path: &str) -> bool {
    path == PAGE || path.starts_with(FOLDER)
}

/// Answers a request for a file. No such request has a body; what comes as one is not read.
pub fn answer(parts: &Parts, has_body: bool) -> Response<Full<Bytes>> {
    let mut answer = answer_without_body(parts, has_body);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    // A new version of the program brings other files under the same names.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if has_body {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

fn answer_without_body(parts: &Parts, has_body: bool) -> Response<Full<Bytes>> {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        let text = "Method not allowed: this path takes GET and HEAD\n";
        let mut answer = text_of(StatusCode::METHOD_NOT_ALLOWED, text);
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    if has_body {
        return text_of(StatusCode::BAD_REQUEST, "Bad request: this path takes no body\n");
    }
    let Some(file) = file_at(parts.uri.path()) else {
        return text_of(StatusCode::NOT_FOUND, "Not found: the page is at /\n");
    };
    let has_it = is_known(&parts.headers, file.etag);
    let mut answer = if has_it {
        let mut answer = Response::new(Full::default());
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        answer
    } else {
        content(file.content_type, file.bytes)
    };
    answer.headers_mut().insert(ETAG, HeaderValue::from_static(file.etag));
    answer
}

fn file_at(path: &str) -> Option<Asset> {
    if path == PAGE { Some(page()) } else { asset(path.strip_prefix(FOLDER)?) }
}

/// Tells whether the browser has the file in this state.
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut marks = known.flat_map(|marks| marks.split(',')).map(str::trim);
    marks.any(|mark| mark == "*" || mark.strip_prefix("W/").unwrap_or(mark) == etag)
}

fn text_of(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut answer = content(TEXT, text.as_bytes());
    *answer.status_mut() = status;
    answer
}

fn content(content_type: &'static str, bytes: &'static [u8]) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from_static(bytes)));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn answer_to(method: &str, path: &str, known: Option<&str>) -> Response<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(known) = known {
            request = request.header(IF_NONE_MATCH, known);
        }
        answer(&request.body(()).unwrap().into_parts().0, false)
    }

    // S-UI-2
    #[test]
    fn only_an_exact_path_leads_to_a_file() {
        for path in ["/", "/?x=1", "/ui/app.js", "/ui/app.css?2"] {
            assert_eq!(answer_to("GET", path, None).status(), StatusCode::OK, "{path}");
        }
        for path in [
            "/ui/",
            "/ui/../Cargo.toml",
            "/ui/..",
            "/ui/%2e%2e/lib.rs",
            "/ui/%61pp.js",
            "/ui//app.js",
            "/ui/./app.js",
            "/ui/app.js/",
            "/ui/APP.JS",
            "/ui/app.js%00",
            "/ui/..%5capp.js",
        ] {
            assert_eq!(answer_to("GET", path, None).status(), StatusCode::NOT_FOUND, "{path}");
        }
        assert!(!is_page("/ui") && !is_page("//") && !is_page("/mcp") && !is_page("/api/v1/"));
    }

    // S-UI-2
    #[test]
    fn a_known_file_is_not_sent_again() {
        let first = answer_to("GET", "/ui/app.js", None);
        let etag = first.headers()[ETAG].to_str().unwrap().to_owned();
        for known in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
            let again = answer_to("GET", "/ui/app.js", Some(&known));
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(again.headers()[ETAG], *etag);
        }
        assert_eq!(answer_to("GET", "/ui/app.js", Some("\"x\"")).status(), StatusCode::OK);
        assert_eq!(answer_to("POST", "/ui/app.js", None).status(), StatusCode::METHOD_NOT_ALLOWED);
    }
}
