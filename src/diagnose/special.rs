use std::sync::LazyLock;

use serde::Deserialize;

use super::line::Line;
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
    Some(finding)
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
