use std::collections::BTreeMap;

use super::deleted::deleted;
use super::open::{known_file, with_graph};
use super::patch::write_changes;
use super::remedy::in_submodule;
use super::{App, AppError, Progress};
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::git::earlier;
use crate::hint::{
    self, Answer, Ask, Wanted, answers, fix_all, hint_lines, passed_on, recovery_hint,
};
use crate::junit::Report;
use crate::model::{
    Code, Diagnosis, HintDocument, Profile, Remedy, RepoPath, SCHEMA_VERSION, Suggestion,
};
use crate::patch::{Change, JudgeOptions, Objects, judge};
use crate::policy::Redactor;
use crate::repair::{MAX_TRIES, log_heals, tries_of};
use crate::source::{Installed, Source};
use crate::workplace::installed;
use crate::workspace::{At, Workspace};

/// Find the imports that were meant.
#[derive(Debug, Clone, Default)]
pub struct HintRequest {
    /// Undefined names; those of the log are added.
    pub names: Vec<String>,
    /// The file that uses them; without one, those that the log names.
    pub file: Option<String>,
    /// What failing commands wrote: names, modules and files are taken from each.
    pub logs: Vec<Log>,
    /// Reports of its tests, in the form of `JUnit`.
    pub reports: Vec<Report>,
    /// A commit to read instead of the worktree.
    pub rev: Option<String>,
    /// Whether a patch of the certain imports is made.
    pub fix: bool,
    /// Whether that patch is written into the worktree.
    pub apply: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Hinted {
    /// The names, modules and exports that are missing.
    pub names: Vec<String>,
    /// Their imports, and the patch when one was asked for and there is one that may be shown.
    pub document: HintDocument,
    /// Whether there is a patch, when one was asked for; else whether anything is known.
    pub found: bool,
    /// Of what is not certain, the answers that `mendit fix` tries under the tests.
    pub tried: Vec<Suggestion>,
    /// Of what is certain, the imports that it may not write: the file is protected.
    pub refused: Vec<Suggestion>,
    /// What it tries beside imports, each in a sentence.
    pub mends: Vec<String>,
    /// What a module passes on again with one of those.
    pub passed_on: Vec<String>,
    /// Modules whose files are gone, each with the line that brings it back.
    pub deleted: Vec<(String, Remedy)>,
}

impl Hinted {
    /// A line for each name, or that no name is missing.
    #[must_use]
    pub fn lines(&self) -> String {
        let mends = self.mends.iter();
        let mends = mends.map(|it| format!("- {it}: `mendit fix` tries it\n"));
        let deleted = self.deleted.iter().map(|(_, it)| {
            let line = it.command.as_deref().unwrap_or_default();
            format!("- {}: `{line}`\n", it.problem)
        });
        let mends = deleted.chain(mends);
        if self.names.is_empty() {
            let said = "nothing in the log is missing an import\n".to_owned();
            return said + &mends.collect::<String>();
        }
        let mut names: Vec<String> = Vec::new();
        for name in &self.names {
            let known = self.document.suggestions.iter().any(|it| it.name == *name);
            let gone = !known && self.deleted.iter().any(|(module, _)| module == name);
            if !gone && !self.passed_on.contains(name) && !names.contains(name) {
                names.push(name.clone());
            }
        }
        hint_lines(&names, &self.document.suggestions) + &mends.collect::<String>()
    }
}

/// Finds imports for what is undefined.
///
/// # Errors
/// A file that is not of the repository, a log that names none, or a patch that cannot be written.
pub fn find_imports(
    app: &App,
    request: &HintRequest,
    progress: &dyn Progress,
) -> Result<Hinted, AppError> {
    let at = request.rev.as_deref().map_or(At::Worktree, At::Revision);
    let workspace = app.workspace(at, progress)?;
    let policy = app.read_policy(Profile::Ranked)?;
    let may_read = |path: &RepoPath| policy.refuse(path).is_none();
    let found = diagnoses(app, request, &workspace);
    let mut mends = mends(request, &found, workspace.source.as_ref());
    let here = found.iter().filter(|_| request.rev.is_none());
    let deleted =
        here.flat_map(|it| deleted(it, workspace.source.as_ref(), workspace.git.as_ref()));
    let deleted: Vec<(String, Remedy)> = deleted.collect();
    let mut passed_again = Vec::new();
    let mut wanted = wanted(request, &workspace, found)?;
    wanted.retain(|file, _| {
        let refusal = policy.refuse(file);
        if let Some(refusal) = &refusal {
            progress.note(&format!("{}: {}", refusal.code, refusal.reason));
        }
        refusal.is_none()
    });
    super::progress::go_on(progress, "reading imports")?;
    let patched = request.fix || request.apply;
    let allowed = app.allowed()?;
    let objects = workspace.objects();
    let rules = JudgeOptions {
        allowed: allowed.clone(),
        objects: objects.as_ref().map(|it| it as &dyn Objects),
        ..JudgeOptions::default()
    };
    let applies = |patch: &str| {
        let judged = judge(patch.as_bytes(), workspace.source.as_ref(), &rules);
        judged.verdict.verdict.applies()
    };
    let mut names = Vec::new();
    let mut refused: Vec<Suggestion> = Vec::new();
    let mut tried: Vec<Suggestion> = Vec::new();
    let mut suggestions: Vec<Suggestion> = Vec::new();
    let mut patch = String::new();
    let mut changes: Vec<Change> = Vec::new();
    let revision = request.rev.as_deref().unwrap_or("HEAD");
    let earlier = earlier(workspace.git.as_ref(), revision);
    let installed = workspace
        .root
        .as_deref()
        .map_or_else(Installed::default, installed);
    let ask = Ask {
        known: &app.settings().hint.known,
        installed: &installed,
        may_read: &may_read,
        earlier: &earlier,
    };
    with_graph(app, &workspace, true, |graph| {
        let mut found = answers(graph, &wanted, &ask);
        let guarded = |it: &&Answer| {
            let path = it.file.as_str();
            allowed.guard(path).is_some() && !allowed.has(path)
        };
        for answer in found.iter().filter(guarded) {
            let past = earlier(&answer.file);
            let certain = answer.suggestions.iter().filter(|it| it.certain);
            refused.extend(
                certain
                    .filter(|one| {
                        let fixed = hint::fix(graph, &answer.file, &past, &[(*one).clone()]);
                        fixed.is_none_or(|it| !applies(&it.patch))
                    })
                    .cloned(),
            );
        }
        for answer in &mut found {
            answer
                .suggestions
                .retain(|one| shows(app.redactor(), &one.import_statement));
            let lacks = &answer.wanted;
            names.extend([&lacks.names[..], &lacks.modules, &lacks.exports].concat());
        }
        if !request.logs.is_empty() && request.rev.is_none() {
            // Each of them may read the whole repository.
            for answer in found.iter().take(MAX_TRIES) {
                let all = answer.suggestions.iter().cloned();
                let (certain, open): (Vec<_>, Vec<_>) = all.partition(|it| it.certain);
                let source = workspace.source.as_ref();
                let rows = tries_of(source, graph, &ask, &answer.file, &certain, &open);
                tried.extend(rows.into_iter().map(|(one, _)| one.clone()));
            }
            tried.truncate(MAX_TRIES);
        }
        for one in passed_on(graph, &wanted, &ask) {
            if one.committed && request.rev.is_none() && shows(app.redactor(), &one.fix.patch) {
                mends.push(one.what());
                passed_again.extend(one.fix.names);
                if patched {
                    patch.push_str(&one.fix.patch);
                    changes.extend(one.fix.changes);
                }
            }
        }
        if patched {
            let certain = |answer: &Answer| {
                let all = answer.suggestions.iter().filter(|it| it.certain);
                (answer.file.clone(), all.cloned().collect())
            };
            let certain: Vec<(RepoPath, Vec<Suggestion>)> = found.iter().map(certain).collect();
            for (_, fixed) in fix_all(graph, &ask, &certain) {
                patch.push_str(&fixed.patch);
                changes.extend(fixed.changes);
            }
        }
        suggestions.extend(found.into_iter().flat_map(|answer| answer.suggestions));
    });
    let found = if patched {
        !changes.is_empty()
    } else {
        !suggestions.is_empty() || !passed_again.is_empty()
    };
    if request.apply && found {
        super::progress::go_on(progress, "writing")?;
        write_changes(app, &workspace, &changes, false, false)?;
    }
    let shown = shows(app.redactor(), &patch);
    if found && patched && !shown {
        progress.note("the patch is not shown: a secret stands near the imports");
    }
    let document = HintDocument {
        schema_version: SCHEMA_VERSION,
        document: "hint",
        recovery_hint: recovery_hint(&names, &suggestions),
        suggestions,
        patch: (found && patched && shown).then_some(patch),
    };
    Ok(Hinted {
        names,
        document,
        found,
        tried,
        refused,
        mends,
        deleted,
        passed_on: passed_again,
    })
}

fn shows(redactor: &Redactor, text: &str) -> bool {
    redactor.redact(text).findings.is_empty()
}

fn diagnoses(app: &App, request: &HintRequest, workspace: &Workspace) -> Vec<Diagnosis> {
    let diagnosis = |log: &Log| {
        let facts = LogFacts {
            rules: app.rules(),
            ..LogFacts::default()
        };
        let scene = Scene {
            source: Some(workspace.source.as_ref()),
            directory: &workspace.prefix,
        };
        diagnose_masked(log, &facts, scene, &request.reports, app.redactor())
    };
    request.logs.iter().map(diagnosis).collect()
}

// A repair starts from the worktree: of another revision nothing is tried.
fn mends(request: &HintRequest, found: &[Diagnosis], source: &dyn Source) -> Vec<String> {
    let logs = request.logs.iter().zip(found);
    let logs = logs.filter(|_| request.rev.is_none());
    logs.flat_map(|(log, diagnosis)| log_heals(diagnosis, log.text(), source))
        .map(|it| it.what)
        .collect()
}

// What to look for, by file.
fn wanted(
    request: &HintRequest,
    workspace: &Workspace,
    found: Vec<Diagnosis>,
) -> Result<BTreeMap<RepoPath, Wanted>, AppError> {
    let source = workspace.source.as_ref();
    let lacks_nothing = |it: &Diagnosis| it.lacks().next().is_none();
    let asked = !request.names.is_empty() || request.file.is_some();
    if !asked && !found.is_empty() && found.iter().all(lacks_nothing) {
        return Ok(BTreeMap::new());
    }
    let mut all: BTreeMap<RepoPath, Wanted> = BTreeMap::new();
    if !request.names.is_empty() || found.is_empty() {
        let named = Wanted {
            names: request.names.clone(),
            ..Wanted::default()
        };
        let files = files(request, workspace, &found)?;
        all = hint::wanted(source, &files, &named);
    }
    let mut unread = None;
    for diagnosis in found {
        let files = match files(request, workspace, std::slice::from_ref(&diagnosis)) {
            Ok(files) => files,
            Err(error) => {
                unread = Some(error);
                continue;
            }
        };
        for (file, more) in hint::wanted(source, &files, &Wanted::of(&diagnosis)) {
            all.entry(file).or_default().add(more);
        }
    }
    match unread.filter(|_| all.is_empty()) {
        Some(error) => Err(error),
        None => Ok(all),
    }
}

fn files(
    request: &HintRequest,
    workspace: &Workspace,
    found: &[Diagnosis],
) -> Result<Vec<RepoPath>, AppError> {
    if let Some(typed) = &request.file {
        let file = known_file(workspace, typed)?;
        // Of a file that is not read nothing can be said.
        if let Err(error) = workspace.source.read(&file) {
            return Err(
                AppError::new(Code::U302, format!("cannot read `{file}`: {error}"))
                    .hint("`ls -l` shows who may read it"),
            );
        }
        return Ok(vec![file]);
    }
    let files: Vec<RepoPath> = found.iter().flat_map(hint::lacking).collect();
    if files.is_empty() {
        let source = workspace.source.as_ref();
        if let Some(module) = found.iter().find_map(|it| in_submodule(it, source)) {
            let why = format!("the files of the log lie in the submodule {module}");
            return Err(AppError::usage(why).hint(format!("`mendit -C {module} run CMD`")));
        }
        let why = if found.is_empty() {
            "no file says where the names are used"
        } else {
            "the log names no file of this repository"
        };
        return Err(AppError::usage(why).hint("say which file with `--file`"));
    }
    Ok(files)
}
