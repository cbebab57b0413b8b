use std::sync::LazyLock;

use regex::Regex;

/// What the TypeScript compiler says of a place; line and column count from 1.
pub(super) struct TypeScriptError<'l> {
    pub(super) path: &'l str,
    pub(super) line: usize,
    pub(super) column: usize,
    /// The digits behind `TS`.
    pub(super) code: &'l str,
    pub(super) message: &'l str,
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());
    };
}

// `a.ts(3,7): error TS2552: …`, or with `a.ts:3:7 - error`.
pattern!(
    TYPE_SCRIPT,
    r"^(\S.*?)[(:]([0-9]+)[,:]([0-9]+)\)?:?(?: -)? error TS([0-9]+): (.*)$"
);
// `File "a.py", line 3` or `a.py:3: NameError`.
pattern!(
    PYTHON,
    r#"^(?:File "([^"]+)", line ([0-9]+)|([^\s:]+\.py):([0-9]+):)"#
);
// `file:///w/src/a.mjs:9`, alone on its line.
pattern!(NODE, r"^(\S+\.[cm]?[jt]sx?):([0-9]+)$");

/// What the compiler says in a line.
pub(super) fn type_script_error(line: &str) -> Option<TypeScriptError<'_>> {
    if !line.contains("error TS") {
        return None;
    }
    let found = TYPE_SCRIPT.as_ref()?.captures(line)?;
    let [path, row, column, code, message] = found.extract().1;
    Some(TypeScriptError {
        path,
        line: row.parse().ok()?,
        column: column.parse().ok()?,
        code,
        message,
    })
}

pub(super) fn python_frame(line: &str) -> Option<(&str, usize)> {
    if !line.contains(".py") {
        return None;
    }
    place(PYTHON.as_ref(), line)
}

pub(super) fn node_frame(line: &str) -> Option<(&str, usize)> {
    place(NODE.as_ref(), line)
}

// The path and the line of what matched: the groups go in pairs.
fn place<'l>(pattern: Option<&Regex>, line: &'l str) -> Option<(&'l str, usize)> {
    let found = pattern?.captures(line)?;
    let mut groups = found.iter().skip(1).flatten().map(|it| it.as_str());
    Some((groups.next()?, groups.next()?.parse().ok()?))
}
