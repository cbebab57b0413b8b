//! Writes a suggested import into a file as a patch.

use super::exports::{retake_name, takers};
use crate::graph::Graph;
use crate::languages::{self, Page, Resolver, facts, removed, respecified, syntax_errors};
use crate::model::{FileFacts, RepoPath, Suggestion};
use crate::patch::{After, Change, FileState, JudgeOptions, canonical, judge};
use crate::policy::Allowed;

/// A change that adds imports to one file.
pub struct Fix {
    /// What it writes; it applies to the source as it is.
    pub changes: Vec<Change>,
    /// The names it binds, in the order of the suggestions.
    pub names: Vec<String>,
}

/// Adds the suggested imports to a file, each as a statement of its own below the imports of the file, with its
/// quotes and semicolons; in a file without imports below docstrings, directives and license comments.
///
/// One import for each name is taken, the first. What cannot be placed with certainty is left
/// out; `None` when nothing is left, or when the result does not parse, an import in it leads
/// nowhere, or the patch is refused. The caller decides which suggestions are good enough: see
/// [`Suggestion::certain`]. The file counts as named by a person, so a test may be changed.
pub fn fix(graph: &Graph<'_>, file: &RepoPath, suggestions: &[Suggestion]) -> Option<Fix> {
    let before = FileState::read(graph.source(), file)?;
    let mut text = String::from_utf8(before.bytes.to_vec()).ok()?;
    let mut names: Vec<String> = Vec::new();
    for suggestion in suggestions {
        if !names.contains(&suggestion.name)
            && let Some(next) = insert_import(graph.resolver(), file, &text, suggestion)
        {
            text = next;
            names.push(suggestion.name.clone());
        }
    }
    names.first()?;
    let after = FileState::new(text.into_bytes(), before.mode);
    let change = Change::between(file.clone(), Some(before), Some(after));
    let options = JudgeOptions {
        strict: true,
        after: After::Enforced,
        allowed: Allowed::new(&[file.as_str().to_owned()]).ok()?,
        ..JudgeOptions::default()
    };
    let judged = judge(&canonical(&[change]), graph.source(), &options);
    judged.verdict.verdict.applies().then_some(Fix {
        changes: judged.changes,
        names,
    })
}

/// The text with one more import, when it then parses as well as before and binds the name.
pub(super) fn insert_import(
    resolver: &Resolver<'_>,
    file: &RepoPath,
    text: &str,
    suggestion: &Suggestion,
) -> Option<String> {
    const MARK: &str = "\u{feff}";
    if let Some(rest) = text.strip_prefix(MARK) {
        let rest = insert_import(resolver, file, rest, suggestion)?;
        return Some(format!("{MARK}{rest}"));
    }
    let own = facts(file, text.as_bytes());
    // The import that takes what is not there, when the suggestion is for that name and not for the module.
    let displaced = suggestion.replaces.as_ref().and_then(|module| {
        takers(&own, &suggestion.name).find(|(import, _)| import.specifier == *module)
    });
    if let Some((import, taken)) = displaced {
        let (module, name, new) = (&import.specifier, &taken.name, &suggestion.imported);
        let plain = name != "default" && !matches!(new.as_str(), "default" | "*");
        if plain && suggestion.module == *module {
            return retake_name(file, text, &own, module, (name, new));
        }
        let without = removed(file, text, &own, module, name)?;
        let bound = Suggestion {
            name: taken.local().to_owned(),
            replaces: None,
            ..suggestion.clone()
        };
        return insert_import(resolver, file, &without, &bound);
    }
    if suggestion.replaces.is_none() && binds_name(&own, &suggestion.name) {
        return None;
    }
    let page = Page {
        text,
        facts: &own,
        resolver,
        file,
    };
    let after = if let Some(old) = &suggestion.replaces {
        respecified(&page, old, &suggestion.module)?
    } else {
        languages::inserted(&page, suggestion)?
    };
    let found = facts(file, after.as_bytes());
    let bound = binds_name(&found, &suggestion.name) || suggestion.replaces.is_some();
    let errors = |text: &str| syntax_errors(file, text.as_bytes()).len();
    (bound && found.imports.len() >= own.imports.len() && errors(&after) <= errors(text))
        .then_some(after)
}

/// Whether an import at the top level binds the name.
pub(super) fn binds_name(facts: &FileFacts, name: &str) -> bool {
    let mut top = facts.imports.iter().filter(|import| !import.nested);
    top.any(|import| import.binds(name))
}
