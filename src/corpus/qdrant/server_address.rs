//! Where a server of Qdrant is: over TLS, or on this very machine. Pure. Not here: calls (`rest_client`).

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

/// The collection where the address names none.
const COLLECTION: &str = "agent_knowledge";
/// Letters of the name of a collection. The server allows 255 and more characters than we do.
const NAME_MAX: usize = 64;

/// The address of a server, the name of the collections, and the key.
#[derive(Clone, PartialEq, Eq)]
pub struct QdrantAddress {
    pub(super) root: String,
    pub(super) collection: String,
    pub(super) key: Option<String>,
    pub(super) is_loopback: bool,
}

/// Without the key.
impl fmt::Debug for QdrantAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("QdrantAddress")
            .field("root", &self.root)
            .field("collection", &self.collection)
            .finish_non_exhaustive()
    }
}

impl QdrantAddress {
    /// Reads `https://host:port/collection`; without a collection it is `agent_knowledge`. The key stands in no file: it is passed
    /// beside it.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(url: &str, key: Option<&str>) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("must {why}"));
        if url.contains('@') {
            return wrong("hold no name, password or key; name a variable that holds the key");
        }
        let uri: Option<Uri> = url.parse().ok();
        let Some((uri, authority)) =
            uri.as_ref().and_then(|uri| Some((uri, uri.authority()?.as_str())))
        else {
            return wrong("be like https://qdrant.example.org:6333 or http://127.0.0.1:6333");
        };
        let is_loopback = is_loopback(uri.host().unwrap_or_default());
        let scheme = match uri.scheme_str() {
            Some("https") => "https",
            Some("http") if is_loopback => "http",
            _ => return wrong("begin with https:// unless it is on this machine"),
        };
        let name = uri.path().trim_matches('/');
        let is_name = name.len() <= NAME_MAX
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !is_name || uri.query().is_some() || url.contains('#') {
            return wrong("end with the name of a collection or with nothing");
        }
        if key.is_some_and(|key| key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err("cannot be used with a key of other than visible letters".to_owned());
        }
        let collection = if name.is_empty() { COLLECTION } else { name }.to_owned();
        let root = format!("{scheme}://{authority}");
        Ok(Self { root, collection, key: key.map(str::to_owned), is_loopback })
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

    // S-CORPUS-8
    #[test]
    fn only_this_machine_is_asked_without_tls() {
        for (fine, collection) in [
            ("http://127.0.0.1:6333", "agent_knowledge"),
            ("http://localhost:6333/", "agent_knowledge"),
            ("http://[::1]:6333/team-1", "team-1"),
            ("https://qdrant.example.org/team", "team"),
        ] {
            let address = QdrantAddress::parse(fine, Some("key")).unwrap();
            assert_eq!(address.collection, collection, "{fine}");
            assert!(!format!("{address:?}").contains("\"key\""), "{address:?}");
        }
        for wrong in [
            "http://qdrant.example.org:6333",
            "http://127.0.0.1.example.org",
            "http://10.0.0.5:6333",
            "https://me:hush@qdrant.example.org",
            "https://qdrant.example.org/a/b",
            "https://qdrant.example.org/a?api-key=x",
            "https://qdrant.example.org/#x",
            "ftp://localhost",
            "https://",
            "",
        ] {
            assert!(QdrantAddress::parse(wrong, None).is_err(), "{wrong}");
        }
        assert!(QdrantAddress::parse("http://127.0.0.1:6333", Some("a\r\nb: c")).is_err());
    }
}
