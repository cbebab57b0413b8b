use std::ffi::OsString;

use super::files::{to_json, write_file};
use super::patch::{PatchRequest, Target, apply_patch};
use super::repair::{FixRequest, Repaired, repair_repository};
use super::runs::{RerunSpec, RunStore, secret};
use super::{App, AppError, Progress};
use crate::model::{Code, Exit, StopReason as S};

/// What came of it.
pub struct Fixed {
    /// The repair.
    pub repaired: Repaired,
    /// The command that must pass.
    pub command: String,
}

impl Fixed {
    /// Whether the patch may be written without a look at it: the tests that failed pass with it.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.repaired.result.status.is_success()
    }

    /// Whether the command still fails, and the patch is nothing but certain imports that helped.
    #[must_use]
    pub fn is_part(&self) -> bool {
        let result = &self.repaired.result;
        let moved = [S::Interrupted, S::WorktreeChanged, S::WorkplaceUnused];
        !moved.contains(&result.stop_reason) && result.certain && result.remaining.is_some()
    }
}

/// Repairs what the last run failed with, in a place of its own: nothing is written into the
/// worktree.
///
/// # Errors
/// When nothing was run yet, the last run passed, or the repair cannot be run.
pub fn find_fix(
    app: &mut App,
    request: &FixRequest,
    progress: &dyn Progress,
) -> Result<Fixed, AppError> {
    let line = if request.asks() {
        failing_command(app, &request.command)?
    } else {
        app.settings().test.command.0.join(" && ")
    };
    Ok(Fixed {
        repaired: repair_repository(app, request, progress)?,
        command: app.redactor().redact(&line).text.into_owned(),
    })
}

/// Writes the patch of a fix into the worktree, after the same judgement as any other; whether it
/// stands there is then told in the result.
///
/// # Errors
/// As [`apply_patch`].
pub fn write_fix(app: &App, fixed: &mut Fixed, progress: &dyn Progress) -> Result<(), AppError> {
    let repaired = &mut fixed.repaired;
    let Some(patch) = repaired.whole_patch() else {
        let message = "the change is not written: a secret stands in or beside it, and what is kept of it is masked";
        return Err(AppError::new(Code::U303, message)
            .hint("`mendit fix --yes --test CMD` writes it as it makes it"));
    };
    let request = PatchRequest {
        patch: patch.into(),
        ..PatchRequest::default()
    };
    let (judged, _) = apply_patch(app, &request, &Target::Worktree, progress)?;
    repaired.result.applied = judged.verdict.verdict.applies();
    if repaired.result.applied {
        let result = to_json(&repaired.result)?;
        for folder in [&repaired.kept, &repaired.folder] {
            write_file(&folder.join("result.json"), &result)?;
        }
    }
    Ok(())
}

/// The command that is to be mended: that of the settings, the one that is typed, or the last that failed.
/// It stands in the settings from then on, and is run from where it was.
pub(super) fn failing_command(app: &mut App, typed: &[OsString]) -> Result<String, AppError> {
    if !app.settings().test.command.0.is_empty() && typed.is_empty() {
        return Ok(app.settings().test.command.0.join(" && "));
    }
    let again = rerun_spec(app, typed)?;
    let line = again.line().ok_or_else(secret)?;
    enter(app, &again)?;
    let test = &mut app.settings_mut().test;
    test.command.0 = vec![line.clone()];
    let mut env = again.env;
    env.retain(|variable| !test.env.contains(variable));
    test.env.extend(env);
    Ok(line)
}

fn rerun_spec(app: &App, typed: &[OsString]) -> Result<RerunSpec, AppError> {
    if let [one] = typed
        && let path = std::path::Path::new(one)
        && path.components().count() == 1
        && path.is_file()
    {
        let name = path.display();
        let message = format!("a command is expected, and `{name}` is a file");
        return Err(AppError::usage(message)
            .hint("`mendit fix` alone takes the last run, `mendit fix CMD` runs a command first"));
    }
    let store = RunStore::open(app)?;
    if !typed.is_empty() {
        return Ok(RerunSpec::new(app, typed, &store.prefix));
    }
    match store.last_command() {
        Some(last) if !last.passed() => last.rerun.ok_or_else(secret),
        Some(last) => {
            let line = last.line().unwrap_or_default();
            let error = AppError::new(Code::U309, format!("the last run passed: `{line}`"));
            let error = error.hint("`mendit fix CMD` fixes what another command fails with");
            Err(error.exit(Exit::PersonMustAct))
        }
        None => Err(AppError::new(Code::U309, "nothing was run here yet")
            .hint("`mendit run CMD` first, or `mendit fix CMD`, such as `mendit fix pytest`")),
    }
}

// The command is repaired from where it was run.
pub(super) fn enter(app: &mut App, again: &RerunSpec) -> Result<(), AppError> {
    let here = RunStore::open(app)?.prefix;
    if here == again.prefix {
        return Ok(());
    }
    let depth = here.split('/').filter(|part| !part.is_empty()).count();
    let root = app.directory().ancestors().nth(depth);
    let directory = root.unwrap_or(app.directory()).join(&again.prefix);
    if !directory.is_dir() {
        let message = format!("the folder of the last run is gone: `{}`", again.prefix);
        return Err(AppError::new(Code::U309, message).hint("`mendit run CMD` where it is now"));
    }
    app.enter(directory);
    Ok(())
}
