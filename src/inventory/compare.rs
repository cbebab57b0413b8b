use std::collections::BTreeMap;

use super::declared::{Place, Requirement, node_requirements, python_requirements, with_extra};
use super::lock::{Lock, normal};
use super::managers::Manager;
use super::members::members;
use super::modules::pytest_plugin;
use super::project::{Project, is_plain, read_text};
use crate::model::Remedy;
use crate::source::EntryKind;

/// Compares what the project declares with what is present, without a log. `node_version` is the version of the Node.js
/// that commands find. One problem for each language is enough: its command mends what follows from it.
#[must_use]
pub fn find_problems(project: &Project<'_>, node_version: Option<&str>) -> Vec<Remedy> {
    let Some(_) = &project.root else {
        return Vec::new();
    };
    let python = python_problem(project).or_else(|| python_version_problem(project));
    let engine = node_version.and_then(|version| wrong_node(project, version));
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
    let lock = read_lock(project, manager, "");
    let requirements = python_requirements(project);
    let wanted = || requirements.iter().filter(|one| !one.is_conditional);
    // A member of a workspace has its manifest elsewhere than the lock.
    let is_beside = is_lock && project.folder_of(file) == project.folder_of("pyproject.toml");
    if let Some(stale) = stale_requirement(wanted(), lock.as_ref().filter(|_| is_beside)) {
        return Some(stale_lock(manager, stale));
    }
    let present = python_packages(project);
    let is_installed = |name: &str| present.contains_key(name);
    let usual = |one: &&Requirement| {
        let default_group = is_lock && one.place == Place::Group("dev".to_owned());
        (one.place == Place::Main || default_group) && !is_installed(&one.name)
    };
    if let Some(missing) = wanted().find(usual) {
        return Some(not_installed(project, manager, &missing.name));
    }
    if let Some(drift) = lock.and_then(|lock| drift(project, manager, &present, &lock)) {
        return Some(drift);
    }
    own_package_missing(project, &present).or_else(|| plugin_missing(project, &is_installed))
}

// The project's own package in a src layout, which only an installation puts on the path.
pub(super) fn own_package_missing(
    project: &Project<'_>,
    present: &BTreeMap<String, String>,
) -> Option<Remedy> {
    let text = project.read("pyproject.toml")?;
    let table: toml::Table = text.parse().ok()?;
    let name = table.get("project")?.get("name")?.as_str()?;
    let manager = project.manager(true)?;
    let folder = format!("src/{}/", normal(name).replace('-', "_"));
    let mut files = project.source.listing().files();
    let is_src = files.any(|entry| entry.path.as_str().starts_with(&folder));
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
fn plugin_missing(project: &Project<'_>, is_installed: &dyn Fn(&str) -> bool) -> Option<Remedy> {
    let settings = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"];
    let texts = settings.iter().filter_map(|file| project.read(file));
    let lines: Vec<String> = texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut options = lines
        .iter()
        .filter(|line| line.contains("addopts") || line.contains("asyncio_mode"));
    let plugin = options.find_map(|line| pytest_plugin(line))?;
    (is_installed("pytest") && !is_installed(plugin)).then(|| {
        let manager = project.manager(true);
        plugin_remedy(project, manager, plugin)
    })
}

/// Returns how a plugin of pytest is installed: by the extra or group that has it, else by its name.
pub(super) fn plugin_remedy(
    project: &Project<'_>,
    manager: Option<&Manager>,
    plugin: &str,
) -> Remedy {
    let declared = python_requirements(project)
        .iter()
        .any(|one| one.name == plugin);
    let (all, one) = manager.map_or(("", "{pip} install"), |row| {
        (row.all.as_str(), row.one.as_str())
    });
    let line = if declared && manager.is_some() {
        with_extra(project, all, plugin)
    } else {
        format!("{one} {plugin}")
    };
    let message =
        format!("the settings of pytest need its plugin `{plugin}`, which is not installed");
    Remedy::new(message, Some(project.command(&line)))
}

// The virtual environment against `requires-python`.
fn python_version_problem(project: &Project<'_>) -> Option<Remedy> {
    let environment = project.environment()?;
    let about = project.root.as_ref()?.join(environment).join("pyvenv.cfg");
    let about = std::fs::read_to_string(about).ok()?;
    let mut lines = about.lines().filter_map(|line| line.split_once('='));
    let (_, version) = lines.find(|(key, _)| key.trim().starts_with("version"))?;
    let version = version.trim();
    let table: toml::Table = project.read("pyproject.toml")?.parse().ok()?;
    let range = table.get("project")?.get("requires-python")?.as_str()?;
    is_below(version, range)?.then(|| {
        let message =
            format!("{environment} has Python {version}, pyproject.toml asks for {range}");
        let line = match project.manager(true).map(|manager| manager.file.as_str()) {
            Some("uv.lock") => "uv sync",
            _ => "pyenv install -s",
        };
        Remedy::new(message, Some(line.to_owned()))
    })
}

/// Returns a problem with the version of Node.js: another one than `.nvmrc` or `engines` asks for.
pub(super) fn wrong_node(project: &Project<'_>, version: &str) -> Option<Remedy> {
    let version = version.trim().trim_start_matches('v');
    let named = [".nvmrc", ".node-version"];
    let asked = named
        .iter()
        .find_map(|file| Some((*file, project.read(file)?)));
    if let Some((file, asked)) = asked {
        let asked = asked.trim().trim_start_matches('v');
        let is_version = asked.starts_with(|first: char| first.is_ascii_digit());
        let same = version == asked || version.starts_with(&format!("{asked}."));
        let message = format!("Node.js {version} ran it, {file} asks for {asked}");
        return (is_version && !same).then(|| Remedy::new(message, Some("nvm install".to_owned())));
    }
    let manifest: serde_json::Value = serde_json::from_str(&project.read("package.json")?).ok()?;
    let range = manifest["engines"]["node"]
        .as_str()
        .filter(|range| !range.contains("||"))?;
    let least: String = range
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    is_below(version, range)?.then(|| {
        let message = format!("Node.js {version} ran it, package.json asks for {range}");
        Remedy::new(message, Some(format!("nvm install {least}")))
    })
}

// Whether a version is below the least of a range: `>=3.12`, `^22`, `22.x`.
fn is_below(version: &str, range: &str) -> Option<bool> {
    let range = range.split([',', ' ']).next()?.trim();
    if range.starts_with(['<', '!']) {
        return None;
    }
    let numbers = |text: &str| -> Vec<u32> {
        text.split('.')
            .map_while(|part| part.parse().ok())
            .collect()
    };
    let least = range.trim_start_matches(|first: char| !first.is_ascii_digit());
    let least = numbers(least);
    (!least.is_empty()).then(|| numbers(version) < least)
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
    let root = read_lock(project, manager, "");
    let mut folders = root.map(|lock| lock.folders).unwrap_or_default();
    folders.push(String::new());
    folders.sort();
    folders.dedup();
    folders
        .iter()
        .find_map(|folder| problem_in_folder(project, manager, folder))
}

// One member of the workspace: its manifest against the lock, then against node_modules.
fn problem_in_folder(project: &Project<'_>, manager: &Manager, folder: &str) -> Option<Remedy> {
    let base = project.folder_of(&manager.file)?.join(folder);
    let path = base.join("package.json");
    let requirements = node_requirements(&read_text(project.source, path.to_str()?)?);
    let lock = read_lock(project, manager, folder);
    let members = members(project.source, false);
    // The lock of yarn does not hold members of the workspace.
    let is_member = |one: &&Requirement| members.iter().any(|member| member.name == one.name);
    let bought = requirements.iter().filter(|one| !is_member(one));
    if let Some(stale) = stale_requirement(bought, lock.as_ref()) {
        return Some(stale_lock(manager, stale));
    }
    let root = project.root.as_ref()?;
    let is_there = |name: &str| {
        let mut above = base.ancestors();
        above.any(|above| root.join(above).join("node_modules").join(name).exists())
    };
    if let Some(missing) = requirements.iter().find(|one| !is_there(&one.name)) {
        let member = members.iter().find(|member| member.name == missing.name);
        return Some(match member {
            Some(member) => {
                let message = format!(
                    "`{}` is in {}, is declared and not linked",
                    member.name, member.folder
                );
                let line = if manager.tool == "npm" {
                    "npm install"
                } else {
                    &manager.all
                };
                Remedy::new(message, Some(line.to_owned()))
            }
            None => not_installed(project, manager, &missing.name),
        });
    }
    let names = requirements.iter().map(|one| &one.name);
    let present =
        names.filter_map(|name| Some((name.clone(), node_version(project, base.to_str()?, name)?)));
    drift(project, manager, &present.collect(), &lock?)
}

fn not_installed(project: &Project<'_>, manager: &Manager, package: &str) -> Remedy {
    let message = format!("`{package}` is declared and not installed");
    Remedy::new(
        message,
        Some(project.command(&with_extra(project, &manager.all, package))),
    )
}

fn stale_requirement<'r>(
    mut requirements: impl Iterator<Item = &'r Requirement>,
    lock: Option<&Lock>,
) -> Option<&'r Requirement> {
    let lock = lock.filter(|lock| !lock.versions.is_empty() || lock.asked.is_some())?;
    requirements.find(|one| !lock.holds(&one.name, &one.range))
}

fn stale_lock(manager: &Manager, requirement: &Requirement) -> Remedy {
    let Requirement { name, range, .. } = requirement;
    let wanted = format!("{name} {range}");
    let message = format!(
        "the manifest asks for `{}`, and {} does not hold it",
        wanted.trim(),
        manager.file
    );
    Remedy::new(message, manager.renew.clone())
}

// A package that is installed in another version than the lock holds.
fn drift(
    project: &Project<'_>,
    manager: &Manager,
    present: &BTreeMap<String, String>,
    lock: &Lock,
) -> Option<Remedy> {
    let differs = |(name, version): (&String, &String)| {
        let locked = lock
            .versions
            .get(name)
            .filter(|locked| !locked.contains(version))?;
        let locked: Vec<&str> = locked.iter().map(String::as_str).collect();
        Some(format!(
            "{name} {version} is installed, {} asks for {}",
            manager.file,
            locked.join(" or ")
        ))
    };
    let mut all = present.iter().filter_map(differs);
    let first = all.next()?;
    let message = match all.count() {
        0 => first,
        more => format!("{first}, and {more} more like it"),
    };
    let exact = manager.exact.as_ref();
    Some(Remedy::new(
        message,
        exact.map(|line| project.command(line)),
    ))
}

fn read_lock(project: &Project<'_>, manager: &Manager, folder: &str) -> Option<Lock> {
    Some(manager.format?.read(&project.read(&manager.file)?, folder))
}

/// Returns the installed distributions by their normal names.
pub(super) fn python_packages(project: &Project<'_>) -> BTreeMap<String, String> {
    let all = project.installed.distributions().into_iter();
    all.map(|one| (normal(&one.name), one.version)).collect()
}

/// Returns the version of a package in `node_modules`.
fn node_version(project: &Project<'_>, folder: &str, name: &str) -> Option<String> {
    let at = project.installed.npm(folder, name)?;
    let manifest = project.installed.read(&at, &at.join("package.json"))?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

/// Returns a submodule that was never fetched; with a log one that it names a file or a module of.
pub(super) fn unfetched_submodule(project: &Project<'_>, log: Option<&str>) -> Option<Remedy> {
    let root = project.root.as_ref()?;
    let entries = project.source.listing().entries().iter();
    let modules = entries.filter(|entry| matches!(entry.kind, EntryKind::Submodule { .. }));
    let is_named = |path: &str| {
        let dotted = path.replace('/', ".");
        let ends = [
            format!("{path}/"),
            format!("{dotted}."),
            format!("'{dotted}'"),
        ];
        log.is_none_or(|log| ends.iter().any(|end| log.contains(end)))
    };
    let is_empty = |path: &str| {
        let inside = std::fs::read_dir(root.join(path));
        inside.is_ok_and(|mut inside| inside.next().is_none())
    };
    let mut paths = modules.map(|entry| entry.path.as_str());
    let path = paths.find(|path| is_named(path) && is_empty(path) && is_plain(path))?;
    let message = format!("the submodule {path} was never fetched");
    Some(Remedy::new(
        message,
        Some(format!("git submodule update --init -- {path}")),
    ))
}

#[cfg(test)]
mod tests {
    use super::{find_problems, is_below};
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
        let lock = |range: &str| {
            format!(
                r#"{{"packages": {{"": {{"dependencies": {{"ms": "{range}"}}}}, "node_modules/ms": {{"version": "2.1.3"}}}}}}"#
            )
        };
        let there = |version: &str| format!(r#"{{"version": "{version}"}}"#);
        let (right, other) = (there("2.1.3"), there("2.0.0"));
        let package = "node_modules/ms/package.json";
        for (lock, present, expected) in [
            (lock("^2.1.0"), vec![(package, right.as_str())], ""),
            (lock("^2.1.0"), vec![(package, other.as_str())], "npm ci"),
            (
                lock("^2.0.0"),
                vec![(package, right.as_str())],
                "npm install",
            ),
            (lock("^2.1.0"), vec![("node_modules/.keep", "")], "npm ci"),
            (lock("^2.1.0"), vec![], "npm ci"),
        ] {
            let files = [("package.json", manifest), ("package-lock.json", &lock)];
            let found = told(&files, &present);
            let commands: Vec<&str> = found.iter().map(|(_, command)| command.as_str()).collect();
            assert_eq!(commands.join(" "), expected, "{lock} {found:?}");
        }
        let engines = told(&[("package.json", r#"{"engines": {"node": ">=22"}}"#)], &[]);
        assert_eq!(engines[0].1, "nvm install 22");
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, range, expected) in [
            ("3.11.2", ">=3.12", Some(true)),
            ("3.12.0", ">=3.9,<4", Some(false)),
            ("20.1.0", "^22", Some(true)),
            ("22.1.0", "22.x", Some(false)),
            ("20.1.0", "<22", None),
        ] {
            assert_eq!(is_below(version, range), expected, "{version} {range}");
        }
    }
}
