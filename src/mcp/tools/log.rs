use crate::app::{App, AppError, Log, Progress, last_log, read_log, readable_file};
use crate::mcp::error::ToolError;

/// The log that a call is about: its text, a file of the repository, or the last run.
pub(super) fn log(
    app: &App,
    text: Option<String>,
    file: Option<&str>,
    progress: &dyn Progress,
) -> Result<Option<Log>, ToolError> {
    match (text, file) {
        (Some(_), Some(_)) => Err(ToolError::Arguments(
            "give either `log` or `logFile`".to_owned(),
        )),
        (Some(text), None) => Ok(Some(Log::from(text))),
        (None, Some(file)) => {
            let bytes = readable_file(app, file, progress)?;
            let log = read_log(app, bytes.as_slice());
            Ok(Some(
                log.map_err(|error| AppError::unreadable(file, &error))?,
            ))
        }
        (None, None) => {
            let last = last_log(app)?;
            if let Some(last) = &last {
                progress.note(&format!("the log of {}", last.said));
            }
            Ok(last.map(|it| it.log))
        }
    }
}
