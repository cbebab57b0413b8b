use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::change::FileState;
use super::super::content::{Modified, modify};
use super::super::names::Naming;
use super::super::place::Work;
use super::super::read::read;
use super::super::set::{Body, FilePatch, PatchSet, reverse};
use super::super::structure::PathChange;
use super::super::target::{Target, targets};
use super::super::unread::weigh_unread;
use crate::model::{
    Code, FileVerdict, Operation, PatchProblem, PatchVerdict, Refusal, RepoPath, Severity, Verdict,
};
use crate::source::Source;

use super::options::{JudgeOptions, Judged};
use super::section::{SectionOutcome, original};

/// Judges a patch against a source. Reads files, writes nothing.
pub fn judge(input: &[u8], source: &dyn Source, options: &JudgeOptions<'_>) -> Judged {
    let _span = tracing::debug_span!("patch", bytes = input.len()).entered();
    let judged = read(input, &options.read, |set| {
        tracing::info!(format = ?set.format, files = set.files.len(), "read a patch");
        let set = if options.reverse { reverse(set) } else { set };
        Judging::new(&set, source, options).run()
    });
    judged.unwrap_or_else(|unread| {
        let mut verdict = PatchVerdict::new(unread.verdict(), None);
        verdict.error_code = Some(unread.code);
        verdict.problems.push(unread.problem(None, 0));
        verdict.feedback = crate::patch::feedback::feedback(&verdict);
        Judged {
            verdict,
            changes: Vec::new(),
            gains_imports: false,
        }
    })
}

pub(super) struct Judging<'j, 'a> {
    pub(super) set: &'j PatchSet<'a>,
    pub(super) source: &'j dyn Source,
    pub(super) options: &'j JudgeOptions<'j>,
    pub(super) work: Work,
    pub(super) slots: BTreeMap<String, PathChange>,
    pub(super) vacated: HashSet<String>,
    pub(super) worst: Option<Verdict>,
    pub(super) verdict: PatchVerdict,
    pub(super) standing: Vec<SectionOutcome>,
    pub(super) undone: Vec<UndoneCopy>,
    // Files that the patch gives as a whole.
    pub(super) wholes: BTreeSet<String>,
    pub(super) gains_imports: bool,
}

// A copy that the patch takes away again, and what it was made of.
pub(super) struct UndoneCopy {
    pub(super) path: String,
    pub(super) source: String,
    pub(super) bytes: Vec<u8>,
    pub(super) line: u32,
}

impl<'j, 'a> Judging<'j, 'a> {
    pub(super) fn new(
        set: &'j PatchSet<'a>,
        source: &'j dyn Source,
        options: &'j JudgeOptions<'j>,
    ) -> Self {
        let mut verdict = PatchVerdict::new(Verdict::Applies, Some(set.format));
        verdict.mends.clone_from(&set.mends);
        Self {
            set,
            source,
            options,
            work: Work::share(1),
            slots: BTreeMap::new(),
            vacated: HashSet::new(),
            worst: None,
            verdict,
            standing: Vec::new(),
            undone: Vec::new(),
            wholes: BTreeSet::new(),
            gains_imports: false,
        }
    }

    pub(super) fn run(mut self) -> Judged {
        for problem in &self.set.problems {
            self.problem(problem.clone());
        }
        let naming = Naming {
            strip: self.options.strip,
            directory: &self.options.directory,
            strict: self.options.strict,
        };
        let mut problems = Vec::new();
        let mut mends = Vec::new();
        let targets = targets(
            self.set,
            self.source.listing(),
            &naming,
            &mut mends,
            &mut problems,
        );
        for problem in problems {
            self.problem(problem);
        }
        self.verdict.mends.extend(mends);
        if self.set.files.len() > self.options.limits.files {
            let message = format!(
                "the patch names more than {} files",
                self.options.limits.files
            );
            self.plain(Code::P705, &message);
        } else {
            self.sections(&targets);
        }
        self.weigh_unread();
        self.finish()
    }

    // What else the reply says, where its changes stand.
    fn weigh_unread(&mut self) {
        let unread = self.set.unread.iter();
        let problems: Vec<PatchProblem> = unread
            .filter_map(|unread| weigh_unread(unread, self.source, &self.slots))
            .collect();
        for problem in problems {
            self.problem(problem);
        }
    }

    pub(super) fn plain(&mut self, code: Code, message: &str) {
        self.problem(PatchProblem::new(code, message));
    }

    pub(super) fn problem(&mut self, problem: PatchProblem) {
        if problem.severity == Severity::Error && problem.code.verdict() > self.worst {
            self.worst = problem.code.verdict();
            self.verdict.error_code = Some(problem.code);
        }
        self.verdict.problems.push(problem);
    }

    pub(super) fn sections(&mut self, targets: &[Option<Target>]) {
        for target in targets.iter().flatten() {
            if matches!(target.operation, Operation::Delete | Operation::Rename) {
                self.vacated.insert(target.old.clone());
            }
        }
        // Sections of one path that only change lines are taken together.
        let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for (index, target) in targets.iter().enumerate() {
            let (Some(target), Some(file)) = (target, self.set.files.get(index)) else {
                continue;
            };
            *uses.entry(target.new.as_str()).or_default() += 1;
            if target.old != target.new {
                *uses.entry(target.old.as_str()).or_default() += 1;
            }
            if target.operation == Operation::Modify && matches!(file.body, Body::Hunks(_)) {
                groups.entry(target.new.as_str()).or_default().push(index);
            }
        }
        groups.retain(|path, group| uses.get(path) == Some(&group.len()));
        let mut ready = self.in_parallel(&groups);
        for (index, target) in targets.iter().enumerate() {
            let Some(file) = self.set.files.get(index) else {
                continue;
            };
            let Some(target) = target else {
                self.standing.push(SectionOutcome::Failed);
                continue;
            };
            let mut hunks = Vec::new();
            let standing = match groups.get(target.new.as_str()) {
                // Before a line of it is looked for: how a patch fails to fit tells what stands there.
                _ if self.is_closed(file, target) => Ok(SectionOutcome::Failed),
                Some(group) if group.first() == Some(&index) => {
                    let done = ready.remove(target.new.as_str());
                    self.group(target, group, done, &mut hunks)
                }
                Some(_) => Ok(SectionOutcome::Applied),
                None => self.section(file, target, &mut hunks),
            };
            let standing = standing.unwrap_or_else(|refusal| {
                self.problem(refusal.problem(Some(&target.new), u64::from(file.line)));
                SectionOutcome::Failed
            });
            self.standing.push(standing);
            let moved = matches!(target.operation, Operation::Rename | Operation::Copy);
            self.verdict.files.push(FileVerdict {
                path: target.new.clone(),
                old_path: moved.then(|| target.old.clone()),
                operation: target.operation,
                mode: target
                    .mode
                    .filter(|_| target.operation != Operation::Delete)
                    .map(|mode| format!("{mode:06o}")),
                hunks,
            });
        }
    }

    fn is_closed(&mut self, file: &FilePatch<'_>, target: &Target) -> bool {
        let closed = [&target.new, &target.old].into_iter().find_map(|path| {
            let repo_path = RepoPath::new(path).ok()?;
            let problem = self.options.allowed.closed(&repo_path)?;
            // A new file of a folder that is not read has nothing to tell.
            let tells = problem.code == Code::P702 || self.source.listing().get(path).is_some();
            tells.then(|| problem.at(Some(path), u64::from(file.line)))
        });
        let is_closed = closed.is_some();
        if let Some(problem) = closed {
            self.problem(problem);
        }
        is_closed
    }

    // The bulk of a large patch: files that are changed once and nothing else. Those that take more than
    // their share are left for later.
    fn in_parallel(
        &self,
        groups: &HashMap<&str, Vec<usize>>,
    ) -> HashMap<String, (FileState, Modified)> {
        if groups.len() < 8 {
            return HashMap::new();
        }
        let mut list: Vec<(&&str, &Vec<usize>)> = groups.iter().collect();
        list.sort();
        let (source, set, strict) = (self.source, self.set, self.options.strict);
        let modified = crate::parallel::map(list, |(path, group)| {
            let before = original(source, path).ok().flatten()?;
            let sections: Vec<&FilePatch<'_>> = group
                .iter()
                .filter_map(|index| set.files.get(*index))
                .collect();
            let work = Work::share(groups.len());
            let modified = modify(&before, &sections, strict, &work);
            (!work.is_done()).then(|| ((*path).to_owned(), (before, modified)))
        });
        modified.into_iter().flatten().collect()
    }

    // What stands at a path now, the patch so far included.
    pub(super) fn current(&self, path: &str) -> Result<Option<FileState>, Refusal> {
        match self.slots.get(path) {
            Some(slot) => Ok(slot.after.clone()),
            None => original(self.source, path),
        }
    }
}
