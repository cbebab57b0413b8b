//! JSON Schemas of all documents.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::{
    AttemptResult, BenchDocument, ChildFailure, CommandRecord, ContextDocument, DiagnosisDocument,
    FailurePacket, HealingResult, HintDocument, ImportsDocument, PatchVerdict, Rates, RepairPacket,
    RunResult, WhyDocument,
};

/// A kind of document and its JSON Schema.
#[derive(Debug, Clone, Copy)]
pub struct DocumentSchema {
    /// Its name, as in the field `document`.
    pub name: &'static str,
    /// Its description in one line.
    pub about: &'static str,
    make: fn() -> Schema,
}

impl DocumentSchema {
    /// The schema, in draft 2020-12.
    pub fn schema(&self) -> Value {
        let mut schema = (self.make)().to_value();
        forget_widths(&mut schema);
        for (field, value) in [
            ("schemaVersion", 1.into()),
            ("document", Value::from(self.name)),
        ] {
            if let Some(field) = schema.pointer_mut(&format!("/properties/{field}")) {
                field["const"] = value;
            }
        }
        schema
    }
}

/// Takes Rust's widths of numbers out of a schema: `uint32` and its like are no formats of JSON
/// Schema, and validators warn of each one.
pub fn forget_widths(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("format").is_some_and(|format| {
                let format = format.as_str();
                format.is_some_and(|format| WIDTHS.iter().any(|width| format.starts_with(width)))
            }) {
                fields.remove("format");
            }
            fields.values_mut().for_each(forget_widths);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_widths),
        _ => {}
    }
}

const WIDTHS: &[&str] = &["int", "uint", "float", "double"];

/// The schema of the document of this name.
pub fn schema(name: &str) -> Option<&'static DocumentSchema> {
    DOCUMENTS.iter().find(|document| document.name == name)
}

macro_rules! documents {
    ($($name:literal $make:ident $document:ty, $about:literal;)*) => {
        /// Every kind of document that crosses a border, sorted by name.
        pub const DOCUMENTS: &[DocumentSchema] = &[$(DocumentSchema {
            name: $name,
            about: $about,
            make: $make::<$document>,
        }),*];
    };
}

documents! {
    "bench" written BenchDocument, "how often fixtures are fixed (`bench`)";
    "context" written ContextDocument, "the files chosen for a failure and why (`context`)";
    "diagnosis" written DiagnosisDocument<'static>, "the diagnosis of a log (`diagnose`)";
    "failure-packet" written FailurePacket, "the input of an agent (`context --out`, `fix`)";
    "healing" written HealingResult, "what works, what is missing and what was corrected (`doctor`)";
    "hint" written HintDocument, "imports for undefined names (`hint`)";
    "imports" written ImportsDocument, "import edges and closures (`imports`)";
    "patch-verdict" written PatchVerdict, "the verdict on a patch (`check`, `apply`)";
    "repair-packet" read RepairPacket, "the reply of an agent";
    "report" written ReportDocument, "why a run failed, or the rates of several runs (`fix`, `report`)";
    "result" written ResultDocument, "how a run or one of its attempts ended (`fix`)";
    "run" written CommandRecord, "how a command ended and why it failed (`run`)";
    "why" written WhyDocument, "which change made a command fail (`why`)";
}

// As this program writes it: what is always there is required.
fn written<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

// As this program reads it: what has a default may be missing.
fn read<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

/// `report.json` of a run, or the rates of several runs.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "Report")]
#[expect(dead_code, reason = "its schema is used")]
enum ReportDocument {
    Run(ChildFailure),
    Rates(Rates),
}

/// `result.json` of a run, or of one of its attempts.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "Result")]
#[expect(dead_code, reason = "its schema is used")]
enum ResultDocument {
    Run(Box<RunResult>),
    Attempt(Box<AttemptResult>),
}
