//! Which versions of dependencies come from a registry.

use std::sync::LazyLock;

use regex::Regex;

use serde_json::Value;

/// Whether a dependency of npm, Poetry, Pipenv or Cargo is a version of a registry or a member of the
/// workspace, or a table with nothing in it that says where the package comes from.
pub(super) fn is_registry_version(value: &Value) -> bool {
    const KEYS: &[&str] = &[
        "version", "optional", "extras", "python", "markers", "platform", "features",
        "default-features", "workspace", "allow-prereleases",
    ];
    match value {
        Value::String(version) => {
            matches_pattern(VERSION.as_ref(), version) && !matches_pattern(FILE.as_ref(), version)
        }
        Value::Object(table) => table.iter().all(|(key, value)| {
            KEYS.contains(&key.as_str()) && (key != "version" || is_registry_version(value))
        }),
        Value::Array(all) => all.iter().all(is_registry_version),
        _ => false,
    }
}

// No slash, no scheme but those of a workspace: npm takes the rest for addresses and folders.
static VERSION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:workspace:|catalog:)?[\s<>=^~!,|*0-9A-Za-z.+_-]*$").ok());
static FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\.(?:tgz|tar|tar\.gz)\s*$|^\s*\.").ok());

/// Whether a requirement of Python names a package of the index and nothing else.
pub(super) fn is_python_requirement(requirement: &str) -> bool {
    matches_pattern(REQUIREMENT.as_ref(), requirement.trim())
}

static REQUIREMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let clause = r"(?:===?|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+";
    Regex::new(&format!(
        r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\s*(?:\[[A-Za-z0-9._,\s-]*\])?\s*\(?\s*(?:{clause}(?:\s*,\s*{clause})*)?\s*,?\s*\)?\s*(?:;[^@]*)?$"
    ))
    .ok()
});

fn matches_pattern(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_some_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::{is_python_requirement, is_registry_version};
    use serde_json::Value;

    #[test]
    fn npm_versions_come_from_the_registry() {
        for version in [
            "1", "^1.2.3", "~1.2", ">=1 <2", "1.x || 2.x", "*", "", "latest", "next",
            "1.2.3-beta.1", "1.0.0 - 2.0.0", "workspace:*", "workspace:^1.2.0", "catalog:",
            "catalog:dev", "^1.0.0-0", "1.2.3+build.5",
        ] {
            assert!(
                is_registry_version(&Value::String(version.to_owned())),
                "{version}"
            );
        }
        for version in [
            "evil/repo", "evil/repo#main", "github:evil/repo", "git+ssh://x/y", "https://x/y.tgz",
            "../../evil", "./evil", "file:evil", "link:../x", "portal:../x", "npm:evil@1", "~/x",
            "patch:x@1#./y", "workspace:../x", "workspace:./x", "a.tgz", "1-evil.tgz",
            "evil.tar.gz", "/x", "exec:./x.js", "workspace:evil@*", "C:\\x",
        ] {
            assert!(
                !is_registry_version(&Value::String(version.to_owned())),
                "{version}"
            );
        }
        assert!(!is_registry_version(&Value::Null));
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
            "a @ https://x/y.whl", "a@file:///x", "./a", "git+https://x/y", "https://x/a.whl",
            "-e .", "a.whl/x", "a; x @ y", "--index-url https://x", "a b", "",
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
            assert!(is_registry_version(&read(text)), "{text}");
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
            assert!(!is_registry_version(&read(text)), "{text}");
        }
    }
}
