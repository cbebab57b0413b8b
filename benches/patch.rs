//! Reading, placing and judging patches in memory: `cargo bench --bench patch`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use mendit::documents::RepoPath;
use mendit::internals::patch::{JudgeOptions, judge, read};
use mendit::internals::source::Memory;

const FILES: usize = 200;
const LINES: usize = 1_000;

fn main() {
    let source = Memory::new((0..FILES).map(|file| {
        let path = RepoPath::new(&name(file)).expect("a legal path");
        let text: String = (0..LINES).map(|line| format!("{}\n", text(line))).collect();
        (path, text.into_bytes())
    }));
    for (what, shift, unknown) in [
        ("at its line", 0, false),
        ("elsewhere", 7, false),
        ("nowhere", 0, true),
    ] {
        let patch: String = (0..FILES).map(|file| diff(file, shift, unknown)).collect();
        measure(&format!("read, {what}"), patch.len(), || {
            let read = read(patch.as_bytes(), |set| set.files.len());
            assert!(read.is_ok_and(|files| files == FILES));
        });
        measure(&format!("judge, {what}"), patch.len(), || {
            black_box(judge(patch.as_bytes(), &source, &JudgeOptions::default()));
        });
    }
}

fn name(file: usize) -> String {
    format!("src/part_{:02}/file_{file}.txt", file % 16)
}

// Some lines repeat, as in any program.
fn text(line: usize) -> String {
    match line % 5 {
        0 => String::new(),
        1 => "    }".to_owned(),
        _ => format!("    let value_{line} = call(argument_{line});"),
    }
}

// A change every fifty lines, with three lines of context.
fn diff(file: usize, shift: usize, unknown: bool) -> String {
    let name = name(file);
    let mut patch = format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n");
    for at in (12..LINES - 20).step_by(50) {
        let first = at - 2 + shift;
        // Writing to a String cannot fail.
        let _ = writeln!(patch, "@@ -{first},7 +{first},7 @@");
        for line in at - 3..at + 4 {
            let old = text(line);
            let _ = match line == at {
                false => writeln!(patch, " {old}"),
                true if unknown => writeln!(patch, "-{old} // other\n+{old} // new"),
                true => writeln!(patch, "-{old}\n+{old} // new"),
            };
        }
    }
    patch
}

// The best of several rounds: what the work costs when nothing disturbs it.
fn measure(what: &str, bytes: usize, mut work: impl FnMut()) {
    let best = (0..10)
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
