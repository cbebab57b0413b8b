use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output};
use crate::app::{StatsRequest, add_up_runs, gain};
use crate::model::{Gain, Stats};
use crate::report::table;

/// Rates over many runs: what fails, what is fixed, what stands in the way.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 fine · 1 more runs fail than --alert-rate allows · 2 nothing to read"
)]
pub(crate) struct Args {
    /// Say instead how many tokens of logs agents were spared on this machine: what `mendit run --brief` and the
    /// hook told in place of whole logs
    #[arg(long, conflicts_with_all = ["directories", "since_days", "alert_rate"])]
    spared: bool,
    #[command(flatten)]
    request: StatsRequest,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, _: &Global, output: &Output) -> Result<Exit, AppError> {
    if args.spared {
        output.document(args.format, &gain()?, spared_text)?;
        return Ok(Exit::Yes);
    }
    let all = add_up_runs(&args.request)?;
    if all.runs == 0 {
        output.note("no run is in what was named; those of a worktree are in `.mendit/runs`");
    }
    output.document(args.format, &all, text)?;
    if let Some(alarm) = &all.alarm {
        output.note(&format!("alarm: {alarm}"));
    }
    Ok(if all.alarm.is_some() {
        Exit::No
    } else {
        Exit::Yes
    })
}

fn text(all: &Stats) -> String {
    let mut text = format!(
        "runs: {}, with a failure: {}, fixed: {}, not fixed: {:.0} %\n",
        all.runs,
        all.failures,
        all.fixed,
        all.failure_rate * 100.0
    );
    let import = all.import_recovery;
    if import.runs > 0 {
        text.push_str(&format!(
            "import errors fixed: {} of {}\n",
            import.fixed, import.runs
        ));
    }
    for (kind, rate) in &all.kinds {
        text.push_str(&format!(
            "  {kind:<20} {} of {} fixed\n",
            rate.fixed, rate.runs
        ));
    }
    for (title, rows, rates) in [
        (
            "not fixed, by category",
            &all.categories,
            Some(&all.category_rates),
        ),
        ("ends", &all.stop_reasons, None),
    ] {
        if !rows.is_empty() {
            text.push_str(&format!("{title}:\n"));
        }
        for (name, count) in rows {
            let rate = rates.and_then(|it| it.get(name));
            let rate = rate.map_or_else(String::new, |it| format!("  {:.0} %", it * 100.0));
            text.push_str(&format!("  {name:<20} {count}{rate}\n"));
        }
    }
    for (title, rows) in [
        ("what stood in the way", &all.blockers),
        (
            "what agents imported: rows for `hint.known` in mendit.toml",
            &all.learned,
        ),
    ] {
        if !rows.is_empty() {
            text.push_str(&format!("{title}:\n"));
        }
        for row in rows {
            text.push_str(&format!("  {:>4}  {}\n", row.runs, row.what));
        }
    }
    text
}

fn spared_text(gain: &Gain) -> String {
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
