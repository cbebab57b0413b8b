use schemars::JsonSchema;
use serde::Serialize;

use super::flags::{Args, ValueEnum};
use super::{App, AppError, Input, Progress};
use crate::model::{Code, Profile};
use crate::policy::{Finding, Redactor, sanitize_log};
use crate::workspace::At;

/// The last line of what a command printed, as it may be shown.
#[must_use]
pub fn last_line(app: &App, printed: &[u8]) -> Option<String> {
    let text = sanitize_log(printed);
    let line = text.lines().map(str::trim).rfind(|it| !it.is_empty())?;
    Some(app.redactor().redact(line).text.into_owned())
}

/// Mask the secrets of a text.
#[derive(Debug, Clone, Args)]
pub struct RedactRequest {
    /// The text, or `-` for standard input
    pub file: Input,
    /// Also redact the values of secret-named environment variables
    #[arg(
        long,
        value_enum,
        default_value = "on",
        default_missing_value = "on",
        num_args = 0..=1,
        require_equals = true
    )]
    pub env: Switch,
}

/// What becomes of the values of secret-named variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// They are masked
    On,
    /// They are left
    Off,
}

/// A text as it may be shown, and where its secrets were.
pub struct Masked {
    /// The text.
    pub bytes: Vec<u8>,
    /// A row for each secret.
    pub findings: Vec<FindingRow>,
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

/// Masks the secrets of a text.
///
/// # Errors
/// Patterns in the settings that are malformed.
pub fn redact_text(
    app: &App,
    request: &RedactRequest,
    progress: &dyn Progress,
) -> Result<Masked, AppError> {
    let redactor = match request.env {
        Switch::Off => &Redactor::default(),
        Switch::On => app.redactor(),
    };
    let text = request.file.bytes()?;
    let policy = app.read_policy(Profile::Ranked)?;
    let masked = if policy.is_credential_file(request.file.name()) {
        progress.note("the name says that the file holds credentials, so every line is masked");
        redactor.mask_all(&text)
    } else {
        redactor.redact_bytes(&text)
    };
    let row = |finding: &Finding| FindingRow {
        rule: finding.rule.to_string(),
        line: finding.line,
        range: [finding.start, finding.end],
    };
    Ok(Masked {
        findings: masked.findings.iter().map(row).collect(),
        bytes: masked.bytes.into_owned(),
    })
}

/// The content of a file of the repository that a packet might hold.
///
/// # Errors
/// A file that is denied by policy, is no file of the repository, or cannot be read.
pub fn readable_file(app: &App, typed: &str, progress: &dyn Progress) -> Result<Vec<u8>, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let path = workspace.repo_path(typed).ok_or_else(|| {
        let message = format!("`{typed}` is outside the repository");
        AppError::new(Code::C311, message)
    })?;
    let policy = app.read_policy(Profile::Ranked)?;
    if let Some(refusal) = policy.refuse(&path) {
        let message = format!("`{path}` is not shown: {}", refusal.reason);
        return Err(AppError::new(refusal.code, message));
    }
    let bytes = workspace.source.read(&path);
    let bytes = bytes.map_err(|error| AppError::new(Code::C311, format!("`{typed}`: {error}")))?;
    Ok(bytes.to_vec())
}
