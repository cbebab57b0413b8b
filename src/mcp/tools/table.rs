use super::{context, diagnose, explain, hint, imports, patch, redact, tests};
use crate::app::ImportsRequest;
use crate::mcp::tool::{ToolRow, document, input};

// A row: its name, its title, whether it `reads`, `writes` or `runs`, its arguments and what it gives, and
// what does it. The comment above is the description that a model reads.
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
    /// Classify the failure in a log: its kind, the evidence, the files it names, and what to do about it.
    "diagnose" "Diagnose a log" reads diagnose::Arguments
        => Some(|| document("diagnosis")), diagnose::call;
    /// Choose the files that a fix of a failure needs, within hard caps, from the log or from named targets.
    /// Omitted files are listed with the reason. Without a log it uses the last run of `mendit run`.
    "build_context" "Build the context of a failure" reads context::Arguments => None, context::call;
    /// Suggest imports for undefined names, by how this repository imports and defines them.
    "find_import" "Find imports" reads hint::Arguments => Some(|| document("hint")), hint::call;
    /// List what files import, or what imports them, to a number of hops; with `changed` and `tests` the
    /// tests that the changes since a commit can reach.
    "imports" "List imports" reads ImportsRequest => Some(|| document("imports")), imports::call;
    /// Validate a patch without applying it: whether and where it applies, what had to be corrected, what it
    /// breaks, and what to send instead when it does not apply.
    "check_patch" "Check a patch" reads patch::Arguments => Some(|| document("patch-verdict")), patch::check;
    /// Validate a patch, then write all of it to the worktree or nothing.
    "apply_patch" "Apply a patch" writes patch::Arguments => Some(|| document("patch-verdict")), patch::apply;
    /// Run one of the test commands that this server was given. On failure: the failing tests with their errors
    /// and lines, the certain import, and where the log is.
    "run_tests" "Run the tests" runs tests::Arguments => Some(input::<tests::Ran>), tests::run;
    /// Find the smallest set of changes whose revert makes the failing tests pass: uncommitted changes, otherwise
    /// those of the culprit commit. Changes are reverted in an isolated copy; nothing is written.
    "find_cause" "Find the change that broke the tests" runs tests::Arguments
        => Some(|| document("why")), tests::why;
    /// Fix a failing test command without an LLM, tested in an isolated copy. Returns the patch that makes it
    /// pass; nothing is written.
    "fix_tests" "Fix without an LLM" runs tests::Arguments => Some(input::<tests::Mended>), tests::fix;
    /// Return a text or a file of the repository with its secrets redacted, and where they were.
    "redact" "Redact secrets" reads redact::Arguments => Some(input::<redact::Masked>), redact::call;
    /// Explain a code such as P401 and what to do about it; without a code, list all codes.
    "explain" "Explain a code" reads explain::Arguments => Some(input::<explain::Pages>), explain::call;
}
