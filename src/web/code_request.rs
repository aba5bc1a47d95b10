//! Asks the HTTP server of this store for a code, as a client of it. Not here: what the code is for (`rest::sign_in`).

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// The path of the request.
const PATH: &str = "/api/v1/sign-in/code";

/// How long each step may take, in milliseconds: the server is on this machine.
const STEP_MS: u64 = 5_000;

/// The longest answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Returns a new code from the server at an address such as `http://127.0.0.1:7421`.
///
/// # Errors
/// A message that does not repeat the token.
pub fn new_code(origin: &str, token: &str) -> Result<String, String> {
    let authority = origin.strip_prefix("http://").unwrap_or(origin);
    let failed = |why: &dyn std::fmt::Display| format!("failed to get a code from {origin}: {why}");
    let address: SocketAddr = authority.parse().map_err(|error| failed(&error))?;
    let text = answer_of(address, authority, token).map_err(|error| failed(&error))?;
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).unwrap_or("no status");
    if status != "200" {
        let remedy = match status {
            "401" => {
                "it has another token; stop it with agent-knowledge serve --stop and run this again"
            }
            "404" => {
                "it has no dashboard; stop it with agent-knowledge serve --stop and run this again"
            }
            "429" => "too many wrong codes or tokens came from this machine; wait a minute",
            _ => "try again",
        };
        return Err(failed(&format!("it answered {status}; {remedy}")));
    }
    let answer: Value = serde_json::from_str(body).map_err(|error| failed(&error))?;
    let code = answer.get("code").and_then(Value::as_str);
    code.map(str::to_owned).ok_or_else(|| failed(&"its answer has none"))
}

fn answer_of(address: SocketAddr, authority: &str, token: &str) -> std::io::Result<String> {
    let step = Duration::from_millis(STEP_MS);
    let mut stream = TcpStream::connect_timeout(&address, step)?;
    stream.set_read_timeout(Some(step))?;
    stream.set_write_timeout(Some(step))?;
    let request = format!(
        "POST {PATH} HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    Ok(answer)
}
