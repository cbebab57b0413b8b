use super::{context, diagnose, explain, hint, imports, patch, redact, tests};
use crate::mcp::tool::{ToolRow, document, input};

/// Every tool, in the order they are listed.
pub(in crate::mcp) const TOOLS: &[ToolRow] = &[
    ToolRow {
        name: "diagnose",
        title: "Diagnose a log",
        about: "Say what a log tells about a failure: its kind, the lines that say so, the files it \
                names, and what to do about it.",
        writes: false,
        runs: false,
        input: input::<diagnose::Arguments>,
        output: Some(|| document("diagnosis")),
        call: diagnose::call,
    },
    ToolRow {
        name: "build_context",
        title: "Build the context of a failure",
        about: "Choose the files that a repair of a failure needs, under hard caps, from the log or \
                from named targets. What is left out is named with the reason. Without a log it takes \
                the last run of `mendit run`.",
        writes: false,
        runs: false,
        input: input::<context::Arguments>,
        output: None,
        call: context::call,
    },
    ToolRow {
        name: "find_import",
        title: "Find imports",
        about: "Find the imports that were meant for undefined names, by how this repository \
                imports and defines them.",
        writes: false,
        runs: false,
        input: input::<hint::Arguments>,
        output: Some(|| document("hint")),
        call: hint::call,
    },
    ToolRow {
        name: "imports",
        title: "List imports",
        about: "List what files import, or what imports them, to a number of hops; with `changed` and \
                `tests` the tests that the changes since a commit can reach.",
        writes: false,
        runs: false,
        input: input::<imports::Arguments>,
        output: Some(|| document("imports")),
        call: imports::call,
    },
    ToolRow {
        name: "check_patch",
        title: "Check a patch",
        about: "Judge a patch and change nothing: whether and where it applies, what had to be \
                mended, what it breaks, and what to send instead when it does not apply.",
        writes: false,
        runs: false,
        input: input::<patch::Arguments>,
        output: Some(|| document("patch-verdict")),
        call: patch::check,
    },
    ToolRow {
        name: "apply_patch",
        title: "Apply a patch",
        about: "Judge a patch, then write all of it to the worktree or nothing.",
        writes: true,
        runs: false,
        input: input::<patch::Arguments>,
        output: Some(|| document("patch-verdict")),
        call: patch::apply,
    },
    ToolRow {
        name: "run_tests",
        title: "Run the tests",
        about: "Run one of the test commands that this server was given. When it fails: which tests, \
                what they died of and where, the import that is certain, and where the log is.",
        writes: false,
        runs: true,
        input: input::<tests::Arguments>,
        output: Some(input::<tests::Ran>),
        call: tests::run,
    },
    ToolRow {
        name: "find_cause",
        title: "Find the change that broke the tests",
        about: "Name the smallest set of changes without which the failing tests pass: uncommitted ones, \
                else those of the commit that brought it. Changes are taken back in a place of its own; \
                nothing is written.",
        writes: false,
        runs: true,
        input: input::<tests::Arguments>,
        output: Some(|| document("why")),
        call: tests::why,
    },
    ToolRow {
        name: "fix_tests",
        title: "Fix without a model",
        about: "Mend what a test command fails with as far as no model is needed, tried in a place of \
                its own. Gives the patch that makes it pass; nothing is written.",
        writes: false,
        runs: true,
        input: input::<tests::Arguments>,
        output: Some(input::<tests::Mended>),
        call: tests::fix,
    },
    ToolRow {
        name: "redact",
        title: "Mask secrets",
        about: "Give a text or a file of the repository with its secrets masked, and say where they \
                were.",
        writes: false,
        runs: false,
        input: input::<redact::Arguments>,
        output: Some(input::<redact::Masked>),
        call: redact::call,
    },
    ToolRow {
        name: "explain",
        title: "Explain a code",
        about: "Say what a code such as P401 means and what to do about it; without a code, list all codes.",
        writes: false,
        runs: false,
        input: input::<explain::Arguments>,
        output: Some(input::<explain::Pages>),
        call: explain::call,
    },
];
