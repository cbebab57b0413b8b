use std::io::Read;
use std::path::PathBuf;

use super::output::write_file;
use super::workspace::Workspace;
use super::{CliError, Exit, Output};
use crate::git::ObjectStore;
use crate::model::PatchVerdict;
use crate::patch::{JudgeOptions, Judged, Objects, WriteError, is_interrupted};
use crate::policy::Allowed;
use crate::report::{patch_github, patch_sarif, patch_text};

/// What `check` and `apply` share.
#[derive(Debug, clap::Args)]
pub(crate) struct PatchArgs {
    /// The patch, in any accepted format; `-` reads standard input
    #[arg(value_name = "PATCH")]
    pub(crate) patch: Option<String>,
    /// Mend nothing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Strip N leading components from names, instead of finding out
    #[arg(short = 'p', value_name = "N")]
    pub(crate) strip: Option<usize>,
    /// Put DIR before every path of the patch
    #[arg(id = "below", long = "directory", value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// Let the patch change protected files that match; can be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow_protected: Vec<String>,
    /// Refuse a patch after which a file no longer parses or a new import leads nowhere
    #[arg(long)]
    pub(crate) strict_after: bool,
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
    pub(crate) fn read(&self) -> Result<Vec<u8>, CliError> {
        let name = self.patch.as_deref().unwrap_or("-");
        let mut bytes = Vec::new();
        let read = if name == "-" {
            std::io::stdin().lock().read_to_end(&mut bytes)
        } else {
            std::fs::File::open(name).and_then(|mut file| file.read_to_end(&mut bytes))
        };
        read.map_err(|error| CliError::unreadable(name, &error))?;
        Ok(bytes)
    }

    pub(crate) fn options<'a>(
        &'a self,
        objects: Option<&'a ObjectStore>,
    ) -> Result<JudgeOptions<'a>, CliError> {
        let allowed = Allowed::new(&self.allow_protected)
            .map_err(|error| CliError::usage(format!("--allow-protected: {error}")))?;
        Ok(JudgeOptions {
            strict: self.strict,
            after: true,
            strict_after: self.strict_after,
            as_written: self.as_written,
            strip: self.strip,
            directory: self.directory.as_deref().unwrap_or_default(),
            allowed,
            objects: objects.map(|objects| objects as &dyn Objects),
            ..JudgeOptions::default()
        })
    }

    /// Prints the verdict and writes `--output`.
    pub(crate) fn report(
        &self,
        input: &[u8],
        judged: &mut Judged,
        output: &Output,
    ) -> Result<(), CliError> {
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
            Format::Github => output.data(&patch_github(verdict, name)),
            Format::Text => output.data(&patch_text(verdict, name, input, output.colors_data())),
        }
    }
}

/// The exit code of a verdict.
pub(crate) fn exit(verdict: &PatchVerdict) -> Exit {
    verdict.exit()
}

/// Says that an earlier apply was interrupted, which may be why a patch does not apply.
pub(crate) fn say_interrupted(workspace: &Workspace, verdict: &PatchVerdict, output: &Output) {
    let git = workspace
        .git
        .as_ref()
        .map(|git| git.git_dir().join("mendit"));
    let state = git.or_else(|| Some(workspace.root.as_ref()?.join(".mendit")));
    if !verdict.verdict.applies() && state.is_some_and(|state| is_interrupted(&state)) {
        output.note(&WriteError::Interrupted.to_string());
    }
}
