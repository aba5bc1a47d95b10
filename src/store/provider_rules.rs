//! What the tables of external models have in common: addresses, names of variables, and keys that do not belong there. Not here: the
//! tables (`embedding_provider`, `rerank_provider`).

/// Names under which people write a key into a file.
pub(super) const KEYS_THEMSELVES: [&str; 8] =
    ["key", "api_key", "apikey", "token", "api_token", "secret", "password", "authorization"];

/// Tells whether a text is the name of a variable, and no key.
pub(super) fn is_variable_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    name.len() <= 64
        && name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

/// Tells whether an address begins with https, or with http on this machine, and holds neither a password nor a query. Whoever opens it
/// checks it again, as a whole.
pub(super) fn is_reachable(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = host.unwrap_or_default();
    let is_loopback = host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let is_plain = !host.is_empty() && !url.contains(['@', '?', '#']);
    is_plain && (scheme == "https" || scheme == "http" && is_loopback)
}
