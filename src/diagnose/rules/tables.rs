use std::sync::LazyLock;

use super::super::finding::{Engine, Rule};
use super::{checkers, environment, javascript, packages, patches, python, testing};

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
pub(super) use rules;

pub(super) const fn word(text: &'static str) -> Option<&'static str> {
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

pub(in crate::diagnose) static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(TABLES));

#[cfg(test)]
mod tests {
    use super::super::super::normalise;
    use super::super::super::pattern::compile;
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
