use super::{context, diagnose, explain, hint, imports, patch, redact, tests};
use crate::app::ImportsRequest;
use crate::mcp::tool::{ToolRow, document, input};

// A row: its name, its title, whether it `reads`, `writes` or `runs`, its arguments and what it gives, and
// what does it. The comment above is what a model is told.
macro_rules! tools {
    ($($(#[doc = $about:literal])+
       $name:literal $title:literal $access:ident $input:ty => $output:expr, $call:path;)*) => {
        /// Every tool, in the order they are listed.
        pub(in crate::mcp) const TOOLS: &[ToolRow] = &[$(
            ToolRow {
                name: $name,
                title: $title,
                about: concat!($($about),+),
                writes: matches!(stringify!($access).as_bytes(), b"writes"),
                runs: matches!(stringify!($access).as_bytes(), b"runs"),
                input: input::<$input>,
                output: $output,
                call: $call,
            },
        )*];
    };
}

tools! {
    /// Say what a log tells about a failure: its kind, the lines that say so, the files it names, and what to
    /// do about it.
    "diagnose" "Diagnose a log" reads diagnose::Arguments
        => Some(|| document("diagnosis")), diagnose::call;
    /// Choose the files that a repair of a failure needs, under hard caps, from the log or from named
    /// targets. What is left out is named with the reason. Without a log it takes the last run of
    /// `mendit run`.
    "build_context" "Build the context of a failure" reads context::Arguments => None, context::call;
    /// Find the imports that were meant for undefined names, by how this repository imports and defines
    /// them.
    "find_import" "Find imports" reads hint::Arguments => Some(|| document("hint")), hint::call;
    /// List what files import, or what imports them, to a number of hops; with `changed` and `tests` the
    /// tests that the changes since a commit can reach.
    "imports" "List imports" reads ImportsRequest => Some(|| document("imports")), imports::call;
    /// Judge a patch and change nothing: whether and where it applies, what had to be mended, what it breaks,
    /// and what to send instead when it does not apply.
    "check_patch" "Check a patch" reads patch::Arguments => Some(|| document("patch-verdict")), patch::check;
    /// Judge a patch, then write all of it to the worktree or nothing.
    "apply_patch" "Apply a patch" writes patch::Arguments => Some(|| document("patch-verdict")), patch::apply;
    /// Run one of the test commands that this server was given. When it fails: which tests, what they died of
    /// and where, the import that is certain, and where the log is.
    "run_tests" "Run the tests" runs tests::Arguments => Some(input::<tests::Ran>), tests::run;
    /// Name the smallest set of changes without which the failing tests pass: uncommitted ones, else those of
    /// the commit that brought it. Changes are taken back in a place of its own; nothing is written.
    "find_cause" "Find the change that broke the tests" runs tests::Arguments
        => Some(|| document("why")), tests::why;
    /// Mend what a test command fails with as far as no model is needed, tried in a place of its own. Gives
    /// the patch that makes it pass; nothing is written.
    "fix_tests" "Fix without a model" runs tests::Arguments => Some(input::<tests::Mended>), tests::fix;
    /// Give a text or a file of the repository with its secrets masked, and say where they were.
    "redact" "Mask secrets" reads redact::Arguments => Some(input::<redact::Masked>), redact::call;
    /// Say what a code such as P401 means and what to do about it; without a code, list all codes.
    "explain" "Explain a code" reads explain::Arguments => Some(input::<explain::Pages>), explain::call;
}
