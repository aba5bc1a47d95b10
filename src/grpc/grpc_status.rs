//! Errors as gRPC has them: a code, a message, and for wrong fields `google.rpc.BadRequest` in the details. Not here: which
//! errors there are (`requests::ApiError`).

use prost::Message;
use prost_types::Any;
use tonic::{Code, Status};

use guard::secrets::redacted;
use requests::ApiError;
use writer::exit::Exit;

/// The longest message, in bytes. It travels in a header, of which clients take some 8 kB, and may grow threefold there.
const MESSAGE_BYTES_MAX: usize = 1_000;

/// The longest details, in bytes.
const DETAILS_BYTES_MAX: usize = 2_000;

/// The name of [`BadRequest`] in [`Any`].
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Message)]
struct DetailedStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// `google.rpc.BadRequest`.
#[derive(Clone, PartialEq, Message)]
struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    field_violations: Vec<FieldViolation>,
}

/// `google.rpc.BadRequest.FieldViolation`.
#[derive(Clone, PartialEq, Message)]
struct FieldViolation {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    description: String,
}

/// Returns the status for an error. Secrets that a caller sent are not repeated.
pub fn status(error: &ApiError) -> Status {
    let code = match error {
        ApiError::Invalid(_) => Code::InvalidArgument,
        ApiError::NotFound(_) => Code::NotFound,
        ApiError::Failed { exit: Exit::Busy | Exit::Unavailable, .. } => Code::Unavailable,
        ApiError::Failed { .. } => Code::Internal,
    };
    let message = shortened(&redacted(&error.to_string()));
    let ApiError::Invalid(problems) = error else { return Status::new(code, message) };
    let mut wrong = BadRequest { field_violations: Vec::new() };
    for problem in problems.iter() {
        wrong.field_violations.push(FieldViolation {
            field: redacted(&problem.field).into(),
            description: redacted(&problem.message).into(),
        });
        if wrong.encoded_len() > DETAILS_BYTES_MAX {
            wrong.field_violations.pop();
            break;
        }
    }
    let details = vec![Any { type_url: BAD_REQUEST.to_owned(), value: wrong.encode_to_vec() }];
    let details = DetailedStatus { code: code.into(), message: message.clone(), details };
    Status::with_details(code, message, details.encode_to_vec().into())
}

/// Cuts a message to what a header can carry.
fn shortened(message: &str) -> String {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message.to_owned();
    }
    let char_starts = message.char_indices().map(|(place, _)| place);
    let end = char_starts.take_while(|place| *place <= MESSAGE_BYTES_MAX).last().unwrap_or(0);
    format!("{} …", message.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use event::Problems;

    use super::*;

    // S-GRPC-3
    #[test]
    fn wrong_fields_are_in_the_details() {
        let status = status(&ApiError::Invalid(Problems::one("limit", "must be 1 to 20")));
        assert_eq!(
            (status.code(), status.message()),
            (Code::InvalidArgument, "limit: must be 1 to 20")
        );
        let details = DetailedStatus::decode(status.details()).unwrap();
        let wrong = BadRequest::decode(details.details[0].value.as_slice()).unwrap();
        assert_eq!(wrong.field_violations[0].field, "limit");
        assert_eq!((details.code, details.details[0].type_url.as_str()), (3, BAD_REQUEST));
    }

    // S-GRPC-3
    #[test]
    fn a_status_fits_into_headers() {
        let mut problems = Problems::none();
        for number in 0..400 {
            problems.add(format!("field{number}"), "é".repeat(50));
        }
        let status = status(&ApiError::Invalid(problems));
        let size = 3 * status.message().len() + status.details().len() * 4 / 3;
        assert!(size < 8_000, "{size} bytes");
        assert!(status.message().ends_with(" …") && status.details().len() > 1_000);
    }
}
