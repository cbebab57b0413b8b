use std::ffi::OsStr;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// How a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people
    Text,
    /// For programs
    Json,
    /// For a comment or an agent
    Markdown,
    /// Workflow commands of GitHub Actions
    Github,
    /// For code scanning
    Sarif,
}

/// Some of the forms, as a flag takes them.
#[derive(Clone)]
pub(super) struct Forms(&'static [Form]);

/// What every document has.
pub(super) const PLAIN: Forms = Forms(&[Form::Text, Form::Json]);
/// What is also put into a comment.
pub(super) const COMMENT: Forms = Forms(&[Form::Text, Form::Json, Form::Markdown]);
/// What has places in files.
pub(super) const PLACES: Forms = Forms(&[Form::Text, Form::Json, Form::Github, Form::Sarif]);

impl TypedValueParser for Forms {
    type Value = Form;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Form, clap::Error> {
        let words = self.possible_values().into_iter().flatten();
        let word = PossibleValuesParser::new(words).parse_ref(command, arg, value)?;
        Ok(Form::from_str(&word, false).unwrap_or(Form::Text))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = self.0.iter().filter_map(Form::to_possible_value);
        Some(Box::new(words))
    }
}
