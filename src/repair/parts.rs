use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::error::RepairError;
use super::history::{History, PartsRun, SplitEnd, failing};
use super::limits::Spent;
use super::plan::Policy;
use super::session::Session;
use super::split::{Part, Split, SplitInput, split};
use super::task::{Estimate, Task};
use crate::model::{MentionedFile, Observed, PartResult, RepoPath, StopReason};

impl Session<'_> {
    /// Cuts a task and runs its parts one after the other on one state, with shares of what is
    /// left.
    pub(super) fn split(
        &mut self,
        reason: &'static str,
        policy: &Policy,
        history: &mut History,
        task: Option<&Task>,
        focus: &[String],
    ) -> Result<SplitEnd, RepairError> {
        let timed_out = reason == "timeout_auto_split";
        let event = if timed_out {
            "timeout_auto_split"
        } else {
            "complexity_split"
        };
        let message = json!({ "reason": reason });
        self.event_of_task("info", &format!("{event}_started"), message)?;
        let none = Task::default();
        let task = task.unwrap_or(&none);
        let estimate = if timed_out {
            Estimate::after_timeout()
        } else {
            task.estimate()
        };
        let plan = self.split_plan(task, estimate, policy, history, focus)?;
        let whole = std::mem::take(&mut self.part);
        let name = match whole.as_str() {
            "" => "split.json".to_owned(),
            whole => format!("split-{whole}.json"),
        };
        self.journal.json(&name, &plan)?;
        if plan.parts.is_empty() {
            let message = json!({ "error": plan.reason });
            let level = if timed_out { "error" } else { "warning" };
            self.event_of_task(level, &format!("{event}_failed"), message)?;
            self.part = whole;
            return Ok(SplitEnd::Failed(plan.reason));
        }
        let message = json!({ "sub_issues_count": plan.parts.len() });
        self.event_of_task("info", &format!("{event}_success"), message)?;
        let ran = self.run_parts(&plan.parts, &whole, task, policy, history)?;
        self.part = whole;
        Ok(SplitEnd::Ran(ran))
    }

    fn split_plan(
        &self,
        task: &Task,
        estimate: Estimate,
        policy: &Policy,
        history: &History,
        focus: &[String],
    ) -> Result<Split, RepairError> {
        // A part is only split by what is its own.
        let is_whole = policy.depth == 0;
        let failing = failing(history).map_or(&[][..], |it| &it.failing_tests);
        let tests: Vec<String> = failing
            .iter()
            .filter(|test| is_whole || focus.contains(test))
            .cloned()
            .collect();
        let targets: Vec<RepoPath> = self
            .diagnosis
            .iter()
            .filter(|_| is_whole)
            .flat_map(|diagnosis| diagnosis.files.iter().filter_map(MentionedFile::repo_path))
            .collect();
        let input = SplitInput {
            task,
            tests: &tests,
            targets: &targets,
            commands: &self.setup.commands.lines,
        };
        Ok(split(&input, &self.place.source()?, estimate))
    }

    // Until one of them mends it all, the limits are reached, or it is stopped.
    fn run_parts(
        &mut self,
        planned: &[Part],
        whole: &str,
        task: &Task,
        policy: &Policy,
        history: &History,
    ) -> Result<PartsRun, RepairError> {
        let from = self.all.len();
        let started = self.journal.seconds();
        let mut parts = PartsRun {
            passed: false,
            ran: 0,
            reason: StopReason::BudgetExhausted,
            left: None,
        };
        let mut reasons = BTreeSet::new();
        for part in planned {
            let since = self.all.get(from..).unwrap_or_default();
            let seconds = history.seconds + self.journal.seconds() - started;
            let spent = Spent::of(history.attempts.iter().chain(since), seconds);
            let left = planned.len() - parts.ran;
            let share = match spent.share(policy, count(left), count(planned.len())) {
                Ok(share) => share,
                Err(why) => {
                    parts.left = Some((left, why));
                    break;
                }
            };
            let reason = self.run_part(part, whole, task, &share, history)?;
            parts.ran += 1;
            reasons.insert(reason.to_string());
            parts.reason = match reasons.len() {
                1 => reason,
                _ => StopReason::TestsFailed,
            };
            if (self.all.iter()).any(|it| it.proof.as_ref().is_some_and(|it| it.proven)) {
                parts.passed = true;
                parts.reason = StopReason::Fixed;
                break;
            }
            if self.interrupted || self.stop.requested() {
                break;
            }
        }
        Ok(parts)
    }

    // One part, as a task of its own on what those before it left.
    fn run_part(
        &mut self,
        part: &Part,
        whole: &str,
        task: &Task,
        share: &Policy,
        history: &History,
    ) -> Result<StopReason, RepairError> {
        let numbered = |at: usize| match whole {
            "" => at.to_string(),
            whole => format!("{whole}.{at}"),
        };
        let number = numbered(part.number);
        self.part.clone_from(&number);
        let fields = json!({
            "part": part.number,
            "number": number,
            "title": part.title,
            "tests": part.tests,
            "criteria": part.criteria,
        });
        self.event("info", "part_started", fields)?;
        let at = self.parts.len();
        self.parts.push(PartResult {
            number: number.clone(),
            title: part.title.clone(),
            depends_on: part.depends_on.iter().map(|it| numbered(*it)).collect(),
            status: None,
        });
        let mut own = History {
            baseline: self.standing(history),
            repeated: self.standing(history),
            heals: Some(0),
            ..History::default()
        };
        let end = self.drive(share, &mut own, Some(&task_of(part, task)), &part.tests)?;
        if let Some(part) = self.parts.get_mut(at) {
            part.status = Some(end.status);
        }
        let fields = json!({
            "part": part.number,
            "number": number,
            "status": end.status,
            "why": end.message,
        });
        self.event("info", "part_ended", fields)?;
        Ok(end.reason)
    }

    /// An event with what the task is called where it came from.
    pub(super) fn event_of_task(
        &mut self,
        level: &str,
        event: &str,
        mut fields: Value,
    ) -> Result<(), RepairError> {
        let task = self.setup.task.as_ref();
        for (name, id) in [
            ("feature_id", task.and_then(|it| it.id.as_ref())),
            ("issue_number", task.and_then(|it| it.issue.as_ref())),
        ] {
            if let Some(id) = id {
                fields[name] = json!(self.setup.redactor.redact(id).text);
            }
        }
        self.event(level, event, fields)
    }

    // What fails now: the last change that was kept says so, whichever part made it.
    fn standing(&self, history: &History) -> Option<Observed> {
        self.all
            .iter()
            .rev()
            .find(|it| it.kept)
            .and_then(|it| it.observed.clone())
            .or_else(|| history.baseline.clone())
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn task_of(part: &Part, whole: &Task) -> Task {
    Task {
        id: whole.id.clone(),
        issue: whole.issue.clone(),
        title: part.title.clone(),
        description: whole.description.clone(),
        whole: whole.whole.clone().or_else(|| Some(whole.title.clone())),
        criteria: part.criteria.clone(),
        methods: Vec::new(),
        targets: part.targets.iter().map(ToString::to_string).collect(),
        tests: part.tests.clone(),
    }
}
