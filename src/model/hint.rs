use schemars::JsonSchema;
use serde::Serialize;

use super::{Remedy, RepoPath};

/// The output of `mendit hint`.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HintDocument {
    /// Version of this document's shape.
    #[schemars(extend("const" = 1))]
    pub schema_version: u32,
    /// Always `hint`.
    #[schemars(extend("const" = "hint"))]
    pub document: &'static str,
    /// Proposed imports in the order of the names asked for, best first for each.
    pub suggestions: Vec<Suggestion>,
    /// The text for a prompt.
    pub recovery_hint: String,
    /// A unified diff that adds the certain imports; `null` when none was asked for or none is
    /// certain.
    pub patch: Option<String>,
    /// Candidates that `mendit fix` tries, in order, one sentence each, imports included.
    pub tried: Vec<String>,
    /// Problems to fix by hand, each with the command to type if there is one.
    pub remedies: Vec<Remedy>,
}

/// One import that may have been meant.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// The undefined name.
    pub name: String,
    /// The statement that binds it, on one line; empty where the file has the name that was meant at
    /// hand already, under another spelling.
    pub import_statement: String,
    /// The module as the statement names it.
    pub module: String,
    /// The file of the repository that the module is; `null` when it lies outside.
    pub path: Option<RepoPath>,
    /// How sure, in percent.
    pub confidence: u8,
    /// The strongest evidence.
    pub source: HintSource,
    /// The evidence agrees and leaves no other candidate.
    pub certain: bool,
    /// The name inside the module: `*` for the module itself, `default` for its default export.
    pub imported: String,
    /// Erased at run time.
    pub type_only: bool,
    /// The specifier of an import that this one takes the place of: of a module that is not
    /// there, or that does not export the name.
    pub replaces: Option<String>,
    /// Why it is not certain, for `hint -v`.
    #[serde(skip)]
    pub doubt: &'static str,
}

/// The evidence for a suggestion.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HintSource {
    /// Other files import this very name.
    Repo,
    /// A file of the repository defines or exports it.
    Definition,
    /// The standard library or the runtime has it.
    Stdlib,
    /// A package that the manifest names has it.
    Manifest,
    /// A name like it exists.
    #[default]
    Similar,
}
