//! Checks the head of a request. A web page can make a browser send requests to this machine, under
//! a host name of the page's choice. The browser then sends that name in `Host` and the page in
//! `Origin`, where it sends one; `Sec-Fetch-Site` says of every request whether another site caused
//! it. Other clients have no reason to send anything but a name of ours. Not here: the names (`server_names`), media types and
//! the protocol's own headers, which rmcp checks.

use std::sync::Arc;

use hyper::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode};

use crate::rest::sign_in::{RequiredCredential, SignIn, required_credential};
use crate::static_files::is_page;
use access::admitted_caller::AdmittedCaller;
use access::expensive_calls::{ExpensiveCalls, Payer};
use access::http_bounds::MCP_PATH;
use access::known_tokens::KnownTokens;
use access::named_token::NamedToken;
use access::peer::Peer;
use access::server_names::ServerNames;
use access::token::{SecretSource, Token};
use access::wrong_tokens::{TokenDisclosure, WRONG_SECONDS, WrongTokens};
use event::Timestamp;
use requests::rights::Rights;

/// The scheme before the token, in any case.
const SCHEME: &str = "bearer ";

/// What a browser says about the page that sends a request, how it is sent, and for what.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Where a request leads.
pub enum Destination {
    /// MCP.
    Mcp(AdmittedCaller),
    /// REST.
    Rest(AdmittedCaller),
    /// Vectors of the own model.
    Embeddings(AdmittedCaller),
    /// Signing in to the page, which needs a code instead of the token.
    SignIn,
    /// A file of the page, which needs no token.
    Page,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Its `Host` is not a name of ours.
    Host,
    /// Its `Origin` is another one.
    Origin,
    /// A browser sent it for another page.
    Site,
    /// It has no token, or a wrong one.
    Token,
    /// Too many wrong tokens came from its address.
    Guessing,
    /// It comes from another machine, and the store holds private memories.
    Private,
    /// Its path does not exist.
    Path,
    /// It accepts no JSON, which all answers are.
    MediaType,
    /// Its body is too long.
    Long,
    /// Its body took too long.
    Slow,
    /// Its body ended early.
    Broken,
    /// Too many calls are under way.
    Busy,
    /// The answer failed.
    Failed,
}

impl Refusal {
    /// Returns the HTTP status.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin | Self::Site | Self::Private => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Path => StatusCode::NOT_FOUND,
            Self::MediaType => StatusCode::NOT_ACCEPTABLE,
            Self::Long => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Busy | Self::Guessing => StatusCode::TOO_MANY_REQUESTS,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the body, for a person.
    pub fn text(self) -> &'static str {
        match self {
            Self::Host => "Forbidden: the Host is no name of this server\n",
            Self::Origin => "Forbidden: no web page of another origin may ask\n",
            Self::Site => "Forbidden: no web page of another site may ask\n",
            Self::Token => "Unauthorized: show the token as Authorization: Bearer TOKEN\n",
            Self::Guessing => {
                "Too many requests: too many wrong tokens came from this address; wait a minute\n"
            }
            Self::Private => {
                "Forbidden: this store holds private memories, which never leave their machine; serve a store of its own (--logs DIR)\n"
            }
            Self::Path => "Not found: MCP is at /mcp, REST at /api/v1/\n",
            Self::MediaType => {
                "Not acceptable: the answers are application/json; leave out Accept, or add that to it\n"
            }
            Self::Long => "Payload too large: a request has at most 1 MiB, one to sign in 4 KiB\n",
            Self::Slow => "Request timeout: the body did not come\n",
            Self::Broken => "Bad request: the body broke off\n",
            Self::Busy => "Too many requests: try again in a second\n",
            Self::Failed => "Internal server error\n",
        }
    }

    /// Returns the seconds after which to try again, if that helps.
    pub fn retry_after_s(self) -> Option<u64> {
        match self {
            Self::Busy => Some(1),
            Self::Guessing => Some(WRONG_SECONDS),
            _ => None,
        }
    }
}

/// What requests show to be answered.
pub struct AccessKeys {
    /// The server's token, if it has one.
    token: Option<Token>,
    /// The tokens with names.
    named: KnownTokens,
    guesses: WrongTokens,
    calls: Arc<ExpensiveCalls>,
    /// The sessions of people who signed in.
    pub sign_in: Arc<SignIn>,
}

/// Checks the head of a request, and returns its destination.
pub fn check_head(
    parts: &Parts,
    names: &ServerNames,
    keys: &AccessKeys,
    now: Timestamp,
) -> Result<Destination, Refusal> {
    let host = own_host(&parts.headers, names).ok_or(Refusal::Host)?;
    if !parts.uri.authority().is_none_or(|authority| names.is_host(authority)) {
        return Err(Refusal::Host);
    }
    let mut origins = parts.headers.get_all(ORIGIN).iter();
    if !origins.all(|origin| names.is_origin(origin.as_bytes(), host)) {
        return Err(Refusal::Origin);
    }
    if !is_of_own_site(&parts.headers) && !is_page_navigation(parts) {
        return Err(Refusal::Site);
    }
    let path = parts.uri.path();
    if is_page(path) {
        return Ok(Destination::Page);
    }
    if signs_in(path) {
        return Ok(Destination::SignIn);
    }
    // Before the token: a client that looks for what other servers have must not take it for wrong.
    let destination: fn(AdmittedCaller) -> Destination = match path {
        path if is_mcp(path) => Destination::Mcp,
        crate::embeddings::EMBEDDINGS_PATH => Destination::Embeddings,
        path if is_rest(path) => Destination::Rest,
        _ => return Err(Refusal::Path),
    };
    match keys.admit(parts, now) {
        Err(Refusal::Token) if is_rest(path) && !crate::rest::rest_paths::has_path(path) => {
            Err(Refusal::Path)
        }
        admitted => admitted.map(destination),
    }
}

/// Tells whether a path is that of MCP. Some clients end it with a slash.
fn is_mcp(path: &str) -> bool {
    path.strip_suffix('/').unwrap_or(path) == MCP_PATH
}

/// Tells whether a path belongs to REST.
fn is_rest(path: &str) -> bool {
    path.starts_with(requests::rest_forms::PREFIX)
}

/// Tells whether no other site had a browser send it. Other clients say nothing about that.
fn is_of_own_site(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(SITE).iter();
    sites.all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
}

/// Tells whether a person opens the page, maybe by a link on another one. That one learns nothing by it.
fn is_page_navigation(parts: &Parts) -> bool {
    let says = |name: &HeaderName, word: &str| {
        let mut values = parts.headers.get_all(name).iter();
        values.next().is_some_and(|value| value == word) && values.next().is_none()
    };
    let is_navigation = says(&MODE, "navigate") && says(&DESTINATION, "document");
    parts.method == Method::GET && parts.uri.path() == "/" && is_navigation
}

/// Returns the `Host`, if there is exactly one and it is a name of ours.
fn own_host<'p>(headers: &'p HeaderMap, names: &ServerNames) -> Option<&'p [u8]> {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return None };
    let authority = Authority::try_from(host.as_bytes());
    authority.is_ok_and(|host| names.is_host(&host)).then_some(host.as_bytes())
}

impl AccessKeys {
    /// Makes the keys of a server. `secret` makes codes and sessions.
    pub fn new(token: Option<Token>, named: KnownTokens, secret: SecretSource) -> Self {
        Self {
            token,
            named,
            guesses: WrongTokens::default(),
            calls: Arc::default(),
            sign_in: Arc::new(SignIn::new(secret)),
        }
    }

    /// Returns why the named tokens are not used, if so.
    pub fn problem(&self) -> Option<String> {
        self.named.problem()
    }

    /// Says who sent a request, if it shows a token that is enough for its path.
    pub fn admit(&self, parts: &Parts, now: Timestamp) -> Result<AdmittedCaller, Refusal> {
        let from = Peer::address_in(parts);
        let owner = |payer| self.admitted_caller(Rights::Admin, payer, None, now);
        let Some(own) = &self.token else { return Ok(owner(Payer::Address(from))) };
        let shown = Token::hash_of(shown_token(&parts.headers).ok_or(Refusal::Token)?);
        let named = self.named.find(&shown, now);
        let found = if own.is_same(&shown) {
            Some(owner(Payer::Address(from)))
        } else if let Some(token) = named {
            let payer = Payer::Token(token.name.as_str().into());
            Some(self.admitted_caller(token.rights, payer, Some(token), now))
        } else {
            self.of_session(&shown, now)
        };
        match self.guesses.record_token(from, &shown, found.is_some(), now) {
            TokenDisclosure::Withheld => Err(Refusal::Guessing),
            TokenDisclosure::Disclosed => found
                .filter(|found| is_session_enough(found, parts.uri.path()))
                .ok_or(Refusal::Token),
        }
    }

    /// Tells whether what somebody was let in with still holds: a token may be revoked or expire, a session ends.
    pub fn is_current(&self, admitted: &AdmittedCaller, now: Timestamp) -> bool {
        let token = admitted.token.as_ref();
        let is_open = match &admitted.payer {
            Payer::Session(hash) => self.sign_in.is_open(hash, now),
            Payer::Address(_) | Payer::Token(_) => true,
        };
        let holds = |held: Arc<NamedToken>| held.rights == admitted.rights;
        is_open && token.is_none_or(|token| self.named.find(&token.hash, now).is_some_and(holds))
    }

    fn admitted_caller(
        &self,
        rights: Rights,
        payer: Payer,
        token: Option<Arc<NamedToken>>,
        now: Timestamp,
    ) -> AdmittedCaller {
        AdmittedCaller { rights, token, payer, calls: Arc::clone(&self.calls), now }
    }

    /// Says who signed in. A session ends with the named token that it was made with.
    fn of_session(&self, shown: &Token, now: Timestamp) -> Option<AdmittedCaller> {
        let made_with = self.sign_in.session(shown, now)?;
        let token = match made_with {
            Some(made_with) => Some(self.named.find(&made_with.hash, now)?),
            None => None,
        };
        let rights = token.as_ref().map_or(Rights::Admin, |token| token.rights);
        Some(self.admitted_caller(rights, Payer::Session(shown.as_hex()), token, now))
    }
}

/// Tells whether a session is enough for a path, if it is one.
fn is_session_enough(found: &AdmittedCaller, path: &str) -> bool {
    !matches!(found.payer, Payer::Session(_))
        || required_credential(path) == RequiredCredential::Either
}

/// Tells whether a path is that for signing in.
fn signs_in(path: &str) -> bool {
    required_credential(path) == RequiredCredential::Code
}

/// Returns the token that a request shows, if it shows exactly one.
fn shown_token(headers: &HeaderMap) -> Option<&str> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let (Some(shown), None) = (shown.next(), shown.next()) else { return socket_token(headers) };
    let shown = shown.to_str().ok()?;
    let scheme = shown.get(..SCHEME.len()).filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME))?;
    shown.get(scheme.len()..).map(str::trim)
}

/// Returns the token of a request for a WebSocket that has no `Authorization`.
fn socket_token(headers: &HeaderMap) -> Option<&str> {
    crate::rest::event_socket::token_in(headers).filter(|_| !headers.contains_key(AUTHORIZATION))
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;
    use access::named_token::TokensFile;

    const FINE: Result<&str, Refusal> = Ok("mcp");

    fn check_request(
        uri: &str,
        headers: &[(&str, &str)],
        token: Option<&Token>,
    ) -> Result<&'static str, Refusal> {
        check_with_keys(uri, headers, &keys(token.cloned()))
    }

    fn keys(token: Option<Token>) -> AccessKeys {
        let none = TokensFile::at("/nowhere/at/all/tokens".into());
        AccessKeys::new(token, KnownTokens::load(none).unwrap(), || Some([7; 32]))
    }

    fn name(destination: &Destination) -> &'static str {
        match destination {
            Destination::Mcp(_) => "mcp",
            Destination::Rest(_) => "rest",
            Destination::Embeddings(_) => "embeddings",
            Destination::SignIn => "sign-in",
            Destination::Page => "page",
        }
    }

    fn check_with_keys(
        uri: &str,
        headers: &[(&str, &str)],
        keys: &AccessKeys,
    ) -> Result<&'static str, Refusal> {
        let mut request = Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let names = ServerNames::Loopback(7421);
        check_head(&parts, &names, keys, Timestamp::UNIX_EPOCH).map(|found| name(&found))
    }

    // S-HTTP-2
    #[test]
    fn only_loopback_names_are_accepted_as_host() {
        for host in ["127.0.0.1:7421", "localhost:7421", "LOCALHOST", "[::1]:7421", "127.0.0.1:9"] {
            assert_eq!(check_request("/mcp", &[("host", host)], None), FINE, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7421",
            "localhost.evil.example",
            "127.0.0.1.evil.example:7421",
            "127.0.0.2:7421",
            "0.0.0.0:7421",
            "localhost:7421@evil.example",
            "user@localhost:7421",
            "[::]:7421",
            "::1",
            "",
            "local host",
        ] {
            assert_eq!(
                check_request("/mcp", &[("host", host)], None),
                Err(Refusal::Host),
                "{host}"
            );
        }
        let ours = ("host", "localhost:7421");
        assert_eq!(check_request("/mcp", &[], None), Err(Refusal::Host));
        assert_eq!(check_request("/mcp", &[ours, ours], None), Err(Refusal::Host));
        assert_eq!(check_request("http://evil.example/mcp", &[ours], None), Err(Refusal::Host));
        assert_eq!(check_request("http://localhost:7421/mcp", &[ours], None), FINE);
    }

    // S-HTTP-2
    #[test]
    fn only_the_own_origin_is_accepted() {
        let host = ("host", "localhost:7421");
        for origin in ["http://localhost:7421", "http://127.0.0.1:7421", "http://[::1]:7421"] {
            assert_eq!(check_request("/mcp", &[host, ("origin", origin)], None), FINE, "{origin}");
        }
        for origin in [
            "http://evil.example",
            "https://localhost:7421",
            "http://localhost:3000",
            "http://localhost",
            "http://localhost:7421.evil.example",
            "null",
            "",
            "file://",
            "chrome-extension://abc",
        ] {
            let headers = [host, ("origin", origin)];
            assert_eq!(check_request("/mcp", &headers, None), Err(Refusal::Origin), "{origin}");
        }
        let forwarded = ("host", "localhost:8080");
        for (origin, expected) in [
            ("http://localhost:8080", FINE),
            ("http://127.0.0.1:8080", Err(Refusal::Origin)),
            ("https://localhost:8080", Err(Refusal::Origin)),
            ("http://localhost:8081", Err(Refusal::Origin)),
        ] {
            let headers = [forwarded, ("origin", origin)];
            assert_eq!(check_request("/mcp", &headers, None), expected, "{origin}");
        }
        // A name that leads here is none of ours, though it is the same to the browser.
        let rebound = [("host", "evil.example:8080"), ("origin", "http://evil.example:8080")];
        assert_eq!(check_request("/mcp", &rebound, None), Err(Refusal::Host));
        let both = [host, ("origin", "http://localhost:7421"), ("origin", "http://evil.example")];
        assert_eq!(check_request("/mcp", &both, None), Err(Refusal::Origin));
    }

    // S-HTTP-2
    #[test]
    fn another_site_may_only_open_the_page() {
        let check_fetch = |method: &str, uri: &str, fetch: &[(&str, &str)]| {
            let mut request = Request::builder().method(method).uri(uri).header("host", "[::1]:1");
            for (name, value) in fetch {
                request = request.header(format!("sec-fetch-{name}"), *value);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let names = ServerNames::Loopback(7421);
            let found = check_head(&parts, &names, &keys(None), Timestamp::UNIX_EPOCH);
            found.map(|found| name(&found))
        };
        let navigation = [("mode", "navigate"), ("dest", "document")];
        for site in ["cross-site", "same-site", "", "Same-Origin"] {
            let site = ("site", site);
            for uri in ["/mcp", "/api/v1/status", "/", "/ui/app.js"] {
                assert_eq!(check_fetch("GET", uri, &[site]), Err(Refusal::Site), "{uri} {site:?}");
                let with = [site, navigation[0], navigation[1]];
                let expected = match uri {
                    "/" => Ok("page"),
                    _ => Err(Refusal::Site),
                };
                assert_eq!(check_fetch("GET", uri, &with), expected, "{uri} {site:?}");
                assert_eq!(check_fetch("POST", uri, &with), Err(Refusal::Site), "{uri} {site:?}");
            }
            let framed = [site, navigation[0], ("dest", "iframe")];
            assert_eq!(check_fetch("GET", "/", &framed), Err(Refusal::Site), "{site:?}");
        }
        for site in ["same-origin", "none"] {
            assert_eq!(check_fetch("GET", "/mcp", &[("site", site)]), FINE, "{site}");
            let both = [("site", site), ("site", "cross-site")];
            assert_eq!(check_fetch("GET", "/mcp", &both), Err(Refusal::Site), "{site}");
        }
    }

    // S-UI-2
    #[test]
    fn the_page_needs_no_token_but_a_host() {
        let token = Token::parse(&"x".repeat(32), "here").unwrap();
        let own = ("host", "localhost:7421");
        for path in ["/", "/ui/app.js", "/ui/none"] {
            assert_eq!(check_request(path, &[own], Some(&token)), Ok("page"), "{path}");
            let evil = [("host", "evil.example")];
            assert_eq!(check_request(path, &evil, Some(&token)), Err(Refusal::Host), "{path}");
        }
        assert_eq!(check_request("/api/v1/status", &[own], Some(&token)), Err(Refusal::Token));
    }

    // S-HTTP-4
    #[test]
    fn what_does_not_exist_is_told_before_the_token() {
        let token = Token::parse(&"x".repeat(32), "here").unwrap();
        let own = ("host", "localhost:7421");
        let wrong = ("authorization", "Bearer 0707");
        for path in [
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/openid-configuration",
            "/register",
            "/mcp//",
            "/mcp/x",
            "/sse",
            "/ui",
            "//",
            "//ui/app.js",
            "/index.html",
            "/api/v1/nothing",
            "/api/v1",
        ] {
            for headers in [&[own][..], &[own, wrong]] {
                let found = check_request(path, headers, Some(&token));
                assert_eq!(found, Err(Refusal::Path), "{path}");
            }
            let evil = [("host", "evil.example")];
            assert_eq!(check_request(path, &evil, Some(&token)), Err(Refusal::Host), "{path}");
        }
        for path in ["/mcp", "/mcp/", "/v1/embeddings", "/api/v1/memories/x/forget"] {
            assert_eq!(check_request(path, &[own], Some(&token)), Err(Refusal::Token), "{path}");
        }
        assert_eq!(check_request("/mcp/", &[own], None), FINE);
    }

    // S-UI-4
    #[test]
    fn a_session_is_for_rest_alone() {
        let own = ("host", "localhost:7421");
        let keys = keys(Some(Token::parse(&"x".repeat(32), "here").unwrap()));
        assert_eq!(check_with_keys("/api/v1/sign-in", &[own], &keys), Ok("sign-in"));
        let session = keys.sign_in.test_session(Timestamp::UNIX_EPOCH);
        let shown = [own, ("authorization", &*format!("Bearer {session}"))];
        for (path, is_enough) in [
            ("/api/v1/status", true),
            ("/api/v1/memories/x/forget", true),
            ("/api/v1/sign-in/code", false),
            ("/mcp", false),
            ("/mcp/", false),
        ] {
            let expected = if is_enough { Ok("rest") } else { Err(Refusal::Token) };
            assert_eq!(check_with_keys(path, &shown, &keys), expected, "{path}");
        }
        let wrong = [own, ("authorization", "Bearer 0707")];
        assert_eq!(check_with_keys("/api/v1/status", &wrong, &keys), Err(Refusal::Token));
    }

    // S-HTTP-4
    #[test]
    fn a_configured_token_must_be_sent() {
        let secret = "0123456789abcdef0123456789abcdef";
        let token = Token::parse(secret, "here").unwrap();
        let host = ("host", "localhost:7421");
        let with =
            |shown: &str| check_request("/mcp", &[host, ("authorization", shown)], Some(&token));
        assert_eq!(with(&format!("Bearer {secret}")), FINE);
        assert_eq!(with(&format!("bearer {secret}")), FINE);
        let wrong = [
            secret.to_owned(),
            format!("Basic {secret}"),
            format!("Bearer {secret}0"),
            "Bearer ".to_owned(),
        ];
        for shown in &wrong {
            assert_eq!(with(shown), Err(Refusal::Token), "{shown}");
        }
        assert_eq!(check_request("/mcp", &[host], Some(&token)), Err(Refusal::Token));
        let evil = [("host", "evil.example"), ("authorization", secret)];
        assert_eq!(check_request("/mcp", &evil, Some(&token)), Err(Refusal::Host));
    }
}
