use std::sync::LazyLock;

use super::engine::Engine;
use super::rule::Rule;
use crate::diagnose::derive::weight;
use crate::runners::rows;

macro_rules! table {
    ($name:literal) => {
        ($name, embedded!("diagnose/rules/", $name))
    };
}

const TABLES: &[(&str, &str)] = &[
    table!("python.toml"),
    table!("testing.toml"),
    table!("javascript.toml"),
    table!("checkers.toml"),
    table!("packages.toml"),
    table!("environment.toml"),
    table!("languages.toml"),
];

/// The rules that come with the program.
pub(in crate::diagnose) static BUILTIN: LazyLock<Engine> = LazyLock::new(|| {
    let mut rules: Vec<Rule> = Vec::new();
    for (_, text) in TABLES {
        rules.append(&mut rows(text));
    }
    for rule in rules.iter_mut().filter(|rule| rule.weight == 0) {
        rule.weight = weight(rule.kind);
    }
    Engine::new(rules)
});

#[cfg(test)]
mod tests {
    use super::super::engine::expanded;
    use super::BUILTIN;
    use crate::diagnose::normalise;
    use crate::runners::compile;

    #[test]
    fn every_rule_matches_its_example_through_its_cue() {
        let mut wrong = Vec::new();
        for rule in BUILTIN.rules() {
            let what = format!("{}: {}", rule.id, rule.example);
            if rule.cue.is_empty() || !rule.example.contains(&rule.cue) {
                wrong.push(format!("{what}: lacks its cue"));
            }
            let lines = normalise::lines(&rule.example);
            let at = rule
                .above
                .iter()
                .map(|_| lines.len() - 1)
                .next()
                .unwrap_or(0);
            let matches = compile(&expanded(&rule.pattern)).is_match(&lines[at].text);
            let found = BUILTIN.find(at, &lines, 0, |_| false);
            let kind = found.map(|found| found.kind);
            if !matches || kind != Some(rule.kind) || rule.why.is_empty() {
                wrong.push(format!("{what}: matches {matches}, {kind:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn lists_of_undefined_names_lose_their_paths() {
        for (text, names) in [
            (
                "undefined name(s): typer/testing.py:CliRunner, pkg/cli.py:chief_of_staff",
                vec!["CliRunner", "chief_of_staff"],
            ),
            (
                "Incomplete implementation: test file(s) import 2 undefined name(s): foo, bar",
                vec!["foo", "bar"],
            ),
        ] {
            let lines = normalise::lines(text);
            let found = BUILTIN.find(0, &lines, 0, |_| false).unwrap();
            assert_eq!(found.names, names);
        }
    }

    #[test]
    fn every_rule_has_an_id_of_its_own() {
        let mut ids: Vec<&str> = BUILTIN.rules().map(|rule| rule.id.as_str()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
