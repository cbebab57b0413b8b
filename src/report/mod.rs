//! Floor 1: values of the model as text for people and tools, one format a file.

mod visible;

pub use visible::{difference, harmless, visible};

cfg_if::cfg_if! {
    if #[cfg(feature = "program")] {
        mod bench;
        mod mine_text;
        mod next_steps;
        mod page;
        mod context_block;
        mod context_markdown;
        mod context_prompt;
        mod context_text;
        mod diagnosis_text;
        mod diff_text;
        mod failure_text;
        mod healing_text;
        mod imports_text;
        mod markup;
        mod github;
        mod patch_text;
        mod printable;
        mod proof_text;
        mod rates_text;
        mod run_page;
        mod run_summary;
        mod run_text;
        mod sarif;
        mod table;
        mod why_text;

        pub use bench::{
            bench_markdown, bench_text, pairs_markdown, pairs_text,
        };
        pub use mine_text::mine_text;
        pub use next_steps::{Culprit, NextFacts, culprit_of, next_steps};
        pub use context_markdown::{agent_prompt, context_markdown};
        pub use context_prompt::ReplyForm;
        pub use context_text::context_text;
        pub use github::summary_github;
        pub use why_text::{why_line, why_markdown, why_text};
        pub use sarif::summary_sarif;
        pub use diagnosis_text::diagnosis_text;
        pub use diff_text::diff_text;
        pub use failure_text::{failure_text, parse_failure_text};
        pub use healing_text::healing_text;
        pub use imports_text::{imports_paths, imports_text};
        pub use github::patch_github;
        pub use sarif::patch_sarif;
        pub use patch_text::patch_text;
        pub use printable::{printable, printable_in_colour, printable_json};
        pub use rates_text::{rates_markdown, rates_text};
        pub use run_page::{run_html, run_markdown};
        pub use run_summary::{kept_summary, run_culprit, run_failures, run_summary};
        pub use run_text::{declined_text, run_text};
        pub use table::table;
    }
}
