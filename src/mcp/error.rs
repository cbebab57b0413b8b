use crate::model::Code;

/// Why a tool could not do its work, for whoever called it.
#[derive(Debug)]
pub(super) struct ToolError {
    /// `None` when the arguments do not fit their schema.
    pub(super) code: Option<Code>,
    pub(super) message: String,
}

impl ToolError {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code: Some(code),
            message: message.into(),
        }
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.code {
            Some(code) => write!(f, "error[{code}]: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
