use std::path::Path;
use std::process::Output;

use crate::support::{command, git};

const FILES: &[(&str, &str)] = &[
    (
        "src/app.ts",
        "import { make, type Shape } from './parts';\nimport * as all from './parts';\nimport react from 'react';\nimport './gone';\nall.round();\n",
    ),
    (
        "src/parts/index.ts",
        "export { make } from './make';\nexport * from './shape';\n",
    ),
    (
        "src/parts/make.ts",
        "import { round } from './shape';\nexport const make = () => round();\n",
    ),
    (
        "src/parts/shape.ts",
        "import { make } from './make';\nexport type Shape = string;\nexport function round() { return make; }\n",
    ),
    (
        "tool/pkg/__init__.py",
        "from .core import Thing as Public\n",
    ),
    ("tool/pkg/core.py", "class Thing: pass\n"),
    (
        "tool/run.py",
        "from pkg import Public, core\nimport pkg as p\nHOOK = 'pkg.core.Thing'\nimport os\n",
    ),
];

fn mendit(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, arguments)
        .env("XDG_STATE_HOME", directory.join(".state"))
        .output()
        .unwrap()
}

fn shown(arguments: &[&str]) -> String {
    let directory = repository();
    let output = mendit(directory.path(), arguments);
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!(
        "{}{}exit {}",
        said(&output.stdout),
        said(&output.stderr),
        output.status.code().unwrap()
    )
}

fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::write(directory.path().join(".gitignore"), ".cache\n").unwrap();
    git(directory.path(), &["init", "--quiet"]);
    directory
}

#[test]
fn text_of_two_hops() {
    insta::assert_snapshot!(shown(&["imports", "--hops", "2", "src/app.ts"]));
}

#[test]
fn symbols_resolve_through_barrels() {
    insta::assert_snapshot!(shown(&[
        "imports", "--symbols", "--format", "json", "src/app.ts", "tool/run.py"
    ]));
}

#[test]
fn importers_of_a_file() {
    insta::assert_snapshot!(shown(&[
        "imports", "--reverse", "--hops", "2", "src/parts/shape.ts"
    ]));
}

#[test]
fn unknown_file_error_suggests_name() {
    insta::assert_snapshot!(shown(&["imports", "src/ap.ts"]));
}

#[test]
fn cache_changes_no_output() {
    let directory = repository();
    let graph = &["imports", "--graph", "--symbols", "--format", "json"];
    let facts = directory.path().join(".state/mendit/repositories");
    assert!(!facts.exists());
    let uncached = mendit(directory.path(), graph);
    for threads in ["1", "3"] {
        let cached = mendit(
            directory.path(),
            &[graph.as_slice(), &["--threads", threads]].concat(),
        );
        assert!(cached.status.success());
        assert_eq!(cached.stdout, uncached.stdout);
        assert!(facts.exists());
    }
}

fn commit(directory: &Path) {
    git(directory, &["add", "-A"]);
    git(directory, &["commit", "-qm", "base"]);
}

fn printed(directory: &Path, arguments: &[&str]) -> String {
    let output = mendit(directory, arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn lists_tests_reached_by_change() {
    let directory = repository();
    let at = directory.path();
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(at.join(name).parent().unwrap()).unwrap();
        std::fs::write(at.join(name), text).unwrap();
    };
    write("tests/app.test.ts", "import '../src/app';\n");
    write(
        "tests/shape.test.ts",
        "import { round } from '../src/parts';\n",
    );
    write("tests/alone.test.ts", "test('x', () => {});\n");
    write("tool/tests/conftest.py", "x = 1\n");
    write("tool/tests/test_run.py", "import os\n");
    commit(at);
    let asked = ["imports", "--changed", "HEAD", "--tests"];
    assert_eq!(printed(at, &asked), "");
    write("src/parts/make.ts", "export const make = () => 1;\n");
    assert_eq!(
        printed(at, &asked),
        "tests/app.test.ts\ntests/shape.test.ts\n"
    );
    write("tests/alone.test.ts", "test('y', () => {});\n");
    write("tool/tests/conftest.py", "x = 2\n");
    assert_eq!(
        printed(at, &asked),
        "tests/alone.test.ts\ntests/app.test.ts\ntests/shape.test.ts\ntool/tests/conftest.py\ntool/tests/test_run.py\n"
    );
    // What is gone reaches those that imported it.
    commit(at);
    std::fs::remove_file(at.join("src/app.ts")).unwrap();
    assert_eq!(printed(at, &asked), "tests/app.test.ts\n");
    assert_eq!(
        printed(at, &["imports", "--tests", "src/parts/shape.ts"]),
        "tests/shape.test.ts\n"
    );
}

#[test]
fn importers_through_barrels_use_definition() {
    let directory = repository();
    let at = directory.path();
    let plain = printed(at, &["imports", "--reverse", "src/parts/make.ts"]);
    assert!(!plain.contains("src/app.ts"), "{plain}");
    let symbols = printed(
        at,
        &["imports", "--reverse", "--symbols", "src/parts/make.ts"],
    );
    assert!(
        symbols.contains("(make in src/parts/make.ts)") && symbols.contains("1  src/app.ts"),
        "{symbols}"
    );
    // Other imports of an importer were not asked for.
    assert!(!symbols.contains("react"), "{symbols}");
}

#[test]
fn components_are_files_of_the_graph() {
    let directory = repository();
    let at = directory.path();
    std::fs::create_dir_all(at.join("web")).unwrap();
    let component = "<script setup>\nimport { make } from '../src/parts'\n</script>\n";
    std::fs::write(at.join("web/One.vue"), component).unwrap();
    let document = printed(at, &["imports", "--graph", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let edges: Vec<String> = document["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| file["path"].as_str().unwrap().starts_with("web/"))
        .flat_map(|file| {
            let imports = file["imports"].as_array().unwrap().iter();
            imports.map(|edge| format!("{} {}", file["path"], edge["path"]).replace('"', ""))
        })
        .collect();
    assert_eq!(edges, ["web/One.vue src/parts/index.ts"]);
    assert!(document.get("components").is_none());
}
