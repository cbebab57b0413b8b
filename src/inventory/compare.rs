//! Compares declared packages, interpreters and submodules with what is present.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::declared::{
    Place, Requirement, install_command, node_requirements, parse_requirement, python_requirements,
    rows,
};
use super::failure::{MAX_FILES, needed_variable};
use super::members::{Member, covers, link_member, list_members};
use super::modules::missing_plugin;
use super::project::{Manager, Project, is_plain, read_text};
use super::versions::{python_version, wrong_version};
use crate::languages::{Lock, normal};
use crate::model::Remedy;
use crate::policy::is_test;
use crate::source::EntryKind;

/// Compares what the project declares with what is present, without a log. `found` are the versions of Python and
/// Node.js that commands find. One problem for each language is enough: its command mends what follows from it.
pub fn find_problems(project: &Project<'_>, found: [Option<String>; 2]) -> Vec<Remedy> {
    if project.root.is_none() {
        return Vec::new();
    }
    let [python, node] = found;
    // What a lock speaks of runs in an environment of its own.
    let is_locked = |row: &Manager| row.file.ends_with(".lock");
    let python = python.filter(|_| !project.find_manager(true).is_some_and(is_locked));
    let wrong_python = || wrong_version(project, true, &python_version(project).or(python)?);
    let python = wrong_python().or_else(|| python_problem(project));
    let engine = node.and_then(|version| wrong_version(project, false, &version));
    let node = engine.or_else(|| node_problem(project)).or_else(|| member_problem(project));
    let problems = [
        unfetched_submodule(project, None),
        python,
        node,
        needed_variable(project),
    ];
    project.with_manager(problems.into_iter().flatten().collect())
}

/// What a manager should have installed for a language, and what is there.
pub(super) struct Tree<'p> {
    pub(super) project: &'p Project<'p>,
    pub(super) manager: &'static Manager,
    /// pyproject.toml or package.json.
    pub(super) manifest: Value,
    pub(super) lock: Lock,
    /// Versions by package; empty where a package does not say.
    present: BTreeMap<String, String>,
}

impl<'p> Tree<'p> {
    pub(super) fn open(project: &'p Project<'p>, python: bool) -> Option<Self> {
        let manager = project.find_manager(python)?;
        let text = project.read(&manager.file).unwrap_or_default();
        let all = project
            .installed
            .distributions()
            .into_iter()
            .filter(|one| one.is_whole && python);
        Some(Self {
            project,
            manager,
            manifest: project.manifest(if python { "pyproject.toml" } else { "package.json" }),
            lock: Lock::read(&manager.file, &text),
            present: all.map(|one| (normal(&one.name), one.version)).collect(),
        })
    }

    /// A problem that installing everything solves.
    pub(super) fn install_all(&self, message: impl Into<String>) -> Remedy {
        Remedy::new(message, self.project.command(&self.manager.all))
    }

    // The manifest against the lock, then both against what is there.
    fn compare(&self, requirements: &[Requirement], are_locked: bool) -> Option<Remedy> {
        let (file, lock) = (&self.manager.file, &self.lock);
        let is_stale = |one: &&Requirement| match lock.versions.get(&one.name) {
            Some(versions) => {
                !versions.is_empty() && versions.iter().all(|version| one.refuses(version))
            }
            None => !one.is_elsewhere(),
        };
        let mut asked = requirements.iter().filter(|_| are_locked && !lock.versions.is_empty());
        if let Some(Requirement { name, range, .. }) = asked.find(is_stale) {
            let wanted = format!("{name} {range}");
            let wanted = wanted.trim_end();
            let message =
                format!("the manifest asks for `{wanted}`, but {file} does not contain it");
            return Some(Remedy::new(message, self.manager.renew.clone()));
        }
        let unmet = |one: &Requirement| {
            let there = self.present.get(&one.name);
            let message = one.unmet(there, &Lock::default(), "the manifest asks for")?;
            Some(Remedy::new(
                message,
                install_command(self.project, self.manager, &one.name),
            ))
        };
        if let Some(found) = requirements.iter().find_map(unmet) {
            return Some(found);
        }
        let (name, version, locked) = self.present.iter().find_map(|(name, version)| {
            let locked = lock.versions.get(name).filter(|_| self.has_installed())?;
            let differs = !locked.is_empty() && !version.is_empty() && !locked.contains(version);
            differs.then_some((name, version, locked))
        })?;
        let locked: Vec<&str> = locked.iter().map(String::as_str).collect();
        let locked = locked.join(" or ");
        Some(self.install_all(format!(
            "{name} {version} is installed, {file} asks for {locked}"
        )))
    }

    // Whether what is there was installed by the manager of the lock: another one may rightly choose other versions.
    fn has_installed(&self) -> bool {
        let name = self.manager.all.split(' ').next().unwrap_or_default();
        let installer = |about: PathBuf| std::fs::read_to_string(about.join("INSTALLER")).ok();
        let mut said = self.project.installed.metadata().filter_map(installer).peekable();
        match name {
            "pnpm" => self.project.has_path("node_modules/.modules.yaml"),
            "npm" => self.project.has_path("node_modules/.package-lock.json"),
            "uv" | "poetry" => said.peek().is_none() || said.any(|text| text.starts_with(name)),
            _ => true,
        }
    }

    // A package of a workspace of uv, which `uv sync` alone leaves out.
    fn unsynced_member(&self) -> Option<Remedy> {
        let globs = &self.manifest["tool"]["uv"]["workspace"]["members"];
        let members = list_members(self.project.source, true);
        let is_left_out = |member: &&Member| {
            covers(globs, &member.folder)
                && member.manifest.contains("[build-system]")
                && !self.present.contains_key(&normal(&member.name))
        };
        let member = members.iter().find(is_left_out)?;
        let message = format!("`{}` of the workspace is not installed", member.name);
        Some(Remedy::new(message, "uv sync --all-packages".to_owned()))
    }

    // A package that another installed one needs, and that is missing or in a version that it refuses, as `pip check`
    // says it. A lock may overrule it.
    fn unmet_requirement(&self) -> Option<Remedy> {
        let message = self.project.installed.metadata().find_map(|about| {
            let text = std::fs::read_to_string(about.join("METADATA")).ok()?;
            let by = text.lines().find_map(|line| line.strip_prefix("Name: "))?;
            let by = format!("{by} needs");
            let lines = text.lines().filter_map(|line| line.strip_prefix("Requires-Dist: "));
            let asked = lines.filter_map(|line| parse_requirement(line, Place::Main));
            let mut asked = asked.filter(|one| !one.is_conditional);
            asked.find_map(|one| one.unmet(self.present.get(&one.name), &self.lock, &by))
        });
        Some(self.install_all(message?))
    }

    /// Returns the project's own package where it is not installed: in a src layout, which only an installation puts
    /// on the path, or asked for by its name; or where it was installed before it had one of its programs.
    pub(super) fn own_package(&self, asked: Option<&str>) -> Option<Remedy> {
        let project = self.project;
        let name = self.manifest["project"]["name"].as_str()?;
        let is_asked = asked.is_some();
        asked.is_none_or(|asked| normal(asked) == normal(name)).then_some(())?;
        let is_src = project.has_file_below(&format!("src/{}/", normal(name).replace('-', "_")));
        let text = project.read("pyproject.toml")?;
        let on_path = text.contains("pythonpath") || text.contains("package = false");
        let line = match self.manager.file.ends_with(".lock") {
            true => &self.manager.all,
            false => "{pip} install -e .",
        };
        let why = if is_asked { "" } else { ", and src/ is not on the path" };
        let mut message = format!("the package `{name}` itself is not installed{why}");
        if self.present.contains_key(&normal(name)) {
            let bin = format!("{}/bin", project.find_environment()?);
            let mut programs =
                rows(&self.manifest["project"]["scripts"]).map(|(program, _)| program);
            let is_missing = |program: &&String| !project.has_path(&format!("{bin}/{program}"));
            let program = programs.find(is_missing).filter(|_| project.has_path(&bin))?;
            message = format!("`{name}` was installed before it had its program `{program}`");
        } else if !is_asked && (!is_src || on_path) {
            return None;
        }
        Some(Remedy::new(message, project.command(line)))
    }

    // The plugin for an option of pytest's settings.
    fn plugin_of_settings(&self) -> Option<Remedy> {
        self.present.get("pytest")?;
        let settings = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"];
        let texts = settings.iter().filter_map(|file| self.project.read(file));
        let texts: Vec<String> = texts.collect();
        let lines = texts.iter().flat_map(|text| text.lines());
        missing_plugin(
            self.project,
            lines,
            ["addopts", "asyncio_mode"],
            &self.present,
        )
    }
}

/// Returns what Python packages lack.
pub(super) fn python_problem(project: &Project<'_>) -> Option<Remedy> {
    let tree = Tree::open(project, true)?;
    let (manager, present) = (tree.manager, &tree.present);
    let file = manager.file.as_str();
    let is_lock = file.ends_with(".lock");
    if project.find_environment().is_none() {
        let is_elsewhere = std::env::var_os("VIRTUAL_ENV").is_some() || file != "uv.lock";
        let message = format!("{file} locks packages, but there is no .venv");
        return (is_lock && !is_elsewhere).then(|| tree.install_all(message));
    }
    let mut requirements = python_requirements(project);
    if let Some(lost) = lost_interpreter(project, manager) {
        return Some(lost);
    }
    let defaults = tree.manifest["tool"]["uv"]["default-groups"].as_array();
    let is_default =
        |name: &str| defaults.map_or(name == "dev", |names| names.iter().any(|one| one == name));
    let is_needed = |one: &Requirement| match &one.place {
        Place::Main => true,
        Place::Group(name) if is_lock && is_default(name) => true,
        _ if one.name == "pytest" => true,
        // A plugin shows in no import.
        Place::Group(file) if file.ends_with(".txt") && one.name.starts_with("pytest-") => {
            present.contains_key("pytest")
        }
        _ => !present.contains_key(&one.name) && is_imported_by_tests(project, &one.name),
    };
    requirements.retain(|one| !one.is_conditional && is_needed(one));
    // What brings the runner brings the rest.
    requirements.sort_by_key(|one| one.name != "pytest");
    // A member of a workspace has its manifest elsewhere than the lock.
    let are_locked = is_lock && project.folder_of(file) == project.folder_of("pyproject.toml");
    tree.compare(&requirements, are_locked)
        .or_else(|| tree.own_package(None))
        .or_else(|| tree.unsynced_member())
        .or_else(|| tree.unmet_requirement())
        .or_else(|| tree.plugin_of_settings())
}

// An environment whose interpreter was removed or moved.
fn lost_interpreter(project: &Project<'_>, manager: &Manager) -> Option<Remedy> {
    let name = project.find_environment()?;
    let folders = Path::new(project.prefix).ancestors();
    let root = project.root.as_deref()?;
    let mut bins = folders.map(|folder| root.join(folder).join(name).join("bin"));
    bins.find(|bin| {
        let python = bin.join("python");
        // A script names the interpreter of the folder in which it was installed.
        let script = std::fs::read_to_string(bin.join("pytest")).unwrap_or_default();
        let first = script.lines().next().unwrap_or_default();
        let named = first.trim_start_matches("#!");
        let is_moved = named.ends_with("/bin/python") && !Path::new(named).exists();
        python.is_symlink() && !python.exists() || is_moved
    })?;
    let pip = format!("{name}/bin/python -m pip");
    let all = manager.all.replace("{pip}", &pip);
    let line = match manager.file.as_str() {
        "uv.lock" => all,
        _ => format!("python3 -m venv --clear {name} && {all}"),
    };
    let message = format!("{name}/bin/python points to an interpreter that no longer exists");
    Some(Remedy::new(message, line))
}

// Whether a test imports the module of a package before it can skip anything.
fn is_imported_by_tests(project: &Project<'_>, package: &str) -> bool {
    let module = package.replace('-', "_");
    let tests = project.paths().filter(|path| path.ends_with(".py") && is_test(path));
    let mut texts = tests.take(MAX_FILES).filter_map(|path| read_text(project.source, path));
    let imports = |line: &str| {
        let mut words = line.split([' ', '.', ',']);
        matches!(words.next(), Some("import" | "from")) && words.next() == Some(&module)
    };
    texts.any(|text| !text.contains("importorskip") && text.lines().any(imports))
}

/// Returns what packages of Node.js lack.
pub(super) fn node_problem(project: &Project<'_>) -> Option<Remedy> {
    let mut tree = Tree::open(project, false)?;
    if project.has_path(".pnp.cjs") {
        return None;
    }
    let mut usual = node_requirements(&tree.manifest);
    if !project.has_path("node_modules") {
        let message = "package.json asks for packages, and there is no node_modules";
        return (!usual.is_empty()).then(|| tree.install_all(message));
    }
    let is_there = |name: &str| project.has_path(&format!("node_modules/{name}"));
    let members = list_members(project.source, false);
    let folder = project.folder_of("package.json")?;
    let is_member = |name: &str| members.iter().any(|member| member.name == name);
    let is_unlinked =
        |one: &&Requirement| !one.is_conditional && is_member(&one.name) && !is_there(&one.name);
    if let Some(one) = usual.iter().find(is_unlinked) {
        return link_member(
            project,
            &one.name,
            false,
            folder.join("package.json").to_str(),
        );
    }
    // npm and pnpm install peers as well.
    let has_peers = !tree.manager.all.starts_with("yarn");
    let is_peer = |name: &str| tree.lock.versions.contains_key(name) && has_peers;
    // Not every lock holds members of the workspace.
    usual.retain(|one| !is_member(&one.name) && (!one.is_conditional || is_peer(&one.name)));
    let there = usual.iter().map(|one| one.name.clone()).filter(|name| is_there(name));
    let folder = folder.to_str()?;
    let version = |name: &str| node_version(project, folder, name).unwrap_or_default();
    tree.present = there.map(|name| (name.clone(), version(&name))).collect();
    tree.compare(&usual, true).or_else(|| tree.tree_problem())
}

// What a package of the workspace declares and does not find. Examples that are no part of the workspace may ask a
// registry for a package of the same name: only `workspace:` speaks for a link, and pnpm's own folder for the rest.
fn member_problem(project: &Project<'_>) -> Option<Remedy> {
    let root = project.root.as_deref()?;
    let manager = project.find_manager(false)?;
    let is_pnpm = root.join("node_modules/.pnpm").is_dir();
    let members = list_members(project.source, false);
    let root_manifest = read_text(project.source, "package.json").unwrap_or_default();
    let manifest: Value = root_manifest.parse().unwrap_or_default();
    let mut globs = &manifest["workspaces"];
    if globs.is_object() {
        globs = &globs["packages"];
    }
    let workspace = project.manifest("pnpm-workspace.yaml");
    members.iter().find_map(|member| {
        let folder = Path::new(&member.folder);
        let is_installed = is_pnpm
            && (covers(&workspace["packages"], &member.folder)
                || root.join(folder).join("node_modules").is_dir());
        let asked = node_requirements(&member.manifest.parse().unwrap_or_default());
        let mut asked = asked.iter().filter(|one| !one.is_conditional);
        asked.find_map(|one| {
            let mut named = members.iter().filter(|member| member.name == one.name);
            let is_linked = one.range.starts_with("workspace:")
                || covers(globs, &member.folder)
                    && named.any(|member| covers(globs, &member.folder));
            if (is_linked || is_installed) && !has_module(&root.join(folder), &one.name) {
                let at = folder.join("package.json");
                let link = link_member(project, &one.name, false, at.to_str());
                return link.or_else(|| {
                    let line = manager.renew.as_ref().unwrap_or(&manager.all);
                    let (name, owner) = (&one.name, &member.name);
                    let message = format!("`{name}` is not installed, and {owner} asks for it");
                    is_plain(&one.name).then(|| Remedy::new(message, line.clone()))
                });
            }
            let mut members = members.iter();
            let target = members.find(|member| is_linked && member.name == one.name)?;
            unbuilt_output(project, root, target)
        })
    })
}

// A package whose entry point is a file that its build makes, where no configuration puts its sources in its place.
fn unbuilt_output(project: &Project<'_>, root: &Path, member: &Member) -> Option<Remedy> {
    let manifest: serde_json::Value = serde_json::from_str(&member.manifest).ok()?;
    let mut keys = "/main /exports /exports/. /exports/./import /exports/./default".split(' ');
    let main = keys.find_map(|key| manifest.pointer(key)?.as_str())?;
    manifest["scripts"]["build"].as_str()?;
    let is_config = |path: &str| path.contains("config") && !path.ends_with(".md");
    let texts = project.paths().filter(|path| is_config(path));
    let mut texts = texts.filter_map(|path| read_text(project.source, path));
    let is_aliased = texts.any(|text| text.contains(&member.name));
    let is_missing = !root.join(&member.folder).join(main).exists();
    (is_missing && !is_aliased && is_plain(&member.name)).then(|| {
        let message = format!("`{}` is not built: {main} does not exist", member.name);
        let is_pnpm = project.read("pnpm-lock.yaml").is_some();
        let line = match is_pnpm {
            true => format!("pnpm --filter {} build", member.name),
            false => format!("npm run build --workspace {}", member.name),
        };
        Remedy::new(message, line)
    })
}

/// Returns how a package is installed that a manifest declares.
pub(super) fn not_installed(project: &Project<'_>, manager: &Manager, package: &str) -> Remedy {
    let message = format!("`{package}` is not installed, and the manifest asks for it");
    Remedy::new(message, install_command(project, manager, package))
}

/// Checks whether a folder finds a package of Node.js.
pub(super) fn has_module(at: &Path, name: &str) -> bool {
    at.ancestors().any(|up| up.join("node_modules").join(name).exists())
}

/// Returns the version of a package in `node_modules`.
pub(super) fn node_version(project: &Project<'_>, folder: &str, name: &str) -> Option<String> {
    let at = project.installed.npm(folder, name)?;
    let manifest = project.installed.read(&at, &at.join("package.json"))?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

/// Returns a submodule that was never fetched; with a log one that it names a file or a module of.
pub(super) fn unfetched_submodule(project: &Project<'_>, log: Option<&str>) -> Option<Remedy> {
    let root = project.root.as_ref()?;
    let is_named = |path: &str| {
        let names = [format!("{path}/"), format!("'{}", path.replace('/', "."))];
        log.is_none_or(|log| names.iter().any(|name| log.contains(name)))
    };
    let is_empty = |path: &str| {
        let inside = std::fs::read_dir(root.join(path));
        inside.is_ok_and(|mut inside| inside.next().is_none())
    };
    let entries = project.source.listing().entries().iter();
    let modules = entries.filter(|entry| matches!(entry.kind, EntryKind::Submodule { .. }));
    let mut paths = modules.map(|entry| entry.path.as_str());
    let path = paths.find(|path| is_named(path) && is_empty(path) && is_plain(path))?;
    let message = format!("the submodule {path} was never fetched");
    let line = format!("git submodule update --init -- {path}");
    Some(Remedy::new(message, line))
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
        let mut project = Project::new(&source, Some(&root), "");
        project.has_program = |name| name != "no-such-tool";
        let found = find_problems(&project, [None, Some("v20.1.0".to_owned())]);
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
        let shop = r#"{"name": "@w/shop", "dependencies": {"@w/money": "workspace:*"}}"#;
        let files = [
            ("pnpm-lock.yaml", ""),
            ("package.json", "{}"),
            ("packages/shop/package.json", shop),
            ("packages/money/package.json", r#"{"name": "@w/money"}"#),
        ];
        let found = told(&files, &[("node_modules/.keep", "")]);
        assert_eq!(found[0].1, "pnpm install --no-frozen-lockfile");
        let link = "packages/shop/node_modules/@w/money/package.json";
        assert_eq!(
            told(&files, &[("node_modules/.keep", ""), (link, "{}")]),
            []
        );
        let built = r#"{"name": "@w/money", "main": "dist/i.js", "scripts": {"build": "tsc"}}"#;
        let mut unbuilt = files;
        unbuilt[3].1 = built;
        let present = [("node_modules/.keep", ""), (link, "{}")];
        assert_eq!(
            told(&unbuilt, &present)[0].1,
            "pnpm --filter @w/money build"
        );
        let engines = told(&[("package.json", r#"{"engines": {"node": ">=22"}}"#)], &[]);
        assert_eq!(engines[0].1, "nvm install 22");
    }

    #[test]
    fn finds_what_tests_and_other_packages_of_python_need() {
        let environment = (".venv/pyvenv.cfg", "version = 3.12.1\n");
        let pip = format!("{SITE}/pip/__init__.py");
        let about = |name: &str| format!("{SITE}/{name}.dist-info/METADATA");
        let (attrs, rich) = (about("attrs-23.1.0"), about("rich-13.0"));
        let needs =
            "Name: rich\nRequires-Dist: pygments (<3,>=2)\nRequires-Dist: ipython ; extra == 'a'\n";
        let extra =
            "[project]\nname = \"own\"\n[project.optional-dependencies]\ntest = [\"freezegun\"]\n";
        let cfg = "[options]\ninstall_requires =\n    attrs>=20\n";
        let test = ("tests/test_a.py", "import freezegun\n");
        let skips = (
            "tests/test_a.py",
            "pytest.importorskip('freezegun')\nimport freezegun\n",
        );
        let pinned = ("requirements.txt", "attrs==22.1.0\n");
        for (files, present, expected) in [
            (vec![pinned], Some((&attrs, "")), "-r requirements.txt"),
            (
                vec![("requirements.txt", "-r base.txt\n"), ("base.txt", "attrs")],
                None,
                "-r requirements.txt",
            ),
            (
                vec![("requirements.txt", "rich\n")],
                Some((&rich, needs)),
                "-r requirements.txt",
            ),
            (vec![("setup.cfg", cfg), ("setup.py", "")], None, "-e ."),
            (vec![("pyproject.toml", extra), test], None, "-e '.[test]'"),
            (vec![("pyproject.toml", extra), skips], None, ""),
            (vec![("pyproject.toml", extra)], None, ""),
        ] {
            let mut all = vec![environment, (pip.as_str(), "")];
            all.extend(present.map(|(path, text)| (path.as_str(), text)));
            let found = told(&files, &all);
            let commands: Vec<&str> = found.iter().map(|(_, command)| command.as_str()).collect();
            let expected = match expected {
                "" => String::new(),
                words => format!(".venv/bin/python -m pip install {words}"),
            };
            assert_eq!(commands.join(" "), expected, "{files:?} {found:?}");
        }
    }

    #[test]
    fn finds_what_other_packages_of_node_need() {
        let manifest = r#"{"dependencies": {"debug": "^4"}}"#;
        let lock = r#"{"packages": {"node_modules/debug": {"version": "4.4.0"}, "node_modules/ms": {"version": "2.1.3"}}}"#;
        let debug = r#"{"name": "debug", "version": "4.4.0", "dependencies": {"ms": "^2"}}"#;
        let debug = ("node_modules/debug/package.json", debug);
        let ms = ("node_modules/ms/package.json", r#"{"version": "2.1.3"}"#);
        let own = lock.replace("2.1.3", "2.1.2");
        let own = ("node_modules/.package-lock.json", own.as_str());
        let peer = r#"{"peerDependencies": {"ms": "^2"}, "dependencies": {"debug": "^4"}}"#;
        for (manifest, present, expected) in [
            (manifest, vec![debug, ms], ""),
            (manifest, vec![debug], "npm ci"),
            (manifest, vec![debug, ms, own], "npm ci"),
            (peer, vec![debug], "npm ci"),
        ] {
            let found = told(
                &[("package.json", manifest), ("package-lock.json", lock)],
                &present,
            );
            let commands: Vec<&str> = found.iter().map(|(_, command)| command.as_str()).collect();
            assert_eq!(commands.join(" "), expected, "{present:?} {found:?}");
        }
        let pinned = told(&[(".nvmrc", "lts/hydrogen\n"), ("package.json", "{}")], &[]);
        assert_eq!(pinned[0].1, "nvm install 18");
    }

    fn commands(files: &[(&str, &str)], present: &[(&str, &str)]) -> String {
        let found = told(files, present).into_iter().map(|(_, command)| command);
        found.collect::<Vec<String>>().join(", ")
    }

    #[test]
    fn settings_of_pnpm_that_lock_lacks_are_found() {
        let manifest = r#"{"pnpm": {"overrides": {"ms": "2.1.2"}}, "dependencies": {"ms": "^2"}}"#;
        let patched =
            r#"{"pnpm": {"patchedDependencies": {"ms@2.1.3": "p"}}, "dependencies": {"ms": "^2"}}"#;
        let own = r#"{"dependencies": {"ms": "catalog:"}}"#;
        let ms = ("node_modules/ms/package.json", r#"{"version": "2.1.3"}"#);
        let lock = "packages:\n  ms@2.1.3: {}\n";
        let with = |more: &str| format!("{more}{lock}");
        let catalog = "catalogs:\n  default:\n    ms: {specifier: ^2.1.0, version: 2.1.3}\n";
        let renew = "pnpm install --no-frozen-lockfile";
        for (manifest, lock, workspace, expected) in [
            (manifest, with("overrides: {ms: 2.1.1}\n"), "", renew),
            (manifest, with("overrides: {ms: 2.1.2}\n"), "", ""),
            (patched, with(""), "", renew),
            (own, with(catalog), "catalog: {ms: ^2.1.2}\n", renew),
            (own, with(catalog), "catalog: {ms: ^2.1.0}\n", ""),
        ] {
            let files = [
                ("package.json", manifest),
                ("pnpm-lock.yaml", lock.as_str()),
                ("pnpm-workspace.yaml", workspace),
            ];
            assert_eq!(
                commands(&files, &[ms]),
                expected,
                "{manifest} {lock} {workspace}"
            );
        }
    }

    #[test]
    fn environments_of_jest_and_vitest_are_packages() {
        let manifest = (
            "package.json",
            r#"{"devDependencies": {"jest": "*", "vitest": "*"}}"#,
        );
        let vitest = (
            "node_modules/vitest/package.json",
            r#"{"version": "1.0.0"}"#,
        );
        let jest = |version: &str| format!(r#"{{"version": "{version}"}}"#);
        let (old, new) = (jest("27.0.0"), jest("29.0.0"));
        let [old, new] = [&old, &new].map(|text| ("node_modules/jest/package.json", text.as_str()));
        let config = ("vitest.config.ts", "test: { environment: 'jsdom' }");
        let there = ("node_modules/jsdom/package.json", "{}");
        for (present, expected) in [
            (vec![vitest, old], "npm install -D jsdom"),
            (vec![vitest, old, there], ""),
            (vec![vitest, new], "npm install -D jest-environment-jsdom"),
        ] {
            assert_eq!(
                commands(&[manifest, config], &present),
                expected,
                "{present:?}"
            );
        }
    }

    #[test]
    fn member_of_uv_that_sync_leaves_out_is_found() {
        let root = "[project]\nname = \"root\"\n[tool.uv.workspace]\nmembers = [\"packages/*\"]\n";
        let files = [
            ("pyproject.toml", root),
            (
                "uv.lock",
                "[[package]]\nname = \"kit\"\nsource = { editable = \"packages/kit\" }\n",
            ),
            (
                "packages/kit/pyproject.toml",
                "[build-system]\n[project]\nname = \"kit\"\n",
            ),
        ];
        let environment = (".venv/pyvenv.cfg", "version = 3.12.1\n");
        let kit = format!("{SITE}/kit-0.1.dist-info/top_level.txt");
        assert_eq!(commands(&files, &[environment]), "uv sync --all-packages");
        assert_eq!(commands(&files, &[environment, (kit.as_str(), "")]), "");
    }

    #[test]
    fn requirements_are_read_wherever_they_are_declared() {
        let environment = (".venv/pyvenv.cfg", "version = 3.12.1\n");
        let pip = format!("{SITE}/pip/__init__.py");
        let about = |name: &str| format!("{SITE}/{name}.dist-info/METADATA");
        let [attrs, idna, requests, own] =
            ["attrs-23.1.0", "idna-2.0", "requests-2.32.0", "own-0.1"].map(about);
        let test = ("tests/test_a.py", "import freezegun\n");
        let setup = "[options.extras_require]\ntest =\n    freezegun\n";
        let pdm =
            "[project]\nname = \"own\"\n[tool.pdm.dev-dependencies]\ntest = [\"freezegun\"]\n";
        let kit = ("libs/kit/pyproject.toml", "[project]\nname = \"kit\"\n");
        let scripts = "[project]\nname = \"own\"\n[project.scripts]\nrun-own = \"own:main\"\n";
        let needs = "Name: requests\nRequires-Dist: idna (<4,>=2.5)\n";
        let requires = "[tool.poetry.dependencies]\npython = \"^3.13\"\n";
        let line = |words: &str| format!(".venv/bin/python -m pip install {words}");
        for (files, present, expected) in [
            (
                vec![("setup.py", ""), ("setup.cfg", setup), test],
                vec![],
                line("-e '.[test]'"),
            ),
            (
                vec![("pyproject.toml", pdm), ("pdm.lock", ""), test],
                vec![],
                "pdm sync -G test".into(),
            ),
            (
                vec![("requirements.txt", "-e ./libs/kit\n"), kit],
                vec![],
                line("-r requirements.txt"),
            ),
            (
                vec![("pyproject.toml", scripts)],
                vec![(own.as_str(), "Name: own\n"), (".venv/bin/python", "")],
                line("-e ."),
            ),
            (
                vec![("requirements.txt", "requests\n")],
                vec![(requests.as_str(), needs), (idna.as_str(), "Name: idna\n")],
                line("-r requirements.txt"),
            ),
            (
                vec![("requirements.txt", "attrs<23\n")],
                vec![(&*attrs, "")],
                line("-r requirements.txt"),
            ),
            (
                vec![("requirements.txt", "attrs<24,>=23\n")],
                vec![(&*attrs, "")],
                String::new(),
            ),
            (
                vec![("pyproject.toml", requires)],
                vec![],
                "pyenv install -s && python3 -m venv --clear .venv".into(),
            ),
        ] {
            let all = [vec![environment, (pip.as_str(), "")], present].concat();
            assert_eq!(commands(&files, &all), expected, "{files:?}");
        }
    }

    #[test]
    fn tools_versions_and_pins_of_node_are_compared() {
        let debug = r#"{"name": "debug", "version": "4.4.0", "dependencies": {"ms": "^2.1.3"}}"#;
        let debug = ("node_modules/debug/package.json", debug);
        let old = ("node_modules/ms/package.json", r#"{"version": "0.7.1"}"#);
        let asks = r#"{"dependencies": {"debug": "^4"}}"#;
        let tested = r#"{"scripts": {"test": "CI=1 no-such-tool --x && echo done"}}"#;
        let tool = ("node_modules/.bin/no-such-tool", "");
        let keep = ("node_modules/.keep", "");
        let volta = r#"{"volta": {"node": "22.11.0"}}"#;
        let bun =
            "{\n  \"packages\": {\n    \"debug\": [\"debug@4.4.1\", \"\", {}, \"\"],\n  }\n}\n";
        for (files, present, expected) in [
            (
                vec![("package.json", asks)],
                vec![debug, old],
                "npm install",
            ),
            (
                vec![("package.json", tested)],
                vec![keep],
                "npm install -D no-such-tool",
            ),
            (vec![("package.json", tested)], vec![tool], ""),
            (
                vec![("package.json", volta)],
                vec![keep],
                "nvm install 22.11.0",
            ),
            (
                vec![("package.json", "{}"), (".tool-versions", "nodejs 22.1\n")],
                vec![keep],
                "nvm install 22.1",
            ),
            (
                vec![("package.json", asks), ("bun.lock", bun)],
                vec![debug],
                "bun install",
            ),
        ] {
            assert_eq!(commands(&files, &present), expected, "{files:?}");
        }
    }

    #[test]
    fn names_a_variable_that_nothing_sets() {
        let example = (".env.example", "UNSET_BY_ANYBODY=a\n");
        let needs = ("a.py", "import os\nA = os.environ[\"UNSET_BY_ANYBODY\"]\n");
        let sets = (
            "b.py",
            "import os\nos.environ[\"UNSET_BY_ANYBODY\"] = \"b\"\n",
        );
        let found = told(&[example, needs], &[]);
        assert_eq!(found[0].1, "export UNSET_BY_ANYBODY=a");
        assert_eq!(told(&[example, needs, sets], &[]), []);
        assert_eq!(told(&[example, needs], &[(".env", "")]), []);
    }
}
