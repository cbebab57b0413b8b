use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use crate::graph::{Closure, ClosureNode, Graph};
use crate::model::{FileFacts, RepoPath, Role};

use super::candidate::{Candidate, Form};

/// The types and contracts that the targets and what they import refer to, each the file
/// that defines it, behind whatever passes it on; most referred to first. Their signatures say
/// what a repair must keep.
pub(super) fn contracts(graph: &Graph<'_>, reach: &Closure, taken: &[RepoPath]) -> Vec<Candidate> {
    let mut found: BTreeMap<RepoPath, Reference> = BTreeMap::new();
    let mut referrers: Vec<&ClosureNode> = reach.nodes.iter().collect();
    referrers.sort_by_key(|node| (node.hops, node.order));
    for node in referrers.into_iter().take(MAX_REFERRERS) {
        let Some(edges) = node.edges.as_ref().filter(|_| found.len() < ENOUGH) else {
            continue;
        };
        for (at, import) in edges.facts.imports.iter().enumerate() {
            for (name, file) in graph.defined(edges, at) {
                let facts = graph.resolver().facts(&file);
                if file == node.path || !(import.type_only || is_contract(&file, Some(&facts))) {
                    continue;
                }
                let reference = found.entry(file).or_insert_with(|| Reference {
                    hops: node.hops + 1,
                    name,
                    importer: node.path.clone(),
                    count: 0,
                });
                reference.count += 1;
            }
        }
    }
    let mut found: Vec<(RepoPath, Reference)> = found
        .into_iter()
        .filter(|(path, _)| !taken.contains(path))
        .collect();
    found.sort_by(|(a, x), (b, y)| {
        (x.hops, Reverse(x.count), a).cmp(&(y.hops, Reverse(y.count), b))
    });
    found
        .into_iter()
        .map(|(path, it)| it.candidate(&path))
        .collect()
}

/// Files whose references are followed: the targets and what they import first. Each definition
/// behind them has to be read.
const MAX_REFERRERS: usize = 16;
/// More contracts than this are not looked for.
const ENOUGH: usize = 8;

/// Gives the last of `places` to the first contract that would have none, and what is left of them
/// the places after all others.
///
/// One and no more: a place between the 20th and the 25th holds a file that the fix changes in one
/// of 500 packets each.
pub(super) fn with_contracts(
    mut chosen: Vec<Candidate>,
    contracts: Vec<Candidate>,
    places: u64,
) -> Vec<Candidate> {
    let last = usize::try_from(places)
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    let early: HashSet<RepoPath> = chosen.iter().take(last).map(|it| it.path.clone()).collect();
    let mut waiting = contracts
        .into_iter()
        .filter(|contract| !early.contains(&contract.path));
    if chosen.len() > last
        && let Some(contract) = waiting.next()
    {
        chosen.retain(|it| it.path != contract.path);
        chosen.insert(last.min(chosen.len()), contract);
    }
    let paths: HashSet<RepoPath> = chosen.iter().map(|it| it.path.clone()).collect();
    chosen.extend(waiting.filter(|it| !paths.contains(&it.path)));
    chosen
}

// The first place that refers to a contract, and how many there are.
struct Reference {
    hops: u32,
    name: String,
    importer: RepoPath,
    count: u32,
}

impl Reference {
    fn candidate(self, path: &RepoPath) -> Candidate {
        let why = format!("declares `{}`, which {} takes", self.name, self.importer);
        Candidate {
            hops: Some(self.hops),
            form: Form::Signatures,
            ..Candidate::new(path, Role::Closure, &why)
        }
    }
}

/// Whether a file declares shapes that other files share: by what it imports, or by the
/// names teams give to such files and folders.
pub(super) fn is_contract(path: &RepoPath, facts: Option<&FileFacts>) -> bool {
    let declares_schema = facts.is_some_and(|facts| {
        facts.imports.iter().any(|import| {
            let package = import.specifier.split(['/', '.']).next().unwrap_or("");
            SCHEMA_PACKAGES.contains(&package)
        })
    });
    declares_schema || path.as_str().ends_with(".d.ts") || path_words(path).any(is_contract_word)
}

const SCHEMA_PACKAGES: [&str; 10] = [
    "zod",
    "drizzle-orm",
    "valibot",
    "yup",
    "joi",
    "io-ts",
    "pydantic",
    "sqlalchemy",
    "sqlmodel",
    "marshmallow",
];

fn path_words(path: &RepoPath) -> impl Iterator<Item = &str> {
    path.as_str()
        .split('/')
        .flat_map(|part| part.split(['.', '-', '_']))
}

fn is_contract_word(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().as_str(),
        "types" | "schema" | "schemas" | "contract" | "contracts" | "interfaces" | "dto" | "models"
    )
}

#[cfg(test)]
mod tests {
    use super::is_contract;
    use crate::model::{FileFacts, Import, ImportKind, RepoPath};

    #[test]
    fn knows_contracts_by_name_and_by_import() {
        let path = |text| RepoPath::new(text).unwrap();
        assert!(is_contract(&path("src/shared/types.ts"), None));
        assert!(is_contract(&path("app/models/user.py"), None));
        assert!(!is_contract(&path("src/typesetting.ts"), None));
        let facts = FileFacts {
            imports: vec![Import {
                specifier: "drizzle-orm/pg-core".to_owned(),
                kind: ImportKind::Import,
                line: 1,
                names: Vec::new(),
                type_only: false,
                nested: false,
            }],
            ..FileFacts::default()
        };
        assert!(is_contract(&path("db/tables.ts"), Some(&facts)));
    }
}
