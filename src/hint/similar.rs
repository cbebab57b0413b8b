use super::idiom::Idiom;
use super::query::Undefined;
use crate::graph::Graph;
use crate::languages::{free_names, uses};
use crate::model::{HintSource, RepoPath, Suggestion};
use std::collections::BTreeSet;

/// Files looked into for names like it, nearest first.
const MAX_FILES: usize = 200;
const MAX_SUGGESTIONS: usize = 3;

/// Names that differ from the one asked for by a slip of the finger: those that the file has at hand
/// already, with an empty statement, and those of nearby files. Never certain.
pub(super) fn similar(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    pool: &[&RepoPath],
    undef: &Undefined<'_>,
) -> Vec<Suggestion> {
    let mut found: Vec<(usize, usize, Suggestion)> = Vec::new();
    let resolver = graph.resolver();
    let mut put =
        |distance: usize, order: usize, module: String, name: &str, path: Option<&RepoPath>| {
            let statement = match module.as_str() {
                "" => String::new(),
                module => idiom.statement(name, module, name, false),
            };
            // What is at hand already is not imported a second time.
            let needless = |one: &Suggestion| {
                let at_hand = one.module.is_empty() && one.imported == name;
                at_hand || (!statement.is_empty() && one.import_statement == statement)
            };
            if found.iter().any(|(_, _, one)| needless(one)) {
                return;
            }
            let suggestion = Suggestion {
                name: undef.name.to_owned(),
                import_statement: statement,
                module,
                path: path.cloned(),
                confidence: if distance == 0 { 40 } else { 25 },
                source: HintSource::Similar,
                imported: name.to_owned(),
                ..Suggestion::default()
            };
            found.push((distance, order, suggestion));
        };
    for (distance, name) in at_hand(undef) {
        put(distance, 0, String::new(), &name, None);
    }
    for (at, path) in pool.iter().take(MAX_FILES).enumerate() {
        if *path == undef.file {
            continue;
        }
        let facts = resolver.facts(path);
        for export in facts.exports.iter().filter(|export| export.from.is_none()) {
            if let Some(distance) = distance(undef.name, &export.name) {
                let module = idiom.module(path);
                put(distance, at + 1, module, &export.name, Some(path));
            }
        }
    }
    found.sort_by_key(|(distance, order, _)| (*distance, *order));
    found
        .into_iter()
        .map(|(_, _, one)| one)
        .take(MAX_SUGGESTIONS)
        .collect()
}

// What means something in the file without another import, nearest first: what it imports, binds or
// takes as a parameter, and what the language itself has.
fn at_hand(undef: &Undefined<'_>) -> Vec<(usize, String)> {
    let text = String::from_utf8_lossy(undef.text);
    let free = free_names(undef.file, undef.text);
    let is_used = |name: &str| {
        let found = uses(undef.file, undef.text, name);
        found.is_some_and(|it| it.is_own() || it.shadowed || it.value)
    };
    let near = |name: &str| distance(undef.name, name).or(short_slip(undef.name, name));
    let mut found = BTreeSet::new();
    for import in &undef.facts.imports {
        for name in &import.names {
            let bound = name.local();
            found.extend(near(bound).map(|it| (it, bound.to_owned())));
        }
    }
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$');
    let words: BTreeSet<&str> = text.split(|it| !is_word(it)).collect();
    for word in words {
        let Some(edits) = near(word) else { continue };
        let is_global = undef.language.is_global(word);
        if !is_global && !free.iter().any(|it| it == word) && is_used(word) {
            found.insert((edits, word.to_owned()));
        }
    }
    // A name of the file's own is meant before one of the language.
    if found.is_empty() {
        let all = undef.language.global_names();
        found.extend(all.filter_map(|word| Some((near(word)?, word.to_owned()))));
    }
    found.into_iter().collect()
}

// A letter too few or too many in a name of two or three, such as `sm`.
fn short_slip(wanted: &str, name: &str) -> Option<usize> {
    let short = (2..=3).contains(&wanted.len()) && (3..=4).contains(&name.len());
    let slip = short && wanted.len() != name.len() && wanted.get(..1) == name.get(..1);
    (slip && strsim::osa_distance(wanted, name) == 1).then_some(1)
}

/// Edits between two names that may have been mistaken for each other: none when only case and
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

/// Whether two names differ in a word that means the opposite: no slip of the finger.
fn are_opposites(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let shared = one.bytes().zip(other.bytes());
    let head = shared.take_while(|(a, b)| a == b).count();
    let (Some(one), Some(other)) = (one.get(head..), other.get(head..)) else {
        return false;
    };
    let tail = one.bytes().rev().zip(other.bytes().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    let middle = |part: &str| part.get(..part.len() - tail).map(str::to_owned);
    let (Some(one), Some(other)) = (middle(one), middle(other)) else {
        return false;
    };
    let (less, more) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let negates = ["in", "un", "dis", "non", "not", "anti", "de", "no"];
    let word = more.trim_matches('_');
    less.is_empty() && negates.contains(&word)
        || OPPOSITES.contains(&(&*less, &*more))
        || OPPOSITES.contains(&(&*more, &*less))
}

/// What is left of two words without the letters that they begin and end with.
const OPPOSITES: &[(&str, &str)] = &[
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
    use super::{are_opposites, distance, short_slip};

    #[test]
    fn opposites_are_no_slips() {
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
    fn a_short_name_is_near_one_with_a_letter_more() {
        for (wanted, name, expected) in [
            ("sm", "sum", Some(1)),
            ("le", "len", Some(1)),
            ("st", "set", Some(1)),
            ("it", "iter", None),
            ("sm", "am", None),
            ("fd", "id", None),
        ] {
            assert_eq!(short_slip(wanted, name), expected, "{wanted}");
        }
    }

    #[test]
    fn slips_of_the_finger_are_near() {
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
