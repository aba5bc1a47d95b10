//! How a request is defined: [`request!`] makes one entry per field into the struct, the parameters that the faces
//! offer, and the reading of a call. Not here: the rules that an entry is made of (`rule`).

use serde_json::{Map, Value};

use super::fields::Fields;
use super::parameter::{Face, Parameter};
use event::Problems;

/// A type that can be read from the arguments of a call.
pub trait ApiRequest: Sized {
    /// Its parameters, in the order in which faces list them.
    fn parameters() -> Vec<Parameter>;

    /// Takes it out of the arguments of a call, noting what is wrong.
    fn from_fields(fields: &mut Fields) -> Self;

    /// Reads the arguments of a tool or a prompt. What is empty or null counts as left out.
    ///
    /// # Errors
    /// Every problem, each with its field.
    fn from_tool(arguments: Map<String, Value>) -> Result<Self, Problems> {
        read(arguments, Face::Tool)
    }

    /// Reads the arguments of a command, named as its parameters are.
    ///
    /// # Errors
    /// Every problem, each with its field.
    fn from_command(arguments: Map<String, Value>) -> Result<Self, Problems> {
        read(arguments, Face::Command)
    }

    /// Reads the arguments of a request over HTTP, named as its parameters are.
    ///
    /// # Errors
    /// Every problem, each with its field.
    fn from_http(arguments: Map<String, Value>) -> Result<Self, Problems> {
        read(arguments, Face::Http)
    }
}

fn read<R: ApiRequest>(arguments: Map<String, Value>, face: Face) -> Result<R, Problems> {
    let parameters = R::parameters();
    let offered = || parameters.iter().filter(|parameter| parameter.is_offered(face));
    let known: Vec<&str> = offered().map(|parameter| parameter.name).collect();
    let aliases: Vec<(&str, &str)> =
        offered().flat_map(|one| one.aliases.iter().map(|alias| (*alias, one.name))).collect();
    let mut fields = Fields::new(&known, &aliases, arguments);
    let request = R::from_fields(&mut fields);
    fields.finish(request)
}

/// Defines a request. Each entry is the text that help and schemas show, the field with its type, and its rule. A
/// function after `checked by` looks at rules between fields.
macro_rules! request {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derived:ident),+)])?
        pub struct $name:ident {
            $( $(#[doc = $text:literal])+ $field:ident: $type:ty = $rule:expr; )+
        }
        $(checked by $check:path)?
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize $($(, $derived)+)?)]
        pub struct $name {
            $( $(#[doc = $text])+ pub $field: $type, )+
        }

        impl $crate::define::ApiRequest for $name {
            fn parameters() -> Vec<$crate::parameter::Parameter> {
                let mut parameters = Vec::new();
                $( parameters.extend(
                    $crate::rule::Rule::<$type>::for_field(
                        $rule, stringify!($field), concat!($($text),+),
                    ).parameters(),
                ); )+
                parameters
            }

            fn from_fields(fields: &mut $crate::fields::Fields) -> Self {
                let request = Self {
                    $( $field: $crate::rule::Rule::<$type>::for_field(
                        $rule, stringify!($field), "",
                    ).read(fields), )+
                };
                $( $check(&request, fields); )?
                request
            }
        }

        impl Default for $name {
            /// The request of a call without arguments.
            fn default() -> Self {
                <Self as $crate::define::ApiRequest>::from_fields(
                    &mut $crate::fields::Fields::new(&[], &[], serde_json::Map::new()),
                )
            }
        }
    };
}
pub(super) use request;
