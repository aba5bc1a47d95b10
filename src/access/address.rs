//! The address of a server: one of the loopback interface, or with TLS any. Not here: listening.

use std::net::{Ipv4Addr, SocketAddr};

use event::Problems;

/// The default address. It is fixed, so that a client's configuration stays valid. The port is
/// above those reserved for system programs, and below those the system hands out.
pub const ADDRESS_DEFAULT: &str = "127.0.0.1:7421";

/// Another name of the loopback interface. No resolver is asked, since it could answer differently.
const LOCALHOST: &str = "localhost";

/// An address of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(SocketAddr);

impl Address {
    /// Reads `127.0.0.1:7421`, `[::1]:7421`, `localhost:7421`, or a port alone. `option` named it.
    ///
    /// # Errors
    /// Explains what is allowed, also for an address that other machines could reach.
    pub fn parse(text: &str, option: &str) -> Result<Self, Problems> {
        let address = Self::parse_any(text, option)?;
        if address.0.ip().is_loopback() {
            return Ok(address);
        }
        let why = "must be an address of the loopback interface (127.0.0.1 or [::1]); for others there is \
            serve --listen ADDRESS --cert FILE --key FILE, over TLS";
        Err(Problems::one(option, format!("{why}; got {text:?}")))
    }

    /// Reads the same, and any other address such as `0.0.0.0:7443`.
    ///
    /// # Errors
    /// Explains what is allowed.
    pub fn parse_any(text: &str, option: &str) -> Result<Self, Problems> {
        let port = text.strip_prefix(LOCALHOST).and_then(|rest| rest.strip_prefix(':'));
        let port = port.unwrap_or(text).parse::<u16>();
        let address = match port {
            Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            Err(_) => text.parse().map_err(|_| {
                let example = format!("must be an address and a port, such as {ADDRESS_DEFAULT}");
                Problems::one(option, format!("{example}, got {text:?}"))
            })?,
        };
        Ok(Self(address))
    }

    /// Returns the socket address.
    #[must_use]
    pub fn socket(self) -> SocketAddr {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HTTP-1
    #[test]
    fn only_the_loopback_interface_is_an_address() {
        for (text, address) in [
            (ADDRESS_DEFAULT, "127.0.0.1:7421"),
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("127.8.9.1:80", "127.8.9.1:80"),
            ("[::1]:7421", "[::1]:7421"),
            ("localhost:81", "127.0.0.1:81"),
            ("82", "127.0.0.1:82"),
        ] {
            assert_eq!(Address::parse(text, "http").unwrap().socket().to_string(), address);
        }
        for text in ["0.0.0.0:7421", "[::]:7421", "192.168.1.2:80", "[::ffff:127.0.0.1]:80"] {
            let problems = Address::parse(text, "http").unwrap_err().to_string();
            assert!(problems.contains("loopback") && problems.contains(text), "{problems}");
            assert_eq!(Address::parse_any(text, "listen").unwrap().socket().to_string(), text);
        }
        for text in ["", "example.org:80", "127.0.0.1", "localhost", "localhost:99999", "-1", "::1"]
        {
            let problems = Address::parse(text, "http").unwrap_err().to_string();
            assert!(problems.contains(ADDRESS_DEFAULT), "{text}: {problems}");
        }
    }
}
