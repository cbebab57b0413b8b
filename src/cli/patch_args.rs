use std::path::PathBuf;

use super::values::{Form, PLACES};
use super::{AppError, Output};
use crate::app::{Against, Input, Judged, PatchRequest, write_file};
use crate::report::{patch_github, patch_sarif, patch_text};

/// What `check` and `apply` share.
#[derive(Debug, clap::Args)]
pub(crate) struct PatchArgs {
    /// The patch, in any accepted format; `-` reads standard input
    #[arg(value_name = "PATCH")]
    pub(crate) patch: Option<Input>,
    #[command(flatten)]
    pub(crate) request: PatchRequest,
    /// Validate against a commit instead of the worktree
    #[arg(long, value_name = "REV", conflicts_with = "index")]
    pub(crate) rev: Option<String>,
    /// Validate against the index, which the worktree must agree with
    #[arg(long)]
    pub(crate) index: bool,
    /// Write the same change as a git patch with true line numbers and blob ids
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print the verdict
    #[arg(long, value_parser = PLACES, default_value = "text")]
    pub(crate) format: Form,
}

impl PatchArgs {
    /// Returns the patch and how to validate it.
    pub(crate) fn request(&self) -> Result<PatchRequest, AppError> {
        Ok(PatchRequest {
            patch: self.read()?,
            against: match &self.rev {
                Some(revision) => Against::Revision(revision.clone()),
                None if self.index => Against::Index,
                None => Against::Worktree,
            },
            ..self.request.clone()
        })
    }

    fn read(&self) -> Result<Vec<u8>, AppError> {
        let standard = Input::standard();
        self.patch.as_ref().unwrap_or(&standard).bytes()
    }

    /// Prints the verdict and writes `--output`.
    pub(crate) fn report(
        &self,
        input: &[u8],
        judged: &mut Judged,
        output: &Output,
    ) -> Result<(), AppError> {
        let name = match self.patch.as_ref().map(Input::name) {
            None | Some("-") => "<stdin>",
            Some(name) => name,
        };
        if judged.verdict.verdict.applies() {
            if let Some(file) = &self.output {
                write_file(file, judged.canonical_patch())?;
            }
            if self.format == Form::Json {
                judged.verdict.canonical_patch = String::from_utf8(judged.canonical_patch()).ok();
            }
        }
        let verdict = &judged.verdict;
        match self.format {
            Form::Json => output.json(verdict),
            Form::Sarif => output.json(&patch_sarif(verdict, name)),
            Form::Github => output.text(&patch_github(verdict, name)),
            _ => output.painted(|colors| patch_text(verdict, name, input, colors)),
        }
    }
}
