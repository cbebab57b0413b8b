use std::path::PathBuf;

use super::global::Global;
use super::input::read_json;
use super::values::{Flag as _, Suggested};
use super::{AppError, Exit, Output, input, open};
use crate::app::settings::{Bytes, Settings};
use crate::app::{ContextRequest, Named, build_context, within_budget};
use crate::model::{Level, Profile, StopReason};
use crate::report::{context_markdown, context_text};

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, |settings| args.merge(settings))?;
    let log = args
        .log
        .as_deref()
        .map(|path| input::log(&app, path, output));
    let ending = |it: &String| {
        (std::path::Path::new(it).extension() == Some("log".as_ref())).then(|| it.clone())
    };
    if let (None, Some(target)) = (&args.log, args.targets.iter().find_map(ending)) {
        output.note(&format!(
            "`{target}` is shown as a file; `mendit context --log {target}` reads it as the log"
        ));
    }
    let last = match &args.log {
        None if args.takes_last_run() => input::last(&app, output)?,
        _ => None,
    };
    let mut commands = args.test_commands.clone();
    if commands.is_empty() {
        commands.extend(last.as_ref().and_then(|it| it.command.clone()));
    }
    let request = ContextRequest {
        targets: [&args.targets[..], &args.more_targets].concat(),
        log: log.transpose()?.or(last.map(|it| it.log)),
        issue: args.issue.as_deref().map(input::words).transpose()?,
        reports: input::reports(&args.junit, output)?,
        failure: named(args.failure.as_ref())?,
        test_commands: commands,
        level: args.level.0,
        include_bundle: args.include_repo_bundle,
        previous_level: None,
        stop_reason: args.stop_reason,
        previous: named(args.previous.as_ref())?,
        since: named(args.since.as_ref())?,
        requested: args.request_paths.clone(),
        request: named(args.request.as_ref())?,
        rev: args.rev.clone(),
        diff: args.diff.clone(),
        out: args.out.clone(),
        shown: args.format == Format::Text,
        no_cache: args.no_cache,
    };
    let packed = build_context(&app, &request, output)?;
    let (context, packet) = (&packed.context, &packed.packet);
    match args.format {
        Format::Json => output.json(context)?,
        Format::Markdown => output.data(&context_markdown(context, packet))?,
        Format::Text => output.prose(&context_text(context, packed.prompt_tokens()))?,
    }
    if args.fail_over_budget {
        within_budget(context)?;
    }
    Ok(Exit::Yes)
}

fn named(path: Option<&String>) -> Result<Option<Named>, AppError> {
    let read = |path: &String| {
        let document = read_json(path)?;
        Ok(Named {
            name: path.clone(),
            document,
        })
    };
    path.map(read).transpose()
}

/// Build the packet for a failure
///
/// It diagnoses the log, chooses the level and picks the files. Without a target the log says which files the failure is about. The packet is printed
/// (`--format json`) and written to `--out DIR`; in text format it goes to `.mendit/context/`
/// of the worktree when no directory is named.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Args {
    /// Files the failure is about; a directory means its files
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// The same as TARGET
    #[arg(long = "target", value_name = "PATH")]
    more_targets: Vec<String>,
    /// Log of the failing command; `-` is standard input. Without it and without a target, the last
    /// run
    #[arg(long, value_name = "FILE")]
    log: Option<String>,
    /// Text of an issue or a task in place of a log; `-` is standard input
    #[arg(long, visible_alias = "task", value_name = "FILE", conflicts_with_all = ["log", "failure"])]
    issue: Option<String>,
    /// A report of the tests beside the log, in the form of `JUnit`; can be given again
    #[arg(long, value_name = "FILE", requires = "log")]
    junit: Vec<String>,
    /// A failure packet to take log, targets and commands from
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    failure: Option<String>,
    /// The command that shows the failure (it is not run)
    #[arg(long = "test-command", value_name = "CMD")]
    test_commands: Vec<String>,
    /// Rung of the ladder: auto, or 0 to 4
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = LEVEL, hide_possible_values = true)]
    level: Rung,
    /// How the attempt before ended, such as `tests_failed`
    #[arg(long, value_name = "REASON", value_parser = parse_stop_reason, help_heading = "After an attempt")]
    stop_reason: Option<StopReason>,
    /// context.json or result.json of the attempt before
    #[arg(long, value_name = "FILE", help_heading = "After an attempt")]
    previous: Option<String>,
    /// context.json of an earlier packet: files it held are named and not repeated
    #[arg(long, value_name = "FILE", help_heading = "After an attempt")]
    since: Option<String>,
    /// JSON with `requestedFiles` that an agent asked for; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = "After an attempt")]
    request: Option<String>,
    /// What an agent asked for: PATH, PATH:120-200 (lines) or PATH#NAME (a definition)
    #[arg(
        long = "request-path",
        value_name = "PATH",
        help_heading = "After an attempt"
    )]
    request_paths: Vec<String>,
    /// Permit level 4: the whole repository, without caps
    #[arg(long, help_heading = "What goes in")]
    include_repo_bundle: bool,
    /// Read this commit instead of the worktree
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// Base of the change under test: its diff is shown, its files rank high
    #[arg(long, value_name = "BASE", help_heading = "What goes in")]
    diff: Option<String>,
    /// How places are given out [default: ranked] [setting: context.profile]
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile, help_heading = "What goes in")]
    profile: Option<Profile>,
    /// Files beyond targets and manifests [setting: context.max-files]
    #[arg(long, value_name = "N", help_heading = "What goes in")]
    max_files: Option<u64>,
    /// Bytes of one file [setting: context.max-file-bytes]
    #[arg(long, value_name = "N", help_heading = "What goes in")]
    max_file_bytes: Option<Bytes>,
    /// Bytes of all files [setting: context.max-total-bytes]
    #[arg(long, value_name = "N", help_heading = "What goes in")]
    max_total_bytes: Option<Bytes>,
    /// Estimated tokens of all files and the log (two for every seven bytes); 0 is no limit [setting: context.max-tokens]
    #[arg(long, value_name = "N", help_heading = "What goes in")]
    max_tokens: Option<u64>,
    /// Leave out what the failing tests were seen to enter [setting: context.trace]
    #[arg(long, help_heading = "What goes in")]
    no_trace: bool,
    /// Exit 1 when bytes or tokens cut something out
    #[arg(long, help_heading = "Result")]
    fail_over_budget: bool,
    /// Bytes of the log; the middle is left out [default: 32768] [setting: context.max-log-bytes]
    #[arg(long, value_name = "N", help_heading = "What goes in")]
    max_log_bytes: Option<Bytes>,
    /// Read only files that match; can be given again [setting: context.allow]
    #[arg(long, value_name = "GLOB", help_heading = "What goes in")]
    allow: Vec<String>,
    /// Never read files that match; can be given again [setting: context.deny]
    #[arg(long, value_name = "GLOB", help_heading = "What goes in")]
    deny: Vec<String>,
    /// Read files that match although the built-in list denies them; never credentials
    /// [setting: context.readmit]
    #[arg(long, value_name = "GLOB", help_heading = "What goes in")]
    readmit: Vec<String>,
    /// Write context.json and failure-packet.json here
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    out: Option<PathBuf>,
    /// Neither use nor fill the cache of parsed files
    #[arg(long)]
    no_cache: bool,
    /// How to print it
    #[arg(long, value_enum, default_value = "text", help_heading = "Result")]
    format: Format,
}

const EXAMPLES: &str = "Examples:
  mendit context                                    the last run, as a table
  mendit context --format markdown | my-agent       the last run, as a prompt
  pnpm test 2>&1 | mendit context --log -           what is piped in
  mendit context --issue issue.md                   where an issue leads
  mendit context --max-tokens 20000 src/app.ts      a file, in so many tokens";

impl Args {
    /// Whether nothing says what the packet is for, so that it is for the last run.
    fn takes_last_run(&self) -> bool {
        let paths = [&self.targets, &self.more_targets, &self.request_paths];
        paths.iter().all(|it| it.is_empty())
            && self.failure.is_none()
            && self.issue.is_none()
            && self.request.is_none()
            && self.rev.is_none()
    }

    /// Puts these flags before what the settings say.
    fn merge(&self, settings: &mut Settings) {
        let context = &mut settings.context;
        self.profile.over(&mut context.profile);
        self.max_files.over(&mut context.max_files);
        self.max_file_bytes.over(&mut context.max_file_bytes);
        self.max_total_bytes.over(&mut context.max_total_bytes);
        self.max_tokens.over(&mut context.max_tokens);
        self.max_log_bytes.over(&mut context.max_log_bytes);
        self.allow.over(&mut context.allow);
        self.readmit.over(&mut context.readmit);
        context.trace &= !self.no_trace;
        context.deny.extend_from_slice(&self.deny);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// The context document
    Json,
    /// A prompt for an agent
    Markdown,
}

/// A rung of the ladder; none lets the failure choose.
#[derive(Debug, Clone, Copy)]
struct Rung(Option<Level>);

const LEVEL: Suggested<Rung> = Suggested {
    parse: parse_level,
    words: || vec!["auto", "0", "1", "2", "3", "4"],
};

fn parse_level(text: &str) -> Result<Rung, String> {
    if text == "auto" {
        return Ok(Rung(None));
    }
    text.parse()
        .ok()
        .and_then(Level::from_number)
        .map(|level| Rung(Some(level)))
        .ok_or_else(|| "auto or a number from 0 to 4 is expected".to_owned())
}

fn parse_stop_reason(text: &str) -> Result<StopReason, String> {
    text.parse()
        .map_err(|error: serde::de::value::Error| error.to_string())
}

fn parse_profile(text: &str) -> Result<Profile, String> {
    match text {
        "ranked" => Ok(Profile::Ranked),
        "spec" => Ok(Profile::Spec),
        _ => Err("`ranked` or `spec` is expected".to_owned()),
    }
}
