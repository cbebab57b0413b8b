//! Gives a command private temporary and cache folders, so that it cannot poison caches of other
//! programs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Gives a command a temporary folder and caches of its own below `private`: what it writes there
/// no other program reads later. What is in the user's cache is seen through links, and is as
/// little writable as the rest of the home. Variables that `named` sets stay as they are.
pub(super) fn make_private(
    private: &Path,
    variables: &mut BTreeMap<OsString, OsString>,
    named: &[String],
) -> io::Result<()> {
    let temporary = private.join("tmp");
    let cache = private.join("cache");
    std::fs::create_dir_all(&temporary)?;
    if !cache.is_dir() {
        std::fs::create_dir_all(&cache)?;
        if let Some(shared) = shared_cache(variables) {
            link_entries(&shared, &cache);
        }
    }
    let folders = ["TMPDIR", "TEMP", "TMP"].map(|name| (name, temporary.clone()));
    let tools = TOOLS.iter().map(|(name, below)| (*name, cache.join(below)));
    let folders = folders.into_iter().chain([("XDG_CACHE_HOME", cache.clone())]);
    for (name, folder) in folders.chain(tools) {
        let mut named = named.iter().filter_map(|entry| entry.split_once('='));
        if !named.any(|(key, _)| key == name) {
            variables.insert(name.into(), folder.into());
        }
    }
    Ok(())
}

/// Tools that fail, or warn, when they cannot write into their cache.
const TOOLS: &[(&str, &str)] = &[
    ("npm_config_cache", "npm"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("GOCACHE", "go-build"),
    ("DENO_DIR", "deno"),
    ("SCCACHE_DIR", "sccache"),
    ("CCACHE_DIR", "ccache"),
];

// Caches that are not shared: `virtualenv` locks its own at every use, and the command must not see mendit's.
const OWN: &[&str] = &["virtualenv", "mendit"];

fn shared_cache(variables: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let set = |name: &str| {
        let value = variables.get(OsStr::new(name)).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))
}

// Best effort, since a missing cache only costs time.
fn link_entries(shared: &Path, cache: &Path) {
    for entry in std::fs::read_dir(shared).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let mut own = TOOLS.iter().map(|(_, below)| below).chain(OWN);
        if !own.any(|own| OsStr::new(own) == name) {
            let at = cache.join(name);
            let _ = std::os::unix::fs::symlink(entry.path(), at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::make_private;

    #[test]
    fn private_cache_overlays_shared_one() {
        let home = tempfile::tempdir().unwrap();
        let folder = |path: &str| std::fs::create_dir_all(home.path().join(path)).unwrap();
        folder(".cache/pypoetry/virtualenvs");
        folder(".cache/pip");
        let private = home.path().join("private");
        let mut variables: BTreeMap<OsString, OsString> = BTreeMap::new();
        variables.insert("HOME".into(), home.path().into());
        variables.insert("TMPDIR".into(), "/chosen".into());
        let named = ["TMPDIR=/chosen".to_owned()];
        make_private(&private, &mut variables, &named).unwrap();
        let value = |name: &str| variables[&OsString::from(name)].clone();
        assert_eq!(value("TMPDIR"), "/chosen");
        assert_eq!(value("TMP"), private.join("tmp"));
        assert_eq!(value("PIP_CACHE_DIR"), private.join("cache/pip"));
        assert!(private.join("cache/pypoetry/virtualenvs").is_dir());
        assert!(!private.join("cache/pip").exists());
    }
}
