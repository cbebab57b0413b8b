//! The task of `mendit check` and `mendit apply`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::flags::{request, word};
use super::{App, AppError, Result, runs};
use crate::git::{IndexChange, Repository};
use crate::model::{PatchVerdict, TestChanges, Verdict};
use crate::parallel;
use crate::patch::{
    After, Change, JudgeOptions, Judged, Recovered, WriteError, is_interrupted, judge,
    judge_merged, recover, write_worktree,
};
use crate::state::StateHome;
use crate::workspace::{At, Workspace};

request! {
/// How a patch is checked.
#[derive(Default)]
PatchRequest {
    /// The patch, in any accepted format.
    #[arg(skip)] patch: Vec<u8>;
    /// Apply git's rules, without corrections [setting: patch.strict]
    #[arg(long)] strict: bool => on patch.strict;
    /// Apply the patch in reverse
    #[arg(short = 'R', long)] reverse: bool;
    /// Merge a git diff that does not fit from the blobs that its index lines name
    #[arg(long)] three_way: bool;
    /// Strip N leading path components, instead of detecting how many
    #[arg(short = 'p', value_name = "N")] strip: Option<usize>;
    /// Put DIR before every path of the patch
    #[arg(id = "below", long = "directory", value_name = "DIR", default_value = "", hide_default_value = true)]
    directory: String;
    /// Allow changes to protected files that match; repeatable
    /// [setting: patch.allow-protected]
    #[arg(long, value_name = "GLOB")] allow_protected: Vec<String> => add patch.allow_protected;
    /// How to treat changed assertions in a patch that also changes product code [default: warn] [setting: patch.tests]
    #[arg(long, value_name = "warn|deny", value_parser = word::<TestChanges>)] tests: Option<TestChanges> => set patch.tests;
    /// Accept placeholders, partial whole files and text that no longer parses
    #[arg(long)] as_written: bool;
    /// Validate against a commit instead of the worktree
    #[arg(long, value_name = "REV", conflicts_with = "index")] rev: Option<String>;
    /// Validate against the index, which must match the worktree
    #[arg(long)] index: bool;
}
}

/// Where a patch that applies is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The files of the worktree.
    Worktree,
    /// Worktree and index.
    Index,
    /// The index alone.
    Cached,
    /// Nowhere.
    DryRun,
}

/// Validates a patch and changes nothing.
///
/// # Errors
/// A repository that cannot be read, or a malformed glob.
pub fn check_patch(app: &App, request: &PatchRequest) -> Result<Judged> {
    Ok(validate(app, request)?.1)
}

/// Validates a patch; when it applies, writes all of it or nothing.
///
/// # Errors
/// As [`check_patch`], and what the writing met.
pub fn apply_patch(app: &App, request: &PatchRequest, target: Target) -> Result<Judged> {
    let (workspace, judged) = validate(app, request)?;
    let needs_files = matches!(target, Target::Worktree | Target::Index);
    if workspace.root.is_none() && needs_files {
        return Err(AppError::bare("")
            .hint("write a tree or a commit instead, with `--tree` or `--commit`"));
    }
    if !judged.verdict.verdict.applies() || target == Target::DryRun {
        return Ok(judged);
    }
    // The last moment at which a cancelled call changes nothing.
    app.go_on("writing")?;
    write_changes(app, &workspace, &judged.changes, target)?;
    Ok(judged)
}

/// Validates a patch against a commit; when it applies, writes the tree that it makes, with a message also a commit on
/// top, and nothing else. Gives the id of what was written.
///
/// # Errors
/// As [`check_patch`]; when the directory is not in a git repository, or objects cannot be written.
pub fn write_objects(
    app: &App,
    request: &PatchRequest,
    message: Option<&str>,
) -> Result<(Judged, Option<String>)> {
    let base = request.rev.as_deref().unwrap_or("HEAD");
    let request = PatchRequest {
        rev: Some(base.to_owned()),
        ..request.clone()
    };
    let (workspace, mut judged) = validate(app, &request)?;
    let git = workspace.git.as_ref();
    let Some(git) = git.filter(|_| judged.verdict.verdict.applies()) else {
        return Ok((judged, None));
    };
    app.go_on("writing")?;
    let tree = git.write_tree(base, &index_changes(git, &judged.changes)?)?;
    let commit = message.map(|message| git.write_commit(&tree, base, message));
    let written = commit.transpose()?.unwrap_or_else(|| tree.clone());
    judged.verdict.tree_id = Some(tree);
    Ok((judged, Some(written)))
}

/// Undoes an apply that was interrupted, and says which.
///
/// # Errors
/// A repository without files, or files that others changed meanwhile.
pub fn recover_apply(app: &App) -> Result<Recovered> {
    let workspace = app.worktree()?;
    let root = workspace.root.as_ref().ok_or_else(|| AppError::bare(""))?;
    Ok(recover(root, runs::state(app)?.directory())?)
}

/// A patch of a batch, or a prediction of SWE-bench.
#[derive(Deserialize)]
struct Job {
    #[serde(default, alias = "instance_id")]
    id: Value,
    #[serde(alias = "model_patch")]
    patch: String,
}

/// Reads the jobs of a batch: JSON lines, or a prediction file that is one list or a map from instances
/// to predictions.
fn read_jobs(input: &[u8]) -> Result<Vec<Job>> {
    let values = serde_json::Deserializer::from_slice(input).into_iter::<Value>();
    let values: Result<Vec<Value>, _> = values.collect();
    let values = values.map(|mut values| match (values.pop(), values.is_empty()) {
        (Some(Value::Array(list)), true) => list,
        (Some(Value::Object(map)), true) if map.values().all(Value::is_object) => map
            .into_iter()
            .map(|(id, mut value)| {
                value["instance_id"] = Value::String(id);
                value
            })
            .collect(),
        (last, _) => values.into_iter().chain(last).collect(),
    });
    let jobs = values.and_then(|values| values.into_iter().map(serde_json::from_value).collect());
    jobs.map_err(|error| AppError::usage(format!("--batch: a line is not a job: {error}")))
}

/// The verdict of one job of a batch.
#[derive(Debug, Serialize)]
pub struct BatchAnswer {
    /// As the job had it.
    pub id: Value,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: PatchVerdict,
}

/// Validates the patches of JSON lines `{"id", "patch"}`, or of a prediction file of SWE-bench, in parallel against one
/// frozen source. The answers come in the order of the lines, some at a time.
///
/// # Errors
/// A line that is no job; a repository that cannot be read; what `take` gives.
pub fn check_batch(
    app: &App,
    request: &PatchRequest,
    take: &mut dyn FnMut(Vec<BatchAnswer>) -> Result<()>,
) -> Result<()> {
    let workspace = app.workspace(request.at())?;
    let mut options = request.options(app)?;
    // A batch checks syntax only, because resolving imports of thousands of patches takes too long.
    if options.after == After::Reported {
        options.after = After::Parses;
    }
    for part in read_jobs(&request.patch)?.chunks(256) {
        let answers = parallel::map(part, |job| {
            let judged = judge(job.patch.as_bytes(), workspace.source.as_ref(), &options);
            BatchAnswer {
                id: job.id.clone(),
                verdict: with_canonical(judged),
            }
        });
        take(answers)?;
    }
    Ok(())
}

/// The verdict with the canonical patch in it, when it applies.
pub fn with_canonical(mut judged: Judged) -> PatchVerdict {
    if judged.verdict.verdict.applies() {
        judged.verdict.canonical_patch = String::from_utf8(judged.canonical_patch()).ok();
    }
    judged.verdict
}

impl PatchRequest {
    // What the patch is validated against.
    fn at(&self) -> At<'_> {
        match &self.rev {
            Some(revision) => At::Revision(revision),
            None if self.index => At::Index,
            None => At::Named,
        }
    }

    fn options(&self, app: &App) -> Result<JudgeOptions<'_>> {
        let settings = &app.settings().patch;
        Ok(JudgeOptions {
            strict: settings.strict,
            tests: settings.tests,
            after: After::Reported,
            reverse: self.reverse,
            strip: self.strip,
            directory: self.directory.as_str().into(),
            as_written: self.as_written,
            allowed: app.allowed()?,
            ..JudgeOptions::default()
        })
    }
}

fn validate(app: &App, request: &PatchRequest) -> Result<(Workspace, Judged)> {
    let workspace = app.workspace(request.at())?;
    // It may be why a patch does not apply.
    let state = workspace.root.as_ref().zip(StateHome::open().ok());
    let state = state.and_then(|(root, home)| home.repository(root).ok());
    if state.is_some_and(|state| is_interrupted(state.directory())) {
        app.note(&WriteError::Interrupted.to_string());
    }
    app.go_on("validating")?;
    let options = request.options(app)?;
    let judged = judge(&request.patch, workspace.source.as_ref(), &options);
    let is_open = !judged.applies() && judged.verdict.verdict != Verdict::AlreadyApplied;
    let git = workspace.git.as_ref();
    if let Some(git) = git.filter(|_| request.three_way && is_open) {
        let source = workspace.source.as_ref();
        let merged = judge_merged(&request.patch, source, git, options);
        return Ok((workspace, merged.unwrap_or(judged)));
    }
    Ok((workspace, judged))
}

/// Writes changes to the worktree, the index or both: all or nothing.
pub(super) fn write_changes(
    app: &App,
    workspace: &Workspace,
    changes: &[Change],
    target: Target,
) -> Result<()> {
    let state = runs::state(app)?;
    let root = workspace.root.as_ref().filter(|_| target != Target::Cached);
    // Who reads the index has a repository.
    let is_staged = matches!(target, Target::Index | Target::Cached);
    let git = workspace.git.as_ref().filter(|_| is_staged);
    let staged = git.map(|git| index_changes(git, changes)).transpose()?;
    if let Some(root) = root {
        write_worktree(root, state.directory(), changes)?;
    }
    let Some((git, entries)) = git.zip(staged) else {
        return Ok(());
    };
    let written = git.write_index(&entries, target == Target::Index);
    // Files and index change together: files that the index does not follow are put back.
    if written.is_err()
        && let Some(root) = root
    {
        let back: Vec<Change> = changes.iter().map(Change::undone).collect();
        write_worktree(root, state.directory(), &back)?;
    }
    Ok(written?)
}

// The changes as entries of an index, their contents stored as blobs.
fn index_changes(git: &Repository, changes: &[Change]) -> Result<Vec<IndexChange>> {
    let staged = changes.iter().map(|change| {
        let after = change.after.as_ref();
        let blob = after.map(|after| git.store_blob(&after.bytes)).transpose()?;
        Ok(IndexChange {
            path: change.path.clone(),
            entry: blob.zip(after.map(|after| after.mode)),
        })
    });
    staged.collect()
}
