//! Layer 2: what the program knows of TypeScript, JavaScript and Python, and the only user of tree-sitter.
//!
//! A file becomes [`FileFacts`](crate::model::FileFacts): its imports, exports and top-level definitions ([`facts`]). What
//! an import means is answered by a [`Resolver`], from the list of files and the projects' own settings alone: nothing is
//! installed, nothing is run. Four more questions are asked of a syntax tree: whether the text parses ([`syntax_errors`]),
//! which definitions a file has ([`outline()`]), how it uses a name ([`uses()`]), and which assertions its tests make
//! ([`perturbable_tests`]). [`inserted`], [`removed`] and their neighbors write imports.
//!
//! [`Language`] is the row that all of this goes through. One more language is a folder beside `python` and `typescript`, a
//! folder of queries in `grammars/`, and an entry in `LANGUAGES`. The tables of names (`names.txt`, `globals.txt` and so on)
//! are written by `scripts/name_tables.py`.

mod edit;
mod facts;
mod files;
mod finder;
mod insert;
mod installed;
mod language;
mod literal;
#[cfg(feature = "program")]
mod locks;
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
#[cfg(feature = "program")]
mod versions;

pub use edit::{aliased, removed, respecified, restated};
pub use facts::{facts, parses_where_changed, syntax_errors};
pub use insert::{Page, inserted};
pub use installed::{Has, exported};
pub use language::{Language, Outside, reading};
#[cfg(feature = "program")]
pub use locks::{Lock, normal};
pub use outline::{Outline, outline};
pub use perturb::{PerturbableTest, Perturbation, perturbable_tests};
pub use python::PYTHON;
pub use resolver::{Resolution, Resolver, parsed};
pub use typescript::{TYPESCRIPT, package_part};
pub use uses::{Uses, is_word, uses, words};
#[cfg(feature = "program")]
pub use versions::{first_version, is_below};

/// Imports and exports as tests write them.
#[cfg(test)]
mod text_form {
    use crate::model::{Export, Import};

    /// `Kind specifier [name=alias]`, and whether it is type-only or nested.
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
