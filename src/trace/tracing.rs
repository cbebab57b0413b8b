//! Prepares a command so that it records the lines its tests execute.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::model::{LinesRun, RepoPath, Traced};

/// Where a command leaves its trace.
pub struct Tracing {
    out: PathBuf,
    /// Variables for the command, as `NAME=VALUE`.
    pub environment: Vec<String>,
    // Variables that load the tracer: name, our value, and the separator between values.
    own: [(&'static str, String, &'static str); 3],
}

impl Tracing {
    /// Prepares a folder that the command may write. `root` is the repository as the command sees it,
    /// `given` are the variables it gets, as `NAME=VALUE` or `NAME` for one of this process. `first` are tests
    /// that run first; the others may then take `seconds`.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn prepare(
        folder: &Path,
        root: &Path,
        given: &[String],
        (first, seconds): (&[String], u64),
    ) -> io::Result<Self> {
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
        let named = code.join("first");
        fs::write(&named, first.join("\n"))?;
        let own = [
            ("PYTHONPATH", code.display().to_string(), ":"),
            ("PYTEST_PLUGINS", "mendit_trace".to_owned(), ","),
            (
                "NODE_OPTIONS",
                format!("--require \"{}\"", preload.display()),
                " ",
            ),
        ];
        let [python, pytest, node] =
            own.each_ref().map(|(name, own, between)| match variable(given, name) {
                Some(value) if !value.is_empty() => format!("{name}={own}{between}{value}"),
                _ => format!("{name}={own}"),
            });
        Ok(Self {
            environment: vec![
                python,
                pytest,
                node,
                format!("MENDIT_TRACE_ROOT={}", root.display()),
                format!("MENDIT_TRACE_OUT={}", out.display()),
                format!("MENDIT_TRACE_FIRST={}", named.display()),
                format!("MENDIT_TRACE_SECONDS={seconds}"),
            ],
            out,
            own,
        })
    }

    /// The line with our value before each that it assigns itself: with `PYTHONPATH=src pytest` or
    /// `NODE_OPTIONS=--expose-gc jest` nothing would be traced.
    pub fn traced_line(&self, line: &str) -> String {
        self.own.iter().fold(line.to_owned(), |line, (name, own, between)| {
            let assigned = format!("{name}=");
            let mut parts = line.split(&assigned);
            let mut traced = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let is_whole = traced.is_empty() || traced.ends_with([' ', '\t', ';', '&', '(']);
                traced.push_str(&assigned);
                if is_whole {
                    let between = if part.starts_with(char::is_whitespace) { "" } else { between };
                    traced.push_str(&format!("'{own}{between}'"));
                }
                traced.push_str(part);
            }
            traced
        })
    }

    /// Reads the files that the traced processes left. They were written beside untrusted code: names that are no
    /// paths of the repository, numbers that do not parse, and all beyond some megabytes are skipped.
    pub fn read(&self) -> Traced {
        let mut found = Traced::default();
        let Ok(entries) = fs::read_dir(&self.out) else {
            return found;
        };
        let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> = entries.collect();
        paths.sort();
        // A suite of more workers is traced in part.
        for path in paths.iter().take(64) {
            let metadata = fs::symlink_metadata(path).ok();
            // A larger trace is not read.
            if metadata.is_some_and(|metadata| metadata.is_file() && metadata.len() <= (16 << 20)) {
                read_process(&fs::read_to_string(path).unwrap_or_default(), &mut found);
            }
        }
        // Where no runner reports its tests, all that ran belongs to the failing ones.
        if found.failing + found.passing == 0 && !found.files.is_empty() {
            found.failing = 1;
            let files = found.files.values_mut();
            files.flat_map(|file| file.ran.values_mut()).for_each(|row| *row = [1, 0]);
        }
        for file in found.files.values_mut() {
            file.idle.retain(|line| !file.ran.contains_key(line));
        }
        found
    }
}

/// Adds what one process left: counts of tests as `@ FAILING PASSING`, else a path, the lines that ran as
/// `LINE/FAILING/PASSING` and the lines that did not, in columns.
fn read_process(text: &str, found: &mut Traced) {
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        match columns.as_slice() {
            ["@", failing, passing] => {
                found.failing += count_of(failing);
                found.passing += count_of(passing);
            }
            [name, ran, idle @ ..] => {
                let Ok(path) = RepoPath::new(&name.replace('\\', "/")) else {
                    continue;
                };
                let file: &mut LinesRun = found.files.entry(path).or_default();
                for (line, [failing, passing]) in ran.split(' ').filter_map(parse_row) {
                    let counts = file.ran.entry(line).or_default();
                    *counts = [counts[0] + failing, counts[1] + passing];
                }
                let idle = idle.iter().flat_map(|column| column.split(' '));
                file.idle.extend(idle.filter_map(|line| line.parse::<u32>().ok()));
            }
            _ => {}
        }
    }
}

fn count_of(text: &str) -> u32 {
    text.parse::<u16>().map_or(0, u32::from)
}

fn parse_row(text: &str) -> Option<(u32, [u32; 2])> {
    let mut numbers = text.split('/');
    let line = numbers.next()?.parse().ok()?;
    let mut count = || numbers.next().map_or(Some(0), |number| number.parse::<u16>().ok());
    Some((line, [count()?.into(), count()?.into()]))
}

// The value that a command gets for a variable.
fn variable(given: &[String], name: &str) -> Option<String> {
    let own = given.iter().rev().find_map(|entry| match entry.split_once('=') {
        Some((other, value)) if other == name => Some(value.to_owned()),
        _ => None,
    });
    own.or_else(|| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::Tracing;
    use crate::model::RepoPath;

    #[test]
    fn reads_trace_and_ignores_nonsense() {
        let folder = tempfile::tempdir().unwrap();
        let given = [
            "PYTHONPATH=src".to_owned(),
            "NODE_OPTIONS=--no-warnings".to_owned(),
        ];
        let at = folder.path();
        let tracing = Tracing::prepare(at, at, &given, (&[], 5)).unwrap();
        let variable = |name: &str| {
            let mut all = tracing.environment.iter();
            all.find_map(|entry| entry.strip_prefix(name)).unwrap().to_owned()
        };
        assert!(variable("PYTHONPATH=").ends_with("/trace-code:src"));
        assert!(variable("NODE_OPTIONS=").ends_with("preload.cjs\" --no-warnings"));
        let left = "a/b.py\t3 4 x\t5 6\n../out.py\t1\nno tab\nc.py\t9\n";
        std::fs::write(at.join("trace/1.lines"), left).unwrap();
        std::fs::write(at.join("trace/2.lines"), "a/b.py\t5\n").unwrap();
        let traced = tracing.read();
        let of = |path: &str| traced.files[&RepoPath::new(path).unwrap()].clone();
        let all = |lines: &[u32]| lines.iter().map(|line| (*line, [1, 0])).collect();
        assert_eq!(of("a/b.py").ran, all(&[3, 4, 5]));
        assert_eq!(of("a/b.py").idle, [6].into());
        assert_eq!(of("c.py").ran, all(&[9]));
        assert_eq!(
            (traced.files.len(), traced.failing, traced.passing),
            (2, 1, 0)
        );
    }

    #[test]
    fn traced_line_keeps_what_the_line_assigns() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let tracing = Tracing::prepare(at, at, &[], (&[], 5)).unwrap();
        let code = at.join("trace-code").display().to_string();
        let line = |line: &str| tracing.traced_line(line).replace(&code, "CODE");
        assert_eq!(
            line("PYTHONPATH=src:. pytest"),
            "PYTHONPATH='CODE:'src:. pytest"
        );
        assert_eq!(
            line("cd a && env PYTHONPATH= pytest"),
            "cd a && env PYTHONPATH='CODE' pytest"
        );
        let node = line("NODE_OPTIONS=--expose-gc jest");
        assert_eq!(
            node,
            "NODE_OPTIONS='--require \"CODE/preload.cjs\" '--expose-gc jest"
        );
        for other in ["pytest -k X", "MY_PYTHONPATH=src pytest"] {
            assert_eq!(line(other), other);
        }
    }

    #[test]
    fn counts_lines_by_tests() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let tracing = Tracing::prepare(at, at, &[], (&["t.py::a".to_owned()], 5)).unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(at.join("trace").join(name), text).unwrap();
        write("1.lines", "@\t1\t2\na.py\t1 2/1/2 3/0/1\t4\n");
        write("2.lines", "@\t0\t3\na.py\t2/0/3\t3\n");
        let traced = tracing.read();
        let file = &traced.files[&RepoPath::new("a.py").unwrap()];
        assert_eq!(file.ran, [(1, [0, 0]), (2, [1, 5]), (3, [0, 1])].into());
        assert_eq!(file.idle, [4].into());
        assert_eq!((traced.failing, traced.passing), (1, 5));
    }
}
