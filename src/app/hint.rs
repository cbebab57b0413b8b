use std::collections::BTreeMap;

use super::diagnose::scene_of;
use super::open::{known_file, with_graph};
use super::patch::{Target, write_changes};
use super::{App, AppError, Result};
use crate::diagnose::{Log, LogFacts, diagnose_masked};
use crate::fixes::{Candidate, Fixes, Judging, Question, find_fixes};
use crate::hint::{self, Ask, Wanted, hint_lines, recovery_hint};
use crate::inventory::{Project, environment_problems, explain_failure};
use crate::model::{Code, Diagnosis, HintDocument, Profile, Remedy, RepoPath, SCHEMA_VERSION};
use crate::patch::Change;
use crate::source::Installed;
use crate::workplace::installed as installed_below;
use crate::workspace::Workspace;

/// Find the imports that were meant.
#[derive(Debug, Clone, Default)]
pub struct HintRequest {
    /// Undefined names; those of the log are added.
    pub names: Vec<String>,
    /// The file that uses them; without one, those that the log names.
    pub file: Option<String>,
    /// What the failing command wrote: names, modules and files are taken from it.
    pub log: Option<Log>,
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
    // Files that may not be read, and why.
    refused: Vec<String>,
}

impl Hinted {
    /// A line for each name, or that no name is missing.
    #[must_use]
    pub fn lines(&self) -> String {
        let suggestions = &self.document.suggestions;
        let mut names: Vec<String> = Vec::new();
        for name in &self.names {
            let is_listed = suggestions.iter().any(|one| one.name == *name);
            let top = format!("`{}", name.split(['.', '/']).next().unwrap_or(name));
            let is_of_environment = self.by_hand.iter().any(|one| one.problem.contains(&top));
            if (is_listed || !is_of_environment) && !names.contains(name) {
                names.push(name.clone());
            }
        }
        let mut text = match self.names.as_slice() {
            [] => "no name in the log needs an import\n".to_owned(),
            _ => hint_lines(&names, suggestions),
        };
        for one in &self.by_hand {
            text.push_str(&format!("- {}\n", in_words(one)));
        }
        for edit in self.fixes.beside_imports() {
            text.push_str(&format!("- {edit}: `mendit fix` tries it\n"));
        }
        text
    }
}

/// Finds imports for what is undefined.
///
/// # Errors
/// A file that is not of the repository, a log that names none, or a patch that cannot be written.
pub fn find_imports(app: &App, request: &HintRequest) -> Result<Hinted> {
    let workspace = app.worktree()?;
    let (facts, scene) = (LogFacts::default(), scene_of(&workspace));
    let found = request.log.as_ref().map(|log| {
        let diagnosis = diagnose_masked(log, &facts, scene, &[], app.redactor());
        (diagnosis, log.text())
    });
    let hinted = find_remedies(app, &workspace, request, found.as_slice())?;
    hinted.refused.iter().for_each(|refusal| app.note(refusal));
    Ok(hinted)
}

/// The same for a log that was read already, if there is one.
pub(super) fn find_remedies(
    app: &App,
    workspace: &Workspace,
    request: &HintRequest,
    logs: &[(Diagnosis, &str)],
) -> Result<Hinted> {
    let policy = app.read_policy(Profile::Ranked)?;
    let may_read = |path: &RepoPath| policy.refuse(path).is_none();
    let diagnosis = logs.first().map(|(diagnosis, _)| diagnosis);
    let mut wanted = wanted(request, workspace, diagnosis)?;
    let mut hinted = Hinted::default();
    wanted.retain(|file, _| {
        let refusal = policy.refuse(file);
        let told = refusal
            .iter()
            .map(|refusal| format!("{}: {}", refusal.code, refusal.reason));
        hinted.refused.extend(told);
        refusal.is_none()
    });
    app.go_on("reading imports")?;
    let root = workspace.root.as_deref();
    let installed = root.map_or_else(Installed::default, installed_below);
    let allowed = app.allowed()?;
    let mut fixes = with_graph(app, workspace, !wanted.is_empty(), |graph| {
        find_fixes(&Question {
            logs,
            wanted: &wanted,
            graph,
            ask: Some(&Ask {
                installed: &installed,
                may_read: &may_read,
            }),
            judging: Judging {
                lines: &request.command,
                prefix: &workspace.prefix,
                allowed: &allowed,
            },
        })
    });
    let is_shown = |text: &str| app.redactor().redact(text).findings.is_empty();
    let is_plain = |edit: &Candidate| is_shown(&String::from_utf8_lossy(&edit.patch));
    fixes
        .edits
        .retain(|edit| !edit.imports.is_empty() || is_plain(edit));
    for answer in std::mem::take(&mut fixes.answers) {
        let lacks = answer.wanted;
        hinted
            .names
            .extend([lacks.names, lacks.modules, lacks.exports].concat());
        for one in answer.suggestions {
            if is_shown(&one.import_statement) {
                tracing::info!(
                    certain = one.certain,
                    "{}: {}",
                    one.import_statement,
                    one.doubt
                );
                hinted.document.suggestions.push(one);
            }
        }
    }
    if !fixes.edits.iter().any(|edit| edit.certain) {
        let command = request.command.join(" && ");
        let logs = logs.iter().map(|(diagnosis, log)| (diagnosis, *log));
        hinted.by_hand = logs
            .flat_map(|log| around(workspace, log, &command))
            .collect();
    }
    hinted.fixes = fixes;
    hinted.write(app, workspace, request)?;
    Ok(hinted)
}

impl Hinted {
    // Makes the document, and the patch of what is certain where one is asked for.
    fn write(&mut self, app: &App, workspace: &Workspace, request: &HintRequest) -> Result<()> {
        let suggestions = std::mem::take(&mut self.document.suggestions);
        self.found = !suggestions.is_empty();
        let mut patch = None;
        if request.fix || request.apply {
            let certain = self.fixes.edits.iter().filter(|edit| edit.certain);
            let certain: Vec<&Candidate> = certain.collect();
            self.found = !certain.is_empty();
            if request.apply && self.found {
                app.go_on("writing")?;
                let changes = certain.iter().flat_map(|edit| edit.changes.clone());
                let changes: Vec<Change> = changes.collect();
                write_changes(app, workspace, &changes, Target::Worktree)?;
            }
            let text: Vec<u8> = certain.iter().flat_map(|edit| edit.patch.clone()).collect();
            let text = String::from_utf8_lossy(&text).into_owned();
            let is_shown = app.redactor().redact(&text).findings.is_empty();
            if !is_shown {
                app.note("the patch is not shown: a secret is near the imports");
            }
            patch = (self.found && is_shown).then_some(text);
        }
        self.document = HintDocument {
            schema_version: SCHEMA_VERSION,
            document: "hint",
            recovery_hint: recovery_hint(&self.names, &suggestions),
            suggestions,
            patch,
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
) -> Result<BTreeMap<RepoPath, Wanted>> {
    let source = workspace.source.as_ref();
    let is_named = !request.names.is_empty() || request.file.is_some();
    if !is_named && found.is_some_and(|diagnosis| diagnosis.lacks().next().is_none()) {
        return Ok(BTreeMap::new());
    }
    let files = files(request, workspace, found)?;
    let mut lacks = found.map(Wanted::from_diagnosis).unwrap_or_default();
    lacks.add(Wanted {
        names: request.names.clone(),
        ..Wanted::default()
    });
    Ok(match files.as_slice() {
        // Who names the file asks for it.
        [file] if request.file.is_some() && found.is_none() => {
            BTreeMap::from([(file.clone(), lacks)])
        }
        files => hint::wanted(source, files, &lacks),
    })
}

fn files(
    request: &HintRequest,
    workspace: &Workspace,
    found: Option<&Diagnosis>,
) -> Result<Vec<RepoPath>> {
    let source = workspace.source.as_ref();
    if let Some(typed) = &request.file {
        let file = known_file(workspace, typed)?;
        let failed = |error| AppError::new(Code::U302, format!("cannot read `{file}`: {error}"));
        source.read(&file).map_err(failed)?;
        return Ok(vec![file]);
    }
    let files: Vec<RepoPath> = found.map(hint::lacking).into_iter().flatten().collect();
    if !files.is_empty() {
        return Ok(files);
    }
    let why = match found {
        None => "no file says where the names are used",
        Some(_) => "the log names no file of this repository",
    };
    Err(AppError::usage(why).hint("say which file with `--file`"))
}

/// Returns what fixes a failure by hand, as lines for a person to type; none of them is run. `again` is the line that
/// passes a variable on.
pub(super) fn by_hand(
    workspace: &Workspace,
    (diagnosis, log): (&Diagnosis, &str),
    command: &str,
    again: &dyn Fn(&str) -> String,
) -> Vec<Remedy> {
    let project = Project::open(workspace);
    let found = environment_problems(&project, log);
    if !found.is_empty() {
        return found;
    }
    explain_failure(&project, diagnosis, command, again)
}

/// Returns what lies outside the code and may have made a command fail.
pub(super) fn around(
    workspace: &Workspace,
    found: (&Diagnosis, &str),
    command: &str,
) -> Vec<Remedy> {
    let again = |name: &str| format!("mendit run --env {name} {command}");
    by_hand(workspace, found, command, &again)
}

/// Describes a remedy in one line.
pub(super) fn in_words(remedy: &Remedy) -> String {
    match &remedy.command {
        Some(line) => format!("{}: `{line}`", remedy.problem),
        None => remedy.problem.clone(),
    }
}
