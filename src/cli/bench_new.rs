use std::path::PathBuf;
use std::time::Duration;

use super::global::Global;
use super::{CliError, Exit, Output};
use crate::bench::{Skeleton, new_fixture};
use crate::exec::{Limits, Stop};
use crate::git::Repository;
use crate::model::Code;
use crate::source::{Untracked, Worktree};

/// Make a fixture from a failing repository.
///
/// Runs the test in FROM, copies its files (those that git would not ignore), and writes a
/// fixture.toml with what the failing test shows. The reference patch is yours to add.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The failing repository
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// The test that fails in it, as a line for the shell
    #[arg(long, value_name = "CMD")]
    test: String,
    /// The fixture's folder; its name is the fixture's
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Seconds for the test
    #[arg(long, value_name = "S", default_value = "120")]
    timeout: u32,
}

pub(super) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let root = args
        .from
        .canonicalize()
        .map_err(|error| CliError::unreadable(&args.from.display().to_string(), &error))?;
    let threads = global.threads.unwrap_or(0);
    let own = Repository::discover(&root)?.filter(|git| git.workdir() == Some(root.as_path()));
    let files = match own {
        Some(git) => Worktree::open(&root, git.tracked()?, threads)?,
        None => Worktree::open(&root, Box::new(Untracked), threads)?,
    };
    let stop = Stop::install()
        .map_err(|error| CliError::environment(format!("cannot listen to Ctrl-C: {error}")))?;
    let skeleton = Skeleton {
        files: &files,
        root: &root,
        test: &args.test,
        limits: Limits {
            timeout: Some(Duration::from_secs(u64::from(args.timeout))),
            ..Limits::default()
        },
        to: &args.to,
    };
    let Some(made) = new_fixture(&skeleton, &stop)? else {
        let said = format!(
            "the test passes in `{}`: nothing is broken",
            args.from.display()
        );
        return Err(CliError::new(Code::F201, said));
    };
    let to = args.to.display();
    output.data(&format!(
        "wrote {to}/fixture.toml: {} ({})\n\
         next:\n  \
         1. repair a copy of it and write `git diff` to {to}/reference.patch\n  \
         2. correct title, needed and level in {to}/fixture.toml\n  \
         3. mendit bench --verify {to}\n",
        made.diagnosis.kind, made.outcome.end
    ))?;
    Ok(Exit::Yes)
}
