use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::global::Global;
use super::values::{Flag as _, TextOrJson};
use super::{AppError, Exit, Output, open};
use crate::app::{MineRequest, Mined, mine_fixes};
use crate::model::WorkplaceMode;
use crate::report::mine_text;

/// Search a history for fixes whose tests fail before and pass after.
///
/// Walks the first-parent line for commits that change tests and product. Each is tried in a checkout
/// of its own: the parent with the fix's tests must fail, with the fix's product pass, twice the same.
/// What holds is written to DIR/fixes.json by reference: commits, commands, files and line numbers, no
/// contents. REPO is only read, and nothing in it says what is run: that is --environment. The same
/// call goes on where an earlier one was interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mendit bench mine . --environment bench.toml --to fixes --limit 20

Exit codes: 0 searched · 1 no fix was found · 2 it could not be searched · 130 interrupted")]
pub(crate) struct Args {
    /// The repository, a clone of it or a bare one
    #[arg(value_name = "REPO", default_value = ".")]
    repository: PathBuf,
    /// Set-up and test commands, as docs/real-history.md describes them
    #[arg(long, value_name = "FILE")]
    environment: PathBuf,
    /// The folder that takes fixes.json and what was found of each candidate
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Checkouts and environments [default: DIR/work]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Where the search begins
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    revision: String,
    /// End after this many fixes
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Look at this many commits
    #[arg(long, value_name = "N")]
    max_commits: Option<u64>,
    /// Leave out fixes that change more product files
    #[arg(long, value_name = "N", default_value = "5")]
    max_files: usize,
    /// Leave out fixes that take away and bring more lines of product
    #[arg(long, value_name = "N", default_value = "200")]
    max_lines: usize,
    /// Candidates at a time, each in a checkout and environment of its own [setting: bench.jobs]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Where tests run [default: auto] [setting: repair.workplace]
    #[arg(long, value_enum)]
    workplace: Option<WorkplaceMode>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(super) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, |settings| {
        args.jobs.over(&mut settings.bench.jobs);
        args.workplace.over(&mut settings.repair.workplace);
    })?;
    let request = MineRequest {
        repository: args.repository.clone(),
        environment: args.environment.clone(),
        to: args.to.clone(),
        work: args.work.clone(),
        revision: args.revision.clone(),
        limit: args.limit,
        max_commits: args.max_commits,
        max_files: args.max_files,
        max_lines: args.max_lines,
    };
    let told = |mined: &Mined<'_>| {
        if global.no_progress || global.quiet {
            return;
        }
        let commit = mined.commit.get(..9).unwrap_or(mined.commit);
        let mut line = format!(
            "{:>4}/{} kept {:<3} {commit} {}",
            mined.number, mined.of, mined.kept, mined.end
        );
        if !mined.said.is_empty() {
            line.push_str(&format!(": {}", mined.said));
        }
        output.aside(|_, _| format!("{line}\n"));
    };
    let Some(document) = mine_fixes(&app, &request, &told)? else {
        return Ok(Exit::Interrupted);
    };
    output.document(args.format, &document, mine_text)?;
    Ok(if document.kept == 0 {
        Exit::No
    } else {
        Exit::Yes
    })
}
