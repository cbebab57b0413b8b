use std::collections::BTreeSet;

use super::query::Undefined;
use crate::languages::{free_names, uses};
use crate::model::{HintSource, Suggestion};

const MAX_SUGGESTIONS: usize = 3;

/// Proposes names in scope that differ from the undefined one by a typo, with an empty statement. Never certain.
pub(super) fn similar(undef: &Undefined<'_>) -> Vec<Suggestion> {
    let suggestion = |name: String| Suggestion {
        name: undef.name.to_owned(),
        confidence: 25,
        source: HintSource::Similar,
        imported: name,
        ..Suggestion::default()
    };
    let near = names_in_scope(undef).into_iter().take(MAX_SUGGESTIONS);
    near.map(|(_, name)| suggestion(name)).collect()
}

// Imported names, names that the file binds, parameters; else names of the language itself. Nearest first.
fn names_in_scope(undef: &Undefined<'_>) -> BTreeSet<(usize, String)> {
    let text = String::from_utf8_lossy(undef.text);
    let free = free_names(undef.file, undef.text);
    let near = |name: &str| distance(undef.name, name).or(short_typo(undef.name, name));
    let is_bound = |name: &str| {
        let found = uses(undef.file, undef.text, name);
        found.is_some_and(|found| found.is_own() || found.shadowed || found.value)
    };
    let imported = undef.facts.imports.iter().flat_map(|import| &import.names);
    let imported: BTreeSet<&str> = imported.map(|name| name.local()).collect();
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let words: BTreeSet<&str> = text.split(|letter| !is_letter(letter)).collect();
    let mut found = BTreeSet::new();
    for word in words {
        let Some(edits) = near(word) else { continue };
        let in_scope = imported.contains(word)
            || (!undef.language.is_global(word)
                && !free.iter().any(|free| free == word)
                && is_bound(word));
        if in_scope {
            found.insert((edits, word.to_owned()));
        }
    }
    if found.is_empty() {
        let all = undef.language.global_names();
        found.extend(all.filter_map(|word| Some((near(word)?, word.to_owned()))));
    }
    found
}

// A letter too few or too many in a name of two or three, such as `sm` for `sum`.
fn short_typo(wanted: &str, name: &str) -> Option<usize> {
    let short = (2..=3).contains(&wanted.len()) && (3..=4).contains(&name.len());
    let typo = short && wanted.len() != name.len() && wanted.get(..1) == name.get(..1);
    (typo && strsim::osa_distance(wanted, name) == 1).then_some(1)
}

/// Returns the edits between two names that may have been mistaken for each other: none when only case and
/// underscores differ, one in a short name, two in a long one.
#[must_use]
pub fn distance(wanted: &str, name: &str) -> Option<usize> {
    let plain = |text: &str| text.to_lowercase().replace('_', "");
    if wanted == name || wanted.len() < 3 || name.len() < 3 || are_opposites(wanted, name) {
        return None;
    }
    if plain(wanted) == plain(name) {
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

// Whether two names differ in a word that means the opposite, which is no typo.
fn are_opposites(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let shared = one.bytes().zip(other.bytes());
    let head = shared.take_while(|(a, b)| a == b).count();
    let (Some(one), Some(other)) = (one.get(head..), other.get(head..)) else {
        return false;
    };
    let tail = one.bytes().rev().zip(other.bytes().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    let (Some(one), Some(other)) = (one.get(..one.len() - tail), other.get(..other.len() - tail))
    else {
        return false;
    };
    OPPOSITES.contains(&(one, other)) || OPPOSITES.contains(&(other, one))
}

// What is left of two words without the letters that they begin and end with.
const OPPOSITES: &[(&str, &str)] = &[
    ("", "in"),
    ("", "un"),
    ("", "dis"),
    ("", "non"),
    ("", "not"),
    ("", "de"),
    ("", "no"),
    ("", "not_"),
    ("", "no_"),
    ("", "_not"),
    ("", "_no"),
    ("", "non_"),
    ("en", "de"),
    ("g", "s"),
    ("in", "ax"),
    ("in", "de"),
    ("im", "ex"),
    ("n", "ff"),
    ("in", "out"),
];

#[cfg(test)]
mod tests {
    use super::{are_opposites, distance, short_typo};

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
        for (wanted, name, expected) in [
            ("sm", "sum", Some(1)),
            ("le", "len", Some(1)),
            ("it", "iter", None),
            ("sm", "am", None),
        ] {
            assert_eq!(short_typo(wanted, name), expected, "{wanted}");
        }
    }
}
