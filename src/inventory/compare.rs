use std::collections::BTreeMap;

use super::declared::{Place, Requirement, node_requirements, python_requirements, with_extra};
use super::lock::{Lock, normal};
use super::managers::Manager;
use super::members::{link_member, members};
use super::modules::{plugin_remedy, pytest_plugin};
use super::project::{Project, read_text};
use super::submodules::unfetched_submodule;
use super::versions::{is_below, python_version, wrong_version};
use crate::model::Remedy;

/// Compares what the project declares with what is present, without a log. `node_version` is the version of the Node.js
/// that commands find. One problem for each language is enough: its command mends what follows from it.
#[must_use]
pub fn find_problems(project: &Project<'_>, node_version: Option<&str>) -> Vec<Remedy> {
    if project.root.is_none() {
        return Vec::new();
    }
    let wrong_python = || wrong_version(project, true, &python_version(project)?);
    let python = python_problem(project).or_else(wrong_python);
    let engine = node_version.and_then(|version| wrong_version(project, false, version));
    let node = engine.or_else(|| node_problem(project));
    let submodule = unfetched_submodule(project, None);
    [submodule, python, node].into_iter().flatten().collect()
}

/// Returns what Python packages lack.
pub(super) fn python_problem(project: &Project<'_>) -> Option<Remedy> {
    let manager = project.manager(true)?;
    let file = manager.file.as_str();
    let is_lock = file.ends_with(".lock");
    let active = std::env::var_os("VIRTUAL_ENV").is_some() || is_lock && file != "uv.lock";
    if project.environment().is_none() {
        let message = format!("{file} locks packages, and there is no .venv");
        let lacks = is_lock && !active;
        return lacks.then(|| Remedy::new(message, Some(manager.all.clone())));
    }
    let lock = read_lock(project, manager);
    let requirements = python_requirements(project);
    let wanted = || requirements.iter().filter(|one| !one.is_conditional);
    // A member of a workspace has its manifest elsewhere than the lock.
    let is_beside = is_lock && project.folder_of(file) == project.folder_of("pyproject.toml");
    if let Some(stale) = stale_requirement(wanted(), lock.as_ref().filter(|_| is_beside)) {
        return Some(stale_lock(manager, stale));
    }
    let present = python_packages(project);
    let default_group = Place::Group("dev".to_owned());
    let mut usual =
        wanted().filter(|one| one.place == Place::Main || is_lock && one.place == default_group);
    if let Some(missing) = usual.find(|one| !present.contains_key(&one.name)) {
        return Some(not_installed(project, manager, &missing.name));
    }
    let drift = lock.and_then(|lock| drift(project, manager, &present, &lock));
    drift
        .or_else(|| own_package_missing(project, &present))
        .or_else(|| plugin_missing(project, &present))
}

/// Returns the project's own package in a src layout, which only an installation puts on the path.
pub(super) fn own_package_missing(
    project: &Project<'_>,
    present: &BTreeMap<String, String>,
) -> Option<Remedy> {
    let text = project.read("pyproject.toml")?;
    let table: toml::Table = text.parse().ok()?;
    let name = table.get("project")?.get("name")?.as_str()?;
    let manager = project.manager(true)?;
    let folder = format!("src/{}/", normal(name).replace('-', "_"));
    let is_src = project.has_file_below(&folder);
    let on_path = text.contains("pythonpath") || text.contains("package = false");
    (is_src && !on_path && !present.contains_key(&normal(name))).then(|| {
        let message =
            format!("the package `{name}` itself is not installed, and src/ is not on the path");
        let line = if manager.file.ends_with(".lock") {
            &manager.all
        } else {
            "{pip} install -e ."
        };
        Remedy::new(message, Some(project.command(line)))
    })
}

// The plugin for an option of pytest's settings.
fn plugin_missing(project: &Project<'_>, present: &BTreeMap<String, String>) -> Option<Remedy> {
    let settings = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"];
    let texts = settings.iter().filter_map(|file| project.read(file));
    let find_plugin = |text: String| {
        let mut lines = text.lines();
        lines.find_map(|line| {
            let is_option = line.contains("addopts") || line.contains("asyncio_mode");
            pytest_plugin(line).filter(|_| is_option)
        })
    };
    let plugin = texts.into_iter().find_map(find_plugin)?;
    let is_missing = present.contains_key("pytest") && !present.contains_key(plugin);
    is_missing.then(|| plugin_remedy(project, plugin))
}

/// Returns what packages of Node.js lack.
pub(super) fn node_problem(project: &Project<'_>) -> Option<Remedy> {
    let manager = project.manager(false)?;
    let manifest = project.read("package.json")?;
    if project.has_path(".pnp.cjs") {
        return None;
    }
    if !project.has_path("node_modules") {
        let message = "package.json asks for packages, and there is no node_modules";
        let asks = !node_requirements(&manifest).is_empty();
        return asks.then(|| Remedy::new(message, Some(manager.all.clone())));
    }
    let lock = read_lock(project, manager).unwrap_or_default();
    let root = std::iter::once("");
    let mut folders = root.chain(lock.folders.iter().map(String::as_str));
    folders.find_map(|folder| problem_in_folder(project, manager, &lock, folder))
}

// One member of the workspace: its manifest against the lock, then against node_modules.
fn problem_in_folder(
    project: &Project<'_>,
    manager: &Manager,
    lock: &Lock,
    folder: &str,
) -> Option<Remedy> {
    let base = project.folder_of(&manager.file)?.join(folder);
    let path = base.join("package.json");
    let path = path.to_str()?;
    let requirements = node_requirements(&read_text(project.source, path)?);
    // Not every lock holds members of the workspace.
    let members = members(project.source, false);
    let is_member = |one: &&Requirement| members.iter().any(|member| member.name == one.name);
    let bought = requirements.iter().filter(|one| !is_member(one));
    if let Some(stale) = stale_requirement(bought, Some(lock)) {
        return Some(stale_lock(manager, stale));
    }
    let root = project.root.as_ref()?;
    let is_there = |name: &str| {
        let mut above = base.ancestors();
        above.any(|above| root.join(above).join("node_modules").join(name).exists())
    };
    if let Some(missing) = requirements.iter().find(|one| !is_there(&one.name)) {
        let link = link_member(project, &missing.name, false, Some(path));
        return link.or_else(|| Some(not_installed(project, manager, &missing.name)));
    }
    let names = requirements.iter().map(|one| &one.name);
    let present =
        names.filter_map(|name| Some((name.clone(), node_version(project, base.to_str()?, name)?)));
    drift(project, manager, &present.collect(), lock)
}

/// Returns how a package is installed that a manifest declares.
pub(super) fn not_installed(project: &Project<'_>, manager: &Manager, package: &str) -> Remedy {
    let line = with_extra(project, &manager.all, package);
    let message = format!("`{package}` is declared and not installed");
    Remedy::new(message, Some(project.command(&line)))
}

// A requirement that the lock does not hold, or holds in a version below the range. Aliases and addresses are written
// otherwise there.
fn stale_requirement<'r>(
    mut requirements: impl Iterator<Item = &'r Requirement>,
    lock: Option<&Lock>,
) -> Option<&'r Requirement> {
    let lock = lock.filter(|lock| !lock.versions.is_empty())?;
    requirements.find(|one| match lock.versions.get(&one.name) {
        _ if one.range.contains([':', '/']) => false,
        Some(versions) => {
            let below = |version: &String| is_below(version, &one.range) == Some(true);
            !versions.is_empty() && versions.iter().all(below)
        }
        None => true,
    })
}

fn stale_lock(manager: &Manager, requirement: &Requirement) -> Remedy {
    let Requirement { name, range, .. } = requirement;
    let wanted = format!("{name} {range}");
    let (wanted, file) = (wanted.trim(), &manager.file);
    let message = format!("the manifest asks for `{wanted}`, and {file} does not hold it");
    Remedy::new(message, manager.renew.clone())
}

// A package that is installed in another version than the lock holds.
fn drift(
    project: &Project<'_>,
    manager: &Manager,
    present: &BTreeMap<String, String>,
    lock: &Lock,
) -> Option<Remedy> {
    let (name, version, locked) = present.iter().find_map(|(name, version)| {
        let locked = lock.versions.get(name)?;
        let differs = !locked.is_empty() && !locked.contains(version);
        differs.then_some((name, version, locked))
    })?;
    let locked: Vec<&str> = locked.iter().map(String::as_str).collect();
    let (file, locked) = (&manager.file, locked.join(" or "));
    let message = format!("{name} {version} is installed, {file} asks for {locked}");
    Some(Remedy::new(message, Some(project.command(&manager.all))))
}

fn read_lock(project: &Project<'_>, manager: &Manager) -> Option<Lock> {
    Some(Lock::read(manager.format?, &project.read(&manager.file)?))
}

/// Returns the installed distributions by their normal names.
pub(super) fn python_packages(project: &Project<'_>) -> BTreeMap<String, String> {
    let all = project.installed.distributions().into_iter();
    all.map(|one| (normal(&one.name), one.version)).collect()
}

// The version of a package in `node_modules`.
fn node_version(project: &Project<'_>, folder: &str, name: &str) -> Option<String> {
    let at = project.installed.npm(folder, name)?;
    let manifest = project.installed.read(&at, &at.join("package.json"))?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::find_problems;
    use crate::inventory::Project;
    use crate::source::Memory;

    fn write(root: &std::path::Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn told(files: &[(&str, &str)], present: &[(&str, &str)]) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in present {
            write(&root, path, text);
        }
        let source = Memory::named(files.iter().copied());
        let found = find_problems(&Project::new(&source, Some(&root), ""), Some("v20.1.0"));
        found
            .into_iter()
            .map(|one| (one.problem, one.command.unwrap_or_default()))
            .collect()
    }

    const LOCK: &str = "[[package]]\nname = \"rich\"\nversion = \"13.0\"\n[[package]]\nname = \"own\"\nversion = \
        \"1\"\nsource = { editable = \".\" }\n[package.metadata]\nrequires-dist = [{ name = \"rich\" }]\n";
    const SITE: &str = ".venv/lib/python3.12/site-packages";

    #[test]
    fn finds_what_python_lacks() {
        let own = "[project]\nname = \"own\"\ndependencies = [\"rich>=13\"]\n";
        let more = "[project]\nname = \"own\"\ndependencies = [\"rich>=13\", \"attrs\"]\n";
        let rich = |version: &str| format!("{SITE}/rich-{version}.dist-info/top_level.txt");
        let (right, other) = (rich("13.0"), rich("12.0"));
        let environment = (".venv/pyvenv.cfg", "version = 3.12.1\n");
        for (pyproject, present, expected) in [
            (own, vec![environment, (right.as_str(), "rich\n")], ""),
            (
                own,
                vec![environment, (other.as_str(), "rich\n")],
                "uv sync",
            ),
            (own, vec![environment], "uv sync"),
            (
                more,
                vec![environment, (right.as_str(), "rich\n")],
                "uv sync",
            ),
        ] {
            let files = [("pyproject.toml", pyproject), ("uv.lock", LOCK)];
            let found = told(&files, &present);
            let commands: Vec<&str> = found.iter().map(|(_, command)| command.as_str()).collect();
            assert_eq!(commands.join(" "), expected, "{pyproject} {found:?}");
        }
    }

    #[test]
    fn finds_what_node_lacks() {
        let manifest = r#"{"dependencies": {"ms": "^2.1.0"}}"#;
        let lock = |version: &str| {
            format!(r#"{{"packages": {{"node_modules/ms": {{"version": "{version}"}}}}}}"#)
        };
        let there = |version: &str| format!(r#"{{"version": "{version}"}}"#);
        let (right, other) = (there("2.1.3"), there("2.0.0"));
        let package = "node_modules/ms/package.json";
        for (lock, present, expected) in [
            (lock("2.1.3"), vec![(package, right.as_str())], ""),
            (lock("2.1.3"), vec![(package, other.as_str())], "npm ci"),
            (
                lock("2.0.0"),
                vec![(package, right.as_str())],
                "npm install",
            ),
            (lock("2.1.3"), vec![("node_modules/.keep", "")], "npm ci"),
            (lock("2.1.3"), vec![], "npm ci"),
        ] {
            let files = [("package.json", manifest), ("package-lock.json", &lock)];
            let found = told(&files, &present);
            let commands: Vec<&str> = found.iter().map(|(_, command)| command.as_str()).collect();
            assert_eq!(commands.join(" "), expected, "{lock} {found:?}");
        }
        let engines = told(&[("package.json", r#"{"engines": {"node": ">=22"}}"#)], &[]);
        assert_eq!(engines[0].1, "nvm install 22");
    }
}
