//! Runs one call of an agent and reads its reply.

use std::path::Path;
use std::time::Duration;

use super::adapter::{Adapter, Transcript};
use super::reply::{Reply, read_reply};
use crate::exec::{
    CommandLine, Discard, Environment, ExecError, Job, Limits, Outcome, Stdin, Stop, run,
};

/// How to run an agent once.
#[derive(Debug, Clone, Copy)]
pub struct AgentRequest<'a> {
    /// The command line, with placeholders.
    pub command: &'a str,
    /// How its events are read, where it prints some.
    pub adapter: Option<&'a Adapter>,
    /// What the placeholders represent; the packet and the prompt are written already.
    pub places: Places<'a>,
    /// What goes to its stdin.
    pub stdin: &'a str,
    /// Where it is started and how it is confined; what is run and for how long is filled in.
    pub job: &'a Job,
    /// How long it may take.
    pub timeout: Duration,
    /// Variables it gets beyond the usual ones: `NAME` or `NAME=VALUE`.
    pub environment: &'a [String],
    /// Bytes of output after which it is stopped.
    pub max_output: u64,
}

/// What an agent did and said.
#[derive(Debug, Clone)]
pub struct AgentOutput {
    /// How the process ended.
    pub outcome: Outcome,
    /// What it said. For [`AgentProtocol::Edit`](crate::model::AgentProtocol::Edit) a patch in it
    /// counts only when nothing was edited.
    pub reply: Reply,
    /// The text that the reply was read from.
    pub text: Vec<u8>,
}

/// Runs the agent and reads its reply from `{out}` when it wrote there, else from its stdout.
///
/// # Errors
/// [`ExecError`] when the process could not be started or watched; an agent that fails or runs
/// out of time is an [`AgentOutput`].
pub fn run_agent(request: &AgentRequest<'_>, stop: &Stop) -> Result<AgentOutput, ExecError> {
    let environment = [&request.job.environment.allow, request.environment].concat();
    let job = Job {
        command: CommandLine::Shell(fill_template(request.command, &request.places)),
        stdin: Stdin::Bytes(request.stdin.as_bytes().to_vec()),
        environment: Environment::with(environment),
        limits: Limits {
            max_output: request.max_output,
            ..Limits::within(request.timeout)
        },
        ..request.job.clone()
    };
    let outcome = run(&job, stop, &mut Discard)?;
    tracing::info!(
        bytes = outcome.stdout.bytes,
        "the agent ended: {}",
        outcome.end
    );
    let written = read_limited(request.places.out, request.max_output);
    let printed = outcome.stdout.text();
    let told = request.adapter.and_then(|adapter| adapter.parse_transcript(&printed));
    let told = told.unwrap_or(Transcript {
        text: printed,
        usage: None,
    });
    let text = written.filter(|text| !text.trim().is_empty()).unwrap_or(told.text);
    let mut reply = read_reply(&text);
    reply.packet.usage = reply.packet.usage.or(told.usage);
    Ok(AgentOutput {
        outcome,
        reply,
        text: text.into_bytes(),
    })
}

fn read_limited(path: &Path, limit: u64) -> Option<String> {
    use std::io::Read as _;
    let regular = path.symlink_metadata().is_ok_and(|path| path.is_file());
    if !regular {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What replaces a placeholder in an agent's command line.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// `{packet}`: the failure packet.
    pub packet: &'a Path,
    /// `{prompt}`: the rendered prompt.
    pub prompt: &'a Path,
    /// `{out}`: where the agent may write its reply.
    pub out: &'a Path,
    /// `{workdir}`: the scratch copy of the repository.
    pub workdir: &'a Path,
}

/// Fills the placeholders of a command line, each as one quoted word of a POSIX shell. Other
/// braces stay as they are.
pub fn fill_template(command: &str, places: &Places<'_>) -> String {
    let filled = command
        .replace("{packet}", &quote_path(places.packet))
        .replace("{prompt}", &quote_path(places.prompt))
        .replace("{out}", &quote_path(places.out));
    // Last, because the user chose this path, and braces in it must stay.
    filled.replace("{workdir}", &quote_path(places.workdir))
}

fn quote_path(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Places, fill_template};

    #[test]
    fn quotes_placeholders_and_keeps_braces() {
        let places = Places {
            packet: Path::new("/r/it's/p.json"),
            prompt: Path::new("/r/p.md"),
            out: Path::new("/r/o"),
            workdir: Path::new("/w"),
        };
        assert_eq!(
            fill_template("run {packet} ${HOME} {x} {prompt}>{out} {", &places),
            r"run '/r/it'\''s/p.json' ${HOME} {x} '/r/p.md'>'/r/o' {"
        );
    }
}
