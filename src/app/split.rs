use super::{App, AppError, Progress};
use crate::model::RepoPath;
use crate::repair::{Estimate, Split, SplitInput, Task, split};
use crate::workspace::At;

/// Estimate a task, and split it when it is too large.
#[derive(Debug, Clone, Default)]
pub struct SplitRequest {
    /// The name that messages give the task.
    pub name: String,
    /// The task, as JSON or Markdown.
    pub task: Vec<u8>,
    /// Whether it is split whatever the estimate says.
    pub force: bool,
    /// Whether the estimate is the one that a timeout gives.
    pub after_timeout: bool,
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
    let task = read_task(&request.name, &request.task)?;
    let estimate = if request.after_timeout {
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
