use super::values::TextOrJson;
use super::{AppError, Exit, Output};
use crate::app::gain;
use crate::model::Gain;
use crate::report::table;

/// Say how many tokens of logs agents were spared
///
/// It counts what `mendit run --brief` and the hook told instead of whole logs, on this machine.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let gain = gain()?;
    output.document(args.format, &gain, text)?;
    Ok(Exit::Yes)
}

fn text(gain: &Gain) -> String {
    if gain.total.runs == 0 {
        return "nothing was told in brief yet; `mendit run --brief CMD` and the hook of `mendit init \
                claude` do\n"
            .to_owned();
    }
    let mut rows = vec![["RUNS", "LOG TOKENS", "TOLD", "SPARED", ""].map(str::to_owned)];
    for row in gain.repositories.iter().chain([&gain.total]) {
        let spared = row.log_tokens.saturating_sub(row.told_tokens);
        let share = (spared * 100).checked_div(row.log_tokens).unwrap_or(0);
        let root = Some(row.root.as_str()).filter(|it| !it.is_empty());
        rows.push([
            row.runs.to_string(),
            row.log_tokens.to_string(),
            row.told_tokens.to_string(),
            format!("{share}%"),
            root.unwrap_or("all").to_owned(),
        ]);
    }
    table(&rows, &[0, 1, 2, 3])
}
