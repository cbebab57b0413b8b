use std::sync::OnceLock;

use regex::Regex;

use super::normalise::Line;
use super::pattern::compile;
use crate::model::FailureKind;

/// One row of a rule table.
pub(super) struct Rule {
    /// A literal that stands in every line the pattern matches.
    pub(super) cue: &'static str,
    /// Named groups `name`, `module`, `export`, `path`, `line` and `col` are picked up.
    pub(super) pattern: &'static str,
    pub(super) kind: FailureKind,
    pub(super) subkind: Option<&'static str>,
    /// How near to the root cause a match is: see [`super::rules`].
    pub(super) weight: u8,
    /// A line that it matches.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the table's test"))]
    pub(super) example: &'static str,
    /// Why the line means this.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "read by people and the table's test")
    )]
    pub(super) why: &'static str,
}

/// What one line says.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// Index into the normalised lines.
    pub(super) at: usize,
    pub(super) kind: FailureKind,
    pub(super) subkind: Option<&'static str>,
    pub(super) weight: u8,
    pub(super) tool: &'static str,
    pub(super) names: Vec<String>,
    pub(super) module: Option<String>,
    pub(super) export: Option<String>,
    pub(super) path: Option<String>,
}

impl Finding {
    pub(super) fn new(at: usize, kind: FailureKind, weight: u8, tool: &'static str) -> Self {
        Self {
            at,
            kind,
            subkind: None,
            weight,
            tool,
            names: Vec::new(),
            module: None,
            export: None,
            path: None,
        }
    }
}

/// Rules with their patterns, compiled on first use.
pub(super) struct Engine {
    rules: Vec<(&'static str, &'static Rule, OnceLock<Regex>)>,
    cues: aho_corasick::AhoCorasick,
    by_cue: Vec<Vec<usize>>,
}

impl Engine {
    pub(super) fn new(tables: &[(&'static str, &'static [Rule])]) -> Self {
        let rules: Vec<_> = tables
            .iter()
            .flat_map(|(tool, rules)| rules.iter().map(|rule| (*tool, rule, OnceLock::new())))
            .collect();
        let mut cues: Vec<&'static str> = Vec::new();
        let mut by_cue: Vec<Vec<usize>> = Vec::new();
        for (index, (_, rule, _)) in rules.iter().enumerate() {
            if let Some(at) = cues.iter().position(|cue| *cue == rule.cue) {
                by_cue[at].push(index);
            } else {
                cues.push(rule.cue);
                by_cue.push(vec![index]);
            }
        }
        #[expect(
            clippy::expect_used,
            reason = "the cues are constants and a test builds them"
        )]
        let cues = aho_corasick::AhoCorasick::new(cues).expect("a small automaton");
        Self {
            rules,
            cues,
            by_cue,
        }
    }

    /// What the rules find in one line: of the rules that match, the one with the most weight.
    pub(super) fn find(&self, at: usize, line: &Line<'_>) -> Option<Finding> {
        let mut rows: Vec<usize> = self
            .cues
            .find_overlapping_iter(line.text.as_ref())
            .flat_map(|hit| self.by_cue[hit.pattern().as_usize()].iter().copied())
            .collect();
        // The rows for any other error come last, whatever they weigh.
        rows.sort_by_key(|&row| {
            let rule = self.rules[row].1;
            let any_other = rule.kind == FailureKind::RuntimeError && rule.weight <= 41;
            (any_other, std::cmp::Reverse(rule.weight), row)
        });
        rows.dedup();
        rows.into_iter().find_map(|row| {
            let (tool, rule, regex) = &self.rules[row];
            let found = regex
                .get_or_init(|| compile(rule.pattern))
                .captures(&line.text)?;
            let group = |name| found.name(name).map(|group| group.as_str().to_owned());
            Some(Finding {
                at,
                kind: rule.kind,
                subkind: rule.subkind,
                weight: rule.weight,
                tool,
                names: group("name").into_iter().collect(),
                module: group("module"),
                export: group("export"),
                path: group("path"),
            })
        })
    }
}
