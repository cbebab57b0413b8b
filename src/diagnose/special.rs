use std::sync::LazyLock;

use serde::Deserialize;

use super::line::{Line, above, below};
use super::verdict::Finding;
use crate::model::{FailureKind as Kind, Subkind};
use crate::runners::{pattern, rows};

pattern!(TSC, r"\b(?:error )?TS(\d{4,5})(?: \[ERROR\])?: ?(.*)$");
pattern!(QUOTED, r#"'"?([^'"]+)"?'"#);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    codes: Vec<u32>,
    kind: Kind,
    subkind: Option<Subkind>,
    takes: Option<Takes>,
    #[serde(rename = "seen")]
    _seen: String,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Takes {
    Name,
    Module,
    Export,
    Default,
}

static CODES: LazyLock<Vec<Code>> = LazyLock::new(|| rows(embedded!("diagnose/tsc.toml")));

/// What one line of the TypeScript compiler says.
pub(super) fn typescript(at: usize, line: &Line<'_>) -> Option<Finding<'static>> {
    if !line.text.contains("TS") {
        return None;
    }
    let found = TSC.captures(&line.text)?;
    let code: u32 = found[1].parse().ok()?;
    let message = &found[2];
    let row = CODES.iter().find(|row| row.codes.contains(&code));
    let kind = match (row, code) {
        (Some(row), _) => row.kind,
        (None, ..2000) => Kind::SyntaxError,
        (None, 5000..6000) => Kind::ConfigError,
        (None, _) => Kind::TsError,
    };
    let weight = match kind {
        Kind::ConfigError => 80,
        Kind::SyntaxError => 76,
        Kind::ImportError => 70,
        _ => 52,
    };
    let mut finding = Finding {
        at,
        rule: "tsc-code",
        kind,
        subkind: row.and_then(|row| row.subkind.clone()),
        weight,
        tool: "tsc",
        ..Finding::default()
    };
    let mut quoted = QUOTED.captures_iter(message).map(|it| it[1].to_owned());
    match row.and_then(|row| row.takes) {
        Some(Takes::Name) => finding.names.extend(quoted.next()),
        Some(Takes::Module) => finding.module = quoted.next(),
        Some(Takes::Export) => finding.export = quoted.nth(1),
        Some(Takes::Default) => finding.export = Some("default".to_owned()),
        None => {}
    }
    // A row or query of drizzle's types: the schema is what has to be looked at.
    let of_drizzle = message.contains("SQL<unknown>")
        || message.contains("drizzle-orm")
        || (message.contains("Placeholder<") && message.contains("SQL"));
    if of_drizzle && kind == Kind::TsError {
        finding.kind = Kind::DrizzleError;
        finding.subkind = Some(Subkind::SchemaInsert);
        finding.weight = 66;
    }
    Some(finding)
}

// Whether a `raise` of the project itself made the exception: a fake of a test, or the project's
// own word for a fault. One that was made out of another says that it was.
fn raised_by_project(at: usize, lines: &[Line<'_>]) -> bool {
    const CHAIN: usize = 60;
    let mut above = above(lines, at, CHAIN).rev().map(str::trim);
    let code = above.find(|text| !text.is_empty() && !text.bytes().all(|it| it == b'^'));
    let raises = code.is_some_and(|text| text.trim_start_matches(['>', ' ']).starts_with("raise "));
    let is_installed = |text: &str| {
        ["site-packages", "dist-packages", "lib/python", "<frozen "]
            .iter()
            .any(|folder| text.contains(folder))
    };
    // Native tracebacks name the file above the line, pytest below the error.
    raises
        && !above.next().is_some_and(is_installed)
        && !below(lines, at + 1, 3).any(is_installed)
        && !above.any(|text| {
            text.contains("direct cause of the following") || text.starts_with("During handling of")
        })
}

/// Corrects a finding by the lines around it.
pub(super) fn in_context(finding: &mut Finding<'_>, lines: &[Line<'_>]) {
    let near = |at| above(lines, at, 3).chain(below(lines, at + 1, 12));
    match finding.kind {
        Kind::NetworkError
        | Kind::ConnectionRefused
        | Kind::Timeout
        | Kind::OutOfMemory
        | Kind::PermissionDenied
            if finding.tool == "python" && raised_by_project(finding.at, lines) =>
        {
            finding.kind = Kind::RuntimeError;
            finding.subkind = None;
            finding.path = None;
            finding.weight = 41;
        }
        Kind::DbError | Kind::RuntimeError
            if finding.tool != "python"
                && near(finding.at).any(|text| text.contains("drizzle-orm")) =>
        {
            finding.kind = Kind::DrizzleError;
            finding.weight = 66;
        }
        _ => {}
    }
}

/// Whether a path starts at a root or a drive.
pub(super) fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/') || path.starts_with('\\') || (bytes.len() > 2 && bytes[1] == b':')
}

#[cfg(test)]
mod tests {
    use super::typescript;
    use crate::diagnose::normalise::lines;
    use crate::model::{FailureKind, Subkind};

    #[test]
    fn compiler_codes_decide() {
        for (text, kind, subkind) in [
            (
                "a.ts(1,2): error TS2304: Cannot find name 'x'.",
                FailureKind::ImportError,
                Some(Subkind::UndefinedName),
            ),
            (
                "a.ts:1:2 - error TS1128: Declaration or statement expected.",
                FailureKind::SyntaxError,
                None,
            ),
            (
                "error TS5023: Unknown compiler option 'x'.",
                FailureKind::ConfigError,
                None,
            ),
            (
                "a.ts(1,2): error TS2999: Anything.",
                FailureKind::TsError,
                None,
            ),
        ] {
            let lines = lines(text);
            let found = typescript(0, &lines[0]).unwrap();
            assert_eq!((found.kind, found.subkind), (kind, subkind), "{text}");
        }
    }
}
