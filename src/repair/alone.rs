use super::commands::CommandsRun;
use super::error::RepairError;
use super::own_place::own_place;
use super::session::Session;
use super::trial::{Trial, is_progress};
use crate::model::{Diagnosis, Observed};
use crate::patch::Change;
use crate::policy::CommandFiles;
use crate::proof::Evidence;
use crate::runners::chosen;
use crate::source::Source;

impl Session<'_> {
    /// Finds out how the tests that fail are run alone, from a run of the whole command.
    pub(super) fn choose_alone(&mut self, diagnosis: &Diagnosis, evidence: &Evidence) {
        self.alone = None;
        let [line] = self.setup.commands.lines.as_slice() else {
            return;
        };
        let counted = evidence.iter().flat_map(|it| &it.accounts);
        let counted: u64 = counted.map(|it| it.counts.total()).sum();
        let tests = &diagnosis.tests;
        let names_all = diagnosis
            .failing_tests
            .iter()
            .all(|id| tests.iter().any(|test| test.id == *id));
        // Where everything fails there is nothing to leave out.
        let is_less = counted == 0 || (tests.len() as u64) < counted;
        if self.never_alone || !names_all || !is_less {
            return;
        }
        let source = self.setup.source;
        let prefix = self.setup.prefix;
        let files = CommandFiles::find(std::slice::from_ref(line), prefix, source);
        let own = own_place(line, &files, tests, (source, prefix));
        let is_path = |word: &str| is_path(source, prefix, word);
        let found = chosen(&own.line, own.runner, &own.tests, &is_path);
        let all = |count: &usize| *count == tests.len();
        self.alone = found.filter(|(_, count)| all(count)).map(|(line, _)| line);
    }

    /// The failing tests alone with a change laid in, where that is enough to turn it down: a test that
    /// failed fails again, and nothing is gained. Whatever may be kept is for the whole command to say.
    pub(super) fn turned_down_alone(
        &mut self,
        trial: &Trial<'_>,
        changes: &[Change],
    ) -> Result<Option<CommandsRun>, RepairError> {
        self.pass_alone = false;
        let Some(before) = trial.before.filter(|_| self.alone.is_some()) else {
            return Ok(None);
        };
        let why = self.purpose.clone();
        let ran = self.run_alone()?;
        self.purpose = why;
        let ended = !ran.interrupted && !ran.cut_short;
        let down =
            fails_again(before, &ran.observed) && !is_progress(trial, &ran.observed, changes);
        self.pass_alone = passes_all(before, &ran);
        Ok((!ended || down).then_some(ran))
    }

    /// Runs the failing tests alone on the workplace as it is now; the whole command where they cannot be.
    pub(super) fn run_alone(&mut self) -> Result<CommandsRun, RepairError> {
        let lines = self.alone.iter().cloned().collect();
        self.run_lines(lines)
    }
}

// Whether a runner counts each of the tests that failed as passed, and none otherwise.
fn passes_all(before: &Observed, ran: &CommandsRun) -> bool {
    let mut accounts = ran.evidence.iter().flat_map(|it| &it.accounts);
    let expected = before.failing_tests.len() as u64;
    ran.observed.passed
        && accounts
            .next()
            .map(|it| it.counts)
            .is_some_and(|it| it.passed >= expected && it.failed + it.errors == 0)
}

fn fails_again(before: &Observed, after: &Observed) -> bool {
    let then = &before.failing_tests;
    !after.passed && after.failing_tests.iter().any(|it| then.contains(it))
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
