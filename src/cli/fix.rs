//! The command `fix`: shows the diff and asks before it applies.

use super::args::{Form, Global, plain_forms};
use super::{AppError, Exit, Output, open_app, yes_if};
use crate::app::{
    App, FixRequest, Fixed, PatchRequest, Target, apply_patch, find_fix, known_undo,
    list_left_names, split_task, write_fix,
};
use crate::model::{Code, WhyChange};
use crate::report::{declined_text, diff_text, patch_text, run_text};

/// Fix the failure of the last run
///
/// Fixes without an LLM come first: certain imports, and names that tools suggest. With `--agent`, an
/// agent is asked after that. Every patch is validated and tested in an isolated copy; then the diff is shown,
/// and written if you agree. `--test` never prompts: the patch stays in the run's folder, or is written with `--yes`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/fix.txt").trim_ascii_end())]
pub(crate) struct FixArgs {
    #[command(flatten)]
    request: FixRequest,
    /// Output format
    #[arg(hide_short_help = true, long, value_parser = plain_forms(), default_value = "text")]
    format: Form,
}

impl FixArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let mut app = open_app(global, &self.request, output)?;
        if self.request.undo {
            return undo_fix(self, &app, global, output);
        }
        if self.request.split_only {
            let parts = split_task(&app, &self.request)?;
            let lines = parts.iter().map(|part| format!("{}. {}\n", part.number, part.title));
            output.print_document(self.format, &serde_json::json!({"parts": parts}), |_, _| {
                lines.collect()
            })?;
            return Ok(yes_if(!parts.is_empty()));
        }
        let mut fixed = find_fix(&mut app, &self.request)?;
        let json = self.format == Form::Json;
        if !self.request.asks() {
            let (result, folder) = (&fixed.result, fixed.folder.display().to_string());
            output.print_document(self.format, result, |_, _| run_text(result, &folder))?;
            return Ok(fixed.exit);
        }
        let patch = fixed.patch.clone().unwrap_or_default();
        if !json && !patch.is_empty() {
            if fixed.exit != Exit::Yes {
                output.note("best attempt, not a proven fix:");
            }
            output.print_painted(|color| diff_text(&patch, color))?;
        }
        let wanted = !patch.is_empty() && is_wanted(self, &fixed, output);
        if wanted {
            write_fix(&app, &mut fixed)?;
        }
        let (result, folder) = (&fixed.result, fixed.folder.display().to_string());
        let declined = fixed.exit == Exit::Yes && !patch.is_empty() && !wanted;
        let text = if declined { declined_text } else { run_text };
        output.print_document(self.format, result, |_, _| text(result, &folder))?;
        if fixed.exit != Exit::Yes || patch.is_empty() {
            return Ok(fixed.exit);
        }
        Ok(if fixed.result.applied {
            Exit::Yes
        } else if wanted {
            Exit::No
        } else {
            not_written(self, output)
        })
    }
}

// It asks, because the change is the user's own work.
fn undo_fix(args: &FixArgs, app: &App, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let (cause, patch) = known_undo(app)?;
    let json = args.format == Form::Json;
    if !json {
        output.print_painted(|color| diff_text(&patch, color))?;
    }
    output.note(&cause.message);
    if !args.request.yes && !output.ask_user("Revert it?").unwrap_or(false) {
        return Ok(not_written(args, output));
    }
    let request = PatchRequest {
        patch: patch.clone().into(),
        // The user asked to revert these changes, those of test support too.
        allow_protected: cause.changes.iter().map(|change| change.path.clone()).collect(),
        ..PatchRequest::default()
    };
    let app = open_app(global, &request, output)?;
    let judged = apply_patch(&app, &request, Target::Worktree)?;
    let applies = judged.verdict.verdict.applies();
    for note in list_left_names(&judged.changes) {
        output.note(&note);
    }
    output.print_document(args.format, &judged.verdict, |_, _| {
        if applies {
            let places = cause.changes.iter().map(WhyChange::place);
            let places = places.collect::<Vec<_>>().join(", ");
            return format!("reverted {places}\nnext: mendit run  (runs the tests again)\n");
        }
        patch_text(&judged.verdict, "the undo", patch.as_bytes(), false)
    })?;
    Ok(if applies { Exit::Yes } else { Exit::Refused })
}

// A patch that is neither proven nor certain is written only after the user has seen it.
fn is_wanted(args: &FixArgs, fixed: &Fixed, output: &Output) -> bool {
    let command = &fixed.command;
    let still_fails = fixed.result.remaining.is_some();
    if args.request.yes {
        let is_written = fixed.is_proven() || fixed.is_part();
        if !is_written && still_fails {
            output.note(&format!(
                "not applied: `{command}` still fails with this patch, and the fix is not certain"
            ));
        } else if !is_written {
            output.note("not applied: no test runner reported that the failing tests pass");
        }
        return is_written;
    }
    let question = if fixed.is_proven() {
        format!("`{command}` passes with this patch. Apply it?")
    } else if fixed.is_part() {
        format!("These imports are certain, but `{command}` still fails. Apply them?")
    } else {
        format!("It is not proven that this fixes `{command}`. Apply it?")
    };
    output.ask_user(&question).unwrap_or(false)
}

fn not_written(args: &FixArgs, output: &Output) -> Exit {
    use std::io::IsTerminal as _;
    if args.request.yes || std::io::stdin().is_terminal() {
        return Exit::No;
    }
    let flags = if args.request.undo { "--undo --yes" } else { "--yes" };
    let hint = format!("`mendit fix {flags}` applies the patch above without asking");
    let error = AppError::new(Code::U311, "not applied: stdin is not a terminal").hint(hint);
    output.print_error(&error)
}
