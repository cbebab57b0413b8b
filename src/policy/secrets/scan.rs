use super::anchors::{Anchor, Anchors};
use super::known::KnownValues;
use super::provider::match_rule;

/// A secret: its bytes in the scanned text, and the rule that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::policy) struct Hit {
    pub(in crate::policy) start: usize,
    pub(in crate::policy) end: usize,
    pub(in crate::policy) rule: &'static str,
}

/// Every secret of the text, in no order, overlaps included.
pub(in crate::policy) fn scan(text: &[u8], known: &KnownValues) -> Vec<Hit> {
    let mut hits = Vec::new();
    known.find(text, &mut hits);
    Anchors::each(text, |anchor, start, _end| {
        if let Anchor::Rule(index) = anchor
            && let Some((rule, range)) = match_rule(text, index, start)
        {
            hits.push(Hit {
                start: range.start,
                end: range.end,
                rule,
            });
        }
    });
    hits
}
