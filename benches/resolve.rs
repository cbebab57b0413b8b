//! Look-ups of the resolver: `cargo bench --bench resolve`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::time::Instant;

use mendit::documents::{Import, ImportKind, ImportedName, RepoPath};
use mendit::internals::languages::Resolver;
use mendit::internals::source::Memory;

const FILES: usize = 10_000;
const LOOKUPS: u32 = 100_000;

fn main() {
    let path = |text: &str| RepoPath::new(text).expect("a legal path");
    let mut files = vec![
        (
            path("package.json"),
            br#"{"workspaces":["packages/*"]}"#.to_vec(),
        ),
        (
            path("tsconfig.json"),
            br#"{"compilerOptions":{"paths":{"@/*":["./packages/p0/src/*"]}}}"#.to_vec(),
        ),
        (
            path("packages/p0/package.json"),
            br#"{"name":"p0","exports":{".":"./dist/f0.js"}}"#.to_vec(),
        ),
        (path("py/pkg/__init__.py"), Vec::new()),
        (path("py/pyproject.toml"), Vec::new()),
    ];
    for at in 0..FILES {
        files.push((
            path(&format!("packages/p{}/src/f{at}.ts", at % 100)),
            Vec::new(),
        ));
        files.push((path(&format!("py/pkg/m{at}.py")), Vec::new()));
    }
    let source = Memory::new(files);
    for (what, from, specifier) in [
        ("relative", "packages/p1/src/f1.ts", "./f101"),
        ("emitted name", "packages/p1/src/f1.ts", "./f101.js"),
        ("alias", "packages/p1/src/f1.ts", "@/f100"),
        ("workspace package", "packages/p1/src/f1.ts", "p0"),
        ("outside", "packages/p1/src/f1.ts", "react"),
        ("missing", "packages/p1/src/f1.ts", "./gone"),
        ("python absolute", "py/pkg/m1.py", "pkg.m2"),
        ("python outside", "py/pkg/m1.py", "numpy"),
    ] {
        let resolver = Resolver::new(&source);
        let from = path(from);
        let import = Import {
            specifier: specifier.to_owned(),
            kind: ImportKind::Import,
            line: 1,
            names: vec![ImportedName {
                name: "x".to_owned(),
                alias: None,
            }],
            type_only: false,
            nested: false,
        };
        let start = Instant::now();
        black_box(resolver.resolve(&from, &import));
        let first = start.elapsed();
        let start = Instant::now();
        for _ in 0..LOOKUPS {
            black_box(resolver.resolve(&from, &import));
        }
        let each = start.elapsed() / LOOKUPS;
        println!("{what:<20} first {first:>12.1?}  then {each:>10.1?} each");
    }
}
