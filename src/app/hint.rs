//! The task of `mendit hint`: finds imports for undefined names.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::diagnose::scene_of;
use super::flags::request;
use super::open::{find_named, with_graph};
use super::patch::{Target, write_changes};
use super::runs::last_log;
use super::{App, AppError, Input, Result, no_run};
use crate::context::{hint_lines, recovery_hint};
use crate::diagnose::{LogFacts, diagnose_masked};
use crate::fixes::{Candidate, Fixes, Judging, Question, find_fixes};
use crate::hint::{self, Ask, Wanted};
use crate::inventory::{Project, explain_failure};
use crate::model::{Diagnosis, HintDocument, Profile, Remedy, RepoPath, SCHEMA_VERSION};
use crate::patch::Change;
use crate::source::Installed;
use crate::workplace::installed as installed_below;
use crate::workspace::Workspace;

/// Folders of installed packages.
const INSTALLED: [&str; 2] = ["site-packages/", "node_modules/"];

request! {
/// Find the imports that were meant.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
HintRequest {
    /// Undefined names; those of the log are added
    #[arg(value_name = "NAME")] names: Vec<String>;
    /// The file that uses them; else those that the log names
    #[arg(long, value_name = "FILE")] file: Option<String>;
    /// The output of the failing command; without it and `file`, the last run's
    #[arg(long, value_name = "FILE")] log: Option<Input>;
    /// Print a patch that adds the certain imports
    #[arg(long)] fix: bool;
    /// Write that patch into the worktree
    #[arg(long)] #[serde(skip)] apply: bool;
}
}

/// The result of a hint.
#[derive(Default)]
pub struct Hinted {
    /// The names, modules and exports that are missing.
    pub names: Vec<String>,
    /// Their imports, and the patch when one was asked for and there is one that may be shown.
    pub document: HintDocument,
    /// Whether there is a patch, when one was asked for; else whether anything is known.
    pub found: bool,
    /// The fixes that every command prints and `mendit fix` tries.
    pub fixes: Fixes,
}

impl Hinted {
    /// A line for each name, or that no name is missing.
    pub fn lines(&self) -> String {
        let (suggestions, remedies) = (&self.document.suggestions, &self.document.remedies);
        let mut names: Vec<String> = Vec::new();
        for name in &self.names {
            let is_listed = suggestions.iter().any(|one| one.name == *name);
            let top = format!("`{}", name.split(['.', '/']).next().unwrap_or(name));
            let remedies = remedies.iter().map(|one| &one.problem);
            let mut said = remedies.chain(self.fixes.edits.iter().map(|edit| &edit.what));
            if (is_listed || !said.any(|text| text.contains(&top))) && !names.contains(name) {
                names.push(name.clone());
            }
        }
        let mut text = match self.names.as_slice() {
            [] if !self.found => "no name in the log is missing an import\n".to_owned(),
            [] => "no missing import; other suggestions:\n".to_owned(),
            _ => hint_lines(&names, suggestions),
        };
        for one in remedies {
            text.push_str(&format!("- {}\n", in_words(one)));
        }
        for edit in self.fixes.beside_imports().map(|edit| &edit.what) {
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
    let log = match &request.log {
        Some(log) => Some(log.log(app)?),
        None if request.file.is_none() => {
            let hint = "or pass the undefined name: `mendit hint NAME --file FILE`";
            Some(last_log(app)?.ok_or_else(|| no_run().hint(hint))?.log)
        }
        None if request.names.is_empty() => {
            let error = AppError::usage("no name to look for");
            return Err(error.hint("`mendit hint NAME --file FILE`"));
        }
        None => None,
    };
    let found = log.as_ref().map(|log| {
        let diagnosis = diagnose_masked(log, &facts, scene, &[], app.redactor());
        (diagnosis, log.text())
    });
    find_remedies(app, &workspace, request, found.as_slice(), &[])
}

/// The same for a log that was read already, if there is one, and the commands that wrote it.
pub(super) fn find_remedies(
    app: &App,
    workspace: &Workspace,
    request: &HintRequest,
    logs: &[(Diagnosis, &str)],
    lines: &[String],
) -> Result<Hinted> {
    let policy = app.read_policy(Profile::Ranked)?;
    let may_read = |path: &RepoPath| policy.refuse(path).is_none();
    let diagnosis = logs.first().map(|(diagnosis, _)| diagnosis);
    let mut wanted = find_wanted(request, workspace, diagnosis)?;
    wanted.retain(|file, _| may_read(file));
    app.go_on("reading imports")?;
    let installed = workspace.root.as_deref().map_or_else(Installed::default, installed_below);
    let ask = Ask {
        installed: &installed,
        may_read: &may_read,
    };
    let allowed = app.allowed()?;
    let judging = Judging {
        lines,
        prefix: &workspace.prefix,
        allowed: &allowed,
    };
    let mut fixes = with_graph(app, workspace, !wanted.is_empty(), |graph| {
        find_fixes(&Question {
            logs,
            wanted: &wanted,
            graph,
            git: workspace.git.as_ref(),
            ask: &ask,
            judging,
        })
    });
    let redactor = app.redactor();
    let edits = &mut fixes.edits;
    edits.retain(|edit| {
        let patch = String::from_utf8_lossy(&edit.patch);
        !edit.imports.is_empty() || redactor.finds_nothing(&patch)
    });
    let (mut names, mut suggestions) = (Vec::new(), Vec::new());
    for answer in std::mem::take(&mut fixes.answers) {
        let lacks = answer.wanted;
        names.extend([lacks.names, lacks.modules, lacks.exports].concat());
        let shown = answer.suggestions.into_iter();
        suggestions.extend(shown.filter(|one| redactor.finds_nothing(&one.import_statement)));
    }
    let mut remedies = Vec::new();
    if !fixes.edits.iter().any(|edit| edit.certain) {
        let (project, command) = (Project::open(workspace), lines.join(" && "));
        // Where the code has a fix to try, frames of packages in the log do not blame the packages.
        let may_fix = !fixes.edits.is_empty();
        let found = logs.iter().map(|(found, log)| {
            let mut lines = found.evidence.iter();
            let is_outside = lines.any(|line| INSTALLED.iter().any(|one| line.text.contains(one)));
            let log = if may_fix && !is_outside { "" } else { log };
            explain_failure(&project, found, log, &command)
        });
        remedies.extend(found.flatten());
    }
    let mut hinted = Hinted {
        found: !(suggestions.is_empty() && remedies.is_empty() && fixes.edits.is_empty()),
        document: HintDocument {
            schema_version: SCHEMA_VERSION,
            document: "hint",
            recovery_hint: recovery_hint(&names, &suggestions),
            suggestions,
            patch: None,
            tried: fixes.edits.iter().map(|edit| edit.what.clone()).collect(),
            remedies,
        },
        names,
        fixes,
    };
    if request.fix || request.apply {
        hinted.add_patch(app, workspace, request.apply)?;
    }
    Ok(hinted)
}

impl Hinted {
    // Adds the patch of what is certain, and writes it where that is asked for.
    fn add_patch(&mut self, app: &App, workspace: &Workspace, apply: bool) -> Result<()> {
        let edits = self.fixes.edits.iter();
        let certain: Vec<&Candidate> = edits.filter(|edit| edit.certain).collect();
        self.found = !certain.is_empty();
        if apply && self.found {
            let changes = certain.iter().flat_map(|edit| edit.changes.clone());
            let changes: Vec<Change> = changes.collect();
            app.go_on("writing")?;
            write_changes(app, workspace, &changes, Target::Worktree)?;
        }
        let text: Vec<u8> = certain.iter().flat_map(|edit| edit.patch.clone()).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        let is_shown = app.redactor().redact(&text).findings.is_empty();
        if !is_shown {
            app.note("the patch is not shown: a secret is near the imports");
        }
        self.document.patch = (self.found && is_shown).then_some(text);
        Ok(())
    }
}

// What to look for, by file.
fn find_wanted(
    request: &HintRequest,
    workspace: &Workspace,
    found: Option<&Diagnosis>,
) -> Result<BTreeMap<RepoPath, Wanted>> {
    let mut lacks = found.map(Wanted::from_diagnosis).unwrap_or_default();
    request.names.iter().for_each(|name| lacks.add_name(name));
    let files = match &request.file {
        Some(typed) => find_named(workspace, typed)?,
        None => found.map(hint::lacking).unwrap_or_default(),
    };
    match files.as_slice() {
        [] if lacks != Wanted::default() => {
            let error = AppError::usage("the log names no file in this repository");
            Err(error.hint("pass the file with `--file`"))
        }
        // Who names the file asks for it.
        [file] if found.is_none() => Ok(BTreeMap::from([(file.clone(), lacks)])),
        files => Ok(hint::wanted(workspace.source.as_ref(), files, &lacks)),
    }
}

/// Describes a remedy in one line.
pub(super) fn in_words(remedy: &Remedy) -> String {
    match &remedy.command {
        Some(line) => format!("{}: `{line}`", remedy.problem),
        None => remedy.problem.clone(),
    }
}
