use std::path::{Path, PathBuf};

use super::context_args::{Args, Format};
use super::context_request::{read_previous, request};
use super::global::Global;
use super::output::{ignore_itself, to_json, write_file};
use super::workspace::Workspace;
use super::{CliError, Exit, Output, settings};
use crate::context::{
    Built, ContextError, add_history, build_on, bundle_listing, bundle_tar, change_under_test,
    failure_packet,
};
use crate::graph::{FactsCache, Graph};
use crate::model::{Code, ContextDocument, Level, Omission, PacketBudget};
use crate::policy::Redactor;
use crate::report::{context_markdown, context_text, context_xml};

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let mut settings = settings::load(global)?;
    args.merge(&mut settings);
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
    let policy = settings::read_policy(&settings, request.profile)?;
    let redactor = Redactor::new(std::env::vars_os().filter_map(settings::utf8));
    if let Some(base) = &args.diff {
        let git = workspace.git.as_ref().ok_or_else(|| {
            CliError::new(
                Code::U204,
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
    let over = |code: &Code| matches!(code, Code::C102 | Code::C103);
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
    let error = CliError::new(Code::C111, said).exit(Exit::No);
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
            CliError::new(Code::U303, "`.mendit` is not a directory".to_owned())
                .hint("name another one with `--out DIR`"),
        );
    }
    ignore_itself(&state);
    Ok(Some(state.join("context")))
}

fn advise(built: &Built, output: &Output) {
    if built.context.files.is_empty() && built.log.is_some() {
        output.note("the log names no file of this repository (hint: name one with `--target`)");
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
