//! Where a request may go: over TLS, or to this very machine. Pure. Not here: sending (`http_client`).

use std::net::IpAddr;

use ureq::http::Uri;

use crate::provider_error::ProviderError;

/// The address of a provider, up to what a form adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderUrl {
    text: String,
    authority: String,
    path: String,
    is_loopback: bool,
}

impl ProviderUrl {
    /// Checks an address. A name and a password in it are refused and not repeated.
    ///
    /// # Errors
    /// [`ProviderError::Url`].
    pub fn parse(text: &str) -> Result<Self, ProviderError> {
        let wrong = |why: &str| Err(ProviderError::Url(format!("url {why}")));
        if text.contains('@') {
            return wrong("must not hold a name, password or key: set key_env instead");
        }
        let Some(uri) = text.parse::<Uri>().ok().filter(|uri| uri.host().is_some()) else {
            return wrong("is no address, such as https://api.example.com/v1");
        };
        if uri.query().is_some() || text.contains('#') {
            return wrong("must end with its path, without ? and #");
        }
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        let is_loopback = is_loopback(uri.host().unwrap_or_default());
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_loopback => {}
            Some("http") => {
                return wrong("must begin with https:// unless it is on this machine");
            }
            _ => return wrong("must begin with https://, or http:// on this machine"),
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        let text = text.trim_end_matches('/').to_owned();
        Ok(Self { text, authority, path, is_loopback })
    }

    /// Returns the address with more behind it.
    #[must_use]
    pub fn with(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }

    /// Returns the host and port, which people are shown.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns what stands behind the host, which may choose the model; empty where nothing does.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Tells whether nothing leaves this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }
}

/// Tells whether a host is this machine.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PROVIDER-2
    #[test]
    fn only_this_machine_is_reached_without_tls() {
        for fine in [
            "https://api.example.com/v1",
            "http://127.0.0.1:11434",
            "http://localhost:8080/v1/",
            "http://[::1]:1234/v1",
        ] {
            assert!(ProviderUrl::parse(fine).is_ok(), "{fine}");
        }
        for wrong in [
            "http://api.example.com/v1",
            "http://127.0.0.1.example.com/v1",
            "http://localhost.example.com",
            "http://10.0.0.5:8080/v1",
            "ftp://localhost",
            "localhost:8080",
            "https://",
            "",
            "https://api.example.com/v1?key=x",
            "https://api.example.com/#x",
        ] {
            assert!(ProviderUrl::parse(wrong).is_err(), "{wrong}");
        }
        let why = ProviderUrl::parse("https://me:secret9@api.example.com").unwrap_err().to_string();
        assert!(why.contains("key_env") && !why.contains("secret9"), "{why}");
        let local = ProviderUrl::parse("http://localhost:8080/v1/").unwrap();
        assert_eq!(local.with("/embeddings"), "http://localhost:8080/v1/embeddings");
        assert!(local.is_loopback());
        assert_eq!((local.authority(), local.path()), ("localhost:8080", "/v1"));
        assert!(!ProviderUrl::parse("https://api.example.com").unwrap().is_loopback());
    }
}
