//! Makes structs, and the rows that describe them, out of one table of settings. Not here: the table (`table`).

/// Makes a struct for each table of the configuration, a field for each row, and `GROUPS` with all rows in their order.
///
/// A row is `name: kind = default, "what is allowed", "an example", env VARIABLE, for replicas true, else "must be ...";` below its documentation.
/// The default is that of the type unless it is given. `env` names the variable that wins over the file, `for replicas true` a setting that replicas must have alike. `else` is what a message says
/// of a wrong value, where that is more than `must be` and what is allowed. Rows of `names` stand for all keys of a table whose names
/// people choose.
macro_rules! settings {
    ($(#[doc = $doc:literal])+ struct $General:ident; $(
        general { $($general:tt)* }
        $( $(#[doc = $table_doc:literal])+ table $table:literal $Struct:ident $(with { $($extra:tt)* })? { $($row:tt)* } )*
    )+ names { $(
        $(#[doc = $name_doc:literal])+
        $names:literal: $name_kind:ty, $name_allowed:literal, $name_example:literal, for projects $for_projects:literal, for replicas $for_replicas:literal;
    )+ }) => {
        settings!(@struct [$(#[doc = $doc])+] $General {} { $($($general)*)+ });
        $($( settings!(@struct [$(#[doc = $table_doc])+] $Struct { $($($extra)*)? } { $($row)* }); )*)+

        /// The rows, in the order in which people see them.
        const GROUPS: &[&[Setting]] = &[
            $( settings!(@rows [] { $($general)* }), $( settings!(@rows [$table] { $($row)* }), )* )+
            &[$(Setting {
                is_for_projects: $for_projects,
                is_for_replicas: $for_replicas,
                ..settings!(@row $names, [$($name_doc),+] $name_kind, $name_allowed, $name_example)
            }),+],
        ];
    };

    (@struct [$($doc:tt)+] $Struct:ident { $($(#[doc = $extra_doc:literal])+ $extra:ident: $extra_type:ty,)* } { $(
        $(#[doc = $row_doc:literal])+
        $field:ident: $kind:ty $(= $default:expr)?, $allowed:literal, $example:literal $(, env $variable:expr)? $(, for replicas $for_replicas:literal)? $(, else $wrong:literal)?;
    )* }) => {
        $($doc)+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Struct {
            $($(#[doc = $row_doc])+ pub $field: <$kind as ValueKind>::Value,)*
            $($(#[doc = $extra_doc])+ pub $extra: $extra_type,)*
        }

        impl Default for $Struct {
            fn default() -> Self {
                Self {
                    $($field: settings!(@or_default $($default)?),)*
                    $($extra: Default::default(),)*
                }
            }
        }

        impl SettingFields for $Struct {
            fn set(&mut self, name: &str, source: ValueSource<'_>) -> Option<Result<(), WrongValue>> {
                match name {
                    $(stringify!($field) => Some(<$kind as ValueKind>::read_source(source).map(|read| self.$field = read)),)*
                    _ => None,
                }
            }

            fn to_table(&self) -> toml::Table {
                let values = [$((stringify!($field), <$kind as ValueKind>::write(&self.$field)),)*];
                let set = values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
                set.collect()
            }
        }
    };

    (@rows $start:tt { $(
        $(#[doc = $doc:literal])+
        $field:ident: $kind:ty $(= $default:expr)?, $allowed:literal, $example:literal $(, env $variable:expr)? $(, for replicas $for_replicas:literal)? $(, else $wrong:literal)?;
    )* }) => {
        &[$(Setting {
            variable: settings!(@option $($variable)?),
            wrong: settings!(@option $($wrong)?),
            is_for_replicas: settings!(@or_false $($for_replicas)?),
            default: || {
                let value: <$kind as ValueKind>::Value = settings!(@or_default $($default)?);
                <$kind as ValueKind>::write(&value)
            },
            ..settings!(@row settings!(@key $start $field), [$($doc),+] $kind, $allowed, $example)
        }),*]
    };

    (@row $key:expr, [$($doc:literal),+] $kind:ty, $allowed:literal, $example:literal) => {
        Setting {
            key: $key,
            about: concat!($($doc),+).trim_ascii(),
            form: <$kind as ValueKind>::FORM,
            allowed: $allowed,
            example: $example,
            variable: None,
            wrong: None,
            default: || None,
            schema: <$kind as ValueKind>::schema,
            is_for_projects: false,
            is_for_replicas: false,
        }
    };

    (@key [] $name:ident) => { stringify!($name) };
    (@key [$table:literal] $name:ident) => { concat!($table, ".", stringify!($name)) };
    (@or_default) => { Default::default() };
    (@or_default $value:expr) => { $value };
    (@or_false) => { false };
    (@or_false $value:literal) => { $value };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
}

pub(crate) use settings;
