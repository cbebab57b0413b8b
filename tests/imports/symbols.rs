use super::{memory, path};
use mendit::graph::{Graph, cycles};
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
fn a_barrel_may_have_hundreds_of_stars() {
    let modules: Vec<(String, String)> = (0..300)
        .map(|at| (format!("m{at}.ts"), format!("export const n{at} = 1;\n")))
        .collect();
    let barrel: String = (0..300)
        .map(|at| format!("export * from './m{at}';\n"))
        .collect();
    let mut files: Vec<(&str, &str)> = vec![("index.ts", &barrel)];
    files.extend(modules.iter().map(|(name, text)| (&name[..], &text[..])));
    assert_eq!(defining(&files, "index.ts", "n299"), "m299.ts");
    let source = memory(&files);
    let offered = Graph::new(&source).offered(&path("index.ts"));
    assert_eq!(offered.len(), 300);
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

#[test]
fn an_import_that_is_made_in_a_call_closes_no_cycle() {
    let knots = |b: &str| {
        let source = memory(&[("a.py", "import b\n"), ("b.py", b)]);
        cycles(&Graph::new(&source).whole()).len()
    };
    for (b, expected) in [
        ("import a\n", 1),
        ("try:\n    import a\nexcept ImportError:\n    a = None\n", 1),
        ("def f():\n    import a\n    return a\n", 0),
        (
            "class F:\n    def f(self):\n        import a\n        return a\n",
            0,
        ),
    ] {
        assert_eq!(knots(b), expected, "{b}");
    }
}
