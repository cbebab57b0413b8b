use crate::model::{Code, Verdict};

pub(super) struct Refusal {
    pub(super) verdict: Verdict,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

pub(super) fn refuse<T>(
    verdict: Verdict,
    code: Code,
    message: impl Into<String>,
) -> Result<T, Refusal> {
    Err(Refusal {
        verdict,
        code,
        message: message.into(),
        hint: None,
    })
}
