use std::collections::BTreeSet;
use std::ops::Range;

use super::insert::Page;
use super::language::Language;
use super::statements::statements;
use super::uses::words;
use crate::model::{FileFacts, Import, ImportKind, RepoPath};

/// The text of a file without one name that it imports from a module; the statement goes with its
/// last name. `name` is the name in the module. `None` when the statement cannot be told apart.
#[must_use]
pub fn removed(
    file: &RepoPath,
    text: &str,
    facts: &FileFacts,
    module: &str,
    name: &str,
) -> Option<String> {
    let all = statements(file, text, facts);
    let mut found = all.iter().filter(|one| {
        let takes = |import: &&Import| {
            import.specifier == module && import.names.iter().any(|taken| taken.name == name)
        };
        one.imports.len() == 1 && one.imports.iter().copied().any(|import| takes(&import))
    });
    let (statement, None) = (found.next()?, found.next()) else {
        return None;
    };
    let mut out = text.to_owned();
    let [import] = statement.imports.as_slice() else {
        return None;
    };
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
    let start = before.strip_suffix("type ").unwrap_or(before).len();
    let after = text.get(item.end..)?;
    let alias = after.trim_start().strip_prefix("as ").map(str::trim_start);
    let after = alias.map_or(after, |rest| {
        rest.trim_start_matches(|letter: char| {
            letter == '_' || letter == '$' || letter.is_alphanumeric()
        })
    });
    let rest = after.trim_start().strip_prefix(',').map(str::trim_start);
    let end = match rest.filter(|rest| !rest.starts_with(['}', ')', '\n']) && !rest.is_empty()) {
        Some(next) => text.len() - next.len(),
        None => text.len() - after.len(),
    };
    let is_last = rest.is_none_or(|rest| rest.starts_with(['}', ')']));
    let above = text.get(..start)?.trim_end();
    let start = match above.strip_suffix(',') {
        Some(above) if is_last => above.len(),
        _ => start,
    };
    out.replace_range(start..end, "");
    let end = span.end.checked_sub(end - start)?;
    // `import Default, {} from 'x'`.
    let mut inside = out.get(span.start..end)?.to_owned();
    for empty in [", {  }", ", {}", ", { }"] {
        inside = inside.replace(empty, "");
    }
    out.replace_range(span.start..end, &inside);
    Some(out)
}

/// Returns where an import names one of its names: before the specifier in scripts, behind it in Python.
fn item_of(language: &Language, text: &str, import: &Import, name: &str) -> Option<Range<usize>> {
    let line = (import.line as usize).checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let at = start + (language.editing.as_ref()?.specifier_in)(text.get(start..)?, import)?;
    let part = if language.declares_exports {
        start..at
    } else {
        at + import.specifier.len()..text.len()
    };
    let word = part.start + words(text.get(part)?.as_bytes(), name).next()?;
    Some(word..word + name.len())
}

/// The text of a file that takes `new` from a module where an import of it took `old`, under the
/// name that it had: `new as old` in the list of a statement, `new: old` in what is taken apart.
#[must_use]
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
/// names it. `None` when one of them cannot be told.
#[must_use]
pub fn respecified(page: &Page<'_>, old: &str, new: &str) -> Option<String> {
    let language = Language::of_path(page.file.as_str())?;
    let text = page.text;
    let named = |import: &&Import| import.specifier == old;
    let mut places = BTreeSet::new();
    for import in page.facts.imports.iter().filter(named) {
        let line = (import.line as usize).checked_sub(1)?;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        places
            .insert(start + (language.editing.as_ref()?.specifier_in)(text.get(start..)?, import)?);
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
