use crate::model::{Code, PatchProblem};
use serde_json::Value;

use super::changed_file::ChangedFile;

// Parts of manifests that run something or redirect where code comes from.
pub(super) fn lifecycle(file: &ChangedFile<'_>) -> Option<PatchProblem> {
    let name = file.path.rsplit('/').next().unwrap_or(file.path);
    let changed = match name {
        "package.json" => package_json(file.before, file.after?),
        "pyproject.toml" => sections(file, &["[build-system]", "[tool.pytest"]),
        "Cargo.toml" => sections(file, &["[patch", "[replace", "[build"]),
        _ => None,
    }?;
    let hint = "protected by policy; `--allow-protected PATH` lets it pass";
    Some(PatchProblem::new(
        Code::P704,
        format!("the patch changes {changed}: {hint}"),
    ))
}

const PACKAGE_KEYS: &[&str] = &[
    "scripts",
    "bin",
    "workspaces",
    "overrides",
    "resolutions",
    "pnpm",
    "husky",
    "lint-staged",
    "simple-git-hooks",
    "jest",
    "mocha",
    "ava",
    "packageManager",
    "publishConfig",
];

const DEPENDENCY_KEYS: &[&str] = &[
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
];

fn package_json(before: Option<&[u8]>, after: &[u8]) -> Option<String> {
    let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let Some(after) = parse(after) else {
        return Some("package.json into something that is no JSON".to_owned());
    };
    let before = before.and_then(parse).unwrap_or(Value::Null);
    if let Some(key) = PACKAGE_KEYS
        .iter()
        .find(|key| before.get(**key) != after.get(**key))
    {
        return Some(format!("`{key}` of package.json"));
    }
    DEPENDENCY_KEYS.iter().find_map(|key| {
        let new = after.get(*key)?.as_object()?;
        new.iter()
            .find(|(name, value)| {
                before.get(*key).and_then(|old| old.get(name.as_str())) != Some(*value)
                    && value.as_str().is_some_and(|it| {
                        it.contains(':') && !it.starts_with("workspace:") && !it.starts_with("npm:")
                    })
            })
            .map(|(name, _)| format!("where the dependency `{name}` comes from"))
    })
}

fn sections(file: &ChangedFile<'_>, heads: &[&str]) -> Option<String> {
    let of = |bytes: Option<&[u8]>, head: &str| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let mut inside = false;
        let mut lines = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') && !line.starts_with("[[") || line.starts_with("[[") {
                inside = line.starts_with(head);
            }
            if inside && !line.is_empty() && !line.starts_with('#') {
                lines.push(line.to_owned());
            }
        }
        lines
    };
    heads
        .iter()
        .find(|head| of(file.before, head) != of(file.after, head))
        .map(|head| format!("`{}` of {}", head.trim_matches(['[', ']']), file.path))
}
