use std::time::{Duration, Instant};

use super::alone::{is_path, last_runner};
use super::commands::{CommandsAt, CommandsRun};
use super::error::RepairError;
use super::limits::RunLimit;
use super::run::Session;
use super::setup::Commands;
use crate::exec::Stop;
use crate::model::Traced;
use crate::runners::{WithOthers, with_others};
use crate::trace::Tracing;

/// Runs failing tests once more, then those beside them, and records which lines run. The first run is reported as any
/// other; nothing else of it rests on what was recorded.
///
/// # Errors
/// As [`CommandsAt::run`].
pub fn run_traced(
    how: &CommandsAt<'_>,
    plan: &WithOthers,
    stop: &Stop,
) -> Result<(CommandsRun, Traced), RepairError> {
    let run = |line: &str, limit: RunLimit, seconds: u64| {
        let given = &how.commands.environment;
        let (folder, root) = (how.place.private(), how.place.root());
        let tracing = Tracing::prepare(folder, root, given, (&plan.first, seconds)).ok();
        let own = tracing.iter().flat_map(|it| &it.environment);
        let commands = Commands {
            lines: vec![line.to_owned()],
            environment: given.iter().chain(own).cloned().collect(),
            ..how.commands.clone()
        };
        let how = CommandsAt {
            commands: &commands,
            limit,
            ..*how
        };
        let ran = how.run(stop)?;
        let traced = tracing.map(|it| it.read()).unwrap_or_default();
        Ok::<_, RepairError>((ran, traced))
    };
    let began = Instant::now();
    let half = how.limit.all.unwrap_or(how.limit.each) / 2;
    let (ran, mut traced) = run(&plan.line, how.limit, half.as_secs().min(SECONDS_OF_OTHERS))?;
    let is_over = ran.interrupted || ran.cut_short || ran.observed.passed || traced.failing == 0;
    if let Some(others) = plan.others.as_ref().filter(|_| !is_over) {
        let each = began.elapsed().max(how.limit.each.min(LEAST));
        let (_, passing) = run(others, RunLimit { each, ..how.limit }, 0)?;
        if !passing.files.is_empty() {
            traced.add_passing(&passing);
        }
    }
    Ok((ran, traced))
}

/// What the passing tests beside those that fail may take.
const SECONDS_OF_OTHERS: u64 = 20;
const LEAST: Duration = Duration::from_secs(10);

impl Session<'_> {
    /// Records once which definitions the failing tests enter, before an agent is asked; nothing is known where they
    /// cannot be run alone.
    pub(super) fn trace(&mut self) -> Result<(), RepairError> {
        let setup = self.asked;
        let [line] = setup.commands.lines.as_slice() else {
            return Ok(());
        };
        if self.seen.traced.is_some() || !setup.policy.trace || self.seen.failed.is_empty() {
            return Ok(());
        }
        let source = self.stage.place.source()?;
        let named = last_runner(&self.command_files(&source));
        let is_path = |word: &str| is_path(&source, setup.prefix, word);
        let Some(plan) = with_others(line, named, &self.seen.failed, &is_path) else {
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
