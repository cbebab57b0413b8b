//! Everything that a run is given by its user.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::plan::Policy;
use super::task::Task;
use crate::agent::Adapter;
use crate::context::Request;
use crate::git::Repository;
use crate::model::{AgentProtocol, Diagnosis, FailurePacket, RepoPath, SandboxMode, WorkplaceMode};
use crate::policy::{Allowed, ReadPolicy, Redactor};
use crate::source::Source;
use crate::state::Known;

/// Everything a run is given. Nothing in it comes from a file of the repository unless the user
/// said so.
pub struct Setup<'a> {
    /// The worktree's root; only ever written with [`Setup::apply`].
    pub root: &'a Path,
    /// The directory below it in which commands start; `""` is the root.
    pub prefix: &'a str,
    /// Its repository.
    pub git: Option<&'a Repository>,
    /// Its files.
    pub source: &'a dyn Source,
    /// Which workplace commands and agents get.
    pub workplace: WorkplaceMode,
    /// Where the isolated copy is kept between runs.
    pub slot: &'a Path,
    /// The run's folder, out of reach of what is run: only this one is read back.
    pub folder: &'a Path,
    /// Where a copy of it is written for people and CI.
    pub copy: Option<&'a Path>,
    /// Where writing into the worktree keeps its journal.
    pub state: &'a Path,
    /// What earlier runs found out about its files and commits.
    pub known: &'a Known,
    /// Masks secrets in all that is written and sent.
    pub redactor: &'a Redactor,
    /// What may be read and sent.
    pub read: &'a ReadPolicy,
    /// Caps, profile and history for packets; the rest is filled in for each.
    pub request: Request,
    /// The commands that must pass.
    pub commands: Commands,
    /// Who is asked.
    pub agent: Agent<'a>,
    /// What may be spent.
    pub policy: Policy,
    /// Which protected files a patch may change.
    pub allowed: Allowed,
    /// What is wanted beyond passing commands.
    pub task: Option<Task>,
    /// What a person types to fix the environment of a failure, a sentence each.
    pub remedies: &'a dyn Fn(&Diagnosis) -> Vec<String>,
    /// Ignored folders that the scratch copy links to, such as `node_modules`.
    pub linked_folders: Vec<RepoPath>,
    /// The last run that a person saw, where it failed with the commands on these very files.
    pub red: Option<Diagnosis>,
    /// Whether a patch that helps is put into the worktree.
    pub apply: bool,
    /// Whether what is in [`Setup::folder`] is continued.
    pub resume: bool,
}

/// The commands that must pass, and how they are run.
#[derive(Debug, Clone)]
pub struct Commands {
    /// Lines for a shell, run in order; the first that fails ends a run.
    pub lines: Vec<String>,
    /// Run once in the fresh copy before anything else.
    pub setup: Option<String>,
    /// For each; `None` measures it from the first run.
    pub timeout: Option<Duration>,
    /// Between the request to end and the kill.
    pub grace: Duration,
    /// Bytes of output for each.
    pub max_output: u64,
    /// Variables beyond the usual ones: `NAME` or `NAME=VALUE`.
    pub environment: Vec<String>,
    /// How far writing is confined.
    pub sandbox: SandboxMode,
    /// What they may write besides the isolated copy.
    pub writable: Vec<PathBuf>,
    /// Whether the network is refused.
    pub no_network: bool,
}

impl Commands {
    /// Every line that is run.
    pub fn all(&self) -> Vec<String> {
        self.lines.iter().chain(&self.setup).cloned().collect()
    }
}

/// Who is asked for a patch.
#[derive(Clone, Copy)]
pub enum Agent<'a> {
    /// No agent.
    None,
    /// A command.
    Command(&'a AgentCommand),
    /// A fake agent: returns the reply for a packet and the number of the call, from 1.
    Function(&'a (dyn Fn(&FailurePacket, u32) -> String + Sync)),
}

/// A command that is asked for a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// The line for a shell, with placeholders.
    pub command: String,
    /// How it is spoken to.
    pub protocol: AgentProtocol,
    /// What a table says of it beyond that.
    pub adapter: Option<&'static Adapter>,
    /// Variables it gets beyond the usual ones.
    pub environment: Vec<String>,
    /// What it may write besides the isolated copy.
    pub writable: Vec<PathBuf>,
}

impl Agent<'_> {
    /// Whether there is one.
    pub fn is_some(&self) -> bool {
        !matches!(self, Self::None)
    }
}
