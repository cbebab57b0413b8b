use super::setup::Setup;
use crate::model::{Diagnosis, FailedTest, TestRunner};
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
    let own = own_place(line, &files, tests);
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

/// Returns the command itself; of one that runs a script in each package of a workspace no runner gets the tests alone.
#[must_use]
pub fn own_place(line: &str, run: &CommandFiles, tests: &[FailedTest]) -> OwnPlace {
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
