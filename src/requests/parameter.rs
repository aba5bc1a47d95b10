//! The description of one parameter for every face: its name, its text, the values it takes, and how the command
//! line spells it. This is data. Not here: reading values (`fields`), which parameters a request has (`search` and
//! its siblings).

use std::ops::RangeInclusive;

/// One parameter of a request.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name over MCP and in JSON.
    pub name: &'static str,
    /// Names that models and people use for it by mistake.
    pub aliases: &'static [&'static str],
    /// Names under which a tool takes it too, since they mean nothing else: the other number, or a word that people use for it.
    pub other_names: &'static [&'static str],
    /// Its description, for people and for models.
    pub text: &'static str,
    /// Which values it takes.
    pub values: ParameterValues,
    /// Its default.
    pub default: Option<ParameterDefault>,
    /// Whether a call must name it.
    pub is_required: bool,
    /// How tools offer it.
    pub tool: ToolForm,
    /// How the command line offers it, if it does.
    pub command: Option<CommandForm>,
}

/// The default of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterDefault {
    /// This value, always.
    Value(String),
    /// It depends; this describes it in help texts.
    Described(&'static str),
}

/// Which values a parameter takes.
#[derive(Debug, Clone)]
pub enum ParameterValues {
    /// A text.
    Text,
    /// A list of short texts.
    List,
    /// A whole number.
    Whole(RangeInclusive<usize>),
    /// A number from 0 to 1.
    Share,
    /// A time, a day or an age.
    Time,
    /// The place after an event, `GENERATION-OFFSET` (S-EVENT-1).
    Sequence,
    /// True or false.
    Switch,
    /// One of these words, each with what it means.
    Word(Vec<(&'static str, &'static str)>),
}

/// How tools offer a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolForm {
    /// In the schema, with its own text.
    Described,
    /// In the schema, with another text; with none where that is empty, since its name says enough.
    DescribedAs(&'static str),
    /// Understood and not in the schema: few calls need it, and every session pays for its words.
    Unlisted,
    /// Not at all.
    Refused,
}

/// How the command line offers a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandForm {
    /// Its form on the command line.
    pub shape: ArgumentShape,
    /// The placeholder of its value in help texts, such as `TEXT`.
    pub value_name: &'static str,
    /// Another argument that it cannot stand beside.
    pub conflicts_with: Option<&'static str>,
    /// Whether its value may begin with a hyphen.
    pub takes_hyphens: bool,
}

/// The form of an argument on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentShape {
    /// A value by its place.
    Positional(Presence),
    /// Any number of values by their place.
    Positionals(Presence),
    /// `--long VALUE`.
    Option(&'static str),
    /// `--long`, short for this value.
    Switch(&'static str, bool),
}

/// Whether an argument must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Always.
    Required,
    /// Unless this other argument is.
    RequiredUnless(&'static str),
    /// It may be left out.
    Optional,
}

/// The faces that read requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// A model calls a tool, or a client fills in a prompt.
    Tool,
    /// A person or a script uses the command line.
    Command,
    /// A program or a page sends HTTP: all that the other two offer.
    Http,
}

impl Parameter {
    /// Tells whether a face offers it.
    #[must_use]
    pub fn is_offered(&self, face: Face) -> bool {
        match face {
            Face::Tool => self.tool != ToolForm::Refused,
            Face::Command => self.command.is_some(),
            Face::Http => self.is_offered(Face::Tool) || self.is_offered(Face::Command),
        }
    }

    /// Returns the text that a tool's schema carries; `None` for no text.
    #[must_use]
    pub fn text_for_tools(&self) -> Option<&'static str> {
        let text = match self.tool {
            ToolForm::Described => self.text,
            ToolForm::DescribedAs(text) => text,
            ToolForm::Unlisted | ToolForm::Refused => "",
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Returns the help text: what it is, with its bounds and its default.
    #[must_use]
    pub fn help(&self) -> String {
        let mut help = self.text.to_owned();
        if let ParameterValues::Whole(allowed) = &self.values {
            help.push_str(&format!(", {} to {}", allowed.start(), allowed.end()));
        }
        match &self.default {
            Some(ParameterDefault::Value(value)) => help.push_str(&format!(" [default: {value}]")),
            Some(ParameterDefault::Described(words)) => {
                help.push_str(&format!(" [default: {words}]"));
            }
            None => {}
        }
        help
    }

    /// Returns how the command line spells it, as a message about it does.
    #[must_use]
    pub fn spelling(&self) -> Option<String> {
        let command = self.command.as_ref()?;
        Some(match command.shape {
            ArgumentShape::Option(long) | ArgumentShape::Switch(long, _) => format!("--{long}"),
            ArgumentShape::Positional(_) | ArgumentShape::Positionals(_) => {
                command.value_name.to_owned()
            }
        })
    }
}
