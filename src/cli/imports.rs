use super::global::Global;
use super::output::to_json;
use super::workspace::Workspace;
use super::{CliError, Exit, Output};
use crate::graph::{FactsCache, Graph, Wanted, document, source_files};
use crate::model::{Code, Language, RepoPath};
use crate::report::{imports_dot, imports_mermaid, imports_text};
use crate::source::Source;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Args {
    /// Files, or directories whose source files are meant
    #[arg(value_name = "FILE", required_unless_present = "graph")]
    files: Vec<String>,
    /// How many imports away files may be
    #[arg(long, value_name = "N", default_value_t = 1)]
    hops: u32,
    /// Who imports the files, instead of what they import
    #[arg(long, conflicts_with = "graph")]
    reverse: bool,
    /// Every source file of the repository
    #[arg(long, conflicts_with = "files")]
    graph: bool,
    /// Follow each imported name to the file that defines it
    #[arg(long)]
    symbols: bool,
    /// Neither use nor fill the cache of parsed files
    #[arg(long)]
    no_cache: bool,
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
    Dot,
    Mermaid,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let workspace = Workspace::open(global, args.rev.as_deref(), output)?;
    let wanted = if args.graph {
        Wanted::Whole
    } else {
        let targets = targets(&args.files, &workspace)?;
        if args.reverse {
            Wanted::Importers(targets, args.hops)
        } else {
            Wanted::Imports(targets, args.hops)
        }
    };
    let source = workspace.source.as_ref();
    let cache = (!args.no_cache)
        .then(|| workspace.cache_directory("facts"))
        .flatten()
        .map(|directory| FactsCache::open(&directory));
    let graph = match &cache {
        Some(cache) => Graph::with_facts(source, cache.reader(source)),
        None => Graph::new(source),
    };
    let document = document(&graph, &wanted, args.symbols);
    if let Some(cache) = &cache {
        cache.save();
    }
    let text = match args.format {
        Format::Json => to_json(&document)?,
        Format::Text => imports_text(&document),
        Format::Dot => imports_dot(&document),
        Format::Mermaid => imports_mermaid(&document),
    };
    output.data(&text)?;
    Ok(Exit::Yes)
}

fn targets(typed: &[String], workspace: &Workspace) -> Result<Vec<RepoPath>, CliError> {
    let listing = workspace.source.listing();
    let mut targets = Vec::new();
    for text in typed {
        let path = workspace.repo_path(text);
        let before = targets.len();
        match &path {
            Some(path) => targets.extend(source_files(listing, path.as_str())),
            None if text == "." => targets.extend(source_files(listing, "")),
            None => {}
        }
        if targets.len() == before {
            return Err(unknown(text, workspace.source.as_ref()));
        }
    }
    Ok(targets)
}

fn unknown(text: &str, source: &dyn Source) -> CliError {
    let error = CliError::new(
        Code::U104,
        format!("`{text}` is not a file of the repository"),
    );
    let name = text.rsplit('/').next().unwrap_or(text);
    let nearest = source
        .listing()
        .files()
        .map(|entry| &entry.path)
        .filter(|path| Language::of_path(path.as_str()).is_some())
        .min_by_key(|path| strsim::levenshtein(path.file_name(), name));
    match nearest {
        Some(path) => error.hint(format!("did you mean `{path}`?")),
        None => error.hint("the repository has no source files"),
    }
}
