//! The client against servers on this machine: what it sends nowhere, what it waits for, and whom it believes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};

use crate::{
    Authorities, HttpAnswer, HttpClient, HttpError, HttpRequest, KeyHeader, Method, PlainHttp,
    ServerAccess, ServerUrl, TlsTrust,
};

const PATIENCE: Duration = Duration::from_secs(20);
const GOOD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\ngood";

/// Answers every request of every connection with the same words; with none, never. Returns its port.
fn server<S: Read + Write>(
    answer: &'static str,
    stream_of: impl Fn(TcpStream) -> S + Send + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream_of(stream.unwrap()));
            if answer.is_empty() {
                silent.push(reader);
                continue;
            }
            let mut line = String::new();
            // A client that does not believe us hangs up.
            while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                if line == "\r\n" {
                    let _ = reader.get_mut().write_all(answer.as_bytes());
                }
                line.clear();
            }
        }
    });
    port
}

fn client(url: &str, trust: TlsTrust) -> HttpClient {
    HttpClient::new(ServerAccess {
        url: ServerUrl::parse(url, PlainHttp::ToThisMachine).unwrap(),
        key: Some((KeyHeader::Bearer, "secret".to_owned())),
        trust,
        connect_max: PATIENCE,
        idle_max: PATIENCE,
    })
}

fn answered(client: &HttpClient, wait: Duration) -> Result<HttpAnswer, HttpError> {
    client.send(&HttpRequest {
        method: Method::GET,
        path: "/",
        headers: &[],
        body: None,
        until: Instant::now() + wait,
        answer_bytes_max: 4,
    })
}

fn plain(answer: &'static str, wait: Duration) -> Result<HttpAnswer, HttpError> {
    let port = server(answer, |stream| stream);
    answered(&client(&format!("http://127.0.0.1:{port}"), TlsTrust::System), wait)
}

// S-PROVIDER-4
#[test]
fn no_redirect_is_followed() {
    let moved = "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(plain(moved, PATIENCE).unwrap().status, 307);
}

// S-PROVIDER-4
#[test]
fn an_answer_has_a_deadline_and_a_bound() {
    let good = plain(GOOD, PATIENCE).unwrap();
    assert_eq!((good.is_success(), good.body), (true, b"good".to_vec()));
    assert_eq!(good.content_type.as_deref(), Some("text/plain"));
    let long = plain("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nlarge", PATIENCE).unwrap_err();
    assert!(matches!(long, HttpError::TooLong), "{long:?}");
    for wait in [Duration::from_millis(200), Duration::ZERO] {
        let late = plain("", wait).unwrap_err();
        assert!(matches!(late, HttpError::TimedOut), "{late:?}");
    }
}

// S-PROVIDER-4
#[test]
fn a_refusal_is_an_answer() {
    let busy = "HTTP/1.1 429 Busy\r\nretry-after: 1.5\r\ncontent-length: 9\r\n\r\nslow down";
    let busy = plain(busy, PATIENCE).unwrap();
    assert_eq!((busy.is_success(), busy.status, busy.retry_after_seconds), (false, 429, Some(2)));
    assert_eq!(busy.body, b"slow down");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = answered(&client(&format!("http://{free}"), TlsTrust::System), PATIENCE);
    assert!(matches!(nobody, Err(HttpError::Connection(_))), "{nobody:?}");
}

/// Writes the certificate of an authority, and returns the port of a server that it certifies.
fn certified(file: &Path, version: &'static SupportedProtocolVersion) -> u16 {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    std::fs::write(file, authority.self_signed(&key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(authority, key);
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let own = own.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    server(GOOD, move |stream| {
        StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
    })
}

// S-REMOTE-1
#[test]
fn only_the_named_authority_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let [file, other, old] = ["a.pem", "b.pem", "c.pem"].map(|name| folder.path().join(name));
    let port = certified(&file, &TLS13);
    certified(&other, &TLS13);
    let asked = |port: u16, file: &Path| {
        let trust = TlsTrust::Authorities(Authorities::read(file).unwrap());
        answered(&client(&format!("https://127.0.0.1:{port}"), trust), PATIENCE)
    };
    assert_eq!(asked(port, &file).unwrap().body, b"good");
    let stranger = asked(port, &other).unwrap_err().to_string();
    assert!(stranger.contains("certificate"), "{stranger}");
    // Its authority is believed, but it speaks no TLS 1.3.
    assert!(asked(certified(&old, &TLS12), &old).is_err());
    std::fs::write(&file, "no certificate").unwrap();
    assert!(Authorities::read(&file).err().unwrap().ends_with("holds no certificate in PEM"));
}
