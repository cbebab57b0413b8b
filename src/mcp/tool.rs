use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::answer::{LIMIT, left_off_field, limit_argument};
use crate::app::{App, AppError, Flags, Progress};
use crate::model::{forget_widths, schema};

/// A tool: what it is called, what it takes and gives, and what it does.
pub(super) struct ToolRow {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// Whether it changes files; such a tool is there only when the server may write.
    pub(super) writes: bool,
    /// Whether it runs commands; such a tool is there only when the server was given some.
    pub(super) runs: bool,
    /// The schema of its arguments.
    pub(super) input: fn() -> Value,
    /// The schema of its result, when it gives a document beside its text.
    pub(super) output: Option<fn() -> Value>,
    pub(super) call: fn(&Caller<'_>, JsonObject) -> Result<Given, ToolError>,
}

/// Opens what a task stands on; what it is given is put before what the settings say.
pub(super) type Open<'a> = dyn Fn(&dyn Flags) -> Result<App, AppError> + 'a;

/// Who calls, and with what in hand.
pub(super) struct Caller<'a> {
    /// Opens what the task stands on, with arguments before what the settings say.
    pub(super) open: &'a Open<'a>,
    /// The commands that may be run.
    pub(super) commands: &'a [String],
    /// Whether the command of the last run may be run as well.
    pub(super) last: bool,
    /// Who waits for it.
    pub(super) progress: &'a dyn Progress,
    /// Hears what a command prints.
    pub(super) heard: &'a dyn Fn(&str),
}

impl Caller<'_> {
    /// What the task stands on.
    pub(super) fn app(&self) -> Result<App, AppError> {
        (self.open)(&())
    }
}

impl ToolRow {
    /// As it is listed.
    pub(super) fn tool(&self) -> Tool {
        let object = |mut value: Value, besides: fn(&mut JsonObject)| {
            forget_widths(&mut value);
            let mut object = match value {
                Value::Object(object) => object,
                _ => JsonObject::new(),
            };
            besides(&mut object);
            object
        };
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(!self.writes && !self.runs)
            .destructive(self.writes)
            .idempotent(!self.runs)
            .open_world(false);
        let mut input = (self.input)();
        slim(&mut input);
        let input = object(input, limit_argument);
        let tool = Tool::new(self.name, self.about.trim_start(), input)
            .with_title(self.title)
            .with_annotations(hints);
        match self.output {
            Some(output) => {
                let output = shallow(&output());
                tool.with_raw_output_schema(object(output, left_off_field).into())
            }
            None => tool,
        }
    }

    /// Converts arguments that a model wrote in another type than the schema names: `"1"` where a
    /// number or a Boolean is expected, a text where a list of texts is.
    pub(super) fn coerce_arguments(&self, arguments: &mut JsonObject) {
        let schema = (self.input)();
        for (name, value) in arguments {
            let Value::String(text) = &value else {
                continue;
            };
            let types = &schema["properties"][name]["type"];
            let accepts = |wanted: &str| match types {
                Value::Array(all) => all.iter().any(|one| one == wanted),
                one => one == wanted,
            };
            if accepts("string") {
                continue;
            }
            let parsed = serde_json::from_str::<Value>(text).ok();
            let parsed = parsed.filter(|parsed| match parsed {
                Value::Number(_) => accepts("integer") || accepts("number"),
                Value::Bool(_) => accepts("boolean"),
                Value::Array(_) => accepts("array"),
                _ => false,
            });
            if let Some(parsed) = parsed {
                *value = parsed;
            } else if accepts("array") {
                *value = Value::Array(vec![Value::String(text.clone())]);
            }
        }
    }

    /// Takes out of its arguments how many tokens it may answer with, unless it reads that itself.
    pub(super) fn take_limit(&self, given: &mut JsonObject) -> Result<Option<u64>, ToolError> {
        let own = (self.input)();
        let limit = match own["properties"].get(LIMIT) {
            Some(_) => None,
            None => given.remove(LIMIT),
        };
        match limit {
            None | Some(Value::Null) => Ok(None),
            Some(limit) => limit.as_u64().map(Some).ok_or_else(|| {
                let message = format!("the arguments do not fit: `{LIMIT}` is no number: {limit}");
                ToolError::Arguments(message)
            }),
        }
    }
}

/// What a tool gives: a text for a reader, and a document where its row declares one.
pub(super) struct Given {
    pub(super) text: String,
    pub(super) document: Option<Value>,
    /// Tokens that were asked for in so many words, 0 for all there is; else the usual limit is
    /// kept.
    pub(super) limit: Option<u64>,
    /// The command line that gives all of it.
    pub(super) command: String,
}

impl Given {
    pub(super) fn new(
        text: String,
        document: &impl Serialize,
        command: impl Into<String>,
    ) -> Result<Self, ToolError> {
        let document = serde_json::to_value(document)
            .map_err(|error| AppError::environment(error.to_string()))?;
        Ok(Self {
            document: Some(document),
            ..Self::text(text, command)
        })
    }

    /// A text alone.
    pub(super) fn text(text: String, command: impl Into<String>) -> Self {
        Self {
            text,
            document: None,
            limit: None,
            command: command.into(),
        }
    }
}

/// Reads a tool's arguments.
pub(super) fn arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| ToolError::Arguments(format!("the arguments do not fit: {error}")))
}

/// The schema of a tool's arguments.
pub(super) fn input<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12();
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// The schema of a document of the model.
pub(super) fn document(name: &str) -> Value {
    schema(name)
        .map(crate::model::DocumentSchema::schema)
        .unwrap_or_default()
}

// What a model needs of the schema of arguments: what may be missing needs neither a default nor a null.
fn slim(schema: &mut Value) {
    if let Value::Object(root) = schema {
        for key in ["$schema", "title", "description"] {
            root.remove(key);
        }
        let fields = root.get_mut("properties").and_then(Value::as_object_mut);
        for field in fields.into_iter().flat_map(|it| it.values_mut()) {
            if let Value::Object(field) = field {
                field.remove("default");
                if let Some(Value::Array(types)) = field.get_mut("type") {
                    types.retain(|it| it != "null");
                }
                if let Some(Value::Array(types)) = field.get("type")
                    && let [only] = types.as_slice()
                {
                    let only = only.clone();
                    field.insert("type".to_owned(), only);
                }
            }
        }
    }
}

// The fields of a document and their types, without what stands below them: a list of tools is read whole by a
// model at each start. The rest is a resource, `mendit://schema/NAME`.
fn shallow(schema: &Value) -> Value {
    let of = |field: &Value| {
        let named = field["$ref"].as_str().and_then(|it| it.rsplit('/').next());
        let named = named.map_or(&Value::Null, |name| &schema["$defs"][name]);
        let kept = ["const", "type"].map(|key| {
            let found = field.get(key).or_else(|| named.get(key));
            found.map(|it| (key.to_owned(), it.clone()))
        });
        Value::Object(kept.into_iter().flatten().collect())
    };
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields: JsonObject = fields.map(|(name, it)| (name.clone(), of(it))).collect();
    json!({ "type": "object", "properties": fields })
}

/// Why a tool could not do its work, for whoever called it.
#[derive(Debug)]
pub(super) enum ToolError {
    /// The arguments do not fit their schema.
    Arguments(String),
    /// The task failed.
    Task(AppError),
}

impl From<AppError> for ToolError {
    fn from(error: AppError) -> Self {
        Self::Task(error)
    }
}
