use std::collections::BTreeMap;

use super::open::{known_file, with_graph};
use super::patch::write_changes;
use super::remedy::{by_hand, with_variable};
use super::{App, AppError, Progress};
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::fixes::{Candidate, Fixes, Judging, Question, find_fixes};
use crate::hint::{self, Ask, Wanted, hint_lines, recovery_hint};
use crate::junit::Report;
use crate::model::{Code, Diagnosis, HintDocument, Profile, Remedy, RepoPath, SCHEMA_VERSION};
use crate::patch::Change;
use crate::source::Installed;
use crate::workplace::installed as installed_below;
use crate::workspace::{At, Workspace};

/// Find the imports that were meant.
#[derive(Debug, Clone, Default)]
pub struct HintRequest {
    /// Undefined names; those of the log are added.
    pub names: Vec<String>,
    /// The file that uses them; without one, those that the log names.
    pub file: Option<String>,
    /// What the failing command wrote: names, modules and files are taken from it.
    pub log: Option<Log>,
    /// Reports of its tests, in the form of `JUnit`.
    pub reports: Vec<Report>,
    /// A commit to read instead of the worktree.
    pub rev: Option<String>,
    /// Whether a patch of the certain imports is made.
    pub fix: bool,
    /// Whether that patch is written into the worktree.
    pub apply: bool,
    /// The command that failed, as far as it is known.
    pub command: Vec<String>,
}

/// What was found.
#[derive(Default)]
pub struct Hinted {
    /// The names, modules and exports that are missing.
    pub names: Vec<String>,
    /// Their imports, and the patch when one was asked for and there is one that may be shown.
    pub document: HintDocument,
    /// Whether there is a patch, when one was asked for; else whether anything is known.
    pub found: bool,
    /// What mends it, as every surface tells it and `mendit fix` tries it.
    pub fixes: Fixes,
    /// What is mended by hand.
    pub by_hand: Vec<Remedy>,
}

impl Hinted {
    /// A line for each name, or that no name is missing.
    #[must_use]
    pub fn lines(&self) -> String {
        let mends = self.fixes.beside_imports().into_iter();
        let mends = mends.map(|it| format!("- {it}: `mendit fix` tries it\n"));
        let by_hand = self.by_hand.iter().map(|one| match &one.command {
            Some(line) => format!("- {}: `{line}`\n", one.problem),
            None => format!("- {}\n", one.problem),
        });
        let mends = by_hand.chain(mends);
        if self.names.is_empty() {
            let message = "nothing in the log is missing an import\n".to_owned();
            return message + &mends.collect::<String>();
        }
        let mut names: Vec<String> = Vec::new();
        for name in &self.names {
            let listed = self.document.suggestions.iter().any(|it| it.name == *name);
            let top = format!("`{}", name.split(['.', '/']).next().unwrap_or(name));
            let gone = !listed && self.by_hand.iter().any(|one| one.problem.contains(&top));
            if !gone && !names.contains(name) {
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
    let facts = LogFacts {
        ..LogFacts::default()
    };
    let scene = Scene {
        source: Some(workspace.source.as_ref()),
        directory: &workspace.prefix,
    };
    let read = |log: &Log| diagnose_masked(log, &facts, scene, &request.reports, app.redactor());
    let found = request.log.iter().map(|log| (read(log), log.text()));
    let found: Vec<(Diagnosis, &str)> = found.collect();
    find_remedies(app, &workspace, request, &found, progress)
}

/// The same for a log that was read already, if there is one.
pub(super) fn find_remedies(
    app: &App,
    workspace: &Workspace,
    request: &HintRequest,
    logs: &[(Diagnosis, &str)],
    progress: &dyn Progress,
) -> Result<Hinted, AppError> {
    let policy = app.read_policy(Profile::Ranked)?;
    let may_read = |path: &RepoPath| policy.refuse(path).is_none();
    let diagnosis = logs.first().map(|(diagnosis, _)| diagnosis);
    let mut wanted = wanted(request, workspace, diagnosis)?;
    wanted.retain(|file, _| {
        let refusal = policy.refuse(file);
        if let Some(refusal) = &refusal {
            progress.note(&format!("{}: {}", refusal.code, refusal.reason));
        }
        refusal.is_none()
    });
    super::progress::go_on(progress, "reading imports")?;
    let installed = workspace.root.as_deref();
    let installed = installed.map_or_else(Installed::default, installed_below);
    let ask = Ask {
        installed: &installed,
        may_read: &may_read,
    };
    let allowed = app.allowed()?;
    let judging = Judging {
        lines: &request.command,
        prefix: &workspace.prefix,
        allowed: &allowed,
    };
    // A repair starts from the worktree: of another revision nothing is tried.
    let (tried, no_logs) = (request.rev.is_none(), &[][..]);
    let mut fixes = with_graph(app, workspace, !wanted.is_empty(), |graph| {
        find_fixes(&Question {
            logs: if tried { logs } else { no_logs },
            wanted: &wanted,
            graph,
            ask: Some(&ask),
            judging,
        })
    });
    let is_shown = |text: &str| app.redactor().redact(text).findings.is_empty();
    let is_plain = |it: &Candidate| is_shown(&String::from_utf8_lossy(&it.patch));
    fixes
        .edits
        .retain(|it| !it.imports.is_empty() || is_plain(it));
    let mut hinted = Hinted::default();
    for answer in std::mem::take(&mut fixes.answers) {
        let lacks = &answer.wanted;
        hinted
            .names
            .extend([&lacks.names[..], &lacks.modules, &lacks.exports].concat());
        let shown = answer
            .suggestions
            .into_iter()
            .filter(|it| is_shown(&it.import_statement));
        for one in shown {
            if !one.certain && !one.doubt.is_empty() {
                let message = format!("{}: not certain: {}", one.import_statement, one.doubt);
                super::progress::go_on(progress, &message)?;
            }
            hinted.document.suggestions.push(one);
        }
    }
    if tried && !fixes.edits.iter().any(|it| it.certain) {
        let command = request.command.join(" && ");
        let again = with_variable(&command);
        let logs = logs.iter().map(|(it, log)| (it, *log));
        let all = logs.flat_map(|log| by_hand(workspace, log, &command, &again));
        hinted.by_hand = all.collect();
    }
    hinted.fixes = fixes;
    hinted.write(app, workspace, request, progress)?;
    Ok(hinted)
}

impl Hinted {
    // Makes the document, and the patch of what is certain where one is asked for.
    fn write(
        &mut self,
        app: &App,
        workspace: &Workspace,
        request: &HintRequest,
        progress: &dyn Progress,
    ) -> Result<(), AppError> {
        let edits = &self.fixes.edits;
        let certain = || edits.iter().filter(|it| it.certain);
        let patch: Vec<u8> = certain().flat_map(|it| it.patch.iter().copied()).collect();
        let patched = request.fix || request.apply;
        self.found = if patched {
            !patch.is_empty()
        } else {
            !self.document.suggestions.is_empty()
        };
        if request.apply && self.found {
            super::progress::go_on(progress, "writing")?;
            let changes: Vec<Change> = certain().flat_map(|it| it.changes.clone()).collect();
            write_changes(app, workspace, &changes, false, false)?;
        }
        let patch = String::from_utf8_lossy(&patch).into_owned();
        let shown = app.redactor().redact(&patch).findings.is_empty();
        if self.found && patched && !shown {
            progress.note("the patch is not shown: a secret stands near the imports");
        }
        let suggestions = std::mem::take(&mut self.document.suggestions);
        self.document = HintDocument {
            schema_version: SCHEMA_VERSION,
            document: "hint",
            recovery_hint: recovery_hint(&self.names, &suggestions),
            suggestions,
            patch: (self.found && patched && shown).then_some(patch),
            tried: self.fixes.tried(),
            remedies: self.by_hand.clone(),
        };
        Ok(())
    }
}

// What to look for, by file.
fn wanted(
    request: &HintRequest,
    workspace: &Workspace,
    found: Option<&Diagnosis>,
) -> Result<BTreeMap<RepoPath, Wanted>, AppError> {
    let source = workspace.source.as_ref();
    let is_named = !request.names.is_empty() || request.file.is_some();
    if !is_named && found.is_some_and(|diagnosis| diagnosis.lacks().next().is_none()) {
        return Ok(BTreeMap::new());
    }
    let files = files(request, workspace, found)?;
    let lacked = found.map(|it| hint::wanted(source, &files, &Wanted::from_diagnosis(it)));
    let mut all = lacked.unwrap_or_default();
    if !request.names.is_empty() || found.is_none() {
        let named = Wanted {
            names: request.names.clone(),
            ..Wanted::default()
        };
        let named = match files.as_slice() {
            // Who names the file asks for it.
            [file] if request.file.is_some() => BTreeMap::from([(file.clone(), named)]),
            files => hint::wanted(source, files, &named),
        };
        for (file, more) in named {
            all.entry(file).or_default().add(more);
        }
    }
    Ok(all)
}

fn files(
    request: &HintRequest,
    workspace: &Workspace,
    found: Option<&Diagnosis>,
) -> Result<Vec<RepoPath>, AppError> {
    let source = workspace.source.as_ref();
    if let Some(typed) = &request.file {
        let file = known_file(workspace, typed)?;
        source.read(&file).map_err(|error| {
            AppError::new(Code::U302, format!("cannot read `{file}`: {error}"))
                .hint("`ls -l` shows who may read it")
        })?;
        return Ok(vec![file]);
    }
    let files: Vec<RepoPath> = found.iter().flat_map(|it| hint::lacking(it)).collect();
    if !files.is_empty() {
        return Ok(files);
    }
    let why = match found {
        None => "no file says where the names are used",
        Some(_) => "the log names no file of this repository",
    };
    Err(AppError::usage(why).hint("say which file with `--file`"))
}
