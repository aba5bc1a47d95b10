//! The certificate authorities that are trusted for the team's server. Not here: TLS (`http_client`), our own server (`access`).

use std::path::Path;

use http_client::{Authorities, TlsTrust};

/// Where systems keep the certificates that they believe, in PEM.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/opt/homebrew/etc/openssl@3/cert.pem",
];

/// Reads the trusted certificates: those of this file, else those of the system.
///
/// # Errors
/// A sentence, if there are none.
pub fn authorities(file: Option<&Path>) -> Result<TlsTrust, String> {
    let system = || SYSTEM.iter().map(Path::new).find(|path| path.is_file());
    let file = file.or_else(system).ok_or_else(|| {
        "found no certificates of this system; SSL_CERT_FILE names a file in PEM".to_owned()
    })?;
    Authorities::read(file).map(TlsTrust::Authorities)
}
