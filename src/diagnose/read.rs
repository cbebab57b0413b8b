use super::line::{Line, above, below};
use super::locate::Locator;
use super::rules::{BUILTIN, UserRules};
use super::special;
use super::verdict::Finding;
use crate::model::{FailureKind, Subkind};
use std::collections::HashMap;

// Findings of one rule; of a huge log the first say what the others repeat.
const MAX_OF_ONE_RULE: usize = 20_000;
// What a line in the captured output of the program under test weighs at most.
const CAPTURED: u8 = 14;

/// What the rules find.
pub(super) struct Found<'r> {
    /// In log order.
    pub(super) findings: Vec<Finding<'r>>,
    /// Findings that were let go because their rule had found very many.
    pub(super) thinned: u64,
}

/// What the rules of at least this weight and those of the user find, line by line; lines that tell of no failure
/// are not asked.
pub(super) fn findings<'r>(
    lines: &[Line<'_>],
    locator: &Locator<'_>,
    rules: &'r UserRules,
    least: u8,
) -> Found<'r> {
    let mut findings = Vec::new();
    let mut thinned = 0;
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if line.text.len() < 4 || line.quiet {
            continue;
        }
        let of_user = rules.engine.as_ref();
        let found = of_user
            .and_then(|engine| engine.find(at, lines, 0, |_| false))
            .or_else(|| special::typescript(at, line))
            .or_else(|| BUILTIN.find(at, lines, least, |tool| is_foreign(tool, at, lines)));
        let Some(mut finding) = found else { continue };
        refine_module(&mut finding, lines, locator);
        if ENVIRONMENT.contains(&finding.kind) && is_raised_by_project(&finding, lines) {
            finding.kind = FailureKind::RuntimeError;
            finding.subkind = None;
            finding.path = None;
            finding.weight = RAISED;
        }
        if line.captured {
            finding.weight = finding.weight.min(CAPTURED);
        }
        let count = counts.entry(finding.rule).or_default();
        *count += 1;
        if *count <= MAX_OF_ONE_RULE {
            findings.push(finding);
        } else {
            thinned += 1;
        }
    }
    Found { findings, thinned }
}

// Whether a rule is of another language than the lines around it: both know `TypeError: `.
fn is_foreign(tool: &str, at: usize, lines: &[Line<'_>]) -> bool {
    let of_script = || {
        below(lines, at + 1, 13).any(|text| {
            let bare = text.trim_start();
            (bare.starts_with("at ") && text.starts_with(' ')) || bare.starts_with("❯ ")
        })
    };
    let of_python = || {
        lines[at].text.starts_with("E ")
            || above(lines, at, 4).any(|text| text.trim_start().starts_with("File \""))
    };
    match tool {
        "python" => of_script(),
        "node" | "vitest" | "jest" | "mocha" => of_python(),
        _ => false,
    }
}

const ENVIRONMENT: [FailureKind; 5] = [
    FailureKind::NetworkError,
    FailureKind::ConnectionRefused,
    FailureKind::Timeout,
    FailureKind::OutOfMemory,
    FailureKind::PermissionDenied,
];
// What an error at run time weighs.
const RAISED: u8 = 41;

// Whether a `raise` of the project itself made an exception of Python: a fake of a test, or the project's
// own word for a fault.
fn is_raised_by_project(finding: &Finding<'_>, lines: &[Line<'_>]) -> bool {
    let is_code = |text: &&str| !text.trim().is_empty() && !text.trim().starts_with('^');
    let mut above = above(lines, finding.at, 4).rev().filter(is_code);
    let raises = |text: &str| text.trim_start_matches(['>', ' ']).starts_with("raise ");
    let is_installed = |text: &str| {
        let folders = ["site-packages", "dist-packages", "lib/python", "<frozen "];
        folders.iter().any(|folder| text.contains(folder))
    };
    finding.tool == "python"
        && above.next().is_some_and(raises)
        && !above
            .chain(below(lines, finding.at + 1, 3))
            .any(is_installed)
}

// The same words are used for a file of the project and for a package.
fn refine_module(finding: &mut Finding<'_>, lines: &[Line<'_>], locator: &Locator<'_>) {
    if finding.subkind != Some(Subkind::MissingModule) {
        return;
    }
    let Some(module) = finding.module.as_deref() else {
        return;
    };
    let python = ["python", "mypy", "pyright", "ruff"].contains(&finding.tool);
    let local = if python {
        let top = module.split('.').next().unwrap_or(module);
        let dotted = module.contains('.');
        module.starts_with('.')
            || locator.has_top(top)
            || (dotted && (!locator.knows_repository() || named_nearby(top, finding.at, lines)))
            || asked_by_tests(finding.at, lines)
    } else {
        let alias = ["@/", "~/", "#", "$lib", "src/", "app/", "~"];
        module.starts_with('.')
            || special::is_absolute(module)
            || module.starts_with("file:")
            || alias.iter().any(|start| module.starts_with(start))
            || has_extension(module)
            || locator.has_folder_of(module)
    };
    if !local {
        finding.subkind = Some(Subkind::MissingPackage);
    }
}

fn has_extension(module: &str) -> bool {
    [
        ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte", ".css",
    ]
    .iter()
    .any(|end| module.ends_with(end))
}

// The importing file lies in the package that it imports from.
fn named_nearby(top: &str, at: usize, lines: &[Line<'_>]) -> bool {
    let directory = format!("{top}/");
    above(lines, at, 8).any(|text| text.contains(&directory) && !text.contains("site-packages"))
}

// Shared test support is imported by a bare name from beside the tests.
fn asked_by_tests(at: usize, lines: &[Line<'_>]) -> bool {
    let names = ["conftest.py:", "conftest.py\","];
    above(lines, at, 3).any(|text| names.iter().any(|name| text.contains(name)))
}
