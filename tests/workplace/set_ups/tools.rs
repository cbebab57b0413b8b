//! Where the tools of projects are: in `PATH`, or in the folder that `TEST_TOOLS` names and
//! `scripts/test_tools.sh` makes. None of them needs the network then.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Repo;

/// Whether a tool is not there; it is said which one.
pub(crate) fn missing(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| {
        if **name == KIT {
            return kit().is_none();
        }
        let mut command = Command::new(name);
        command.arg("--version").env("PATH", path());
        !command.output().is_ok_and(|it| it.status.success())
    });
    if let Some(program) = missing {
        crate::support::skip(&format!("no {program}"));
    }
    missing.is_some()
}

/// A program that stands for the whole folder, with its packages.
pub(crate) const KIT: &str = "folder of tools (TEST_TOOLS)";

/// The folder of tools.
pub(crate) fn kit() -> Option<PathBuf> {
    std::env::var_os("TEST_TOOLS").map(PathBuf::from)
}

/// Gives a command the tools, and what they need to do without the network. What they keep for a
/// project stands below `outside`.
pub(crate) fn equip(command: &mut Command, outside: &Path) {
    command.env("PATH", path());
    command.env("PIP_NO_INDEX", "1").env("UV_OFFLINE", "1");
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command.env("POETRY_CACHE_DIR", outside.join("poetry"));
    command.env("UV_CACHE_DIR", outside.join("uv"));
    command.env("npm_config_offline", "true");
    if let Some(kit) = kit() {
        command.env("PIP_FIND_LINKS", kit.join("wheels"));
        command.env("npm_config_cache", kit.join("npm"));
    }
}

/// Runs a tool in a repository; it must succeed.
pub(crate) fn run(repo: &Repo, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(repo.root());
    command.env("XDG_CACHE_HOME", repo.outside().join("cache"));
    equip(&mut command, repo.outside());
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{line}: {said}");
}

fn path() -> OsString {
    let own = kit().map(|kit| [kit.join("py/bin"), kit.join("js/node_modules/.bin")]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).chain(own.into_iter().flatten());
    std::env::join_paths(all).unwrap()
}
