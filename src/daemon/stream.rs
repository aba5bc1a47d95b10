//! Connections between a retriever and its clients: a Unix socket in the private folder; where that
//! is impossible, the loopback interface and a token that only the user can read. Not here: the
//! messages (`protocol`).

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::endpoint::Endpoint;
#[cfg(unix)]
use store::give_to_folder_owner;
use store::{FileId, write_private};

/// Hexadecimal digits of a token: 256 bits.
const TOKEN_DIGITS: usize = 64;

/// How long a client may take to send the token, in milliseconds.
const TOKEN_WAIT_MS: u64 = 2_000;

/// One side of a connection.
#[derive(Debug)]
pub enum Stream {
    #[cfg(unix)]
    Unix(UnixStream),
    Loopback(TcpStream),
}

/// A retriever's listener.
#[derive(Debug)]
pub enum AgentListener {
    #[cfg(unix)]
    Unix(UnixListener),
    Loopback {
        listener: TcpListener,
        token: String,
    },
}

/// How a retriever is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerTransport {
    /// A Unix socket, where the system has them and the path is not too long for one.
    Best,
    /// The loopback interface.
    Loopback,
}

impl AgentListener {
    /// Listens. The caller holds the endpoint's lock, so an existing socket file is left over from
    /// a retriever that was killed.
    pub fn bind(
        endpoint: &Endpoint,
        transport: ListenerTransport,
        random: [u128; 2],
    ) -> io::Result<Self> {
        #[cfg(unix)]
        if transport == ListenerTransport::Best {
            let socket = endpoint.socket();
            remove(&socket)?;
            // The path may be too long for a socket, or the disk may not support sockets.
            if let Ok(listener) = UnixListener::bind(&socket) {
                give_to_folder_owner(&socket)?;
                remove(&endpoint.port_file())?;
                return Ok(Self::Unix(listener));
            }
        }
        #[cfg(not(unix))]
        let _ = transport;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let token = format!("{:032x}{:032x}", random[0], random[1]);
        let port = listener.local_addr()?.port();
        remove(&endpoint.port_file())?;
        write_private(&endpoint.port_file(), &format!("{port} {token}\n"))?;
        Ok(Self::Loopback { listener, token })
    }

    /// Returns the token that clients must send.
    pub fn token(&self) -> Option<String> {
        match self {
            #[cfg(unix)]
            Self::Unix(_) => None,
            Self::Loopback { token, .. } => Some(token.clone()),
        }
    }

    /// Waits for the next connection.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            #[cfg(unix)]
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            Self::Loopback { listener, .. } => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Loopback(stream))
            }
        }
    }
}

/// The file by which clients find the retriever: a socket, or a file with a port.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    file_id: Option<FileId>,
}

impl SocketFile {
    /// Reads the identity of the file that a listener has just made.
    pub fn from_listener(listener: &AgentListener, endpoint: &Endpoint) -> Self {
        let path = match listener {
            #[cfg(unix)]
            AgentListener::Unix(_) => endpoint.socket(),
            AgentListener::Loopback { .. } => endpoint.port_file(),
        };
        Self { file_id: FileId::from_path(&path), path }
    }

    /// Tells whether the file is still there, and not another file in its place.
    pub fn is_up(&self) -> bool {
        self.file_id.is_some() && FileId::from_path(&self.path) == self.file_id
    }

    /// Removes the file, so that no more clients connect.
    pub fn remove(&self) {
        if self.is_up() {
            // A client that still finds it finds no listener.
            let _ = remove(&self.path);
        }
    }
}

/// Compares in constant time.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl Stream {
    /// Connects to the retriever.
    pub fn connect(endpoint: &Endpoint) -> io::Result<Self> {
        #[cfg(unix)]
        match UnixStream::connect(endpoint.socket()) {
            Ok(stream) => return Ok(Self::Unix(stream)),
            Err(error) if !endpoint.port_file().exists() => return Err(error),
            Err(_) => {}
        }
        // A retriever that was killed leaves a port file, and another program may use that port by
        // now. Only a retriever that holds the lock wrote a valid one.
        if endpoint.elect_now().is_ok() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no retriever is running"));
        }
        let text = std::fs::read_to_string(endpoint.port_file())?;
        let unclear = || io::Error::new(io::ErrorKind::InvalidData, "no port and token");
        let (port, token) = text.trim().split_once(' ').ok_or_else(unclear)?;
        let port: u16 = port.parse().map_err(|_| unclear())?;
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.write_all(token.as_bytes())?;
        Ok(Self::Loopback(stream))
    }

    /// Refuses a connection that does not send the token.
    pub fn check(&mut self, token: &str) -> io::Result<()> {
        self.set_timeout(Some(Duration::from_millis(TOKEN_WAIT_MS)))?;
        let mut shown = [0; TOKEN_DIGITS];
        self.read_exact(&mut shown)?;
        if is_equal(&shown, token.as_bytes()) {
            return self.set_timeout(None);
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "a wrong token"))
    }

    /// Bounds how long reading and writing wait.
    pub fn set_timeout(&self, wait: Option<Duration>) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Self::Unix(stream) => {
                stream.set_read_timeout(wait)?;
                stream.set_write_timeout(wait)
            }
            Self::Loopback(stream) => {
                stream.set_read_timeout(wait)?;
                stream.set_write_timeout(wait)
            }
        }
    }

    /// Makes a second handle of the connection.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            #[cfg(unix)]
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Loopback(stream) => Self::Loopback(stream.try_clone()?),
        })
    }

    /// Closes the connection for all its handles.
    pub fn shut_down(&self) {
        // It may be closed already.
        let _ = match self {
            #[cfg(unix)]
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Loopback(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// Tells whether a connection waited too long.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(buffer),
            Self::Loopback(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Unix(stream) => stream.write(bytes),
            Self::Loopback(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection that is read line by line.
#[derive(Debug)]
pub struct LineStream {
    reader: BufReader<Stream>,
    /// How long a whole line may take.
    line_wait: Option<Duration>,
}

impl LineStream {
    pub fn new(stream: Stream) -> Self {
        Self { reader: BufReader::new(stream), line_wait: None }
    }

    /// Returns the connection.
    pub fn stream(&self) -> &Stream {
        self.reader.get_ref()
    }

    /// Bounds how long each line may take, whole, and each write.
    pub fn set_timeout(&mut self, wait: Option<Duration>) -> io::Result<()> {
        self.line_wait = wait;
        self.stream().set_timeout(wait)
    }

    /// Reads one line without its line feed. `None` at the end of the connection.
    ///
    /// # Errors
    /// `InvalidData` for a line longer than `bytes_max`; `TimedOut` for one that takes too long, however few bytes at a
    /// time its sender drips.
    pub fn read(&mut self, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let until = self.line_wait.map(|wait| Instant::now() + wait);
        loop {
            let room = bytes_max.saturating_sub(u64::try_from(line.len()).unwrap_or(bytes_max));
            let known = self.reader.fill_buf()?;
            let known_bytes = u64::try_from(known.len()).unwrap_or(u64::MAX).min(room);
            let count = self.reader.by_ref().take(known_bytes).read_until(b'\n', &mut line)?;
            if count == 0 || line.ends_with(b"\n") {
                break;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        match line.pop() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(line)),
            Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "a line without end")),
        }
    }

    /// Writes one line, including its line feed.
    pub fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(line)
    }
}
