//! The task of `mendit redact`, and what is shown of output as it streams.

use serde_json::{Value, json};

use super::flags::request;
use super::{App, Input, Result};
use crate::model::Profile;
use crate::policy::{Redactor, sanitize_log};

impl App<'_> {
    /// Says the last line of what a command printed, as it may be shown.
    pub fn show_output(&self, printed: &[u8]) {
        let text = sanitize_log(printed);
        let mut lines = text.lines().rev().map(str::trim);
        if let Some(line) = lines.find(|line| !line.is_empty()) {
            self.progress.step(&self.redactor().redact(line).text);
        }
    }
}

request! {
/// Mask the secrets of a text.
RedactRequest {
    /// The text, or `-` for standard input
    file: Input;
    /// Also redact the values of secret-named environment variables
    #[arg(long, value_name = "on|off", value_parser = ["on", "off"], default_value = "on", default_missing_value = "on", num_args = 0..=1, require_equals = true)] env: String;
}
}

/// A text as it may be shown, and where its secrets were.
pub struct Masked {
    /// The text.
    pub bytes: Vec<u8>,
    /// A row for each secret: its rule, its line, its first byte and the byte after its last, never what it was.
    pub findings: Vec<Value>,
}

/// Masks the secrets of a text.
///
/// # Errors
/// Patterns in the settings that are malformed.
pub fn redact_text(app: &App, request: &RedactRequest) -> Result<Masked> {
    let plain = Redactor::default();
    let redactor = if request.env == "off" { &plain } else { app.redactor() };
    let text = request.file.bytes()?;
    let policy = app.read_policy(Profile::Ranked)?;
    let masked = if policy.is_credential_file(request.file.name()) {
        app.note("the file name indicates credentials, so every line is redacted");
        redactor.mask_all(&text)
    } else {
        redactor.redact_bytes(&text)
    };
    Ok(Masked {
        findings: masked.findings.iter().map(|found| json!({"rule": found.rule.to_string(), "line": found.line, "range": [found.start, found.end]})).collect(),
        bytes: masked.bytes.into_owned(),
    })
}
