//! Which TLS a server must speak, and whose certificates are trusted. Not here: our own certificates (`access`).

use std::path::Path;
use std::sync::Arc;

use rustls::ProtocolVersion;
use rustls::crypto::ring;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Which servers are trusted.
#[derive(Clone)]
pub enum TlsTrust {
    /// Those that this system trusts. Only the system knows a proxy that opens TLS.
    System,
    /// Servers of this program, which speak only TLS 1.3, with a certificate of one of these authorities.
    Authorities(Authorities),
}

/// Certificates that are trusted.
#[derive(Clone)]
pub struct Authorities(Vec<Certificate<'static>>);

impl Authorities {
    /// Reads a file in PEM.
    ///
    /// # Errors
    /// A sentence, if there are none.
    pub fn read(file: &Path) -> Result<Self, String> {
        let read = std::fs::read(file);
        let text = read.map_err(|error| format!("failed to read {}: {error}", file.display()))?;
        let certificates = parse_pem(&text).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        });
        let certificates: Vec<_> = certificates.collect();
        if certificates.is_empty() {
            return Err(format!("{} holds no certificate in PEM", file.display()));
        }
        Ok(Self(certificates))
    }
}

impl TlsTrust {
    pub(crate) fn config(&self) -> TlsConfig {
        let config = TlsConfig::builder();
        match self {
            Self::System => config.root_certs(RootCerts::PlatformVerifier).build(),
            Self::Authorities(authorities) => {
                let mut provider = ring::default_provider();
                provider
                    .cipher_suites
                    .retain(|suite| suite.version().version == ProtocolVersion::TLSv1_3);
                config
                    .root_certs(RootCerts::new_with_certs(&authorities.0))
                    .unversioned_rustls_crypto_provider(Arc::new(provider))
                    .build()
            }
        }
    }
}
