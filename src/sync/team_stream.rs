//! A JetStream stream on a server that a team runs: its state, its messages, and publishing to it. Each call waits, and has a
//! deadline. Not here: what the messages mean (`stream_copy`), and what a round does with them (`nats_remote`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use async_nats::jetstream::context::{GetStreamErrorKind, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{DeleteMessageErrorKind, Info, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{ConnectOptions, Event};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::SyncError;
use crate::stream_rules::{ALL, is_recent, stream_fault};
use crate::team_address::TeamAddress;

/// How long a connection takes at most.
const CONNECT: Duration = Duration::from_secs(10);

/// How long one answer of the server takes at most. A cluster chooses a new leader in about five seconds.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a call of many answers takes at most.
const CALL: Duration = Duration::from_secs(60);

/// How many messages are on their way at a time.
pub(crate) const WINDOW: usize = 256;

/// How many messages are asked for at a time.
const BATCH: usize = 500;

/// How many bytes of messages are held before they are handed on.
const HELD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long the server keeps a reader that asks for nothing.
const READER: Duration = Duration::from_secs(60);

/// What a line needs beside its bytes: the subject, and headers of at most two numbers.
const BESIDE_BYTES: usize = 1_024;

/// A message of the stream.
pub(crate) struct StreamMessage {
    pub(crate) sequence: u64,
    pub(crate) subject: String,
    pub(crate) payload: Vec<u8>,
}

/// What a stream looked like at a moment.
pub(crate) struct StreamState {
    /// What only this stream has: another one of the same name was created at another time.
    pub(crate) created: String,
    /// The sequence of the last message.
    pub(crate) last: u64,
    /// What changes with every message that comes or goes.
    pub(crate) mark: String,
}

/// What became of messages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SendOutcome {
    /// They are stored; the sequence of the last one.
    Stored(u64),
    /// The subject had another last message.
    Conflict,
    /// The server refuses, for this reason.
    Refused(String),
}

/// What the server said without being asked: that a publication is not allowed.
#[derive(Default)]
struct Refusal {
    said: Mutex<Option<String>>,
    bell: Notify,
}

/// A stream.
pub(crate) struct TeamStream {
    runtime: Runtime,
    context: Context,
    stream: Stream<Info>,
    refusal: Arc<Refusal>,
    shown: String,
    /// The longest line, in bytes.
    pub(crate) line_bytes_max: usize,
}

impl TeamStream {
    /// Connects, and checks the server and the stream. `shown` is the address without a password.
    ///
    /// # Errors
    /// [`SyncError::Remote`] if no server answers, [`SyncError::Setup`] if something is to be changed first.
    pub(crate) fn open(
        address: &TeamAddress,
        credentials: Option<&Path>,
        shown: &str,
    ) -> Result<Self, SyncError> {
        let away = |why: String| SyncError::Remote { remote: shown.to_owned(), why };
        let credentials = credentials.map(crate::credentials::read).transpose()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| away(error.to_string()))?;
        let refusal = Arc::new(Refusal::default());
        let connecting = connect(address, (credentials.as_deref(), shown), &refusal);
        let context = runtime
            .block_on(async { tokio::time::timeout(CONNECT, connecting).await })
            .map_err(|_| away("no server answered in 10 seconds".to_owned()))??;
        let server = context.client().server_info();
        if !is_recent(&server.version) {
            let version = server.version;
            return Err(SyncError::Setup(format!(
                "the NATS server has version {version}; at least 2.12 is needed, because no older \
                 one was tested with this program"
            )));
        }
        let found = runtime.block_on(async {
            tokio::time::timeout(ANSWER, context.get_stream(&address.stream)).await
        });
        let stream = match found.map_err(|_| away("JetStream did not answer".to_owned()))? {
            Ok(stream) => stream,
            Err(error) => {
                return Err(match error.kind() {
                    GetStreamErrorKind::JetStream(why)
                        if why.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                    {
                        SyncError::Setup(crate::stream_rules::missing_stream_text(&address.stream))
                    }
                    _ => away(refusal.or(&error)),
                });
            }
        };
        if let Some(off) = stream_fault(&stream.cached_info().config) {
            return Err(SyncError::Setup(off));
        }
        let most =
            usize::try_from(stream.cached_info().config.max_message_size).unwrap_or(usize::MAX);
        let line_bytes_max = most.min(server.max_payload).saturating_sub(BESIDE_BYTES);
        Ok(Self { runtime, context, stream, refusal, shown: shown.to_owned(), line_bytes_max })
    }

    fn away(&self, why: impl std::fmt::Display) -> SyncError {
        SyncError::Remote { remote: self.shown.clone(), why: self.refusal.or(&why) }
    }

    /// Waits for an answer, at most `CALL`.
    fn wait<T>(&self, answer: impl Future<Output = Result<T, SyncError>>) -> Result<T, SyncError> {
        let waited = self.runtime.block_on(async { tokio::time::timeout(CALL, answer).await });
        waited.unwrap_or_else(|_| Err(self.away("it did not answer in 60 seconds")))
    }

    /// Asks how the stream stands.
    pub(crate) fn state(&self) -> Result<StreamState, SyncError> {
        self.wait(async {
            let info = self.stream.get_info().await.map_err(|error| self.away(error))?;
            Ok(state_of(&info))
        })
    }

    /// Asks how the stream stands, and how many messages each subject has.
    pub(crate) fn counts(&self) -> Result<(StreamState, BTreeMap<String, usize>), SyncError> {
        self.wait(async {
            let found = self.stream.info_with_subjects(ALL).await;
            let mut found = found.map_err(|error| self.away(error))?;
            let mut counts = BTreeMap::new();
            while let Some(next) = found.next().await {
                let (subject, count) = next.map_err(|error| self.away(error))?;
                counts.insert(subject, count);
            }
            Ok((state_of(&found.info), counts))
        })
    }

    /// Reads the messages of a subject from a sequence up to `last`, and hands them on in parts.
    pub(crate) fn read(
        &self,
        subject: &str,
        (from, last): (u64, u64),
        mut take: impl FnMut(Vec<StreamMessage>) -> Result<(), SyncError>,
    ) -> Result<(), SyncError> {
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: from.max(1) },
            ack_policy: AckPolicy::None,
            filter_subject: subject.to_owned(),
            inactive_threshold: READER,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let reader = self.wait(async {
            self.stream.create_consumer(config).await.map_err(|error| self.away(error))
        })?;
        let (mut seen, mut held, mut held_bytes) = (0, Vec::new(), 0);
        loop {
            let part = self.wait(self.part(&reader, &mut seen))?;
            let is_end = part.len() < BATCH || part.iter().any(|message| message.sequence >= last);
            held_bytes += part.iter().map(|message| message.payload.len()).sum::<usize>();
            held.extend(part.into_iter().filter(|message| message.sequence <= last));
            if is_end || held_bytes > HELD_BYTES_MAX {
                take(std::mem::take(&mut held))?;
                held_bytes = 0;
            }
            if is_end {
                return Ok(());
            }
        }
    }

    /// Lets a server that is behind come along.
    pub(crate) fn pause(&self, pause: Duration) {
        self.runtime.block_on(tokio::time::sleep(pause));
    }

    /// Reads a part. `seen` counts what the reader was sent: a gap means that something got lost on the way.
    async fn part(
        &self,
        reader: &Consumer<pull::Config>,
        seen: &mut u64,
    ) -> Result<Vec<StreamMessage>, SyncError> {
        let asked = reader.fetch().max_messages(BATCH).messages().await;
        let mut asked = asked.map_err(|error| self.away(error))?;
        let mut part = Vec::new();
        while let Some(message) = asked.next().await {
            let message = message.map_err(|error| self.away(error))?;
            let info = message.info().map_err(|error| self.away(error))?;
            *seen += 1;
            if info.consumer_sequence != *seen {
                return Err(self.away("messages got lost on the way"));
            }
            let sequence = info.stream_sequence;
            let subject = message.subject.to_string();
            part.push(StreamMessage { sequence, subject, payload: message.payload.to_vec() });
        }
        Ok(part)
    }

    /// Publishes lines on one subject, at most [`WINDOW`], if its last message is still the one of that sequence.
    pub(crate) fn publish(
        &self,
        subject: &str,
        expected: u64,
        lines: &[&str],
    ) -> Result<SendOutcome, SyncError> {
        self.refusal.clear();
        self.wait(async {
            let mut acks = Vec::new();
            for (place, line) in lines.iter().enumerate() {
                let message = PublishMessage::build().payload(line.as_bytes().to_vec().into());
                let message = match place {
                    0 => message.expected_last_subject_sequence(expected),
                    _ => message,
                };
                let sent = self.context.send_publish(subject.to_owned(), message).await;
                acks.push(sent.map_err(|error| self.away(error))?);
                // The lines after the first one must not overtake it, nor land without it.
                if place == 0 && lines.len() > 1 {
                    match self.stored(acks.remove(0)).await? {
                        SendOutcome::Stored(_) => {}
                        refused => return Ok(refused),
                    }
                }
            }
            let mut last = SendOutcome::Stored(expected);
            for ack in acks {
                last = self.stored(ack).await?;
                if !matches!(last, SendOutcome::Stored(_)) {
                    break;
                }
            }
            Ok(last)
        })
    }

    async fn stored(
        &self,
        ack: jetstream::context::PublishAckFuture,
    ) -> Result<SendOutcome, SyncError> {
        let answered = tokio::select! {
            answered = ack.into_future() => answered,
            () = self.refusal.bell.notified() => return Ok(SendOutcome::Refused(self.refusal.or(&"not allowed"))),
        };
        match answered {
            Ok(ack) => Ok(SendOutcome::Stored(ack.sequence)),
            Err(error) => match error.kind() {
                PublishErrorKind::WrongLastSequence => Ok(SendOutcome::Conflict),
                PublishErrorKind::Other | PublishErrorKind::MaxPayloadExceeded => {
                    Ok(SendOutcome::Refused(error_with_source(&error)))
                }
                _ => Err(self.away(error)),
            },
        }
    }

    /// Erases a message. Returns why the server refuses, if it does. A message that is gone already is no matter.
    pub(crate) fn erase(&self, sequence: u64) -> Result<Option<String>, SyncError> {
        self.refusal.clear();
        self.wait(async {
            let answered = tokio::select! {
                answered = self.stream.delete_message(sequence) => answered,
                () = self.refusal.bell.notified() => return Ok(Some(self.refusal.or(&"not allowed"))),
            };
            match answered {
                Ok(_) => Ok(None),
                Err(error) => match error.kind() {
                    DeleteMessageErrorKind::JetStream(why) if why.error_code() == ErrorCode::NO_MESSAGE_FOUND => Ok(None),
                    DeleteMessageErrorKind::JetStream(why) => Ok(Some(why.to_string())),
                    _ => Err(self.away(error)),
                },
            }
        })
    }
}

impl Refusal {
    fn clear(&self) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let _ = self.bell.notified().now_or_never();
    }

    fn say(&self, text: String) {
        if !text.to_lowercase().contains("permissions violation") {
            return;
        }
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        // Whoever waits only now is woken, too.
        self.bell.notify_one();
    }

    /// Returns what the server said without being asked, or else `why`.
    fn or(&self, why: &impl std::fmt::Display) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        said.unwrap_or_else(|| why.to_string())
    }
}

async fn connect(
    address: &TeamAddress,
    (credentials, shown): (Option<&str>, &str),
    refusal: &Arc<Refusal>,
) -> Result<Context, SyncError> {
    let heard = Arc::clone(refusal);
    let options = ConnectOptions::new()
        .name("agent-knowledge")
        .connection_timeout(CONNECT)
        .request_timeout(Some(ANSWER))
        .require_tls(address.servers.iter().any(|server| server.starts_with("tls:")))
        .event_callback(move |event| {
            let heard = Arc::clone(&heard);
            async move {
                if let Event::ServerError(error) = event {
                    heard.say(error.to_string());
                }
            }
        });
    let options = match credentials {
        Some(credentials) => options.credentials(credentials).map_err(|error| {
            SyncError::Setup(format!("sync.credentials is no .creds file: {error}"))
        })?,
        None => options,
    };
    let options = match &address.member {
        Some((name, password)) => options.user_and_password(name.clone(), password.clone()),
        None => options,
    };
    let client = options
        .connect(&address.servers)
        .await
        .map_err(|error| SyncError::Remote { remote: shown.to_owned(), why: error.to_string() })?;
    Ok(jetstream::ContextBuilder::new().timeout(ANSWER).ack_timeout(ANSWER).build(client))
}

fn state_of(info: &Info) -> StreamState {
    let state = &info.state;
    let created = info.created.to_string();
    let mark =
        format!("{created} {} {} {}", state.last_sequence, state.messages, state.last_timestamp);
    StreamState { created, last: state.last_sequence, mark }
}

/// Returns an error with the reason behind it.
fn error_with_source(error: &(dyn std::error::Error + 'static)) -> String {
    let reason = error.source().map(|reason| format!(": {reason}"));
    format!("{error}{}", reason.unwrap_or_default())
}
