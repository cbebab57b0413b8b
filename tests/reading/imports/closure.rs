use super::{memory, path};
use mendit::documents::RepoPath;
use mendit::internals::graph::closure;

fn shown(files: &[(&str, &str)], targets: &[&str], hops: u32) -> Vec<String> {
    let source = memory(files);
    let targets: Vec<RepoPath> = targets.iter().map(|target| path(target)).collect();
    closure(&source, &targets, hops)
        .nodes
        .iter()
        .map(|node| {
            let via: Vec<&str> = node.via.iter().map(RepoPath::as_str).collect();
            format!(
                "{} {} #{} via [{}]",
                node.hops,
                node.path,
                node.order,
                via.join(" ")
            )
        })
        .collect()
}

#[test]
fn hops_chains_and_order() {
    let files = [
        (
            "t.ts",
            "import './z'; import './b'; import './a'; import './missing'",
        ),
        ("a.ts", "import './deep'; import './t'"),
        ("b.ts", "import './deep'"),
        ("z.ts", "import './deep'; import './z'"),
        ("deep.ts", "import './deeper'"),
        ("deeper.ts", ""),
    ];
    assert_eq!(
        shown(&files, &["t.ts"], 2),
        [
            "0 t.ts #0 via []",
            "1 a.ts #3 via []",
            "1 b.ts #2 via []",
            "1 z.ts #1 via []",
            "2 deep.ts #4 via [a.ts]",
        ]
    );
    let source = memory(&files);
    let found = closure(&source, &[path("t.ts")], 2);
    assert_eq!(found.unresolved.len(), 1);
    assert_eq!(found.unresolved[0].specifier, "./missing");
    assert_eq!(found.unresolved[0].tried, ["missing"]);
}

#[test]
fn thread_count_and_target_order_do_not_show() {
    let files: Vec<(String, String)> = (0..60)
        .map(|n| {
            let imports: Vec<String> = [n * 7 + 1, n * 3 + 2, n + 1]
                .iter()
                .map(|m| format!("import './f{}'", m % 60))
                .collect();
            (format!("f{n}.ts"), imports.join("\n"))
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let runs: Vec<Vec<String>> = [1, 4]
        .iter()
        .flat_map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(*threads)
                .build()
                .unwrap();
            pool.install(|| {
                [
                    shown(&files, &["f3.ts", "f9.ts"], 3),
                    shown(&files, &["f9.ts", "f3.ts", "f9.ts"], 3),
                ]
            })
        })
        .collect();
    assert!(runs.windows(2).all(|pair| pair[0] == pair[1]));
}
