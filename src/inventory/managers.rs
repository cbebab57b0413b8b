//! The table of package managers and their install commands.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::runners::{parse_rows, pattern};

/// A row of `managers.toml`: how the packages of a manifest or lock file are installed.
#[derive(Deserialize)]
pub(super) struct Manager {
    pub(super) file: String,
    #[serde(default)]
    pub(super) python: bool,
    /// Installs what the file asks for.
    pub(super) all: String,
    /// Adds one package.
    pub(super) one: String,
    /// Writes the lock anew.
    pub(super) renew: Option<String>,
    /// Installs an extra as well.
    pub(super) extra: Option<String>,
    /// Installs a dependency group as well.
    pub(super) group: Option<String>,
    /// Adds a package of the workspace to another one.
    pub(super) link: Option<String>,
}

/// All managers, in the order in which their files are looked for.
pub(super) static MANAGERS: LazyLock<Vec<Manager>> =
    LazyLock::new(|| parse_rows(embedded!("inventory/managers.toml")));

pattern!(
    PYTHON_TOOL,
    r"^(?:\S*/)?(?:py\S*|coverage|hatch|mypy|nox|poetry|ruff|tox|uv)(?:\s|$)"
);

/// Checks whether a command starts a program of Python.
pub(super) fn is_python_tool(command: &str) -> bool {
    PYTHON_TOOL.is_match(command)
}
