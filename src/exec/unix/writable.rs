//! Lists the paths that a confined command may write.

use std::path::PathBuf;

use crate::exec::Job;
use crate::exec::temporary::own_corner;

/// What a confined command may write: what the job says, its directory and its private folder. No
/// cache that other programs read.
pub(super) fn writable(job: &Job) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = job.sandbox.writable.clone();
    paths.push(job.directory.clone());
    paths.extend(job.private.clone());
    // The supervisor is in the job's directory, not in this process's.
    let mut paths: Vec<PathBuf> = paths
        .into_iter()
        .map(|path| std::path::absolute(&path).unwrap_or(path))
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// What a confined command may write unless it holds what is closed: devices without content, and
/// of a temporary folder in which it works its own corner.
pub(super) fn common(job: &Job) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    paths.extend(own_corner(&job.directory));
    paths
}

const DEVICES: &[&str] = &[
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx",
    "/dev/pts",
];
