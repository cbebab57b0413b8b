//! A tool of the MCP server, its access and its answer.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{reading_tools as reading, running_tools as running};
use crate::app::{
    App, AppError, ContextRequest, DiagnoseRequest, Flags, HintRequest, ImportsRequest,
};
use crate::model::forget_widths;

// A row: name, access, arguments, function. The comment above a row is the description that a model reads.
macro_rules! tools {
    ($($(#[doc = $about:literal])+ $name:literal $access:ident $input:ty, $call:path;)*) => {
        /// Every tool, in the order they are listed.
        pub(super) const TOOLS: &[ToolRow] = &[$(
            ToolRow {
                name: $name,
                about: concat!($($about),+),
                access: Access::$access,
                input: schema_of::<$input>,
                call: $call,
            },
        )*];
    };
}

tools! {
    /// Diagnose a log: the kind of the failure, the lines that show it, the files it names, and what to do
    /// about it.
    "diagnose" Reads DiagnoseRequest, reading::diagnose;
    /// Select the files that a repair of a failure needs, under hard caps, from the log or from named
    /// targets. What is left out is listed with the reason. Without a log, the last `mendit run` is used.
    "build_context" Reads ContextRequest, reading::context;
    /// Find the imports for undefined names, from how this repository imports and defines them.
    "find_import" Reads HintRequest, reading::find_import;
    /// List what files import, or what imports them, to a number of hops; with `changed` and `tests` the
    /// tests that the changes since a commit can reach.
    "imports" Reads ImportsRequest, reading::imports;
    /// Validate a patch without applying it: whether and where it applies, what was repaired in it, what it
    /// breaks, and what to send instead when it does not apply.
    "check_patch" Reads reading::PatchArguments, reading::check_patch;
    /// Validate a patch, then write all of it to the worktree or nothing.
    "apply_patch" Writes reading::PatchArguments, reading::apply_patch;
    /// Run one of the test commands that this server was given. When it fails: the failing tests, their errors
    /// and locations, and the import that is certain.
    "run_tests" Runs running::Arguments, running::run_tests;
    /// Find the change that broke the tests: reverts changes in an isolated copy, uncommitted ones first, then
    /// commits, and reruns the failing tests. Nothing is written to the worktree.
    "find_cause" Runs running::Arguments, running::find_cause;
    /// Fix a failing test command without an LLM, tested in an isolated copy. Returns the patch that
    /// makes it pass; nothing is written.
    "fix_tests" Runs running::Arguments, running::fix_tests;
}

/// A tool: what it is called, what it takes, and what it does.
pub(super) struct ToolRow {
    pub(super) name: &'static str,
    about: &'static str,
    pub(super) access: Access,
    input: fn() -> Value,
    pub(super) call: fn(&Caller<'_>, JsonObject) -> Result<Answer, AppError>,
}

/// What a tool does beyond reading; such a tool is offered only when a flag of the server permits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Reads,
    Writes,
    Runs,
}

/// Who calls, and what the server was given.
pub(super) struct Caller<'a> {
    /// Opens the repository and its settings; the arguments of the call override the settings.
    pub(super) open: &'a dyn Fn(&dyn Flags) -> Result<App<'a>, AppError>,
    /// The commands that may be run.
    pub(super) commands: &'a [String],
    /// Whether the command of the last run may be run as well.
    pub(super) last: bool,
}

impl ToolRow {
    /// Returns the tool as it is listed.
    pub(super) fn tool(&self) -> Tool {
        let mut input = (self.input)();
        forget_widths(&mut input);
        let hints = ToolAnnotations::default()
            .read_only(self.access == Access::Reads)
            .destructive(self.access == Access::Writes)
            .idempotent(self.access != Access::Runs)
            .open_world(false);
        let input = input.as_object().cloned().unwrap_or_default();
        Tool::new(self.name, self.about.trim_start(), input).with_annotations(hints)
    }

    /// Converts arguments that a model wrote in another type than the schema names: `"1"` where a
    /// number or a Boolean is expected, a text where a list of texts is.
    pub(super) fn coerce_arguments(&self, arguments: &mut JsonObject) {
        let schema = (self.input)();
        for (name, value) in arguments {
            let wanted = schema["properties"][name]["type"].as_str();
            let (Value::String(text), Some(wanted)) = (&*value, wanted) else {
                continue;
            };
            let parsed = serde_json::from_str::<Value>(text).ok();
            let fits = parsed.filter(|parsed| match wanted {
                "integer" | "number" => parsed.is_number(),
                "boolean" => parsed.is_boolean(),
                "array" => parsed.is_array(),
                _ => false,
            });
            *value = match fits {
                Some(parsed) => parsed,
                None if wanted == "array" => vec![text.clone()].into(),
                None => continue,
            };
        }
    }
}

/// What a tool gives: a text for a reader, and a document for a program.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) document: Option<Value>,
    /// The most tokens, text and document together.
    pub(super) limit: u64,
    /// The command line that gives all of it.
    pub(super) command: String,
}

impl Answer {
    pub(super) fn new(
        text: String,
        document: &impl Serialize,
        command: impl Into<String>,
    ) -> Result<Self, AppError> {
        let document = serde_json::to_value(document)
            .map_err(|error| AppError::environment(error.to_string()))?;
        Ok(Self {
            text,
            document: Some(document),
            limit: MAX_TOKENS,
            command: command.into(),
        })
    }

    /// Returns the result for the client. An answer that is too long loses its document, then its last lines, and
    /// names the command that prints all of it.
    pub(super) fn into_result(self) -> CallToolResult {
        let document_size =
            self.document.as_ref().map_or(0, |document| count_tokens(&document.to_string()));
        if count_tokens(&self.text) + document_size <= self.limit {
            let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
            result.structured_content = self.document;
            return result;
        }
        // Reserve tokens for the line that names the full output.
        let (head, lines) = first_lines(&self.text, self.limit.saturating_sub(200));
        let cut = format!(
            "{head}\n[truncated: {lines} more lines; full output: `{}`]\n",
            self.command
        );
        CallToolResult::success(vec![ContentBlock::text(cut)])
    }
}

/// Tokens that clients take in one answer: Claude Code warns at 10,000 and refuses above 25,000.
pub(super) const MAX_TOKENS: u64 = 20_000;

// As packets count: two for every seven bytes.
fn count_tokens(text: &str) -> u64 {
    text.len() as u64 * 2 / 7
}

// Returns the lines that fit, and how many are left; of a line that is longer than the limit its beginning.
fn first_lines(text: &str, limit: u64) -> (&str, usize) {
    let room = usize::try_from(limit.saturating_mul(7) / 2).unwrap_or(usize::MAX);
    let (head, _) = text.split_at(text.floor_char_boundary(room));
    if head.len() == text.len() {
        return (text, 0);
    }
    let end = head.rfind('\n').map_or(head.len(), |at| at + 1);
    let (head, rest) = text.split_at(end);
    (head, rest.lines().count())
}

/// Reads a tool's arguments.
pub(super) fn parse_arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, AppError> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| AppError::usage(format!("the arguments do not fit: {error}")))
}

// Returns the schema of a tool's arguments with what a model needs: an argument that may be missing needs neither a
// default nor a null.
fn schema_of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        for key in ["$schema", "title", "description"] {
            root.remove(key);
        }
    }
    let fields = schema["properties"].as_object_mut();
    let fields = fields.into_iter().flat_map(|fields| fields.values_mut());
    for field in fields.filter_map(Value::as_object_mut) {
        field.remove("default");
        if let Some(Value::Array(types)) = field.get("type") {
            let named = types.iter().find(|name| *name != "null").cloned();
            field.insert("type".to_owned(), named.unwrap_or_default());
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answer, MAX_TOKENS, count_tokens};

    #[test]
    fn cuts_a_long_answer_to_whole_lines() {
        let text: String = (0..9000).map(|at| format!("src/m{at}.py\n")).collect();
        let rows: Vec<usize> = (0..60_000).collect();
        let answer = Answer::new(text, &json!({"rows": rows}), "mendit imports a.py").unwrap();
        let result = answer.into_result();
        let shown = &result.content[0].as_text().unwrap().text;
        assert!(count_tokens(shown) <= MAX_TOKENS && count_tokens(shown) * 2 > MAX_TOKENS);
        let whole = shown.lines().filter(|line| line.ends_with(".py")).count();
        let rest = format!(
            "{} more lines; full output: `mendit imports a.py`",
            9000 - whole
        );
        assert!(shown.contains(&rest), "{shown}");
        assert_eq!(result.structured_content, None);
    }

    #[test]
    fn cuts_one_long_line_between_characters() {
        let answer = Answer::new("é".repeat(100_000), &json!({}), "mendit diagnose").unwrap();
        let result = answer.into_result();
        assert!(count_tokens(&result.content[0].as_text().unwrap().text) <= MAX_TOKENS);
    }
}
