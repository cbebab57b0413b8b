//! Writes documents to stdout and notes to stderr. All output passes here, so that no text can steer
//! the terminal.

use std::borrow::Cow;
use std::fmt::Debug;
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

use serde::Serialize;
use tracing::field::Field;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

use super::args::{Form, Global};
use super::progress::{Heartbeat, line_of, long_step};
use super::{AppError, Exit};
use crate::app::settings::Color;
use crate::app::{Progress, Redactor, to_json};
use crate::model::{Code, Event};
use crate::report::{Page, printable, printable_in_color, printable_json};

/// Where a command's words go: data to stdout, the rest to stderr. Whatever is written for people
/// passes here, so that no text of a log, an agent or a file name can steer their terminal.
pub(crate) struct Output {
    color: Color,
    quiet: bool,
    // `None` with `--no-progress`, `-q` or `-v`.
    heartbeat: Option<Heartbeat>,
}

impl Output {
    pub(crate) fn new(global: &Global, color: Color) -> Self {
        Self {
            color,
            quiet: global.quiet,
            heartbeat: (!global.quiet && !global.no_progress && global.verbose == 0).then(|| {
                let dumb = std::env::var_os("TERM").is_none_or(|value| value == "dumb");
                Heartbeat::new(io::stderr().is_terminal() && !dumb, to_stderr)
            }),
        }
    }

    /// Writes a text for people to stdout, its control characters made visible.
    pub(crate) fn print_text(&self, text: &str) -> Result<(), AppError> {
        self.print_bytes(printable(text).as_bytes())
    }

    /// The same for a text that depends on whether it may have color.
    pub(crate) fn print_painted(&self, text: impl FnOnce(bool) -> String) -> Result<(), AppError> {
        let colors = self.has_colors(io::stdout().is_terminal());
        self.print_bytes(shown_text(&text(colors), colors).as_bytes())
    }

    /// Writes data to stdout: as it is for a program, as [`Output::print_text`] to a terminal.
    pub(crate) fn print_data(&self, text: &str) -> Result<(), AppError> {
        if io::stdout().is_terminal() {
            return self.print_text(text);
        }
        self.print_bytes(text.as_bytes())
    }

    /// The same for bytes that need not be UTF-8.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Result<(), AppError> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(AppError::environment(
                format!("cannot write to standard output: {}", error.kind()),
            )),
            _ => Ok(()),
        }
    }

    /// Writes one JSON document and a newline to stdout.
    pub(crate) fn print_json(&self, document: &impl Serialize) -> Result<(), AppError> {
        self.print_data(&printable_json(&to_json(document)?))
    }

    /// Prints a document as JSON, or as the text that `draw` renders for that form; its last argument is whether
    /// color is allowed.
    pub(crate) fn print_document<T: Serialize>(
        &self,
        format: Form,
        document: &T,
        draw: impl FnOnce(Form, bool) -> String,
    ) -> Result<(), AppError> {
        match format {
            Form::Json => self.print_json(document),
            Form::Text => self.print_painted(|color| draw(format, color)),
            _ => self.print_text(&draw(format, false)),
        }
    }

    /// The same where a comment can be made of it, too.
    pub(crate) fn print_comment<T: Serialize>(
        &self,
        format: Form,
        document: &T,
        page: fn(&T) -> Page,
    ) -> Result<(), AppError> {
        match format {
            Form::Json => self.print_json(document),
            Form::Markdown => self.print_text(&page(document).markdown()),
            _ => self.print_painted(|color| page(document).text(color)),
        }
    }

    /// Says something to a person, unless `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            let note = self.paint_text("note:", CYAN);
            self.write_stderr(&format!("{note} {}\n", printable(text)));
        }
    }

    /// Prints an error with its hints and gives back its exit code.
    pub(crate) fn print_error(&self, error: &AppError) -> Exit {
        // That nothing fails is no error, although scripts need an exit code of its own.
        let is_fine = error.code == Code::U309 && error.exit == Exit::PersonMustAct;
        let (word, color) = if is_fine { ("note", CYAN) } else { ("error", RED) };
        let mut text = format!(
            "{} {}\n",
            self.paint_text(&format!("{word}[{}]:", error.code), color),
            printable(&error.message)
        );
        for hint in &error.hints {
            let cause = hint.strip_prefix("cause: ");
            let mark = self.paint_text(if cause.is_some() { "cause:" } else { "hint:" }, CYAN);
            text.push_str(&format!("  {mark} {}\n", printable(cause.unwrap_or(hint))));
        }
        self.write_stderr(&text);
        error.exit
    }

    /// Writes a text for people to stderr; its argument is whether color is allowed.
    pub(crate) fn print_aside(&self, text: impl FnOnce(bool) -> String) {
        let colors = self.has_colors(io::stderr().is_terminal());
        self.write_stderr(&shown_text(&text(colors), colors));
    }

    /// Asks a person on the terminal; `None` when there is none who could answer.
    pub(crate) fn ask_user(&self, question: &str) -> Option<bool> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        self.write_stderr(&format!("{} [y/N] ", printable(question)));
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).ok()?;
        Some(matches!(
            answer.trim().to_ascii_lowercase().as_str(),
            "y" | "yes"
        ))
    }

    /// Passes on what a command writes, as it comes. A reader that has gone away is no error.
    pub(crate) fn pass_on(&self, to_stdout: bool, bytes: &[u8]) -> Result<(), AppError> {
        let mut written = Ok(());
        let mut write = || {
            if to_stdout {
                written = self.print_bytes(bytes);
            } else {
                self.raw_error(bytes);
            }
        };
        match &self.heartbeat {
            Some(heartbeat) => heartbeat.write_between(write),
            None => write(),
        }
        written
    }

    /// Writes to stderr as it is.
    pub(crate) fn raw_error(&self, bytes: &[u8]) {
        // Ignored, since there is no place left to report that stderr is gone.
        let _ = io::stderr().lock().write_all(bytes);
    }

    /// Whether a command whose output is passed on may color it.
    pub(crate) fn passes_colors(&self) -> bool {
        self.has_colors(io::stdout().is_terminal())
    }

    fn has_colors(&self, terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                terminal
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
            }
        }
    }

    fn paint_text(&self, text: &str, style: &str) -> String {
        if self.has_colors(io::stderr().is_terminal()) {
            format!("{style}{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// What goes on from now, for whoever wonders; `None` when it has ended.
    pub(crate) fn doing(&self, what: Option<&str>) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.doing(what);
        }
    }

    fn write_stderr(&self, text: &str) {
        match &self.heartbeat {
            Some(heartbeat) => heartbeat.write_between(|| to_stderr(text)),
            None => to_stderr(text),
        }
    }
}

impl Progress for Output {
    fn step(&self, what: &str) -> bool {
        tracing::info!("{what}");
        true
    }

    fn note(&self, text: &str) {
        Self::note(self, text);
    }

    fn trial(&self, what: &str) {
        self.doing(Some(what));
    }

    fn event(&self, event: &Event) {
        if let Some(step) = long_step(event) {
            self.doing(step);
        }
        if let Some(line) = line_of(event) {
            Self::note(self, &line);
        }
    }
}

// Returns the text with its control characters made visible, but for those of our own color.
fn shown_text(text: &str, colors: bool) -> Cow<'_, str> {
    if colors { printable_in_color(text) } else { printable(text) }
}

fn to_stderr(text: &str) {
    // Ignored, since there is no place left to report that stderr is gone.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

const RED: &str = "\x1b[1;31m";
const CYAN: &str = "\x1b[1;36m";

/// Prints what happens at the borders (git, exec, patch, rank, ...) on stderr: `-v` information, `-vv` details.
pub(super) fn start_log(verbose: u8) -> Result<(), AppError> {
    let level = match verbose {
        0 => return Ok(()),
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    tracing::subscriber::set_global_default(Log(level))
        .map_err(|error| AppError::environment(format!("cannot start the log: {error}")))
}

// A line for each event of our own up to a level.
struct Log(LevelFilter);

impl Subscriber for Log {
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        *of.level() <= self.0 && of.target().starts_with("mendit")
    }

    // A line is masked, since file names and agent output could steer the terminal or hold a secret.
    fn event(&self, event: &tracing::Event<'_>) {
        let of = event.metadata();
        let mut line = format!("{:>5} {}:", of.level().as_str(), of.target());
        event.record(&mut |field: &Field, value: &dyn Debug| {
            line += &match field.name() {
                "message" => format!(" {value:?}"),
                name => format!(" {name}={value:?}"),
            };
        });
        to_stderr(&(printable(&REDACTOR.redact(&line).text).into_owned() + "\n"));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

static REDACTOR: LazyLock<Redactor> =
    LazyLock::new(|| {
        let variables = std::env::vars_os();
        Redactor::new(variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    });
