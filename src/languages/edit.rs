//! Edits imports: removes a name, changes the module, adds an alias.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::insert::Page;
use super::language::Language;
use super::statements::statements;
use super::uses::words;
use crate::model::{FileFacts, Import, ImportKind, RepoPath};
use crate::source::Source;

/// The text of a file without one name that it imports from a module; the statement goes with its
/// last name. `name` is the name in the module. `None` when the statement cannot be distinguished.
pub fn removed(
    file: &RepoPath,
    text: &str,
    facts: &FileFacts,
    module: &str,
    name: &str,
) -> Option<String> {
    let all = statements(file, text, facts);
    let mut found = all.iter().filter(|one| {
        one.imports.len() == 1
            && one.imports.iter().copied().any(|import| {
                import.specifier == module && import.names.iter().any(|taken| taken.name == name)
            })
    });
    let (statement, None) = (found.next()?, found.next()) else {
        return None;
    };
    let mut out = text.to_owned();
    let import = statement.imports.first()?;
    if import.names.len() == 1 {
        let end = text
            .get(statement.span.end..)
            .and_then(|rest| rest.find('\n'))
            .map_or(text.len(), |at| statement.span.end + at + 1);
        out.replace_range(statement.span.start..end, "");
        return Some(out);
    }
    let span = statement.span.clone();
    if name == "default" && Language::of_path(file.as_str())?.declares_exports {
        let inside = text.get(span.clone())?;
        let open = inside.find('{').or_else(|| inside.find("* as"))?;
        out.replace_range(span, &format!("import {}", inside.get(open..)?));
        return Some(out);
    }
    let item = item_of(Language::of_path(file.as_str())?, text, import, name)?;
    let before = text.get(..item.start)?;
    let before = before.strip_suffix("type ").unwrap_or(before);
    let after = text.get(item.end..span.end)?;
    let alias = ALIAS.as_ref()?.find(after).map_or(0, |alias| alias.end());
    let after = after.get(alias..)?;
    let others = after.trim_start().strip_prefix(',').map(str::trim_start);
    // The last one takes the comma before it away.
    let (before, after) = match others.filter(|others| !others.starts_with(['}', ')'])) {
        Some(others) => (before, others),
        None => {
            let above = before.trim_end();
            (above.strip_suffix(',').unwrap_or(before), after)
        }
    };
    let statement = format!("{}{after}", before.get(span.start..)?);
    // `import Default, {} from 'x'`.
    let statement = EMPTY_LIST.as_ref()?.replace(&statement, "");
    out.replace_range(span, &statement);
    Some(out)
}

static ALIAS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s+as\s+[\w$]+").ok());
static EMPTY_LIST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r",\s*\{\s*\}").ok());

/// Returns where an import names one of its names: before the specifier in scripts, behind it in Python.
fn item_of(language: &Language, text: &str, import: &Import, name: &str) -> Option<Range<usize>> {
    let place = specifier_in(language, text, import)?;
    let part = if language.declares_exports {
        line_start(text, import)..place.start
    } else {
        place.end..text.len()
    };
    let word = part.start + words(text.get(part)?.as_bytes(), name).next()?;
    Some(word..word + name.len())
}

/// Returns where an import names its module.
fn specifier_in(language: &Language, text: &str, import: &Import) -> Option<Range<usize>> {
    let start = line_start(text, import);
    let at = start + (language.editing.as_ref()?.specifier_in)(text.get(start..)?, import)?;
    Some(at..at + import.specifier.len())
}

fn line_start(text: &str, import: &Import) -> usize {
    let above = (import.line as usize).saturating_sub(1);
    text.split_inclusive('\n').take(above).map(str::len).sum()
}

/// Returns an import of a file as it is written there with another module, on one line; the module alone where the
/// statement is unknown.
pub fn restated(source: &dyn Source, file: &RepoPath, import: &Import, module: &str) -> String {
    statement_text(source, file, import, module).unwrap_or_else(|| module.to_owned())
}

fn statement_text(
    source: &dyn Source,
    file: &RepoPath,
    import: &Import,
    module: &str,
) -> Option<String> {
    let bytes = source.read(file).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let place = specifier_in(Language::of_path(file.as_str())?, text, import)?;
    let head = text.get(line_start(text, import)..place.start)?;
    let tail = text.get(place.end..)?;
    let mut statement = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_word = head.ends_with(' ');
    statement.push_str(if is_word { " " } else { "" });
    statement.push_str(module);
    // A longer statement is shown shortened.
    let mut lines = tail.lines().take(40);
    statement.push_str(lines.next().unwrap_or_default());
    // The names of Python are behind the module.
    while statement.matches('(').count() > statement.matches(')').count() {
        statement.push_str(lines.next()?.trim());
    }
    Some(statement.trim_end().trim_end_matches(';').to_owned())
}

/// The text of a file that takes `new` from a module where an import of it took `old`, under the
/// name that it had: `new as old` in the list of a statement, `new: old` in what is taken apart.
pub fn aliased(
    file: &RepoPath,
    text: &str,
    import: &Import,
    old: &str,
    new: &str,
) -> Option<String> {
    let item = item_of(Language::of_path(file.as_str())?, text, import, old)?;
    let after = text.get(item.end..)?.trim_start();
    let kept = match import.kind {
        _ if after.starts_with("as ") || after.starts_with(':') => String::new(),
        ImportKind::Require | ImportKind::Dynamic => format!(": {old}"),
        _ => format!(" as {old}"),
    };
    let mut out = text.to_owned();
    out.replace_range(item, &format!("{new}{kept}"));
    Some(out)
}

/// The text of a file with another module in the place of one, in each statement and call that
/// names it. `None` when one of them is unknown.
pub fn respecified(page: &Page<'_>, old: &str, new: &str) -> Option<String> {
    let language = Language::of_path(page.file.as_str())?;
    let text = page.text;
    let mut places = BTreeSet::new();
    for import in page.facts.imports.iter().filter(|import| import.specifier == old) {
        places.insert(specifier_in(language, text, import)?.start);
        // `import a.b` is used as `a.b`, too.
        let bound = import.kind == ImportKind::Import && import.names.is_empty();
        (language.declares_exports || !bound || text.matches(old).count() == 1).then_some(())?;
    }
    let mut out = text.to_owned();
    for at in places.iter().rev() {
        out.replace_range(*at..*at + old.len(), new);
    }
    (!places.is_empty()).then_some(out)
}
