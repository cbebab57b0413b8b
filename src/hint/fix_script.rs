use super::items::Items;
use super::place::{Order, Page};
use super::statements::{Statement, statements};
use crate::languages::TYPESCRIPT;
use crate::languages::typescript::ScriptStyle;
use crate::model::{Import, ImportKind, Suggestion};

/// The text of a TypeScript or JavaScript file with one more import.
pub(super) fn insert_script(page: &Page<'_>, suggestion: &Suggestion) -> Option<String> {
    let all = statements(page.text, page.facts, false);
    let style = {
        let rules = page.resolver.module_rules(page.file);
        ScriptStyle::of(page.text.as_bytes(), page.facts, std::iter::empty(), rules)
    };
    if let Some(text) = extended(page, &all, suggestion) {
        return Some(text);
    }
    let Suggestion {
        name,
        module,
        imported,
        type_only,
        ..
    } = suggestion;
    let mut line = style.statement(name, module, imported, *type_only);
    if style.semicolons {
        line.push(';');
    }
    // Types from a module whose values are imported stand beside them.
    let same = all
        .iter()
        .rfind(|one| one.imports.iter().any(|it| it.specifier == *module));
    if let Some(same) = same {
        return Some(page.after(same, &line));
    }
    let order = Groups { page };
    let group = order.of(module, suggestion.path.is_some());
    let key = (0, module.to_lowercase());
    page.sorted_in(&all, &order, group, &key, &line)
        .or_else(|| match page.file.extension() {
            Some("vue" | "svelte" | "astro") => {
                let at = script_start(page.text, page.file.extension() == Some("astro"))?;
                let rest = page.text.get(at..)?;
                let indent = if rest.starts_with('\t') { "\t" } else { "" };
                Some(page.before_all(at, &format!("{indent}{line}")))
            }
            // Where a page without an import wants one, its Markdown does not say.
            Some("mdx") => None,
            _ => Some(page.alone_at(header(page.text), &line, 1)),
        })
}

// Below the line that opens the script of a component: of two, the one that sets it up.
fn script_start(text: &str, frontmatter: bool) -> Option<usize> {
    if frontmatter {
        let bare = text.trim_start();
        return bare
            .starts_with("---\n")
            .then_some(text.len() - bare.len() + "---\n".len());
    }
    let open = text
        .find("<script setup")
        .or_else(|| text.find("<script"))?;
    let end = open + text.get(open..)?.find('>')? + 1;
    text.get(end..)?.starts_with('\n').then_some(end + 1)
}

// Into the clause of an existing import of the same module.
fn extended(page: &Page<'_>, all: &[Statement<'_>], suggestion: &Suggestion) -> Option<String> {
    let Suggestion {
        name,
        imported,
        type_only,
        ..
    } = suggestion;
    if imported == "*" {
        return None;
    }
    let head = |one: &Statement<'_>| {
        page.text
            .get(one.span.clone())
            .unwrap_or_default()
            .to_owned()
    };
    let is_type =
        |text: &str| text.starts_with("import type") && !text.starts_with("import type from");
    let same: Vec<&Statement<'_>> = all
        .iter()
        .filter(|one| {
            one.imports
                .first()
                .is_some_and(|it| is_same(page, it, suggestion))
        })
        .collect();
    let exact = same
        .iter()
        .find(|one| is_type(&head(one)) == *type_only && head(one).contains('{'));
    let inline = page.text.contains("{ type ")
        || page.text.contains(", type ")
        || page.text.contains("\n  type ");
    let (statement, word) = match exact {
        Some(exact) => (exact, ""),
        None if *type_only && inline => (
            same.iter()
                .find(|one| !is_type(&head(one)) && head(one).contains('{'))?,
            "type ",
        ),
        None => return None,
    };
    let text = head(statement);
    let open = text.find('{')?;
    if imported == "default" {
        // `import Default, { named } from 'x'`.
        let free = text.get(..open)?.trim_end() == "import" && word.is_empty();
        return free.then(|| {
            let mut out = page.text.to_owned();
            out.insert_str(statement.span.start + open, &format!("{name}, "));
            out
        });
    }
    let close = text.get(open..)?.find('}')? + open;
    let require = text.contains("require(");
    let new = match (imported == name, require) {
        (true, _) => format!("{word}{name}"),
        (false, true) => format!("{imported}: {name}"),
        (false, false) => format!("{word}{imported} as {name}"),
    };
    let items = Items::read(&text, open + 1..close);
    let mut changed = items.with(&text, &new)?;
    let widest = |text: &str| {
        text.lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    };
    let limit = width(page, all);
    if !text.contains('\n') && widest(&changed) > limit && widest(&text) <= limit {
        let close = changed.get(open..)?.find('}')? + open;
        let names = Items::read(&changed, open + 1..close);
        let indent = if page.text.contains("\n\t") {
            "\t"
        } else {
            "  "
        };
        let list: String = names
            .names(&changed)
            .iter()
            .map(|it| format!("{indent}{it},\n"))
            .collect();
        let list = format!("{{\n{list}}}").replace('\n', page.line_end());
        changed.replace_range(open..=close, &list);
    }
    let mut out = page.text.to_owned();
    out.replace_range(statement.span.clone(), &changed);
    Some(out)
}

fn is_same(page: &Page<'_>, import: &Import, suggestion: &Suggestion) -> bool {
    import.specifier == suggestion.module
        || (suggestion.path.is_some()
            && page.resolver.resolve(page.file, import).files.first() == suggestion.path.as_ref())
}

// prettier's width, unless the file's own imports are wider.
fn width(page: &Page<'_>, all: &[Statement<'_>]) -> usize {
    let texts = [
        ".prettierrc",
        ".prettierrc.json",
        "biome.json",
        "package.json",
    ];
    let told = texts.iter().find_map(|name| {
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
    told.unwrap_or(80).max(widest.unwrap_or(0)).min(160)
}

struct Groups<'p> {
    page: &'p Page<'p>,
}

impl Groups<'_> {
    fn of(&self, specifier: &str, in_repository: bool) -> u8 {
        match specifier {
            it if it.starts_with("..") => 3,
            it if it.starts_with('.') => 4,
            it if TYPESCRIPT.is_standard(it) => 0,
            _ if in_repository => 2,
            _ => 1,
        }
    }
}

impl Order for Groups<'_> {
    fn group(&self, statement: &Statement<'_>) -> u8 {
        let Some(import) = statement.imports.first() else {
            return 0;
        };
        let bare = !import.specifier.starts_with('.');
        let known = bare
            && !self
                .page
                .resolver
                .resolve(self.page.file, import)
                .files
                .is_empty();
        self.of(&import.specifier, known)
    }

    fn key(&self, statement: &Statement<'_>) -> (u8, String) {
        let first = statement.imports.first();
        let effect = first.is_some_and(|it| it.kind == ImportKind::Import && it.names.is_empty());
        let specifier = first.map_or(String::new(), |it| it.specifier.to_lowercase());
        (0, if effect { String::new() } else { specifier })
    }
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
