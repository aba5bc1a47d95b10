//! The certificate and the key of a server, from files in PEM. Whatever would keep clients from connecting is told before the
//! server starts. Not here: when the files are read again (`tls`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio_rustls::rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{CertificateError, Error, RootCertStore, ServerConfig};

use event::Timestamp;

/// The longest file, in bytes: a chain of certificates has some ten thousand.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Why a server cannot speak TLS.
#[derive(Debug, Error)]
#[error("use {path} as --{option}: {why}")]
pub struct TlsError {
    option: &'static str,
    path: PathBuf,
    why: String,
}

/// A certificate with its key, ready to serve.
pub struct ServerCertificate {
    pub config: Arc<ServerConfig>,
    leaf: CertificateDer<'static>,
}

impl ServerCertificate {
    /// Reads both files.
    ///
    /// # Errors
    /// [`TlsError`]: a file is missing or open to others, holds something else, does not fit the other one, or the
    /// certificate is not valid now.
    pub fn load(cert: &Path, key: &Path, now: Timestamp) -> Result<Self, TlsError> {
        let wrong = |option, path: &Path, why: &str| TlsError {
            option,
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let text = read(cert).map_err(|why| wrong("cert", cert, &why))?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let none = "it holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----";
        let chain = chain.ok_or_else(|| wrong("cert", cert, none))?;
        let leaf = chain.first().cloned().ok_or_else(|| wrong("cert", cert, none))?;
        is_valid(&leaf, now).map_err(|why| wrong("cert", cert, why))?;
        is_private(key).map_err(|why| wrong("key", key, &why))?;
        let text = read(key).map_err(|why| wrong("key", key, &why))?;
        let none = "it holds no private key in PEM without a password";
        let secret = PrivateKeyDer::from_pem_slice(&text).map_err(|_| wrong("key", key, none))?;
        let config = config(chain, secret).map_err(|error| match error {
            Error::InconsistentKeys(_) => {
                wrong("key", key, "it is not the key of the certificate in --cert")
            }
            other => wrong("key", key, &other.to_string()),
        })?;
        Ok(Self { config: Arc::new(config), leaf })
    }

    /// Tells whether the certificate is one for a name or an address.
    pub fn is_for(&self, name: &str) -> bool {
        let Ok(name) = ServerName::try_from(name) else { return false };
        let leaf = ParsedCertificate::try_from(&self.leaf);
        leaf.is_ok_and(|leaf| verify_server_name(&leaf, &name).is_ok())
    }
}

/// The settings of TLS. Only 1.3: what speaks MCP over HTTP is younger than it, and nothing of it has to be chosen. What
/// clients speak inside it is HTTP/1.1.
fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Error> {
    let settings = ServerConfig::builder_with_provider(provider());
    let settings = settings.with_protocol_versions(&[&TLS13])?.with_no_client_auth();
    let mut config = settings.with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Tells whether a certificate is valid now. Whether a client trusts who signed it is the client's business.
fn is_valid(leaf: &CertificateDer<'_>, now: Timestamp) -> Result<(), &'static str> {
    let Ok(leaf) = ParsedCertificate::try_from(leaf) else {
        return Err("its first certificate cannot be read");
    };
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    let algorithms = provider().signature_verification_algorithms.all;
    let none = RootCertStore::empty();
    // The time is looked at first, and nobody is trusted here, so it always fails.
    match verify_server_cert_signed_by_trust_anchor(&leaf, &none, &[], now, algorithms) {
        Err(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Err("its certificate has expired; get a new one"),
        Err(Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Err("its certificate is not valid yet; look at the clock, or wait"),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let found = path.metadata().map_err(failed)?;
    if !found.is_file() || found.len() > FILE_BYTES_MAX {
        return Err("it is no plain file of at most 1 MiB".to_owned());
    }
    std::fs::read(path).map_err(failed)
}

/// Tells whether a key is a secret of the user. One that belongs to root may be readable by a group, as system programs keep
/// keys for their servers. A link is followed: programs that renew certificates change it.
#[cfg(unix)]
fn is_private(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let found = path.metadata().map_err(|error| error.to_string())?;
    let (user, is_root) = (found.uid().to_string() == store::user(), found.uid() == 0);
    let open = if is_root && !user { 0o027 } else { 0o077 };
    if !user && !is_root {
        return Err("it belongs to another user".to_owned());
    }
    if found.mode() & open != 0 {
        let path = path.display();
        return Err(format!("other users can read it; take that away with chmod 600 {path}"));
    }
    Ok(())
}

/// This system has no such modes.
#[cfg(not(unix))]
fn is_private(_: &Path) -> Result<(), String> {
    Ok(())
}
