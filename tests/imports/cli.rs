use std::path::Path;
use std::process::{Command, Output};

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
    Command::new(env!("CARGO_BIN_EXE_mendit"))
        .args(arguments)
        .current_dir(directory)
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
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(directory.path())
        .status();
    assert!(made.unwrap().success());
    directory
}

#[test]
fn text_of_two_hops() {
    insta::assert_snapshot!(shown(&["imports", "--hops", "2", "src/app.ts"]));
}

#[test]
fn symbols_lead_behind_barrels_and_packages() {
    insta::assert_snapshot!(shown(&[
        "imports",
        "--symbols",
        "--format",
        "json",
        "src/app.ts",
        "tool/run.py"
    ]));
}

#[test]
fn importers_of_a_file() {
    insta::assert_snapshot!(shown(&[
        "imports",
        "--reverse",
        "--hops",
        "2",
        "src/parts/shape.ts"
    ]));
}

#[test]
fn drawings_of_the_whole() {
    insta::assert_snapshot!(shown(&["imports", "--graph", "--format", "dot"]));
    insta::assert_snapshot!(shown(&["imports", "--graph", "--format", "mermaid"]));
}

#[test]
fn unknown_files_are_an_error_with_a_hint() {
    insta::assert_snapshot!(shown(&["imports", "src/ap.ts"]));
}

#[test]
fn the_cache_does_not_show() {
    let directory = repository();
    let graph = &["imports", "--graph", "--symbols", "--format", "json"];
    let uncached = mendit(
        directory.path(),
        &[graph.as_slice(), &["--no-cache"]].concat(),
    );
    let facts = directory.path().join(".state/mendit/repositories");
    assert!(!facts.exists());
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
