//! Names the programs of commands: those of Python, and one that a shell did not find.

use super::pattern;

pattern!(
    PYTHON_TOOL,
    r"^(?:\S*/)?(?:py\S*|coverage|hatch|mypy|nox|poetry|ruff|tox|uv)(?:\s|$)"
);

/// Checks whether a command starts a program of Python.
pub(crate) fn is_python_tool(command: &str) -> bool {
    PYTHON_TOOL.is_match(command)
}

/// Returns the program that a shell did not find, by its message.
pub fn missing_program(text: &str) -> Option<&str> {
    let ends = [": command not found", ": not found"];
    let head = ends.iter().find_map(|end| text.trim().strip_suffix(end))?;
    head.rsplit(": ").next()
}
