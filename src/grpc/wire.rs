//! Messages on the wire: a request is read by its description into the arguments that REST has too, and every answer is the
//! one message of text and JSON. So no message has code of its own. Not here: descriptions (`descriptors`), errors
//! (`grpc_status`).

use std::collections::BTreeMap;
use std::marker::PhantomData;

use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage, Value as WireValue};
use prost_types::value::Kind;
use prost_types::{ListValue, Struct};
use serde_json::{Map, Number, Value};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::rpc_field::MORE;

/// The largest whole number that a JSON object of protobuf keeps exactly.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The answer to any call.
#[derive(Clone, PartialEq, Message)]
pub struct RpcAnswer {
    /// What agents read.
    #[prost(string, tag = "1")]
    pub text: String,
    /// The same for programs.
    #[prost(message, optional, tag = "2")]
    pub json: Option<Struct>,
}

/// Reads requests of one description, and writes answers of one type.
pub struct WireCodec<A> {
    request: MessageDescriptor,
    answer: PhantomData<A>,
}

impl<A> WireCodec<A> {
    pub fn new(request: MessageDescriptor) -> Self {
        Self { request, answer: PhantomData }
    }
}

/// Reads requests.
pub struct RequestDecoder(MessageDescriptor);

/// Writes answers.
pub struct AnswerEncoder<A>(PhantomData<A>);

impl<A: Message + 'static> Codec for WireCodec<A> {
    type Encode = A;
    type Decode = DynamicMessage;
    type Encoder = AnswerEncoder<A>;
    type Decoder = RequestDecoder;

    fn encoder(&mut self) -> Self::Encoder {
        AnswerEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        RequestDecoder(self.request.clone())
    }
}

impl<A: Message> Encoder for AnswerEncoder<A> {
    type Item = A;
    type Error = Status;

    fn encode(&mut self, item: A, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(to).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for RequestDecoder {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        let read = DynamicMessage::decode(self.0.clone(), from);
        let unreadable = |error| {
            Status::invalid_argument(format!("the message is no {}: {error}", self.0.name()))
        };
        read.map(Some).map_err(unreadable)
    }
}

/// Returns the arguments of a request: the fields that it has.
///
/// # Errors
/// A field that this build does not know: to leave out a filter would answer another question.
pub fn arguments(message: &DynamicMessage) -> Result<Map<String, Value>, Status> {
    if let Some(unknown) = message.unknown_fields().next() {
        let (name, number) = (message.descriptor().name().to_owned(), unknown.number());
        let detail =
            format!("{name} has no field {number} in version {}", env!("CARGO_PKG_VERSION"));
        return Err(Status::invalid_argument(detail));
    }
    let mut given = Map::new();
    for (field, value) in message.fields() {
        let value = match value {
            WireValue::String(text) => Value::from(text.as_str()),
            WireValue::Bool(is_on) => Value::from(*is_on),
            WireValue::U32(number) => Value::from(*number),
            WireValue::F64(number) => Value::from(*number),
            WireValue::List(texts) => texts.iter().filter_map(WireValue::as_str).collect(),
            WireValue::Message(object) => {
                let object = object.transcode_to::<Struct>();
                let object = object.map_err(|error| Status::invalid_argument(error.to_string()))?;
                further(&mut given, object)?;
                continue;
            }
            // No field has another type.
            _ => continue,
        };
        given.insert(field.name().to_owned(), value);
    }
    Ok(given)
}

/// Adds the further fields of an event.
fn further(given: &mut Map<String, Value>, object: Struct) -> Result<(), Status> {
    for (name, value) in object.fields {
        if given.insert(name.clone(), of_kind(value.kind)).is_some() {
            let detail = format!("{MORE}: {name} has a field of its own; use that");
            return Err(Status::invalid_argument(detail));
        }
    }
    Ok(())
}

fn of_kind(kind: Option<Kind>) -> Value {
    match kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(is_on)) => is_on.into(),
        Some(Kind::NumberValue(number)) => of_number(number),
        Some(Kind::StringValue(text)) => text.into(),
        Some(Kind::ListValue(list)) => {
            list.values.into_iter().map(|one| of_kind(one.kind)).collect()
        }
        Some(Kind::StructValue(object)) => {
            object.fields.into_iter().map(|(name, value)| (name, of_kind(value.kind))).collect()
        }
    }
}

/// A whole number stays one: protobuf's JSON knows only fractions.
fn of_number(number: f64) -> Value {
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT_MAX;
    let whole = is_whole.then(|| format!("{number:.0}").parse::<i64>().ok()).flatten();
    whole.map_or_else(|| Number::from_f64(number).map_or(Value::Null, Value::Number), Value::from)
}

/// Returns a JSON object as protobuf has it. Anything else is none.
pub fn object(json: Value) -> Option<Struct> {
    match to_kind(json) {
        Kind::StructValue(object) => Some(object),
        _ => None,
    }
}

fn to_kind(json: Value) -> Kind {
    let value = |one: Value| prost_types::Value { kind: Some(to_kind(one)) };
    match json {
        Value::Null => Kind::NullValue(0),
        Value::Bool(is_on) => Kind::BoolValue(is_on),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text),
        Value::Array(list) => {
            Kind::ListValue(ListValue { values: list.into_iter().map(value).collect() })
        }
        Value::Object(object) => {
            let fields: BTreeMap<_, _> =
                object.into_iter().map(|(name, one)| (name, value(one))).collect();
            Kind::StructValue(Struct { fields })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // S-GRPC-1
    #[test]
    fn json_survives_the_wire() {
        let json = json!({ "text": "é\n", "list": [1, -2, 0.5, null, true, []],
            "deep": { "whole": 9_007_199_254_740_991_i64 }, "none": {} });
        let bytes = object(json.clone()).unwrap().encode_to_vec();
        let read = Struct::decode(bytes.as_slice()).unwrap();
        assert_eq!(of_kind(Some(Kind::StructValue(read))), json);
        assert_eq!(object(json!([1])), None);
    }
}
