//! What history says of files, under the names they have today.

use crate::support::Repo;
use mendit::git::Repository;
use mendit::state::Store;

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
    let changes = repository.changes("HEAD", 10, &Store::nothing()).unwrap();
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

#[test]
fn what_is_known_of_commits_is_as_if_it_were_read() {
    let repo = Repo::with(&[("a.ts", "1;\n"), ("b.ts", "2;\n")]);
    let directory = tempfile::tempdir().unwrap();
    let said = |known: &Store| {
        let repository = Repository::discover(&repo.root()).unwrap().unwrap();
        let changes = repository.changes("HEAD", 10, known).unwrap();
        known.save();
        changes
    };
    let same = |what: &str| {
        let afresh = said(&Store::nothing());
        assert_eq!(said(&Store::open(directory.path())), afresh, "{what}");
        assert_eq!(
            said(&Store::open(directory.path())),
            afresh,
            "{what}, known"
        );
        afresh
    };
    same("one commit");
    repo.git(&["mv", "a.ts", "c.ts"]);
    repo.commit();
    let moved = same("a move");
    assert_eq!(moved[1].paths[1].as_str(), "c.ts");
    repo.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    repo.write("b.ts", "3;\n");
    repo.commit();
    same("another branch");
    repo.git(&["merge", "-q", "-m", "both", "main"]);
    assert_eq!(same("a merge").len(), 3);

    // Another count, and another object in the place of a commit.
    let repository = Repository::discover(&repo.root()).unwrap().unwrap();
    let known = Store::open(directory.path());
    assert_eq!(repository.changes("HEAD", 2, &known).unwrap().len(), 1);
    repo.git(&["replace", "--graft", "HEAD"]);
    assert_eq!(same("a commit without its parents").len(), 1);
}
