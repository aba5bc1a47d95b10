//! The dashboard's files: who gets them and under which headers, and what leads nowhere. Not here: what the page shows
//! (`rest`), signing in.

use std::io::Write;

use super::client::{HttpAnswer, Server, head, read_answer, request};
use crate::world::World;

const OWN: (&str, &str) = ("Host", "localhost");

fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> HttpAnswer {
    let headers: Vec<_> = [OWN].iter().chain(headers).copied().collect();
    server.send((head("GET", path, &headers)).as_bytes())
}

fn with_token(world: &World) -> Server {
    Server::start(world, &["--http", "127.0.0.1:0"])
}

// S-UI-1, S-UI-2
#[test]
fn page_files_come_without_token_under_strict_headers() {
    let world = World::sharing();
    let server = with_token(&world);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/ui/app.js", "text/javascript; charset=utf-8"),
        ("/ui/app.css", "text/css; charset=utf-8"),
        ("/ui/none.js", "text/plain; charset=utf-8"),
    ] {
        let answer = get(&server, path, &[]);
        assert_eq!(answer.status, if path.contains("none") { 404 } else { 200 }, "{answer:?}");
        assert!(answer.has("content-type", kind), "{path}: {answer:?}");
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] {
            assert!(policy.split("; ").any(|found| found == part), "{part}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-cache"),
        ] {
            assert!(answer.has(name, value), "{name}: {answer:?}");
        }
        let all = answer.head.to_ascii_lowercase();
        assert!(!all.contains("set-cookie") && !all.contains("access-control"), "{all}");
    }
    // What holds memories still needs the token.
    assert_eq!(get(&server, "/api/v1/status", &[]).status, 401);
    assert!(get(&server, "/api/v1/status", &[]).has("x-content-type-options", "nosniff"));
}

// S-UI-2
#[test]
fn page_files_are_sent_once_and_heads_alone() {
    let world = World::sharing();
    let server = with_token(&world);
    for path in ["/", "/ui/app.js"] {
        let first = get(&server, path, &[]);
        let etag = first.header("etag").unwrap().to_owned();
        let again = get(&server, path, &[("If-None-Match", &etag)]);
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{again:?}");
        assert_eq!(again.header("etag"), Some(&*etag));
        assert!(again.header("content-security-policy").is_some(), "{again:?}");
        assert_eq!(get(&server, path, &[("If-None-Match", "\"other\"")]).status, 200);
        // A body after a head would be the beginning of the next answer.
        let mut stream = server.connect();
        let asked =
            [head("HEAD", path, &[OWN]), head("GET", path, &[OWN, ("Connection", "close")])];
        stream.write_all(asked.concat().as_bytes()).unwrap();
        let mut all = String::new();
        std::io::Read::read_to_string(&mut stream, &mut all).unwrap();
        assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 2, "{all}");
        let length = format!("content-length: {}", first.body.len());
        assert_eq!(all.to_ascii_lowercase().matches(&length).count(), 2, "{all}");
        assert_eq!(all.matches(&first.body).count(), 1, "{all}");
    }
}

// S-HTTP-2
#[test]
fn page_is_not_for_other_sites() {
    let world = World::sharing();
    let server = with_token(&world);
    let own = format!("http://localhost:{}", server.port());
    let fetched = |path: &str, more: &[(&str, &str)]| get(&server, path, more).status;
    for path in ["/", "/ui/app.js"] {
        assert_eq!(fetched(path, &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]), 200);
        assert_eq!(fetched(path, &[("Sec-Fetch-Site", "none")]), 200);
        for site in ["cross-site", "same-site"] {
            let loaded = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors")];
            assert_eq!(fetched(path, &loaded), 403, "{path} {site}");
        }
        for origin in ["http://evil.example", "null"] {
            assert_eq!(fetched(path, &[("Origin", origin)]), 403, "{path} {origin}");
        }
        let foreign = head("GET", path, &[("Host", "evil.example")]);
        assert_eq!(server.send(foreign.as_bytes()).status, 403, "{path}");
    }
    let clicked = |to: &str| {
        let site = ("Sec-Fetch-Site", "cross-site");
        fetched("/", &[site, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", to)])
    };
    assert_eq!((clicked("document"), clicked("iframe"), clicked("embed")), (200, 403, 403));
}

// S-UI-2
#[test]
fn page_paths_that_lead_elsewhere_are_refused() {
    let world = World::sharing();
    let server = with_token(&world);
    for path in [
        "/ui/",
        "/ui/../../Cargo.toml",
        "/ui/%2e%2e/Cargo.toml",
        "/ui/..%2f..%2fetc/passwd",
        "/ui//app.js",
        "/ui/./app.js",
        "/ui/app.js/",
        "/ui/app.js%00.css",
        "/ui/..\\app.js",
        "/ui//etc/passwd",
    ] {
        let answer = get(&server, path, &[]);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(answer.body.len() < 100, "{answer:?}");
    }
    // Outside the page there is nothing, which needs no token.
    for path in ["//", "//ui/app.js", "/ui", "/index.html", "/favicon.ico", "/../ui/app.js"] {
        assert_eq!(get(&server, path, &[]).status, 404, "{path}");
    }
}

// S-UI-2
#[test]
fn page_requests_have_no_body_and_change_nothing() {
    let world = World::sharing();
    let server = with_token(&world);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let answer = server.send(&request(method, "/", &[OWN], ""));
        assert_eq!(answer.status, 405, "{method}: {answer:?}");
        assert!(answer.has("allow", "GET, HEAD"), "{answer:?}");
    }
    let long = "104857600";
    for sent in [
        head("GET", "/", &[OWN, ("Content-Length", long)]) + "GET /mcp HTTP/1.1\r\n\r\n",
        head("GET", "/", &[OWN, ("Transfer-Encoding", "chunked")]) + "5\r\nhello\r\n",
        head("GET", "/ui/app.js", &[OWN, ("Content-Length", "3")]) + "abc",
    ] {
        let mut stream = server.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        let answer = read_answer(&mut stream).unwrap();
        assert_eq!(answer.status, 400, "{sent}: {answer:?}");
        assert!(answer.has("connection", "close"), "{answer:?}");
        // What came as a body is not taken for another request.
        assert!(read_answer(&mut stream).is_none(), "{sent}");
    }
    assert_eq!(get(&server, "/", &[]).status, 200);
}
