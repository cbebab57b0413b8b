//! Applies the rules to the lines of a log.

use super::line::{Line, lines_above, lines_below};
use super::locate::{Locator, is_absolute};
use super::rules::Rules;
use super::runners::is_installed;
use crate::model::{FailureKind as Kind, Subkind};
use crate::runners::pattern;

/// What a rule found in one line.
#[derive(Debug, Clone, Default)]
pub(super) struct Finding {
    /// Index into the lines.
    pub(super) at: usize,
    /// The id of the rule that says so.
    pub(super) rule: &'static str,
    pub(super) kind: Kind,
    pub(super) subkind: Option<Subkind>,
    pub(super) weight: u8,
    pub(super) tool: &'static str,
    pub(super) names: Vec<String>,
    pub(super) module: Option<String>,
    pub(super) export: Option<String>,
    pub(super) path: Option<String>,
}

impl Finding {
    /// Whether a shell or a client says it: a script continues after such a line by default.
    pub(super) fn is_of_shell(&self) -> bool {
        matches!(self.tool, "shell" | "system" | "git" | "patch")
            && !matches!(
                self.kind,
                Kind::ConfigError
                    | Kind::DiskFull
                    | Kind::OutOfMemory
                    | Kind::Crash
                    | Kind::Timeout
            )
    }
}

/// Returns what the rules find, line by line; skips lines that are not about a failure.
pub(super) fn collect_findings(
    rules: &'static Rules,
    lines: &[Line<'_>],
    locator: &Locator<'_>,
    asks: impl Fn(usize) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.text.len() < 4 || line.quiet {
            continue;
        }
        let found = rules.find(at, lines, &asks, |tool| is_foreign(tool, at, lines));
        let Some(mut finding) = found else { continue };
        refine_module(&mut finding, lines, locator);
        let place = line.text.trim_start().split(['(', ':', ' ']).next();
        let most = match place {
            // The most that a line in the captured output of the program under test can weigh.
            _ if line.captured => 14,
            // An error in an installed package's own file weighs less than one in a file of the project.
            Some(place) if is_installed(place) => 45,
            _ => u8::MAX,
        };
        finding.weight = finding.weight.min(most);
        findings.push(finding);
    }
    // A line that weighs less counts only where nothing else is known.
    let known = 11;
    if findings.iter().any(|finding| finding.weight >= known) {
        findings.retain(|finding| finding.weight >= known);
    }
    findings
}

// Whether a rule is of another language than the lines around it, since both Python and JavaScript print `TypeError:
// `.
fn is_foreign(tool: &str, at: usize, lines: &[Line<'_>]) -> bool {
    match tool {
        // Frames of a script's stack, and of a Python traceback.
        "python" => lines_below(lines, at + 1, 13).any(|text| {
            let bare = text.trim_start();
            (bare.starts_with("at ") && text.starts_with(' ')) || bare.starts_with("❯ ")
        }),
        "node" | "vitest" | "jest" | "mocha" => {
            lines[at].text.starts_with("E ")
                || lines_above(lines, at, 4).any(|text| text.trim_start().starts_with("File \""))
        }
        _ => false,
    }
}

// The same words are used for a file of the project and for a package.
fn refine_module(finding: &mut Finding, lines: &[Line<'_>], locator: &Locator<'_>) {
    let Some(module) = finding.module.as_deref() else {
        return;
    };
    if finding.subkind != Some(Subkind::MissingModule) {
        return;
    }
    let is_local = if ["python", "mypy", "pyright", "ruff"].contains(&finding.tool) {
        let top = module.split('.').next().unwrap_or(module);
        let is_dotted = module.contains('.');
        module.starts_with('.')
            || locator.has_top(top)
            || (is_dotted && (!locator.knows_repository() || is_named_near(top, finding.at, lines)))
            // Shared test support is imported by a bare name from beside the tests.
            || lines_above(lines, finding.at, 3).any(|text| text.contains("conftest.py"))
    } else {
        pattern!(
            LOCAL,
            r"^(?:@/|~|#|\$lib|src/|app/|file:|\.)|\.(?:tsx?|jsx|mjs|cjs|json|vue|svelte|css)$"
        );
        is_absolute(module) || LOCAL.is_match(module) || locator.has_folder_of(module)
    };
    if !is_local {
        finding.subkind = Some(Subkind::MissingPackage);
    }
}

// The importing file lies in the package that it imports from.
fn is_named_near(top: &str, at: usize, lines: &[Line<'_>]) -> bool {
    let directory = format!("{top}/");
    lines_above(lines, at, 8)
        .any(|text| text.contains(&directory) && !text.contains("site-packages"))
}
