use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::model::{LinesRun, RepoPath};

/// The lines of each file that was loaded.
pub type Lines = BTreeMap<RepoPath, LinesRun>;

/// Where a command leaves its trace.
pub struct Tracing {
    out: PathBuf,
    /// Variables for the command, as `NAME=VALUE`.
    pub environment: Vec<String>,
}

impl Tracing {
    /// Prepares a folder that the command may write. `root` is the repository as the command sees it,
    /// `given` are the variables it gets, as `NAME=VALUE` or `NAME` for one of this process.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn prepare(folder: &Path, root: &Path, given: &[String]) -> io::Result<Self> {
        let (code, out) = (folder.join("trace-code"), folder.join("trace"));
        for folder in [&code, &out] {
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
            fs::create_dir_all(folder)?;
        }
        fs::write(
            code.join("sitecustomize.py"),
            include_str!("sitecustomize.py"),
        )?;
        let preload = code.join("preload.cjs");
        fs::write(&preload, include_str!("preload.cjs"))?;
        let before = |name: &str, own: String, between: &str| match variable(given, name) {
            Some(value) if !value.is_empty() => format!("{name}={own}{between}{value}"),
            _ => format!("{name}={own}"),
        };
        let required = format!("--require \"{}\"", preload.display());
        Ok(Self {
            environment: vec![
                before("PYTHONPATH", code.display().to_string(), ":"),
                before("NODE_OPTIONS", required, " "),
                format!("MENDIT_TRACE_ROOT={}", root.display()),
                format!("MENDIT_TRACE_OUT={}", out.display()),
            ],
            out,
        })
    }

    /// What was left there. It was written beside code that is not trusted: names that are no paths of a
    /// repository and numbers that are none are passed over, and so is all beyond some megabytes.
    #[must_use]
    pub fn read(&self) -> Lines {
        let mut found = Lines::new();
        let Ok(entries) = fs::read_dir(&self.out) else {
            return found;
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
        paths.sort();
        for path in paths.iter().take(MOST_PROCESSES) {
            let size = fs::symlink_metadata(path)
                .ok()
                .filter(fs::Metadata::is_file);
            if size.is_none_or(|it| it.len() > MOST_BYTES) {
                continue;
            }
            for line in fs::read_to_string(path).unwrap_or_default().lines() {
                let mut columns = line.split('\t');
                let name = columns.next().unwrap_or_default().replace('\\', "/");
                let (Some(ran), Ok(path)) = (columns.next(), RepoPath::new(&name)) else {
                    continue;
                };
                let numbers = |row: &str| -> Vec<u32> {
                    row.split(' ').filter_map(|it| it.parse().ok()).collect()
                };
                let file: &mut LinesRun = found.entry(path).or_default();
                file.ran.extend(numbers(ran));
                file.idle
                    .extend(numbers(columns.next().unwrap_or_default()));
            }
        }
        for file in found.values_mut() {
            file.idle = &file.idle - &file.ran;
        }
        found
    }
}

// The value that a command gets for a variable.
fn variable(given: &[String], name: &str) -> Option<String> {
    let own = given.iter().rev().find_map(|it| match it.split_once('=') {
        Some((other, value)) if other == name => Some(value.to_owned()),
        _ => None,
    });
    own.or_else(|| std::env::var(name).ok())
}

const MOST_PROCESSES: usize = 64;
const MOST_BYTES: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::Tracing;
    use crate::model::RepoPath;

    #[test]
    fn what_is_left_is_read_and_nonsense_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let given = [
            "PYTHONPATH=src".to_owned(),
            "NODE_OPTIONS=--no-warnings".to_owned(),
        ];
        let tracing = Tracing::prepare(folder.path(), folder.path(), &given).unwrap();
        assert!(
            tracing.environment[0].ends_with("/trace-code:src"),
            "{:?}",
            tracing.environment
        );
        let left = "a/b.py\t3 4 x\t5 6\n../out.py\t1\nno tab\nc.py\t9\n";
        assert!(
            tracing.environment[1].ends_with("preload.cjs\" --no-warnings"),
            "{:?}",
            tracing.environment
        );
        std::fs::write(folder.path().join("trace/1.lines"), left).unwrap();
        std::fs::write(folder.path().join("trace/2.lines"), "a/b.py\t5\n").unwrap();
        let lines = tracing.read();
        let of = |path: &str| lines[&RepoPath::new(path).unwrap()].clone();
        assert_eq!(of("a/b.py").ran, [3, 4, 5].into());
        assert_eq!(of("a/b.py").idle, [6].into());
        assert_eq!(of("c.py").ran, [9].into());
        assert_eq!(lines.len(), 2);
    }
}
