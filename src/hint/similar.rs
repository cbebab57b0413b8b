//! Finds names that differ by a typo. Pairs such as `get` and `set` are excluded, because both are
//! common and mean opposites.

use std::collections::BTreeSet;

use super::query::Undefined;
use crate::languages::uses;
use crate::model::{HintSource, Suggestion};

/// Proposes names in scope that differ from the undefined one by a typo, with an empty statement: imported names,
/// names that the file binds, parameters, else names of the language itself. Never certain.
pub(super) fn similar_names(undef: &Undefined<'_>) -> Vec<Suggestion> {
    let text = String::from_utf8_lossy(undef.text);
    let imported = undef.facts.imports.iter().flat_map(|import| &import.names);
    let imported: BTreeSet<&str> = imported.map(|name| name.local()).collect();
    let names = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'));
    let mut near = nearest_names(undef.name, names);
    near.retain(|(_, word)| {
        let found =
            || uses(undef.file, undef.text, word).filter(|_| !undef.language.is_global(word));
        imported.contains(word) || found().is_some_and(|found| found.is_own() || found.shadowed)
    });
    if near.is_empty() {
        let globals = undef.language.global_names();
        let alike = globals.filter(|name| is_upper(name) == is_upper(undef.name));
        near = nearest_names(undef.name, alike);
    }
    let suggestions = near.into_iter().take(3).map(|(_, name)| Suggestion {
        name: undef.name.to_owned(),
        confidence: 25,
        source: HintSource::Similar,
        imported: name.to_owned(),
        ..Suggestion::default()
    });
    suggestions.collect()
}

// `Required` is a type, and `require` is not.
fn is_upper(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Returns the names that may have been mistaken for another, the nearest first.
pub(super) fn nearest_names<'n>(
    wrong: &str,
    names: impl Iterator<Item = &'n str>,
) -> BTreeSet<(usize, &'n str)> {
    names.filter_map(|name| Some((distance(wrong, name)?, name))).collect()
}

/// Returns the name that is nearest to another, when no second one is as near.
pub fn only_near<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut near = nearest_names(wrong, names).into_iter();
    let (edits, right) = near.next()?;
    let rival = near.next().is_some_and(|(other, _)| other == edits);
    (!rival).then(|| right.to_owned())
}

/// Returns the edits between two names that may have been mistaken for each other: none when only case and
/// underscores differ, one in a short name, two in a long one.
pub fn distance(wanted: &str, name: &str) -> Option<usize> {
    if wanted == name || wanted.len() < 3 || name.len() < 3 || are_opposites(wanted, name) {
        return None;
    }
    let [plain, other] = [wanted, name].map(|text| text.to_lowercase().replace('_', ""));
    if plain == other {
        return Some(0);
    }
    let allowed = match wanted.chars().count() {
        ..=3 => return None,
        4..=6 => 1,
        _ => 2,
    };
    if wanted.len().abs_diff(name.len()) > allowed {
        return None;
    }
    let edits = strsim::osa_distance(wanted, name);
    (edits <= allowed).then_some(edits)
}

// Words that mean the opposite, and heads that negate: one in place of the other is no typo.
const OPPOSITES: &str = "get/set min/max import/export include/exclude en/de inc/dec input/output on/off in/ un/ dis/ \
    non/ not/ no/ de/";

fn are_opposites(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| text.to_lowercase().replace('_', ""));
    let mut pairs = OPPOSITES.split_whitespace().filter_map(|pair| pair.split_once('/'));
    one != other
        && pairs.any(|(a, b)| one.replacen(a, b, 1) == other || other.replacen(a, b, 1) == one)
}

#[cfg(test)]
mod tests {
    use super::{are_opposites, distance};

    #[test]
    fn opposites_are_no_typos() {
        for (one, other) in [
            ("active_users", "inactive_users"),
            ("encode", "decode"),
            ("encrypt", "decrypt"),
            ("get_name", "set_name"),
            ("min_size", "max_size"),
            ("import_all", "export_all"),
            ("lock", "unlock"),
        ] {
            assert!(
                are_opposites(one, other) && are_opposites(other, one),
                "{one}"
            );
            assert_eq!(distance(one, other), None);
        }
        assert_eq!(distance("reponse", "response"), Some(1));
        assert_eq!(distance("definate", "definite"), Some(1));
    }

    #[test]
    fn typos_are_near() {
        for (wanted, name, expected) in [
            ("Cliruner", "CliRunner", Some(2)),
            ("clirunner", "CliRunner", Some(0)),
            ("load_confg", "load_config", Some(1)),
            ("teh", "the", None),
            ("data", "date", Some(1)),
            ("parse", "format", None),
            ("same", "same", None),
        ] {
            assert_eq!(distance(wanted, name), expected, "{wanted}");
        }
    }
}
