use crate::model::Verdict;

pub(super) struct Refusal {
    pub(super) verdict: Verdict,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

pub(super) fn refuse<T>(
    verdict: Verdict,
    code: &'static str,
    message: impl Into<String>,
) -> Result<T, Refusal> {
    Err(Refusal {
        verdict,
        code,
        message: message.into(),
        hint: None,
    })
}
