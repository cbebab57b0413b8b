//! Floor 2: what a language is. One folder for each: how its files are read, what an import in them
//! means and how one is written; beside them what all have in common. The only user of tree-sitter.

mod edit;
mod facts;
mod files;
mod finder;
mod insert;
mod installed;
mod language;
mod literal;
mod outline;
mod parse;
mod perturb;
pub(crate) mod python;
mod query;
mod resolver;
mod statements;
mod tags;
pub(crate) mod typescript;
mod uses;

pub use edit::{aliased, removed, respecified, restated};
pub use facts::{facts, syntax_errors};
pub use insert::{Page, inserted};
pub use installed::{Has, exported};
pub use language::{Language, Outside, reading};
pub use outline::{Outline, outline};
pub use perturb::{PerturbableTest, Perturbation, perturbable_tests};
pub use python::PYTHON;
pub use resolver::{Resolution, Resolver, parsed};
pub use typescript::{TYPESCRIPT, package_part};
pub use uses::{Uses, is_word, uses, words};

/// Imports and exports as tests write them.
#[cfg(test)]
mod text_form {
    use crate::model::{Export, Import};

    /// `Kind specifier [name=alias]`, and whether it is of types or nested.
    pub(super) fn import(import: &Import) -> String {
        let name = |name: &crate::model::ImportedName| match &name.alias {
            Some(alias) => format!("{}={alias}", name.name),
            None => name.name.clone(),
        };
        let names: Vec<String> = import.names.iter().map(name).collect();
        format!(
            "{:?} {} [{}]{}{}",
            import.kind,
            import.specifier,
            names.join(" "),
            if import.type_only { " type" } else { "" },
            if import.nested { " nested" } else { "" },
        )
    }

    /// `name<local<from`.
    pub(super) fn exports(exports: &[Export]) -> Vec<String> {
        let part = |text: &Option<String>| text.clone().unwrap_or_default();
        let row = |export: &Export| {
            format!(
                "{}<{}<{}",
                export.name,
                part(&export.local),
                part(&export.from)
            )
        };
        exports.iter().map(row).collect()
    }
}
