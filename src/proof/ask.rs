use std::path::Path;

/// The file that a report is asked for in, below a folder of its own.
pub const REPORT: &str = "report.xml";

/// The variable that asks a runner for a report in `folder` without a change of the command, as
/// `NAME=VALUE`. `own` is what the user gave the same variable.
///
/// Only pytest has such a variable that can do no harm. Reporters of node are options of every
/// program that node starts, and one more of them replaces what a command names itself; jest, vitest
/// and mocha take none from outside. Their text is read.
#[must_use]
pub fn ask(folder: &Path, own: Option<&str>) -> String {
    let own = own.unwrap_or_default();
    let between = if own.is_empty() { "" } else { " " };
    let path = folder.join(REPORT);
    format!(
        "{OPTIONS}={own}{between}--junitxml='{}'",
        path.to_string_lossy().replace('\'', r"'\''")
    )
}

/// The variable that [`ask`] sets: options that pytest takes before those of its command.
pub const OPTIONS: &str = "PYTEST_ADDOPTS";

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
