use std::sync::OnceLock;

use regex::Regex;

use super::rule::Rule;
use crate::diagnose::line::Line;
use crate::diagnose::pattern::compile;
use crate::diagnose::verdict::Finding;
use crate::model::FailureKind;

// What the interpreters print before an error's name: after `E` of pytest, in its summary, after
// a place; behind node's words for uncaught errors and the marks of runners.
const PYTHON: &str =
    r"^(?:E\s+|INTERNALERROR> |[\s>#|+│]*|(?:FAILED|ERROR) .+? - |[^\s:]+:\d+: )(?:\w+\.)*";
const NODE: &str = r"^[\s>#|│✖×→E]*(?:npm (?:error|ERR!) +)?(?:(?:Uncaught|Exception during run:|Exception:|error:|thrown:|Caused by:|Serialized Error:|\[cause\]:|Unhandled \w+:|\(node:\d+\)) *)*(?:'|\x22)?";

/// Rules with their patterns, compiled on first use.
#[derive(Debug)]
pub(in crate::diagnose) struct Engine {
    rules: Vec<(Rule, OnceLock<Regex>)>,
    cues: aho_corasick::AhoCorasick,
    by_cue: Vec<Vec<usize>>,
    // Rules without a literal; every line is tried.
    without_cue: Vec<usize>,
}

impl Engine {
    pub(in crate::diagnose) fn new(rules: Vec<Rule>) -> Self {
        let mut cues: Vec<String> = Vec::new();
        let mut by_cue: Vec<Vec<usize>> = Vec::new();
        let mut without_cue = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            if rule.cue.is_empty() {
                without_cue.push(index);
            } else if let Some(at) = cues.iter().position(|cue| *cue == rule.cue) {
                by_cue[at].push(index);
            } else {
                cues.push(rule.cue.clone());
                by_cue.push(vec![index]);
            }
        }
        #[expect(
            clippy::expect_used,
            reason = "some hundred short literals are far below the automaton's limits"
        )]
        let cues = aho_corasick::AhoCorasick::new(cues).expect("a small automaton");
        Self {
            rules: rules
                .into_iter()
                .map(|rule| (rule, OnceLock::new()))
                .collect(),
            cues,
            by_cue,
            without_cue,
        }
    }

    /// The rule of this id.
    pub(in crate::diagnose) fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules().find(|rule| rule.id == id)
    }

    pub(in crate::diagnose) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(rule, _)| rule)
    }

    /// What the rules find in one line: of the rules that match, the one with the most weight; of
    /// the words that two languages share, those of the language around the line.
    pub(in crate::diagnose) fn find(
        &self,
        at: usize,
        line: &Line<'_>,
        foreign: impl Fn(&str) -> bool,
    ) -> Option<Finding<'_>> {
        let mut rows: Vec<usize> = self
            .cues
            .find_overlapping_iter(line.text.as_ref())
            .flat_map(|hit| self.by_cue[hit.pattern().as_usize()].iter().copied())
            .chain(self.without_cue.iter().copied())
            .collect();
        // The rows for any other error come last, whatever they weigh.
        rows.sort_by_key(|&row| {
            let rule = &self.rules[row].0;
            let any_other =
                rule.kind == FailureKind::RuntimeError && (20..=41).contains(&rule.weight);
            (any_other, std::cmp::Reverse(rule.weight), row)
        });
        rows.dedup();
        if rows.len() > 1 {
            rows.sort_by_key(|&row| {
                let rule = &self.rules[row].0;
                let any_other = rule.kind == FailureKind::RuntimeError && rule.weight <= 41;
                (any_other, foreign(&rule.tool))
            });
        }
        rows.into_iter().find_map(|row| {
            let (rule, regex) = &self.rules[row];
            let found = regex
                .get_or_init(|| compile(&expanded(&rule.pattern)))
                .captures(&line.text)?;
            let group = |name| found.name(name).map(|group| group.as_str().to_owned());
            Some(Finding {
                at,
                rule: &rule.id,
                kind: rule.kind,
                subkind: rule.subkind.as_deref(),
                weight: rule.weight,
                tool: &rule.tool,
                names: group("name").into_iter().collect(),
                module: group("module"),
                export: group("export"),
                path: group("path"),
            })
        })
    }
}

/// A pattern with its beginning spelled out.
pub(in crate::diagnose) fn expanded(pattern: &str) -> String {
    if let Some(rest) = pattern.strip_prefix("{python}") {
        return format!("{PYTHON}{rest}");
    }
    match pattern.strip_prefix("{node}") {
        Some(rest) => format!("{NODE}{rest}"),
        None => pattern.to_owned(),
    }
}
