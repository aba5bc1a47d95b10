//! Where a request may go: over TLS, or to this very machine. Pure. Not here: sending (`http_exchange`), the words in which a person
//! is told what is wrong with an address (who reads the setting).

use std::net::IpAddr;

use ureq::http::Uri;

/// The address of a server, up to the path of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUrl {
    text: String,
    authority: String,
    path: String,
    is_loopback: bool,
    is_encrypted: bool,
}

/// Which servers are reached without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// Those on this machine.
    ToThisMachine,
    /// Whichever the user names with `http://`.
    ToAnyServer,
}

/// Why an address cannot be used. Whoever reads the setting says it in words that fit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlFault {
    /// It holds a name or a password, which must not be repeated.
    NameOrPassword,
    /// It names no server.
    NoServer,
    /// It has a `?` or a `#`.
    Query,
    /// It begins with `http://` and is not on this machine.
    WithoutTls,
    /// It begins with something else.
    OtherScheme,
}

impl ServerUrl {
    /// Checks an address.
    ///
    /// # Errors
    /// [`UrlFault`].
    pub fn parse(text: &str, plain: PlainHttp) -> Result<Self, UrlFault> {
        if text.contains('@') {
            return Err(UrlFault::NameOrPassword);
        }
        let uri: Uri = text.parse().map_err(|_| UrlFault::NoServer)?;
        let (Some(authority), Some(host)) = (uri.authority(), uri.host()) else {
            return Err(UrlFault::NoServer);
        };
        if uri.query().is_some() || text.contains('#') {
            return Err(UrlFault::Query);
        }
        let is_loopback = is_loopback(host);
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_loopback || plain == PlainHttp::ToAnyServer => false,
            Some("http") => return Err(UrlFault::WithoutTls),
            _ => return Err(UrlFault::OtherScheme),
        };
        Ok(Self {
            text: text.trim_end_matches('/').to_owned(),
            authority: authority.to_string(),
            path: uri.path().trim_end_matches('/').to_owned(),
            is_loopback,
            is_encrypted,
        })
    }

    /// Returns the address with more behind it.
    #[must_use]
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }

    /// Returns the host and port, which people are shown.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns what stands behind the host, without a slash at its end.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the address without what stands behind the host.
    #[must_use]
    pub fn root(&self) -> Self {
        let text = self.text.strip_suffix(&self.path).unwrap_or(&self.text);
        Self { text: text.to_owned(), path: String::new(), ..self.clone() }
    }

    /// Tells whether nothing leaves this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Tells whether requests go inside TLS.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

/// Tells whether a host is this machine.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PROVIDER-2, S-CORPUS-8
    #[test]
    fn only_this_machine_is_reached_without_tls() {
        let parse = |text: &str| ServerUrl::parse(text, PlainHttp::ToThisMachine);
        for fine in [
            "https://api.example.com/v1",
            "http://127.0.0.1:11434",
            "http://localhost:8080/v1/",
            "http://[::1]:1234/v1",
        ] {
            assert!(parse(fine).is_ok(), "{fine}");
        }
        for (wrong, fault) in [
            ("http://api.example.com/v1", UrlFault::WithoutTls),
            ("http://127.0.0.1.example.com/v1", UrlFault::WithoutTls),
            ("http://localhost.example.com", UrlFault::WithoutTls),
            ("http://10.0.0.5:8080/v1", UrlFault::WithoutTls),
            ("ftp://localhost", UrlFault::OtherScheme),
            ("localhost:8080", UrlFault::OtherScheme),
            ("https://", UrlFault::NoServer),
            ("", UrlFault::NoServer),
            ("https://api.example.com/v1?key=x", UrlFault::Query),
            ("https://api.example.com/#x", UrlFault::Query),
            ("https://me:secret9@api.example.com", UrlFault::NameOrPassword),
        ] {
            assert_eq!(parse(wrong), Err(fault), "{wrong}");
        }
    }

    // S-JUDGE-1
    #[test]
    fn a_server_of_the_local_network_can_be_allowed() {
        let parse = |text: &str| ServerUrl::parse(text, PlainHttp::ToAnyServer);
        let server = parse("http://10.0.0.5:8080/v1/").unwrap();
        assert!(!server.is_encrypted() && !server.is_loopback());
        assert_eq!(parse("ftp://10.0.0.5"), Err(UrlFault::OtherScheme));
    }

    #[test]
    fn an_address_is_its_server_and_its_path() {
        let local = ServerUrl::parse("http://localhost:8080/v1/", PlainHttp::ToThisMachine);
        let local = local.unwrap();
        assert_eq!(local.join("/embeddings"), "http://localhost:8080/v1/embeddings");
        assert_eq!((local.authority(), local.path()), ("localhost:8080", "/v1"));
        assert_eq!(local.root().join("/"), "http://localhost:8080/");
        let bare = ServerUrl::parse("https://api.example.com", PlainHttp::ToThisMachine).unwrap();
        assert_eq!((bare.path(), bare.root()), ("", bare.clone()));
        assert!(local.is_loopback() && !bare.is_loopback() && bare.is_encrypted());
    }
}
