//! Runs the failing tests once more under a trace.

use super::alone::{is_path, last_runner};
use super::commands::{CommandsAt, CommandsRun};
use super::error::RepairError;
use super::run::Session;
use super::setup::Commands;
use crate::exec::Stop;
use crate::model::Traced;
use crate::runners::{WithOthers, with_others};
use crate::trace::Tracing;

/// Runs failing tests once more, with those beside them, and records which lines run. The first run is reported as any
/// other; nothing else of it rests on what was recorded.
///
/// # Errors
/// As [`CommandsAt::run`].
pub fn run_traced(
    how: &CommandsAt<'_>,
    plan: &WithOthers,
    stop: &Stop,
) -> Result<(CommandsRun, Traced), RepairError> {
    let given = &how.commands.environment;
    let half = how.limit.all.unwrap_or(how.limit.each) / 2;
    // Passing tests are traced only within this time, because they are a bonus.
    let wanted = (plan.first.as_slice(), half.as_secs().min(20));
    let tracing = Tracing::prepare(how.place.private(), how.place.root(), given, wanted).ok();
    let own = tracing.iter().flat_map(|tracing| &tracing.environment);
    let line = tracing.as_ref().map(|tracing| tracing.traced_line(&plan.line));
    let commands = Commands {
        lines: vec![line.unwrap_or_else(|| plan.line.clone())],
        environment: given.iter().chain(own).cloned().collect(),
        ..how.commands.clone()
    };
    let how = CommandsAt {
        commands: &commands,
        ..*how
    };
    let ran = how.run(stop)?;
    let traced = tracing.map(|tracing| tracing.read()).unwrap_or_default();
    Ok((ran, traced))
}

impl Session<'_> {
    /// Records once which definitions the failing tests enter, before an agent is asked; nothing is known where they
    /// cannot be run alone.
    pub(super) fn trace_run(&mut self) -> Result<(), RepairError> {
        let setup = self.asked;
        let [line] = setup.commands.lines.as_slice() else {
            return Ok(());
        };
        if self.seen.traced.is_some() || !setup.policy.trace || self.seen.failed.is_empty() {
            return Ok(());
        }
        let source = self.stage.place.source()?;
        let named = last_runner(&self.command_files(&source));
        let Some(plan) = with_others(line, named, &self.seen.failed, &|word| {
            is_path(&source, setup.prefix, word)
        }) else {
            return Ok(());
        };
        let began = self.stage.journal.seconds();
        let how = self.stage.commands_at(&setup.commands, &source);
        let (ran, traced) = run_traced(&how, &plan, self.stage.stop)?;
        let why = "to see what the failing tests enter".to_owned();
        self.stage.note_run(why, false, began);
        self.stage.place.reset()?;
        self.stage.interrupted |= ran.interrupted;
        self.seen.traced = Some(traced).filter(|traced| traced.failing > 0);
        Ok(())
    }
}
