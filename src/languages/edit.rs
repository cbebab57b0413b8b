use std::collections::BTreeSet;

use super::insert::Page;
use super::language::Language;
use super::statements::{names_on, statements};
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
    let names = statement.names.as_ref()?;
    let at = names
        .texts(text)
        .iter()
        .position(|item| bare(item) == name)?;
    out = names.without(text, at)?;
    let end = span.end.checked_sub(text.len() - out.len())?;
    // `import Default, {} from 'x'`.
    let mut inside = out.get(span.start..end)?.to_owned();
    for empty in [", {  }", ", {}", ", { }"] {
        inside = inside.replace(empty, "");
    }
    out.replace_range(span.start..end, &inside);
    Some(out)
}

// The name that an item of a list takes.
fn bare(item: &str) -> &str {
    let mut words = item.split(|it: char| it.is_whitespace() || it == ':');
    words.find(|word| *word != "type").unwrap_or_default()
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
    let names = names_on(file, text, import.line)?;
    let items = names.texts(text).into_iter().enumerate();
    let (at, item) = items.into_iter().find(|(_, item)| bare(item) == old)?;
    let word = words(item.as_bytes(), old).next()?;
    let after = item.get(word + old.len()..)?;
    let kept = match (after.trim().is_empty(), import.kind) {
        (false, _) => String::new(),
        (true, ImportKind::Require | ImportKind::Dynamic) => format!(": {old}"),
        (true, _) => format!(" as {old}"),
    };
    names.with_other(
        text,
        at,
        &format!("{}{new}{kept}{after}", item.get(..word)?),
    )
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
