use std::collections::BTreeMap;

use crate::model::{FailureKind, HintSource, RecoveryContext, Suggestion};

/// The hints of a packet: each name with its best suggestion. Names like it are only told
/// in the text.
#[must_use]
pub fn recovery_context(
    kind: FailureKind,
    names: &[String],
    suggestions: &[Suggestion],
) -> RecoveryContext {
    let mut suggested_imports = BTreeMap::new();
    let certain = suggestions
        .iter()
        .filter(|one| one.source != HintSource::Similar);
    for suggestion in certain {
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

/// The block for a prompt: under a heading that says that the attempt before failed, what is
/// undefined and which import each name wants. Empty without names.
#[must_use]
pub fn recovery_hint(names: &[String], suggestions: &[Suggestion]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        "## Recovery Context (IMPORTANT - Previous Attempt Failed)\n\n\
         The code uses {} undefined name(s): {}.\nAdd the missing imports:\n{}",
        names.len(),
        names.join(", "),
        hint_lines(names, suggestions)
    )
}

/// One line for each name: the import it wants, the choices, or that none is known.
#[must_use]
pub fn hint_lines(names: &[String], suggestions: &[Suggestion]) -> String {
    let mut text = String::new();
    for name in names {
        let mut found = suggestions.iter().filter(|one| one.name == *name);
        let line = match found.next() {
            None => format!("- {name}: no import is known; define it or correct the name\n"),
            Some(best) if best.certain => format!("- {name}: {}\n", best.import_statement),
            Some(best) if best.import_statement.is_empty() => {
                format!("- {name}: did you mean {}?\n", best.imported)
            }
            Some(best) if best.source == HintSource::Similar => {
                format!(
                    "- {name}: did you mean {}? ({})\n",
                    best.imported, best.import_statement
                )
            }
            Some(best) => {
                let others: String = found
                    .take(2)
                    .map(|other| format!("; or {}", other.import_statement))
                    .collect();
                format!("- {name}: probably {}{others}\n", best.import_statement)
            }
        };
        text.push_str(&line);
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
            confidence: 90,
            source: HintSource::Manifest,
            certain: true,
            imported: "CliRunner".into(),
            ..Suggestion::default()
        };
        let context = recovery_context(FailureKind::ImportError, &names, &[suggestion]);
        assert_eq!(
            context.suggested_imports["CliRunner"],
            "from typer.testing import CliRunner"
        );
        let hint = context.recovery_hint;
        assert!(hint.starts_with("## Recovery Context"), "{hint}");
        assert!(hint.contains("Previous Attempt Failed"), "{hint}");
        assert!(
            hint.contains("- CliRunner: from typer.testing import CliRunner\n"),
            "{hint}"
        );
        assert!(
            hint.contains("- chief_of_staff: no import is known"),
            "{hint}"
        );
        assert!(super::recovery_hint(&[], &[]).is_empty());
    }
}
