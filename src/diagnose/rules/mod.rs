//! What a line of a log means: tables of rules as TOML, one file per group of tools.

use std::cmp::Reverse;
use std::sync::LazyLock;

use serde::Deserialize;

use super::derive::kind_weight;
use super::findings::Finding;
use super::line::{Line, lines_above, lines_below};
use crate::model::{FailureKind, Subkind, parse_rows};
use crate::runners::{Cues, Pattern};

/// One rule: a line that looks like this means that.
///
/// `weight` says how close to the root cause a line is: 90 and more ended the process, 75 to 89 kept
/// the work from starting (configuration, syntax), 65 to 74 are imports and outside services with exact
/// words, 50 to 64 are typed errors, 40 to 49 errors at run time, 25 to 39 failed expectations and style,
/// below that wrappers that only pass a failure on; a row without one weighs what its kind does in
/// `words.toml`. In `pattern`, `{python}` and `{node}` at the start represent what the languages print
/// before an error; the groups `name`, `module`, `export` and `path` are picked up, and `names`, a list
/// with commas in which a file may be before each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Unique; what an answer names as the rule that decided.
    id: String,
    /// The program that prints such a line.
    tool: String,
    kind: FailureKind,
    subkind: Option<Subkind>,
    #[serde(default)]
    weight: u8,
    /// Literals of two bytes and more; one is in every line the pattern matches, the first in the example.
    cues: Vec<String>,
    pattern: String,
    /// What one of the few lines above must be like, or below.
    above: Option<Pattern>,
    below: Option<Pattern>,
    /// What none of those below may be like.
    unless: Option<Pattern>,
    /// A line that it matches.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    example: String,
}

// What the interpreters print before an error's name: after `E` of pytest, in its summary, after
// a place; behind node's words for uncaught errors and the marks of runners.
const PYTHON: &str =
    r"^(?:E\s+|INTERNALERROR> |[\s>#|+│]*|(?:FAILED|ERROR) .+? - |[^\s:]+:\d+: )(?:\w+\.)*";
const NODE: &str = r"^[\s>#|│✖×→E]*(?:npm (?:error|ERR!) +)?(?:(?:not ok \d+ -|Uncaught|Exception during run:|Exception:|error:|thrown:|Caused by:|Serialized Error:|\[cause\]:|Unhandled \w+:|\(node:\d+\)) *)*(?:'|\x22)?";

// Lines around one that a rule looks at too.
const ABOVE: usize = 30;
const BELOW: usize = 14;

const TABLES: [&str; 7] = [
    embedded!("diagnose/rules/python.toml"),
    embedded!("diagnose/rules/testing.toml"),
    embedded!("diagnose/rules/javascript.toml"),
    embedded!("diagnose/rules/checkers.toml"),
    embedded!("diagnose/rules/packages.toml"),
    embedded!("diagnose/rules/environment.toml"),
    embedded!("diagnose/rules/languages.toml"),
];

/// The rules with their patterns, compiled on first use.
pub(super) struct Rules {
    rules: Vec<(Rule, Pattern)>,
    cues: Cues,
}

pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::parse(&TABLES));
/// What words that many tools share mean, for logs that no row of a tool decides.
pub(super) static WORDS: LazyLock<Rules> =
    LazyLock::new(|| Rules::parse(&[embedded!("diagnose/rules/words.toml")]));

impl Rules {
    fn parse(tables: &[&'static str]) -> Self {
        let rules = tables.iter().flat_map(|table| parse_rows::<Rule>(table));
        let rules = rules.map(|mut rule| {
            if rule.weight == 0 {
                rule.weight = kind_weight(rule.kind);
            }
            let pattern = Pattern::from(spell_out(&rule.pattern));
            (rule, pattern)
        });
        let rules: Vec<(Rule, Pattern)> = rules.collect();
        let cues = Cues::of_rows(rules.iter().map(|(rule, _)| &rule.cues));
        Self { rules, cues }
    }

    /// Finds what one line means: of the rules that match, the one with the most weight; of words that two
    /// languages share, those of the language around the line. Only a line of which `asks` holds
    /// is read.
    pub(super) fn find(
        &'static self,
        at: usize,
        lines: &[Line<'_>],
        asks: impl Fn(usize) -> bool,
        is_foreign: impl Fn(&str) -> bool,
    ) -> Option<Finding> {
        let text = lines[at].text.as_ref();
        let mut rows: Vec<usize> = self.cues.rows(text).take_while(|_| asks(at)).collect();
        rows.sort_unstable();
        rows.dedup();
        // First, because few match and an order of all takes a look at the lines around.
        rows.retain(|&row| self.rules[row].1.finds(text));
        let several = rows.len() > 1;
        // The rows for any other error come last, whatever they weigh.
        rows.sort_by_cached_key(|&row| {
            let rule = &self.rules[row].0;
            let any_other = rule.kind == FailureKind::RuntimeError && rule.weight <= 41;
            let is_foreign = several && is_foreign(&rule.tool);
            let last = any_other && rule.weight >= 19;
            (any_other, is_foreign, last, Reverse(rule.weight), row)
        });
        rows.into_iter().find_map(|row| {
            let (rule, pattern) = &self.rules[row];
            rule.find(pattern, at, lines)
        })
    }
}

impl Rule {
    fn find(&'static self, pattern: &Pattern, at: usize, lines: &[Line<'_>]) -> Option<Finding> {
        let found = pattern.get().captures(&lines[at].text)?;
        let below = |like: &Pattern| lines_below(lines, at + 1, BELOW).any(|text| like.finds(text));
        let mut above = lines_above(lines, at, ABOVE);
        let fits = self.above.as_ref().is_none_or(|like| above.any(|text| like.finds(text)))
            && self.below.as_ref().is_none_or(below)
            && !self.unless.as_ref().is_some_and(below);
        if !fits {
            return None;
        }
        let group = |name| found.name(name).map(|group| group.as_str().to_owned());
        let list = group("names").unwrap_or_default();
        let is_sign = |c: char| !c.is_alphanumeric() && c != '_' && c != '$';
        let listed = list.split(',').filter_map(|item| item.rsplit(':').next());
        let listed = listed.map(|name| name.trim_matches(is_sign).to_owned());
        let names = group("name").into_iter().chain(listed);
        let names = names.filter(|name| !name.contains(is_sign) && !name.is_empty());
        Some(Finding {
            at,
            rule: &self.id,
            kind: self.kind,
            subkind: self.subkind.clone(),
            weight: self.weight,
            tool: &self.tool,
            names: names.collect(),
            module: group("module"),
            export: group("export"),
            path: group("path"),
        })
    }
}

// A pattern with its beginning spelled out.
fn spell_out(pattern: &str) -> String {
    pattern.replacen("{python}", PYTHON, 1).replacen("{node}", NODE, 1)
}

#[cfg(test)]
mod tests {
    use super::{RULES, WORDS, spell_out};
    use crate::diagnose::{LogFacts, diagnose, normalise};
    use crate::model::FailureKind as Kind;
    use crate::runners::compile_regex;

    #[test]
    fn rule_matches_its_example_through_its_cue() {
        let mut wrong = Vec::new();
        let rows = |table: &'static super::Rules| {
            let rules = table.rules.iter();
            rules.map(move |(rule, _)| (table, rule))
        };
        for (table, rule) in rows(&RULES).chain(rows(&WORDS)) {
            let what = format!("{}: {}", rule.id, rule.example);
            let is_short = rule.cues.iter().any(|cue| cue.len() < 2);
            if is_short || !rule.cues.first().is_some_and(|cue| rule.example.contains(cue)) {
                wrong.push(format!("{what}: lacks its cue"));
            }
            let lines = normalise::lines(&rule.example);
            let at = rule.above.as_ref().map_or(0, |_| lines.len() - 1);
            let matches = compile_regex(&spell_out(&rule.pattern)).is_match(&lines[at].text);
            let found = table.find(at, &lines, |_| true, |_| false);
            let kind = found.map(|found| found.kind);
            if !matches || kind != Some(rule.kind) {
                wrong.push(format!("{what}: matches {matches}, {kind:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let mut ids: Vec<&str> = RULES.rules.iter().map(|(rule, _)| rule.id.as_str()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn generic_words_decide_without_row() {
        for (log, kind) in [
            (
                "frob: could not resolve 'left' from src/a.q",
                Kind::ImportError,
            ),
            ("frob failed: unknown option --x", Kind::ConfigError),
            (
                "Error in read(a.q):\n  3:7: unexpected '{'",
                Kind::SyntaxError,
            ),
            (
                "frob: all requirements could not be resolved",
                Kind::DependencyError,
            ),
            ("a rule for an unknown option\nfrob: done", Kind::Unknown),
            ("E   KeyError: 'unknown option --x'", Kind::RuntimeError),
        ] {
            let found = diagnose(log, &LogFacts::default(), None);
            assert_eq!(found.kind, kind, "{log}");
            assert!(found.confidence < 0.9, "{log}");
        }
    }

    #[test]
    fn timeout_shows_where_the_process_waited() {
        let log = "Fatal Python error: Aborted\n\n  File \"/usr/lib/python3.11/time.py\", line 9 in wait\n  File \"/w/tests/test_a.py\", line 7 in test_hang\n  File \"/w/tests/test_a.py\", line 2 in <module>";
        let facts = LogFacts {
            timed_out: true,
            ..LogFacts::default()
        };
        let found = diagnose(log, &facts, None);
        assert_eq!((found.kind, found.evidence[0].line), (Kind::Timeout, 4));
    }

    #[test]
    fn lists_of_undefined_names_lose_their_paths() {
        let text = "undefined name(s): typer/testing.py:CliRunner, pkg/cli.py:chief_of_staff";
        let lines = normalise::lines(text);
        let found = RULES.find(0, &lines, |_| true, |_| false).unwrap();
        assert_eq!(found.names, ["CliRunner", "chief_of_staff"]);
    }
}
