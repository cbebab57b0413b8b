use super::asked::Asked;
use super::idiom::Idiom;
use crate::graph::Graph;
use crate::model::{HintSource, RepoPath, Suggestion};

/// Files looked into for names like it, nearest first.
const MAX_FILES: usize = 200;
const MAX_SUGGESTIONS: usize = 3;

/// Names of nearby files that differ from the one asked for by a slip of the finger. Never
/// certain.
pub(super) fn similar(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    pool: &[&RepoPath],
    asked: &Asked<'_>,
) -> Vec<Suggestion> {
    let mut found: Vec<(usize, usize, Suggestion)> = Vec::new();
    let resolver = graph.resolver();
    let mut put =
        |distance: usize, order: usize, module: String, name: &str, path: Option<&RepoPath>| {
            let statement = idiom.statement(name, &module, name, false);
            if found
                .iter()
                .any(|(_, _, one)| one.import_statement == statement)
            {
                return;
            }
            let suggestion = Suggestion {
                name: asked.name.to_owned(),
                import_statement: statement,
                module,
                path: path.cloned(),
                confidence: if distance == 0 { 40 } else { 25 },
                source: HintSource::Similar,
                certain: false,
                imported: name.to_owned(),
                type_only: false,
                replaces: None,
                also_in: Vec::new(),
            };
            found.push((distance, order, suggestion));
        };
    // What the file has at hand already, under a name like it.
    for import in &asked.facts.imports {
        for name in &import.names {
            if let Some(distance) = distance(asked.name, &name.name) {
                put(distance, 0, import.specifier.clone(), &name.name, None);
            }
        }
    }
    for (at, path) in pool.iter().take(MAX_FILES).enumerate() {
        if *path == asked.file {
            continue;
        }
        let facts = resolver.facts(path);
        for export in facts.exports.iter().filter(|export| export.from.is_none()) {
            if let Some(distance) = distance(asked.name, &export.name) {
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

/// Edits between two names that may have been mistaken for each other: none when only case and
/// underscores differ, one in a short name, two in a long one.
pub(super) fn distance(wanted: &str, name: &str) -> Option<usize> {
    let plain = |text: &str| text.to_lowercase().replace('_', "");
    if wanted == name || wanted.len() < 3 || name.len() < 3 {
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

#[cfg(test)]
mod tests {
    use super::distance;

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
