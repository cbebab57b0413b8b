//! The isolated copy, run folder and sandbox of a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::commands::{CommandsAt, CommandsRun};
use super::error::RepairError;
use super::journal::{Journal, round_millis};
use super::limits::{RunLimit, first_limit};
use super::setup::{Commands, Setup};
use crate::exec::{SandboxState, Stop};
use crate::model::{
    Code, CommandRun, Event, EventKind, NotConfined, Refused, SandboxMode, TaskIds,
};
use crate::source::Source;
use crate::workplace::{Plan, Workplace};

/// Where a run happens: the isolated copy, the run's folder, and what the sandbox does there.
pub(super) struct Stage<'s> {
    setup: &'s Setup<'s>,
    pub(super) stop: &'s Stop,
    watch: &'s mut dyn FnMut(&Event),
    pub(super) journal: Journal<'s>,
    pub(super) place: Workplace<'s>,
    /// For one run of a command.
    pub(super) limit: Duration,
    pub(super) runs: Vec<CommandRun>,
    pub(super) sandbox: Confinement,
    pub(super) interrupted: bool,
    /// Changes of the worktree during the run that the commands see, in words.
    pub(super) moved: Option<String>,
}

/// The state of the sandbox, and the writes that it refused.
#[derive(Default)]
pub(super) struct Confinement {
    pub(super) state: Option<SandboxState>,
    pub(super) not_confined: Vec<NotConfined>,
    pub(super) refused: BTreeSet<Refused>,
}

impl<'s> Stage<'s> {
    pub(super) fn open(
        setup: &'s Setup<'s>,
        stop: &'s Stop,
        watch: &'s mut dyn FnMut(&Event),
        before: Duration,
    ) -> Result<Self, RepairError> {
        let journal = Journal::open(setup.folder, setup.copy, setup.redactor, before)?;
        let plan = Plan {
            choice: setup.workplace,
            slot: setup.slot,
            source: setup.source,
            root: setup.root,
            git: setup.git,
            linked_folders: setup.linked_folders.clone(),
            commands: &setup.commands.lines,
            closed: [setup.state, setup.folder].map(Path::to_owned).to_vec(),
        };
        let place = Workplace::open(&plan)?;
        let limit = setup.commands.timeout;
        Ok(Self {
            setup,
            stop,
            watch,
            journal,
            place,
            limit: limit.unwrap_or_else(|| first_limit(setup.policy.max_seconds)),
            runs: Vec::new(),
            sandbox: Confinement::default(),
            interrupted: false,
            moved: None,
        })
    }

    /// Writes an event and shows it.
    pub(super) fn event(&mut self, kind: EventKind) -> Result<(), RepairError> {
        tracing::debug!("{kind:?}");
        let event = self.journal.event(kind)?;
        (self.watch)(&event);
        Ok(())
    }

    pub(super) fn task_ids(&self) -> TaskIds {
        let task = self.setup.task.as_ref();
        TaskIds {
            feature_id: task
                .and_then(|task| task.id.as_ref())
                .map(|id| self.setup.redactor.mask(id)),
            issue_number: task
                .and_then(|task| task.issue.as_ref())
                .map(|id| self.setup.redactor.mask(id)),
        }
    }

    /// Returns the limit for one run of the commands, now.
    pub(super) fn run_limit(&self) -> RunLimit {
        let all = self.setup.policy.max_seconds;
        let left = all.map(|all| (all - self.journal.seconds()).max(0.0));
        RunLimit {
            each: self.limit,
            all: left.and_then(|left| Duration::try_from_secs_f64(left).ok()),
        }
    }

    /// Returns commands as they are run here, now.
    pub(super) fn commands_at<'a>(
        &'a self,
        commands: &'a Commands,
        source: &'a dyn Source,
    ) -> CommandsAt<'a> {
        CommandsAt {
            commands,
            place: &self.place,
            prefix: self.setup.prefix,
            redactor: self.setup.redactor,
            source,
            limit: self.run_limit(),
        }
    }

    /// Runs the commands, or `alone` in their place, on the isolated copy as it is.
    pub(super) fn run(
        &mut self,
        alone: Option<&str>,
        why: &str,
    ) -> Result<CommandsRun, RepairError> {
        let setup = self.setup;
        let mut commands = setup.commands.clone();
        let suffix = alone.map_or("", |_| " (only the failing tests)");
        if let Some(line) = alone {
            commands.lines = vec![line.to_owned()];
        }
        let source = self.place.source()?;
        let started = self.journal.seconds();
        let ran = self.commands_at(&commands, &source).run(self.stop)?;
        self.note_run(format!("{why}{suffix}"), alone.is_none(), started);
        self.interrupted |= ran.interrupted;
        self.report_refused(&ran.refused, false)?;
        if self.sandbox.state.replace(ran.sandbox).is_none() {
            self.sandbox.not_confined.clone_from(&ran.not_confined);
            let is_open = ran.sandbox != SandboxState::Enforced;
            if is_open && setup.commands.sandbox != SandboxMode::Off {
                self.event(EventKind::Sandbox {
                    code: Code::R211,
                    sandbox: ran.sandbox.as_str().to_owned(),
                    not_confined: ran.not_confined.clone(),
                })?;
            }
        }
        Ok(ran)
    }

    pub(super) fn note_run(&mut self, why: String, whole: bool, started: f64) {
        let seconds = round_millis(self.journal.seconds() - started);
        self.runs.push(CommandRun {
            why,
            seconds,
            whole,
        });
    }

    /// Checks whether the worktree changed below the overlay, so that no run says anything about a patch.
    pub(super) fn has_moved(&mut self) -> Result<bool, RepairError> {
        if self.moved.is_none()
            && let Some(path) = self.place.moved()?
        {
            self.moved = Some(format!(
                "`{path}` was changed in the worktree during the run, so the tests ran with that edit: start again, \
                 or use `--workplace copy`, which keeps your edits out of the run"
            ));
        }
        Ok(self.moved.is_some())
    }

    /// Reports each place once that the sandbox refused to be written.
    pub(super) fn report_refused(
        &mut self,
        paths: &[PathBuf],
        agent: bool,
    ) -> Result<(), RepairError> {
        for path in paths {
            let path = path.to_string_lossy();
            let path = self.setup.redactor.mask(&path);
            let refused = Refused { path, agent };
            if self.sandbox.refused.insert(refused.clone()) {
                self.event(EventKind::SandboxRefused(refused))?;
            }
        }
        Ok(())
    }
}
