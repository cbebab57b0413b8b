use std::path::PathBuf;
use std::time::Duration;

use super::global::Global;
use super::values::{Confine, TextOrJson, seconds};
use super::{AppError, Exit, Output, open};
use crate::app::{RunRequest, run_command};

/// Run a test command inside limits; when it fails, write the packet for the failure.
///
/// The output is passed on as it comes. The command sees the variables that tools need and those
/// named with `--env`, nothing on standard input, and no terminal; whatever it starts ends with it.
/// When it fails, diagnosis.json, failure-packet.json, context.json, the log and run.json are
/// written, with secrets masked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    /// The command; a single word with spaces in it is a line for the shell
    #[arg(value_name = "CMD", required = true, last = true)]
    command: Vec<std::ffi::OsString>,
    /// End it after so many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,
    /// End it after so many seconds without output
    #[arg(long, value_name = "S", value_parser = seconds)]
    idle_timeout: Option<Duration>,
    /// Seconds between the request to end and the kill
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds)]
    grace: Duration,
    /// End it after so many bytes of output; K, M and G are understood
    #[arg(long, value_name = "B", default_value = "256M", value_parser = parse_bytes)]
    max_output: u64,
    /// Hand on this variable too, or set it: NAME or NAME=VALUE
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Confine writing to the worktree, temporary directories and caches
    #[arg(long, value_enum, default_value = "auto")]
    sandbox: Confine,
    /// Let a confined command write here too
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// Refuse the network, loopback included
    #[arg(long)]
    no_net: bool,
    /// Run it up to N times more when it fails; a pass then is reported as flaky
    #[arg(long, value_name = "N", default_value = "0")]
    retry_flaky: u32,
    /// Write the documents here instead of .mendit/runs/ID
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// `json` prints one document and passes the command's output to standard error
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Exit codes: 0 it passes · 1 it fails · 2 no such command, or it could not be \
run · 3 a time limit ended it · 4 a person must act (a variable, credentials, a package) · 130 \
interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = RunRequest {
        command: args.command.clone(),
        timeout: args.timeout,
        idle_timeout: args.idle_timeout,
        grace: args.grace,
        max_output: args.max_output,
        environment: args.env.clone(),
        sandbox: args.sandbox.into(),
        allow_write: args.allow_write.clone(),
        no_network: args.no_net,
        retry_flaky: args.retry_flaky,
        out: args.out.clone(),
    };
    let json = args.format == TextOrJson::Json;
    let mut pass_on = |stdout: bool, bytes: &[u8]| output.pass_on(stdout && !json, bytes);
    let ran = run_command(&open(global, &args.env)?, &request, &mut pass_on, output)?;
    if json {
        output.json(&ran.document())?;
    }
    match ran.failure {
        Some(error) => Err(error),
        None => Ok(Exit::Yes),
    }
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim_end_matches(['b', 'B']) {
        it if it.ends_with(['k', 'K']) => (it, 10),
        it if it.ends_with(['m', 'M']) => (it, 20),
        it if it.ends_with(['g', 'G']) => (it, 30),
        it => (it, 0),
    };
    digits
        .trim_end_matches(|it: char| it.is_ascii_alphabetic())
        .parse::<u64>()
        .ok()
        .filter(|bytes| *bytes > 0)
        .and_then(|bytes| bytes.checked_mul(1 << shift))
        .ok_or_else(|| "a number of bytes above 0 is expected, such as 1000000 or 256M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{parse_bytes, seconds};

    #[test]
    fn sizes_and_times_are_read() {
        for (text, bytes) in [("5", 5), ("2K", 2048), ("3MB", 3 << 20), ("1g", 1 << 30)] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "x", "99999999999G", "1.5M"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0.5").unwrap().as_millis(), 500);
        for text in ["0", "-1", "NaN", "inf", "1e300", "x"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
