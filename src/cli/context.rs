use std::path::{Path, PathBuf};

use super::args::Global;
use super::context_request::{read_previous, request};
use super::output::{to_json, write_file};
use super::workspace::Workspace;
use super::{CliError, Exit, Output, config};
use crate::context::{
    Built, ContextError, LevelChoice, add_history, build_on, bundle_listing, bundle_tar,
    change_under_test, failure_packet,
};
use crate::graph::{FactsCache, Graph};
use crate::model::{Code, ContextDocument, Level, Omission, PacketBudget, Profile, StopReason};
use crate::policy::Redactor;
use crate::report::{context_markdown, context_text, context_xml};

/// Build the packet for a failure
///
/// It diagnoses the log, chooses the level and picks the files. Without a target the log says which files the failure is about. The packet is printed
/// (`--format json`) and written to `--out DIR`; in text format it goes to `.mendit/context/`
/// of the worktree when no directory is named.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files the failure is about; a directory means its files
    #[arg(value_name = "TARGET")]
    pub(super) targets: Vec<String>,
    /// The same as TARGET
    #[arg(long = "target", value_name = "PATH")]
    pub(super) more_targets: Vec<String>,
    /// Log of the failing command; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<String>,
    /// A failure packet to take log, targets and commands from
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(super) failure: Option<String>,
    /// The command that shows the failure (it is not run)
    #[arg(long = "test-command", value_name = "CMD")]
    pub(super) test_commands: Vec<String>,
    /// Rung of the ladder: auto, or 0 to 4
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = parse_level)]
    pub(super) level: LevelChoice,
    /// How the attempt before ended, such as `tests_failed`
    #[arg(long, value_name = "REASON", value_parser = parse_stop_reason)]
    pub(super) stop_reason: Option<StopReason>,
    /// context.json or result.json of the attempt before
    #[arg(long, value_name = "FILE")]
    pub(super) previous: Option<String>,
    /// context.json of an earlier packet: files it held are named and not repeated
    #[arg(long, value_name = "FILE")]
    pub(super) since: Option<String>,
    /// JSON with `requestedFiles` that an agent asked for; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) request: Option<String>,
    /// A path that an agent asked for
    #[arg(long = "request-path", value_name = "PATH")]
    pub(super) request_paths: Vec<String>,
    /// Permit level 4: the whole repository, without caps
    #[arg(long)]
    pub(super) include_repo_bundle: bool,
    /// Read this commit instead of the worktree
    #[arg(long, value_name = "REV")]
    pub(super) rev: Option<String>,
    /// Base of the change under test: its diff is shown, its files rank high
    #[arg(long, value_name = "BASE")]
    pub(super) diff: Option<String>,
    /// How places are given out
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile)]
    pub(super) profile: Option<Profile>,
    /// Files beyond targets and manifests
    #[arg(long, value_name = "N")]
    pub(super) max_files: Option<u64>,
    /// Bytes of one file
    #[arg(long, value_name = "N")]
    pub(super) max_file_bytes: Option<u64>,
    /// Bytes of all files
    #[arg(long, value_name = "N")]
    pub(super) max_total_bytes: Option<u64>,
    /// Estimated tokens of all files (two for every seven bytes)
    #[arg(long, value_name = "N")]
    pub(super) max_tokens: Option<u64>,
    /// Exit 1 when bytes or tokens cut something out
    #[arg(long)]
    pub(super) fail_over_budget: bool,
    /// Read only files that match
    #[arg(long, value_name = "GLOB")]
    pub(super) allow: Vec<String>,
    /// Never read files that match
    #[arg(long, value_name = "GLOB")]
    pub(super) deny: Vec<String>,
    /// Write context.json and failure-packet.json here
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Neither use nor fill the cache of parsed files
    #[arg(long)]
    no_cache: bool,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// The context document
    Json,
    /// A prompt for an agent
    Markdown,
    /// The same prompt as XML
    Xml,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let settings = config::load(global)?;
    let workspace = Workspace::open(global, args.rev.as_deref(), output)?;
    let mut request = request(args, &settings, &workspace)?;
    let previous = read_previous(args, &mut request)?;
    let revision = args.rev.as_deref().unwrap_or("HEAD");
    add_history(&mut request, workspace.git.as_ref(), revision);
    if request.log.is_none() && request.targets.is_empty() && request.requested.is_empty() {
        output.note(
            "without a log, a target or a request the packet holds only the repository's index \
             (hint: `--log FILE`, or pipe the failing command into `--log -`)",
        );
    }
    let policy = config::read_policy(&settings, &args.allow, &args.deny, request.profile)?;
    let redactor = Redactor::new(std::env::vars_os().filter_map(config::utf8));
    if let Some(base) = &args.diff {
        let git = workspace.git.as_ref().ok_or_else(|| {
            CliError::new(
                Code::new("U204"),
                "`--diff` compares with a commit, and this is no git repository",
            )
        })?;
        let tree = git.tree(base)?;
        let change = change_under_test(base, &tree, workspace.source.as_ref(), &policy, &redactor);
        request.change = Some(change);
    }
    let source = workspace.source.as_ref();
    let cache = (!args.no_cache)
        .then(|| workspace.cache_directory("facts"))
        .flatten()
        .map(|directory| FactsCache::open(&directory));
    let graph = match &cache {
        Some(cache) => Graph::with_facts(source, cache.reader(source)),
        None => Graph::new(source),
    };
    let built = build_on(&graph, &policy, &redactor, &request)?;
    if let Some(cache) = &cache {
        cache.save();
    }
    let packet = failure_packet(
        &built,
        &redactor,
        &request.test_commands,
        &[],
        previous,
        PacketBudget::default(),
    );
    let context = to_json(&built.context)?;
    if let Some(directory) = directory_for(args, &workspace)? {
        let document = to_json(&packet)?;
        let written = write_file(&directory.join("context.json"), &context)
            .and_then(|()| write_file(&directory.join("failure-packet.json"), &document))
            .and_then(|()| write_bundle(&directory, &built));
        match written {
            Err(error) if args.out.is_some() => return Err(error),
            Err(error) => output.note(&format!("the packet was not written: {}", error.message)),
            Ok(()) => output.note(&format!(
                "wrote context.json and failure-packet.json to {}",
                directory.display()
            )),
        }
    }
    match args.format {
        Format::Json => output.data(&context)?,
        Format::Markdown => output.data(&context_markdown(&built.context, &packet))?,
        Format::Xml => output.data(&context_xml(&built.context, &packet))?,
        Format::Text => {
            output.data(&context_text(&built.context))?;
            advise(&built, output);
        }
    }
    if args.fail_over_budget {
        within_budget(&built.context)?;
    }
    Ok(Exit::Yes)
}

// The packet is printed all the same; what was cut first is named with its remedy.
fn within_budget(context: &ContextDocument) -> Result<(), CliError> {
    let over = |code: &Code| matches!(code.as_str(), "C102" | "C103");
    let refused = context.files_rejected.iter().filter(|it| over(&it.code));
    let cut: Vec<&Omission> = context.omitted.iter().filter(|it| over(&it.code)).collect();
    let files = context.files.iter();
    let shortened = files.filter_map(|file| Some((file.path.as_str(), file.shortened.as_ref()?)));
    let shortened: Vec<_> = shortened.filter(|(_, it)| over(&it.code)).collect();
    let named = refused
        .map(|it| (it.path.as_str(), &it.reason))
        .chain(shortened.iter().map(|(path, it)| (*path, &it.reason)))
        .chain(cut.iter().map(|it| (it.path.as_str(), &it.reason)));
    let named: Vec<_> = named.collect();
    let Some((path, reason)) = named.first() else {
        return Ok(());
    };
    let said = format!(
        "the packet is over its budget; files cut: {}, the first `{path}`: {reason}",
        named.len()
    );
    let error = CliError::new(Code::new("C111"), said).exit(Exit::No);
    let remedies = shortened.iter().map(|(_, it)| &it.remedy);
    Err(
        match remedies.chain(cut.iter().map(|it| &it.remedy)).next() {
            Some(remedy) => error.hint(remedy.clone()),
            None => error,
        },
    )
}

// At level 4 the files stand in an archive too, with a listing beside it.
fn write_bundle(directory: &Path, built: &Built) -> Result<(), CliError> {
    if built.context.level != Level::Bundle {
        return Ok(());
    }
    write_file(&directory.join("bundle.tar"), bundle_tar(&built.context))?;
    write_file(
        &directory.join("bundle.txt"),
        bundle_listing(&built.context),
    )
}

// Where the files go; nowhere in JSON format unless a directory is named.
fn directory_for(args: &Args, workspace: &Workspace) -> Result<Option<PathBuf>, CliError> {
    if let Some(directory) = &args.out {
        return Ok(Some(directory.clone()));
    }
    let Some(root) = workspace
        .root
        .as_deref()
        .filter(|_| args.format == Format::Text)
    else {
        return Ok(None);
    };
    let state = root.join(".mendit");
    if state.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
        return Err(
            CliError::new(Code::new("U303"), "`.mendit` is not a directory".to_owned())
                .hint("name another one with `--out DIR`"),
        );
    }
    ignore_itself(&state);
    Ok(Some(state.join("context")))
}

// git is never shown what is written here. Failing is left to the write that follows.
pub(super) fn ignore_itself(state: &Path) {
    let ignore = state.join(".gitignore");
    if !ignore.exists() {
        let _ = write_file(&ignore, "*\n");
    }
}

fn advise(built: &Built, output: &Output) {
    if built.context.files.is_empty() && built.log.is_some() {
        output.note("the log names no file of this repository (hint: name one with `--target`)");
    }
}

fn parse_level(text: &str) -> Result<LevelChoice, String> {
    if text == "auto" {
        return Ok(LevelChoice::Auto);
    }
    text.parse()
        .ok()
        .and_then(Level::from_number)
        .map(LevelChoice::Exactly)
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

impl From<ContextError> for CliError {
    fn from(error: ContextError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            ContextError::BundleNotPermitted => said
                .hint("`--include-repo-bundle` permits it")
                .exit(Exit::Refused),
            ContextError::EmptyLog => {
                said.hint("capture standard error too: `CMD 2>&1 | mendit context --log -`")
            }
        }
    }
}
