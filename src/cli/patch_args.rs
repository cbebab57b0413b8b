use std::path::PathBuf;

use super::input::whole;
use super::values::Flag as _;
use super::{AppError, Output};
use crate::app::settings::Settings;
use crate::app::{Judged, PatchRequest, write_file};
use crate::model::TestChanges;
use crate::report::{patch_github, patch_sarif, patch_text};

/// What `check` and `apply` share.
#[derive(Debug, clap::Args)]
pub(crate) struct PatchArgs {
    /// The patch, in any accepted format; `-` reads standard input
    #[arg(value_name = "PATCH")]
    pub(crate) patch: Option<String>,
    /// Mend nothing [setting: patch.strict]
    #[arg(long)]
    pub(crate) strict: bool,
    /// Strip N leading components from names, instead of finding out
    #[arg(short = 'p', value_name = "N")]
    pub(crate) strip: Option<usize>,
    /// Put DIR before every path of the patch
    #[arg(id = "below", long = "directory", value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// Let the patch change protected files that match; can be given again
    /// [setting: patch.allow-protected]
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow_protected: Vec<String>,
    /// Refuse a patch after which a file no longer parses or a new import leads nowhere
    /// [setting: patch.strict-after]
    #[arg(long)]
    pub(crate) strict_after: bool,
    /// What becomes of assertions that change beside the product [default: told] [setting: patch.tests]
    #[arg(long, value_enum, value_name = "WORD")]
    pub(crate) tests: Option<TestChanges>,
    /// Take the patch at its word: write placeholders, whole files without their rest and text that
    /// no longer parses as they are
    #[arg(long)]
    pub(crate) as_written: bool,
    /// Write the same change as a git patch with true line numbers and blob ids
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print the verdict
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Github,
    Sarif,
}

impl PatchArgs {
    /// The patch, and how it is to be judged.
    pub(crate) fn request(&self) -> Result<PatchRequest, AppError> {
        Ok(PatchRequest {
            patch: self.read()?,
            strip: self.strip,
            as_written: self.as_written,
            directory: self.directory.clone().unwrap_or_default(),
            ..PatchRequest::default()
        })
    }

    /// Puts these flags before what the settings say.
    pub(crate) fn merge(&self, settings: &mut Settings) {
        let patch = &mut settings.patch;
        patch.strict |= self.strict;
        patch.strict_after |= self.strict_after;
        self.tests.over(&mut patch.tests);
        patch
            .allow_protected
            .extend_from_slice(&self.allow_protected);
    }

    fn read(&self) -> Result<Vec<u8>, AppError> {
        let name = self.patch.as_deref().unwrap_or("-");
        whole(name).map_err(|error| AppError::unreadable(name, &error))
    }

    /// Prints the verdict and writes `--output`.
    pub(crate) fn report(
        &self,
        input: &[u8],
        judged: &mut Judged,
        output: &Output,
    ) -> Result<(), AppError> {
        let name = match self.patch.as_deref() {
            None | Some("-") => "<stdin>",
            Some(name) => name,
        };
        if judged.verdict.verdict.applies() {
            if let Some(file) = &self.output {
                write_file(file, judged.canonical_patch())?;
            }
            if self.format == Format::Json {
                judged.verdict.canonical_patch = String::from_utf8(judged.canonical_patch()).ok();
            }
        }
        let verdict = &judged.verdict;
        match self.format {
            Format::Json => output.json(verdict),
            Format::Sarif => output.json(&patch_sarif(verdict, name)),
            Format::Github => output.text(&patch_github(verdict, name)),
            Format::Text => output.painted(|colors| patch_text(verdict, name, input, colors)),
        }
    }
}
