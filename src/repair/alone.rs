use super::setup::Setup;
use crate::model::{Diagnosis, FailedTest, RepoPath, TestRunner};
use crate::policy::CommandFiles;
use crate::proof::{Evidence, named_runners};
use crate::runners::chosen;
use crate::source::Source;

/// Returns the command that runs the failing tests of a run alone; `None` where that cannot be had, or where everything
/// failed and nothing is left out.
pub(super) fn alone_line(
    setup: &Setup<'_>,
    diagnosis: &Diagnosis,
    evidence: &Evidence,
) -> Option<String> {
    let [line] = setup.commands.lines.as_slice() else {
        return None;
    };
    let accounts = evidence.iter().flat_map(|command| &command.accounts);
    let counted: u64 = accounts.map(|account| account.counts.total()).sum();
    let tests = &diagnosis.tests;
    let is_less = counted == 0 || (tests.len() as u64) < counted;
    let mut failing = diagnosis.failing_tests.iter();
    if !is_less || !failing.all(|id| tests.iter().any(|test| test.id == *id)) {
        return None;
    }
    let (source, prefix) = (setup.source, setup.prefix);
    let files = CommandFiles::find(std::slice::from_ref(line), prefix, source);
    let own = own_place(line, &files, tests, (source, prefix));
    let is_path = |word: &str| is_path(source, prefix, word);
    let (line, count) = chosen(&own.line, own.runner, &own.tests, &is_path)?;
    (count == tests.len()).then_some(line)
}

/// Where tests that failed are run alone.
pub struct OwnPlace {
    /// The command that runs them, with others.
    pub line: String,
    /// Its last runner; `None` where nothing can be handed on to one.
    pub runner: Option<TestRunner>,
    /// The tests as they are called there.
    pub tests: Vec<FailedTest>,
}

/// The command itself, which starts in `prefix`; of one that runs a script in each package of a workspace that of
/// the package that has all these tests.
#[must_use]
pub fn own_place(
    line: &str,
    run: &CommandFiles,
    tests: &[FailedTest],
    (source, prefix): (&dyn Source, &str),
) -> OwnPlace {
    let runner = named_runners(run).last().copied();
    let place = |runner, tests| OwnPlace {
        line: line.to_owned(),
        runner,
        tests,
    };
    let Some([manager, script]) = run.everywhere() else {
        return place(runner, tests.to_vec());
    };
    let start = match manager.as_str() {
        "pnpm" => "pnpm --dir",
        "npm" => "npm --prefix",
        _ => "",
    };
    let packages = tests
        .iter()
        .map(|it| package(it.path.as_deref()?, script, source));
    let mut packages: Vec<Option<&str>> = packages.collect();
    packages.dedup();
    let [Some(package)] = packages.as_slice() else {
        return place(None, tests.to_vec());
    };
    let from = match prefix {
        "" => Some(*package),
        prefix => package
            .strip_prefix(prefix)
            .and_then(|it| it.strip_prefix('/')),
    };
    // A name of the repository is no word of a shell and no option.
    let from = from.filter(|it| is_plain(it) && is_plain(script) && !start.is_empty());
    let Some(from) = from else {
        return place(None, tests.to_vec());
    };
    let inside = |path: &String| {
        let rest = path
            .strip_prefix(package)
            .and_then(|it| it.strip_prefix('/'));
        rest.map_or_else(|| path.clone(), str::to_owned)
    };
    let bare = |test: &FailedTest| {
        let is_file = test.path.as_ref() == Some(&test.id);
        FailedTest {
            id: if is_file {
                inside(&test.id)
            } else {
                test.id.clone()
            },
            path: test.path.as_ref().map(inside),
            ..test.clone()
        }
    };
    // The package's own script says which runner reads the tests there.
    let own = CommandFiles::find(&[format!("{manager} run {script}")], package, source);
    OwnPlace {
        line: format!("{start} {from} run {script}"),
        runner: named_runners(&own).last().copied(),
        tests: tests.iter().map(bare).collect(),
    }
}

fn is_plain(word: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_./:@".contains(it);
    !word.starts_with('-') && word.chars().all(plain)
}

// The nearest folder above a file whose manifest has the script.
fn package<'p>(path: &'p str, script: &str, source: &dyn Source) -> Option<&'p str> {
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    let has = |folder: &&str| {
        let manifest = RepoPath::new(&format!("{folder}/package.json")).ok();
        let text = manifest.and_then(|it| source.read(&it).ok());
        let read = text.and_then(|it| serde_json::from_slice::<serde_json::Value>(&it).ok());
        read.is_some_and(|it| it["scripts"][script].is_string())
    };
    folders.rev().find(has)
}

/// Whether a word of a command is a file, a folder, a module or a test in one, seen from where it runs.
#[must_use]
pub fn is_path(source: &dyn Source, prefix: &str, word: &str) -> bool {
    let word = word.split("::").next().unwrap_or(word);
    let word = word.trim_start_matches("./").trim_end_matches('/');
    let listing = source.listing();
    let there = |path: &str| {
        let path = match prefix {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        };
        listing.has_directory(&path) || listing.has_file(&path)
    };
    let module = word.replace('.', "/");
    let mut heads = module.match_indices('/').map(|(at, _)| &module[..at]);
    there(word)
        || there(&module)
        || there(&format!("{module}.py"))
        || (!word.contains('/') && heads.any(|head| there(&format!("{head}.py"))))
}

#[cfg(test)]
mod tests {
    use super::own_place;
    use crate::model::{FailedTest, TestRunner};
    use crate::policy::CommandFiles;
    use crate::source::Memory;

    fn failed(path: &str) -> FailedTest {
        FailedTest {
            id: "adds".to_owned(),
            runner: "vitest".to_owned(),
            path: Some(path.to_owned()),
            line: None,
            crash_path: None,
            crash_line: None,
            log_line: None,
            message: None,
        }
    }

    // The line and the runner of tests of these files.
    fn place(line: &str, prefix: &str, paths: &[&str]) -> (String, Option<TestRunner>, String) {
        let own = r#"{"scripts": {"test": "vitest run"}}"#;
        let root = r#"{"scripts": {"test": "pnpm -r test"}}"#;
        let source = Memory::named([
            ("package.json", root),
            ("web/package.json", root),
            ("packages/a/package.json", own),
            ("packages/a/test/package.json", r#"{"type": "module"}"#),
            ("packages/b/package.json", own),
            ("packages/c d;e/package.json", own),
            ("web/packages/f/package.json", own),
        ]);
        let run = CommandFiles::find(&[line.to_owned()], prefix, &source);
        let tests: Vec<FailedTest> = paths.iter().map(|path| failed(path)).collect();
        let own = own_place(line, &run, &tests, (&source, prefix));
        let path = own.tests[0].path.clone().unwrap_or_default();
        (own.line, own.runner, path)
    }

    #[test]
    fn tests_of_one_package_of_a_workspace_are_run_there() {
        let vitest = Some(TestRunner::Vitest);
        let (a, b) = ("packages/a/test/a.test.ts", "packages/b/b.test.ts");
        let line = |text: &str| text.to_owned();
        assert_eq!(
            place("pnpm test", "", &[a, a]),
            (
                line("pnpm --dir packages/a run test"),
                vitest,
                line("test/a.test.ts")
            )
        );
        assert_eq!(
            place("pnpm test", "web", &["web/packages/f/f.test.ts"]),
            (
                line("pnpm --dir packages/f run test"),
                vitest,
                line("f.test.ts")
            )
        );
        for (command, paths) in [
            ("pnpm test", &[a, b][..]),
            ("pnpm --filter a test", &[a]),
            // A folder's name is never run.
            ("pnpm test", &["packages/c d;e/c.test.ts"]),
        ] {
            let (line, runner, path) = place(command, "", paths);
            assert_eq!((line.as_str(), runner), (command, None));
            assert_eq!(path, paths[0]);
        }
    }
}
