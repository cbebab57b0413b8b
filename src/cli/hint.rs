use std::collections::BTreeMap;

use super::global::Global;
use super::input::read_log;
use super::values::TextOrJson;
use super::workspace::Workspace;
use super::write::write;
use super::{CliError, Exit, Output, settings};
use crate::diagnose::{LogFacts, diagnose};
use crate::graph::{FactsCache, Graph};
use crate::hint::{Query, fix, hint_lines, moved_modules, recovery_hint, renamed_exports, suggest};
use crate::model::{
    Code, Diagnosis, HintDocument, MentionedFile, Profile, RepoPath, SCHEMA_VERSION, Suggestion,
};
use crate::policy::Redactor;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Undefined names
    #[arg(value_name = "NAME", required_unless_present = "log")]
    names: Vec<String>,
    /// The file that uses them
    #[arg(long, value_name = "FILE", required_unless_present = "log")]
    file: Option<String>,
    /// Take names, modules and files from a log; `-` is standard input
    #[arg(long, value_name = "FILE")]
    log: Option<String>,
    /// Print a patch that adds the imports that are certain
    #[arg(long)]
    fix: bool,
    /// Write that patch into the worktree
    #[arg(long, conflicts_with = "rev")]
    apply: bool,
    /// Read a commit instead of the worktree
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

// What one file lacks.
#[derive(Default)]
struct Wanted {
    names: Vec<String>,
    modules: Vec<String>,
    exports: Vec<String>,
}

/// Proposes imports; exits with 1 when none is known, or none is certain enough for a patch.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let settings = settings::load(global)?;
    let workspace = Workspace::open(global, args.rev.as_deref(), output)?;
    let source = workspace.source.as_ref();
    let wanted = wanted(args, &workspace)?;
    let policy = settings::read_policy(&settings, Profile::Ranked)?;
    let may_read = |path: &RepoPath| policy.refuse(path).is_none();
    let redactor = Redactor::new(std::env::vars_os().filter_map(settings::utf8));
    let cache = workspace
        .cache_directory("facts")
        .map(|directory| FactsCache::open(&directory));
    let graph = match &cache {
        Some(cache) => Graph::with_facts(source, cache.reader(source)),
        None => Graph::new(source),
    };
    let mut names = Vec::new();
    let mut suggestions: Vec<Suggestion> = Vec::new();
    let mut patch = String::new();
    let mut changes = Vec::new();
    for (file, lacks) in &wanted {
        if let Some(refusal) = policy.refuse(file) {
            output.note(&format!("{}: {}", refusal.code, refusal.reason));
            continue;
        }
        let query = Query {
            file,
            names: &lacks.names,
            known: &settings.hint.known,
            may_read: &may_read,
        };
        let mut found = suggest(source, &graph, &query);
        found.extend(moved_modules(source, &graph, &query, &lacks.modules));
        found.extend(renamed_exports(source, &graph, &query, &lacks.exports));
        found.retain(|one| redactor.redact(&one.import_statement).findings.is_empty());
        names.extend([&lacks.names[..], &lacks.modules, &lacks.exports].concat());
        if args.fix || args.apply {
            let certain: Vec<Suggestion> = found.iter().filter(|it| it.certain).cloned().collect();
            if let Some(fixed) = fix(source, file, &certain) {
                patch.push_str(&fixed.patch);
                changes.extend(fixed.changes);
            }
        }
        suggestions.append(&mut found);
    }
    if let Some(cache) = &cache {
        cache.save();
    }
    if args.apply && !changes.is_empty() {
        write(&workspace, &changes, false, false)?;
    }
    let patched = args.fix || args.apply;
    let found = if patched {
        !changes.is_empty()
    } else {
        !suggestions.is_empty()
    };
    let hidden = !redactor.redact(&patch).findings.is_empty();
    if hidden {
        output.note("the patch is not shown: a secret stands near the imports");
    }
    let shown = (found && patched && !hidden).then_some(patch);
    match args.format {
        TextOrJson::Text if patched && found => {
            output.data(shown.as_deref().unwrap_or_default())?;
        }
        TextOrJson::Text => {
            if patched {
                output.note("no import is certain enough for a patch");
            }
            output.data(&hint_lines(&names, &suggestions))?;
        }
        TextOrJson::Json => output.json(&HintDocument {
            schema_version: SCHEMA_VERSION,
            document: "hint",
            recovery_hint: recovery_hint(&names, &suggestions),
            suggestions,
            patch: shown,
        })?,
    }
    Ok(if found { Exit::Yes } else { Exit::No })
}

// What to look for, by file; of several files that a log names, the first that uses a name.
fn wanted(args: &Args, workspace: &Workspace) -> Result<BTreeMap<RepoPath, Wanted>, CliError> {
    let source = workspace.source.as_ref();
    let diagnosis = match &args.log {
        None => None,
        Some(log) => {
            let text = read_log(log)?;
            let text = String::from_utf8_lossy(&text);
            Some(diagnose(
                &text,
                &LogFacts::default(),
                Some(source.listing()),
            ))
        }
    };
    let files = files(args, workspace, diagnosis.as_ref())?;
    let mut wanted: BTreeMap<RepoPath, Wanted> = BTreeMap::new();
    let mut put = |text: &str, take: &dyn Fn(&mut Wanted) -> &mut Vec<String>| {
        let word = text.rsplit(['.', '/']).next().unwrap_or(text);
        let uses = |file: &&RepoPath| {
            source
                .read(file)
                .is_ok_and(|bytes| memchr::memmem::find(&bytes, word.as_bytes()).is_some())
        };
        if let Some(file) = files.iter().find(uses).or(files.first()) {
            let list = take(wanted.entry(file.clone()).or_default());
            if !list.iter().any(|known| known == text) {
                list.push(text.to_owned());
            }
        }
    };
    for name in &args.names {
        put(name, &|it| &mut it.names);
    }
    if let Some(found) = &diagnosis {
        found
            .undefined_names
            .iter()
            .for_each(|it| put(it, &|it| &mut it.names));
        found
            .missing_modules
            .iter()
            .for_each(|it| put(it, &|it| &mut it.modules));
        found
            .missing_exports
            .iter()
            .for_each(|it| put(it, &|it| &mut it.exports));
    }
    Ok(wanted)
}

fn files(
    args: &Args,
    workspace: &Workspace,
    diagnosis: Option<&Diagnosis>,
) -> Result<Vec<RepoPath>, CliError> {
    if let Some(typed) = &args.file {
        let path = workspace.repo_path(typed);
        let known = path.filter(|path| workspace.source.listing().has_file(path.as_str()));
        return known.map(|path| vec![path]).ok_or_else(|| {
            CliError::new(
                Code::U104,
                format!("`{typed}` is not a file of the repository"),
            )
        });
    }
    let mentioned = diagnosis.iter().flat_map(|it| &it.files);
    let files: Vec<RepoPath> = mentioned.filter_map(MentionedFile::repo_path).collect();
    if files.is_empty() {
        return Err(CliError::usage("the log names no file of this repository")
            .hint("say which file with `--file`"));
    }
    Ok(files)
}
