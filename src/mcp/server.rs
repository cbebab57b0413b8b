use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, watch};

use super::answer::answer;
use super::resources::Answers;
use super::roots::Roots;
use super::tool::{Caller, ToolError, ToolRow};
use super::tools::TOOLS;
use super::{prompts, resources};
use crate::app::{App, AppError, AppOptions, Flags, SettingsChoice, Stop};

/// The commands as tools, and documents as resources.
#[derive(Debug, Clone)]
pub struct Server {
    options: Arc<ServerOptions>,
    roots: Arc<Roots>,
    answers: Arc<Answers>,
    // What all clients together may have under way; more wait.
    calls: Arc<Semaphore>,
    // Whether the client is gone.
    pub(super) ended: watch::Sender<bool>,
}

impl Server {
    /// A server with these options.
    #[must_use]
    pub fn new(options: ServerOptions) -> Self {
        Self {
            options: Arc::new(options),
            roots: Arc::default(),
            answers: Arc::default(),
            calls: Arc::new(Semaphore::new(CALLS)),
            ended: watch::Sender::default(),
        }
    }

    async fn directory(&self, context: &RequestContext<RoleServer>) -> Result<PathBuf, ErrorData> {
        self.roots.directory(&self.options, &context.peer).await
    }

    fn rows(&self) -> impl Iterator<Item = &'static ToolRow> {
        let may_write = self.options.allow_write;
        let may_run = self.options.may_run();
        let allowed = move |row: &&ToolRow| (may_write || !row.writes) && (may_run || !row.runs);
        TOOLS.iter().filter(allowed)
    }

    // A tool that is not offered is an answer for the model; one that is not there is an error.
    fn row(&self, name: &str) -> Result<Result<&'static ToolRow, String>, ErrorData> {
        if let Some(row) = self.rows().find(|row| row.name == name) {
            return Ok(Ok(row));
        }
        match TOOLS.iter().find(|row| row.name == name) {
            Some(row) if row.writes => Ok(Err(format!(
                "`{name}` changes files, and this server was started without --allow-write"
            ))),
            Some(_) => Ok(Err(format!(
                "`{name}` runs commands, and this server was started without --run CMD and --run-last"
            ))),
            None => {
                let message = format!("there is no tool `{name}`");
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("mendit", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.roots.forget().await;
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.rows().find(|row| row.name == name).map(ToolRow::tool)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.rows().map(ToolRow::tool).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let row = match self.row(&request.name)? {
            Ok(row) => row,
            Err(message) => return Ok(refused(message).into()),
        };
        let _permit = self.calls.acquire().await;
        let options = self.options.clone();
        let mut arguments = request.arguments.unwrap_or_default();
        row.coerce_arguments(&mut arguments);
        let limit = match row.take_limit(&mut arguments) {
            Ok(limit) => limit,
            Err(error) => return Ok(failed(error).into()),
        };
        let token = context.meta.get_progress_token();
        let directory = self.directory(&context).await?;
        let stop = Stop::install().map_err(|error| {
            let message = format!("nothing could end the call: {error}");
            ErrorData::internal_error(message, None)
        })?;
        let (progress, mut steps) = Progress::new(stop.clone());
        let mut work = tokio::task::spawn_blocking(move || {
            // Settings are read at each call: a change of them needs no new server.
            let open = |flags: &dyn Flags| open(directory.clone(), &options, flags);
            let caller = Caller {
                open: &open,
                commands: &options.commands,
                last: options.last,
                progress: &progress,
                heard: &|line| progress.hear(line),
            };
            (row.call)(&caller, arguments)
        });
        let mut notified = Notified::default();
        let mut ended = self.ended.subscribe();
        let mut silence = tokio::time::interval(SILENCE);
        silence.tick().await;
        let given = loop {
            tokio::select! {
                biased;
                // Dropping `steps` tells the tool, which stops at its next step.
                () = context.ct.cancelled() => {
                    end(stop);
                    return Err(ErrorData::internal_error("the call was cancelled", None));
                }
                // The command ends with this process.
                () = async { drop(ended.wait_for(|ended| *ended).await) }, if row.runs => {
                    let message = "the input ended before the command did";
                    return Err(ErrorData::internal_error(message, None));
                }
                Some(heard) = steps.recv() => {
                    if let Some(step) = notified.hear(heard) {
                        silence.reset();
                        tell(&context, token.as_ref(), &notified, step).await;
                    }
                }
                _ = silence.tick() => {
                    let message = notified.still();
                    tell(&context, token.as_ref(), &notified, message).await;
                }
                given = &mut work => break given,
            }
        };
        match given {
            Ok(Ok(mut given)) => {
                given.limit = given.limit.or(limit);
                Ok(answer(given, &self.answers, knows_links(&context)).into())
            }
            Ok(Err(error)) => Ok(failed(error).into()),
            Err(error) => Err(ErrorData::internal_error(
                format!("the tool failed: {error}"),
                None,
            )),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let runs = self.options.may_run();
        match prompts::get(&request.name, &arguments, runs) {
            Some(prompt) => Ok(prompt.into()),
            None => Err(ErrorData::invalid_params(
                format!("there is no prompt `{}`", request.name),
                None,
            )),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let directory = self.directory(&context).await?;
        let app = open(directory, &self.options, &()).map_err(internal)?;
        Ok(ListResourcesResult::with_all_items(resources::list(
            &app,
            &self.answers,
        )))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let directory = self.directory(&context).await?;
        let app = open(directory, &self.options, &()).map_err(internal)?;
        match resources::read(&app, &self.answers, &request.uri) {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => Err(ErrorData::resource_not_found(
                format!("there is no resource `{}`", request.uri),
                None,
            )),
        }
    }
}

const CALLS: usize = 8;
const INSTRUCTIONS: &str = "Diagnose a failing log, build the context that a repair needs under \
hard caps, find imports for undefined names, and validate patches before they are applied. Start with \
`run_tests` where it is offered, else with `diagnose` or `build_context` on the log (`log`, `logFile`, \
or neither for the last `mendit run`). Validate every patch with `check_patch`, whose feedback says \
what to send instead when it does not apply.";

fn refused(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

// Opens the repository and settings of a call; its arguments override the settings.
fn open(directory: PathBuf, options: &ServerOptions, flags: &dyn Flags) -> Result<App, AppError> {
    let opened = AppOptions {
        directory,
        settings: options.settings.clone(),
    };
    App::open(&opened, |settings| {
        let threads = options.threads.and_then(|it| u16::try_from(it).ok());
        settings.output.threads = threads
            .and_then(NonZeroU16::new)
            .or(settings.output.threads);
        let allowed = &mut settings.patch.allow_protected;
        allowed.extend(options.allow_protected.iter().cloned());
        flags.merge(settings);
    })
}

#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
fn internal(error: AppError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

// The model sees what was wrong with its call, and can call again.
fn failed(error: ToolError) -> CallToolResult {
    refused(match error {
        ToolError::Arguments(message) => message,
        ToolError::Task(error) => error.to_string(),
    })
}

// A client of an older protocol does not read a content that it does not know.
fn knows_links(context: &RequestContext<RoleServer>) -> bool {
    let client = context.peer.peer_info();
    client.is_none_or(|it| it.protocol_version >= ProtocolVersion::V_2025_06_18)
}

// Nothing said for so long, the last that was heard is said again: clients give up on silence.
const SILENCE: Duration = Duration::from_secs(4);
// What a command has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

// Ends the command that a call runs, without grace when it does not go.
fn end(stop: Stop) {
    stop.request();
    tokio::spawn(async move {
        tokio::time::sleep(GRACE).await;
        stop.request();
    });
}

// A caller that does not listen still gets its answer.
async fn tell(
    context: &RequestContext<RoleServer>,
    token: Option<&ProgressToken>,
    notified: &Notified,
    message: String,
) {
    if let Some(token) = token {
        let mut note = ProgressNotificationParam::new(token.clone(), notified.count.into());
        note.message = Some(message);
        let _ = context.peer.notify_progress(note).await;
    }
}

// What a caller was told of a call, and what its command printed last.
struct Notified {
    count: u32,
    last: String,
    since: Instant,
}

impl Default for Notified {
    fn default() -> Self {
        Self {
            count: 0,
            last: String::new(),
            since: Instant::now(),
        }
    }
}

impl Notified {
    // What is to be told at once.
    fn hear(&mut self, heard: Heard) -> Option<String> {
        match heard {
            Heard::Step(step) => {
                self.count += 1;
                self.last.clone_from(&step);
                Some(step)
            }
            Heard::Line(line) => {
                self.last = line;
                None
            }
        }
    }

    fn still(&mut self) -> String {
        self.count += 1;
        format!("{} s: {}", self.since.elapsed().as_secs(), self.last)
    }
}

enum Heard {
    Step(String),
    // What a command printed.
    Line(String),
}

/// Tells a caller how far a tool is, and the tool whether anybody still waits.
struct Progress {
    sender: UnboundedSender<Heard>,
    stop: Stop,
}

impl Progress {
    fn new(stop: Stop) -> (Self, UnboundedReceiver<Heard>) {
        let (sender, receiver) = unbounded_channel();
        (Self { sender, stop }, receiver)
    }

    // A line that a command printed.
    fn hear(&self, line: &str) {
        let _ = self.sender.send(Heard::Line(line.to_owned()));
    }
}

impl crate::app::Progress for Progress {
    // Nobody receives any more when the call was cancelled.
    fn step(&self, what: &str) -> bool {
        self.sender.send(Heard::Step(what.to_owned())).is_ok()
    }

    fn note(&self, text: &str) {
        self.step(text);
    }

    fn stop(&self) -> Result<Stop, AppError> {
        Ok(self.stop.clone())
    }
}

/// What a server works on and may do.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The directory it stands in.
    pub directory: PathBuf,
    /// Whether the client's roots have no say; else they may narrow the directory.
    pub named: bool,
    /// The settings' file; when none is named it is looked for where a call works.
    pub settings: SettingsChoice,
    /// Whether `apply_patch` is offered.
    pub allow_write: bool,
    /// The commands that `run_tests`, `find_cause` and `fix_tests` may run; without any none of them is offered.
    pub commands: Vec<String>,
    /// Whether they may run the command of the last `mendit run` as well.
    pub last: bool,
    /// Globs of protected files that patches may change.
    pub allow_protected: Vec<String>,
    /// Threads for listing files; the settings' when missing.
    pub threads: Option<usize>,
}

impl ServerOptions {
    fn may_run(&self) -> bool {
        self.last || !self.commands.is_empty()
    }
}
