//! The fix that a linter makes itself.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::parse_rows;

// A row of `tool_fix.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    tool: String,
    cue: String,
    flag: String,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("fixes/tool_fix.toml")));

/// Returns the failing command with the flag by which its tool fixes what it found, when the log says that it can.
pub fn fixing_line(line: &str, log: &str) -> Option<String> {
    let mut able = ROWS.iter().filter(|row| log.contains(&row.cue));
    able.find_map(|Row { tool, flag, .. }| {
        if format!("{line} ").contains(&format!("{tool} ")) {
            return Some(line.replacen(tool, &format!("{tool} {flag}"), 1));
        }
        let is_plain = !line.contains(['&', '|', ';']);
        let managers = [("npm run ", "-- "), ("pnpm ", ""), ("yarn ", "")];
        let mut managers = managers.iter().filter(|_| is_plain);
        let (_, dashes) = managers.find(|(head, _)| line.starts_with(head))?;
        Some(format!("{line} {dashes}{flag}"))
    })
}

#[cfg(test)]
mod tests {
    use super::fixing_line;

    #[test]
    fn fix_command_adds_tool_flag() {
        let ruff = "a.py:1:8: F401 [*] `json` imported but unused\n[*] 1 fixable with the `--fix` option.\n";
        let eslint = "  1 error and 0 warnings potentially fixable with the `--fix` option.\n";
        for (line, log, expected) in [
            ("ruff check src", ruff, Some("ruff check --fix src")),
            ("npx eslint .", eslint, Some("npx eslint --fix .")),
            ("npm run lint", eslint, Some("npm run lint -- --fix")),
            ("make lint", eslint, None),
            (
                "ruff check src",
                "a.py:1:8: E711 Comparison to `None`\n",
                None,
            ),
        ] {
            assert_eq!(fixing_line(line, log).as_deref(), expected, "{line}");
        }
    }
}
