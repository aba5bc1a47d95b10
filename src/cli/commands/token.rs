//! `token`: makes, lists and revokes tokens. Not here: the file (`access::named_token`).

use std::io::Write;

use serde::Serialize;
use serde_json::json;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use requests::rights::Rights;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::program::Program;
use access::named_token::{NamedToken, NamedTokenError};
use event::{CalendarDay, DayZone, Problems, Timestamp, parse_age, parse_timestamp, quoted};
use reply::Reply;
use requests::ApiError;
use retriever::http_socket::token_error;
use writer::Moment;
use writer::exit::complain;

/// The furthest end of a token, in days: ten years. What should last for longer has no end.
const DAYS_MAX: u64 = 3_650;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// Make, list and revoke tokens for clients of serve --http
#[derive(Debug, Args)]
pub struct Token {
    /// What to do.
    #[command(subcommand)]
    pub command: TokenCommand,
}

/// The `token` commands.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token; it is printed this once, and only its SHA-256 is kept
    #[command(after_help = CREATE_HELP)]
    Create(CreateToken),
    /// List the tokens, without what they are
    List(OutputFormat),
    /// Take a token back; a running server refuses it from the next request on
    Revoke(RevokeToken),
}

const CREATE_HELP: &str = "\
read asks about memories, write also saves and changes them, admin also opens the dashboard and
reads past sessions and doctor. Actions of a token are logged in its name, whatever its client calls
itself.
  token=$(agent-knowledge token create ci --rights read --expires 90d)";

/// `token create`.
#[derive(Debug, Args)]
pub struct CreateToken {
    /// The name in which its actions are logged, such as ci or anna@laptop
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it allows
    #[arg(
        long,
        value_name = "read|write|admin",
        value_parser = PossibleValuesParser::new(["read", "write", "admin"]).map(|word| Rights::parse(&word).unwrap_or(Rights::Read))
    )]
    pub rights: Rights,
    /// Refuse it after this time: an age such as 90d or 12h, or a day such as 2027-01-31 [default: never]
    #[arg(long, value_name = "TIME")]
    pub expires: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// `token revoke`.
#[derive(Debug, Args)]
pub struct RevokeToken {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// A token that was made.
#[derive(Serialize)]
struct CreatedToken<'a> {
    name: &'a str,
    rights: &'a str,
    expires: Option<String>,
    token: &'a str,
}

/// All tokens, without what they are.
#[derive(Serialize)]
struct TokensAnswer<'a> {
    tokens: Vec<TokenItem<'a>>,
}

#[derive(Serialize)]
struct TokenItem<'a> {
    name: &'a str,
    rights: &'a str,
    created: String,
    expires: Option<String>,
    expired: bool,
}

/// Runs the command.
pub(super) fn token(context: &mut CommandContext<'_, '_>, command: &Token) -> CommandResult {
    let Moment { now, .. } = (context.program.surroundings.clock)();
    // Whole seconds are what people read.
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let CommandContext { program, process, .. } = context;
    let (form, reply) = match &command.command {
        TokenCommand::Create(create) => {
            (create.form, program.create_token(create, now, process.messages)?)
        }
        TokenCommand::List(form) => {
            let tokens = program.tokens_file()?.load().map_err(|error| token_error(&error))?;
            (*form, token_list(&tokens, now))
        }
        TokenCommand::Revoke(RevokeToken { name, form }) => {
            let revoked = program.tokens_file()?.remove(name).map_err(failed)?;
            let text = format!("revoked {}; a running server refuses it now", revoked.name);
            (*form, Reply::new(text, json!({ "revoked": revoked.name })))
        }
    };
    Ok(CommandEnd::answer(form, reply))
}

impl Program<'_> {
    fn create_token(
        &self,
        CreateToken { name, rights, expires, .. }: &CreateToken,
        now: Timestamp,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let mut problems = Problems::none();
        if !NamedToken::is_name(name) {
            problems.add("NAME", format!("must have 1 to 64 small letters, digits, -, _, . and @, and begin with a letter or a digit, such as ci or anna@laptop; got {}", quoted(name)));
        }
        let expires =
            expires.as_deref().map(|text| parse_expiry(text, now, DayZone::System)).transpose();
        let expires = expires.unwrap_or_else(|message| {
            problems.add("expires", message);
            None
        });
        problems.or(())?;
        let text = self.tokens_file()?.add(name, *rights, expires, self.surroundings.secret, now);
        let text = text.map_err(failed)?;
        let until = expires.map_or_else(String::new, |expires| format!(", until {expires}"));
        complain(
            messages,
            "agent-knowledge",
            &format!("the token {name} has the right {rights}{until}; it is shown this once"),
        );
        let expires = expires.map(|expires| expires.to_string());
        let created = CreatedToken { name, rights: rights.as_str(), expires, token: &text };
        // The token is what was asked for, so it is not removed as a secret.
        Ok(Reply::verbatim(text.clone(), &created))
    }
}

/// Reads when a token ends.
fn parse_expiry(text: &str, now: Timestamp, days: DayZone) -> Result<Timestamp, String> {
    let by_age = parse_age(text).and_then(|age| now.checked_add(age).ok());
    let by_day = || CalendarDay::parse(text).map(|day| day.last(now, days));
    let end = by_age.or_else(by_day).or_else(|| parse_timestamp(text));
    let longest = std::time::Duration::from_secs(DAYS_MAX * DAY_SECONDS);
    let last = now.checked_add(longest).unwrap_or(Timestamp::MAX);
    end.filter(|end| *end > now && *end <= last).ok_or_else(|| {
        format!(
            "must be an age of at most {DAYS_MAX}d, such as 90d or 12h, or a time in the future, such as 2027-01-31; got {}",
            quoted(text)
        )
    })
}

fn token_list(tokens: &[NamedToken], now: Timestamp) -> Reply {
    let width = tokens.iter().map(|token| token.name.len()).max().unwrap_or_default();
    let day = |time: Timestamp| time.strftime("%Y-%m-%d").to_string();
    let line = |token: &NamedToken| {
        let NamedToken { name, rights, created, expires, .. } = token;
        let end = match expires {
            Some(expires) if token.has_expired(now) => format!("expired {}", day(*expires)),
            Some(expires) => format!("expires {}", day(*expires)),
            None => "never expires".to_owned(),
        };
        format!("{name:width$}  {rights:<5}  made {}  {end}", day(*created))
    };
    let lines: Vec<String> = tokens.iter().map(line).collect();
    let tokens = tokens.iter().map(|token| TokenItem {
        name: &token.name,
        rights: token.rights.as_str(),
        created: token.created.to_string(),
        expires: token.expires.map(|expires| expires.to_string()),
        expired: token.has_expired(now),
    });
    let answer = TokensAnswer { tokens: tokens.collect() };
    let text = if lines.is_empty() {
        "no tokens; agent-knowledge token create NAME --rights read makes one".to_owned()
    } else {
        lines.join("\n")
    };
    Reply::with_text(text, &answer)
}

#[expect(clippy::needless_pass_by_value, reason = "a step of map_err, which gives it away")]
fn failed(error: NamedTokenError) -> ApiError {
    match &error {
        NamedTokenError::File(error) => token_error(error),
        NamedTokenError::Store(error) => retriever::failure::store_error(error),
        NamedTokenError::Taken(_) | NamedTokenError::Full => {
            Problems::one("NAME", error.to_string()).into()
        }
        NamedTokenError::Unknown(..) => ApiError::NotFound(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-TOKEN-1
    #[test]
    fn an_end_lies_in_the_future_and_not_too_far() {
        let now: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("90d", "2027-02-23T12:00:00Z"),
            ("12h", "2026-11-26T00:00:00Z"),
            ("2027-01-31", "2027-01-31T23:59:59.999999999Z"),
        ] {
            assert_eq!(
                parse_expiry(text, now, DayZone::Utc).unwrap().to_string(),
                expected,
                "{text}"
            );
        }
        for text in ["", "0d", "3651d", "2026-11-24", "2020-01-01", "soon", "-1d", "4000000000w"] {
            let message = parse_expiry(text, now, DayZone::Utc).unwrap_err();
            assert!(message.contains("such as 90d"), "{message}");
        }
    }
}
