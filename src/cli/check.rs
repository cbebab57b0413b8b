use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::global::Global;
use super::patch_args::{PatchArgs, exit, say_interrupted};
use super::workspace::{At, Workspace};
use super::{CliError, Exit, Output};
use crate::model::PatchVerdict;
use crate::patch::{JudgeOptions, judge};

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
    say_interrupted(&workspace, &judged.verdict, output);
    let exit = exit(&judged.verdict);
    // The process ends here: to give the memory of a large patch back piece by piece takes time.
    std::mem::forget(judged);
    Ok(exit)
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
