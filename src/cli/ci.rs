use std::path::Path;

use super::global::Global;
use super::{AppError, Exit, Output};
use crate::app::{PRESETS, below_no_link, preset, write_file};
use crate::model::Code;

/// Write the workflow that tells and mends failed jobs
///
/// For GitHub `.github/workflows/mendit.yml`, for GitLab `.gitlab/mendit.yml`, which `.gitlab-ci.yml`
/// includes. It runs `mendit fix-ci` on the logs of a failed run and writes one comment. What runs code
/// of the repository may write nothing, forks are left out, and a change of its own starts nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit ci github --test 'npm test' --workflow CI --release OWNER/NAME
  mendit ci github --test pytest --program tools/mendit --agent claude
  mendit ci gitlab --test pytest --program tools/mendit --stdout")]
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
    /// Install the released archive of this version from this repository on GitHub [default: the one that
    /// this program was released from]
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    release: Option<String>,
    /// Install this built program, a file of the repository
    #[arg(long, value_name = "PATH", conflicts_with = "release")]
    program: Option<String>,
    /// Install with this line
    #[arg(long, value_name = "CMD", conflicts_with_all = ["release", "program"])]
    install: Option<String>,
    /// Ask this agent for what needs a model: a name as for `mendit fix`, its key a secret of the service
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<String>,
    /// Print it instead of writing it
    #[arg(long)]
    stdout: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Service {
    Github,
    Gitlab,
}

pub(crate) fn run(args: &Args, _: &Global, output: &Output) -> Result<Exit, AppError> {
    let (path, form) = match args.service {
        Service::Github => (".github/workflows/mendit.yml", GITHUB),
        Service::Gitlab => (".gitlab/mendit.yml", GITLAB),
    };
    // JSON strings are YAML's too.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut install = args.install_line()?;
    let preset = args.agent.as_deref().and_then(preset);
    if let Some(preset) = preset {
        install.push_str(&format!(" && {}", preset.install));
    }
    let keys = preset.map_or(&[][..], |it| &it.keys);
    let keys: String = keys
        .iter()
        .map(|it| format!("\n          {it}: ${{{{ secrets.{it} }}}}"))
        .collect();
    let agent = args.agent.as_ref();
    let text = form
        .replace("@TEST@@KEYS@", &format!("{}{keys}", quoted(&args.test)))
        .replace("@TEST@", &quoted(&args.test))
        .replace("@WORKFLOW@", &quoted(&args.workflow))
        .replace("@INSTALL@", &quoted(&install))
        .replace(
            "@AGENT@",
            &agent.map_or_else(String::new, |it| format!(" --agent {it}")),
        );
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
    output.note(&format!(
        "wrote {path}: add above its installation what the tests need there"
    ));
    Ok(Exit::Yes)
}

impl Args {
    fn install_line(&self) -> Result<String, AppError> {
        if let Some(line) = &self.install {
            return Ok(line.clone());
        }
        let fetch = match (&self.program, &self.release) {
            (Some(path), _) => {
                let path = path.replace('\'', r"'\''");
                format!("install -D -m 755 '{path}' \"$HOME/.local/bin/mendit\"")
            }
            (None, Some(name)) => released(&format!("https://github.com/{name}")),
            (None, None) if !OWN_REPOSITORY.is_empty() => released(OWN_REPOSITORY),
            (None, None) => {
                let message = "this program was not released from anywhere, so it cannot be told how it gets there";
                return Err(AppError::usage(message)
                    .hint("`--release OWNER/NAME` takes the archive of a release on GitHub")
                    .hint("`--program PATH` takes a program of the repository, `--install CMD` any line"));
            }
        };
        Ok(match self.service {
            Service::Github => format!("{fetch} && echo \"$HOME/.local/bin\" >> \"$GITHUB_PATH\""),
            Service::Gitlab => format!("{fetch} && export PATH=\"$HOME/.local/bin:$PATH\""),
        })
    }
}

const OWN_REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

// Its installer compares the checksum of the archive.
fn released(repository: &str) -> String {
    let releases = format!(
        "{repository}/releases/download/v{}",
        env!("CARGO_PKG_VERSION")
    );
    let script = "/tmp/install-mendit.sh";
    format!(
        "curl -fsSL {releases}/install.sh -o {script} && MENDIT_RELEASES={releases} sh {script}"
    )
}

fn agent(text: &str) -> Result<String, String> {
    if preset(text).is_some() {
        return Ok(text.to_owned());
    }
    let names: Vec<_> = PRESETS.iter().map(|it| it.name.as_str()).collect();
    Err(format!("one of {} is expected", names.join(", ")))
}

fn repository(text: &str) -> Result<String, String> {
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    match text.split_once('/') {
        Some((owner, name)) if plain(owner) && plain(name) => Ok(text.to_owned()),
        _ => Err("`OWNER/NAME` is expected, as in github.com/OWNER/NAME".to_owned()),
    }
}

const GITHUB: &str = include_str!("workflows/github.yml");
const GITLAB: &str = include_str!("workflows/gitlab.yml");
