use std::fs;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) use crate::support::{command, fed, program};
use mendit::documents::PatchVerdict;
use mendit::internals::patch::{JudgeOptions, Judged, judge};
use mendit::internals::source::Memory;

/// Runs git in a directory, apart from the user's own configuration.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "t")
        .env("GIT_AUTHOR_EMAIL", "t@example.invalid")
        .env("GIT_COMMITTER_NAME", "t")
        .env("GIT_COMMITTER_EMAIL", "t@example.invalid")
        .output()
        .expect("git runs")
}

/// A repository with these files committed.
pub(crate) fn repository(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    git(directory.path(), &["init", "-q", "-b", "main", "."]);
    git(directory.path(), &["config", "core.autocrlf", "false"]);
    for (path, bytes) in files {
        write(directory.path(), path, bytes);
    }
    git(directory.path(), &["add", "-A"]);
    git(
        directory.path(),
        &["commit", "-q", "--allow-empty", "-m", "base"],
    );
    directory
}

pub(crate) fn write(root: &Path, path: &str, bytes: &[u8]) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
    fs::write(file, bytes).expect("a file");
}

/// Runs the program in a directory with the patch on standard input.
pub(crate) fn mendit(directory: &Path, arguments: &[&str], input: &[u8]) -> Output {
    fed(command(directory, arguments), input)
}

pub(crate) fn memory(files: &[(&str, &str)]) -> Memory {
    Memory::named(files.iter().copied())
}

pub(crate) fn judged(files: &[(&str, &str)], patch: &str) -> Judged {
    judge(patch.as_bytes(), &memory(files), &JudgeOptions::default())
}

/// The verdict, the first error's code and the mends' codes as words.
pub(crate) fn words(verdict: &PatchVerdict) -> String {
    let mut text = verdict.verdict.to_string();
    if let Some(code) = verdict.error_code {
        text.push_str(&format!(" {code}"));
    }
    for mend in &verdict.mends {
        text.push_str(&format!(" {}", mend.code));
    }
    text
}

/// The content of a path after the patch.
pub(crate) fn after(judged: &Judged, path: &str) -> Option<String> {
    let change = judged.changes.iter().find(|change| change.path.as_str() == path)?;
    let state = change.after.as_ref()?;
    Some(String::from_utf8(state.bytes.to_vec()).expect("UTF-8"))
}
