use super::context_args::{Args, Format};
use super::global::Global;
use super::input::{self, read_json};
use super::{AppError, Exit, Output, open};
use crate::app::{ContextRequest, Named, build_context, within_budget};
use crate::report::{context_markdown, context_text, context_xml};

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
        Format::Xml => output.data(&context_xml(context, packet))?,
        Format::Text => output.prose(&context_text(context))?,
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
