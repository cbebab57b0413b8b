use std::collections::BTreeMap;

use crate::model::{FailureKind, RecoveryContext, Suggestion};

/// The hints in the shape that R6 gives them; each name with its best suggestion.
#[must_use]
pub fn recovery_context(
    kind: FailureKind,
    names: &[String],
    suggestions: &[Suggestion],
) -> RecoveryContext {
    let mut suggested_imports = BTreeMap::new();
    for suggestion in suggestions {
        suggested_imports
            .entry(suggestion.name.clone())
            .or_insert_with(|| suggestion.import_statement.clone());
    }
    RecoveryContext {
        error_type: kind,
        undefined_names: names.to_vec(),
        suggested_imports,
        recovery_hint: recovery_hint(names, suggestions),
    }
}

/// The text for a prompt (R11): what is undefined and which import each name wants.
#[must_use]
pub fn recovery_hint(names: &[String], suggestions: &[Suggestion]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "The code uses {} undefined name(s): {}.\nAdd the missing imports:\n",
        names.len(),
        names.join(", ")
    );
    for name in names {
        let mut found = suggestions.iter().filter(|one| one.name == *name);
        match found.next() {
            None => text.push_str(&format!(
                "- {name}: no import is known; define it or correct the name\n"
            )),
            Some(best) if best.certain => {
                text.push_str(&format!("- {name}: {}\n", best.import_statement));
            }
            Some(best) => {
                text.push_str(&format!("- {name}: probably {}", best.import_statement));
                for other in found.take(2) {
                    text.push_str(&format!("; or {}", other.import_statement));
                }
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::recovery_context;
    use crate::model::{FailureKind, HintSource, Suggestion};

    #[test]
    fn names_with_and_without_a_suggestion() {
        let names = ["CliRunner".to_owned(), "chief_of_staff".to_owned()];
        let suggestion = Suggestion {
            name: "CliRunner".into(),
            import_statement: "from typer.testing import CliRunner".into(),
            module: "typer.testing".into(),
            path: None,
            confidence: 90,
            source: HintSource::Manifest,
            certain: true,
            imported: "CliRunner".into(),
            type_only: false,
            replaces: None,
        };
        let context = recovery_context(FailureKind::Unknown, &names, &[suggestion]);
        assert_eq!(
            context.suggested_imports["CliRunner"],
            "from typer.testing import CliRunner"
        );
        assert!(
            context
                .recovery_hint
                .contains("- chief_of_staff: no import")
        );
    }
}
