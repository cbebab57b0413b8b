//! Parsing and reading of one file: `cargo bench --bench lang`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::time::Instant;

use mendit::documents::RepoPath;
use mendit::internals::languages::facts;

fn main() {
    let script = "import { a, b as c } from './x';\nexport function f(p: string): number {\n  const y = [p, 1, { z: p }];\n  return y.length > 2 ? g(y) : 0;\n}\n";
    let python = "from .x import a, b as c\n\n\ndef f(p: str) -> int:\n    y = [p, 1, {'z': p}]\n    return g(y) if len(y) > 2 else 0\n";
    for (name, unit) in [("a.ts", script), ("a.tsx", script), ("a.py", python)] {
        let path = RepoPath::new(name).expect("a legal path");
        for kilobytes in [8, 128] {
            let text = unit.repeat(kilobytes * 1024 / unit.len());
            measure(&format!("facts {name} {kilobytes} KB"), text.len(), || {
                black_box(facts(&path, text.as_bytes()));
            });
        }
    }
}

// The best of several rounds: what the work costs when nothing disturbs it.
fn measure(what: &str, bytes: usize, mut work: impl FnMut()) {
    let best = (0..15)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = bytes as f64 / 1e6 / best.as_secs_f64();
    println!(
        "{what:<24} {:>10.3} ms {rate:>8.1} MB/s",
        best.as_secs_f64() * 1e3
    );
}
