use std::io::Read;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::args::Global;
use super::output::write_file;
use super::workspace::{At, Workspace};
use super::{CliError, Exit, Output};
use crate::git::ObjectStore;
use crate::model::{Code, PatchVerdict, Verdict};
use crate::patch::{JudgeOptions, Judged, Objects, judge};
use crate::policy::Allowed;
use crate::report::{patch_github, patch_sarif, patch_text};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) patch: PatchArgs,
    /// Judge against a commit instead of the worktree
    #[arg(long, value_name = "REV", conflicts_with = "index")]
    rev: Option<String>,
    /// Judge against the index, which the worktree must agree with
    #[arg(long)]
    index: bool,
    /// Read JSON lines `{"id", "patch"}` and write one verdict a line
    #[arg(long)]
    batch: bool,
}

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

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let at = match args.rev.as_deref() {
        Some(revision) => At::Revision(revision),
        None if args.index => At::Index,
        None => At::Worktree,
    };
    let workspace = Workspace::open_at(global, at, output)?;
    let objects = workspace.git.as_ref().map(crate::git::Repository::objects);
    let mut options = args.patch.options(objects.as_ref())?;
    if args.batch {
        // Thousands of patches are judged by their text; parsing each file twice is for who asks.
        options.after = args.patch.strict_after;
        return batch(&args.patch, &workspace, &options, output);
    }
    let input = args.patch.read()?;
    let mut judged = judge(&input, workspace.source.as_ref(), &options);
    args.patch.report(&input, &mut judged, output)?;
    let exit = exit(&judged.verdict);
    // The process ends here: to give the memory of a large patch back piece by piece takes time.
    std::mem::forget(judged);
    Ok(exit)
}

/// The exit code of a verdict.
pub(crate) fn exit(verdict: &PatchVerdict) -> Exit {
    match verdict.verdict {
        Verdict::Applies | Verdict::AppliesMended | Verdict::AlreadyApplied => Exit::Yes,
        Verdict::Unsafe | Verdict::Refused => Exit::Refused,
        Verdict::Malformed => match verdict.error_code.map(Code::as_str) {
            Some("P101" | "P102" | "P103" | "P106") => Exit::Environment,
            Some("P105") => Exit::Refused,
            _ => Exit::No,
        },
        _ => Exit::No,
    }
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

#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    id: serde_json::Value,
    patch: String,
}

#[derive(Serialize)]
struct Answer {
    id: serde_json::Value,
    #[serde(flatten)]
    verdict: PatchVerdict,
}

// Verdicts come in the order of the jobs, judged in parallel against one frozen source.
fn batch(
    args: &PatchArgs,
    workspace: &Workspace,
    options: &JudgeOptions<'_>,
    output: &Output,
) -> Result<Exit, CliError> {
    let input = args.read()?;
    let lines: Vec<&[u8]> = input
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect();
    let mut worst = Exit::Yes;
    for part in lines.chunks(256) {
        let answers: Vec<Result<(String, Exit), CliError>> = part
            .par_iter()
            .map(|line| {
                let job: Job = serde_json::from_slice(line).map_err(|error| {
                    CliError::usage(format!("--batch: a line is no job: {error}"))
                })?;
                let mut judged = judge(job.patch.as_bytes(), workspace.source.as_ref(), options);
                if judged.verdict.verdict.applies() {
                    judged.verdict.canonical_patch =
                        String::from_utf8(judged.canonical_patch()).ok();
                }
                let exit = exit(&judged.verdict);
                let answer = Answer {
                    id: job.id,
                    verdict: judged.verdict,
                };
                let mut text = serde_json::to_string(&answer).map_err(|error| {
                    CliError::environment(format!("cannot write JSON: {error}"))
                })?;
                text.push('\n');
                Ok((text, exit))
            })
            .collect();
        let mut text = String::new();
        for answer in answers {
            let (line, exit) = answer?;
            text.push_str(&line);
            if exit != Exit::Yes {
                worst = Exit::No;
            }
        }
        output.data(&text)?;
    }
    Ok(worst)
}
