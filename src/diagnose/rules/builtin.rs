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
    table!("rare.toml"),
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

/// The page of a built-in rule, as Markdown; none when no rule has this id.
#[must_use]
pub fn rule_page(id: &str) -> Option<String> {
    let rule = BUILTIN.rule(id)?;
    let subkind = rule.subkind.as_ref();
    let (explanation, fix) = crate::diagnose::words(rule.kind, subkind);
    let subkind = subkind.map_or_else(String::new, |word| format!(" ({word})"));
    Some(format!(
        "## {id} {kind}{subkind}\n\nA line of {tool} like this one:\n\n```text\n{example}\n```\n\nWhy: {why}. {explanation} {fix}\n\nWeight {weight} of 99: how near to the root cause such a line stands.\n\nSeen: {seen}.\n",
        kind = rule.kind,
        tool = rule.tool,
        example = rule.example,
        why = rule.why,
        weight = rule.weight,
        seen = rule.seen,
    ))
}

/// The page of a finer word of a kind, as Markdown; none when no rule gives it.
#[must_use]
pub fn subkind_page(word: &str) -> Option<String> {
    let rule = BUILTIN
        .rules()
        .find(|rule| rule.subkind == word.parse().ok())?;
    let (explanation, fix) = crate::diagnose::words(rule.kind, rule.subkind.as_ref());
    Some(format!(
        "## {word}\n\nA finer word for {kind}, as in `{kind} ({word})`. {explanation} {fix}\n\nA line that is read so:\n\n```text\n{example}\n```\n",
        kind = rule.kind,
        example = rule.example,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::engine::expanded;
    use super::{BUILTIN, rule_page, subkind_page};
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
    fn every_rule_has_an_id_of_its_own_and_a_page() {
        let mut ids: Vec<&str> = BUILTIN.rules().map(|rule| rule.id.as_str()).collect();
        assert!(ids.iter().all(|id| rule_page(id).is_some()));
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        assert_eq!(rule_page("no-such-rule"), None);
        let page = subkind_page("circular_import").unwrap();
        assert!(page.contains("import_error (circular_import)"), "{page}");
        assert_eq!(subkind_page("no_such_word"), None);
    }
}
