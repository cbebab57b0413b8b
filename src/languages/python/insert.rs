use tree_sitter::Node;

use crate::languages::literal::Syntax;

use super::language::is_standard;
use crate::languages::insert::{Inserter, Page, widest};
use crate::languages::names::Names;
use crate::languages::statements::Statement;
use crate::languages::uses::is_word;
use crate::model::{Import, ImportKind, Suggestion};

// isort's order: `import x` before `from x import y`, or all by module.
pub(super) struct Isort<'p> {
    page: &'p Page<'p>,
    by_module: bool,
}

impl<'p> Isort<'p> {
    pub(super) fn new(page: &'p Page<'p>, all: &[Statement<'_>]) -> Self {
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

impl Inserter for Isort<'_> {
    // The one `from module import …` at the top level, unless the file has one name a line.
    fn extended<'s, 'f>(
        &self,
        all: &'s [Statement<'f>],
        one: &Suggestion,
    ) -> Option<(&'s Statement<'f>, String, usize)> {
        let wanted = |found: &&Statement<'_>| match found.imports.as_slice() {
            [import] => {
                import.kind == ImportKind::From
                    && import.specifier == one.module
                    && import.names.iter().all(|name| name.name != "*")
            }
            _ => false,
        };
        let mut same = all.iter().filter(wanted);
        let (statement, None) = (same.next()?, same.next()) else {
            return None;
        };
        if one.imported == "*" || single_line_style(all) {
            return None;
        }
        let name = if one.imported == one.name {
            one.name.clone()
        } else {
            format!("{} as {}", one.imported, one.name)
        };
        let text = self.page.text.get(statement.span.clone())?;
        let own = widest(self.page.text).clamp(79, 120);
        let width = if text.contains('#') {
            usize::MAX
        } else {
            own.min(limit(self.page))
        };
        Some((statement, name, width))
    }

    fn broken(&self) -> (&'static str, &'static str, &'static str) {
        (" (", "    ", ")")
    }

    fn line(&self, one: &Suggestion) -> String {
        one.import_statement.clone()
    }

    fn sorted(&self, statement: &Statement<'_>) -> (u8, (u8, String)) {
        let Some(import) = statement.imports.first() else {
            return (0, (0, String::new()));
        };
        let from = import.kind == ImportKind::From;
        let first = import.names.first().filter(|_| from);
        let name = first.map_or("*", |name| &name.name);
        (
            group_of(self.page, statement),
            self.key_of(from, &import.specifier, name),
        )
    }

    fn place(&self, one: &Suggestion) -> (u8, (u8, String)) {
        let from = one.imported != "*";
        let group = group(self.page, &one.module, one.path.is_some());
        (group, self.key_of(from, &one.module, &one.imported))
    }

    fn first(&self, line: &str) -> Option<String> {
        let text = self.page.text;
        let at = header(text);
        let below = if next_is_definition(text, at) { 2 } else { 1 };
        Some(self.page.alone_at(at, line, below))
    }
}

/// What stands behind the `import` of a `from`, with its brackets.
pub(super) fn names(node: Node<'_>) -> Option<Names> {
    if node.kind() != "import_from_statement" {
        return None;
    }
    let word = node.all().find(|it| it.kind() == "import")?;
    Names::from_list(node, word.end_byte())
}

/// The module on the line of its statement or call, as a dotted name of its own.
pub(super) fn specifier_in(rest: &str, import: &Import) -> Option<usize> {
    let line = rest.split('\n').next()?;
    let inside = |byte: Option<&u8>| byte.is_some_and(|it| *it == b'.' || is_word(*it));
    let module = import.specifier.as_str();
    let mut found = line.match_indices(module).map(|(at, _)| at);
    found.find(|at| {
        let before = at.checked_sub(1).and_then(|at| line.as_bytes().get(at));
        !inside(before) && !inside(line.as_bytes().get(at + module.len()))
    })
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
        standard if is_standard(standard) && !in_repository => 1,
        _ if in_repository => 3,
        _ => {
            let resolution = page
                .resolver
                .resolve(page.file, &Import::from_specifier(module));
            if resolution.files.is_empty() { 2 } else { 3 }
        }
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
