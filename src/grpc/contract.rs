//! The contract of gRPC: for each verb of REST one rpc, and for its parameters one message. Only the numbers of fields
//! are no consequence of the table: they stand in the committed file, and stay as they are for ever. Not here: how the
//! contract is printed (`proto_text`) and how it is described to a client (`descriptors`).

use std::collections::BTreeMap;

use crate::rpc_field::{FieldType, MORE, UnnumberedField, unnumbered_field};
use crate::watch_kind::{KINDS, WatchKind};
use requests::parameter::{Face, Parameter, ParameterValues};
use requests::verb::Verb;
use requests::verbs::VERBS;

/// The package of the service.
pub const PACKAGE: &str = "agent_knowledge.v1";

/// The service.
pub const SERVICE: &str = "MemoryService";

/// The committed file.
pub const COMMITTED: &str = include_str!("../../proto/agent_knowledge/v1/memory.proto");

/// All rpcs, with the messages that they take and return.
pub struct Contract {
    pub rpcs: Vec<Rpc>,
    pub messages: Vec<RpcMessage>,
}

/// One rpc.
pub struct Rpc {
    pub name: String,
    pub about: &'static str,
    pub target: RpcTarget,
}

/// What answers an rpc.
#[derive(Clone, Copy)]
pub enum RpcTarget {
    /// The call of an verb.
    Call(&'static Verb),
    /// A stream.
    Watch(WatchKind),
}

/// A message.
pub struct RpcMessage {
    pub name: String,
    /// By number.
    pub fields: Vec<RpcField>,
    /// Numbers and names that were given once and must not come back.
    pub retired: Vec<(u32, String)>,
}

/// A field of a message.
pub struct RpcField {
    pub number: u32,
    pub name: String,
    pub field_type: FieldType,
    pub about: String,
}

/// The numbers that were given to the fields of each message.
pub type FieldNumbers = BTreeMap<String, BTreeMap<String, u32>>;

impl Contract {
    /// Returns the contract of this build.
    pub fn current() -> Self {
        Self::with_numbers(&field_numbers(COMMITTED))
    }

    /// Makes the contract. A field that has no number yet gets the next one of its message.
    pub fn with_numbers(given: &FieldNumbers) -> Self {
        let calls = VERBS.iter().map(|verb| {
            let rpc = Rpc {
                name: camel_case(verb.name),
                about: verb.about,
                target: RpcTarget::Call(verb),
            };
            (rpc, request_fields(verb), answer_fields())
        });
        let watches = KINDS.iter().map(|kind| {
            let (name, about) = (kind.rpc().to_owned(), kind.about());
            let rpc = Rpc { name, about, target: RpcTarget::Watch(*kind) };
            (rpc, kind.request_fields(), kind.event_fields())
        });
        let (mut rpcs, mut messages) = (Vec::new(), Vec::new());
        for (rpc, request, response) in calls.chain(watches) {
            messages.push(numbered(rpc.request(), request, given));
            messages.push(numbered(rpc.response(), response, given));
            rpcs.push(rpc);
        }
        Self { rpcs, messages }
    }
}

impl Rpc {
    /// Returns the name of the message that it takes.
    pub fn request(&self) -> String {
        format!("{}Request", self.name)
    }

    /// Returns the name of the message that it returns.
    pub fn response(&self) -> String {
        format!("{}Response", self.name)
    }
}

/// Reads the numbers of a file that `proto_text` wrote, also those that are reserved.
pub fn field_numbers(proto: &str) -> FieldNumbers {
    let mut given = FieldNumbers::new();
    let mut message = String::new();
    for line in proto.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("message ") {
            message = name.trim_end_matches([' ', '{', '}']).to_owned();
        }
        let found = match line.strip_prefix("reserved ") {
            // `reserved 3; reserved "name";`
            Some(rest) => rest.split_once("; reserved ").map(|(number, name)| (name, number)),
            None if line.starts_with("//") => None,
            None => line.split_once(" = ").and_then(|(field, number)| {
                Some((field.rsplit(' ').next()?, number.trim_end_matches(';')))
            }),
        };
        let Some((name, number)) = found else { continue };
        let Ok(number) = number.parse() else { continue };
        let name = name.trim_matches(['"', ';']).to_owned();
        given.entry(message.clone()).or_default().insert(name, number);
    }
    given
}

/// Gives each field its number: the one it has, or the next one that no field ever had.
fn numbered(name: String, fields: Vec<UnnumberedField>, given: &FieldNumbers) -> RpcMessage {
    let none = BTreeMap::new();
    let given = given.get(&name).unwrap_or(&none);
    let mut last = given.values().copied().max().unwrap_or(0);
    let is_retired = |field: &&String| !fields.iter().any(|(name, ..)| name == *field);
    let retired = given.keys().filter(is_retired);
    let mut retired: Vec<(u32, String)> =
        retired.filter_map(|field| Some((*given.get(field)?, field.clone()))).collect();
    retired.sort();
    let mut fields: Vec<RpcField> = fields
        .into_iter()
        .map(|(name, field_type, about)| {
            let number = given.get(&name).copied().unwrap_or_else(|| {
                last += 1;
                last
            });
            RpcField { number, name, field_type, about }
        })
        .collect();
    fields.sort_by_key(|field| field.number);
    RpcMessage { name, fields, retired }
}

fn request_fields(verb: &Verb) -> Vec<UnnumberedField> {
    let parameters = (verb.parameters)();
    let offered = parameters.iter().filter(|one| one.is_offered(Face::Http));
    let mut fields: Vec<UnnumberedField> = offered
        .map(|one| {
            let in_path = verb.in_path.is_some_and(|(_, field)| field == one.name);
            (one.name.to_owned(), field_type(&one.values), about(one, in_path))
        })
        .collect();
    if verb.takes_more {
        let about = "Further fields of an event, as SPEC.md lists them";
        fields.push(unnumbered_field(MORE, FieldType::Object, about));
    }
    fields
}

/// The fields of each answer.
fn answer_fields() -> Vec<UnnumberedField> {
    vec![
        unnumbered_field("text", FieldType::Text, "What agents read"),
        unnumbered_field("json", FieldType::Object, "The same for programs, as over REST"),
    ]
}

fn field_type(values: &ParameterValues) -> FieldType {
    match values {
        ParameterValues::Text
        | ParameterValues::Time
        | ParameterValues::Sequence
        | ParameterValues::Word(_) => FieldType::Text,
        ParameterValues::List => FieldType::Texts,
        ParameterValues::Whole(_) => FieldType::Whole,
        ParameterValues::Share => FieldType::Share,
        ParameterValues::Switch => FieldType::Switch,
    }
}

fn about(parameter: &Parameter, in_path: bool) -> String {
    let mut about = parameter.help();
    if let ParameterValues::Word(words) = &parameter.values
        && !words.is_empty()
    {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        about.push_str(&format!(" ({})", words.join(", ")));
    }
    if parameter.is_required || in_path {
        about.push_str(" [required]");
    }
    about.trim_start().to_owned()
}

/// `searchSessions` as `SearchSessions`.
fn camel_case(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
