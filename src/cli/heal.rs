use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, json};

use super::global::Global;
use super::output::write_file;
use super::values::{Flag as _, TextOrJson};
use super::workspace::{Workspace, directory};
use super::{CliError, Exit, Output, settings};
use crate::config::{Seconds, Settings};
use crate::exec::Stop;
use crate::heal::{HealError, Healed, Options, Probe, ServerConfig, Target, heal, masked};
use crate::model::{FailureKind, HealingResult};
use crate::policy::Redactor;
use crate::report::healing_text;

/// Start what must answer before a repair can begin, and mend its configuration.
///
/// A probe is the test command, or an MCP server of a configuration file. It is really started; when
/// it does not answer, the reason is diagnosed, a copy of its configuration is changed, and it is
/// started again. Nothing that only a log names is ever run or installed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    /// A command that must run: it may fail, but for a reason in the code
    #[arg(long, value_name = "CMD")]
    test: Option<String>,
    /// A file with `mcpServers`, each of which must answer
    #[arg(long, value_name = "FILE")]
    mcp: Option<PathBuf>,
    /// Only this server of the file; can be given again
    #[arg(long, value_name = "NAME", requires = "mcp")]
    server: Vec<String>,
    /// Write the configuration that answers back to the file
    #[arg(long)]
    auto: bool,
    /// Fixes to try for each probe [default: 3] [setting: heal.max-attempts]
    #[arg(long, value_name = "N")]
    max_attempts: Option<u32>,
    /// Seconds that a probe has to answer [default: 30] [setting: heal.timeout]
    #[arg(long, value_name = "S")]
    timeout: Option<Seconds>,
    /// Hand on this variable too to the command, or set it: NAME or NAME=VALUE [setting: test.env]
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXITS: &str = "Exit codes: 0 all answer · 1 one does not, for an unknown reason · 2 nothing \
could be started · 3 a time limit ended it · 4 a person must act · 130 interrupted";

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let mut servers = args.mcp.as_deref().map(read_servers).transpose()?;
    let mut settings = settings::load(global)?;
    merge(args, &mut settings);
    let probes = probes(args, settings.heal.timeout.0, servers.as_ref())?;
    if probes.is_empty() {
        return Err(CliError::usage("there is nothing to probe")
            .hint("name a command with `--test CMD`, or servers with `--mcp FILE`"));
    }
    let workspace = Workspace::open(global, None, output)?;
    let given = servers.iter().flat_map(ServerConfig::variables);
    let named = settings.test.env.iter().filter_map(|it| it.split_once('='));
    let named = named.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let variables = std::env::vars_os().filter_map(settings::utf8);
    let redactor = Redactor::new(variables.chain(given).chain(named));
    let stop = Stop::install()
        .map_err(|error| CliError::environment(format!("cannot listen to Ctrl-C: {error}")))?;
    let options = Options {
        directory: directory()?,
        max_attempts: settings.heal.max_attempts,
        environment: &settings.test.env,
        redactor: &redactor,
        listing: Some(workspace.source.listing()),
        stop: &stop,
    };
    let mut reports = Vec::new();
    let mut attempts = Vec::new();
    let mut last = Map::new();
    for probe in probes {
        let Healed {
            probe,
            report,
            attempts: mine,
        } = heal(probe, &options)?;
        match (&probe.target, &mut servers) {
            (Target::Command(line), _) => {
                let seconds = probe.timeout.as_secs_f64();
                let test = json!({"command": line, "timeoutSeconds": seconds});
                last.insert("test".to_owned(), test);
            }
            (Target::Server(_), Some(servers)) if report.changed => servers.replace(&probe),
            _ => {}
        }
        reports.push(report);
        attempts.extend(mine);
        if stop.requested() {
            break;
        }
    }
    if let Some(servers) = &servers {
        last.extend(servers.document());
    }
    let result = HealingResult::new(reports, attempts, masked(&last, &redactor));
    if let (Some(servers), Some(file)) = (&servers, &args.mcp) {
        write_back(servers, file, args.auto, &result, output)?;
    }
    match args.format {
        TextOrJson::Json => output.json(&result)?,
        TextOrJson::Text => output.data(&healing_text(&result))?,
    }
    Ok(exit(&result, &stop))
}

fn read_servers(file: &Path) -> Result<ServerConfig, CliError> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|error| CliError::unreadable(&name, &error))?;
    Ok(ServerConfig::parse(&name, &bytes)?)
}

fn merge(args: &Args, settings: &mut Settings) {
    args.max_attempts.over(&mut settings.heal.max_attempts);
    args.timeout.over(&mut settings.heal.timeout);
    settings.test.env.extend_from_slice(&args.env);
}

fn probes(
    args: &Args,
    timeout: Duration,
    servers: Option<&ServerConfig>,
) -> Result<Vec<Probe>, CliError> {
    let mut probes: Vec<Probe> = Vec::new();
    if let Some(line) = args.test.as_ref().filter(|line| !line.trim().is_empty()) {
        probes.push(Probe {
            name: "test".to_owned(),
            target: Target::Command(line.clone()),
            timeout,
        });
    }
    if let Some(servers) = servers {
        let all = || servers.names().map(str::to_owned).collect();
        let wanted: Vec<String> = if args.server.is_empty() {
            all()
        } else {
            args.server.clone()
        };
        for name in wanted {
            probes.push(servers.probe(&name, timeout)?);
        }
    }
    Ok(probes)
}

fn write_back(
    servers: &ServerConfig,
    file: &Path,
    auto: bool,
    result: &HealingResult,
    output: &Output,
) -> Result<(), CliError> {
    let mut changed = result.probes.iter().filter(|it| it.changed && it.fixed);
    if changed.next().is_none() {
        return Ok(());
    }
    if auto {
        write_file(file, servers.text())?;
        output.note(&format!("wrote {}", file.display()));
    } else {
        output.note("another configuration answers; `--auto` writes it to the file");
    }
    Ok(())
}

fn exit(result: &HealingResult, stop: &Stop) -> Exit {
    if stop.requested() {
        return Exit::Interrupted;
    }
    let worst = result.probes.iter().find(|probe| !probe.fixed);
    match worst.and_then(|probe| probe.diagnosis.as_ref()) {
        _ if result.fixed => Exit::Yes,
        Some(diagnosis) => match diagnosis.kind {
            FailureKind::Timeout => Exit::TimedOut,
            FailureKind::Unknown => Exit::No,
            _ => Exit::PersonMustAct,
        },
        None => Exit::No,
    }
}

impl From<HealError> for CliError {
    fn from(error: HealError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            HealError::Config { .. } => {
                said.hint("hosts write it as {\"mcpServers\": {\"NAME\": {\"command\": \"...\"}}}")
            }
            HealError::UnknownServer { known, .. } => {
                said.hint(format!("the file names {}", known.join(", ")))
            }
            HealError::NoMcp => {
                said.hint("build it with the feature `mcp`, which is on by default")
            }
            HealError::Exec(error) => error.into(),
            HealError::Start(_) => said.hint("check the limits on processes and open files"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HealError;
    use crate::cli::CliError;
    use crate::model::Code;

    #[test]
    fn a_build_without_mcp_says_so() {
        let error = CliError::from(HealError::NoMcp);
        assert_eq!(error.code, Code::R303);
        assert!(error.hints.iter().any(|hint| hint.contains("mcp")));
    }
}
