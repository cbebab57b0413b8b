use tree_sitter::Node;

use crate::languages::literal::Syntax;

use super::language::is_node;
use super::style::ScriptStyle;
use crate::languages::insert::{Inserter, Page};
use crate::languages::names::Names;
use crate::languages::statements::Statement;
use crate::model::{Import, ImportKind, Suggestion};

/// Groups as most files have them: Node.js, packages, the repository, folders above, this folder.
pub(super) struct Groups<'p> {
    page: &'p Page<'p>,
    style: ScriptStyle,
}

impl<'p> Groups<'p> {
    pub(super) fn new(page: &'p Page<'p>) -> Self {
        let rules = page.resolver.module_rules(page.file);
        let none = std::iter::empty();
        let style = ScriptStyle::detect(page.text.as_bytes(), page.facts, none, rules);
        Self { page, style }
    }

    fn text(&self, statement: &Statement<'_>) -> &'p str {
        let text: &'p str = self.page.text;
        text.get(statement.span.clone()).unwrap_or_default()
    }

    fn is_of_types(&self, statement: &Statement<'_>) -> bool {
        let text = self.text(statement);
        text.starts_with("import type") && !text.starts_with("import type from")
    }

    // Those that take names from the same module.
    fn same<'s, 'f>(&self, all: &'s [Statement<'f>], one: &Suggestion) -> Vec<&'s Statement<'f>> {
        let first = |statement: &&Statement<'_>| {
            let first = statement.imports.first();
            statement.names.is_some() && first.is_some_and(|it| is_same(self.page, it, one))
        };
        all.iter().filter(first).collect()
    }
}

fn group(specifier: &str, in_repository: bool) -> u8 {
    match specifier {
        it if it.starts_with("..") => 3,
        it if it.starts_with('.') => 4,
        it if is_node(it) => 0,
        _ if in_repository => 2,
        _ => 1,
    }
}

impl Inserter for Groups<'_> {
    // The clause of an existing import of the same module.
    fn extended<'s, 'f>(
        &self,
        all: &'s [Statement<'f>],
        one: &Suggestion,
    ) -> Option<(&'s Statement<'f>, String, usize)> {
        let Suggestion {
            name,
            imported,
            type_only,
            ..
        } = one;
        let same = self.same(all, one);
        let text = self.page.text;
        let inline = ["{ type ", ", type ", "\n  type "]
            .iter()
            .any(|mark| text.contains(mark));
        let exact = same.iter().find(|it| self.is_of_types(it) == *type_only);
        let (statement, word) = match exact {
            Some(exact) => (*exact, ""),
            None if *type_only && inline => {
                (*same.iter().find(|it| !self.is_of_types(it))?, "type ")
            }
            None => return None,
        };
        let required = self.text(statement).contains("require(");
        let item = match imported.as_str() {
            "*" | "default" => return None,
            same if same == name => format!("{word}{name}"),
            other if required => format!("{other}: {name}"),
            other => format!("{word}{other} as {name}"),
        };
        Some((statement, item, width(self.page, all)))
    }

    fn broken(&self) -> (&'static str, &'static str, &'static str) {
        let tabs = self.page.text.contains("\n\t");
        ("{", if tabs { "\t" } else { "  " }, "}")
    }

    fn line(&self, one: &Suggestion) -> String {
        let style = &self.style;
        let line = style.statement(&one.name, &one.module, &one.imported, one.type_only);
        if style.semicolons {
            format!("{line};")
        } else {
            line
        }
    }

    fn sorted(&self, statement: &Statement<'_>) -> (u8, (u8, String)) {
        let Some(import) = statement.imports.first() else {
            return (0, (0, String::new()));
        };
        let package = !import.specifier.starts_with('.')
            && !self
                .page
                .resolver
                .resolve(self.page.file, import)
                .files
                .is_empty();
        let effect = import.kind == ImportKind::Import && import.names.is_empty();
        let key = if effect {
            String::new()
        } else {
            import.specifier.to_lowercase()
        };
        (group(&import.specifier, package), (0, key))
    }

    fn place(&self, one: &Suggestion) -> (u8, (u8, String)) {
        let group = group(&one.module, one.path.is_some());
        (group, (0, one.module.to_lowercase()))
    }

    // Types from a module whose values are imported stand beside them.
    fn peer<'s, 'f>(
        &self,
        all: &'s [Statement<'f>],
        one: &Suggestion,
    ) -> Option<&'s Statement<'f>> {
        all.iter()
            .rfind(|it| it.imports.iter().any(|it| it.specifier == one.module))
    }

    // `import Default, { named } from 'x'`.
    fn as_default(&self, all: &[Statement<'_>], one: &Suggestion) -> Option<String> {
        let same = self.same(all, one);
        let exact = same
            .iter()
            .find(|it| self.is_of_types(it) == one.type_only)?;
        let open = exact.names.as_ref()?.whole.start;
        let head = self.page.text.get(exact.span.start..open)?;
        let free = one.imported == "default" && head.trim_end() == "import";
        free.then(|| {
            let mut out = self.page.text.to_owned();
            out.insert_str(open, &format!("{}, ", one.name));
            out
        })
    }

    fn first(&self, line: &str) -> Option<String> {
        let page = self.page;
        match page.file.extension() {
            Some("vue" | "svelte" | "astro") => {
                let at = script_start(page.text, page.file.extension() == Some("astro"))?;
                let rest = page.text.get(at..)?;
                let first = rest.lines().find(|it| !it.trim().is_empty());
                let first = first.filter(|it| !it.trim_start().starts_with("</"));
                let first = first.unwrap_or_default();
                let indent = &first[..first.len() - first.trim_start().len()];
                Some(page.before_all(at, &format!("{indent}{line}")))
            }
            // Where a page without an import wants one, its Markdown does not say.
            Some("mdx") => None,
            _ => Some(page.alone_at(header(page.text), line, 1)),
        }
    }
}

/// The list in braces of an import, an export, or what takes a module apart.
pub(super) fn names(node: Node<'_>) -> Option<Names> {
    let parts: Vec<Node<'_>> = match node.kind() {
        "named_imports" | "export_clause" | "object_pattern" => {
            return Names::from_list(node, node.start_byte());
        }
        "import_statement"
        | "export_statement"
        | "lexical_declaration"
        | "variable_declaration"
        | "import_clause" => node.named_children(&mut node.walk()).collect(),
        "variable_declarator" => node.field("name").into_iter().collect(),
        _ => return None,
    };
    parts.into_iter().find_map(names)
}

// Below the line that opens the script of a component: of two, the one that sets it up.
fn script_start(text: &str, frontmatter: bool) -> Option<usize> {
    if frontmatter {
        let bare = text.trim_start();
        let end = text.len() - bare.len() + "---".len();
        return bare.starts_with("---").then(|| below(text, end))?;
    }
    let open = text
        .find("<script setup")
        .or_else(|| text.find("<script"))?;
    below(text, open + text.get(open..)?.find('>')? + 1)
}

// The next line, if this one has no more.
fn below(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let end = ["\n", "\r\n"].iter().find(|it| rest.starts_with(**it))?;
    Some(at + end.len())
}

fn is_same(page: &Page<'_>, import: &Import, suggestion: &Suggestion) -> bool {
    import.specifier == suggestion.module
        || (suggestion.path.is_some()
            && page.resolver.target(page.file, import).as_ref() == suggestion.path.as_ref())
}

// prettier's width, unless the file's own imports are wider.
fn width(page: &Page<'_>, all: &[Statement<'_>]) -> usize {
    let texts = [
        ".prettierrc",
        ".prettierrc.json",
        "biome.json",
        "package.json",
    ];
    let configured = texts.iter().find_map(|name| {
        let text = page.resolver.text_above(page.file, name)?;
        let at = text.find("printWidth").or_else(|| text.find("lineWidth"))?;
        let digits = text
            .get(at..)?
            .trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits.get(..end)?.parse::<usize>().ok()
    });
    let spans = all.iter().filter_map(|one| page.text.get(one.span.clone()));
    let widest = spans
        .flat_map(str::lines)
        .map(|line| line.chars().count())
        .max();
    configured.unwrap_or(80).max(widest.unwrap_or(0)).min(160)
}

// Where the first import of a file goes: below a shebang, a leading comment and directives.
fn header(text: &str) -> usize {
    let mut at = 0;
    let mut end = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let line = rest.split_inclusive('\n').next().unwrap_or_default();
        let trimmed = line.trim();
        if trimmed.starts_with("/*") {
            let Some(close) = rest.find("*/") else { break };
            let after = rest.get(close..).unwrap_or_default();
            let length = close + after.find('\n').map_or(after.len(), |it| it + 1);
            // A comment directly above code belongs to that code.
            let next = rest
                .get(length..)
                .unwrap_or_default()
                .lines()
                .next()
                .unwrap_or_default();
            if !next.trim().is_empty() && !is_directive(next) && !trimmed.starts_with("/*!") {
                break;
            }
            at += length;
            end = at;
            continue;
        }
        let comment = trimmed.starts_with("//") || line.starts_with("#!");
        if !(trimmed.is_empty() || comment || is_directive(trimmed)) {
            break;
        }
        at += line.len();
        if !trimmed.is_empty() {
            end = at;
        }
    }
    end
}

fn is_directive(line: &str) -> bool {
    let line = line.trim().trim_end_matches(';');
    let quoted = |quote: char| line.starts_with(&format!("{quote}use ")) && line.ends_with(quote);
    quoted('"') || quoted('\'')
}
