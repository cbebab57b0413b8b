use std::fmt::Write as _;
use std::io::Read;

use super::args::Global;
use super::workspace::{At, Workspace};
use super::{CliError, Exit, Output, apply};
use crate::model::{Code, PatchProblem, RepoPath, Severity};
use crate::patch::{GitRules, JudgeOptions, Judged, judge, named_paths};
use crate::source::{Named, Source};

/// The flags of `git apply` that decide what is applied where.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of git")]
pub(crate) struct Args {
    /// Patches; none or `-` reads standard input
    patches: Vec<String>,
    /// Change nothing
    #[arg(long)]
    check: bool,
    /// Change worktree and index, which must agree
    #[arg(long)]
    index: bool,
    /// Change the index alone
    #[arg(long)]
    cached: bool,
    /// Apply the other way round
    #[arg(short = 'R', long)]
    reverse: bool,
    /// Strip N leading components from names
    #[arg(short = 'p', value_name = "N", default_value = "1")]
    strip: usize,
    /// Lines of context that must match
    #[arg(short = 'C', value_name = "N")]
    min_context: Option<usize>,
    /// Apply hunks without context
    #[arg(long)]
    unidiff_zero: bool,
    /// Count the lines of hunks anew
    #[arg(long)]
    recount: bool,
    /// Let hunks overlap
    #[arg(long)]
    allow_overlap: bool,
    /// Let white space in context differ
    #[arg(long, alias = "ignore-space-change")]
    ignore_whitespace: bool,
    /// Put DIR before every path
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
    /// An input without a patch is no error
    #[arg(long)]
    allow_empty: bool,
    /// Taken for git's sake; apply is what happens anyway
    #[arg(long, alias = "binary", alias = "allow-binary-replacement")]
    apply: bool,
}

/// git's own exit code for an input that is damaged.
const DAMAGED: u8 = 128;

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let at = if args.index || args.cached {
        At::Index
    } else {
        At::Worktree
    };
    let workspace = Workspace::open_at(global, at, output)?;
    let directory = [
        workspace.prefix.as_str(),
        args.directory.as_deref().unwrap_or_default(),
    ]
    .iter()
    .map(|part| part.trim_matches('/'))
    .filter(|part| !part.is_empty())
    .collect::<Vec<_>>()
    .join("/");
    let options = JudgeOptions {
        strip: Some(args.strip),
        directory: &directory,
        reverse: args.reverse,
        git: Some(GitRules {
            min_context: args.min_context.unwrap_or(usize::MAX),
            unidiff_zero: args.unidiff_zero,
            recount: args.recount,
            allow_overlap: args.allow_overlap,
            ignore_white_space: args.ignore_whitespace,
        }),
        ..JudgeOptions::default()
    };
    let names: &[String] = if args.patches.is_empty() {
        &["-".to_owned()]
    } else {
        &args.patches
    };
    for name in names {
        let input = read(name)?;
        let paths: Vec<RepoPath> = named_paths(&input, args.strip, &directory)
            .iter()
            .filter_map(|path| RepoPath::new(path).ok())
            .collect();
        let judged = match &workspace.root {
            Some(root) if !args.cached && !args.index => {
                let named: Box<dyn Source> = Box::new(Named::open(root, &paths)?);
                judge(&input, named.as_ref(), &options)
            }
            _ => judge(&input, workspace.source.as_ref(), &options),
        };
        let empty = judged.verdict.error_code == Some(Code::new("P102"))
            || judged.verdict.error_code == Some(Code::new("P101"));
        if empty && args.allow_empty {
            continue;
        }
        if !judged.verdict.verdict.applies() {
            return Ok(refuse(&judged, output));
        }
        if !args.check {
            apply::write(&workspace, &judged.changes, args.cached, args.index)?;
        }
    }
    Ok(Exit::Yes)
}

fn read(name: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = if name == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(name).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map(|_| bytes).map_err(|error| {
        let said = format!("can't open patch '{name}': {}", error.kind());
        CliError::new(Code::new("U302"), said).exit(Exit::Git(DAMAGED))
    })
}

// In git's words, where others look for them.
fn refuse(judged: &Judged, output: &Output) -> Exit {
    let mut text = String::new();
    let mut exit = Exit::No;
    let errors = judged.verdict.problems.iter();
    for problem in errors.filter(|problem| problem.severity == Severity::Error) {
        let path = problem.path.as_deref().unwrap_or("patch");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "error: {}", words(problem, path));
        if problem.code == Code::new("P401") {
            let _ = writeln!(text, "error: {path}: patch does not apply");
        }
        let damaged = matches!(
            problem.code.as_str(),
            "P101" | "P102" | "P103" | "P104" | "P106" | "P201" | "P204" | "P307" | "P503" | "P504"
        );
        if damaged {
            exit = Exit::Git(DAMAGED);
        }
    }
    output.raw_error(&text);
    exit
}

fn words(problem: &PatchProblem, path: &str) -> String {
    match problem.code.as_str() {
        "P101" | "P102" => "No valid patches in input (allow with \"--allow-empty\")".to_owned(),
        "P104" | "P307" => format!("corrupt patch at line {}", problem.patch_line),
        "P401" => format!("patch failed: {path}:{}", problem.patch_line),
        "P501" => format!("{path}: No such file or directory"),
        "P502" => format!("{path}: already exists in working directory"),
        "P503" | "P504" => format!("invalid path '{path}'"),
        "P505" => format!("affected file '{path}' is beyond a symbolic link"),
        _ => format!("{path}: {}", problem.message),
    }
}
