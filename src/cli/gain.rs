use super::values::TextOrJson;
use super::{AppError, Exit, Output};
use crate::app::gain;
use crate::model::Gain;

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
    match args.format {
        TextOrJson::Json => output.json(&gain)?,
        TextOrJson::Text => output.text(&text(&gain))?,
    }
    Ok(Exit::Yes)
}

fn text(gain: &Gain) -> String {
    if gain.total.runs == 0 {
        return "nothing was told in brief yet; `mendit run --brief CMD` and the hook of `mendit init \
                claude` do\n"
            .to_owned();
    }
    let mut text = format!(
        "{:>6} {:>12} {:>12} {:>7}\n",
        "RUNS", "LOG TOKENS", "TOLD", "SPARED"
    );
    for row in gain.repositories.iter().chain([&gain.total]) {
        let spared = row.log_tokens.saturating_sub(row.told_tokens);
        let share = (spared * 100).checked_div(row.log_tokens).unwrap_or(0);
        let root = if row.root.is_empty() {
            "all"
        } else {
            &row.root
        };
        text.push_str(&format!(
            "{:>6} {:>12} {:>12} {share:>6}%  {root}\n",
            row.runs, row.log_tokens, row.told_tokens
        ));
    }
    text
}
