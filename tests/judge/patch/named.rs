use std::fs;

use super::support::{git, mendit, repository, write};

// A verdict is the same whether the repository was listed for it or not.
#[test]
fn check_resolves_files_of_repository() {
    let place = repository(&[
        ("pkg/a.py", b"import os\n\nx = 1\n"),
        ("pkg/b.py", b"y = 1\n"),
        ("pkg/__init__.py", b""),
    ]);
    let root = place.path();
    for (old, new, path, warnings) in [
        ("x = 1", "x = 2", "pkg/a.py", 0),
        // An import of a file that the patch does not name.
        ("import os", "from pkg.b import y", "pkg/a.py", 0),
        ("import os", "from pkg.c import y", "pkg/a.py", 1),
    ] {
        let edit = serde_json::json!({"path": path, "old": old, "new": new}).to_string();
        let output = mendit(root, &["check", "--format", "json", "-"], edit.as_bytes());
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let unresolved = said["newUnresolvedImports"].as_array().unwrap();
        assert_eq!(unresolved.len(), warnings, "{said}");
    }
    git(root, &["rm", "-q", "--cached", "pkg/b.py"]);
    let edit = r#"{"path": "pkg/b.py", "old": "y = 1", "new": "y = 2"}"#;
    let output = mendit(root, &["apply", "-"], edit.as_bytes());
    assert_eq!(
        output.status.code(),
        Some(0),
        "an untracked file is seen too"
    );
    assert_eq!(fs::read(root.join("pkg/b.py")).unwrap(), b"y = 2\n");
    // Nor does git read its index for a patch to a file that is there.
    write(root, ".git/index", b"damaged");
    let edit = r#"{"path": "pkg/b.py", "old": "y = 2", "new": "y = 3"}"#;
    let output = mendit(root, &["check", "-"], edit.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

// What a commit has is known to who patches that commit, and not what came after it.
#[test]
fn checks_files_of_patched_commit() {
    let shared = |more: &str| format!("import os\n{more}\n\nROOT = os.getcwd()\n");
    let more = "import sys\n";
    let place = repository(&[("conftest.py", shared("").as_bytes())]);
    let root = place.path();
    write(root, "conftest.py", shared(more).as_bytes());
    git(root, &["commit", "-qam", "more"]);
    let edit = serde_json::json!({"path": "conftest.py", "old": "import os\n", "new": format!("import os\n{more}")});
    let edit = edit.to_string();
    let earlier = mendit(root, &["check", "--rev", "HEAD~1", "-"], edit.as_bytes());
    let said = String::from_utf8_lossy(&earlier.stdout).into_owned();
    assert_eq!(earlier.status.code(), Some(5), "{said}");
    assert!(said.contains("P701"), "{said}");
    write(root, "conftest.py", shared("").as_bytes());
    let back = mendit(root, &["check", "-"], edit.as_bytes());
    let said = String::from_utf8_lossy(&back.stdout).into_owned();
    assert_eq!(
        back.status.code(),
        Some(5),
        "protected files stay as they are: {said}"
    );
}

// Git writes no `+++` line for binary data; the name of the file is none either.
#[test]
fn a_name_that_looks_like_a_header_keeps_its_binary_data() {
    let place = repository(&[("a", b"a")]);
    let root = place.path();
    let patch = "diff --git a/x+++ y b/x+++ y\nnew file mode 100644\nindex 0000000000000000000000000000000000000000..1a23e4be731d2f539deeea324686d000ccdfbfcd\nGIT binary patch\nliteral 4\nLcmYdfNa6wj0#*Rd\n\nliteral 0\nHcmV?d00001\n\n";
    let output = mendit(root, &["apply", "-"], patch.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read(root.join("x+++ y")).unwrap(), b"a\0b\n");
}
