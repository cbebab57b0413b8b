//! The MCP server: lists tools, calls them and sends progress, whose last message is repeated because clients give up on
//! silence.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::tool::{Access, Caller, TOOLS, ToolRow};
use crate::app::{App, AppError, AppOptions, Flags, Progress, SettingsChoice, Stop};

/// The commands as tools.
#[derive(Debug, Clone)]
pub struct Server {
    options: Arc<ServerOptions>,
    // Whether the client is gone.
    pub(super) ended: watch::Sender<bool>,
}

/// What a server works on and may do.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The directory in which every call works.
    pub directory: PathBuf,
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
    pub threads: Option<NonZeroU16>,
}

impl ServerOptions {
    fn offers(&self, row: &ToolRow) -> bool {
        match row.access {
            Access::Reads => true,
            Access::Writes => self.allow_write,
            Access::Runs => self.last || !self.commands.is_empty(),
        }
    }

    // Opens the repository and settings of a call; its arguments override the settings.
    fn open<'a>(&self, flags: &dyn Flags, progress: &'a ToolProgress) -> Result<App<'a>, AppError> {
        let opened = AppOptions {
            directory: self.directory.clone(),
            settings: self.settings.clone(),
        };
        App::open(&opened, progress, |settings| {
            settings.output.threads = self.threads.or(settings.output.threads);
            let allowed = &mut settings.patch.allow_protected;
            allowed.extend(self.allow_protected.iter().cloned());
            flags.merge(settings);
        })
    }
}

impl Server {
    /// A server with these options.
    pub fn new(options: ServerOptions) -> Self {
        Self {
            options: Arc::new(options),
            ended: watch::Sender::default(),
        }
    }

    fn tools(&self) -> impl Iterator<Item = Tool> {
        TOOLS.iter().filter(|row| self.options.offers(row)).map(ToolRow::tool)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("mendit", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = &request.name;
        let Some(row) = TOOLS.iter().find(|row| row.name == name) else {
            let message = format!("no tool `{name}`");
            return Err(ErrorData::invalid_params(message, None));
        };
        if !self.options.offers(row) {
            let flag = match row.access {
                Access::Writes => "--allow-write",
                _ => "--run CMD or --run-last",
            };
            let message = format!("`{name}` needs a server that was started with {flag}");
            return Ok(refuse_call(message).into());
        }
        let mut arguments = request.arguments.unwrap_or_default();
        row.coerce_arguments(&mut arguments);
        let stop = Stop::install().map_err(|error| internal_error(&error.to_string()))?;
        let (progress, mut steps) = ToolProgress::new(stop.clone());
        let options = self.options.clone();
        let mut work = tokio::task::spawn_blocking(move || {
            let caller = Caller {
                // Settings are read at each call, so that a change of them needs no new server.
                open: &|flags| options.open(flags, &progress),
                commands: &options.commands,
                last: options.last,
            };
            (row.call)(&caller, arguments)
        });
        let mut notifier = Notifier::new(&context);
        let mut ended = self.ended.subscribe();
        // Clients give up on a call that is silent for long; the contract promises a word every 5 seconds.
        let mut silence = tokio::time::interval(Duration::from_secs(4));
        silence.tick().await;
        let done = loop {
            tokio::select! {
                biased;
                // Dropping `steps` stops the tool at its next step.
                () = context.ct.cancelled() => {
                    stop_command(stop);
                    return Err(internal_error("the call was canceled"));
                }
                // The command ends with this process.
                () = async { drop(ended.wait_for(|ended| *ended).await) }, if row.access == Access::Runs => {
                    return Err(internal_error("the input ended before the command did"));
                }
                Some(step) = steps.recv() => {
                    notifier.hear(step).await;
                    silence.reset();
                }
                _ = silence.tick() => notifier.repeat().await,
                done = &mut work => break done,
            }
        };
        match done {
            Ok(Ok(answer)) => Ok(answer.into_result().into()),
            // A result and not an error, so that the model sees what was wrong and can call again.
            Ok(Err(error)) => Ok(refuse_call(error.to_string()).into()),
            Err(error) => Err(internal_error(&format!("the tool failed: {error}"))),
        }
    }
}

const INSTRUCTIONS: &str = include_str!("instructions.txt").trim_ascii_end();

fn refuse_call(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

fn internal_error(message: &str) -> ErrorData {
    ErrorData::internal_error(message.to_owned(), None)
}

// Ends the command that a call runs, without grace when it does not go.
fn stop_command(stop: Stop) {
    stop.request();
    tokio::spawn(async move {
        // Grace period, so that a canceled command is gone within 2 seconds.
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.request();
    });
}

/// The tool's end: sends what it does, and learns whether anybody still waits.
pub(super) struct ToolProgress {
    sender: UnboundedSender<String>,
    stop: Stop,
}

impl ToolProgress {
    pub(super) fn new(stop: Stop) -> (Self, UnboundedReceiver<String>) {
        let (sender, receiver) = unbounded_channel();
        (Self { sender, stop }, receiver)
    }
}

impl Progress for ToolProgress {
    // A canceled call has no receiver.
    fn step(&self, what: &str) -> bool {
        self.sender.send(what.to_owned()).is_ok()
    }

    fn note(&self, text: &str) {
        self.step(text);
    }

    fn stop(&self) -> Result<Stop, AppError> {
        Ok(self.stop.clone())
    }
}

/// The client's end: passes steps on at once, and repeats the last word before a client gives up on silence.
pub(super) struct Notifier {
    peer: Peer<RoleServer>,
    // Optional, since a client that reads no progress still gets its answer.
    token: Option<ProgressToken>,
    count: u32,
    last: String,
    since: Instant,
}

impl Notifier {
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            count: 0,
            last: String::new(),
            since: Instant::now(),
        }
    }

    /// Passes on what the tool sends.
    pub(super) async fn hear(&mut self, step: String) {
        self.last.clone_from(&step);
        self.tell(step).await;
    }

    pub(super) async fn repeat(&mut self) {
        let seconds = self.since.elapsed().as_secs();
        self.tell(format!("{seconds} s: {}", self.last)).await;
    }

    async fn tell(&mut self, message: String) {
        self.count += 1;
        if let Some(token) = &self.token {
            let mut note = ProgressNotificationParam::new(token.clone(), self.count.into());
            note.message = Some(message);
            let _ = self.peer.notify_progress(note).await;
        }
    }
}
