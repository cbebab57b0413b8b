use std::collections::BTreeSet;

use super::Query;
use super::evidence::{Candidate, Evidence, Weight};
use super::idiom::Idiom;
use crate::languages::{Has, Language, Outside, exported};
use crate::model::HintSource;

/// Declared packages that are looked into for one name.
const MAX_PACKAGES: usize = 200;

/// Adds what tables and manifests know about a name: the standard library, packages that bear the
/// name, the table of known names, and what declared packages export as they are installed. A package counts only when a manifest declares it.
pub(super) fn add(
    evidence: &mut Evidence,
    language: &Language,
    idiom: &dyn Idiom,
    query: &Query<'_>,
    name: &str,
) {
    let file = query.file;
    let mut put = |module: &str, imported: &str, from: HintSource, erased: bool| {
        let candidate = Candidate::new(module, imported, None);
        evidence.add(candidate, &Weight::tabled(from, erased));
    };
    for one in language.exporters(name) {
        let module = idiom.library(one.module);
        let imported = some_or(one.imported, name);
        put(&module, imported, HintSource::Stdlib, one.erased);
    }
    for (module, imported, from) in idiom.outside(name) {
        put(&module, &imported, from, false);
    }
    let given = configured(query.known, name, language);
    let tabled = tabled(name, language).into_iter();
    let tabled = tabled.filter(|one| idiom.declares(one.module));
    for one in given.into_iter().chain(tabled) {
        let imported = some_or(one.imported, name);
        put(one.module, imported, HintSource::Manifest, one.erased);
    }
    // The declared packages that are installed and export the name.
    let modules = idiom.installed(query.installed, name);
    let shown: BTreeSet<(String, bool)> = modules
        .into_iter()
        .take(MAX_PACKAGES)
        .filter_map(
            |module| match exported(query.installed, file, &module, name)? {
                Has::Exported { erased } => Some((module, erased)),
                Has::Nothing => None,
            },
        )
        .collect();
    for (module, erased) in shown {
        let candidate = Candidate::new(module, name, None);
        let weight = Weight {
            installed: true,
            ..Weight::tabled(HintSource::Manifest, erased)
        };
        evidence.add(candidate, &weight);
    }
}

fn some_or<'n>(imported: &'n str, name: &'n str) -> &'n str {
    if imported.is_empty() { name } else { imported }
}

// `name module [imported] family`, sorted by family; public names of packages in wide use. The
// family is `py`, `js`, or `ts` for what is erased at run time. Asked only for packages that a
// manifest names.
const KNOWN: &str = include_str!("known.txt");

/// Known packages outside the repository that export a name.
fn tabled(name: &str, language: &Language) -> Vec<Outside<'static>> {
    in_rows(KNOWN.lines(), name, language)
}

/// What the user says of a name, in rows of the same form.
fn configured<'t>(table: &'t [String], name: &str, language: &Language) -> Vec<Outside<'t>> {
    in_rows(table.iter().map(String::as_str), name, language)
}

fn in_rows<'t>(
    table: impl Iterator<Item = &'t str>,
    name: &str,
    language: &Language,
) -> Vec<Outside<'t>> {
    table
        .filter_map(|line| {
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
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, Outside, tabled};
    use crate::languages::{PYTHON, TYPESCRIPT};

    #[test]
    fn names_lead_to_their_modules() {
        let outside = |module, imported, erased| Outside {
            module,
            imported,
            erased,
        };
        assert_eq!(
            tabled("useState", &TYPESCRIPT),
            [outside("react", "", false)]
        );
        assert_eq!(
            tabled("ReactNode", &TYPESCRIPT),
            [outside("react", "", true)]
        );
        assert!(tabled("useState", &PYTHON).is_empty());
        assert_eq!(tabled("np", &PYTHON), [outside("numpy", "*", false)]);
    }

    #[test]
    fn every_row_is_whole() {
        assert!(
            KNOWN
                .lines()
                .all(|line| matches!(line.split(' ').count(), 3 | 4))
        );
    }
}
