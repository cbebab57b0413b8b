
use super::commands::{CommandsRun, run_commands};
use super::error::RepairError;
use super::limits::RunLimit;
use super::run::Session;
use super::setup::Commands;
use crate::exec::Stop;
use crate::model::Traced;
use crate::policy::Redactor;
use crate::proof::named_runners;
use crate::runners::{WithOthers, with_others};
use crate::source::Source;
use crate::trace::Tracing;
use crate::workplace::Workplace;

/// Where and how long failing tests are run under a trace.
#[derive(Clone, Copy)]
pub struct TraceRun<'a> {
    /// How commands are run; their lines are not.
    pub commands: &'a Commands,
    /// Where.
    pub place: &'a Workplace<'a>,
    /// The folder below it in which they start.
    pub prefix: &'a str,
    /// Masks secrets.
    pub redactor: &'a Redactor,
    /// The files there.
    pub source: &'a dyn Source,
    /// How long each run may take.
    pub limit: RunLimit,
}

impl TraceRun<'_> {
    /// Runs the commands without any trace.
    ///
    /// # Errors
    /// As [`run_commands`].
    pub fn run(&self, stop: &Stop) -> Result<CommandsRun, RepairError> {
        self.run_lines(self.commands, self.limit, stop)
    }

    fn run_lines(
        &self,
        commands: &Commands,
        limit: RunLimit,
        stop: &Stop,
    ) -> Result<CommandsRun, RepairError> {
        let (place, redactor) = (self.place, self.redactor);
        run_commands(
            commands,
            place,
            self.prefix,
            redactor,
            self.source,
            limit,
            stop,
        )
    }
}

/// Runs failing tests once more, with those beside them, and sees which lines run.
///
/// # Errors
/// As [`run_commands`].
pub fn run_traced(
    how: &TraceRun<'_>,
    plan: &WithOthers,
    stop: &Stop,
) -> Result<(CommandsRun, Traced), RepairError> {
    let given = &how.commands.environment;
    let half = how.limit.all.unwrap_or(how.limit.each) / 2;
    let wanted = (plan.first.as_slice(), half.as_secs().min(SECONDS_OF_OTHERS));
    let tracing = Tracing::prepare(how.place.private(), how.place.root(), given, wanted).ok();
    let own = tracing.iter().flat_map(|it| &it.environment);
    let commands = Commands {
        lines: vec![plan.line.clone()],
        environment: given.iter().chain(own).cloned().collect(),
        ..how.commands.clone()
    };
    let ran = how.run_lines(&commands, how.limit, stop)?;
    let traced = tracing.map(|it| it.read()).unwrap_or_default();
    Ok((ran, traced))
}

/// What the passing tests beside those that fail may take.
const SECONDS_OF_OTHERS: u64 = 20;

impl Session<'_> {
    /// Sees once which definitions the failing tests enter, before an agent is asked; nothing is known where they cannot
    /// be run alone.
    pub(super) fn trace(&mut self) -> Result<(), RepairError> {
        let setup = self.asked;
        let [line] = setup.commands.lines.as_slice() else {
            return Ok(());
        };
        if self.seen.traced.is_some() || !setup.policy.trace || self.seen.failed.is_empty() {
            return Ok(());
        }
        let source = self.stage.place.source()?;
        let named = named_runners(&self.command_files(&source)).last().copied();
        let is_path = |word: &str| super::is_path(&source, setup.prefix, word);
        let Some(plan) = with_others(line, named, &self.seen.failed, &is_path) else {
            return Ok(());
        };
        let how = TraceRun {
            commands: &setup.commands,
            place: &self.stage.place,
            prefix: setup.prefix,
            redactor: setup.redactor,
            source: &source,
            limit: self.stage.run_limit(),
        };
        let began = self.stage.journal.seconds();
        let (ran, traced) = run_traced(&how, &plan, self.stage.stop)?;
        let why = "to see what the failing tests enter".to_owned();
        self.stage.note_run(why, false, began);
        self.stage.place.reset()?;
        self.stage.interrupted |= ran.interrupted;
        self.seen.traced = Some(traced).filter(|traced| traced.failing > 0);
        Ok(())
    }
}
