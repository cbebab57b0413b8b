use std::cmp::Reverse;

use super::rule::Rule;
use crate::diagnose::line::{Line, above, below};
use crate::diagnose::verdict::Finding;
use crate::model::FailureKind;
use crate::runners::{Cues, Pattern};

// What the interpreters print before an error's name: after `E` of pytest, in its summary, after
// a place; behind node's words for uncaught errors and the marks of runners.
const PYTHON: &str =
    r"^(?:E\s+|INTERNALERROR> |[\s>#|+│]*|(?:FAILED|ERROR) .+? - |[^\s:]+:\d+: )(?:\w+\.)*";
const NODE: &str = r"^[\s>#|│✖×→E]*(?:npm (?:error|ERR!) +)?(?:(?:Uncaught|Exception during run:|Exception:|error:|thrown:|Caused by:|Serialized Error:|\[cause\]:|Unhandled \w+:|\(node:\d+\)) *)*(?:'|\x22)?";

// Lines around one that a rule looks at too.
const ABOVE: usize = 30;
const BELOW: usize = 14;

/// Rules with their patterns, compiled on first use.
#[derive(Debug)]
pub(in crate::diagnose) struct Engine {
    rules: Vec<(Rule, Pattern)>,
    cues: Cues,
}

impl Engine {
    pub(in crate::diagnose) fn new(rules: Vec<Rule>) -> Self {
        let cues = rules
            .iter()
            .map(|rule| rule.cue.as_str())
            .zip(0..)
            .collect();
        let rules = rules.into_iter();
        let rules = rules.map(|rule| {
            let pattern = Pattern::from(expanded(&rule.pattern));
            (rule, pattern)
        });
        Self {
            rules: rules.collect(),
            cues,
        }
    }

    pub(in crate::diagnose) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(rule, _)| rule)
    }

    /// What rules of at least this weight find in one line: of those that match, the one with the most; of
    /// the words that two languages share, those of the language around the line.
    pub(in crate::diagnose) fn find(
        &self,
        at: usize,
        lines: &[Line<'_>],
        least: u8,
        foreign: impl Fn(&str) -> bool,
    ) -> Option<Finding<'_>> {
        let mut rows: Vec<usize> = self.cues.rows(&lines[at].text).collect();
        rows.retain(|&row| self.rules[row].0.weight >= least);
        let several = rows.len() > 1;
        // The rows for any other error come last, whatever they weigh.
        rows.sort_by_cached_key(|&row| {
            let rule = &self.rules[row].0;
            let any_other = rule.kind == FailureKind::RuntimeError && rule.weight <= 41;
            let is_foreign = several && foreign(&rule.tool);
            let last = any_other && rule.weight >= 20;
            (any_other, is_foreign, last, Reverse(rule.weight), row)
        });
        rows.dedup();
        rows.into_iter().find_map(|row| {
            let (rule, pattern) = &self.rules[row];
            let found = pattern.get().captures(&lines[at].text)?;
            let above = |like: &Pattern| above(lines, at, ABOVE).any(|text| like.finds(text));
            let below = |like: &Pattern| below(lines, at + 1, BELOW).any(|text| like.finds(text));
            let is_so = rule.above.as_ref().is_none_or(above)
                && rule.below.as_ref().is_none_or(below)
                && !rule.unless.as_ref().is_some_and(below);
            if !is_so {
                return None;
            }
            let group = |name| found.name(name).map(|group| group.as_str().to_owned());
            let list = group("names").unwrap_or_default();
            let list = list.split(',').map(|item| {
                let item = item.trim().trim_matches(|c| "\"'`.;)".contains(c));
                item.rsplit_once(':')
                    .map_or((None, item), |(path, name)| (Some(path), name.trim()))
            });
            let is_name = |name: &&str| {
                let mut letters = name.chars();
                !name.is_empty() && letters.all(|c| c.is_alphanumeric() || "_$".contains(c))
            };
            let names = list.clone().map(|it| it.1).filter(is_name);
            let mut paths = list.filter_map(|it| it.0).map(str::to_owned);
            Some(Finding {
                at,
                rule: &rule.id,
                kind: rule.kind,
                subkind: rule.subkind.clone(),
                weight: rule.weight,
                tool: &rule.tool,
                names: group("name")
                    .into_iter()
                    .chain(names.map(str::to_owned))
                    .collect(),
                module: group("module"),
                export: group("export"),
                path: group("path").or_else(|| paths.next()),
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
