//! Floor 9: one task for each command, from a request to a document. Everything that tasks stand on
//! is opened once, by [`App`]; command line, server and library only translate.

mod agent_check;
mod agent_setup;
mod agents;
mod bench;
mod bench_mine;
mod brief;
mod ci_logs;
mod confined;
mod context;
mod context_request;
mod deleted;
mod diagnose;
mod doctor;
mod drift;
mod error;
mod explain;
mod files;
mod fix;
mod fix_ci;
mod flags;
mod git_apply;
mod heal;
mod hint;
mod hook;
mod imports;
mod input;
mod install;
mod json_insert;
mod known_cause;
mod last_run;
mod line_rows;
mod line_words;
mod lint_fix;
mod locked;
mod members;
mod open;
mod patch;
mod progress;
mod redact;
mod remedy;
mod repair;
mod report;
mod run;
mod run_record;
mod run_summary;
mod run_verdict;
mod runs;
mod shared;
mod show_settings;
mod split;
mod stats;
mod suspects;
mod test_command;
mod traced;
mod why;

pub use crate::diagnose::Log;
pub use crate::junit::Report;
pub use agent_check::{AgentRequest, check_agent};
pub use agent_setup::{SET_UP_AGENTS, SetUp, SetUpFile, set_up_agent};
pub use agents::{AgentPreset, PRESETS, preset};
pub use bench::{
    BenchRequest, NewFixtureRequest, ProofDocument, ProofRow, RealSets, bench_failure,
    benches_all_agents, broken_fixtures, compare_benches, make_fixture, merge_bench,
    prove_fixtures, run_all_agents, run_bench,
};
pub use bench_mine::{MineRequest, mine_fixes};
pub use context::{Packed, build_context, within_budget};
pub use context_request::ContextRequest;
pub use diagnose::{
    DiagnoseRequest, Diagnosed, diagnose_log, read_junit, read_log, summarise_diagnosis,
};
pub use doctor::check_up;
pub use error::AppError;
pub use explain::{Explained, RulePage, explain_word};
pub use files::{below_no_link, to_json, to_json_line, write_file};
pub use fix::{FixRequest, Fixed, find_fix, write_fix};
pub use fix_ci::{FixCiRequest, fix_ci};
pub use flags::{AGENT, Flags, Suggested, share};
pub use git_apply::{GitApplied, GitPlace, NamedPatch, git_apply};
pub use heal::{HealRequest, heal_probes};
pub use hint::{HintRequest, Hinted, find_imports};
pub use hook::answer_hook;
pub use imports::{ImportsRequest, list_imports};
pub use input::{Input, awaited, is_piped, last, reports};
pub use known_cause::known_undo;
pub use last_run::{
    CommandReport, LastLog, enter_last, has_last_run, last_log, last_words, no_run,
};
pub use open::{App, AppOptions};
pub use patch::{
    Against, BatchAnswer, PatchRequest, Target, apply_patch, check_batch, check_patch,
    recover_apply, with_canonical,
};
pub use progress::{Progress, Silent};
pub use redact::{
    FindingRow, Masked, RedactRequest, Switch, last_line, readable_file, redact_text,
};
pub use repair::{RepairRequest, Repaired, repair_repository};
pub use report::{Reported, find_run, read_report};
pub use run::{RunRequest, run_command};
pub use runs::{Clean, KeptDocument, KeptRow, clean, last_run};
pub use show_settings::{SettingRow, find_settings, own_settings, show_settings};
pub use split::{SplitReason, SplitRequest, split_task};
pub use stats::{StatsRequest, add_up_runs, gain};
pub use test_command::find_test_command;
pub use why::{WhyRequest, find_cause};

// What requests are made of.
pub use crate::bench::Mined;
pub(crate) use crate::config as settings;
pub use crate::context::LevelChoice;
pub use crate::exec::{Stop, Terminal, guard_environment, own_program, set_supervisor, supervise};
pub use crate::patch::{
    GitApplyOptions, Judged, Limit, MergeSide, Recovered, Verbosity, WhiteSpace,
};
pub use crate::repair::Split;
pub use crate::workspace::SettingsChoice;
