//! Builds the command that runs only the failing tests, since the whole suite may take minutes.

use super::setup::Setup;
use crate::model::{Diagnosis, TestRunner};
use crate::policy::CommandFiles;
use crate::proof::{Evidence, named_runners};
use crate::runners::choose_command;
use crate::source::Source;

/// Returns the command that runs the failing tests of a run alone; `None` where that is not available, or where
/// everything failed and nothing is left out.
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
    let runner = last_runner(&CommandFiles::find(
        std::slice::from_ref(line),
        prefix,
        source,
    ));
    let (line, count) = choose_command(line, runner, tests, &|word| is_path(source, prefix, word))?;
    (count == tests.len()).then_some(line)
}

/// Returns the last runner that a command starts; `None` where nothing can be handed on to one, as a script in each
/// package of a workspace.
pub fn last_runner(run: &CommandFiles) -> Option<TestRunner> {
    named_runners(run).last().copied().filter(|_| run.everywhere().is_none())
}

/// Whether a word of a command is a file, a folder, a module or a test in one, seen from where it runs.
pub fn is_path(source: &dyn Source, prefix: &str, word: &str) -> bool {
    let word = word.split("::").next().unwrap_or(word);
    let word = word.trim_start_matches("./").trim_end_matches('/');
    let listing = source.listing();
    let module = word.replace('.', "/");
    let mut heads = module.match_indices('/').map(|(at, _)| &module[..at]);
    is_there(word, prefix, listing)
        || is_there(&module, prefix, listing)
        || is_there(&format!("{module}.py"), prefix, listing)
        || (!word.contains('/')
            && heads.any(|head| is_there(&format!("{head}.py"), prefix, listing)))
}

fn is_there(path: &str, prefix: &str, listing: &crate::source::Listing) -> bool {
    let path = match prefix {
        "" => path.to_owned(),
        prefix => format!("{prefix}/{path}"),
    };
    listing.has_directory(&path) || listing.has_file(&path)
}
