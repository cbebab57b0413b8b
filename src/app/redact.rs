use serde_json::{Value, json};

use super::flags::request;
use super::{App, Input, Result};
use crate::model::Profile;
use crate::policy::{Finding, Redactor, sanitize_log};

/// The last line of what a command printed, as it may be shown.
#[must_use]
pub fn last_line(app: &App, printed: &[u8]) -> Option<String> {
    let text = sanitize_log(printed);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(app.redactor().redact(line).text.into_owned())
}

/// Masks a stream of output as it comes, line by line.
///
/// Secrets of the environment, formats and named values are masked; a value that only a later line
/// gives away is not.
pub struct StreamMasker {
    redactor: Redactor,
    pending: Vec<u8>,
}

// A private key is held back until its last line, up to so many bytes.
const MAX_PENDING: usize = 64 * 1024;

impl StreamMasker {
    /// Masks with the rules and known values of the settings in force.
    #[must_use]
    pub fn new(app: &App) -> Self {
        Self {
            redactor: app.redactor().clone(),
            pending: Vec::new(),
        }
    }

    /// Takes the next bytes and returns the whole lines so far, masked.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        let mut ready = whole_lines(&self.pending);
        let key = memchr::memmem::rfind(&self.pending[..ready], b"-----BEGIN ");
        if let Some(start) = key
            && memchr::memmem::find(&self.pending[start..ready], b"-----END ").is_none()
        {
            ready = whole_lines(&self.pending[..start]);
        }
        if self.pending.len() - ready > MAX_PENDING {
            ready = self.pending.len();
        }
        self.take(ready)
    }

    /// Returns the rest, masked.
    pub fn finish(&mut self) -> Vec<u8> {
        self.take(self.pending.len())
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let ready: Vec<u8> = self.pending.drain(..length).collect();
        self.redactor.redact_bytes(&ready).bytes.into_owned()
    }
}

// Where the last whole line ends.
fn whole_lines(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)
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
    let redactor = if request.env == "off" {
        &plain
    } else {
        app.redactor()
    };
    let text = request.file.bytes()?;
    let policy = app.read_policy(Profile::Ranked)?;
    let masked = if policy.is_credential_file(request.file.name()) {
        app.note("the name says that the file holds credentials, so every line is masked");
        redactor.mask_all(&text)
    } else {
        redactor.redact_bytes(&text)
    };
    let row = |found: &Finding| json!({"rule": found.rule.to_string(), "line": found.line, "range": [found.start, found.end]});
    Ok(Masked {
        findings: masked.findings.iter().map(row).collect(),
        bytes: masked.bytes.into_owned(),
    })
}
