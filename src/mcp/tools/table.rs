use super::{context, diagnose, hint, imports, patch, tests};
use crate::app::ImportsRequest;
use crate::mcp::tool::{ToolRow, document, input};

// A row: name, title, whether the tool `reads`, `writes` or `runs`, its arguments, its result, its function.
// The comment above a row is the description that a model reads.
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
    /// Diagnose a log: the kind of the failure, the lines that show it, the files it names, and what to do
    /// about it.
    "diagnose" "Diagnose a log" reads diagnose::Arguments
        => Some(|| document("diagnosis")), diagnose::call;
    /// Select the files that a repair of a failure needs, under hard caps, from the log or from named
    /// targets. What is left out is listed with the reason. Without a log, the last `mendit run` is used.
    "build_context" "Build the context of a failure" reads context::Arguments => None, context::call;
    /// Find the imports for undefined names, from how this repository imports and defines them.
    "find_import" "Find imports" reads hint::Arguments => Some(|| document("hint")), hint::call;
    /// List what files import, or what imports them, to a number of hops; with `changed` and `tests` the
    /// tests that the changes since a commit can reach.
    "imports" "List imports" reads ImportsRequest => Some(|| document("imports")), imports::call;
    /// Validate a patch without applying it: whether and where it applies, what was repaired in it, what it
    /// breaks, and what to send instead when it does not apply.
    "check_patch" "Check a patch" reads patch::Arguments => Some(|| document("patch-verdict")), patch::check;
    /// Validate a patch, then write all of it to the worktree or nothing.
    "apply_patch" "Apply a patch" writes patch::Arguments => Some(|| document("patch-verdict")), patch::apply;
    /// Run one of the test commands that this server was given. When it fails: the failing tests, their errors
    /// and locations, the import that is certain, and where the log is.
    "run_tests" "Run the tests" runs tests::Arguments => Some(input::<tests::Ran>), tests::run;
    /// Find the change that broke the tests: reverts changes in an isolated copy, uncommitted ones first, then
    /// commits, and reruns the failing tests. Nothing is written to the worktree.
    "find_cause" "Find the change that broke the tests" runs tests::Arguments
        => Some(|| document("why")), tests::why;
    /// Fix a failing test command where no model is needed, tested in an isolated copy. Returns the patch that
    /// makes it pass; nothing is written.
    "fix_tests" "Fix without a model" runs tests::Arguments => Some(input::<tests::Mended>), tests::fix;
}
