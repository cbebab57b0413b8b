use std::io::Read;
use std::path::{Path, PathBuf};

use super::global::Global;
use super::workspace::directory;
use super::{CliError, Exit, Output};
use crate::exec::{self, CommandLine, Discard, Job, SandboxMode, Stop};
use crate::git::Repository;
use crate::model::Code;
use crate::patch::{Favour, GitApply, GitApplyOptions, Limit, Verbosity, WhiteSpace};

/// The flags of `git apply`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of git")]
pub(crate) struct Args {
    /// Patches; none or `-` reads standard input
    #[arg(value_name = "PATCH")]
    patches: Vec<String>,
    /// Change nothing and say whether it applies
    #[arg(long)]
    check: bool,
    /// Print a diffstat instead of applying
    #[arg(long)]
    stat: bool,
    /// Print added and deleted lines of each file instead of applying
    #[arg(long)]
    numstat: bool,
    /// Print what is created, deleted, renamed and changed in mode instead of applying
    #[arg(long)]
    summary: bool,
    /// Apply, even with a flag that would only print
    #[arg(long)]
    apply: bool,
    /// End names with NUL and do not quote them, with --numstat
    #[arg(short = 'z')]
    nul: bool,
    /// Change worktree and index, which must agree
    #[arg(long)]
    index: bool,
    /// Change the index alone
    #[arg(long)]
    cached: bool,
    /// Record new files in the index without content
    #[arg(short = 'N', long)]
    intent_to_add: bool,
    /// Merge when the blobs the patch was made for are known, else place hunks
    #[arg(short = '3', long = "3way")]
    three_way: bool,
    /// Settle conflicts of --3way with what stands there
    #[arg(long, conflicts_with_all = ["theirs", "union"], requires = "three_way")]
    ours: bool,
    /// Settle conflicts of --3way with the patch
    #[arg(long, conflicts_with = "union", requires = "three_way")]
    theirs: bool,
    /// Settle conflicts of --3way with both
    #[arg(long, requires = "three_way")]
    union: bool,
    /// Apply the other way round
    #[arg(short = 'R', long)]
    reverse: bool,
    /// Apply the hunks that fit and leave the rest in .rej files
    #[arg(long)]
    reject: bool,
    /// Strip N leading components from names [default: 1]
    #[arg(short = 'p', value_name = "N")]
    strip: Option<usize>,
    /// Lines of context that must match; all when not given
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
    /// Work around tools that lose a missing final newline
    #[arg(long)]
    inaccurate_eof: bool,
    /// Leave added lines out
    #[arg(long)]
    no_add: bool,
    /// Let white space in context differ
    #[arg(long, alias = "ignore-space-change")]
    ignore_whitespace: bool,
    /// What errors of white space in added lines lead to
    #[arg(long, value_name = "nowarn|warn|fix|error|error-all", value_parser = white_space)]
    whitespace: Option<WhiteSpace>,
    /// Use only paths that match; the first of --include and --exclude that matches decides
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// Do not use paths that match
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Put DIR before every name
    #[arg(id = "below", long = "directory", value_name = "DIR")]
    below: Option<String>,
    /// Work as if started in DIR, as -C is git's own here
    #[arg(id = "directory", long = "work-directory", value_name = "DIR")]
    // It takes the place of the global flag of this name.
    _work_directory: Option<PathBuf>,
    /// Let names lead out of the tree, without the index; git's own directory stays closed
    #[arg(long)]
    unsafe_paths: bool,
    /// An input without a patch is no error
    #[arg(long)]
    allow_empty: bool,
    /// Write an index with the blobs the patch was made for to FILE
    #[arg(long, value_name = "FILE")]
    build_fake_ancestor: Option<PathBuf>,
    /// Taken for git's sake: binary patches always apply
    #[arg(long, alias = "allow-binary-replacement")]
    binary: bool,
}

/// git's own exit code for what it calls fatal.
const FATAL: u8 = 128;

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let place = Place::open()?;
    let mut options = options(args, global, &place)?;
    if let Some(said) = refuse(args, &place) {
        output.raw_error(&format!("error: {said}\n"));
        return Ok(Exit::Git(FATAL));
    }
    if args.intent_to_add && (options.index || options.cached || place.repository.is_none()) {
        options.intent_to_add = false;
    }
    let state = place.state();
    let mut work = GitApply::open(place.repository.as_ref(), &place.root, state, &options)?;
    let standard = ["-".to_owned()];
    let names = if args.patches.is_empty() {
        &standard[..]
    } else {
        &args.patches
    };
    for name in names {
        let input = match read(name) {
            Ok(input) => input,
            Err(error) => {
                let done = work.finish();
                output.bytes(done.stdout.as_bytes())?;
                output.raw_error_bytes(&done.stderr);
                return Err(error);
            }
        };
        let said = if name == "-" { "<stdin>" } else { name };
        if !work.patch(said, &input) {
            break;
        }
    }
    let done = work.finish();
    output.bytes(done.stdout.as_bytes())?;
    output.raw_error_bytes(&done.stderr);
    if done.conflicts && place.remembers() {
        remember(&place.root, output);
    }
    Ok(match done.exit {
        0 => Exit::Yes,
        1 => Exit::No,
        code => Exit::Git(code),
    })
}

// Where git would work: at the root of the worktree, or where the user stands without one.
struct Place {
    repository: Option<Repository>,
    root: PathBuf,
    prefix: String,
}

impl Place {
    fn open() -> Result<Self, CliError> {
        let directory = directory()?;
        let repository = Repository::discover(&directory)?;
        let inside = |root: &Path, git_dir: &Path| {
            directory
                .strip_prefix(root)
                .ok()
                .map(Path::to_owned)
                .filter(|_| {
                    // In git's own directory there is no worktree.
                    !git_dir
                        .canonicalize()
                        .is_ok_and(|it| directory.starts_with(it))
                })
        };
        let found = repository.as_ref().and_then(|repository| {
            let root = repository.workdir()?.canonicalize().ok()?;
            let below = inside(&root, repository.git_dir())?;
            Some((root, below))
        });
        let (root, below) = found.unwrap_or((directory, PathBuf::new()));
        let mut prefix = below.to_string_lossy().replace('\\', "/");
        if !prefix.is_empty() {
            prefix.push('/');
        }
        Ok(Self {
            repository,
            root,
            prefix,
        })
    }

    // The journal stands in the git directory; without git, beside the temporary files.
    fn state(&self) -> PathBuf {
        match &self.repository {
            Some(repository) => repository.git_dir().join("mendit"),
            None => std::env::temp_dir().join(format!("mendit-{}", std::process::id())),
        }
    }

    // Whether git records how conflicts were resolved.
    fn remembers(&self) -> bool {
        let said = self.setting("rerere.enabled");
        let recorded = || {
            self.repository
                .as_ref()
                .map(|it| it.git_dir().join("rr-cache"))
        };
        match said.as_deref() {
            Some(said) => matches!(said, "true" | "yes" | "on" | "1" | ""),
            None => recorded().is_some_and(|it| it.is_dir()),
        }
    }

    fn setting(&self, key: &str) -> Option<String> {
        self.repository.as_ref()?.setting(key)
    }
}

// Resolves conflicts as they were before, when git is there to do it.
fn remember(root: &Path, output: &Output) {
    let words = ["git", "rerere"].map(Into::into).to_vec();
    let mut job = Job::new(CommandLine::Program(words), root);
    job.sandbox.mode = SandboxMode::Off;
    job.environment.allow = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with("GIT_"))
        .collect();
    if let Ok(outcome) = exec::run(&job, &Stop::new(), &mut Discard) {
        output.raw_error(&outcome.stderr.text());
    }
}

// Flags that do not go together or need a repository, in git's words.
fn refuse(args: &Args, place: &Place) -> Option<String> {
    if args.reject && args.three_way {
        return Some("options '--reject' and '--3way' cannot be used together".to_owned());
    }
    let needs = [
        ("--3way", args.three_way),
        ("--index", args.index),
        ("--cached", args.cached),
    ];
    let outside = place.repository.is_none();
    needs
        .iter()
        .find(|(_, given)| *given && outside)
        .map(|(flag, _)| format!("'{flag}' outside a repository"))
}

fn options(args: &Args, global: &Global, place: &Place) -> Result<GitApplyOptions, CliError> {
    let prints = args.check
        || args.stat
        || args.numstat
        || args.summary
        || args.build_fake_ancestor.is_some();
    let mut directory = args.below.clone().unwrap_or_default();
    if !directory.is_empty() && !directory.ends_with('/') {
        directory.push('/');
    }
    let setting = |key: &str| place.setting(key);
    let white_space = match args.whitespace {
        Some(given) => given,
        None => setting("apply.whitespace")
            .and_then(|text| WhiteSpace::parse(&text))
            .unwrap_or(if args.apply || !prints {
                WhiteSpace::Warn
            } else {
                WhiteSpace::NoWarn
            }),
    };
    Ok(GitApplyOptions {
        strip: args.strip,
        directory,
        prefix: place.prefix.clone(),
        apply: args.apply || args.reject || !prints,
        check: args.check,
        stat: args.stat,
        numstat: args.numstat,
        summary: args.summary,
        nul: args.nul,
        index: args.index,
        cached: args.cached,
        intent_to_add: args.intent_to_add,
        three_way: args.three_way,
        favour: match (args.ours, args.theirs, args.union) {
            (true, ..) => Favour::Ours,
            (_, true, _) => Favour::Theirs,
            (.., true) => Favour::Union,
            _ => Favour::Nobody,
        },
        reverse: args.reverse,
        reject: args.reject,
        min_context: args.min_context.unwrap_or(usize::MAX),
        unidiff_zero: args.unidiff_zero,
        allow_overlap: args.allow_overlap,
        recount: args.recount,
        inaccurate_eof: args.inaccurate_eof,
        no_add: args.no_add,
        ignore_white_space: args.ignore_whitespace
            || setting("apply.ignoreWhitespace").as_deref() == Some("change"),
        white_space,
        unsafe_paths: args.unsafe_paths,
        allow_empty: args.allow_empty,
        limits: limits(args)?,
        fake_ancestor: args.build_fake_ancestor.clone(),
        verbosity: match (global.quiet, global.verbose || args.reject) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        },
    })
}

// Both kinds of rule in the order of the command line, as the first that matches decides.
fn limits(args: &Args) -> Result<Vec<Limit>, CliError> {
    let mut order: Vec<bool> = Vec::new();
    for argument in std::env::args_os().filter_map(|it| it.into_string().ok()) {
        match argument.split('=').next() {
            Some("--include") => order.push(true),
            Some("--exclude") => order.push(false),
            _ => {}
        }
    }
    let (mut include, mut exclude) = (args.include.iter(), args.exclude.iter());
    let mut limits = Vec::new();
    for included in order {
        let next = if included {
            include.next()
        } else {
            exclude.next()
        };
        let Some(text) = next else { continue };
        let pattern = globset::Glob::new(text)
            .map_err(|error| CliError::usage(format!("`{text}` is no pattern: {error}")))?;
        limits.push(Limit {
            include: included,
            pattern: pattern.compile_matcher(),
        });
    }
    Ok(limits)
}

fn white_space(text: &str) -> Result<WhiteSpace, String> {
    WhiteSpace::parse(text).ok_or_else(|| format!("unrecognized whitespace option '{text}'"))
}

fn read(name: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = if name == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(name).and_then(|mut file| {
            let size = file.metadata().map_or(0, |it| it.len());
            bytes.reserve(usize::try_from(size).unwrap_or(0));
            file.read_to_end(&mut bytes)
        })
    };
    read.map(|_| bytes).map_err(|error| {
        let said = format!("can't open patch '{name}': {}", error.kind());
        CliError::new(Code::U302, said).exit(Exit::Git(FATAL))
    })
}
