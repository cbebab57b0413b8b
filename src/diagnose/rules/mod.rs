//! The table of rules, one file per group of tools.
//!
//! The weight says how near to the root cause a line stands: 90 and more ended the process, 75 to
//! 89 kept the work from starting (configuration, syntax), 65 to 74 are imports and outside
//! services with exact words, 50 to 64 are typed errors, 40 to 49 errors at run time, 25 to 39
//! failed expectations and style, below that wrappers that only pass a failure on.

mod checkers;
mod environment;
mod javascript;
mod packages;
mod patches;
mod python;
mod testing;

use std::sync::LazyLock;

use super::finding::{Engine, Rule};

macro_rules! rules {
    ($( $kind:ident $sub:literal $weight:literal | $cue:literal | $pattern:expr, $example:literal, $why:literal; )*) => {
        &[$( super::super::finding::Rule {
            cue: $cue,
            pattern: $pattern,
            kind: crate::model::FailureKind::$kind,
            subkind: super::word($sub),
            weight: $weight,
            example: $example,
            why: $why,
        } ),*]
    };
}
use rules;

const fn word(text: &'static str) -> Option<&'static str> {
    if text.is_empty() { None } else { Some(text) }
}

const TABLES: &[(&str, &[Rule])] = &[
    ("python", python::RULES),
    ("pytest", testing::PYTEST),
    ("unittest", testing::UNITTEST),
    ("jest", testing::JEST),
    ("vitest", testing::VITEST),
    ("mocha", testing::MOCHA),
    ("node-test", testing::NODE_TEST),
    ("node", javascript::NODE),
    ("esbuild", javascript::BUNDLERS),
    ("zod", javascript::SCHEMAS),
    ("mypy", checkers::MYPY),
    ("pyright", checkers::PYRIGHT),
    ("ruff", checkers::RUFF),
    ("eslint", checkers::ESLINT),
    ("npm", packages::NPM),
    ("pip", packages::PIP),
    ("git", patches::GIT),
    ("patch", patches::PATCH),
    ("shell", environment::SHELL),
    ("system", environment::SYSTEM),
    ("mcp", environment::PROTOCOL),
];

pub(super) static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(TABLES));

#[cfg(test)]
mod tests {
    use super::super::finding::compile;
    use super::super::normalise;
    use super::{ENGINE, TABLES};

    #[test]
    fn every_row_matches_its_example_through_its_cue() {
        let mut wrong = Vec::new();
        for (tool, rules) in TABLES {
            for rule in *rules {
                let what = format!("{tool}: {}", rule.example);
                if !rule.example.contains(rule.cue) {
                    wrong.push(format!("{what}: lacks its cue"));
                }
                let lines = normalise::lines(rule.example);
                let matches = compile(rule.pattern).is_match(&lines[0].text);
                let kind = ENGINE.find(0, &lines[0]).map(|found| found.kind);
                if !matches || kind != Some(rule.kind) || rule.why.is_empty() {
                    wrong.push(format!("{what}: matches {matches}, {kind:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
