use std::path::PathBuf;

use super::global::Global;
use super::input::read_task;
use super::values::TextOrJson;
use super::workspace::Workspace;
use super::{CliError, Exit, Output};
use crate::model::RepoPath;
use crate::repair::{Estimate, Split, SplitInput, split};

/// Estimate a task, and split it when it is too large.
///
/// A task is JSON (title, description, criteria, methods, targets, tests) or Markdown, where list
/// items are criteria and names in backticks are methods, files and tests.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task; `-` reads standard input
    #[arg(value_name = "TASK")]
    task: PathBuf,
    /// Split it whatever the estimate says
    #[arg(long)]
    force: bool,
    /// Why it is to be split: `timeout` takes the estimate that a timeout gives
    #[arg(long, value_enum)]
    reason: Option<Reason>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Reason {
    /// An agent ran out of time
    Timeout,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let task = read_task(&args.task)?;
    let estimate = match args.reason {
        Some(Reason::Timeout) => Estimate::after_timeout(),
        None => task.estimate(),
    };
    let workspace = Workspace::open(global, None, output)?;
    let wanted = args.force || estimate.needs_split;
    let plan = if wanted {
        let targets: Vec<RepoPath> = task
            .targets
            .iter()
            .filter_map(|it| RepoPath::new(it).ok())
            .filter(|path| workspace.source.listing().has_file(path.as_str()))
            .collect();
        let input = SplitInput {
            task: &task,
            tests: &[],
            targets: &targets,
            commands: &[],
        };
        split(&input, workspace.source.as_ref(), estimate)
    } else {
        Split {
            reason: "it is small enough to be done in one piece".to_owned(),
            estimate,
            parts: Vec::new(),
        }
    };
    match args.format {
        TextOrJson::Json => output.json(&plan)?,
        TextOrJson::Text => output.data(&text(&plan))?,
    }
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
