//! Finds the paths that the sandbox refused to write, from the command's output. The kernel reports
//! them nowhere else.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::writable::{common, writable};
use crate::exec::outcome::Report;
use crate::exec::temporary::temporary;
use crate::exec::{Job, SandboxState};

/// Returns the paths that the sandbox did not let a job write, according to its output.
pub(in crate::exec) fn refused(job: &Job, text: &str, report: &Report) -> Vec<PathBuf> {
    if report.sandbox == SandboxState::None {
        return Vec::new();
    }
    let mut open = writable(job);
    open.extend(common(job));
    open.extend(temporary().into_iter().filter(|path| !report.shut.contains(path)));
    refused_writes(text, &open, &job.sandbox.closed)
}

/// Returns at most four paths that a confined command could not write, according to its output: named
/// next to a word for refusal, outside `open` or inside `closed`, and writable without the sandbox.
fn refused_writes(text: &str, open: &[PathBuf], closed: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let max_named = 4;
    for line in text.lines() {
        if !speaks_of_refusal(line) {
            continue;
        }
        for path in line_paths(line) {
            let held = !is_within(open, &path) || is_within(closed, &path);
            if held && is_ours(&path) && !is_never_opened(&path) && !found.contains(&path) {
                found.push(path);
            }
        }
        if found.len() >= max_named {
            break;
        }
    }
    found.truncate(max_named);
    found
}

fn is_within(places: &[PathBuf], path: &Path) -> bool {
    places.iter().any(|p| path.starts_with(p))
}

fn speaks_of_refusal(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "ermission denied", "EACCES", "EPERM", "peration not permitted", "ead-only file system",
        "EROFS",
    ];
    line.len() < 4096 && WORDS.iter().any(|word| line.contains(word))
}

// Absolute paths, in quotes or as words.
fn line_paths(line: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for quote in ['\'', '"', '`'] {
        let quoted = line.split(quote).skip(1).step_by(2);
        found.extend(quoted.filter(|t| t.starts_with('/')).map(PathBuf::from));
    }
    if found.is_empty() {
        let words = line.split(|c: char| c.is_whitespace() || "'\"`,;()[]".contains(c));
        let words = words.map(|word| word.trim_end_matches([':', '.']));
        found.extend(
            words.filter(|word| word.len() > 1 && word.starts_with('/')).map(PathBuf::from),
        );
    }
    found
}

/// Whether a place is one that nobody should open to a command: the kernel's own folders, and the
/// state of this program.
fn is_never_opened(path: &Path) -> bool {
    let state = std::env::var_os("XDG_STATE_HOME").map(|home| PathBuf::from(home).join("mendit"));
    path.starts_with("/proc")
        || path.starts_with("/sys")
        || path.ancestors().any(|folder| {
            folder.ends_with(".local/state/mendit")
                || folder.ends_with(".mendit")
                || state.as_deref() == Some(folder)
        })
}

// Checks the user's own rights, because a path that they may not write anyway was not refused by the sandbox.
fn is_ours(path: &Path) -> bool {
    let there = path.ancestors().find(|folder| folder.exists());
    there.is_some_and(|folder| access(folder, Access::WRITE_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::refused_writes;

    #[test]
    fn separates_sandbox_refusals_from_tool_output() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().display().to_string();
        let open = [home.path().join("open")];
        let closed = [home.path().join("open/.git")];
        for (line, expected) in [
            (
                "PermissionError: [Errno 13] Permission denied: 'R/x'",
                Some("x"),
            ),
            (
                "Error: EACCES: permission denied, open 'R/a/b'",
                Some("a/b"),
            ),
            ("sh: 1: cannot create R/x: Permission denied", Some("x")),
            (
                "OSError: [Errno 30] Read-only file system: 'R/open/.git/config'",
                Some("open/.git/config"),
            ),
            ("Permission denied: 'R/open/x'", None),
            ("cannot create R/x: No such file", None),
            ("Permission denied", None),
        ] {
            let found = refused_writes(&line.replace("R/", &format!("{root}/")), &open, &closed);
            let expected: Vec<PathBuf> =
                expected.iter().map(|name| home.path().join(name)).collect();
            assert_eq!(found, expected, "{line}");
        }
    }
}
