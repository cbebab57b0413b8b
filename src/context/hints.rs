//! Adds import hints for undefined names to a packet, and formats them for a prompt.

use super::inputs::PacketInputs;
use crate::hint::{Ask, Query, Wanted, lacking, suggest, wanted};
use crate::languages::Language;
use crate::model::{Diagnosis, FailureKind, HintSource, RecoveryContext, RepoPath, Suggestion};

/// Finds imports for the names that a log calls undefined, each for the file that lacks it; `None`
/// when there are no such names. The second is whether they are certain and explain all that failed.
pub(super) fn find_imports(
    inputs: &PacketInputs<'_>,
    diagnosis: Option<&Diagnosis>,
    targets: &[RepoPath],
) -> (Option<RecoveryContext>, bool) {
    let Some(diagnosis) = diagnosis.filter(|diagnosis| !diagnosis.undefined_names.is_empty())
    else {
        return (None, false);
    };
    let may_read = &|path: &RepoPath| inputs.may_read(path);
    let mut files = lacking(diagnosis);
    files.extend(targets.iter().cloned());
    files.retain(|path| Language::of_path(path.as_str()).is_some() && may_read(path));
    let names = &diagnosis.undefined_names;
    let lacks = Wanted {
        names: names.clone(),
        ..Wanted::default()
    };
    let ask = &Ask {
        installed: &inputs.request.installed,
        may_read,
    };
    let mut suggestions = Vec::new();
    for (file, lacks) in &wanted(inputs.source, &files, &lacks) {
        let names = &lacks.names;
        suggestions.extend(suggest(&inputs.graph, &Query { file, names, ask }));
    }
    suggestions.retain(|one| inputs.redactor.redact(&one.import_statement).findings.is_empty());
    let listing = inputs.source.listing();
    let is_here = files.iter().any(|path| listing.has_file(path.as_str()));
    let certain = is_here
        && names.iter().all(|name| {
            let mut suggestions = suggestions.iter();
            suggestions.any(|one| one.certain && one.name == *name)
        })
        && explains_all(diagnosis);
    let context = recovery_context(diagnosis.kind, names, &suggestions);
    (Some(context), certain)
}

// Whether each failure says that it is one of the undefined names.
fn explains_all(diagnosis: &Diagnosis) -> bool {
    let names = &diagnosis.undefined_names;
    let mut messages = diagnosis.tests.iter().filter_map(|test| test.message.as_ref());
    diagnosis.missing_modules.is_empty()
        && diagnosis.missing_exports.is_empty()
        && messages.all(|message| names.iter().any(|name| message.contains(name)))
}

/// Returns the hints of a packet: each name with its best suggestion. Similar names are only mentioned in the text.
fn recovery_context(
    kind: FailureKind,
    names: &[String],
    suggestions: &[Suggestion],
) -> RecoveryContext {
    let imports = suggestions.iter().rev().filter(|one| one.source != HintSource::Similar);
    let imports = imports.map(|one| (one.name.clone(), one.import_statement.clone()));
    RecoveryContext {
        error_type: kind,
        undefined_names: names.to_vec(),
        // The first suggestion for each name, which is the best.
        suggested_imports: imports.collect(),
        recovery_hint: recovery_hint(names, suggestions),
    }
}

/// Returns the block for a prompt: undefined names, and the import for each. Empty without names.
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

/// Returns one line for each name: its import, the choices, or that no import is known.
pub fn hint_lines(names: &[String], suggestions: &[Suggestion]) -> String {
    let lines = names.iter().map(|name| {
        let mut found = suggestions.iter().filter(|one| one.name == *name);
        let Some(best) = found.next() else {
            return format!("- {name}: no import is known; define it or correct the name\n");
        };
        let statement = &best.import_statement;
        if best.certain {
            return format!("- {name}: {statement}\n");
        }
        if best.source == HintSource::Similar {
            let line = format!("- {name}: did you mean {}? ({statement})\n", best.imported);
            return line.replace(" ()\n", "\n");
        }
        let others = found.take(2).map(|other| &other.import_statement);
        let others: String = others.map(|other| format!("; or {other}")).collect();
        format!("- {name}: probably {statement}{others}\n")
    });
    lines.collect()
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
            source: HintSource::Manifest,
            certain: true,
            ..Suggestion::default()
        };
        let context = recovery_context(FailureKind::ImportError, &names, &[suggestion]);
        let import = &context.suggested_imports["CliRunner"];
        assert_eq!(import, "from typer.testing import CliRunner");
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
