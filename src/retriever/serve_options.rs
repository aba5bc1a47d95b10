//! What `serve` is asked for: addresses, certificates, tokens and the end. Not here: serving (`shared_retriever`, `listening`).

use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// The options that name an address.
const ADDRESSES: &str = "addresses";

/// What to serve, and to whom.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new(ADDRESSES).multiple(true))]
pub struct ServeOptions {
    /// Exit after this many minutes without a connected client, 0 for never [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub idle_minutes: Option<String>,
    /// Also serve MCP over HTTP, on this loopback address [default: 127.0.0.1:7421; port 0: any free port]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = access::address::ADDRESS_DEFAULT,
        group = ADDRESSES,
        conflicts_with = "stop"
    )]
    pub http: Option<String>,
    /// Also serve the same over HTTPS to others, on this address, such as 0.0.0.0:7443
    #[arg(
        long,
        value_name = "ADDRESS",
        group = ADDRESSES,
        requires_all = ["cert", "key"],
        conflicts_with_all = ["stop", "no_token", "background"]
    )]
    pub listen: Option<String>,
    /// The certificate for --listen, in PEM, with those that sign it
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub cert: Option<PathBuf>,
    /// Its private key, in PEM, which only you can read
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub key: Option<PathBuf>,
    /// Be a replica of the team that sync.remote names, and answer anybody alike (docs/operate/replicas.md)
    #[arg(long, requires = ADDRESSES, conflicts_with_all = ["stop", "background", "no_token"])]
    pub team: bool,
    /// Also serve gRPC, on this loopback address [default: 127.0.0.1:7422; port 0: any free port]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = grpc::grpc_server::GRPC_ADDRESS_DEFAULT,
        group = ADDRESSES,
        conflicts_with_all = ["stop", "background", "team"]
    )]
    pub grpc: Option<String>,
    /// With --team: also feed an engine with what the team shares, such as postgres://me@127.0.0.1/ak
    #[arg(long, value_name = "URL", requires = "team", conflicts_with_all = ["stop", "background"])]
    pub index_to: Option<String>,
    /// With --index-to: the name of the environment variable that holds the password or key of the engine
    #[arg(long, value_name = "VARIABLE", requires = "index_to")]
    pub index_password_env: Option<String>,
    /// The file of the token that HTTP clients must send; it is created if it does not exist
    /// [default: `token` beside the configuration file]
    #[arg(long, value_name = "FILE", requires = ADDRESSES)]
    pub token_file: Option<PathBuf>,
    /// Answer every user of this machine over HTTP, without a token
    #[arg(long, requires = ADDRESSES, conflicts_with = "token_file")]
    pub no_token: bool,
    /// Stop the running retriever
    #[arg(long)]
    pub stop: bool,
    /// Started by a client: detach from its terminal
    #[arg(long, hide = true, conflicts_with = "stop")]
    pub background: bool,
    /// Whether the addresses are written as JSON.
    #[arg(skip)]
    pub is_json: bool,
}

impl ServeOptions {
    /// Tells whether it names an address.
    #[must_use]
    pub fn has_address(&self) -> bool {
        if self.grpc.is_some() {
            return true;
        }
        self.http.is_some() || self.listen.is_some()
    }
}
