use std::sync::LazyLock;

use serde::Deserialize;

/// A row of `managers.toml`: how the packages of a manifest or lock file are installed.
#[derive(Deserialize)]
pub(super) struct Manager {
    pub(super) file: String,
    #[serde(default)]
    pub(super) python: bool,
    /// Its name in a log or a command.
    #[serde(default)]
    pub(super) tool: String,
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
pub(super) static MANAGERS: LazyLock<Vec<Manager>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Table {
        manager: Vec<Manager>,
    }
    let read = crate::model::read_table::<Table>(embedded!("inventory/managers.toml"));
    read.map(|table| table.manager).unwrap_or_default()
});

/// Checks whether a command starts a program of Python.
pub(super) fn is_python_tool(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    program.starts_with("py") || PYTHON_TOOLS.contains(&program)
}

const PYTHON_TOOLS: &[&str] = &[
    "coverage", "hatch", "mypy", "nox", "poetry", "ruff", "tox", "uv",
];
