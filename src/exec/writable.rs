use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Job;

/// What a confined command may write: what the job says, its directory, the temporary directories,
/// devices without content, and the caches of known tools.
pub(super) fn writable(job: &Job, variables: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let variable = |name: &str| {
        variables
            .get(std::ffi::OsStr::new(name))
            .map(Path::new)
            .filter(|path| path.is_absolute())
    };
    let mut paths: Vec<PathBuf> = job.sandbox.writable.clone();
    paths.push(job.directory.clone());
    paths.push(std::env::temp_dir());
    paths.extend(PLACES.iter().map(PathBuf::from));
    paths.extend(
        CACHE_VARIABLES
            .iter()
            .filter_map(|name| variable(name))
            .map(Path::to_owned),
    );
    if let Some(home) = variable("HOME") {
        paths.extend(HOME_CACHES.iter().map(|below| home.join(below)));
    }
    if let Some(cargo) = variable("CARGO_HOME") {
        paths.extend(CARGO_CACHES.iter().map(|below| cargo.join(below)));
    }
    // The supervisor stands in the job's directory, not in this process's.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let mut paths: Vec<PathBuf> = paths.into_iter().map(absolute).collect();
    paths.sort();
    paths.dedup();
    paths
}

const PLACES: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

// Directories that tools keep what they could fetch or build again in. No place for programs or
// settings: those run later, outside.
#[rustfmt::skip]
const CACHE_VARIABLES: &[&str] = &[
    "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CARGO_TARGET_DIR", "SCCACHE_DIR",
    "npm_config_cache", "NPM_CONFIG_CACHE", "npm_config_store_dir", "YARN_CACHE_FOLDER", "DENO_DIR",
    "CYPRESS_CACHE_FOLDER", "PIP_CACHE_DIR", "POETRY_CACHE_DIR", "UV_CACHE_DIR", "GOCACHE",
    "GOMODCACHE", "NUGET_PACKAGES",
];

#[rustfmt::skip]
const HOME_CACHES: &[&str] = &[
    ".cache", ".npm", ".pnpm-store", ".local/share/pnpm/store", ".bun/install/cache", ".deno",
    ".yarn/berry/cache", ".cargo/registry", ".cargo/git", ".cargo/.package-cache",
    ".cargo/.package-cache-mutate", ".cargo/.global-cache", "go/pkg", ".gradle/caches",
    ".gradle/daemon", ".m2/repository", ".nuget/packages", ".hypothesis", "Library/Caches",
];

const CARGO_CACHES: &[&str] = &[
    "registry",
    "git",
    ".package-cache",
    ".package-cache-mutate",
    ".global-cache",
];
