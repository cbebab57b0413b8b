//! Floor 9: one task for each command, from a request to a document. Everything that tasks stand on
//! is opened once, by [`App`]; command line, server and library only translate.

mod agents;
mod bench;
mod confined;
mod context;
mod diagnose;
mod doctor;
mod error;
mod files;
mod fix;
mod flags;
mod git_apply;
mod heal;
mod hint;
mod imports;
mod init;
mod input;
mod kept;
mod open;
mod patch;
mod redact;
mod report;
mod run;
mod run_end;
mod runs;
mod show_settings;
mod test_command;
mod why;

/// What tasks give.
pub(crate) type Result<T, E = AppError> = std::result::Result<T, E>;

pub use crate::policy::Redactor;
pub use bench::{
    BenchRequest, MineRequest, RealSets, bench_failure, broken_fixtures, compare_benches,
    merge_bench, mine_fixes, run_bench,
};
pub use context::{ContextRequest, build_context};
pub use diagnose::{DiagnoseRequest, diagnose_log, read_junit, summarise_diagnosis};
pub use doctor::check_up;
pub use error::AppError;
pub use files::{to_json, to_json_line, write_file};
pub use fix::{FixRequest, Fixed, find_fix, split_task, write_fix};
pub(crate) use flags::word;
pub use flags::{Flags, share};
pub use git_apply::{GitPlace, git_apply};
pub use heal::{HealRequest, heal_probes};
pub use hint::{HintRequest, find_imports};
pub use imports::{ImportsRequest, list_imports};
pub use init::{InitOutcome, InitRequest, init_names, init_target};
pub use input::{Input, is_piped, last, reports};
pub use kept::{Clean, KeptDocument, KeptRow, clean};
pub use open::{App, AppOptions, Progress, Silent};
pub use patch::{
    Against, PatchRequest, Target, apply_patch, check_batch, check_patch, recover_apply,
    with_canonical,
};
pub use redact::{RedactRequest, StreamMasker, last_line, readable_file, redact_text};
pub use report::{Reported, add_up_runs, find_run, holds_runs, read_report};
pub use run::{RunRequest, run_command};
pub use runs::{CommandReport, LastLog, enter_last, has_last_run, last_log, last_words, no_run};
pub use show_settings::{SettingRow, explain_word, find_settings, own_settings, show_settings};
pub use test_command::find_test_command;
pub use why::{WhyRequest, find_cause, known_undo};

// What requests are made of.
pub use crate::bench::Mined;
pub(crate) use crate::config as settings;
pub use crate::context::LevelChoice;
pub use crate::exec::{Stop, Terminal, guard_environment, own_program, set_supervisor, supervise};
pub use crate::patch::{GitApplyOptions, Judged, Limit, Recovered, Verbosity, WhiteSpace};
pub use crate::repair::Split;
pub use crate::workspace::SettingsChoice;
