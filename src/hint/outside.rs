use std::collections::BTreeSet;

use super::Query;
use super::evidence::{Evidence, Way, Weight};
use super::idiom::Idiom;
use super::tables;
use crate::languages::{Has, Language, exported};
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
        let way = Way {
            module: module.to_owned(),
            imported: imported.to_owned(),
            path: None,
        };
        let weight = Weight {
            outside: Some(from),
            types: u32::from(erased),
            ..Weight::default()
        };
        evidence.add(way, &weight);
    };
    for one in language.exporters(name) {
        let module = idiom.library(one.module);
        let imported = some_or(one.imported, name);
        put(&module, imported, HintSource::Stdlib, one.erased);
    }
    for (module, imported, from) in idiom.outside(name) {
        put(&module, &imported, from, false);
    }
    let told = tables::told(query.known, name, language);
    let known = tables::known(name, language).into_iter();
    let known = known.filter(|one| idiom.declares(one.module));
    for one in told.into_iter().chain(known) {
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
        let way = Way {
            module,
            imported: name.to_owned(),
            path: None,
        };
        let weight = Weight {
            outside: Some(HintSource::Manifest),
            types: u32::from(erased),
            installed: true,
            ..Weight::default()
        };
        evidence.add(way, &weight);
    }
}

fn some_or<'n>(imported: &'n str, name: &'n str) -> &'n str {
    if imported.is_empty() { name } else { imported }
}
