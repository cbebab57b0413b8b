use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
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
    /// What it is, in one line.
    pub about: &'static str,
    make: fn() -> Schema,
}

impl DocumentSchema {
    /// The schema, in draft 2020-12.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut schema = (self.make)().to_value();
        forget_widths(&mut schema);
        schema
    }
}

/// Takes Rust's widths of numbers out of a schema: `uint32` and its like are no formats of JSON
/// Schema, and validators warn of each one.
pub fn forget_widths(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let width = |format: &Value| {
                let format = format.as_str();
                format.is_some_and(|format| WIDTHS.iter().any(|width| format.starts_with(width)))
            };
            if fields.get("format").is_some_and(width) {
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
#[must_use]
pub fn schema(name: &str) -> Option<&'static DocumentSchema> {
    DOCUMENTS.iter().find(|document| document.name == name)
}

/// Every kind of document that crosses a border, sorted by name.
pub const DOCUMENTS: &[DocumentSchema] = &[
    DocumentSchema {
        name: "bench",
        about: "how often fixtures are repaired (`bench`)",
        make: written::<BenchDocument>,
    },
    DocumentSchema {
        name: "context",
        about: "what was chosen for a failure and why (`context`)",
        make: written::<ContextDocument>,
    },
    DocumentSchema {
        name: "diagnosis",
        about: "what a log says about a failure (`diagnose`)",
        make: written::<DiagnosisDocument<'static>>,
    },
    DocumentSchema {
        name: "failure-packet",
        about: "what a repair agent is given (`context --out`, `fix`)",
        make: written::<FailurePacket>,
    },
    DocumentSchema {
        name: "healing",
        about: "what is there, what is missing, what was repaired (`doctor`)",
        make: written::<HealingResult>,
    },
    DocumentSchema {
        name: "hint",
        about: "imports for undefined names (`hint`)",
        make: written::<HintDocument>,
    },
    DocumentSchema {
        name: "imports",
        about: "import edges and closures (`imports`)",
        make: written::<ImportsDocument>,
    },
    DocumentSchema {
        name: "patch-verdict",
        about: "the judgement of a patch (`check`, `apply`)",
        make: written::<PatchVerdict>,
    },
    DocumentSchema {
        name: "repair-packet",
        about: "what a repair agent replies",
        make: read::<RepairPacket>,
    },
    DocumentSchema {
        name: "report",
        about: "why a run failed, or the rates of several runs (`fix`, `report`)",
        make: written::<ReportDocument>,
    },
    DocumentSchema {
        name: "result",
        about: "how a run or one of its attempts ended (`fix`)",
        make: written::<ResultDocument>,
    },
    DocumentSchema {
        name: "run",
        about: "how a command ended and what its failure comes to (`run`)",
        make: written::<CommandRecord>,
    },
    DocumentSchema {
        name: "why",
        about: "which change made a command fail (`why`)",
        make: written::<WhyDocument>,
    },
];

// As this program writes it: what is always there is required.
fn written<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

// As this program reads it: what has a default may be missing.
fn read<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
}

struct ReportDocument;

impl JsonSchema for ReportDocument {
    fn schema_name() -> Cow<'static, str> {
        "Report".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`report.json` of a run, or the rates of several runs.",
            "anyOf": [
                generator.subschema_for::<ChildFailure>(),
                generator.subschema_for::<Rates>(),
            ],
        })
    }
}

struct ResultDocument;

impl JsonSchema for ResultDocument {
    fn schema_name() -> Cow<'static, str> {
        "Result".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`result.json` of a run, or of one of its attempts.",
            "anyOf": [
                generator.subschema_for::<RunResult>(),
                generator.subschema_for::<AttemptResult>(),
            ],
        })
    }
}
