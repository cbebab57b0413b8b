use std::borrow::Cow;

/// A secret: its bytes in the scanned text, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct Hit {
    pub(in crate::policy) start: usize,
    pub(in crate::policy) end: usize,
    pub(in crate::policy) rule: Cow<'static, str>,
}
