use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{HintRequest, Input, find_imports, last, no_run, reports};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Undefined names
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The file that uses them
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Take names, modules and files from a log; `-` is standard input. Without NAME or `--file` it
    /// is the last run's
    #[arg(long, value_name = "FILE")]
    log: Option<Input>,
    /// A `JUnit` report in addition to the log; repeatable
    #[arg(long, value_name = "FILE", requires = "log")]
    junit: Vec<Input>,
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
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

/// Proposes imports; exits with 1 when none is known, or none is certain enough for a patch.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, &())?;
    if let Some(file) = args
        .names
        .iter()
        .find(|it| std::path::Path::new(it).is_file())
    {
        let names: Vec<&str> = args
            .names
            .iter()
            .filter(|it| *it != file)
            .map(String::as_str)
            .collect();
        let right = match names.as_slice() {
            [] => format!("`mendit hint --log {file}` reads a log"),
            names => format!("`mendit hint {} --file {file}`", names.join(" ")),
        };
        let message = format!("a name is expected, and `{file}` is a file");
        return Err(AppError::usage(message).hint(right));
    }
    let log = args.log.as_ref().map(|it| it.log(output));
    let last = match &args.log {
        None if args.names.is_empty() && args.file.is_some() => {
            return Err(
                AppError::usage("no name to look for").hint("`mendit hint NAME --file FILE`")
            );
        }
        None if args.file.is_none() => Some(last(&app, output)?.ok_or_else(|| {
            no_run().hint("or name what is undefined: `mendit hint NAME --file FILE`")
        })?),
        _ => None,
    };
    let request = HintRequest {
        names: args.names.clone(),
        file: args.file.clone(),
        log: log.transpose()?.or(last.map(|it| it.log)),
        reports: reports(&args.junit, output)?,
        rev: args.rev.clone(),
        fix: args.fix,
        apply: args.apply,
        command: Vec::new(),
    };
    let patched = args.fix || args.apply;
    let hinted = find_imports(&app, &request, output)?;
    match args.format {
        Form::Json => output.json(&hinted.document)?,
        _ if patched && hinted.found => {
            output.data(hinted.document.patch.as_deref().unwrap_or_default())?;
        }
        _ => {
            if patched {
                output.note("no import is certain enough for a patch");
            }
            output.text(&hinted.lines())?;
        }
    }
    Ok(if hinted.found { Exit::Yes } else { Exit::No })
}
