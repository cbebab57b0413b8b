use std::path::PathBuf;
use std::time::Duration;

use super::global::Global;
use super::{AppError, Exit, Output, open};
use crate::app::{NewFixtureRequest, make_fixture};

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

pub(super) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = NewFixtureRequest {
        from: args.from.clone(),
        test: args.test.clone(),
        to: args.to.clone(),
        timeout: Duration::from_secs(u64::from(args.timeout)),
    };
    let (kind, end) = make_fixture(&open(global, |_| {})?, &request)?;
    let to = args.to.display();
    output.text(&format!(
        "wrote {to}/fixture.toml: {kind} ({end})\n\
         next:\n  \
         1. repair a copy of it and write `git diff` to {to}/reference.patch\n  \
         2. correct title, needed and level in {to}/fixture.toml\n  \
         3. mendit bench --verify {to}\n"
    ))?;
    Ok(Exit::Yes)
}
