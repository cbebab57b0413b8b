//! Facts of a source file: imports, exports, problems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The facts of one source file. Reading never fails: unreadable parts are listed as problems.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileFacts {
    /// Import forms in source order.
    pub imports: Vec<Import>,
    /// Names other files can import from here, in source order.
    pub exports: Vec<Export>,
    /// Top-level definitions, in source order.
    pub definitions: Vec<Definition>,
    /// Parts that could not be read, and why.
    pub problems: Vec<ParseProblem>,
}

/// One import form with a literal specifier.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Import {
    /// As written between the quotes; Python: the dotted module with its leading dots.
    pub specifier: String,
    /// The syntactic form.
    pub kind: ImportKind,
    /// 1-based line of the statement or call.
    pub line: u32,
    /// Names taken from the module, in source order; empty for side-effect and whole-module forms.
    pub names: Vec<ImportedName>,
    /// `import type`, a type position, or under `if TYPE_CHECKING`.
    pub type_only: bool,
    /// Not at the top level: inside a function, branch, `try` or block.
    pub nested: bool,
}

impl Import {
    /// An import of a whole module, as no file need write it.
    pub fn from_specifier(specifier: &str) -> Self {
        Self {
            specifier: specifier.to_owned(),
            ..Self::default()
        }
    }

    /// Whether it binds a name in the file.
    pub fn binds(&self, name: &str) -> bool {
        let whole = self.kind == ImportKind::Import
            && self.names.is_empty()
            && self.specifier.split('.').next() == Some(name);
        whole || self.names.iter().any(|one| one.local() == name)
    }
}

/// A name taken from a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedName {
    /// The name in the module; `*` for everything, `default` for the default export.
    pub name: String,
    /// The local name when it differs.
    pub alias: Option<String>,
}

impl ImportedName {
    /// A name, and what it is called in the file when that is another.
    pub fn new(name: impl Into<String>, alias: Option<String>) -> Self {
        let name = name.into();
        Self { name, alias }
    }

    /// The name in the file.
    pub fn local(&self) -> &str {
        self.alias.as_ref().unwrap_or(&self.name)
    }
}

/// The form of an import.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ImportKind {
    /// `import … from 'x'`, `import 'x'`; Python `import x`.
    #[default]
    Import,
    /// Python `from x import …`, star included.
    From,
    /// `export … from 'x'`.
    ExportFrom,
    /// `import('x')` with a literal.
    Dynamic,
    /// `require('x')`, `require.resolve('x')`.
    Require,
    /// `import x = require('x')`.
    ImportEquals,
    /// `/// <reference path="x" />` and `types="x"`.
    Reference,
    /// `jest.mock('x')`, `vi.mock('x')` and their relatives.
    Mock,
    /// `importlib.import_module('x')`, `__import__('x')`.
    Importlib,
}

/// A name that can be imported from the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// The exported name; `default`, or `*` for `export * from`.
    pub name: String,
    /// The local name behind it when it differs.
    pub local: Option<String>,
    /// The module it is passed on from, for re-exports.
    pub from: Option<String>,
    /// Nothing of it is there at run time: `export type { A }`, `export declare …`.
    #[serde(default)]
    pub type_only: bool,
    /// 1-based line.
    pub line: u32,
}

impl Export {
    /// A name of the file's own.
    pub fn new(name: impl Into<String>, local: Option<String>, line: u32) -> Self {
        Self {
            name: name.into(),
            local,
            from: None,
            type_only: false,
            line,
        }
    }
}

/// A top-level definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The defined name.
    pub name: String,
    /// Its kind.
    pub kind: DefinitionKind,
    /// 1-based first line.
    pub line: u32,
    /// 1-based last line.
    pub end_line: u32,
}

/// The sort of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionKind {
    /// A function.
    Function,
    /// A class.
    Class,
    /// A TypeScript interface.
    Interface,
    /// A type alias.
    Type,
    /// An enum.
    Enum,
    /// A variable or constant.
    Variable,
    /// A namespace or module block.
    Namespace,
}

impl DefinitionKind {
    /// Whether it is erased at run time.
    pub fn is_erased(self) -> bool {
        matches!(self, Self::Interface | Self::Type)
    }
}

/// Something in a file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseProblem {
    /// 1-based line; 0 for the file as a whole.
    pub line: u32,
    /// The problem.
    pub message: String,
}

impl ParseProblem {
    /// Creates a problem at a line.
    pub fn new(line: u32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { line, message }
    }
}
