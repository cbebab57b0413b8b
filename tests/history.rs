//! What history says of files, under the names they have today.

mod support;

use mendit::git::Repository;
use support::Repo;

#[test]
fn moves_are_followed() {
    let repo = Repo::with(&[
        ("old/a.ts", "import './b';\nexport const a = 1;\n"),
        ("old/b.ts", "export const b = 1;\n"),
        ("old/x/index.ts", "1;\n"),
        ("old/y/index.ts", "2;\n"),
        ("gone.ts", "3;\n"),
    ]);
    repo.git(&["mv", "old", "moved"]);
    // Same bytes, other folder: b.ts. Other bytes, same name: a.ts.
    repo.write("moved/a.ts", "import '@/b';\nexport const a = 1;\n");
    repo.write("moved/x/index.ts", "4;\n");
    repo.write("moved/y/index.ts", "5;\n");
    repo.commit();
    repo.git(&["mv", "moved/b.ts", "moved/c.ts"]);
    repo.git(&["rm", "-q", "gone.ts"]);
    repo.commit();

    let repository = Repository::discover(&repo.root()).unwrap().unwrap();
    let changes = repository.changes("HEAD", 10).unwrap();
    let paths = |at: usize| -> Vec<&str> {
        let change = &changes[at];
        change
            .paths
            .iter()
            .map(mendit::model::RepoPath::as_str)
            .collect()
    };
    assert_eq!(changes.len(), 3);
    assert_eq!(paths(0), ["gone.ts", "moved/c.ts"]);
    // Of two files of one name nobody knows which became which.
    let unknown = ["old/x/index.ts", "old/y/index.ts"];
    let known = [
        "moved/a.ts",
        "moved/c.ts",
        "moved/x/index.ts",
        "moved/y/index.ts",
    ];
    assert_eq!(paths(1), [&known[..], &unknown[..]].concat());
    let first = ["gone.ts", "moved/a.ts", "moved/c.ts"];
    assert_eq!(paths(2), [&first[..], &unknown[..]].concat());
}
