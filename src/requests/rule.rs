//! The rules that requests are made of: each reads one parameter and describes it to every face. A request names one
//! rule per field. Not here: reading a value itself (`fields`), the requests.

use std::ops::RangeInclusive;

use super::fields::{Fields, ListRule};
use super::parameter::{
    ArgumentShape, CommandForm, Parameter, ParameterDefault, ParameterValues, Presence, ToolForm,
};
use crate::TimePoint;
use event::limits::{ID_BYTES_MAX, SHORT_BYTES_MAX};
use event::{Relation, Strength, Verdict, quoted};
use guard::secrets::RedactedText;
use search::QuerySyntax;
use search::links::LinkDirection;

/// A closed set of words.
pub trait Choice: Copy + 'static {
    /// All of them, in the order help texts list them.
    fn all() -> Vec<Self>;
    /// The word.
    fn word(self) -> &'static str;
    /// Reads the word, in any case.
    fn of_word(text: &str) -> Option<Self>;
    /// What it means; empty where the word says enough.
    fn meaning(self) -> &'static str {
        ""
    }
}

/// Makes a [`Choice`] of a type that has `ALL`, `as_str` and `parse`.
macro_rules! words {
    ($($type:ty),+) => {$(
        impl $crate::rule::Choice for $type {
            fn all() -> Vec<Self> {
                Self::ALL.to_vec()
            }
            fn word(self) -> &'static str {
                self.as_str()
            }
            fn of_word(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        }
    )+};
}
pub(super) use words;
words!(Verdict, Relation, LinkDirection);

type Read<T> = Box<dyn Fn(&[Parameter], &mut Fields) -> T>;

/// How one field of a request is read, and the parameters it is read from.
pub struct Rule<T> {
    parameters: Vec<Parameter>,
    read: Read<T>,
}

/// A text of at most this many bytes.
pub fn text(bytes_max: usize) -> Rule<Option<String>> {
    Rule::of_parameter(ParameterValues::Text, move |name, fields| fields.text(name, bytes_max))
}

/// A text to search for; a longer one is cut to what is telling.
pub fn query(bytes_max: usize) -> Rule<Option<RedactedText>> {
    Rule::of_parameter(ParameterValues::Text, move |name, fields| fields.query(name, bytes_max))
}

/// How the words of a text to search for are read. It comes before that text, which is taken and may be cut.
pub fn query_syntax(of_query: &'static str) -> Rule<QuerySyntax> {
    Rule { parameters: Vec::new(), read: Box::new(move |_, fields| fields.syntax(of_query)) }
}

/// A list of short texts.
pub fn list(rule: ListRule) -> Rule<Vec<String>> {
    Rule::of_parameter(ParameterValues::List, move |name, fields| fields.list(name, &rule))
}

/// A whole number.
pub fn whole(allowed: RangeInclusive<usize>) -> Rule<Option<usize>> {
    let values = ParameterValues::Whole(allowed.clone());
    Rule::of_parameter(values, move |name, fields| fields.number(name, allowed.clone()))
}

/// A number from 0 to 1.
pub fn share() -> Rule<Option<Strength>> {
    Rule::of_parameter(ParameterValues::Share, |name, fields| fields.share(name))
}

/// A time, a day or an age.
pub fn time() -> Rule<Option<TimePoint>> {
    Rule::of_parameter(ParameterValues::Time, |name, fields| fields.point(name))
}

/// The place after an event. Whether there is such a place is checked later.
pub fn sequence() -> Rule<Option<String>> {
    Rule::of_parameter(ParameterValues::Sequence, |name, fields| fields.text(name, SHORT_BYTES_MAX))
}

/// True or false.
pub fn switch() -> Rule<Option<bool>> {
    Rule::of_parameter(ParameterValues::Switch, |name, fields| fields.flag(name))
}

/// One of a closed set of words.
pub fn choice<T: Choice>() -> Rule<Option<T>> {
    let all = T::all().into_iter();
    let values = ParameterValues::Word(all.map(|word| (word.word(), word.meaning())).collect());
    Rule::of_parameter(values, |name, fields| {
        let word = fields.text(name, ID_BYTES_MAX)?;
        let chosen = T::of_word(&word);
        if chosen.is_none() {
            let known = known_words::<T>();
            fields.report_missing(name, &format!("must be one of {known}; got {}", quoted(&word)));
        }
        chosen
    })
}

fn known_words<T: Choice>() -> String {
    T::all().into_iter().map(T::word).collect::<Vec<_>>().join(", ")
}

/// A field that no face offers: only the program sets it.
pub fn internal<T: Default + 'static>() -> Rule<T> {
    Rule { parameters: Vec::new(), read: Box::new(|_, _| T::default()) }
}

/// A field that is read from two parameters, each with a name of its own.
pub fn both<A: 'static, B: 'static, T: 'static>(
    first: Rule<A>,
    second: Rule<B>,
    join: fn(A, B, &mut Fields) -> T,
) -> Rule<T> {
    let parameters = first.parameters.iter().chain(&second.parameters).cloned().collect();
    let read = move |_: &[Parameter], fields: &mut Fields| {
        let one = (first.read)(&first.parameters, fields);
        let other = (second.read)(&second.parameters, fields);
        join(one, other, fields)
    };
    Rule { parameters, read: Box::new(read) }
}

impl<T: 'static> Rule<T> {
    fn of_parameter(
        values: ParameterValues,
        read: impl Fn(&str, &mut Fields) -> T + 'static,
    ) -> Self {
        let parameter = Parameter {
            name: "",
            aliases: &[],
            other_names: &[],
            text: "",
            values,
            default: None,
            is_required: false,
            tool: ToolForm::Described,
            command: None,
        };
        let read = move |parameters: &[Parameter], fields: &mut Fields| {
            read(parameters.first().map_or("", |parameter| parameter.name), fields)
        };
        Self { parameters: vec![parameter], read: Box::new(read) }
    }

    fn with(mut self, change: impl Fn(&mut Parameter)) -> Self {
        self.parameters.first_mut().into_iter().for_each(change);
        self
    }

    /// Sets the name and the text of the parameter, unless they were set before.
    pub(super) fn for_field(self, name: &'static str, text: &'static str) -> Self {
        self.with(|parameter| {
            if parameter.name.is_empty() {
                parameter.name = name;
            }
            if parameter.text.is_empty() {
                parameter.text = text.trim_start();
            }
        })
    }

    pub(super) fn parameters(&self) -> Vec<Parameter> {
        self.parameters.clone()
    }

    pub(super) fn read(&self, fields: &mut Fields) -> T {
        (self.read)(&self.parameters, fields)
    }

    /// Gives the parameter another name than the field has.
    pub fn with_name(self, name: &'static str) -> Self {
        self.with(|parameter| parameter.name = name)
    }

    /// Lists names that models and people use for it by mistake; a message about one names the parameter.
    pub fn with_aliases(self, aliases: &'static [&'static str]) -> Self {
        self.with(|parameter| parameter.aliases = aliases)
    }

    /// Lists names under which a tool takes it too.
    pub fn known_as(self, names: &'static [&'static str]) -> Self {
        self.with(|parameter| parameter.other_names = names)
    }

    /// Says what the parameter is, where it is not the only one of its field.
    pub fn with_text(self, text: &'static str) -> Self {
        self.with(|parameter| parameter.text = text)
    }

    /// Turns what was read into something else.
    pub fn map<U: 'static>(self, turn: fn(T) -> U) -> Rule<U> {
        let read = self.read;
        let read =
            move |parameters: &[Parameter], fields: &mut Fields| turn(read(parameters, fields));
        Rule { parameters: self.parameters, read: Box::new(read) }
    }

    /// Has the schema of a tool describe it in these words, or in none.
    pub fn for_tools(self, text: &'static str) -> Self {
        self.with(|parameter| parameter.tool = ToolForm::DescribedAs(text))
    }

    /// Keeps it out of the schema of a tool, which understands it all the same.
    pub fn unlisted(self) -> Self {
        self.with(|parameter| parameter.tool = ToolForm::Unlisted)
    }

    /// Offers it on the command line alone.
    pub fn only_on_command_line(self) -> Self {
        self.with(|parameter| parameter.tool = ToolForm::Refused)
    }

    /// Describes in help texts which value stands in, where it depends.
    pub fn described_default(self, words: &'static str) -> Self {
        self.with(|parameter| parameter.default = Some(ParameterDefault::Described(words)))
    }

    fn with_default(self, value: &str) -> Self {
        self.with(|parameter| parameter.default = Some(ParameterDefault::Value(value.to_owned())))
    }

    /// On the command line, `--long VALUE`. A number or a time may begin with a hyphen, so that a wrong one is told
    /// as one.
    pub fn option(self, long: &'static str, value_name: &'static str) -> Self {
        self.on_command_line(ArgumentShape::Option(long), value_name)
    }

    /// On the command line, `--long` is short for `value`.
    pub fn flag(self, long: &'static str, value: bool) -> Self {
        self.on_command_line(ArgumentShape::Switch(long, value), "")
    }

    /// On the command line, a value by its place.
    pub fn positional(self, value_name: &'static str, presence: Presence) -> Self {
        self.on_command_line(ArgumentShape::Positional(presence), value_name)
    }

    /// On the command line, at least one value by its place; of a text, its words.
    pub fn positionals(self, value_name: &'static str) -> Self {
        self.on_command_line(ArgumentShape::Positionals(Presence::Required), value_name)
    }

    fn on_command_line(self, shape: ArgumentShape, value_name: &'static str) -> Self {
        self.with(|parameter| {
            let is_free = matches!(
                parameter.values,
                ParameterValues::Whole(_) | ParameterValues::Share | ParameterValues::Time
            );
            parameter.command = Some(CommandForm {
                shape,
                value_name,
                conflicts_with: None,
                takes_hyphens: is_free && matches!(shape, ArgumentShape::Option(_)),
            });
        })
    }

    /// On the command line, refuses to stand beside another argument.
    pub fn conflicts_with(self, other: &'static str) -> Self {
        self.with_command(|command| command.conflicts_with = Some(other))
    }

    /// On the command line, takes any value, also one that begins with a hyphen.
    pub fn any_value(self) -> Self {
        self.with_command(|command| command.takes_hyphens = true)
    }

    fn with_command(self, change: impl Fn(&mut CommandForm)) -> Self {
        self.with(|parameter| parameter.command.iter_mut().for_each(&change))
    }
}

impl<T: 'static> Rule<Option<T>> {
    /// Refuses a call without it, saying `message`; what is read then is refused with the call.
    pub fn required_or(self, message: &'static str, stand_in: fn() -> T) -> Rule<T> {
        self.required_with(None, message, stand_in)
    }

    fn required_with(
        self,
        unless: Option<&'static str>,
        message: &'static str,
        stand_in: fn() -> T,
    ) -> Rule<T> {
        let this = self.with(|parameter| parameter.is_required = unless.is_none());
        let read = this.read;
        let read = move |parameters: &[Parameter], fields: &mut Fields| {
            let name = parameters.first().map_or("", |parameter| parameter.name);
            let is_excused = unless.is_some_and(|other| fields.has(other));
            let found = read(parameters, fields);
            if found.is_none() && !is_excused {
                fields.report_missing(name, message);
            }
            found.unwrap_or_else(stand_in)
        };
        Rule { parameters: this.parameters, read: Box::new(read) }
    }
}

impl<T: Choice> Rule<Option<T>> {
    /// Takes `default` where nothing is given.
    pub fn or_word(self, default: T) -> Rule<T> {
        let this = self.with_default(default.word());
        let read = this.read;
        let read = move |parameters: &[Parameter], fields: &mut Fields| {
            read(parameters, fields).unwrap_or(default)
        };
        Rule { parameters: this.parameters, read: Box::new(read) }
    }
}

impl Rule<Option<usize>> {
    /// Takes `default` where nothing is given.
    pub fn or(self, default: usize) -> Rule<usize> {
        let this = self.with_default(&default.to_string());
        let read = this.read;
        let read = move |parameters: &[Parameter], fields: &mut Fields| {
            read(parameters, fields).unwrap_or(default)
        };
        Rule { parameters: this.parameters, read: Box::new(read) }
    }
}

/// What an empty text of a call is read as.
pub trait CallText: Default + 'static {}
impl CallText for String {}
impl CallText for RedactedText {}

impl<T: CallText> Rule<Option<T>> {
    /// Refuses a call without it, saying `message`.
    pub fn required(self, message: &'static str) -> Rule<T> {
        self.required_or(message, T::default)
    }

    /// Refuses a call that has neither it nor `other`, saying `message`.
    pub fn required_unless(self, other: &'static str, message: &'static str) -> Rule<T> {
        self.required_with(Some(other), message, T::default)
    }
}

impl Rule<Vec<String>> {
    /// Refuses a call without an entry, saying `message`.
    pub fn at_least_one(self, message: &'static str) -> Self {
        let this = self.with(|parameter| parameter.is_required = true);
        let read = this.read;
        let read = move |parameters: &[Parameter], fields: &mut Fields| {
            let found = read(parameters, fields);
            if let (true, Some(parameter)) = (found.is_empty(), parameters.first()) {
                fields.report_missing(parameter.name, message);
            }
            found
        };
        Self { parameters: this.parameters, read: Box::new(read) }
    }
}
