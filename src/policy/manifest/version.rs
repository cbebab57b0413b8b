//! Which versions of dependencies come from a registry.

use std::sync::LazyLock;

use regex::Regex;

use serde_json::Value;

/// Whether an npm dependency comes from the registry, or from the workspace under its own name.
pub(super) fn is_npm_version(name: &str, value: &Value) -> bool {
    let Some(version) = value.as_str().map(str::trim) else {
        return false;
    };
    let lower = version.to_ascii_lowercase();
    let archive = [".tgz", ".tar.gz", ".tar"]
        .iter()
        .any(|end| lower.ends_with(end));
    if archive || !NPM_NAME.is_match(name) {
        return false;
    }
    match version.split_once(':') {
        None => NPM_RANGE.is_match(version),
        Some(("workspace", range)) => matches!(range, "*" | "^" | "~") || NPM_RANGE.is_match(range),
        Some(("catalog", name)) => name
            .chars()
            .all(|it| it.is_alphanumeric() || "-_.".contains(it)),
        Some(_) => false,
    }
}

// A range, or a word such as `latest`; no slash, no scheme, no archive.
static NPM_RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:[a-z][a-z-]*|(?:[\s<>=^~|*xXvV0-9]|[0-9xX*]\.|\.[0-9xX*]|-\s|\s-|[-+][0-9A-Za-z.-]+)*)$").ok()
});
static NPM_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$").ok()
});

/// Whether a requirement of Python names a package of the index and nothing else.
pub(super) fn is_python_requirement(requirement: &str) -> bool {
    REQUIREMENT.is_match(requirement.trim())
}

static REQUIREMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let clause = r"(?:===?|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+";
    Regex::new(&format!(
        r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\s*(?:\[[A-Za-z0-9._,\s-]*\])?\s*\(?\s*(?:{clause}(?:\s*,\s*{clause})*)?\s*,?\s*\)?\s*(?:;[^@]*)?$"
    ))
    .ok()
});

/// Whether a dependency of Poetry, Pipenv or Cargo is a version, or a table with nothing in it that
/// says where the package comes from.
pub(super) fn is_table_version(value: &Value) -> bool {
    const KEYS: &[&str] = &[
        "version",
        "optional",
        "extras",
        "python",
        "markers",
        "platform",
        "features",
        "default-features",
        "workspace",
        "allow-prereleases",
    ];
    match value {
        Value::String(version) => TABLE_RANGE.is_match(version),
        Value::Object(table) => table.iter().all(|(key, value)| {
            KEYS.contains(&key.as_str()) && (key != "version" || is_table_version(value))
        }),
        Value::Array(all) => all.iter().all(is_table_version),
        _ => false,
    }
}

static TABLE_RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\s<>=^~!,|*0-9A-Za-z.+-]*$").ok());

trait Matches {
    fn is_match(&self, text: &str) -> bool;
}

impl Matches for Option<Regex> {
    fn is_match(&self, text: &str) -> bool {
        self.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::{is_npm_version, is_python_requirement, is_table_version};
    use serde_json::Value;

    #[test]
    fn npm_versions_come_from_the_registry() {
        for version in [
            "1",
            "^1.2.3",
            "~1.2",
            ">=1 <2",
            "1.x || 2.x",
            "*",
            "",
            "latest",
            "next",
            "1.2.3-beta.1",
            "1.0.0 - 2.0.0",
            "workspace:*",
            "workspace:^1.2.0",
            "catalog:",
            "catalog:dev",
            "^1.0.0-0",
            "1.2.3+build.5",
        ] {
            assert!(
                is_npm_version("@a/b", &Value::String(version.to_owned())),
                "{version}"
            );
        }
        for version in [
            "evil/repo",
            "evil/repo#main",
            "github:evil/repo",
            "git+ssh://x/y",
            "https://x/y.tgz",
            "../../evil",
            "./evil",
            "file:evil",
            "link:../x",
            "portal:../x",
            "npm:evil@1",
            "~/x",
            "patch:x@1#./y",
            "workspace:../x",
            "workspace:./x",
            "a.tgz",
            "1-evil.tgz",
            "evil.tar.gz",
            "/x",
            "exec:./x.js",
            "workspace:evil@*",
            "C:\\x",
        ] {
            assert!(
                !is_npm_version("a", &Value::String(version.to_owned())),
                "{version}"
            );
        }
        assert!(!is_npm_version("../a", &Value::String("1".to_owned())));
        assert!(!is_npm_version("a", &Value::Null));
    }

    #[test]
    fn python_requirements_come_from_the_index() {
        for text in [
            "a",
            "a-b.c_d",
            "a[x,y]>=1,<2",
            "a (>=1)",
            "a==1.*",
            "a~=1.0; python_version < '3.9'",
            "a ; sys_platform == 'win32'",
            "a>=1.0,",
            "a===1!2+local",
        ] {
            assert!(is_python_requirement(text), "{text}");
        }
        for text in [
            "a @ https://x/y.whl",
            "a@file:///x",
            "./a",
            "git+https://x/y",
            "https://x/a.whl",
            "-e .",
            "a.whl/x",
            "a; x @ y",
            "--index-url https://x",
            "a b",
            "",
        ] {
            assert!(!is_python_requirement(text), "{text}");
        }
    }

    #[test]
    fn tables_say_versions_only() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for text in [
            r#""^1.2""#,
            r#"{"version":">=1,<2","extras":["x"]}"#,
            r#"[{"version":"1","python":"<3"}]"#,
        ] {
            assert!(is_table_version(&read(text)), "{text}");
        }
        for text in [
            r#"{"git":"https://x"}"#,
            r#"{"version":"1","source":"evil"}"#,
            r#"{"path":"../x"}"#,
            r#""https://x/y""#,
            r#"{"version":"git+https://x"}"#,
            r#"{"url":"x"}"#,
            r#"{"version":"1","registry":"x"}"#,
        ] {
            assert!(!is_table_version(&read(text)), "{text}");
        }
    }
}
