//! `ui`: opens the dashboard: finds the HTTP server of the store or starts one, gets a code from it, and shows the link. Not
//! here: the page (`dashboard`), how it signs in (`web::rest`).

use std::io::IsTerminal;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::program::Program;
use access::address::{ADDRESS_DEFAULT, Address};
use access::token::Token;
use daemon::retriever_client::RetrieverClient;
use reply::Reply;
use requests::ApiError;
use retriever::failure::unavailable_error;
use retriever::options::MemoryNeed;
use settings::variables::TOKEN;
use web::code_request::new_code;
use writer::exit::Exit;

mod browser;

/// How long a server may take to answer after its start, and the pause between two looks, in milliseconds. It listens
/// before it reads anything, but a retriever that it replaces may have to end first.
const START_WAIT_MS: u64 = 15_000;
const LOOK_MS: u64 = 20;

/// An HTTP server of this store.
struct WebServer {
    /// Its address, such as `http://127.0.0.1:7421`.
    origin: String,
    /// The token it asks for.
    token: Option<String>,
}

const UI_HELP: &str = "\
If the running retriever does not answer over HTTP, another one that does takes its place, and agents connect to that. It
exits when no client and no open dashboard has been connected for a while.
The link signs in once, within a minute. Nobody else should see it until then.";

/// Open the dashboard
#[derive(Debug, Args)]
#[command(after_help = UI_HELP)]
pub struct Ui {
    /// Where to listen unless a server does already: a loopback address or a port
    /// [default: 127.0.0.1:7421, or any free port if that one is taken]
    #[arg(long, value_name = "ADDRESS", visible_alias = "port")]
    pub http: Option<String>,
    /// Only print the link
    #[arg(long)]
    pub no_open: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn ui(context: &mut CommandContext<'_, '_>, command: &Ui) -> CommandResult {
    let program = &*context.program;
    let address =
        command.http.as_deref().map(|address| Address::parse(address, "http")).transpose()?;
    let Some(mut remote) = program.retriever_client(context.options, MemoryNeed::Words, "ui")?
    else {
        return Err(unavailable_error("the system does not tell where this program is".to_owned()));
    };
    let running = running(&remote)?;
    let is_new = running.is_none();
    let status = match running {
        Some(status) => status,
        None => started(&mut remote, address)?,
    };
    let server = program.web_server(&status)?;
    let link = match &server.token {
        // Everybody is let in, so a code would only be something more to go wrong.
        None => format!("{}/", server.origin),
        Some(token) => {
            let code = new_code(&server.origin, token).map_err(unavailable_error)?;
            format!("{}/#code={code}", server.origin)
        }
    };
    let is_person = std::io::stdout().is_terminal() && !command.form.json;
    let opens = is_person && !command.no_open && browser::is_available(program.surroundings.lookup);
    let is_open = opens && browser::open(&link);
    let json = json!({ "url": link, "opened": is_open, "started": is_new });
    let reply = Reply::new(program.link_text(&server, &link, is_open), json);
    Ok(CommandEnd::answer(command.form, reply))
}

impl Program<'_> {
    fn link_text(&self, server: &WebServer, link: &str, is_open: bool) -> String {
        let mut text = format!("dashboard {link}");
        if server.token.is_some() {
            text.push_str("\n          the link signs in once, within a minute");
        }
        if is_open {
            text.push_str("\n          opening it in the browser");
        }
        let is_remote = (self.surroundings.lookup)("SSH_CONNECTION").is_some();
        if let (true, Some((_, port))) = (is_remote, server.origin.rsplit_once(':')) {
            let tunnel = format!("ssh -N -L {port}:127.0.0.1:{port} THIS-MACHINE");
            text.push_str(&format!(
                "\n          to open it where you are, run there first: {tunnel}"
            ));
        }
        text
    }

    /// Reads from the status of a retriever how to reach its server.
    fn web_server(&self, status: &Value) -> Result<WebServer, ApiError> {
        let http = status.get("http").unwrap_or(&Value::Null);
        let url = http.get("url").and_then(Value::as_str).unwrap_or_default();
        let origin = url.strip_suffix("/mcp").unwrap_or(url).to_owned();
        let has_token = http.get("token").and_then(Value::as_bool).unwrap_or(true);
        if !has_token {
            return Ok(WebServer { origin, token: None });
        }
        let token = match http.get("token_file").and_then(Value::as_str) {
            Some(file) => Token::read_text(Path::new(file)).map_err(|error| ApiError::Failed {
                exit: Exit::Config,
                message: format!("failed to {error}"),
            })?,
            None => {
                let set = (self.surroundings.lookup)(TOKEN).and_then(|set| set.into_string().ok());
                set.ok_or_else(|| ApiError::Failed {
                    exit: Exit::Config,
                    message: format!(
                        "the server was started with a token in {TOKEN}; set it here too, or stop the server with \
                         agent-knowledge serve --stop and run this again"
                    ),
                })?
            }
        };
        Ok(WebServer { origin, token: Some(token) })
    }
}

/// Returns the status of the running retriever, if it answers over HTTP.
///
/// # Errors
/// It answers others only, and does not give way.
fn running(remote: &RetrieverClient) -> Result<Option<Value>, ApiError> {
    let Some(status) = remote.status_if_running().map(|status| status.json) else {
        return Ok(None);
    };
    if status.get("http").is_some() {
        return Ok(Some(status));
    }
    if status.get("https").is_some() {
        return Err(ApiError::Failed {
            exit: Exit::Busy,
            message: "the running server answers with --listen only; start it with --http too, for this machine"
                .to_owned(),
        });
    }
    Ok(None)
}

/// Starts a retriever with an HTTP server in the background, in place of one that has none.
fn started(remote: &mut RetrieverClient, address: Option<Address>) -> Result<Value, ApiError> {
    let address = free_address(address)?;
    remote.retriever_command.args.extend(["--http".into(), address.into()]);
    let did_not_start = |remote: &RetrieverClient| {
        let log = remote.endpoint.message_log();
        unavailable_error(format!(
            "the HTTP server did not start; its messages are in {}, and agent-knowledge serve --http shows them here",
            log.display()
        ))
    };
    let mut child = remote.start_another().map_err(|_| did_not_start(remote))?;
    let deadline = Instant::now() + Duration::from_millis(START_WAIT_MS);
    loop {
        // One that ends before it is seen may have made room for another that was faster.
        let has_ended = matches!(child.try_wait(), Ok(Some(_)));
        if let Some(status) = running(remote)? {
            return Ok(status);
        }
        if has_ended || Instant::now() >= deadline {
            return Err(did_not_start(remote));
        }
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    }
}

/// Returns an address that nobody listens on: the given one, or the default, or any port.
fn free_address(address: Option<Address>) -> Result<String, ApiError> {
    if let Some(address) = address {
        let address = address.socket();
        return match TcpListener::bind(address) {
            Ok(_) => Ok(address.to_string()),
            Err(error) => Err(ApiError::Failed {
                exit: Exit::Busy,
                message: format!(
                    "failed to listen on {address}: {error}; choose another port with --http"
                ),
            }),
        };
    }
    let is_free = TcpListener::bind(ADDRESS_DEFAULT).is_ok();
    Ok(if is_free { ADDRESS_DEFAULT } else { "127.0.0.1:0" }.to_owned())
}
