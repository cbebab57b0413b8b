use std::collections::BTreeMap;

use super::tree::Tree;

/// Reads pip's list of requirements: `packages` has one entry for each requirement, `options` one
/// for each line that tells pip how to work.
pub(super) fn read(text: &str) -> Tree {
    let mut packages = BTreeMap::new();
    let mut options = BTreeMap::new();
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").lines() {
        let line = line.trim();
        let end = line
            .match_indices('#')
            .find(|(at, _)| {
                *at == 0
                    || line
                        .as_bytes()
                        .get(at - 1)
                        .is_some_and(u8::is_ascii_whitespace)
            })
            .map_or(line.len(), |(at, _)| at);
        let said: Vec<&str> = line.get(..end).unwrap_or(line).split_whitespace().collect();
        let Some(first) = said.first() else {
            continue;
        };
        if first.starts_with('-') {
            let option = said.join(" ");
            options.insert(option.clone(), Tree::Text(option));
            continue;
        }
        // Hashes only narrow what is taken.
        let plain: Vec<&str> = said
            .into_iter()
            .filter(|word| !word.starts_with("--hash=sha256:"))
            .collect();
        let (name, marker) = plain.iter().position(|word| word.contains(';')).map_or(
            (plain.concat(), String::new()),
            |at| {
                (
                    plain.get(..at).unwrap_or_default().concat(),
                    plain.get(at..).unwrap_or_default().join(" "),
                )
            },
        );
        let requirement = format!("{name}{marker}");
        packages.insert(requirement.clone(), Tree::Text(requirement));
    }
    let named = [("packages", packages), ("options", options)];
    let tables = named
        .into_iter()
        .filter(|(_, table)| !table.is_empty())
        .map(|(name, table)| (name.to_owned(), Tree::Table(table)));
    Tree::Table(tables.collect())
}
