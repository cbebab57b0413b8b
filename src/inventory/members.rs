use serde_json::Value;

use super::lock::normal;
use super::project::{Project, read_text};
use crate::model::{Remedy, RepoPath};
use crate::source::Source;

/// Bounds the manifests that are read.
const MAX_MANIFESTS: usize = 500;

/// A package that is part of the repository.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) folder: String,
}

/// Returns the packages of the repository.
pub(super) fn list_members(source: &dyn Source, python: bool) -> Vec<Member> {
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
        })
    };
    manifests.take(MAX_MANIFESTS).filter_map(member).collect()
}

/// Returns how a package of the workspace that another one lacks is linked: no registry is asked for a package of the
/// repository. `None` where the workspace has no such package.
pub(super) fn link_member(project: &Project<'_>, package: &str, python: bool) -> Option<Remedy> {
    let members = list_members(project.source, python);
    let is_same = |name: &str| name == package || python && normal(name) == normal(package);
    let member = members.iter().find(|member| is_same(&member.name))?;
    let manager = project.find_manager(python)?;
    let line = manager.renew.as_ref().unwrap_or(&manager.all);
    let (name, folder) = (&member.name, &member.folder);
    let message =
        format!("`{name}` is in {folder} and not linked; declare it where it is imported");
    Some(Remedy::new(message, Some(project.command(line))))
}

#[cfg(test)]
mod tests {
    use super::link_member;
    use crate::inventory::Project;
    use crate::source::Memory;

    #[test]
    fn links_a_package_of_the_workspace() {
        let source = Memory::named([
            ("package.json", r#"{"name": "root"}"#),
            ("packages/lib/package.json", r#"{"name": "@w/lib"}"#),
            ("pnpm-lock.yaml", ""),
            ("uv.lock", ""),
            ("lib/pyproject.toml", "[project]\nname = \"my-lib\"\n"),
        ]);
        let project = Project::new(&source, None, "");
        let command = |package: &str, python: bool| {
            let found = link_member(&project, package, python);
            found.and_then(|remedy| remedy.command)
        };
        let expected = Some("pnpm install --no-frozen-lockfile".to_owned());
        assert_eq!(command("@w/lib", false), expected);
        assert!(command("my_lib", true).is_some());
        assert_eq!(command("other", true), None);
    }
}
