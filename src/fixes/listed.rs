//! Adds a name to the `__all__` of the module that defines it, which `import *` of a package obeys.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::list::Question;
use super::log_file::product_files;
use crate::runners::pattern;

// A list of plain names, with the last one and the blank before it.
pattern!(
    LIST,
    r#"(?m)^__all__\b[^=\n]*=\s*[\[(](?:[^\])]*,)?(\s*)(['"])\w+['"]\s*,?\s*[\])]"#
);

/// Returns a fix for each missing name that a module with an `__all__` defines and does not list.
pub(super) fn list_names(question: &Question<'_>, missing: &BTreeSet<String>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for file in product_files(question.graph.source(), |path| {
        path.ends_with(".py") && !missing.is_empty()
    }) {
        for list in LIST.captures_iter(&file.text) {
            let facts = question.graph.resolver().facts(&file.path);
            for one in facts.definitions.iter().filter(|one| missing.contains(&one.name)) {
                let (name, line) = (&one.name, one.line);
                let entry = format!("{0}{name}{0}", &list[2]);
                let blank = if list[1].is_empty() { " " } else { &list[1] };
                let (head, tail) = file.text.split_at(list.get(2).map_or(0, |quote| quote.start()));
                let what = format!("add `{name}`, which line {line} defines, to `__all__`");
                let fix = file.make_candidate(&what, &format!("{head}{entry},{blank}{tail}"));
                found.extend(fix.filter(|_| !list[0].contains(&entry)));
            }
        }
    }
    found
}
