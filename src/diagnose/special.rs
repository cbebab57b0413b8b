use super::line::Line;
use super::pattern::pattern;
use super::verdict::Finding;
use crate::model::FailureKind as Kind;

pattern!(TSC, r"\b(?:error )?TS(\d{4,5})(?: \[ERROR\])?: ?(.*)$");
pattern!(QUOTED, r#"'"?([^'"]+)"?'"#);
pattern!(UNDEFINED, r"undefined name\(s\): *(.+)$");

// TypeScript's codes that say more than "a type error". Source: the compiler's
// diagnosticMessages.json.
const TS_CODES: &[(u32, Kind, &str)] = &[
    (2304, Kind::ImportError, "undefined_name"),
    (2552, Kind::ImportError, "undefined_name"),
    (2503, Kind::ImportError, "undefined_name"),
    (2663, Kind::ImportError, "undefined_name"),
    (18004, Kind::ImportError, "undefined_name"),
    (2686, Kind::ImportError, "undefined_name"),
    (2580, Kind::ImportError, "missing_types"),
    (2581, Kind::ImportError, "missing_types"),
    (2582, Kind::ImportError, "missing_types"),
    (2583, Kind::ImportError, "missing_types"),
    (2584, Kind::ImportError, "missing_types"),
    (2591, Kind::ImportError, "missing_types"),
    (2592, Kind::ImportError, "missing_types"),
    (2593, Kind::ImportError, "missing_types"),
    (7016, Kind::ImportError, "missing_types"),
    (2307, Kind::ImportError, "missing_module"),
    (2792, Kind::ImportError, "missing_module"),
    (2732, Kind::ImportError, "missing_module"),
    (2306, Kind::ImportError, "missing_export"),
    (2305, Kind::ImportError, "missing_export"),
    (2724, Kind::ImportError, "missing_export"),
    (2694, Kind::ImportError, "missing_export"),
    (1192, Kind::ImportError, "missing_export"),
    (2613, Kind::ImportError, "missing_export"),
    (2614, Kind::ImportError, "missing_export"),
    (2459, Kind::ImportError, "missing_export"),
    (2460, Kind::ImportError, "missing_export"),
    (1259, Kind::ImportError, "module_system"),
    (1479, Kind::ImportError, "module_system"),
    (1286, Kind::ImportError, "module_system"),
    (1293, Kind::ImportError, "module_system"),
    (2834, Kind::ImportError, "module_system"),
    (2835, Kind::ImportError, "module_system"),
    (2688, Kind::ConfigError, ""),
    (18003, Kind::ConfigError, ""),
    (18002, Kind::ConfigError, ""),
    (6044, Kind::ConfigError, ""),
    (6046, Kind::ConfigError, ""),
    (6053, Kind::ConfigError, ""),
    (6059, Kind::ConfigError, ""),
    (6307, Kind::ConfigError, ""),
    (6310, Kind::ConfigError, ""),
    (6133, Kind::TsError, "unused"),
    (6138, Kind::TsError, "unused"),
    (6192, Kind::TsError, "unused"),
    (6196, Kind::TsError, "unused"),
    (6198, Kind::TsError, "unused"),
    (2322, Kind::TsError, "assign_type"),
    (2345, Kind::TsError, "argument_type"),
    (2554, Kind::TsError, "argument_count"),
    (2555, Kind::TsError, "argument_count"),
    (2451, Kind::TsError, "redeclare"),
    (2300, Kind::TsError, "redeclare"),
    (2741, Kind::TsError, "property_missing"),
    (2739, Kind::TsError, "property_missing"),
    (2740, Kind::TsError, "property_missing"),
    (2339, Kind::TsError, "property_unknown"),
    (2551, Kind::TsError, "property_unknown"),
    (2353, Kind::TsError, "property_unknown"),
    (2769, Kind::TsError, "overload"),
    (2531, Kind::TsError, "nullable"),
    (2532, Kind::TsError, "nullable"),
    (2533, Kind::TsError, "nullable"),
    (18046, Kind::TsError, "nullable"),
    (18047, Kind::TsError, "nullable"),
    (18048, Kind::TsError, "nullable"),
    (7005, Kind::TsError, "implicit_any"),
    (7006, Kind::TsError, "implicit_any"),
    (7031, Kind::TsError, "implicit_any"),
    (7053, Kind::TsError, "implicit_any"),
];

// Codes below 2000 that the checker gives: types, decorators, and what module settings permit.
const NOT_SYNTAX: &[u32] = &[
    1055, 1058, 1059, 1060, 1061, 1062, 1063, 1064, 1065, 1192, 1205, 1208, 1224, 1225, 1226, 1229,
    1230, 1238, 1239, 1240, 1241, 1259, 1261, 1270, 1271, 1272, 1278, 1279, 1286, 1293, 1320, 1321,
    1322, 1329, 1339, 1340, 1341, 1343, 1345, 1360, 1361, 1362, 1371, 1375, 1378, 1379, 1380, 1448,
    1470, 1471, 1479, 1484, 1485, 1541, 1542, 1543,
];

/// What one line of the TypeScript compiler says.
pub(super) fn typescript(at: usize, line: &Line<'_>) -> Option<Finding<'static>> {
    if !line.text.contains("TS") {
        return None;
    }
    let found = TSC.captures(&line.text)?;
    let code: u32 = found[1].parse().ok()?;
    let message = &found[2];
    let row = TS_CODES.iter().find(|row| row.0 == code);
    let (kind, subkind) = match row {
        Some(&(_, kind, subkind)) => (kind, subkind),
        None if code < 2000 && !NOT_SYNTAX.contains(&code) => (Kind::SyntaxError, ""),
        None if (5000..6000).contains(&code) => (Kind::ConfigError, ""),
        None => (Kind::TsError, ""),
    };
    let weight = match kind {
        Kind::ConfigError => 80,
        Kind::SyntaxError => 76,
        Kind::ImportError => 70,
        _ => 52,
    };
    let mut finding = Finding::new(at, "tsc-code", kind, weight, "tsc");
    finding.subkind = (!subkind.is_empty()).then_some(subkind);
    let quoted: Vec<&str> = QUOTED
        .captures_iter(message)
        .filter_map(|quoted| quoted.get(1))
        .map(|quoted| quoted.as_str())
        .collect();
    let first = quoted.first().map(|&text| text.to_owned());
    let member = quoted.get(1).map(|&text| text.to_owned());
    match (code, subkind) {
        (1192 | 1259 | 2613, _) => finding.export = Some("default".to_owned()),
        (2305 | 2614 | 2459 | 2460 | 2694 | 2724, _) => finding.export = member,
        (7016 | 2688, _) | (_, "missing_module") => finding.module = first,
        (_, "undefined_name" | "missing_types") => finding.names = first.into_iter().collect(),
        _ => {}
    }
    // A row or query of drizzle's types: the schema is what has to be looked at.
    let of_drizzle = message.contains("SQL<unknown>")
        || message.contains("drizzle-orm")
        || (message.contains("Placeholder<") && message.contains("SQL"));
    if of_drizzle && kind == Kind::TsError {
        finding.kind = Kind::DrizzleError;
        finding.subkind = Some("schema_insert");
        finding.weight = 66;
    }
    Some(finding)
}

// Whether a `raise` of the project itself made the exception: a fake of a test, or the project's
// own word for a fault. One that was made out of another says that it was.
fn raised_by_project(at: usize, lines: &[Line<'_>]) -> bool {
    const CHAIN: usize = 60;
    let above = lines[at.saturating_sub(CHAIN)..at].iter().rev();
    let mut above = above.map(|line| line.text.trim());
    let code = above.find(|text| !text.is_empty() && !text.bytes().all(|it| it == b'^'));
    let raises = code.is_some_and(|text| text.trim_start_matches(['>', ' ']).starts_with("raise "));
    let is_installed = |text: &str| {
        ["site-packages", "dist-packages", "lib/python", "<frozen "]
            .iter()
            .any(|folder| text.contains(folder))
    };
    // Native tracebacks name the file above the line, pytest below the error.
    let below = lines.iter().skip(at + 1).take(3);
    raises
        && !above.next().is_some_and(is_installed)
        && !below.map(|line| line.text.as_ref()).any(is_installed)
        && !above.any(|text| {
            text.contains("direct cause of the following") || text.starts_with("During handling of")
        })
}

/// A planner's list: `undefined name(s): a/b.py:X, c.py:Y` or
/// `test file(s) import 2 undefined name(s): foo, bar` (R3).
pub(super) fn name_list(at: usize, line: &Line<'_>) -> Option<Finding<'static>> {
    if !line.text.contains("undefined name(s)") {
        return None;
    }
    let found = UNDEFINED.captures(&line.text)?;
    let mut finding = Finding::new(
        at,
        "planner-undefined-names",
        Kind::ImportError,
        70,
        "planner",
    );
    finding.subkind = Some("undefined_name");
    for item in found[1].split(',') {
        let item = item.trim().trim_matches(|c: char| "\"'`.;)".contains(c));
        let name = item.rsplit(':').next().unwrap_or(item).trim();
        if !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_$".contains(c))
        {
            finding.names.push(name.to_owned());
        }
        if let Some((path, _)) = item.rsplit_once(':') {
            finding.path.get_or_insert_with(|| path.to_owned());
        }
    }
    (!finding.names.is_empty()).then_some(finding)
}

/// Corrects a finding by the lines around it.
pub(super) fn in_context(finding: &mut Finding<'_>, lines: &[Line<'_>]) {
    let before = |count: usize| &lines[finding.at.saturating_sub(count)..finding.at];
    let after = |count: usize| {
        &lines[(finding.at + 1).min(lines.len())..(finding.at + 1 + count).min(lines.len())]
    };
    let text = lines[finding.at].text.as_ref();
    let says = |lines: &[Line<'_>], word: &str| lines.iter().any(|line| line.text.contains(word));
    match finding.kind {
        Kind::FileNotFound
            if finding.tool == "python"
                && (says(before(30), "_execute_child") || says(before(30), "posix_spawn")) =>
        {
            finding.kind = Kind::CommandNotFound;
            finding.path = None;
            finding.weight = 70;
        }
        Kind::PermissionDenied if says(before(30), "_execute_child") => finding.path = None,
        Kind::NetworkError
        | Kind::ConnectionRefused
        | Kind::Timeout
        | Kind::OutOfMemory
        | Kind::PermissionDenied
            if finding.tool == "python" && raised_by_project(finding.at, lines) =>
        {
            finding.kind = Kind::RuntimeError;
            finding.rule = "python-error-4";
            finding.subkind = None;
            finding.path = None;
            finding.weight = 41;
        }
        Kind::RuntimeError if text.contains("KeyError: '") => {
            let key = text.split('\'').nth(1).unwrap_or("");
            let shape = key.len() > 2
                && key
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            if shape && (says(before(8), "environ") || says(before(8), "<frozen os>")) {
                finding.kind = Kind::MissingEnvVar;
                finding.weight = 67;
            }
        }
        Kind::DbError | Kind::RuntimeError
            if finding.tool != "python"
                && (says(after(12), "drizzle-orm") || says(before(3), "drizzle-orm")) =>
        {
            finding.kind = Kind::DrizzleError;
            finding.weight = 66;
        }
        // sass names the place below its message.
        Kind::RuntimeError
            if text.starts_with("Error: ")
                && after(7).iter().any(|line| {
                    let below = line.text.trim_start_matches([' ', '│', '|']);
                    below.starts_with("on line ")
                        || (below.contains("root stylesheet") && below.contains(".s"))
                }) =>
        {
            finding.kind = Kind::SyntaxError;
            finding.tool = "sass";
            finding.rule = "sass-invalid";
            finding.weight = 77;
        }
        // pyflakes, and flake8 with it, begin their messages small.
        Kind::ImportError | Kind::LintError
            if finding.tool == "ruff" && !text.contains('`') && begins_small(text) =>
        {
            finding.tool = "flake8";
        }
        Kind::ImportError | Kind::SyntaxError
            if finding.tool == "esbuild" && text.contains("ollup") =>
        {
            finding.tool = "rollup";
        }
        Kind::LintError if finding.tool == "ruff" && text.starts_with("would reformat") => {
            finding.tool = "black";
        }
        // Node names the entry script in the same words as an import, without a requirer.
        Kind::ImportError
            if finding.tool == "node"
                && finding.subkind == Some("missing_module")
                && finding.path.is_none()
                && finding.module.as_deref().is_some_and(is_absolute)
                && (says(after(14), "requireStack: []")
                    || (says(after(14), "executeUserEntryPoint")
                        && !says(after(3), "Require stack:"))) =>
        {
            finding.kind = Kind::FileNotFound;
            finding.subkind = Some("entry_missing");
            finding.path = finding.module.take();
            finding.weight = 78;
        }
        Kind::PatchError
            if finding.subkind == Some("missing_target")
                && finding.path.as_deref().is_some_and(leaves_repository) =>
        {
            finding.subkind = Some("path_escape");
        }
        _ => {}
    }
}

fn begins_small(text: &str) -> bool {
    pattern!(CODED, r"\.pyi?:\d+:\d+: [A-Z]{1,4}\d{2,4} ['a-z]");
    CODED.is_match(text)
}

fn leaves_repository(path: &str) -> bool {
    is_absolute(path) || path.split('/').any(|part| part == "..")
}

/// Whether a path starts at a root or a drive.
pub(super) fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/') || path.starts_with('\\') || (bytes.len() > 2 && bytes[1] == b':')
}

#[cfg(test)]
mod tests {
    use super::{name_list, typescript};
    use crate::diagnose::normalise::lines;
    use crate::model::FailureKind;

    #[test]
    fn lists_of_undefined_names_lose_their_paths() {
        for (text, names) in [
            (
                "undefined name(s): typer/testing.py:CliRunner, pkg/cli.py:chief_of_staff",
                vec!["CliRunner", "chief_of_staff"],
            ),
            (
                "Incomplete implementation: test file(s) import 2 undefined name(s): foo, bar",
                vec!["foo", "bar"],
            ),
        ] {
            let lines = lines(text);
            assert_eq!(name_list(0, &lines[0]).unwrap().names, names);
        }
    }

    #[test]
    fn compiler_codes_decide() {
        for (text, kind, subkind) in [
            (
                "a.ts(1,2): error TS2304: Cannot find name 'x'.",
                FailureKind::ImportError,
                Some("undefined_name"),
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
