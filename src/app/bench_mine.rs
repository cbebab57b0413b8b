use std::path::PathBuf;

use super::bench::{absolute, jobs};
use super::open::listen;
use super::{App, AppError};
use crate::bench::{BenchFile, MineOptions, Mined, mine};
use crate::git::Repository;
use crate::model::{Code, MineDocument};

/// Search a history for fixes whose tests fail before and pass after. How many candidates are tried
/// at a time is a setting.
#[derive(Debug, Clone)]
pub struct MineRequest {
    /// The repository: a worktree, a clone, a bare clone.
    pub repository: PathBuf,
    /// The description of its environments; no other file says what is run.
    pub environment: PathBuf,
    /// The folder that takes the set.
    pub to: PathBuf,
    /// The folder for checkouts and environments; below `to` when missing.
    pub work: Option<PathBuf>,
    /// Where the main line begins.
    pub revision: String,
    /// Fixes after which the search ends.
    pub limit: Option<usize>,
    /// Commits to look at.
    pub max_commits: Option<u64>,
    /// Product files that a fix may change.
    pub max_files: usize,
    /// Lines that a fix may change.
    pub max_lines: usize,
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
        jobs: jobs(app.settings()),
        workplace: app.settings().repair.workplace,
    };
    let stop = listen()?;
    let found = mine(&clone, &file, &options, app.redactor(), &stop, done)?;
    if found.commits == 0
        && let Some(said) = found.incomplete.first()
    {
        return Err(AppError::new(Code::F404, said.clone()));
    }
    Ok((!stop.requested()).then_some(found))
}
