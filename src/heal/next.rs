use super::rules::{RULES, Rule, unknown};
use super::{Fix, History};
use crate::model::Diagnosis;

/// The fix to try next: of the diagnosis's rule (R35) the first change that was not tried before;
/// when there is none, one that an earlier configuration still has open; else what a person must
/// do. Pure.
///
/// Nothing in a log is ever run or installed: a package comes from a manifest, a lock or the
/// configuration itself, an address from the configuration, a compose file, or what the program
/// says about this machine.
#[must_use]
pub fn next(diagnosis: &Diagnosis, history: &History<'_>) -> Fix {
    let newest = std::iter::once((history.current, diagnosis));
    let before = history.earlier.iter().rev();
    let stages: Vec<_> = newest
        .chain(before.map(|(probe, diagnosis)| (probe, diagnosis)))
        .map(|(current, diagnosis)| {
            propose(
                diagnosis,
                &History {
                    current,
                    ..*history
                },
            )
        })
        .collect();
    let open = |fix: &&Fix| {
        let probe = fix.new_config.as_ref();
        !fix.requires_user_action && probe.is_some_and(|probe| !history.was_tried(probe))
    };
    if let Some(fix) = stages.iter().flatten().find(open) {
        return fix.clone();
    }
    // A change that led to another known failure got further; one that led nowhere says nothing.
    let first = history.earlier.first().map(|(_, diagnosis)| diagnosis.kind);
    let further = first.is_none_or(|first| first != diagnosis.kind) && rule(diagnosis).is_some();
    let stage = if further {
        stages.first()
    } else {
        stages.last()
    };
    let person = stage.and_then(|fixes| fixes.iter().find(|fix| fix.requires_user_action));
    person
        .cloned()
        .unwrap_or_else(|| Fix::person(diagnosis.suggested_fix.clone()))
}

fn rule(diagnosis: &Diagnosis) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.kind == diagnosis.kind)
}

fn propose(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    match rule(diagnosis) {
        Some(rule) => (rule.propose)(diagnosis, history),
        None => unknown(diagnosis, history),
    }
}
