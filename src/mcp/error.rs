use crate::app::AppError;

/// Why a tool could not do its work, for whoever called it.
#[derive(Debug)]
pub(super) enum ToolError {
    /// The arguments do not fit their schema.
    Arguments(String),
    /// The task failed.
    Task(AppError),
}

impl From<AppError> for ToolError {
    fn from(error: AppError) -> Self {
        Self::Task(error)
    }
}
