use super::style::ScriptStyle;
use crate::languages::insert::Page;
use crate::model::Suggestion;

/// Writes an import as the file writes its own.
pub(super) fn import_line(page: &Page<'_>, one: &Suggestion) -> String {
    let rules = page.resolver.module_rules(page.file);
    let neighbors = std::iter::empty();
    let style = ScriptStyle::detect(page.text.as_bytes(), page.facts, neighbors, rules);
    let line = style.statement(&one.name, &one.module, &one.imported, one.type_only);
    let end = if style.semicolons { ";" } else { "" };
    format!("{line}{end}")
}
