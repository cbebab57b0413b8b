use std::collections::BTreeMap;

use super::{memory, path};
use mendit::documents::RepoPath;
use mendit::internals::graph::Graph;
use mendit::internals::languages::{Resolver, facts};

// A row of `cases.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    says: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    leads: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    defines: BTreeMap<String, String>,
}

#[test]
fn imports_and_names_lead_where_they_are_meant_to() {
    let mut all: BTreeMap<String, Vec<Case>> = toml::from_str(include_str!("cases.toml")).unwrap();
    for Case {
        says,
        files,
        leads,
        defines,
    } in all.remove("case").unwrap()
    {
        let tree: Vec<_> = files.iter().map(|(at, text)| (&**at, &**text)).collect();
        let source = memory(&tree);
        let resolver = Resolver::new(&source);
        for (from, expected) in leads {
            let imports = facts(&path(&from), files[&from].as_bytes()).imports;
            let found = imports.iter().map(|import| {
                let found = resolver.resolve(&path(&from), import);
                let files: Vec<&str> = found.files.iter().map(RepoPath::as_str).collect();
                let target = match found.external {
                    Some(name) => format!("({name})"),
                    None if files.is_empty() => "?".to_owned(),
                    None => files.join(" "),
                };
                format!("{} -> {target}", import.specifier)
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{says}");
        }
        for (asked, expected) in defines {
            let (file, name) = asked.split_once(' ').unwrap();
            let found = Graph::new(&source).defining(&path(file), name);
            let found = found.as_ref().map_or("?", RepoPath::as_str);
            assert_eq!(found, expected, "{says}: {asked}");
        }
    }
}

#[test]
fn tests_see_the_conftests_above() {
    let source = memory(&[
        ("conftest.py", ""),
        ("tests/conftest.py", ""),
        ("tests/unit/test_a.py", ""),
        ("src/m.py", ""),
    ]);
    let resolver = Resolver::new(&source);
    assert_eq!(
        resolver.implicit(&path("tests/unit/test_a.py")),
        [path("tests/conftest.py"), path("conftest.py")]
    );
    assert!(resolver.implicit(&path("src/m.py")).is_empty());
}
