use super::items::Items;
use super::statements::statements;
use crate::languages::{Language, PYTHON};
use crate::model::{FileFacts, Import, RepoPath};

/// The text of a file without one name that it imports from a module; the statement goes with its
/// last name. `name` is the name in the module. `None` when the statement cannot be told apart.
pub(super) fn removed(
    file: &RepoPath,
    text: &str,
    facts: &FileFacts,
    module: &str,
    name: &str,
) -> Option<String> {
    let python = Language::of_path(file.as_str())? == &PYTHON;
    let all = statements(text, facts, python);
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
    let inside = text.get(statement.span.clone())?;
    let changed = if name == "default" && !python {
        let open = inside.find('{').or_else(|| inside.find("* as"))?;
        format!("import {}", inside.get(open..)?)
    } else {
        listed(inside, name, python)?
    };
    out.replace_range(statement.span.clone(), &changed);
    Some(out)
}

fn listed(inside: &str, name: &str, python: bool) -> Option<String> {
    let (start, end) = if python {
        let after = inside.find(" import")? + " import".len();
        match inside.get(after..)?.find('(') {
            Some(open) => (after + open + 1, inside.rfind(')')?),
            None => (after, inside.find('#').unwrap_or(inside.len())),
        }
    } else {
        let open = inside.find('{')? + 1;
        (open, open + inside.get(open..)?.find('}')?)
    };
    let items = Items::read(inside, start..end);
    let at = items.names(inside).iter().position(|item| {
        let mut words = item.split_whitespace().filter(|word| *word != "type");
        words.next().map(|word| word.trim_end_matches(':')) == Some(name)
    })?;
    let text = items.without(inside, at)?;
    // `import Default, {} from 'x'`.
    Some(
        text.replace(", {  }", "")
            .replace(", {}", "")
            .replace(", { }", ""),
    )
}
