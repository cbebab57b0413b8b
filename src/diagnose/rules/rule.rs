use serde::Deserialize;

use crate::model::{FailureKind, Subkind};
use crate::runners::Pattern;

/// One rule: a line that looks like this means that.
///
/// The tables stand as TOML beside this file. `weight` says how near to the root cause a line
/// stands: 90 and more ended the process, 75 to 89 kept the work from starting (configuration,
/// syntax), 65 to 74 are imports and outside services with exact words, 50 to 64 are typed errors,
/// 40 to 49 errors at run time, 25 to 39 failed expectations and style, below that wrappers that
/// only pass a failure on; a row without one weighs what its kind does in `words.toml`. In `pattern`, `{python}` and `{node}` at the start stand for what the
/// languages print before an error; the groups `name`, `module`, `export` and `path` are picked up, and
/// `names`, a list with commas in which a file may stand before each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::diagnose) struct Rule {
    /// Unique; what an answer names as the rule that decided.
    pub(in crate::diagnose) id: String,
    /// The program that prints such a line.
    pub(in crate::diagnose) tool: String,
    pub(in crate::diagnose) kind: FailureKind,
    pub(in crate::diagnose) subkind: Option<Subkind>,
    #[serde(default)]
    pub(in crate::diagnose) weight: u8,
    /// A literal that stands in every line the pattern matches.
    pub(in crate::diagnose) cue: String,
    pub(in crate::diagnose) pattern: String,
    /// What one of the few lines above must be like, or below.
    pub(in crate::diagnose) above: Option<Pattern>,
    pub(in crate::diagnose) below: Option<Pattern>,
    /// What none of those below may be like.
    pub(in crate::diagnose) unless: Option<Pattern>,
    /// A line that it matches.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "documents the rule; tests hold it")
    )]
    pub(in crate::diagnose) example: String,
    /// Why the line means this.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "documents the rule; tests hold it")
    )]
    pub(in crate::diagnose) why: String,
    /// Where such a line stands in public: the repository of a job whose log it decides.
    #[serde(default = "own_trial")]
    #[expect(dead_code, reason = "documents the rule")]
    pub(in crate::diagnose) seen: String,
}

// `seen` of a row whose line was only ever printed by a tool that was made to fail on purpose.
fn own_trial() -> String {
    "own trial".to_owned()
}

/// What is wrong with a rule of a user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// The id is empty, or two rules share it.
    #[error("the rule id `{0}` is empty or used twice")]
    Id(String),
    /// The pattern is no regular expression.
    #[error("the pattern of rule `{id}` does not compile: {reason}")]
    Pattern {
        /// The rule.
        id: String,
        /// What the compiler of patterns says.
        reason: String,
    },
    /// The rule does not find its own example.
    #[error("the pattern of rule `{0}` does not match its example")]
    Example(String),
    /// The weight is not between 1 and 99.
    #[error("the weight of rule `{0}` is not between 1 and 99")]
    Weight(String),
}
