//! The host names by which clients may address a server. A web page can make a browser send requests under a name of the page's choice;
//! such a name is none of ours. Not here: the other checks of a head (`web::request_guard`).

use std::sync::Arc;

use hyper::http::uri::Authority;

use crate::tls::TlsIdentity;

/// The names of the loopback interface. Any port is accepted, since a tunnel has another port than
/// we; a foreign name is what identifies a web page.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The names of a server.
#[derive(Clone)]
pub enum ServerNames {
    /// Those of the loopback interface; the server listens on this port.
    Loopback(u16),
    /// Also those in its certificate. No page of another name gets past TLS.
    Certificate(Arc<TlsIdentity>),
}

impl ServerNames {
    /// Tells whether a name with or without a port is one of them.
    pub fn is_host(&self, authority: &Authority) -> bool {
        match self {
            Self::Loopback(_) => is_loopback(authority),
            Self::Certificate(tls) => {
                is_loopback(authority) || (is_plain(authority) && tls.is_for(authority.host()))
            }
        }
    }

    /// Tells whether an origin is this server: its own page, or a client that sends this origin. `host` is the name under
    /// which the server was asked, and one of its names ([`Self::is_host`]): through a forwarded port the page comes from another
    /// port than ours, and asks there.
    pub fn is_origin(&self, origin: &[u8], host: &[u8]) -> bool {
        match self {
            Self::Loopback(port) => {
                let is_own = HOSTS.iter().any(|host| {
                    let with_port = format!("http://{host}:{port}");
                    let is_default = *port == 80 && origin == format!("http://{host}").as_bytes();
                    origin == with_port.as_bytes() || is_default
                });
                is_own || origin.eq_ignore_ascii_case(&[b"http://", host].concat())
            }
            Self::Certificate(_) => {
                let own = [b"https://", host].concat();
                origin.eq_ignore_ascii_case(&own)
            }
        }
    }
}

/// Tells whether a name with or without a port is one of the loopback interface.
pub fn is_loopback(authority: &Authority) -> bool {
    is_plain(authority) && HOSTS.iter().any(|host| authority.host().eq_ignore_ascii_case(host))
}

fn is_plain(authority: &Authority) -> bool {
    !authority.as_str().contains('@')
}
