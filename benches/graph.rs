//! Waves and the cache of facts: `cargo bench --bench graph`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use mendit::documents::RepoPath;
use mendit::internals::Store;
use mendit::internals::graph::{Graph, cycles};
use mendit::internals::source::Memory;

const FILES: usize = 10_000;

fn main() {
    let path = |at: usize| RepoPath::new(&format!("src/d{}/f{at}.ts", at % 97)).expect("a path");
    let files = (0..FILES).map(|at| {
        let mut imports = String::new();
        for to in [at * 7 + 1, at * 3 + 2, at + 1] {
            let to = to % FILES;
            let _ = writeln!(imports, "import {{ a }} from '../d{}/f{to}';", to % 97);
        }
        let body = "export const a = (x: number) => [x, { y: x }].length;\n".repeat(40);
        (path(at), format!("{imports}{body}").into_bytes())
    });
    let source = Memory::new(files);
    let targets = [path(17)];
    for hops in [1, 2, 4] {
        let (nodes, time) = timed(|| {
            Graph::new(&source)
                .imported(&targets, hops, false)
                .nodes
                .len()
        });
        println!("closure of {hops} hops       {time:>9.3} ms  {nodes} files");
    }
    let (edges, time) = timed(|| Graph::new(&source).whole());
    println!(
        "whole graph, cold       {time:>9.3} ms  {} files",
        edges.len()
    );
    let (knots, time) = timed(|| cycles(&edges).len());
    println!("cycles                  {time:>9.3} ms  {knots} knots");
    let directory = tempfile::tempdir().expect("a directory");
    let ((), time) = timed(|| {
        let facts = Store::open(directory.path());
        black_box(Graph::knowing(&source, &facts).whole());
        facts.save();
    });
    println!("whole graph, filling    {time:>9.3} ms");
    let ((), time) = timed(|| {
        let facts = Store::open(directory.path());
        black_box(Graph::knowing(&source, &facts).whole());
    });
    println!("whole graph, from cache {time:>9.3} ms");
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e3)
}
