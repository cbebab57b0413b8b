use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{Split, SplitRequest, split_task};
use crate::model::RepoPath;

/// Estimate a task, and split it when it is too large.
///
/// A task is JSON (title, description, criteria, methods, targets, tests) or Markdown, where list
/// items are criteria and names in backticks are methods, files and tests.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    request: SplitRequest,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let plan = split_task(&open(global, &())?, &args.request, output)?;
    output.document(args.format, &plan, text)?;
    let wanted = args.request.force || plan.estimate.needs_split;
    Ok(if wanted && plan.parts.is_empty() {
        Exit::No
    } else {
        Exit::Yes
    })
}

fn text(plan: &Split) -> String {
    let mut text = format!(
        "estimate: {} turns ({})\n",
        plan.estimate.estimated_turns, plan.estimate.reasoning
    );
    if plan.parts.is_empty() && !plan.estimate.split_suggestions.is_empty() {
        let by = plan.estimate.split_suggestions.join("; ");
        text.push_str(&format!("it could be split {by}\n"));
    }
    if !plan.reason.is_empty() {
        text.push_str(&format!("not split: {}\n", plan.reason));
    }
    for part in &plan.parts {
        text.push_str(&format!("{}. {}\n", part.number, part.title));
        let targets: Vec<&str> = part.targets.iter().map(RepoPath::as_str).collect();
        if !targets.is_empty() {
            text.push_str(&format!("   files: {}\n", targets.join(", ")));
        }
        if !part.depends_on.is_empty() {
            let after: Vec<String> = part.depends_on.iter().map(ToString::to_string).collect();
            text.push_str(&format!("   after: {}\n", after.join(", ")));
        }
    }
    text
}
