//! The options of a command, made from the parameters of its request. clap parses them; the request checks their
//! values, so that every face refuses a number out of bounds in the same words. Not here: the requests
//! (`requests`).

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use event::Problems;
use requests::ApiRequest;
use requests::fields::is_absent;
use requests::parameter::{
    ArgumentShape, CommandForm, Parameter, ParameterValues, Presence, ToolForm,
};
use serde_json::{Map, Value};

use crate::args::output_format::OutputFormat;

/// A request that can also be asked of the past.
#[derive(Debug, Args)]
pub struct PastArguments<R: ApiRequest> {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<R>,
    /// Answer as of this point: a time, a day, an age, a commit, or a length of this repository's log in bytes
    #[arg(long, value_name = "TIME|COMMIT|OFFSET")]
    pub as_of: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The arguments of a request, as the command line gave them.
#[derive(Debug)]
pub struct Arguments<R> {
    given: Map<String, Value>,
    request: PhantomData<fn() -> R>,
}

impl<R: ApiRequest> Arguments<R> {
    /// Reads the request.
    ///
    /// # Errors
    /// Every problem, each with its field.
    pub fn read<T: From<R>>(&self) -> Result<T, Problems> {
        empty_options::<R>(&self.given).or(())?;
        R::from_command(self.given.clone()).map(T::from).map_err(|problems| spelled::<R>(&problems))
    }

    /// Returns a text that was given.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).and_then(Value::as_str)
    }

    /// Puts a text in the place of another.
    #[must_use]
    pub fn with(&self, name: &str, text: String) -> Self {
        let mut given = self.given.clone();
        given.insert(name.to_owned(), text.into());
        Self { given, request: PhantomData }
    }
}

impl<R: ApiRequest> Args for Arguments<R> {
    fn augment_args(command: Command) -> Command {
        let arguments = R::parameters().into_iter().filter_map(|parameter| argument(&parameter));
        command.args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<R: ApiRequest> FromArgMatches for Arguments<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = R::parameters().into_iter().filter_map(|parameter| {
            let value = value(&parameter, parameter.command.as_ref()?, matches)?;
            Some((parameter.name.to_owned(), value))
        });
        Ok(Self { given: given.collect(), request: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Finds filters without a value. A model that must name every field leaves values empty; on a command line it is a slip, such
/// as a variable of the shell that is not set.
fn empty_options<R: ApiRequest>(given: &Map<String, Value>) -> Problems {
    let mut problems = Problems::none();
    for parameter in R::parameters() {
        let is_filter = matches!(parameter.values, ParameterValues::List | ParameterValues::Time);
        let form = parameter.command.as_ref().map(|form| form.shape);
        let is_option = matches!(form, Some(ArgumentShape::Option(_)));
        let is_empty = match given.get(parameter.name) {
            Some(Value::Array(values)) => values.iter().any(is_absent),
            Some(value) => is_absent(value),
            None => false,
        };
        if let Some(field) = parameter.spelling().filter(|_| is_filter && is_option && is_empty) {
            problems.add(field, "is empty; give it a value, or leave it out");
        }
    }
    problems
}

/// Names the fields of problems as this command spells them: another command may spell the same field differently.
fn spelled<R: ApiRequest>(problems: &Problems) -> Problems {
    let parameters = R::parameters();
    let mut named = Problems::none();
    for problem in problems.iter() {
        let parameter = parameters.iter().find(|parameter| parameter.name == problem.field);
        let spelling = parameter.and_then(Parameter::spelling);
        let field = spelling.as_deref().unwrap_or(&problem.field);
        named.add(field, problem.message.as_str());
    }
    named
}

/// Describes a parameter to clap, where the command line offers it.
fn argument(parameter: &Parameter) -> Option<Arg> {
    let form = parameter.command.as_ref()?;
    let is_list = matches!(parameter.values, ParameterValues::List);
    let argument = Arg::new(parameter.name).help(parameter.help());
    let argument = match form.shape {
        ArgumentShape::Switch(long, _) => argument.long(long).action(ArgAction::SetTrue),
        ArgumentShape::Option(long) => {
            let action = if is_list { ArgAction::Append } else { ArgAction::Set };
            argument
                .long(long)
                .aliases(other_names(long))
                .action(action)
                .value_name(form.value_name)
                .required(parameter.is_required)
        }
        ArgumentShape::Positional(presence) => {
            needed(argument.action(ArgAction::Set).value_name(form.value_name), presence)
        }
        ArgumentShape::Positionals(presence) => {
            let argument = argument.action(ArgAction::Append).num_args(1..);
            needed(argument.value_name(form.value_name), presence)
        }
    };
    let argument = argument.allow_hyphen_values(form.takes_hyphens);
    let argument = match form.conflicts_with {
        Some(other) => argument.conflicts_with(other),
        None => argument,
    };
    Some(match &parameter.values {
        // No other face offers these words, so clap may list and check them.
        ParameterValues::Word(words) if parameter.tool == ToolForm::Refused => {
            // With what each means, clap would put every option of the command on two lines.
            let values = words.iter().map(|(word, _)| PossibleValue::new(*word));
            argument.value_parser(PossibleValuesParser::new(values)).hide_possible_values(true)
        }
        _ => argument,
    })
}

/// The names that the options for writing have for the same field: they work here too, and the help does not show them.
fn other_names(long: &str) -> &'static [&'static str] {
    match long {
        "tag" => &["tags"],
        "kind" => &["type"],
        _ => &[],
    }
}

fn needed(argument: Arg, presence: Presence) -> Arg {
    match presence {
        Presence::Required => argument.required(true),
        Presence::RequiredUnless(other) => argument.required_unless_present(other),
        Presence::Optional => argument,
    }
}

/// Returns the value that the command line gave, if it gave one.
fn value(parameter: &Parameter, form: &CommandForm, matches: &ArgMatches) -> Option<Value> {
    let name = parameter.name;
    if let ArgumentShape::Switch(_, meant) = form.shape {
        return matches.get_flag(name).then(|| meant.into());
    }
    let texts: Vec<String> = matches.get_many::<String>(name)?.cloned().collect();
    match parameter.values {
        ParameterValues::List => Some(texts.into()),
        _ => Some(texts.join(" ").into()),
    }
}
