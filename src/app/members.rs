use serde_json::Value;

use super::locked::normal;
use crate::hint::{near_packages, own_packages};
use crate::model::{Remedy, RepoPath};
use crate::source::Source;

/// A package of the workspace that stands in the repository.
struct Member {
    name: String,
    folder: String,
    version: Option<String>,
    manifest: String,
}

/// What makes a package of the workspace itself known to the package of the file that lacks it: no registry is
/// asked for what stands in the repository. `None` where the workspace has no such package.
pub(super) fn member_remedy(
    source: &dyn Source,
    package: &str,
    python: bool,
    at: Option<&str>,
) -> Option<Remedy> {
    let members = members(source, python);
    let same = |name: &str| {
        if python {
            normal(name) == normal(package)
        } else {
            name == package
        }
    };
    let member = members.iter().find(|it| same(&it.name))?;
    let holds = |member: &&Member| {
        let below = |at: &str| {
            at.strip_prefix(&member.folder)
                .is_some_and(|it| it.starts_with('/'))
        };
        member.folder.is_empty() || at.is_some_and(below)
    };
    // The innermost of those that hold the file.
    let app = members
        .iter()
        .filter(holds)
        .max_by_key(|it| it.folder.len());
    let app = app.filter(|it| it.name != member.name)?;
    let plain = |name: &str| {
        name.chars()
            .all(|it| it.is_ascii_alphanumeric() || "-_.@/".contains(it))
    };
    if ![&app.name, &member.name].into_iter().all(|it| plain(it)) {
        return None;
    }
    let declared = app.manifest.contains(&format!("\"{}\"", member.name));
    let command = command(source, (app, member), python, declared)?;
    let message = if declared {
        format!(
            "`{}` stands in {}, is declared and not linked",
            member.name, member.folder
        )
    } else {
        format!(
            "`{}` stands in {}, and `{}` does not declare it",
            member.name, member.folder, app.name
        )
    };
    Some(Remedy::new(message, Some(command)))
}

/// Why a package that only a workspace could hold is not asked for in a registry.
pub(super) fn never_from_a_registry(source: &dyn Source, package: &str) -> Option<String> {
    if let Some(near) = near_packages(source, package).first() {
        return Some(format!(
            "`{package}` is no package here; the workspace has `{near}`"
        ));
    }
    let (scope, _) = package.split_once('/')?;
    let mut own = own_packages(source);
    own.retain(|it| it.split_once('/').is_some_and(|(of, _)| of == scope));
    let is_own = own.iter().any(|it| it == package);
    (!own.is_empty() && !is_own).then(|| {
        format!(
            "`{package}` is no package here; of {scope} the workspace has {}",
            own.join(", ")
        )
    })
}

fn command(
    source: &dyn Source,
    (app, member): (&Member, &Member),
    python: bool,
    declared: bool,
) -> Option<String> {
    let has = |name: &str| source.listing().has_file(name);
    let (to, name) = (app.name.as_str(), member.name.as_str());
    let pnpm = has("pnpm-lock.yaml") || has("pnpm-workspace.yaml");
    Some(match (python, declared) {
        (true, true) if has("uv.lock") => format!("uv sync --package {to}"),
        (true, false) if has("uv.lock") => format!("uv add --package {to} {name}"),
        (true, _) => format!("python3 -m pip install -e {}", member.folder),
        (false, true) if pnpm => "pnpm install".to_owned(),
        (false, false) if pnpm => format!("pnpm --filter {to} add {name} --workspace"),
        (false, true) if has("yarn.lock") => "yarn install".to_owned(),
        (false, false) if has("yarn.lock") => {
            let lock = read(source, "yarn.lock").unwrap_or_default();
            let version = match (lock.contains("__metadata:"), &member.version) {
                (true, _) => "workspace:^",
                // The version that stands here is not sought elsewhere.
                (false, Some(version)) => version,
                (false, None) => return None,
            };
            format!("yarn workspace {to} add {name}@{version}")
        }
        (false, true) => "npm install".to_owned(),
        (false, false) => format!("npm install {name} --workspace {to}"),
    })
}

fn members(source: &dyn Source, python: bool) -> Vec<Member> {
    let file = if python {
        "pyproject.toml"
    } else {
        "package.json"
    };
    let files = source.listing().files().map(|entry| &entry.path);
    let manifests =
        files.filter(|it| it.file_name() == file && !it.as_str().contains("node_modules/"));
    let member = |path: &RepoPath| {
        let manifest = read(source, path.as_str())?;
        let (name, version) = if python {
            let table: toml::Table = manifest.parse().ok()?;
            let of = |key| Some(table.get("project")?.get(key)?.as_str()?.to_owned());
            (of("name"), of("version"))
        } else {
            let manifest: Value = serde_json::from_str(&manifest).ok()?;
            let of = |key: &str| manifest[key].as_str().map(str::to_owned);
            (of("name"), of("version"))
        };
        let folder = path
            .as_str()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        Some(Member {
            name: name?,
            folder: folder.to_owned(),
            version,
            manifest,
        })
    };
    manifests.take(MOST).filter_map(member).collect()
}

/// Manifests that are read.
const MOST: usize = 500;

fn read(source: &dyn Source, path: &str) -> Option<String> {
    let bytes = source.read(&RepoPath::new(path).ok()?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::member_remedy;
    use crate::source::Memory;

    #[test]
    fn a_package_of_the_workspace_comes_from_the_workspace() {
        let app = r#"{"name": "@w/app", "version": "1.0.0"}"#;
        let linked = r#"{"name": "@w/app", "dependencies": {"@w/lib": "1.0.0"}}"#;
        let with = |app: &str, lock: &str, text: &str| {
            let source = Memory::named([
                ("package.json", r#"{"name": "root"}"#),
                ("packages/app/package.json", app),
                (
                    "packages/lib/package.json",
                    r#"{"name": "@w/lib", "version": "1.0.0"}"#,
                ),
                (lock, text),
            ]);
            let found = member_remedy(&source, "@w/lib", false, Some("packages/app/src/a.ts"));
            found.and_then(|it| it.command)
        };
        for (app, lock, text, expected) in [
            (
                app,
                "pnpm-lock.yaml",
                "",
                "pnpm --filter @w/app add @w/lib --workspace",
            ),
            (linked, "pnpm-lock.yaml", "", "pnpm install"),
            (
                app,
                "package-lock.json",
                "{}",
                "npm install @w/lib --workspace @w/app",
            ),
            (
                app,
                "yarn.lock",
                "# yarn lockfile v1\n",
                "yarn workspace @w/app add @w/lib@1.0.0",
            ),
            (
                app,
                "yarn.lock",
                "__metadata:\n",
                "yarn workspace @w/app add @w/lib@workspace:^",
            ),
        ] {
            assert_eq!(with(app, lock, text).as_deref(), Some(expected), "{lock}");
        }
        let source = Memory::named([
            ("uv.lock", ""),
            ("app/pyproject.toml", "[project]\nname = \"app\"\n"),
            ("lib/pyproject.toml", "[project]\nname = \"my-lib\"\n"),
        ]);
        let found = member_remedy(&source, "my_lib", true, Some("app/tests/test_a.py"));
        let expected = Some("uv add --package app my-lib".to_owned());
        assert_eq!(found.and_then(|it| it.command), expected);
        assert_eq!(
            member_remedy(&source, "other", true, Some("app/tests/test_a.py")),
            None
        );
        assert_eq!(
            member_remedy(&source, "my_lib", true, Some("elsewhere/a.py")),
            None
        );
    }
}
