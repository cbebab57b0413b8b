//! Starts a job under the supervisor and logs how it ended.

use super::outcome::Report;
use super::private::make_private;
use super::unix::{Supervisor, launch_supervised};
use super::{ExecError, Job};
use crate::model::AtPath as _;
use std::io::PipeReader;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Starts a job. `ended` is called once, from another thread or before this returns: with `None`
/// when whoever waited for the command is gone.
pub(super) fn launch_job(
    job: &Job,
    input: Input,
    ended: impl FnOnce(Option<Report>) + Send + 'static,
) -> Result<Launched, ExecError> {
    let command = job.command.arguments();
    if command.first().is_none_or(|program| program.is_empty()) {
        return Err(ExecError::Empty);
    }
    let found = std::fs::metadata(&job.directory).at(&job.directory)?;
    if !found.is_dir() {
        Err(std::io::ErrorKind::NotADirectory).at(&job.directory)?;
    }
    let mut variables = job.environment.variables(std::env::vars_os());
    // Python then prints its stack before it is stopped at the time limit.
    if job.limits.timeout.is_some() {
        variables.entry("PYTHONFAULTHANDLER".into()).or_insert_with(|| "1".into());
    }
    if let Some(private) = &job.private {
        make_private(private, &mut variables, &job.environment.allow)?;
    }
    let shown = job.command.to_string();
    tracing::info!(directory = %job.directory.display(), "starting `{shown}`");
    tracing::debug!(limits = ?job.limits, sandbox = ?job.sandbox.mode, overlays = job.overlays.len());
    launch_supervised(job, &command, &variables, input, move |report| {
        log_end(&shown, report.as_ref());
        ended(report);
    })
}

fn log_end(command: &str, report: Option<&Report>) {
    let Some(report) = report else {
        tracing::warn!("the supervisor of `{command}` was killed");
        return;
    };
    let end: &dyn std::fmt::Debug = match &report.end {
        Ok(end) => end,
        Err(refusal) => refusal,
    };
    tracing::info!(sandbox = ?report.sandbox, "`{command}` ended: {end:?}");
    for missing in &report.not_confined {
        tracing::warn!("not confined: {missing:?}");
    }
    if report.leaked > 0 {
        tracing::warn!(
            "`{command}` left {} processes; they were killed",
            report.leaked
        );
    }
}

/// The running program itself, also when its file was replaced meanwhile.
pub fn own_program() -> Option<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && link.symlink_metadata().is_ok() {
        return Some(link);
    }
    std::env::current_exe().ok()
}

/// Finds a program on the search path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.into_iter().find(|file| is_program(file))
}

/// Whether a file may be run.
pub fn is_program(file: &Path) -> bool {
    let Ok(about) = file.metadata() else {
        return false;
    };
    about.is_file() && about.permissions().mode() & 0o111 != 0
}

/// A command under way.
pub(super) struct Launched {
    pub(super) control: Arc<Supervisor>,
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
}

/// The input of a command.
pub(super) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Pipe(PipeReader),
}

/// Bytes read at once.
pub(super) const CHUNK: usize = 64 << 10;
