use serde_json::Value;

use super::lock::normal;
use super::project::{Project, is_plain, read_text};
use crate::model::{Remedy, RepoPath};
use crate::source::Source;

/// Bounds the manifests that are read.
const MAX_MANIFESTS: usize = 500;

/// A package that is part of the repository.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) folder: String,
    version: Option<String>,
    pub(super) manifest: String,
}

/// Returns the packages of the repository.
pub(super) fn members(source: &dyn Source, python: bool) -> Vec<Member> {
    let file = if python {
        "pyproject.toml"
    } else {
        "package.json"
    };
    let files = source.listing().files().map(|entry| &entry.path);
    let manifests =
        files.filter(|path| path.file_name() == file && !path.as_str().contains("node_modules/"));
    let member = |path: &RepoPath| {
        let manifest = read_text(source, path.as_str())?;
        let document: Value = if python {
            let table: toml::Table = manifest.parse().ok()?;
            serde_json::to_value(table.get("project")?).ok()?
        } else {
            serde_json::from_str(&manifest).ok()?
        };
        let field = |key: &str| document[key].as_str().map(str::to_owned);
        Some(Member {
            name: field("name")?,
            folder: path.directory().to_owned(),
            version: field("version"),
            manifest,
        })
    };
    manifests.take(MAX_MANIFESTS).filter_map(member).collect()
}

/// Returns how a package of the workspace is made known to the package of the file `at` that lacks it: no registry is
/// asked for a package of the repository. `None` where the workspace has no such package.
pub(super) fn link_member(
    project: &Project<'_>,
    package: &str,
    python: bool,
    at: Option<&str>,
) -> Option<Remedy> {
    let members = members(project.source, python);
    let is_it = |name: &str| {
        if python {
            normal(name) == normal(package)
        } else {
            name == package
        }
    };
    let member = members.iter().find(|member| is_it(&member.name))?;
    let holds = |member: &&Member| {
        let below = |at: &str| RepoPath::new(at).is_ok_and(|path| path.is_below(&member.folder));
        member.folder.is_empty() || at.is_some_and(below)
    };
    let app = members
        .iter()
        .filter(holds)
        .max_by_key(|member| member.folder.len());
    let app = app.filter(|app| app.name != member.name)?;
    if !is_plain(&app.name) || !is_plain(&member.name) {
        return None;
    }
    let is_declared = app.manifest.contains(&format!("\"{}\"", member.name));
    let command = link_command(project, app, member, python, is_declared)?;
    let message = if is_declared {
        format!(
            "`{}` is in {}, is declared and not linked",
            member.name, member.folder
        )
    } else {
        format!(
            "`{}` is in {}, and `{}` does not declare it",
            member.name, member.folder, app.name
        )
    };
    Some(Remedy::new(message, Some(command)))
}

fn link_command(
    project: &Project<'_>,
    app: &Member,
    member: &Member,
    python: bool,
    is_declared: bool,
) -> Option<String> {
    let (to, name) = (&app.name, &member.name);
    let manager = project
        .manager(python)
        .map_or("", |manager| manager.tool.as_str());
    let is_pnpm = project.read("pnpm-workspace.yaml").is_some();
    Some(
        match (if is_pnpm { "pnpm" } else { manager }, is_declared) {
            ("uv", true) => format!("uv sync --package {to}"),
            ("uv", false) => format!("uv add --package {to} {name}"),
            _ if python => project.command(&format!("{{pip}} install -e {}", member.folder)),
            ("pnpm", false) => format!("pnpm --filter {to} add {name} --workspace"),
            ("yarn", false) => {
                let is_berry = project.read("yarn.lock")?.contains("__metadata:");
                // The version that is here is not looked for elsewhere.
                let version = if is_berry {
                    "workspace:^"
                } else {
                    member.version.as_deref()?
                };
                format!("yarn workspace {to} add {name}@{version}")
            }
            (tool @ ("pnpm" | "yarn"), true) => format!("{tool} install"),
            (_, true) => "npm install".to_owned(),
            (_, false) => format!("npm install {name} --workspace {to}"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::link_member;
    use crate::inventory::Project;
    use crate::source::Memory;

    #[test]
    fn links_a_package_of_the_workspace() {
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
            let project = Project::new(&source, None, "");
            let found = link_member(&project, "@w/lib", false, Some("packages/app/src/a.ts"));
            found.and_then(|remedy| remedy.command)
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
        let project = Project::new(&source, None, "");
        let command = |package: &str, at: &str| {
            let found = link_member(&project, package, true, Some(at));
            found.and_then(|remedy| remedy.command)
        };
        let expected = Some("uv add --package app my-lib".to_owned());
        assert_eq!(command("my_lib", "app/tests/test_a.py"), expected);
        assert_eq!(command("other", "app/tests/test_a.py"), None);
        assert_eq!(command("my_lib", "elsewhere/a.py"), None);
    }
}
