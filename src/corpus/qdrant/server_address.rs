//! Where a server of Qdrant is, and which collections of it are ours. Pure. Not here: calls (`rest_client`), which addresses may be
//! asked (`http_client`).

use std::fmt;

use http_client::{PlainHttp, ServerUrl, UrlFault};

/// The collection where the address names none.
const COLLECTION: &str = "agent_knowledge";
/// Letters of the name of a collection. The server allows 255 and more characters than we do.
const NAME_MAX: usize = 64;

/// The address of a server, the name of the collections, and the key.
#[derive(Clone, PartialEq, Eq)]
pub struct QdrantAddress {
    pub(super) root: ServerUrl,
    pub(super) collection: String,
    pub(super) key: Option<String>,
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
        let not_a_name = "end with the name of a collection or with nothing";
        let url = match ServerUrl::parse(url, PlainHttp::ToThisMachine) {
            Ok(url) => url,
            Err(fault) => {
                return wrong(match fault {
                    UrlFault::NameOrPassword => {
                        "hold no name, password or key; name a variable that holds the key"
                    }
                    UrlFault::NoServer => {
                        "be like https://qdrant.example.org:6333 or http://127.0.0.1:6333"
                    }
                    UrlFault::WithoutTls | UrlFault::OtherScheme => {
                        "begin with https:// unless it is on this machine"
                    }
                    UrlFault::Query => not_a_name,
                });
            }
        };
        let name = url.path().trim_matches('/');
        let is_name = name.len() <= NAME_MAX
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !is_name {
            return wrong(not_a_name);
        }
        if key.is_some_and(|key| key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err("cannot be used with a key of other than visible letters".to_owned());
        }
        let collection = if name.is_empty() { COLLECTION } else { name }.to_owned();
        Ok(Self { root: url.root(), collection, key: key.map(str::to_owned) })
    }
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
