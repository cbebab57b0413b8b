use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::bench::{absolute, jobs};
use super::flags::request;
use super::open::listen;
use super::{App, AppError};
use crate::bench::{BenchFile, MineOptions, Mined, mine};
use crate::git::Repository;
use crate::model::{Code, MineDocument, WorkplaceMode};

request! {
/// Search a history for fixes whose tests fail before and pass after.
MineRequest {
    /// The repository, a clone of it or a bare one
    #[arg(value_name = "REPO", default_value = ".")] repository: PathBuf;
    /// Setup and test commands, as docs/bench.md describes them
    #[arg(long, value_name = "FILE")] environment: PathBuf;
    /// The folder for fixes.json and the results of each candidate
    #[arg(long, value_name = "DIR")] to: PathBuf;
    /// Checkouts and environments [default: DIR/work]
    #[arg(long, value_name = "DIR")] work: Option<PathBuf>;
    /// Where the search begins
    #[arg(long, value_name = "REV", default_value = "HEAD")] revision: String;
    /// Stop after this many fixes
    #[arg(long, value_name = "N")] limit: Option<usize>;
    /// Look at this many commits
    #[arg(long, value_name = "N")] max_commits: Option<u64>;
    /// Leave out fixes that change more product files
    #[arg(long, value_name = "N", default_value = "5")] max_files: usize;
    /// Leave out fixes that add and remove more product lines
    #[arg(long, value_name = "N", default_value = "200")] max_lines: usize;
    /// Candidates at a time, each in a checkout and environment of its own
    #[arg(long, value_name = "N")] jobs: Option<NonZeroUsize>;
    /// Where tests run [setting: sandbox.workplace]
    #[arg(long, value_enum)] workplace: Option<WorkplaceMode> => set sandbox.workplace;
}
}

/// Mines a history. `None` when it was interrupted: the same call goes on. `done` hears of each
/// candidate that was tried, from any thread.
///
/// # Errors
/// A repository or description that cannot be used, a set-up that fails, or a history of which
/// nothing is here.
pub fn mine_fixes(
    app: &App,
    request: &MineRequest,
    done: &(dyn Fn(&Mined<'_>) + Sync),
) -> Result<Option<MineDocument>, AppError> {
    let named = request.repository.display();
    let clone = Repository::discover(&request.repository)?
        .ok_or_else(|| AppError::new(Code::U204, format!("`{named}` is in no git repository")))?;
    let file = BenchFile::read(&request.environment)?;
    let to = absolute(&request.to)?;
    let work = request.work.clone().unwrap_or_else(|| to.join("work"));
    let options = MineOptions {
        revision: request.revision.clone(),
        work: absolute(&work)?,
        to,
        limit: request.limit,
        max_commits: request.max_commits,
        max_files: request.max_files,
        max_lines: request.max_lines,
        jobs: jobs(request.jobs),
        workplace: app.settings().sandbox.workplace.unwrap_or_default(),
    };
    let stop = listen()?;
    let found = mine(&clone, &file, &options, app.redactor(), &stop, done)?;
    if found.commits == 0
        && let Some(message) = found.incomplete.first()
    {
        return Err(AppError::new(Code::F401, message.clone()));
    }
    Ok((!stop.requested()).then_some(found))
}
