//! Derives a report's category and suggestions from kind and stop reason.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::{
    Category, Diagnosis, FailureKind as Kind, RemedySource, StopReason, Subkind, parse_rows,
};

/// The report's word for a kind of failure and the way an attempt ended. Pure: both are
/// known, nothing is parsed.
pub fn category(kind: Kind, stop: Option<StopReason>) -> Category {
    match stop {
        Some(StopReason::AgentTimeout | StopReason::CommandTimeout) => return Category::Timeout,
        Some(StopReason::InvalidTask) => return Category::InvalidTask,
        Some(StopReason::RequestedFiles | StopReason::ApplyFailed | StopReason::PatchInvalid) => {
            return Category::MissingContext;
        }
        Some(StopReason::TestsChanged) => return Category::Partial,
        Some(StopReason::AgentError) => return Category::ToolError,
        _ => {}
    }
    rows_of(kind).find_map(|row| row.category).unwrap_or(Category::Partial)
}

/// The default weight of a rule by its kind.
pub(super) fn kind_weight(kind: Kind) -> u8 {
    rows_of(kind).find_map(|row| row.weight).unwrap_or_default()
}

/// The proposals of a report, at least two actions for each category.
pub fn suggested_actions(category: Category) -> &'static [&'static str] {
    match category {
        Category::Timeout => &[
            "Retry once with twice the time if work was done",
            "Split the task into smaller parts",
        ],
        Category::MissingContext => &[NEXT_LEVEL, "Name the files that the task needs"],
        Category::ToolError => &[
            "Check that the commands and packages the task needs are installed",
            "Run the failing command by hand, then retry",
        ],
        Category::InvalidTask => &[
            "Restate the task",
            "Check the task for requirements that exclude each other",
        ],
        Category::Partial => &[REVIEW],
    }
}

/// Advice for as long as there is a higher level.
pub const NEXT_LEVEL: &str = "Retry with the next context level";
/// Advice for a fix that is written in part.
pub const REVIEW: &str = "Review what is written so far, then fix what still fails";

/// Whether nothing but a person's action helps.
pub fn requires_user_action(kind: Kind, subkind: Option<&Subkind>) -> bool {
    let mut rows = rows_of(kind).filter(|row| row.subkind.as_ref() == subkind);
    kind.is_around_code() || rows.any(|row| row.by_person)
}

/// One sentence on what happened and one on what to do: rows of `words.toml`.
pub fn words(kind: Kind, subkind: Option<&Subkind>) -> (&'static str, &'static str) {
    let finer = rows_of(kind).find(|row| row.subkind.as_ref() == subkind);
    let row = finer.or_else(|| rows_of(kind).find(|row| row.subkind.is_none()));
    row.map_or(("", ""), |row| (&row.explanation, &row.fix))
}

fn rows_of(kind: Kind) -> impl Iterator<Item = &'static Words> {
    WORDS.iter().filter(move |row| row.kind == kind)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    kind: Kind,
    subkind: Option<Subkind>,
    category: Option<Category>,
    weight: Option<u8>,
    #[serde(default)]
    by_person: bool,
    explanation: String,
    fix: String,
}

static WORDS: LazyLock<Vec<Words>> = LazyLock::new(|| parse_rows(embedded!("diagnose/words.toml")));

/// Gives a diagnosis another kind and finer word, and what follows from them.
pub(super) fn set_kind(diagnosis: &mut Diagnosis, kind: Kind, subkind: Option<Subkind>) {
    let (explanation, fix) = words(kind, subkind.as_ref());
    explanation.clone_into(&mut diagnosis.explanation);
    fix.clone_into(&mut diagnosis.suggested_fix);
    (diagnosis.remedy_source, diagnosis.remedy_line) = (RemedySource::Mendit, None);
    diagnosis.category = category(kind, None);
    diagnosis.requires_user_action = requires_user_action(kind, subkind.as_ref());
    (diagnosis.kind, diagnosis.subkind) = (kind, subkind);
}

#[cfg(test)]
mod tests {
    use super::{category, requires_user_action, words};
    use crate::model::{Category, FailureKind, StopReason, Subkind};

    #[test]
    fn stop_reason_outweighs_kind() {
        for (kind, stop, expected) in [
            (FailureKind::TestFailure, None, Category::Partial),
            (
                FailureKind::TestFailure,
                Some(StopReason::AgentTimeout),
                Category::Timeout,
            ),
            (
                FailureKind::TestFailure,
                Some(StopReason::PatchInvalid),
                Category::MissingContext,
            ),
            (FailureKind::PermissionDenied, None, Category::ToolError),
            (FailureKind::Timeout, None, Category::Timeout),
        ] {
            assert_eq!(category(kind, stop), expected);
        }
    }

    #[test]
    #[cfg(feature = "program")]
    fn every_kind_has_message() {
        let schema = schemars::schema_for!(FailureKind).to_value();
        let mut kinds: Vec<&serde_json::Value> =
            schema["enum"].as_array().into_iter().flatten().collect();
        for one in schema["oneOf"].as_array().into_iter().flatten() {
            kinds.extend(one.get("const"));
            kinds.extend(one["enum"].as_array().into_iter().flatten());
        }
        assert!(kinds.len() > 30);
        for kind in kinds {
            let kind: FailureKind = serde_json::from_value(kind.clone()).unwrap();
            let (explanation, fix) = words(kind, None);
            assert!(!explanation.is_empty() && !fix.is_empty(), "{kind:?}");
            assert_eq!(
                words(kind, Some(&Subkind::Other("no_such_word".to_owned()))),
                (explanation, fix)
            );
        }
        let import = FailureKind::ImportError;
        assert_ne!(
            words(import, Some(&Subkind::MissingExport)),
            words(import, None)
        );
    }

    #[test]
    fn missing_package_requires_user() {
        let import = FailureKind::ImportError;
        assert!(requires_user_action(import, Some(&Subkind::MissingPackage)));
        assert!(!requires_user_action(import, Some(&Subkind::MissingModule)));
    }
}
