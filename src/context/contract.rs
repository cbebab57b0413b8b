use crate::model::{FileFacts, RepoPath};

/// Whether a file declares shapes that other files share (R22): by what it imports, or by the
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
