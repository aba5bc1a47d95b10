//! The contract as protobuf describes it, for reading requests and for clients that ask (reflection). Not here: the text of
//! the file (`proto_text`).

use prost_reflect::{DescriptorError, DescriptorPool};
use prost_types::descriptor_proto::ReservedRange;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    MethodDescriptorProto, OneofDescriptorProto, ServiceDescriptorProto,
};

use crate::contract::{Contract, PACKAGE, Rpc, RpcField, RpcMessage, RpcTarget, SERVICE};
use crate::rpc_field::FieldType;

/// The name of the file, for those who import it.
const FILE: &str = "agent_knowledge/v1/memory.proto";

/// The file of JSON objects.
const STRUCT_FILE: &str = "google/protobuf/struct.proto";

/// Returns the descriptions of the contract: the pool, and the files that clients may ask for.
///
/// # Errors
/// Where the contract is none.
pub fn contract_descriptors(
    contract: &Contract,
) -> Result<(DescriptorPool, FileDescriptorSet), DescriptorError> {
    let mut pool = DescriptorPool::global();
    let file = file(contract);
    pool.add_file_descriptor_proto(file.clone())?;
    let structs = pool.get_file_by_name(STRUCT_FILE);
    let structs = structs.map(|structs| structs.file_descriptor_proto().clone());
    Ok((pool, FileDescriptorSet { file: structs.into_iter().chain([file]).collect() }))
}

fn file(contract: &Contract) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(FILE.to_owned()),
        package: Some(PACKAGE.to_owned()),
        dependency: vec![STRUCT_FILE.to_owned()],
        message_type: contract.messages.iter().map(message).collect(),
        service: vec![ServiceDescriptorProto {
            name: Some(SERVICE.to_owned()),
            method: contract.rpcs.iter().map(method).collect(),
            ..<_>::default()
        }],
        syntax: Some("proto3".to_owned()),
        ..<_>::default()
    }
}

fn method(rpc: &Rpc) -> MethodDescriptorProto {
    MethodDescriptorProto {
        name: Some(rpc.name.clone()),
        input_type: Some(format!(".{PACKAGE}.{}", rpc.request())),
        output_type: Some(format!(".{PACKAGE}.{}", rpc.response())),
        server_streaming: matches!(rpc.target, RpcTarget::Watch(_)).then_some(true),
        ..<_>::default()
    }
}

fn message(message: &RpcMessage) -> DescriptorProto {
    // An optional scalar stands, by the rules of proto3, in a group of its own.
    let optional: Vec<&RpcField> = message.fields.iter().filter(|one| is_optional(one)).collect();
    let group = |field: &RpcField| {
        let place = optional.iter().position(|one| one.number == field.number);
        place.and_then(|place| i32::try_from(place).ok())
    };
    DescriptorProto {
        name: Some(message.name.clone()),
        field: message.fields.iter().map(|one| field(one, group(one))).collect(),
        oneof_decl: optional
            .iter()
            .map(|one| OneofDescriptorProto {
                name: Some(format!("_{}", one.name)),
                ..<_>::default()
            })
            .collect(),
        reserved_range: message
            .retired
            .iter()
            .filter_map(|(number, _)| reserved(*number))
            .collect(),
        reserved_name: message.retired.iter().map(|(_, name)| name.clone()).collect(),
        ..<_>::default()
    }
}

/// A range ends before its end.
fn reserved(number: u32) -> Option<ReservedRange> {
    let number = i32::try_from(number).ok()?;
    Some(ReservedRange { start: Some(number), end: Some(number + 1) })
}

fn is_optional(field: &RpcField) -> bool {
    !matches!(field.field_type, FieldType::Texts | FieldType::Object)
}

fn field(field: &RpcField, group: Option<i32>) -> FieldDescriptorProto {
    let is_list = field.field_type == FieldType::Texts;
    let (field_type, type_name) = match field.field_type {
        FieldType::Text | FieldType::Texts => (Type::String, None),
        FieldType::Whole => (Type::Uint32, None),
        FieldType::Share => (Type::Double, None),
        FieldType::Switch => (Type::Bool, None),
        FieldType::Object => (Type::Message, Some(".google.protobuf.Struct".to_owned())),
    };
    FieldDescriptorProto {
        name: Some(field.name.clone()),
        number: i32::try_from(field.number).ok(),
        label: Some(if is_list { Label::Repeated } else { Label::Optional }.into()),
        r#type: Some(field_type.into()),
        type_name,
        oneof_index: group,
        proto3_optional: group.map(|_| true),
        ..<_>::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{COMMITTED, field_numbers};

    // S-GRPC-2
    #[test]
    fn what_was_given_up_is_reserved() {
        let mut given = field_numbers(COMMITTED);
        given.entry("SearchRequest".to_owned()).or_default().insert("colour".to_owned(), 99);
        let (pool, _) = contract_descriptors(&Contract::with_numbers(&given)).unwrap();
        let search = pool.get_message_by_name("agent_knowledge.v1.SearchRequest").unwrap();
        let reserved = search.reserved_ranges().map(|range| (range.start, range.end));
        assert_eq!(reserved.collect::<Vec<_>>(), [(99, 100)]);
        assert_eq!(search.reserved_names().collect::<Vec<_>>(), ["colour"]);
        assert!(search.get_field_by_name("query").unwrap().supports_presence());
    }
}
