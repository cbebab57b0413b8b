use schemars::JsonSchema;
use serde::Serialize;

use super::{ImportKind, RepoPath, UnresolvedImport};

/// The output of `mendit imports`: edges of some files, and a closure if targets were given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportsDocument {
    /// Version of this document's shape.
    #[schemars(extend("const" = 1))]
    pub schema_version: u32,
    /// Always `imports`.
    #[schemars(extend("const" = "imports"))]
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
#[serde(rename_all = "camelCase")]
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
    /// The file of the repository; null when outside it, unresolved, or a pattern.
    pub path: Option<RepoPath>,
    /// With `--symbols`: the file that defines the row's names, behind re-exports.
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
    /// For a pattern (`import.meta.glob('./*.ts')`) or a bundler's query without an extension
    /// (`./x?worker`): the files it stands for now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<RepoPath>,
}

/// One file of a closure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
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
#[serde(rename_all = "camelCase")]
pub struct ImportsProblem {
    /// The file.
    pub path: RepoPath,
    /// 1-based line; 0 for the file as a whole.
    pub line: u32,
    /// The problem, in words.
    pub message: String,
}
