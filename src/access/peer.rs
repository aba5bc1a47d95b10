//! Where a request comes from. Not here: what is counted by it (`wrong_tokens`, `rest::sign_in`).

use std::net::{IpAddr, Ipv4Addr};

use hyper::http::request::Parts;
use tokio::net::TcpStream;

/// The address of the other side of a connection, which goes with each of its requests.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub(crate) IpAddr);

impl Peer {
    /// Returns where a request comes from.
    pub fn address_in(parts: &Parts) -> IpAddr {
        parts.extensions.get::<Self>().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0)
    }

    /// Returns the other side of a connection. One that is gone already has no address, and gets no answer either.
    pub fn from_stream(stream: &TcpStream) -> Self {
        Self(stream.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |address| address.ip()))
    }
}

/// Returns what stands for whoever has this address: of IPv6 a customer has at least a whole /64.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        // A whole /64 would make this machine an address of nobody.
        IpAddr::V6(v6) if v6.is_loopback() => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.into(),
            None => std::net::Ipv6Addr::from(u128::from(v6) >> 64 << 64).into(),
        },
    }
}
