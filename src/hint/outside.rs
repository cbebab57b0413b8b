//! Adds candidates from outside the repository: standard library and packages.

use super::Query;
use super::evidence::{Candidate, Evidence, Weight};
use super::import_style::ImportStyle;
use super::query::Undefined;
use crate::languages::{Has, Language, Outside, exported};
use crate::model::{HintSource, Import, RepoPath};

// Rows `name module [imported] family`, sorted by family: public names of packages in wide use. The family is `py`,
// `js`, or `ts` for names that are erased at run time. Asked only for packages that a manifest declares.
const KNOWN: &str = include_str!("known.txt");

/// Adds evidence from outside the repository: the standard library, packages of that name, the table of known
/// names, and the exports of installed packages. A package counts only when a manifest declares it.
pub(super) fn add_outside(
    evidence: &mut Evidence,
    style: &dyn ImportStyle,
    query: &Query<'_>,
    undef: &Undefined<'_>,
) {
    let (name, language) = (undef.name, undef.language);
    let mut put = |module: &str, imported: &str, weight: Weight| {
        let imported = if imported.is_empty() { name } else { imported };
        evidence.add(Candidate::new(module, imported, None), &weight);
    };
    for one in language.exporters(name) {
        let weight = Weight::outside(HintSource::Stdlib, one.erased);
        put(&style.library_name(one.module), one.imported, weight);
    }
    for (module, imported, from) in style.outside_names(name) {
        put(&module, &imported, Weight::outside(from, false));
    }
    let known = rows_of(KNOWN.lines(), name, language);
    for one in known.filter(|one| style.declares_module(one.module)) {
        let weight = Weight::outside(HintSource::Manifest, one.erased);
        put(one.module, one.imported, weight);
    }
    // Bounds the declared packages that are looked into for one name.
    for module in style.installed_modules(undef.installed, name).into_iter().take(200) {
        let has = exported(undef.installed, query.file, &module, name);
        if let Some(Has::Exported { erased }) = has {
            let weight = Weight {
                installed: true,
                ..Weight::outside(HintSource::Manifest, erased)
            };
            put(&module, name, weight);
        }
    }
    for import in &undef.facts.imports {
        if let Some((path, weight)) = find_beside(undef, import) {
            evidence.add(Candidate::new(&*import.specifier, name, path), &weight);
        }
    }
}

/// Returns the module of an import and its weight, where that has the missing name or cannot be looked into: the name
/// may be one more of those that are taken from there.
pub(super) fn find_beside(
    undef: &Undefined<'_>,
    import: &Import,
) -> Option<(Option<RepoPath>, Weight)> {
    let named = import.names.iter().filter(|one| !matches!(&*one.name, "*" | "default")).count();
    let module = Import::from_specifier(&import.specifier);
    let target = undef.graph.resolver().target(undef.file, &module);
    let has_it = match &target {
        Some(path) => undef.graph.defining(path, undef.name).is_some(),
        None if undef.language.is_standard(&import.specifier) => false,
        None => exported(undef.installed, undef.file, &import.specifier, undef.name).is_none(),
    };
    let weight = Weight {
        beside: if target.is_none() { named as u32 } else { 0 },
        passes_on: target.is_some(),
        types: u32::from(import.type_only),
        ..Weight::default()
    };
    (has_it && named > 0).then_some((target, weight))
}

fn rows_of<'t>(
    table: impl Iterator<Item = &'t str>,
    name: &str,
    language: &Language,
) -> impl Iterator<Item = Outside<'t>> {
    table.filter_map(move |line| {
        let row: Vec<&str> = line.split_whitespace().collect();
        let (found, module, imported, family) = match row.as_slice() {
            [found, module, family] => (*found, *module, "", *family),
            [found, module, imported, family] => (*found, *module, *imported, *family),
            _ => return None,
        };
        (found == name && language.families.contains(&family)).then_some(Outside {
            module,
            imported,
            erased: family == "ts",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, rows_of};
    use crate::languages::{PYTHON, TYPESCRIPT};

    #[test]
    fn known_names_lead_to_their_modules() {
        let known = |name, language| -> Vec<(&str, &str, bool)> {
            let rows = rows_of(KNOWN.lines(), name, language);
            rows.map(|one| (one.module, one.imported, one.erased)).collect()
        };
        assert_eq!(known("useState", &TYPESCRIPT), [("react", "", false)]);
        assert_eq!(known("ReactNode", &TYPESCRIPT), [("react", "", true)]);
        assert!(known("useState", &PYTHON).is_empty());
        assert_eq!(known("np", &PYTHON), [("numpy", "*", false)]);
        let mut lines = KNOWN.lines();
        assert!(lines.all(|line| matches!(line.split(' ').count(), 3 | 4)));
    }
}
