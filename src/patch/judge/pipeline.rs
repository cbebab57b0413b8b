//! The validation of a patch: read, resolve, place, check, report.

use super::checks::run_checks;
use super::report::Report;
use super::section::{Placing, SectionOutcome};
use super::{JudgeOptions, Judged};
use crate::model::{Code, FileVerdict, Mend, Operation, Refusal, RepoPath, Safety};
use crate::patch::read::read;
use crate::patch::reverse::reverse_set;
use crate::patch::set::{FilePatch, PatchSet};
use crate::patch::targets::{PathRules, Target, resolve_targets};
use crate::patch::unread::weigh_unread;
use crate::source::Source;

/// Validates a patch against a source. Reads files, writes nothing.
pub fn judge(input: &[u8], source: &dyn Source, options: &JudgeOptions<'_>) -> Judged {
    let judged = read_directed(input, options, |set| {
        tracing::info!(format = ?set.format, files = set.files.len(), "read a patch");
        judge_set(set, source, options)
    });
    judged.unwrap_or_else(Report::refused)
}

/// Reads a patch in the direction that the options say.
pub(super) fn read_directed<T>(
    input: &[u8],
    options: &JudgeOptions<'_>,
    take: impl FnOnce(&PatchSet<'_>) -> T,
) -> Result<T, Refusal> {
    let taken = read(input, |set| {
        let set = if options.reverse { reverse_set(set)? } else { set };
        Ok(take(&set))
    });
    taken.flatten()
}

fn judge_set(set: &PatchSet<'_>, source: &dyn Source, options: &JudgeOptions<'_>) -> Judged {
    let mut report = Report::new(set);
    let targets = resolve_files(set, source, options, &mut report);
    let mut placing = Placing::new(source, options);
    let outcomes = place_sections(set, &targets, &mut placing, &mut report);
    for unread in &set.unread {
        if let Some(problem) = weigh_unread(unread, source, &placing.slots) {
            report.add(problem);
        }
    }
    report.is_applied = weigh_already(&outcomes, &mut report);
    if options.strict {
        report.refuse_mends();
    }
    let changes = run_checks(set, placing, &mut report);
    report.emit(changes)
}

/// Finds the path of every section.
fn resolve_files(
    set: &PatchSet<'_>,
    source: &dyn Source,
    options: &JudgeOptions<'_>,
    report: &mut Report,
) -> Vec<Option<Target>> {
    if set.files.is_empty() && !report.is_refused() {
        report.add_plain(Code::P102, "there is no patch in the input");
    }
    let most = options.limits.files;
    if set.files.len() > most {
        let message = format!("the patch names more than {most} files");
        report.add_plain(Code::P705, message);
        return Vec::new();
    }
    let rules = path_rules(source, options);
    let mut problems = Vec::new();
    let targets = resolve_targets(set, &rules, &mut report.verdict.mends, &mut problems);
    problems.into_iter().for_each(|problem| report.add(problem));
    targets
}

pub(super) fn path_rules<'r>(
    source: &'r dyn Source,
    options: &'r JudgeOptions<'_>,
) -> PathRules<'r> {
    PathRules {
        strip: options.strip,
        directory: &options.directory,
        source,
    }
}

/// Places one section after another, each on what those before it left.
fn place_sections(
    set: &PatchSet<'_>,
    targets: &[Option<Target>],
    placing: &mut Placing<'_>,
    report: &mut Report,
) -> Vec<SectionOutcome> {
    placing.note_vacated(targets);
    let mut outcomes = Vec::with_capacity(targets.len());
    for (file, target) in set.files.iter().zip(targets) {
        let Some(target) = target else {
            outcomes.push(SectionOutcome::Failed);
            continue;
        };
        // Closed files are not read, because an error about a hunk would reveal their content.
        let outcome = if is_closed(file, target, placing, report) {
            SectionOutcome::Failed
        } else {
            placing.place_section(file, target, report).unwrap_or_else(|refusal| {
                report.add(refusal.problem(Some(&target.new), u64::from(file.line)));
                SectionOutcome::Failed
            })
        };
        outcomes.push(outcome);
        let moved = matches!(target.operation, Operation::Rename | Operation::Copy);
        report.verdict.files.push(FileVerdict {
            path: target.new.clone(),
            old_path: moved.then(|| target.old.clone()),
            operation: target.operation,
            mode: target.mode.map(|mode| format!("{mode:06o}")),
            hunks: std::mem::take(&mut report.hunks),
        });
    }
    if placing.work.is_done() {
        report.add_plain(Code::P308, "the patch takes too many comparisons to place");
    }
    outcomes
}

fn is_closed(
    file: &FilePatch<'_>,
    target: &Target,
    placing: &Placing<'_>,
    report: &mut Report,
) -> bool {
    let closed = [&target.new, &target.old].into_iter().find_map(|path| {
        let repo_path = RepoPath::new(path).ok()?;
        let problem = placing.options.allowed.closed(&repo_path)?;
        // A new file in a folder that is not read has nothing to report.
        let tells = problem.code == Code::P702 || placing.source.entry(path).is_some();
        tells.then(|| problem.at(Some(path), u64::from(file.line)))
    });
    let is_closed = closed.is_some();
    closed.into_iter().for_each(|problem| report.add(problem));
    is_closed
}

/// Decides whether all of the patch is there already, and refuses where only some is.
fn weigh_already(outcomes: &[SectionOutcome], report: &mut Report) -> bool {
    if report.is_refused() || !outcomes.contains(&SectionOutcome::Already) {
        return false;
    }
    if !outcomes.contains(&SectionOutcome::Applied) {
        return true;
    }
    let message = "left out files that already match the patch";
    let mend = Mend::new(Code::M304, Safety::Lossy, 1_u64, message);
    report.verdict.mends.push(mend);
    false
}
