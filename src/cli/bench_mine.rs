use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{MineRequest, Mined, mine_fixes};
use crate::report::mine_text;

/// Search a history for fixes whose tests fail before and pass after.
///
/// Walks the first-parent line for commits that change tests and product. Each is tried in a checkout
/// of its own: the parent with the fix's tests must fail, with the fix's product pass, twice the same.
/// What holds is written to DIR/fixes.json by reference: commits, commands, files and line numbers, no
/// contents. REPO is only read, and nothing in it says what is run: that is --environment. The same
/// call goes on where an earlier one was interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mendit bench mine . --environment bench.toml --to fixes --limit 20

Exit codes: 0 searched · 1 no fix was found · 2 it could not be searched · 130 interrupted")]
pub(crate) struct Args {
    #[command(flatten)]
    request: MineRequest,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

pub(super) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, &args.request)?;
    let report = |mined: &Mined<'_>| {
        if global.no_progress || global.quiet {
            return;
        }
        let commit = mined.commit.get(..9).unwrap_or(mined.commit);
        let mut line = format!(
            "{:>4}/{} kept {:<3} {commit} {}",
            mined.number, mined.of, mined.kept, mined.end
        );
        if !mined.seen.is_empty() {
            line.push_str(&format!(": {}", mined.seen));
        }
        output.aside(|_| format!("{line}\n"));
    };
    let Some(document) = mine_fixes(&app, &args.request, &report)? else {
        return Ok(Exit::Interrupted);
    };
    output.document(args.format, &document, mine_text)?;
    Ok(if document.kept == 0 {
        Exit::No
    } else {
        Exit::Yes
    })
}
