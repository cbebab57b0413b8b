use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use tempfile::TempDir;

/// A report that a runner is asked for: in a folder that is new for each run and has a name nobody
/// can guess. It goes with this value.
pub(super) struct AskedReport {
    folder: TempDir,
}

impl AskedReport {
    /// Makes the folder below one that the command may write.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn make(private: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("report-")
            .rand_bytes(24)
            .tempdir_in(private)?;
        Ok(Self { folder })
    }

    /// The variable that asks for it, with what the user or this process gives the same variable.
    pub(super) fn variable(&self, environment: &[String]) -> String {
        let named = environment.iter().rev().find_map(|it| {
            let (name, value) = it.split_once('=')?;
            (name == OPTIONS).then(|| value.to_owned())
        });
        let own = named.or_else(|| std::env::var(OPTIONS).ok());
        ask(self.folder.path(), own.as_deref())
    }

    /// What was written, when it is a plain file of a sane size.
    pub(super) fn read(&self) -> Option<String> {
        let path = self.folder.path().join(REPORT);
        let metadata = std::fs::symlink_metadata(&path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_REPORT {
            return None;
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).ok()?;
        file.take(MAX_REPORT).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

const MAX_REPORT: u64 = 256 << 20;

// The file that a report is asked for in, below a folder of its own.
const REPORT: &str = "report.xml";

// The variable that asks a runner for a report in `folder` without a change of the command, as
// `NAME=VALUE`. `own` is what the user gave the same variable.
//
// Only pytest has such a variable that can do no harm. Reporters of node are options of every
// program that node starts, and one more of them replaces what a command names itself; jest, vitest
// and mocha take none from outside. Their text is read.
fn ask(folder: &Path, own: Option<&str>) -> String {
    let own = own.unwrap_or_default();
    let between = if own.is_empty() { "" } else { " " };
    let path = folder.join(REPORT);
    format!(
        "{OPTIONS}={own}{between}--junitxml='{}'",
        path.to_string_lossy().replace('\'', r"'\''")
    )
}

// The variable that `ask` sets: options that pytest takes before those of its command.
const OPTIONS: &str = "PYTEST_ADDOPTS";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ask;

    #[test]
    fn what_the_user_gave_stays() {
        assert_eq!(
            ask(Path::new("/a b"), Some("-n 2")),
            "PYTEST_ADDOPTS=-n 2 --junitxml='/a b/report.xml'"
        );
        assert_eq!(
            ask(Path::new("/a"), None),
            "PYTEST_ADDOPTS=--junitxml='/a/report.xml'"
        );
    }
}
