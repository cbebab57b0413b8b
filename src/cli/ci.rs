use std::path::Path;

use super::{AppError, Exit, Output};
use crate::app::{below_no_link, write_file};
use crate::model::Code;

/// Write the workflow that tells and mends failed jobs
///
/// For GitHub `.github/workflows/mendit.yml`, for GitLab `.gitlab/mendit.yml`, which `.gitlab-ci.yml`
/// includes. It runs `mendit fix-ci` on the logs of a failed run and writes one comment. What runs code
/// of the repository may write nothing, forks are left out, and a change of its own starts nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit ci github --test 'npm test' --workflow CI
  mendit ci gitlab --test pytest --stdout")]
pub(crate) struct Args {
    /// The service
    #[arg(value_enum)]
    service: Service,
    /// The command that must pass
    #[arg(long, value_name = "CMD")]
    test: String,
    /// The workflow whose failed runs are looked at (GitHub)
    #[arg(long, value_name = "NAME", default_value = "CI")]
    workflow: String,
    /// The line that installs mendit there
    #[arg(
        long,
        value_name = "CMD",
        default_value = "cargo install --locked mendit"
    )]
    install: String,
    /// Print it instead of writing it
    #[arg(long)]
    stdout: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Service {
    Github,
    Gitlab,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let (path, form) = match args.service {
        Service::Github => (".github/workflows/mendit.yml", GITHUB),
        Service::Gitlab => (".gitlab/mendit.yml", GITLAB),
    };
    // JSON strings are YAML's too.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let text = form
        .replace("@TEST@", &quoted(&args.test))
        .replace("@WORKFLOW@", &quoted(&args.workflow))
        .replace("@INSTALL@", &quoted(&args.install));
    if args.stdout {
        output.data(&text)?;
        return Ok(Exit::Yes);
    }
    if Path::new(path).symlink_metadata().is_ok() {
        return Err(
            AppError::new(Code::U105, format!("`{path}` is already there"))
                .hint("`--stdout` prints the workflow"),
        );
    }
    write_file(&below_no_link(Path::new(""), path)?, text)?;
    output.note(&format!("wrote {path}"));
    Ok(Exit::Yes)
}

const GITHUB: &str = include_str!("workflows/github.yml");
const GITLAB: &str = include_str!("workflows/gitlab.yml");
