//! Imports and exports as tests write them.

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
    let row = |it: &Export| format!("{}<{}<{}", it.name, part(&it.local), part(&it.from));
    exports.iter().map(row).collect()
}
