//! Lists the packages of a workspace.

use serde_json::Value;

use super::project::{Project, is_plain, read_text};
use crate::languages::normal;
use crate::model::{Remedy, RepoPath};
use crate::source::Source;

/// A package that is part of the repository.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) folder: String,
    pub(super) manifest: String,
}

/// Returns the packages of the repository.
pub(super) fn list_members(source: &dyn Source, python: bool) -> Vec<Member> {
    let file = if python { "pyproject.toml" } else { "package.json" };
    let files = source.listing().files().map(|entry| &entry.path);
    let manifests =
        files.filter(|path| path.file_name() == file && !path.as_str().contains("node_modules/"));
    // Bounds the manifests that are read.
    let members = manifests.take(500).filter_map(|path| {
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
            manifest,
        })
    });
    members.collect()
}

/// Checks whether a workspace that is given by globs of folders has a folder.
pub(super) fn covers(globs: &Value, folder: &str) -> bool {
    let mut globs = globs.as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut others = globs.clone().filter_map(|glob| glob.strip_prefix('!'));
    let is_left_out = others.any(|glob| matches_folder(glob, folder));
    !is_left_out && globs.any(|glob| matches_folder(glob, folder))
}

fn matches_folder(glob: &str, folder: &str) -> bool {
    let glob = globset::Glob::new(glob.trim_start_matches("./").trim_end_matches('/'));
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(folder))
}

/// Returns how a package of the workspace is made known to the package of the file `at` that lacks it: no registry is
/// asked for a package of the repository. `None` where the workspace has no such package.
pub(super) fn link_member(
    project: &Project<'_>,
    package: &str,
    python: bool,
    at: Option<&str>,
) -> Option<Remedy> {
    let members = list_members(project.source, python);
    let is_same = |name: &str| name == package || python && normal(name) == normal(package);
    let member = members.iter().find(|member| is_same(&member.name))?;
    let at = at.and_then(|at| RepoPath::new(at).ok());
    let is_around = |folder: &str| at.as_ref().is_some_and(|path| path.is_below(folder));
    let members = members.iter().filter(|one| one.folder.is_empty() || is_around(&one.folder));
    let app = members.max_by_key(|member| member.folder.len());
    let app = app.filter(|app| app.name != member.name)?;
    if !is_plain(&app.name) || !is_plain(&member.name) || !is_plain(&member.folder) {
        return None;
    }
    let (name, folder, app_name) = (&member.name, &member.folder, &app.name);
    let manager = project.find_manager(python)?;
    if app.manifest.contains(&format!("\"{name}\"")) {
        let message = format!("`{name}` is in {folder} and declared, but not linked");
        let line = manager.renew.as_ref().filter(|_| !python).unwrap_or(&manager.all);
        return Some(Remedy::new(message, project.command(line)));
    }
    let message = format!("`{name}` is in {folder}, and `{app_name}` does not declare it");
    let line = manager.link.as_ref()?.replace("{to}", app_name);
    let line = line.replace("{name}", name).replace("{folder}", folder);
    Some(Remedy::new(message, project.command(&line)))
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
            (
                linked,
                "pnpm-lock.yaml",
                "",
                "pnpm install --no-frozen-lockfile",
            ),
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
                "yarn workspace @w/app add @w/lib@*",
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
