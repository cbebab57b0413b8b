use super::flags::{Args, FILE, ValueEnum};
use super::{App, AppError, Input, Progress};
use crate::model::RepoPath;
use crate::repair::{Estimate, Split, SplitInput, Task, split};
use crate::workspace::At;

/// Estimate a task, and split it when it is too large.
#[derive(Debug, Clone, Args)]
pub struct SplitRequest {
    /// The task; `-` reads standard input
    #[arg(value_name = "TASK", value_hint = FILE)]
    pub task: Input,
    /// Split it whatever the estimate says
    #[arg(long)]
    pub force: bool,
    /// Why it is to be split: `timeout` takes the estimate that a timeout gives
    #[arg(long, value_enum)]
    pub reason: Option<SplitReason>,
}

/// Why a task is to be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitReason {
    /// An agent ran out of time
    Timeout,
}

/// Estimates a task and splits it. A plan without parts says why it has none.
///
/// # Errors
/// A task without a word, or a repository that cannot be read.
pub fn split_task(
    app: &App,
    request: &SplitRequest,
    progress: &dyn Progress,
) -> Result<Split, AppError> {
    let task = read_task(request.task.name(), &request.task.read()?)?;
    let estimate = if request.reason.is_some() {
        Estimate::after_timeout()
    } else {
        task.estimate()
    };
    let workspace = app.workspace(At::Worktree, progress)?;
    if !request.force && !estimate.needs_split {
        return Ok(Split {
            reason: "it is small enough to be done in one piece".to_owned(),
            estimate,
            parts: Vec::new(),
        });
    }
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
    Ok(split(&input, workspace.source.as_ref(), estimate))
}

/// Reads a task; an empty one asks for nothing and is refused.
pub(super) fn read_task(name: &str, bytes: &[u8]) -> Result<Task, AppError> {
    if bytes.trim_ascii().is_empty() {
        return Err(AppError::usage(format!("the task in `{name}` is empty"))
            .hint("say what is wanted, as JSON or as Markdown"));
    }
    Ok(Task::read(&String::from_utf8_lossy(bytes)))
}
