//! TLS towards the team's server: whose certificates are believed, and the handshake. Not here: our own server (`http::tls`).

use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use access::byte_stream::BoxedStream;

/// Where systems keep the certificates that they believe, in PEM.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/opt/homebrew/etc/openssl@3/cert.pem",
];

/// What a connection needs.
pub struct ServerTls(TlsConnector);

impl ServerTls {
    /// Reads the certificates that are believed: those of this file, else those of the system.
    ///
    /// # Errors
    /// A sentence, if there are none.
    pub fn new(certificates: Option<&Path>) -> Result<Self, String> {
        let system = || SYSTEM.iter().map(Path::new).find(|path| path.is_file());
        let file = certificates.or_else(system).ok_or_else(|| {
            "found no certificates of this system; SSL_CERT_FILE names a file in PEM".to_owned()
        })?;
        let read = std::fs::read(file);
        let text = read.map_err(|error| format!("failed to read {}: {error}", file.display()))?;
        let mut roots = RootCertStore::empty();
        let found = CertificateDer::pem_slice_iter(&text).filter_map(Result::ok);
        if roots.add_parsable_certificates(found).0 == 0 {
            return Err(format!("{} holds no certificate in PEM", file.display()));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// Shakes hands with the server of this name.
    pub async fn connect(&self, host: &str, stream: TcpStream) -> Result<BoxedStream, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let stream = self.0.connect(name, stream).await.map_err(|error| error.to_string())?;
        Ok(Box::new(stream))
    }
}
