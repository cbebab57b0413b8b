use super::{memory, path};
use mendit::internals::graph::{Graph, cycles};

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
    let source = memory(&files);
    let (graph, index) = (Graph::new(&source), path("index.ts"));
    assert_eq!(graph.defining(&index, "n299"), Some(path("m299.ts")));
    assert_eq!(graph.offered(&index).len(), 300);
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
