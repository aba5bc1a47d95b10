//! Where the stream of a big team is: servers, and the name of the stream. Not here: other addresses (`remote_address`), and
//! reaching the servers (`team_stream`).

/// The stream, unless the address names another.
const STREAM: &str = "AK1";

/// The port, unless the address names another.
const PORT: &str = "4222";

/// Most servers of an address.
const SERVERS_MAX: usize = 16;

/// The address of a stream.
#[derive(Clone, PartialEq, Eq)]
pub struct TeamAddress {
    /// The URL of each server of the cluster.
    pub(crate) servers: Vec<String>,
    /// The name of the stream.
    pub(crate) stream: String,
    /// The name and the password of a member, if the address has them.
    pub(crate) member: Option<(String, String)>,
}

impl TeamAddress {
    /// Reads `nats://[user:password@]host[:port][,host[:port]…][/STREAM]`, or the same with `tls`. `None` for another text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (rest, stream) = rest.split_once('/').unwrap_or((rest, ""));
        let (member, hosts) = rest.rsplit_once('@').map_or((None, rest), |(member, hosts)| {
            (member.split_once(':').or(Some((member, ""))), hosts)
        });
        let stream = if stream.is_empty() { STREAM } else { stream };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_right = matches!(scheme, "nats" | "tls")
            && stream.bytes().all(is_name)
            && hosts.split(',').count() <= SERVERS_MAX
            && hosts.split(',').all(is_host);
        let servers = || hosts.split(',').map(|host| server(scheme, host)).collect();
        let member = member.map(|(name, password)| (name.to_owned(), password.to_owned()));
        is_right.then(|| Self { servers: servers(), stream: stream.to_owned(), member })
    }
}

impl std::fmt::Debug for TeamAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.servers.join(","), self.stream)
    }
}

fn is_host(host: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    !host.is_empty() && !host.starts_with('-') && host.bytes().all(is_plain)
}

fn server(scheme: &str, host: &str) -> String {
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
    if has_port { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{PORT}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-NATS-1
    #[test]
    fn an_address_names_servers_and_a_stream() {
        let read = |text: &str| {
            TeamAddress::parse(text).map(|found| (found.servers.join(" "), found.stream))
        };
        let is = |servers: &str, stream: &str| Some((servers.to_owned(), stream.to_owned()));
        assert_eq!(read("nats://a"), is("nats://a:4222", "AK1"));
        assert_eq!(read("tls://a:1,b/TEAM"), is("tls://a:1 tls://b:4222", "TEAM"));
        assert_eq!(read("nats://u:p@[::1]/"), is("nats://[::1]:4222", "AK1"));
        let found = TeamAddress::parse("nats://u:p@a,b/T").unwrap();
        assert_eq!(found.member, Some(("u".to_owned(), "p".to_owned())));
        assert_eq!(format!("{found:?}"), "nats://a:4222,nats://b:4222 T");
        for wrong in
            ["nats://", "ws://a", "nats://a/B.C", "nats://-a", "nats://a,,b", "nats://a/b/c"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
