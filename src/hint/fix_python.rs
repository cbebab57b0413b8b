use super::items::Items;
use super::place::{Order, Page};
use super::statements::{Statement, statements};
use crate::languages::PYTHON;
use crate::model::{Import, ImportKind, Suggestion};

/// The text of a Python file with one more import.
pub(super) fn insert_python(page: &Page<'_>, suggestion: &Suggestion) -> Option<String> {
    let all = statements(page.text, page.facts, true);
    let from = suggestion.imported != "*";
    if from && let Some(text) = extended(page, &all, suggestion) {
        return Some(text);
    }
    let line = suggestion.import_statement.as_str();
    let order = Isort::of(page, &all);
    let key = order.key_of(from, &suggestion.module, &suggestion.imported);
    let group = group(page, &suggestion.module, suggestion.path.is_some());
    page.sorted_in(&all, &order, group, &key, line).or_else(|| {
        let below = if next_is_definition(page.text, header(page.text)) {
            2
        } else {
            1
        };
        Some(page.alone_at(header(page.text), line, below))
    })
}

// Into an existing `from module import …` at the top level, unless the file has one name a line.
fn extended(page: &Page<'_>, all: &[Statement<'_>], suggestion: &Suggestion) -> Option<String> {
    let wanted = |one: &&Statement<'_>| match one.imports.as_slice() {
        [import] => {
            import.kind == ImportKind::From
                && import.specifier == suggestion.module
                && import.names.iter().all(|name| name.name != "*")
        }
        _ => false,
    };
    let mut same = all.iter().filter(wanted);
    let (statement, None) = (same.next()?, same.next()) else {
        return None;
    };
    if single_line_style(all) {
        return None;
    }
    let text = page.text.get(statement.span.clone())?;
    let after = text.find(" import")? + " import".len();
    let (start, end) = match text.get(after..)?.find('(') {
        Some(open) => (after + open + 1, text.rfind(')')?),
        None => (after, comment(text)),
    };
    let new = if suggestion.imported == suggestion.name {
        suggestion.name.clone()
    } else {
        format!("{} as {}", suggestion.imported, suggestion.name)
    };
    let items = Items::read(text, start..end);
    let mut changed = items.with(text, &new)?;
    let width = |text: &str| {
        text.lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    };
    let limit = width(page.text).clamp(79, 120).min(limit(page));
    if width(&changed) > limit
        && width(text) <= limit
        && !text.contains('\n')
        && comment(text) == text.len()
    {
        let open = changed.find('(').map_or(after, |at| at + 1);
        let close = changed.rfind(')').unwrap_or(changed.len());
        let all = Items::read(&changed, open..close);
        let names: String = all
            .names(&changed)
            .iter()
            .map(|name| format!("    {name},\n"))
            .collect();
        let end = page.line_end();
        changed = format!("{} (\n{names})", text.get(..after)?).replace('\n', end);
    }
    let mut out = page.text.to_owned();
    out.replace_range(statement.span.clone(), &changed);
    Some(out)
}

// The line length that the project's formatter is told, else black's.
fn limit(page: &Page<'_>) -> usize {
    let keys = ["line-length", "line_length", "max-line-length"];
    let texts = [
        "pyproject.toml",
        "ruff.toml",
        "setup.cfg",
        ".flake8",
        "tox.ini",
    ];
    for name in texts {
        let Some(text) = page.resolver.text_above(page.file, name) else {
            continue;
        };
        let found = text.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            keys.contains(&key.trim())
                .then(|| value.trim().parse().ok())?
        });
        if let Some(found) = found {
            return found;
        }
    }
    88
}

fn comment(text: &str) -> usize {
    text.find('#').map_or(text.len(), |at| {
        text.get(..at).map_or(at, |head| head.trim_end().len())
    })
}

// Several statements from one module, each with a single name.
fn single_line_style(all: &[Statement<'_>]) -> bool {
    let single = |one: &Statement<'_>| match one.imports.as_slice() {
        [import] if import.kind == ImportKind::From && import.names.len() == 1 => {
            Some(import.specifier.clone())
        }
        _ => None,
    };
    let many = all
        .iter()
        .flat_map(|one| &one.imports)
        .any(|import| import.kind == ImportKind::From && import.names.len() > 1);
    let mut seen = std::collections::BTreeSet::new();
    !many
        && all
            .iter()
            .filter_map(single)
            .any(|module| !seen.insert(module))
}

fn group(page: &Page<'_>, module: &str, in_repository: bool) -> u8 {
    match module {
        "__future__" => 0,
        relative if relative.starts_with('.') => 4,
        standard if PYTHON.is_standard(standard) && !in_repository => 1,
        _ if in_repository => 3,
        _ => {
            let resolution = page.resolver.resolve(page.file, &Import::of(module));
            if resolution.files.is_empty() { 2 } else { 3 }
        }
    }
}

// isort's order: `import x` before `from x import y`, or all by module.
struct Isort<'p> {
    page: &'p Page<'p>,
    by_module: bool,
}

impl<'p> Isort<'p> {
    fn of(page: &'p Page<'p>, all: &[Statement<'_>]) -> Self {
        // A plain import that follows a `from` of its own group in one block.
        let by_module = all.windows(2).any(|pair| match pair {
            [a, b] => {
                let adjacent = page
                    .text
                    .get(a.span.end..b.span.start)
                    .is_some_and(|it| it.trim_end_matches(' ').matches('\n').count() == 1);
                let plain = |one: &Statement<'_>| {
                    one.imports
                        .first()
                        .is_some_and(|it| it.kind == ImportKind::Import)
                };
                let of = |one: &Statement<'_>| group_of(page, one);
                adjacent && !plain(a) && plain(b) && !a.imports.is_empty() && of(a) == of(b)
            }
            _ => false,
        });
        Self { page, by_module }
    }

    fn key_of(&self, from: bool, module: &str, imported: &str) -> (u8, String) {
        let sort = u8::from(from && !self.by_module);
        (
            sort,
            format!("{} {}", module.to_lowercase(), imported.to_lowercase()),
        )
    }
}

impl Order for Isort<'_> {
    fn group(&self, statement: &Statement<'_>) -> u8 {
        group_of(self.page, statement)
    }

    fn key(&self, statement: &Statement<'_>) -> (u8, String) {
        statement
            .imports
            .first()
            .map_or((0, String::new()), |import| {
                let from = import.kind == ImportKind::From;
                let first = import.names.first().filter(|_| from);
                let name = first.map_or("*", |name| &name.name);
                self.key_of(from, &import.specifier, name)
            })
    }
}

fn group_of(page: &Page<'_>, statement: &Statement<'_>) -> u8 {
    let Some(import) = statement.imports.first() else {
        return 0;
    };
    let resolution = page.resolver.resolve(page.file, import);
    group(page, &import.specifier, !resolution.files.is_empty())
}

// Where the first import of a file goes: below a shebang, leading comments and the docstring.
fn header(text: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let line = rest.split_inclusive('\n').next().unwrap_or_default();
        let trimmed = line.trim();
        let blank_below = rest
            .lines()
            .skip(1)
            .find(|line| !line.trim().starts_with('#'));
        let comment = trimmed.starts_with('#')
            && (at == 0
                || text
                    .get(..at)
                    .is_some_and(|head| head.lines().all(|it| it.starts_with('#'))))
            && (line.starts_with("#!")
                || blank_below.is_none_or(|it| it.trim().is_empty() || is_docstring(it)));
        if line.is_empty() || !(trimmed.is_empty() || comment) {
            break;
        }
        at += line.len();
    }
    let rest = text.get(at..).unwrap_or_default();
    let end = docstring(rest).map_or(at, |end| at + end);
    if end > at {
        return end;
    }
    // Blank lines above the code stay below the import.
    let head = text.get(..at).unwrap_or_default();
    head.trim_end().len() + usize::from(!head.trim_end().is_empty() && !head.is_empty())
}

fn is_docstring(line: &str) -> bool {
    let line = line.trim_start_matches(['r', 'R', 'u', 'U']);
    line.starts_with('"') || line.starts_with('\'')
}

fn docstring(text: &str) -> Option<usize> {
    let body = text.trim_start_matches(['r', 'R', 'u', 'U']);
    let prefix = text.len() - body.len();
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|it| body.starts_with(it))?;
    let close = body.get(quote.len()..)?.find(quote)?;
    let end = prefix + 2 * quote.len() + close;
    let line = text
        .get(end..)?
        .find('\n')
        .map_or(text.len(), |it| end + it + 1);
    text.get(end..line)?.trim().is_empty().then_some(line)
}

fn next_is_definition(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let next = rest
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    ["def ", "class ", "@", "async def "]
        .iter()
        .any(|word| next.starts_with(word))
}
