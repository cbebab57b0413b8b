use super::args::Global;
use super::input::read_log;
use super::workspace::Workspace;
use super::{CliError, Exit, Output, config};
use crate::diagnose::{LogFacts, diagnose};
use crate::graph::{FactsCache, Graph};
use crate::hint::{Query, recovery_hint, suggest};
use crate::model::{HintDocument, RepoPath, SCHEMA_VERSION};
use crate::policy::ReadPolicy;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Undefined names
    #[arg(value_name = "NAME", required_unless_present = "log")]
    names: Vec<String>,
    /// The file that uses them
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Take names, and without --file the file, from a log; `-` is standard input
    #[arg(long, value_name = "FILE")]
    log: Option<String>,
    /// Read a commit instead of the worktree
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Proposes imports; exits with 1 when none is known.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let settings = config::load(global)?;
    let workspace = Workspace::open(global, args.rev.as_deref(), output)?;
    let source = workspace.source.as_ref();
    let mut names = args.names.clone();
    let mut file = None;
    if let Some(log) = &args.log {
        let text = read_log(log)?;
        let text = String::from_utf8_lossy(&text);
        let diagnosis = diagnose(&text, &LogFacts::default(), Some(source.listing()));
        names.extend(diagnosis.undefined_names);
        file = diagnosis
            .files
            .iter()
            .find_map(crate::model::MentionedFile::repo_path);
    }
    if let Some(typed) = &args.file {
        file = workspace.repo_path(typed);
    }
    let Some(file) = file else {
        return Err(CliError::usage("no file of the repository uses the names")
            .hint("say which with `--file`"));
    };
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let policy = ReadPolicy::new(
        settings.globs("context.allow"),
        settings.globs("context.deny"),
        crate::model::Profile::Ranked,
    )
    .map_err(|error| CliError::new(error.code(), error.to_string()))?;
    let may_read = |path: &RepoPath| policy.refuse(path).is_none();
    let cache = workspace
        .cache_directory("facts")
        .map(|directory| FactsCache::open(&directory));
    let graph = match &cache {
        Some(cache) => Graph::with_facts(source, cache.reader(source)),
        None => Graph::new(source),
    };
    let query = Query {
        file: &file,
        names: &names,
        may_read: &may_read,
    };
    let suggestions = suggest(source, &graph, &query);
    if let Some(cache) = &cache {
        cache.save();
    }
    let exit = if suggestions.is_empty() {
        Exit::No
    } else {
        Exit::Yes
    };
    let recovery_hint = recovery_hint(&names, &suggestions);
    match args.format {
        Format::Text => output.data(&recovery_hint)?,
        Format::Json => output.json(&HintDocument {
            schema_version: SCHEMA_VERSION,
            document: "hint",
            suggestions,
            recovery_hint,
            patch: None,
        })?,
    }
    Ok(exit)
}
