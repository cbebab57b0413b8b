use super::{memory, path};
use mendit::graph::Graph;
use mendit::model::RepoPath;

fn defining(files: &[(&str, &str)], file: &str, name: &str) -> String {
    let source = memory(files);
    let found = Graph::new(&source).defining(&path(file), name);
    found.as_ref().map_or("?", RepoPath::as_str).to_owned()
}

#[test]
fn names_are_followed_through_barrels() {
    let files = [
        (
            "index.ts",
            "export * from './a';\nexport { b as c, default as d } from './b';\nexport * as ns from './ns';\nimport { x } from './x';\nexport { x };\nexport { y } from 'outside';\n",
        ),
        (
            "a.ts",
            "export * from './deep';\nexport * from './index';\n",
        ),
        (
            "deep.ts",
            "export const far = 1;\nconst own = 2;\nexport { own as mine };\n",
        ),
        ("b.ts", "export function b() {}\nexport default class {}\n"),
        ("ns.ts", ""),
        ("x.ts", "export { x } from './deep2';\n"),
        ("deep2.ts", "export { x } from 'outside';\n"),
    ];
    for (name, expected) in [
        ("far", "deep.ts"),
        ("mine", "deep.ts"),
        ("c", "b.ts"),
        ("d", "b.ts"),
        ("ns", "ns.ts"),
        ("x", "deep2.ts"),
        ("y", "?"),
        ("gone", "?"),
    ] {
        assert_eq!(defining(&files, "index.ts", name), expected, "{name}");
    }
}

#[test]
fn names_are_followed_through_packages() {
    let files = [
        (
            "pkg/__init__.py",
            "from .impl import Thing as Public\nfrom .stars import *\nfrom . import sub\nimport pkg.other as other\n",
        ),
        ("pkg/impl.py", "from ._real import Thing\n"),
        ("pkg/_real.py", "class Thing: pass\n"),
        ("pkg/stars.py", "def star(): pass\n"),
        ("pkg/sub.py", ""),
        ("pkg/other.py", ""),
    ];
    for (name, expected) in [
        ("Public", "pkg/_real.py"),
        ("star", "pkg/stars.py"),
        ("sub", "pkg/sub.py"),
        ("other", "pkg/other.py"),
        ("gone", "?"),
    ] {
        assert_eq!(
            defining(&files, "pkg/__init__.py", name),
            expected,
            "{name}"
        );
    }
}

#[test]
fn a_symbol_closure_reaches_the_definition_in_one_hop() {
    let source = memory(&[
        (
            "t.ts",
            "import { far } from './index';\nimport * as all from './index';\nall.near();\n",
        ),
        (
            "index.ts",
            "export * from './a';\nexport { near } from './b';\n",
        ),
        ("a.ts", "export const far = 1;\n"),
        ("b.ts", "export function near() {}\n"),
    ]);
    let closure = Graph::new(&source).symbol_closure(&[path("t.ts")], 1);
    let reached: Vec<&str> = closure
        .nodes
        .iter()
        .map(|node| node.path.as_str())
        .collect();
    assert_eq!(reached, ["t.ts", "a.ts", "b.ts", "index.ts"]);
}
