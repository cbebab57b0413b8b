use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::{App, AppError, Progress};
use crate::model::{Code, Profile};
use crate::policy::{Finding, RedactedBytes, Redactor, sanitize_log};
use crate::workspace::At;

/// The last line of what a command printed, as it may be shown.
#[must_use]
pub fn last_line(app: &App, printed: &[u8]) -> Option<String> {
    let text = sanitize_log(printed);
    let line = text.lines().map(str::trim).rfind(|it| !it.is_empty())?;
    Some(app.redactor().redact(line).text.into_owned())
}

/// Mask the secrets of a text.
#[derive(Debug, Clone, Default)]
pub struct RedactRequest {
    /// The text, as bytes in any encoding.
    pub text: Vec<u8>,
    /// The name of the file it is of: one that holds credentials by its name is masked whole.
    pub name: String,
    /// Whether the values of secret-named variables of this process are left alone.
    pub without_environment: bool,
}

/// Where a secret stood, never what it was.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FindingRow {
    /// The rule that found it.
    pub rule: String,
    /// 1-based.
    pub line: u32,
    /// First byte and the byte after the last, in the text as it came.
    pub range: [usize; 2],
}

impl FindingRow {
    /// A row for each finding.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Vec<Self> {
        let row = |finding: &Finding| Self {
            rule: finding.rule.to_string(),
            line: finding.line,
            range: [finding.start, finding.end],
        };
        findings.iter().map(row).collect()
    }
}

/// Masks the secrets of a text.
///
/// # Errors
/// Patterns in the settings that are malformed.
pub fn redact_text<'t>(
    app: &App,
    request: &'t RedactRequest,
    progress: &dyn Progress,
) -> Result<RedactedBytes<'t>, AppError> {
    let redactor = if request.without_environment {
        Cow::Owned(Redactor::default())
    } else {
        Cow::Borrowed(app.redactor())
    };
    let policy = app.read_policy(Profile::Ranked)?;
    if policy.is_credential_file(&request.name) {
        progress.note("the name says that the file holds credentials, so every line is masked");
        return Ok(redactor.mask_all(&request.text));
    }
    Ok(redactor.redact_bytes(&request.text))
}

/// The content of a file of the repository that a packet might hold.
///
/// # Errors
/// A file that is denied by policy, is no file of the repository, or cannot be read.
pub fn readable_file(app: &App, typed: &str, progress: &dyn Progress) -> Result<Vec<u8>, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let path = workspace.repo_path(typed).ok_or_else(|| {
        let said = format!("`{typed}` is outside the repository");
        AppError::new(Code::C311, said)
    })?;
    let policy = app.read_policy(Profile::Ranked)?;
    if let Some(refusal) = policy.refuse(&path) {
        let said = format!("`{path}` is not shown: {}", refusal.reason);
        return Err(AppError::new(refusal.code, said));
    }
    let bytes = workspace.source.read(&path);
    let bytes = bytes.map_err(|error| AppError::new(Code::U104, format!("`{typed}`: {error}")))?;
    Ok(bytes.to_vec())
}
