//! The document of `mendit imports`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{ImportKind, Remedy, RepoPath, UnresolvedImport};

/// The output of `mendit imports`: edges of some files, and a closure if targets were given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportsDocument {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `imports`.
    pub document: &'static str,
    /// Source files with their imports, sorted by path; with `--reverse` the importers with those
    /// imports that lead to what is asked for. Of components (`.vue`, `.svelte`)
    /// the script part is read: what their templates use is missing.
    pub files: Vec<ImportsFile>,
    /// Files reached from the targets (with `--reverse`: that reach them), sorted by hops, then
    /// path. Empty for a whole-repository graph.
    pub closure: Vec<ClosureEntry>,
    /// Imports that are neither a file of the repository nor outside it, sorted.
    pub unresolved: Vec<UnresolvedImport>,
    /// One cycle for each knot of files that import each other when they are loaded, as a path that
    /// starts at its smallest file.
    pub cycles: Vec<Vec<RepoPath>>,
    /// Files that were not read, or not read whole, sorted by path.
    pub problems: Vec<ImportsProblem>,
}

/// One importing file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportsFile {
    /// The file.
    pub path: RepoPath,
    /// Its imports in source order; one row for each file an import means.
    pub imports: Vec<ImportEdge>,
}

/// One import and one file it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportEdge {
    /// As written.
    pub specifier: String,
    /// The syntactic form.
    pub kind: ImportKind,
    /// 1-based line.
    pub line: u32,
    /// The file of the repository; null when outside it, unresolved, or made by a bundler (`./x?worker`).
    pub path: Option<RepoPath>,
    /// With `--symbols`: the file that defines the row's names, past re-exports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defined_in: Option<RepoPath>,
    /// The package or standard-library module outside the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<String>,
    /// The names this row takes; `*` for everything.
    pub names: Vec<String>,
    /// Erased at run time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub type_only: bool,
    /// Not at the top level.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
}

/// One file of a closure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClosureEntry {
    /// The file.
    pub path: RepoPath,
    /// Imports between it and the nearest target; 0 for a target.
    pub hops: u32,
    /// The files between, both ends excluded.
    pub via: Vec<RepoPath>,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ImportsProblem {
    /// The file.
    pub path: RepoPath,
    /// 1-based line; 0 for the file as a whole.
    pub line: u32,
    /// The problem, in words.
    pub message: String,
}

/// The output of `mendit hint`.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HintDocument {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `hint`.
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

/// One suggested import.
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
    /// The repository file of the module; `null` if it is outside.
    pub path: Option<RepoPath>,
    /// Confidence in percent.
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
    /// Other files import the same name.
    Repo,
    /// A file of the repository defines or exports it.
    Definition,
    /// The standard library or the runtime has it.
    Stdlib,
    /// A package that the manifest names has it.
    Manifest,
    /// A similar name exists.
    #[default]
    Similar,
}
