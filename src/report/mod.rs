//! Layer 1: values of the model as text for people and tools.

mod visible;

pub use visible::{difference, join_numbers, list_advice, show_excerpts, visible};

cfg_if::cfg_if! {
    if #[cfg(feature = "program")] {
        mod annotations;
        mod bench;
        mod context;
        mod diagnosis;
        mod listings;
        mod next_steps;
        mod page;
        mod patch;
        mod prompt;
        mod fix;
        mod summary;
        mod why;

        pub use annotations::{patch_github, patch_sarif, summary_github, summary_sarif};
        pub use bench::{bench_page, mine_text, pairs_page, rates_page};
        pub use context::context_text;
        pub use diagnosis::{diagnosis_text, failure_text};
        pub use listings::{healing_text, imports_paths, imports_text};
        pub use next_steps::{Culprit, NextFacts, next_steps};
        pub use page::{Page, diff_text, table};
        pub use patch::patch_text;
        pub use prompt::{ReplyForm, agent_prompt, context_markdown};
        pub use fix::{declined_text, run_html, run_markdown, run_text};
        pub use summary::{kept_summary, run_culprit, run_summary};
        pub use visible::{printable, printable_in_color, printable_json};
        pub use why::{why_line, why_page};
    }
}
