use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::exec::Job;
use crate::exec::temporary::own_corner;

/// What a confined command may write: what the job says, its directory and its private folder. No
/// cache that other programs read.
pub(super) fn writable(job: &Job, variables: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    // A cache that the user named for this command is meant to be filled by it.
    let chosen = CACHE_VARIABLES.iter().filter_map(|name| {
        let mut set = job
            .environment
            .allow
            .iter()
            .filter_map(|it| it.split_once('='));
        set.find(|(key, _)| key == name)?;
        let path = PathBuf::from(variables.get(OsStr::new(name))?);
        path.is_absolute().then_some(path)
    });
    let mut paths: Vec<PathBuf> = job.sandbox.writable.clone();
    paths.push(job.directory.clone());
    paths.extend(job.private.clone());
    paths.extend(job.temporary.clone());
    paths.extend(chosen);
    // The supervisor stands in the job's directory, not in this process's.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let mut paths: Vec<PathBuf> = paths.into_iter().map(absolute).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// What a confined command may write unless it holds what is closed: devices without content, and
/// of a temporary folder in which it works its own corner.
pub(super) fn common(job: &Job) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    paths.extend(own_corner(&job.directory));
    paths.extend(job.sandbox.beside.iter().cloned());
    paths
}

const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

#[rustfmt::skip]
const CACHE_VARIABLES: &[&str] = &[
    "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CARGO_TARGET_DIR", "SCCACHE_DIR",
    "npm_config_cache", "NPM_CONFIG_CACHE", "npm_config_store_dir", "YARN_CACHE_FOLDER", "DENO_DIR",
    "CYPRESS_CACHE_FOLDER", "PIP_CACHE_DIR", "POETRY_CACHE_DIR", "UV_CACHE_DIR", "GOCACHE",
    "GOMODCACHE", "NUGET_PACKAGES",
];
