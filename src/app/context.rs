//! The task of `mendit context`: builds a packet and writes it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::files::{to_json, write_file};
use super::flags::{level, read_level, request, word};
use super::open::{base_tree, find_named, with_known};
use super::runs::last_log;
use super::why::add_known;
use super::{App, AppError, Input, Result};
use crate::config::Bytes;
use crate::context::{
    LevelChoice, Request, add_history, base_request, build, change_under_test, estimate_tokens,
    failure_packet,
};
use crate::diagnose::LogFacts;
use crate::model::{
    ContextDocument, FailurePacket, Level, PacketBudget, PreviousAttempt, Profile, StopReason,
};
use crate::policy::Redactor;
use crate::report::context_markdown;
use crate::workspace::{At, Workspace};

request! {
/// Build the packet of a failure.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
ContextRequest {
    /// Files the failure is about; a directory means its files
    #[arg(value_name = "TARGET")] targets: Vec<String>;
    /// The same as TARGET
    #[arg(hide_short_help = true, long = "target", value_name = "PATH")] #[serde(skip)] more_targets: Vec<String>;
    /// Log of the failing command; `-` is standard input. Without it and without a target, the last
    /// run
    #[schemars(description = "The output of the failing command; without it and without a target, the last run's")]
    #[arg(long, value_name = "FILE")] log: Option<Input>;
    /// Text of an issue or a task instead of a log; `-` is standard input
    #[arg(long, visible_alias = "task", value_name = "FILE", conflicts_with = "log")]
    #[schemars(description = "The text of an issue or a task, in place of a log")] issue: Option<Input>;
    /// A failure packet to take log, targets and commands from
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with = "log")] #[serde(skip)] failure: Option<Input>;
    /// The command that shows the failure (it is not run)
    #[arg(hide_short_help = true, long = "test-command", value_name = "CMD")] #[serde(skip)] test_commands: Vec<String>;
    /// Context level: auto, or 0 to 4
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = level)]
    #[serde(deserialize_with = "read_level")]
    #[schemars(with = "Option<u8>", range(min = 0, max = 3), description = "The context level, 0 to 3; by default the failure chooses")]
    level: LevelChoice;
    /// How the previous attempt ended, such as `tests_failed`
    #[arg(hide_short_help = true, long, value_name = "REASON", value_parser = word::<StopReason>, help_heading = AFTER)]
    #[serde(skip)] stop_reason: Option<StopReason>;
    /// context.json or result.json of the previous attempt
    #[arg(long, value_name = "FILE", help_heading = AFTER)] #[serde(skip)] previous: Option<Input>;
    /// JSON with the `requestedFiles` of an agent; `-` is standard input
    #[arg(hide_short_help = true, long, value_name = "FILE", help_heading = AFTER)] #[serde(skip)] request: Option<Input>;
    /// A request of an agent: PATH, PATH:120-200 (lines) or PATH#NAME (a definition)
    #[serde(rename = "requestedFiles")]
    #[arg(long = "request-path", value_name = "PATH", help_heading = AFTER)] requested: Vec<String>;
    /// Permit level 4: the whole repository, without caps
    #[arg(hide_short_help = true, long, help_heading = WHAT)] #[serde(skip)] include_repo_bundle: bool;
    /// Read this commit instead of the worktree
    #[arg(long, value_name = "REV")] rev: Option<String>;
    /// Base of the change under test: its diff is shown, its files rank high
    #[arg(long, value_name = "BASE", help_heading = WHAT)] diff: Option<String>;
    /// How files are chosen [default: ranked] [setting: context.profile]
    #[arg(hide_short_help = true, long, value_name = "ranked|spec", value_parser = word::<Profile>, help_heading = WHAT)]
    #[serde(skip)] profile: Option<Profile> => set context.profile;
    /// Files beyond targets and manifests [setting: context.max-files]
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = WHAT)] #[serde(skip)] max_files: Option<u64> => set context.max_files;
    /// Bytes of one file [setting: context.max-file-bytes]
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = WHAT)] #[serde(skip)] max_file_bytes: Option<Bytes> => set context.max_file_bytes;
    /// Bytes of all files [setting: context.max-total-bytes]
    #[arg(hide_short_help = true, long, value_name = "N", help_heading = WHAT)] #[serde(skip)] max_total_bytes: Option<Bytes> => set context.max_total_bytes;
    /// Estimated tokens of all files and the log (two per seven bytes); 0 means no limit [setting: context.max-tokens]
    #[arg(long, value_name = "N", help_heading = WHAT)] max_tokens: Option<u64> => set context.max_tokens;
    /// Do not use the trace of the failing tests [setting: context.trace]
    #[arg(hide_short_help = true, long, help_heading = WHAT)] #[serde(skip)] no_trace: bool => off context.trace;
    /// Bytes of the log; the middle is left out.
    #[arg(skip)] #[serde(skip)] max_log_bytes: Option<Bytes>;
    /// Read only files that match; repeatable [setting: context.allow]
    #[arg(long, value_name = "GLOB", help_heading = WHAT)] #[serde(skip)] allow: Vec<String> => list context.allow;
    /// Never read files that match; repeatable [setting: context.deny]
    #[arg(long, value_name = "GLOB", help_heading = WHAT)] #[serde(skip)] deny: Vec<String> => add context.deny;
    /// Write context.json and failure-packet.json here
    #[arg(long, value_name = "DIR", help_heading = "Result")] #[serde(skip)] out: Option<PathBuf>;
    /// How the command ended that wrote the log.
    #[arg(skip)] #[serde(skip)] facts: LogFacts;
    /// Do not use the cache of parsed files
    #[arg(hide_short_help = true, long)] #[serde(skip)] no_cache: bool;
}
}

const AFTER: &str = "After an attempt";
const WHAT: &str = "Contents";

/// A packet, and the same as it is given to an agent.
#[derive(Debug)]
pub struct Packed {
    /// The packet.
    pub context: ContextDocument,
    /// The packet with the log, the commands and what was tried before.
    pub packet: FailurePacket,
}

impl Packed {
    /// Estimated tokens of the whole prompt: files, log and what is said of both.
    pub fn prompt_tokens(&self) -> u64 {
        estimate_tokens(context_markdown(&self.context, &self.packet).len() as u64)
    }
}

/// Builds the packet of a failure, and writes it where the request says.
///
/// # Errors
/// A target outside the repository, a level that is not permitted, a log without a word, or a
/// folder that cannot be written.
pub fn build_context(app: &App, query: &ContextRequest) -> Result<Packed> {
    let at = query.rev.as_deref().map_or(At::Worktree, At::Revision);
    let workspace = app.workspace(at)?;
    let packed = pack(app, &workspace, query, app.redactor())?;
    if packed.context.files.is_empty() && !packed.packet.logs.text.is_empty() {
        app.note("the log names no file in this repository (hint: pass one as TARGET)");
    }
    if let Some(folder) = &query.out {
        let folder = app.directory().join(folder);
        write_file(&folder.join("context.json"), to_json(&packed.context)?)?;
        let packet = to_json(&packed.packet)?;
        write_file(&folder.join("failure-packet.json"), packet)?;
        let folder = folder.display();
        app.note(&format!(
            "wrote context.json and failure-packet.json to {folder}"
        ));
    }
    Ok(packed)
}

/// Chooses the files of a revision and packs them.
pub(super) fn pack(
    app: &App,
    workspace: &Workspace,
    query: &ContextRequest,
    redactor: &Redactor,
) -> Result<Packed> {
    let mut request = read_request(query, app, workspace)?;
    let previous = read_previous(query, &mut request)?;
    let policy = app.read_policy(request.profile)?;
    let source = workspace.source.as_ref();
    if let Some(base) = &query.diff {
        let tree = base_tree(workspace, "--diff", base)?;
        let change = change_under_test(base, &tree, source, &policy, redactor);
        request.change = Some(change);
    }
    if request.says_nothing() {
        app.note(
            "without a log, a target or a request, the packet contains only the repository's index (hint: pass `--log FILE`, or pipe the failing command into `--log -`)",
        );
    }
    app.go_on("choosing files")?;
    let revision = query.rev.as_deref().unwrap_or("HEAD");
    let built = with_known(app, !query.no_cache, |cache| {
        add_history(&mut request, workspace.git.as_ref(), revision, cache);
        build(source, cache, &policy, redactor, &request)
    })?;
    let (commands, budget) = (&request.test_commands, PacketBudget::default());
    let packet = failure_packet(&built, redactor, commands, &[], previous, budget);
    Ok(Packed {
        context: built.context,
        packet,
    })
}

// What the request, the settings and the documents ask for.
fn read_request(query: &ContextRequest, app: &App, workspace: &Workspace) -> Result<Request> {
    let mut request = base_request(app.settings(), workspace.git.as_ref());
    request.directory.clone_from(&workspace.prefix);
    request.level = query.level;
    request.facts = query.facts.clone();
    request.include_bundle = query.include_repo_bundle;
    request.test_commands.clone_from(&query.test_commands);
    if let Some(bytes) = query.max_log_bytes {
        request.max_log_bytes = bytes.0;
    }
    for typed in query.targets.iter().chain(&query.more_targets) {
        request.targets.extend(find_named(workspace, typed)?);
    }
    if let Some(issue) = &query.issue {
        request.issue = Some(String::from_utf8_lossy(&issue.read()?).into_owned());
    }
    request.log = query.log.as_ref().map(|log| log.log(app)).transpose()?;
    if let Some(failure) = &query.failure {
        let packet = failure.json()?;
        let text = packet["logs"]["text"].as_str().map(str::to_owned);
        request.log = Some(
            text.ok_or_else(|| AppError::usage("the failure packet has no `logs.text`"))?
                .into(),
        );
        for target in texts_in(&packet["targets"]) {
            request.targets.extend(find_named(workspace, &target)?);
        }
        request.test_commands.extend(texts_in(&packet["testCommands"]));
    }
    let mut requested = query.requested.clone();
    if let Some(input) = &query.request {
        let document = input.json()?;
        if !document["requestedFiles"].is_array() {
            let message = format!("`{}` has no list `requestedFiles`", input.name());
            return Err(AppError::usage(message));
        }
        requested.extend(texts_in(&document["requestedFiles"]));
    }
    if !requested.is_empty() {
        request.requests.push(requested);
    }
    // Where nothing says what the packet is for, it is for the last run.
    let is_open = request.says_nothing() && query.rev.is_none();
    let last = if is_open { last_log(app)? } else { None };
    if last.as_ref().is_some_and(|last| last.facts.exit_code == Some(0)) {
        app.note("the last run passed: the packet is about no failure (hint: pass a TARGET)");
    }
    if let Some(last) = last.filter(|last| !last.log.text().trim().is_empty()) {
        request.log = Some(last.log);
        if request.test_commands.is_empty() {
            request.test_commands.extend(last.facts.command.clone());
        }
        request.facts = last.facts;
    }
    if query.rev.is_none() {
        add_known(app, workspace, &mut request);
    }
    Ok(request)
}

// What is said of the attempt before.
fn read_previous(query: &ContextRequest, request: &mut Request) -> Result<Option<PreviousAttempt>> {
    let mut patch_digest = None;
    if let Some(input) = &query.previous {
        let document = input.json()?;
        let level = document["level"].as_u64();
        let level = level.and_then(|level| Level::from_number(u8::try_from(level).ok()?));
        request.retry.level = Some(level.ok_or_else(|| {
            AppError::usage(format!("`{}` has no `level` from 0 to 4", input.name()))
        })?);
        let reason = document["stopReason"].as_str();
        let reason = reason.and_then(|reason| reason.parse().ok());
        request.retry.stop_reason = reason.or(Some(StopReason::StillFailing));
        // Requests that earlier packets answered, so that their files are not served again.
        let rounds = document["requestRounds"].as_u64().unwrap_or(0);
        // More rounds than are ever answered.
        for _ in 0..rounds.min(8) {
            request.requests.insert(0, Vec::new());
        }
        patch_digest = document["patchDigest"].as_str().map(str::to_owned);
    }
    if query.stop_reason.is_some() {
        request.retry.stop_reason = query.stop_reason;
    }
    Ok(
        request.retry.stop_reason.map(|stop_reason| PreviousAttempt {
            stop_reason,
            patch_digest,
            ..PreviousAttempt::default()
        }),
    )
}

fn texts_in(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}
