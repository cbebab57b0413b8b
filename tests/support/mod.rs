//! What the black-box tests share: a real git repository in a temporary directory, and the built
//! program run on it.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, Once, PoisonError};

/// A temporary directory with a git repository in `r`.
pub(crate) struct Repo {
    directory: tempfile::TempDir,
}

impl Repo {
    /// A repository with these files, committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(repo.root()).unwrap();
        repo.git(&["init", "-q", "-b", "main"]);
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.commit();
        repo
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("r")
    }

    /// The directory above the repository.
    pub(crate) fn outside(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "files"]);
    }

    /// Commits what git does not ignore.
    pub(crate) fn commit_tracked(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "files"]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    /// Runs the program in the repository's root.
    pub(crate) fn mendit(&self, arguments: &[&str]) -> Output {
        mendit(&self.root(), arguments)
    }

    /// Runs `context --format json` and parses what it prints.
    pub(crate) fn context(&self, arguments: &[&str]) -> serde_json::Value {
        let all = [&["context", "--format", "json"], arguments].concat();
        json(&self.mendit(&all))
    }
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn mendit(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, arguments).output().unwrap()
}

/// The program under test: the one that was built, or that `MENDIT_UNDER_TEST` names, whose file is
/// called `mendit`.
pub(crate) fn program() -> PathBuf {
    let named = std::env::var_os("MENDIT_UNDER_TEST").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_mendit")))
}

/// `PATH` with these folders and that of the program before the rest.
pub(crate) fn path_with_program(first: &[PathBuf]) -> OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let own = program().parent().unwrap().to_owned();
    let all = first.iter().cloned().chain([own]);
    std::env::join_paths(all.chain(std::env::split_paths(&rest))).unwrap()
}

/// Runs a command to its end with these bytes as standard input.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    // A program that has seen enough may close its end early.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Writes a file that can be run, and the folders above it.
pub(crate) fn write_program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command
        .env("XDG_STATE_HOME", STATE)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("XDG_CONFIG_HOME", "/nowhere")
        .env_remove("NO_COLOR");
    command
}

/// Where the program keeps its state under test.
pub(crate) const STATE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/state");

/// What the program keeps for a worktree, when it keeps anything.
pub(crate) fn kept(root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().unwrap();
    let all = std::fs::read_dir(Path::new(STATE).join("mendit/repositories"));
    all.into_iter().flatten().flatten().map(|it| it.path()).find(|kept| {
        std::fs::read(kept.join("root")).is_ok_and(|it| it == root.as_os_str().as_encoded_bytes())
    })
}

pub(crate) fn json(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "exit {:?}: {said}",
        output.status.code()
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The texts of a JSON list of strings, or of one field of a list of objects.
pub(crate) fn texts(list: &serde_json::Value, field: Option<&str>) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items
        .map(|item| field.map_or(item, |field| &item[field]))
        .map(|item| item.as_str().unwrap().to_owned())
        .collect()
}

/// Whether the build's folder is a temporary one: those are open to every command, or hidden from it.
pub(crate) fn builds_in_temporary() -> bool {
    let is_temporary = Path::new(STATE).starts_with(std::env::temp_dir());
    if is_temporary {
        skip("the build's folder is a temporary one");
    }
    is_temporary
}

/// Whether a program is here, or the module `pytest` of `python3`. One that is missing counts as a skip.
pub(crate) fn has_program(name: &str) -> bool {
    static FOUND: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap();
    let is_here = *found.entry(name.to_owned()).or_insert_with(|| {
        let mut command = Command::new(if name == "pytest" { "python3" } else { name });
        if name == "pytest" {
            command.args(["-m", "pytest"]);
        }
        let version = command.arg("--version").output();
        version.is_ok_and(|output| name != "pytest" || output.status.success())
    });
    drop(found);
    if !is_here {
        skip(&format!("no {name}"));
    }
    is_here
}

/// Ends the test where a program is missing, see [`skip`].
#[allow(unused_macros, reason = "not every test program skips")]
macro_rules! needs {
    ($($program:literal),+) => {
        if ![$($program),+].into_iter().all(crate::support::has_program) {
            return;
        }
    };
}
#[allow(unused_imports, reason = "not every test program skips")]
pub(crate) use needs;

/// Counts a test, or a part of one, that cannot run here. The last line of the test program says how many there were
/// and why; with `MENDIT_NO_SKIPS` the test fails instead.
pub(crate) fn skip(reason: &str) {
    assert!(
        std::env::var_os("MENDIT_NO_SKIPS").is_none(),
        "skipped: {reason}"
    );
    AT_EXIT.call_once(report_skips_at_exit);
    let mut skips = SKIPS.lock().unwrap();
    *skips.entry(reason.to_owned()).or_default() += 1;
}

static AT_EXIT: Once = Once::new();
static SKIPS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

#[cfg(unix)]
#[allow(unsafe_code, reason = "the test harness has no hook for its end")]
fn report_skips_at_exit() {
    unsafe extern "C" {
        safe fn atexit(callback: extern "C" fn()) -> i32;
    }
    extern "C" fn report() {
        let skips = SKIPS.lock().unwrap_or_else(PoisonError::into_inner);
        let rows: Vec<String> =
            skips.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
        let total: usize = skips.values().sum();
        let _ = writeln!(std::io::stderr(), "skipped {total}: {}", rows.join(", "));
    }
    atexit(report);
}

#[cfg(not(unix))]
fn report_skips_at_exit() {}
