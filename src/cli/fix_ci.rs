use std::path::PathBuf;

use super::global::Global;
use super::output::columns;
use super::values::{COMMENT, Form};
use super::{AppError, Exit, Output, open};
use crate::app::{FixCiRequest, fix_ci, to_json, write_file};
use crate::model::CiReport;
use crate::report::{ci_markdown, ci_review, diff_text, log_summary};

/// Say what failed in the jobs of a CI run, and mend it
///
/// Each log is a job, in the form of GitHub, GitLab or any other service; of a folder or an archive, as
/// GitHub gives it, all logs are read. The same failure is told once, with the jobs that show it and whose it is. With `--test` what
/// can be mended is tried here; without, the patch holds the imports that are certain. Nothing is
/// fetched, pushed or written into the worktree.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit fix-ci job.log                           what failed, once
  mendit fix-ci logs --base base-logs             and whether the base shows it too
  mendit fix-ci logs --test 'npm test' --out ci   and a patch that makes it pass

`mendit ci github` writes the workflow that does this for each failed run.

Exit codes: 0 nothing failed, or a patch is verified · 1 something failed · 2 a log cannot be read")]
pub(crate) struct Args {
    #[command(flatten)]
    request: FixCiRequest,
    /// Write comment.md, report.json and, when there is one, fix.patch here, and review.json: the same
    /// patch as suggestions that a click takes over
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_parser = COMMENT, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let report = fix_ci(&open(global, &args.request)?, &args.request, output)?;
    if let Some(folder) = &args.out {
        write_file(&folder.join("comment.md"), ci_markdown(&report))?;
        write_file(&folder.join("report.json"), to_json(&report)?)?;
        if let Some(patch) = &report.patch {
            write_file(&folder.join("fix.patch"), patch)?;
            let review = ci_review(&report.suggestions, report.verified);
            write_file(&folder.join("review.json"), to_json(&review)?)?;
        }
    }
    output.comment(args.format, &report, ci_markdown, text)?;
    Ok(report.exit())
}

fn text(report: &CiReport, color: bool) -> String {
    let mut text = String::new();
    for failure in &report.failures {
        let (jobs, cause) = (failure.jobs.join(", "), failure.cause.words());
        text.push_str(&format!("{} in {jobs} ({cause})\n", failure.summary.kind));
        text.push_str(&log_summary(&failure.summary, color, columns()));
    }
    if let Some(patch) = &report.patch {
        text.push_str(&diff_text(patch, color));
    }
    text.push_str(match (report.failures.is_empty(), report.verified) {
        (true, _) => "nothing failed\n",
        (_, Some(true)) => "the tests pass with the patch\n",
        (_, Some(false)) => "the tests still fail\n",
        (_, None) if report.passes_here => {
            "the command passes here: what the logs tell of does not fail in this worktree\n"
        }
        (_, None) if report.patch.is_some() => "the patch was not tried; `--test CMD` tries it\n",
        (_, None) => "",
    });
    if report.verified == Some(true) && !report.left.is_empty() {
        let left = report.left.join(", ");
        text.push_str(&format!("not shown to be mended: {left}\n"));
    }
    text
}
