use super::engine::Engine;
use super::rule::{Rule, RuleProblem};
use crate::config::DiagnoseRule;

const USUAL_WEIGHT: u8 = 88;
const LONGEST_COMPILED: usize = 1 << 20;

/// The rules of a user, checked and compiled. They are asked before the built-in ones.
#[derive(Debug, Default)]
pub struct UserRules {
    pub(in crate::diagnose) engine: Option<Engine>,
    /// The same patterns for raw lines, whatever stands before them.
    pub(in crate::diagnose) raw: Vec<regex::bytes::Regex>,
}

impl UserRules {
    /// Checks and compiles; a rule that cannot work is a problem, never silently left out.
    ///
    /// # Errors
    ///
    /// What is wrong with the first rule that cannot work.
    pub fn new(rules: &[DiagnoseRule]) -> Result<Self, RuleProblem> {
        let mut checked: Vec<Rule> = Vec::new();
        let mut raw = Vec::new();
        for rule in rules {
            if rule.id.is_empty() || checked.iter().any(|other| other.id == rule.id) {
                return Err(RuleProblem::Id(rule.id.clone()));
            }
            let weight = rule.weight.unwrap_or(USUAL_WEIGHT);
            if !(1..=99).contains(&weight) {
                return Err(RuleProblem::Weight(rule.id.clone()));
            }
            let pattern = regex::RegexBuilder::new(&rule.pattern)
                .size_limit(LONGEST_COMPILED)
                .build()
                .map_err(|error| RuleProblem::Pattern {
                    id: rule.id.clone(),
                    reason: error.to_string(),
                })?;
            raw.extend(unanchored(&rule.pattern));
            if rule
                .example
                .as_deref()
                .is_some_and(|line| !pattern.is_match(line))
            {
                return Err(RuleProblem::Example(rule.id.clone()));
            }
            checked.push(Rule {
                id: rule.id.clone(),
                tool: rule.tool.clone().unwrap_or_else(|| "user rule".to_owned()),
                kind: rule.kind,
                subkind: rule.subkind.as_deref().and_then(|it| it.parse().ok()),
                weight,
                cue: String::new(),
                pattern: rule.pattern.clone(),
                above: None,
                below: None,
                unless: None,
                example: rule.example.clone().unwrap_or_default(),
                why: rule.why.clone().unwrap_or_default(),
                seen: "a rule of this repository's own".to_owned(),
            });
        }
        Ok(Self {
            engine: (!checked.is_empty()).then(|| Engine::new(checked)),
            raw,
        })
    }
}

// A raw line has a time stamp or a prefix before what a pattern calls its beginning.
fn unanchored(pattern: &str) -> Option<regex::bytes::Regex> {
    regex::bytes::RegexBuilder::new(pattern.strip_prefix('^').unwrap_or(pattern))
        .multi_line(true)
        .size_limit(LONGEST_COMPILED)
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::{DiagnoseRule, RuleProblem, UserRules};
    use crate::model::FailureKind;

    fn rule(id: &str, pattern: &str, example: Option<&str>) -> DiagnoseRule {
        DiagnoseRule {
            id: id.to_owned(),
            kind: FailureKind::ConfigError,
            subkind: None,
            pattern: pattern.to_owned(),
            tool: None,
            weight: None,
            example: example.map(str::to_owned),
            why: None,
        }
    }

    #[test]
    fn rules_that_cannot_work_are_refused() {
        assert!(UserRules::new(&[rule("a", "^X: ", Some("X: y"))]).is_ok());
        assert!(matches!(
            UserRules::new(&[rule("a", "(", None)]),
            Err(RuleProblem::Pattern { .. })
        ));
        assert_eq!(
            UserRules::new(&[rule("a", "^X", Some("Y"))]).err(),
            Some(RuleProblem::Example("a".to_owned()))
        );
        assert_eq!(
            UserRules::new(&[rule("a", "x", None), rule("a", "y", None)]).err(),
            Some(RuleProblem::Id("a".to_owned()))
        );
    }
}
