//! Compares declared packages, interpreters and submodules with what is present.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::declared::{
    Place, Requirement, node_requirements, overrides, parse_requirement, python_requirements,
    requirements_of, rows,
};
use super::failure::{MAX_FILES, PYTEST_SETTINGS, needed_variable};
use super::members::{Member, covers, list_members};
use super::modules::missing_plugin;
use super::project::{Manager, Project, is_plain, read_text};
use super::versions::{python_version, wrong_version};
use crate::languages::{Lock, normal};
use crate::model::Remedy;
use crate::policy::is_test;
use crate::runners::pattern;
use crate::source::{Distribution, EntryKind};

/// Compares what the project declares with what is present, without a log. `found` are the versions of Python and
/// Node.js that commands find. One problem for each language is enough: its command also fixes the follow-ups.
pub fn find_problems(project: &Project<'_>, found: [Option<String>; 2]) -> Vec<Remedy> {
    if project.root.is_none() {
        return Vec::new();
    }
    let [python, node] = found;
    // A project with a lock file has its own environment, so the system Python does not matter.
    let is_locked = |row: &Manager| row.file.ends_with(".lock");
    let python = python.filter(|_| !project.find_manager(true).is_some_and(is_locked));
    let wrong_python = || wrong_version(project, true, &python_version(project).or(python)?);
    let python = wrong_python().or_else(|| python_problem(project));
    let engine = node.and_then(|version| wrong_version(project, false, &version));
    let node = engine.or_else(|| node_problem(project));
    let found = unfetched_submodule(project, None).into_iter().chain(python).chain(node);
    project.with_manager(found.chain(needed_variable(project)).collect())
}

/// The packages that a manager should have installed for a language, and those that are installed.
pub(super) struct Tree<'p> {
    pub(super) project: &'p Project<'p>,
    pub(super) manager: &'static Manager,
    /// pyproject.toml or package.json.
    pub(super) manifest: Value,
    pub(super) lock: Lock,
    /// The installed distributions of Python.
    pub(super) present: BTreeMap<String, Distribution>,
    /// The version of Python.
    pub(super) python: String,
    /// Whether the manager of Node.js installs peers.
    pub(super) installs_peers: bool,
}

impl<'p> Tree<'p> {
    pub(super) fn open(project: &'p Project<'p>, python: bool) -> Option<Self> {
        let manager = project.find_manager(python)?;
        let text = project.read(&manager.file).unwrap_or_default();
        let all = project.installed.distributions().into_iter();
        let all = all.filter(|one| one.is_whole && python);
        let site = project.installed.sites().first().and_then(|site| site.parent()?.file_name());
        let version = site.unwrap_or_default().to_string_lossy();
        let npmrc = project.read(".npmrc").unwrap_or_default();
        Some(Self {
            project,
            manager,
            manifest: project.manifest(if python { "pyproject.toml" } else { "package.json" }),
            lock: Lock::read(&manager.file, &text),
            present: all.map(|one| (normal(&one.name), one)).collect(),
            python: version.trim_start_matches("python").to_owned(),
            installs_peers: match manager.file.as_str() {
                "yarn.lock" => false,
                "pnpm-lock.yaml" => text.contains("autoInstallPeers: true"),
                _ => !npmrc.contains("legacy-peer-deps=true"),
            },
        })
    }

    /// Returns the folder of package.json.
    pub(super) fn folder(&self) -> PathBuf {
        let root = self.project.root.clone().unwrap_or_default();
        root.join(self.project.folder_of("package.json").unwrap_or(Path::new("")))
    }

    /// A problem that installing everything solves.
    pub(super) fn install_all(&self, message: impl Into<String>) -> Remedy {
        Remedy::new(message, self.project.command(&self.manager.all))
    }

    // What the manifest asks for and the lock does not have.
    fn stale_lock(&self, requirements: &[Requirement]) -> Option<Remedy> {
        let (file, locked) = (&self.manager.file, &self.lock.versions);
        let is_stale = |one: &&Requirement| match locked.get(&one.name) {
            Some(all) => !all.is_empty() && all.iter().all(|version| one.refuses(version)),
            None => !one.is_elsewhere() && one.by.is_empty(),
        };
        let asked = requirements.iter();
        let mut asked = asked.filter(|one| !matches!(one.place, Place::Member | Place::Tool));
        let one = asked.find(is_stale).filter(|_| !locked.is_empty())?;
        let wanted = format!("{} {}", one.name, one.range);
        let wanted = wanted.trim_end();
        let message = format!("the manifest requires `{wanted}`, but {file} does not contain it");
        let line = self.manager.renew.as_ref().map(|line| self.project.command(line));
        Some(Remedy::new(message, line))
    }

    // Whether the lock's own manager installed the packages: another manager may choose other versions.
    pub(super) fn has_installed(&self) -> bool {
        let name = self.manager.all.split(' ').next().unwrap_or_default();
        let said = |one: &Distribution| std::fs::read_to_string(one.about.join("INSTALLER")).ok();
        let mut said = self.present.values().filter_map(said).peekable();
        match name {
            "pnpm" => self.project.has_path("node_modules/.modules.yaml"),
            "npm" => self.project.has_path("node_modules/.package-lock.json"),
            "uv" | "poetry" => said.peek().is_none() || said.any(|text| text.starts_with(name)),
            _ => true,
        }
    }

    /// Returns the project's own package where it is not installed: in a src layout, which only an installation puts
    /// on the path, or asked for by its name; or where it was installed before it had one of its entry points.
    pub(super) fn own_package(&self, asked: Option<&str>) -> Option<Remedy> {
        let project = self.project;
        let own = &self.manifest["project"];
        let name = own["name"].as_str().or(self.manifest["tool"]["poetry"]["name"].as_str())?;
        asked.is_none_or(|asked| normal(asked) == normal(name)).then_some(())?;
        let is_src = project.has_file_below(&format!("src/{}/", normal(name).replace('-', "_")));
        let text = project.read("pyproject.toml")?;
        let marks = ["pythonpath", "package = false", "package-mode = false"];
        let on_path = marks.iter().any(|mark| text.contains(mark));
        let is_lock = self.manager.file.ends_with(".lock");
        let line = if is_lock { &self.manager.all } else { "{pip} install -e ." };
        let mut message = format!("the package `{name}` itself is not installed");
        if let Some(found) = self.present.get(&normal(name)) {
            let text = std::fs::read_to_string(found.about.join("entry_points.txt"));
            let text = format!("\n{}", text.unwrap_or_default().replace(' ', ""));
            let plugins = rows(&own["entry-points"]).flat_map(|(_, table)| rows(table));
            let mut points = rows(&own["scripts"]).chain(plugins);
            let (point, _) = points.find(|(point, _)| !text.contains(&format!("\n{point}=")))?;
            message = format!("`{name}` was installed before it had its entry point `{point}`");
        } else if asked.is_none() && (!is_src || on_path) {
            return None;
        }
        Some(Remedy::new(message, project.command(line)))
    }

    // The plugin for an option of pytest's settings.
    fn plugin_of_settings(&self) -> Option<Remedy> {
        self.present.get("pytest")?;
        let texts = PYTEST_SETTINGS.split(' ').filter_map(|file| self.project.read(file));
        let (texts, mut is_ours) = (texts.collect::<Vec<_>>(), false);
        let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| {
            is_ours = if line.starts_with('[') { SECTIONS.is_match(line) } else { is_ours };
            is_ours && !line.trim_start().starts_with('#')
        });
        missing_plugin(self.project, lines, ["", ""], &self.present, "")
    }
}

// The sections of pytest (docs.pytest.org, configuration file formats).
pattern!(SECTIONS, r"^\[(?:tool[.:])?pytest(?:\.ini_options)?\]");

/// Returns what Python packages lack.
pub(super) fn python_problem(project: &Project<'_>) -> Option<Remedy> {
    let tree = Tree::open(project, true)?;
    let (manager, present) = (tree.manager, &tree.present);
    let file = manager.file.as_str();
    let is_lock = file.ends_with(".lock");
    let is_uv = file == "uv.lock";
    if project.find_environment().is_none() && (is_uv || project.installed.sites().is_empty()) {
        let is_elsewhere = std::env::var_os("VIRTUAL_ENV").is_some() || !is_uv;
        let message = format!("{file} locks packages, but there is no .venv");
        return (!is_elsewhere).then(|| tree.install_all(message));
    }
    let mut requirements = python_requirements(project);
    let defaults = tree.manifest["tool"]["uv"]["default-groups"].as_array();
    let is_default =
        |name: &str| defaults.map_or(name == "dev", |all| all.iter().any(|it| it == name));
    let has_pytest = present.contains_key("pytest");
    let is_needed = |one: &Requirement| match &one.place {
        Place::Main => true,
        Place::Group(name) if is_lock && is_default(name) => true,
        _ if one.name == "pytest" => true,
        // Pytest plugins are loaded without an import, so imports cannot show that one is needed.
        Place::Group(file) if file.ends_with(".txt") && one.name.starts_with("pytest-") => {
            has_pytest
        }
        _ => !present.contains_key(&one.name) && is_imported_by_tests(project, &one.name),
    };
    requirements
        .retain(|one| !one.is_conditional && one.applies(&tree.python, &[]) && is_needed(one));
    // Pytest first: the command that installs it installs the other packages too.
    requirements.sort_by_key(|one| one.name != "pytest");
    // `uv sync` alone leaves out packages of the workspace.
    let globs = &tree.manifest["tool"]["uv"]["workspace"]["members"];
    let mut members = list_members(project.source, true);
    members.retain(|one| covers(globs, &one.folder) && one.manifest.contains("[build-system]"));
    let members = members.iter().filter_map(|one| parse_requirement(&one.name, Place::Member));
    requirements.extend(members);
    // A member of a workspace has its manifest elsewhere than the lock.
    let are_locked = is_lock && project.folder_of(file) == project.folder_of("pyproject.toml");
    // What the pins of requirements.txt were compiled from; pip-compile leaves out its own tools.
    let mut asked = requirements_of(project, Path::new("requirements.in"), 0);
    asked.retain(|one| file == "requirements.txt" && one.applies(&tree.python, &[]));
    asked.retain(|one| !["pip", "setuptools"].contains(&&*one.name));
    lost_interpreter(project, manager)
        .or_else(|| tree.stale_lock(&requirements).filter(|_| are_locked))
        .or_else(|| tree.stale_lock(&asked))
        .or_else(|| tree.unmet_requirement(&requirements))
        .or_else(|| tree.own_package(None))
        .or_else(|| tree.plugin_of_settings())
}

// An environment whose interpreter was removed or moved.
fn lost_interpreter(project: &Project<'_>, manager: &Manager) -> Option<Remedy> {
    let name = project.find_environment()?;
    let bin = project.find_path(&format!("{name}/bin"))?;
    let python = bin.join("python");
    // A script names the interpreter of the folder in which it was installed.
    let script = std::fs::read_to_string(bin.join("pytest")).unwrap_or_default();
    let named = script.lines().next().unwrap_or_default().trim_start_matches("#!");
    let is_moved = named.ends_with("/bin/python") && !Path::new(named).exists();
    (python.is_symlink() && !python.exists() || is_moved).then_some(())?;
    let mut line = manager.all.replace("{pip}", &format!("{name}/bin/python -m pip"));
    if manager.file != "uv.lock" {
        line = format!("python3 -m venv --clear {name} && {line}");
    }
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
    let tree = Tree::open(project, false).filter(|_| !project.has_path(".pnp.cjs"))?;
    let members = list_members(project.source, false);
    let is_member = |one: &Requirement| members.iter().any(|member| member.name == one.name);
    let mut usual = node_requirements(&tree.manifest);
    let is_peer = |name: &str| tree.lock.versions.contains_key(name) && tree.installs_peers;
    usual.retain(|one| !one.is_conditional || !is_member(one) && is_peer(&one.name));
    let of_members = usual.iter_mut().filter(|one| is_member(one));
    of_members.for_each(|one| one.place = Place::Member);
    usual.extend(member_requirements(project, &members));
    if !project.has_path("node_modules") {
        let message = "package.json lists packages, but there is no node_modules";
        return (!usual.is_empty()).then(|| tree.install_all(message));
    }
    let unbuilt = || members.iter().find_map(|member| unbuilt_output(project, &usual, member));
    let stale = tree.stale_lock(&[usual.clone(), overrides(project, &tree.manifest)].concat());
    stale
        .or_else(|| tree.unmet_requirement(&usual))
        .or_else(|| tree.missing_environment())
        .or_else(|| tree.missing_tool())
        .or_else(unbuilt)
}

// What packages of the workspace require. Examples that are no part of the workspace may ask a registry for a package
// of the same name: only `workspace:` speaks for a link, and pnpm's own folder for the rest.
fn member_requirements(project: &Project<'_>, members: &[Member]) -> Vec<Requirement> {
    let manifest = read_text(project.source, "package.json").unwrap_or_default();
    let manifest: Value = manifest.parse().unwrap_or_default();
    let own = &manifest["workspaces"];
    let globs = if own.is_object() { &own["packages"] } else { own };
    let workspace = project.manifest("pnpm-workspace.yaml");
    let is_pnpm = project.has_path("node_modules/.pnpm");
    let asked = members.iter().flat_map(|member| {
        let folder = &member.folder;
        let is_installed = is_pnpm
            && (covers(&workspace["packages"], folder)
                || project.has_path(&format!("{folder}/node_modules")));
        let is_asked = move |one: &Requirement| {
            let mut named = members.iter().filter(|member| member.name == one.name);
            let is_linked = one.range.starts_with("workspace:")
                || covers(globs, folder) && named.any(|member| covers(globs, &member.folder));
            !one.is_conditional && (is_linked || is_installed)
        };
        let from = project.root.clone().unwrap_or_default().join(folder);
        let asked = node_requirements(&member.manifest.parse().unwrap_or_default());
        asked.into_iter().filter(is_asked).map(move |one| Requirement {
            by: member.name.clone(),
            from: from.clone(),
            place: Place::Member,
            ..one
        })
    });
    asked.collect()
}

// A package whose entry point is a file that its build makes, where no configuration puts its sources in its place.
fn unbuilt_output(project: &Project<'_>, asked: &[Requirement], member: &Member) -> Option<Remedy> {
    asked.iter().find(|one| one.name == member.name && one.place == Place::Member)?;
    let manifest: Value = member.manifest.parse().ok()?;
    let mut keys = "/main /exports /exports/. /exports/./import /exports/./default".split(' ');
    let main = keys.find_map(|key| manifest.pointer(key)?.as_str())?;
    manifest["scripts"]["build"].as_str()?;
    // What only bundles says nothing of tests.
    let is_config = |path: &str| {
        let mut words = "jest vite tsconfig babel webpack".split(' ');
        path.contains("config") && words.any(|word| path.contains(word))
    };
    let texts = project.paths().filter(|path| is_config(path));
    let mut texts = texts.filter_map(|path| read_text(project.source, path));
    let is_aliased = texts.any(|text| {
        text.split(|letter: char| !(letter.is_alphanumeric() || "-_@/.".contains(letter)))
            .any(|word| word.trim_end_matches('/') == member.name)
    });
    let is_missing = !project.has_path(&format!("{}/{main}", member.folder));
    (is_missing && !is_aliased && is_plain(&member.name)).then(|| {
        let message = format!("`{}` is not built: {main} does not exist", member.name);
        let line = match project.read("pnpm-lock.yaml") {
            Some(_) => format!("pnpm --filter {} build", member.name),
            None => format!("npm run build --workspace {}", member.name),
        };
        Remedy::new(message, line)
    })
}

/// Checks whether a folder finds a package of Node.js.
pub(super) fn has_module(at: &Path, name: &str) -> bool {
    at.ancestors().any(|up| up.join("node_modules").join(name).exists())
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
        told_in("", files, present)
    }

    fn told_in(
        prefix: &str,
        files: &[(&str, &str)],
        present: &[(&str, &str)],
    ) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in present {
            write(&root, path, text);
        }
        let source = Memory::named(files.iter().copied());
        let mut project = Project::new(&source, Some(&root), prefix);
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
        assert_eq!(found[0].1, "pnpm install");
        let link = "packages/shop/node_modules/@w/money/package.json";
        assert_eq!(
            told(&files, &[("node_modules/.keep", ""), (link, "{}")]),
            []
        );
        let present = [("node_modules/.keep", ""), (link, "{}")];
        for prefix in ["packages/shop", "packages/money"] {
            assert_eq!(told_in(prefix, &files, &present), []);
        }
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
        let [attrs, rich] =
            ["attrs-23.1.0", "rich-13.0"].map(|name| format!("{SITE}/{name}.dist-info/METADATA"));
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
        let other = ("node_modules/ms/package.json", r#"{"version": "2.1.2"}"#);
        let peer = r#"{"peerDependencies": {"ms": "^2"}, "dependencies": {"debug": "^4"}}"#;
        for (manifest, present, expected) in [
            (manifest, vec![debug, ms], ""),
            (manifest, vec![debug], "npm ci"),
            (manifest, vec![debug, other, own], "npm ci"),
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
    fn overrides_that_lock_lacks_are_found() {
        let npm = r#"{"overrides": {"ms": "2.1.2"}, "dependencies": {"ms": "^2"}}"#;
        let pnpm = r#"{"pnpm": {"overrides": {"ms": "2.1.2"}}, "dependencies": {"ms": "^2"}}"#;
        let yarn = r#"{"resolutions": {"ms": "2.1.2"}, "dependencies": {"ms": "^2"}}"#;
        for (manifest, file, lock, expected) in [
            (
                npm,
                "package-lock.json",
                r#"{"packages": {"node_modules/ms": {"version": "V"}}}"#,
                "npm install",
            ),
            (
                pnpm,
                "pnpm-lock.yaml",
                "packages:\n  ms@V: {}\n",
                "pnpm install --no-frozen-lockfile",
            ),
            (
                yarn, "yarn.lock", "ms@^2:\n  version \"V\"\n", "yarn install",
            ),
        ] {
            for (version, expected) in [("2.1.3", expected), ("2.1.2", "")] {
                let (lock, text) = (
                    lock.replace('V', version),
                    format!(r#"{{"version": "{version}"}}"#),
                );
                let files = [("package.json", manifest), (file, lock.as_str())];
                let ms = ("node_modules/ms/package.json", text.as_str());
                assert_eq!(commands(&files, &[ms]), expected, "{manifest} {lock}");
            }
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
        let [attrs, idna, requests, own] =
            ["attrs-23.1.0", "idna-2.0", "requests-2.32.0", "own-0.1"]
                .map(|name| format!("{SITE}/{name}.dist-info/METADATA"));
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
    fn extras_markers_and_entry_points_of_python_are_followed() {
        let environment = (".venv/pyvenv.cfg", "version = 3.12.1\n");
        let pip = format!("{SITE}/pip/__init__.py");
        let about = |name: &str, file: &str| format!("{SITE}/{name}.dist-info/{file}");
        let [requests, socks, own] =
            ["requests-2.32.0", "PySocks-1.7.1", "own-0.1"].map(|name| about(name, "METADATA"));
        let points = about("own-0.1", "entry_points.txt");
        let needs = "Name: requests\nRequires-Dist: PySocks (!=1.5.7,>=1.5.6) ; extra == 'socks'\n";
        let old = "Name: requests\nRequires-Dist: toml ; python_version < '3.11'\nRequires-Dist: wheel ; sys_platform == 'win32'\n";
        let new = "Name: requests\nRequires-Dist: toml ; (python_version >= \"3.11\") and (sys_platform != \"win32\")\n";
        let plugin =
            "[project]\nname = \"own\"\n[project.entry-points.pytest11]\nown = \"own.plugin\"\n";
        let hatch = "[project]\nname = \"own\"\n[tool.hatch.envs.default]\ndependencies = [\"freezegun\"]\n";
        let pipfile = "[packages]\nfreezegun = \"*\"\n";
        let test = ("tests/test_a.py", "import freezegun\n");
        let asks = |line: &'static str| vec![("requirements.txt", line)];
        let all = ".venv/bin/python -m pip install -r requirements.txt";
        let (requests, socks) = (requests.as_str(), socks.as_str());
        for (files, present, expected) in [
            (asks("requests[socks]\n"), vec![(requests, needs)], all),
            (
                asks("requests[socks]\n"),
                vec![(requests, needs), (socks, "")],
                "",
            ),
            (asks("requests\n"), vec![(requests, needs)], ""),
            (asks("requests\n"), vec![(requests, old)], ""),
            (asks("requests\n"), vec![(requests, new)], all),
            (
                vec![("pyproject.toml", plugin)],
                vec![
                    (own.as_str(), ""),
                    (points.as_str(), "[pytest11]\nown = own.plugin\n"),
                ],
                "",
            ),
            (
                vec![("pyproject.toml", plugin)],
                vec![(own.as_str(), "")],
                ".venv/bin/python -m pip install -e .",
            ),
            (
                vec![("pyproject.toml", hatch), test],
                vec![],
                ".venv/bin/python -m pip install freezegun",
            ),
            (
                vec![("Pipfile", pipfile), test],
                vec![],
                "pipenv install --dev",
            ),
        ] {
            let all = [vec![environment, (pip.as_str(), "")], present].concat();
            assert_eq!(commands(&files, &all), expected, "{files:?}");
        }
    }

    #[test]
    fn peers_variants_and_scripts_of_node_are_followed() {
        let asks = [("package.json", r#"{"dependencies": {"dom": "^18"}}"#)];
        let told = [asks[0], (".npmrc", "legacy-peer-deps=true\n")];
        let peer = r#"{"version": "18.0.0", "peerDependencies": {"react": "^18.3", "opt": "*"}, "peerDependenciesMeta": {"opt": {"optional": true}}}"#;
        let dom = ("node_modules/dom/package.json", peer);
        let old = (
            "node_modules/react/package.json",
            r#"{"version": "17.0.2"}"#,
        );
        let new = (
            "node_modules/react/package.json",
            r#"{"version": "18.3.1"}"#,
        );
        let [system, cpu] = super::super::declared::PLATFORM;
        let variants = format!(
            r#"{{"version": "18.0.0", "optionalDependencies": {{"@dom/{system}-{cpu}-gnu": "1", "@dom/{system}-{cpu}-musl": "1", "fsevents": "2"}}}}"#
        );
        let native = ("node_modules/dom/package.json", variants.as_str());
        let musl = format!("node_modules/@dom/{system}-{cpu}-musl/package.json");
        let scripts = [(
            "package.json",
            r#"{"scripts": {"test": "npm run unit -- --x", "unit": "no-such-tool"}}"#,
        )];
        for (files, present, expected) in [
            (&asks[..], vec![dom], "npm install"),
            (&asks, vec![dom, old], "npm install"),
            (&asks, vec![dom, new], ""),
            (&told, vec![dom, old], ""),
            (&[asks[0], ("pnpm-lock.yaml", "")], vec![dom, old], ""),
            (&asks, vec![native], "npm install"),
            (&asks, vec![native, (musl.as_str(), "{}")], ""),
            (
                &scripts,
                vec![("node_modules/.keep", "")],
                "npm install -D no-such-tool",
            ),
        ] {
            assert_eq!(commands(files, &present), expected, "{files:?} {present:?}");
        }
    }

    #[test]
    fn declarations_beside_the_manifest_are_read() {
        let environment = (".venv/pyvenv.cfg", "version = 3.12.1\n");
        let pip = format!("{SITE}/pip/__init__.py");
        let [attrs, pytest] =
            ["attrs-23.1.0", "pytest-8.0"].map(|name| format!("{SITE}/{name}.dist-info/METADATA"));
        let (attrs, pytest) = ((attrs.as_str(), ""), (pytest.as_str(), ""));
        let test = ("tests/test_a.py", "import freezegun\n");
        let own = ("pyproject.toml", "[project]\nname = \"own\"\n");
        let pins = (
            "requirements.txt",
            "# by pip-compile\nattrs==23.1.0 ; python_version > '3'\n",
        );
        let conda = "dependencies:\n  - python=3.12\n  - pip:\n    - freezegun>=1\n";
        let nox = "session.install(\n    \"-e.\", \"freezegun\",\n)\n";
        let options = "[tool.pytest.ini_options]\naddopts = [\n    \"--no-cov-on-fail\",\n    \"--cov=own\",\n]\n";
        let extras = "[project]\nname = \"own\"\n[project.optional-dependencies]\nall = [\"freezegun\"]\ntests = [\"own[all]\", \"pytest\"]\n";
        let poetry = "[tool.poetry.dependencies]\nrich = \"*\"\n";
        let line = |words: &str| format!(".venv/bin/python -m pip install {words}");
        let compile = format!(
            "pip-compile requirements.in && {}",
            line("-r requirements.txt")
        );
        for (files, present, expected) in [
            (
                vec![pins, ("requirements.in", "attrs\ntomlkit\n")],
                vec![attrs],
                compile,
            ),
            (
                vec![pins, ("requirements.in", "attrs\nsetuptools\n")],
                vec![attrs],
                String::new(),
            ),
            (
                vec![own, test, ("environment.yml", conda)],
                vec![],
                line("freezegun"),
            ),
            (
                vec![own, test, ("noxfile.py", nox)],
                vec![],
                line("freezegun"),
            ),
            (
                vec![("pyproject.toml", options)],
                vec![pytest],
                line("pytest-cov"),
            ),
            (
                vec![("pyproject.toml", extras), test],
                vec![pytest],
                line("-e '.[tests]'"),
            ),
            (
                vec![("pyproject.toml", poetry)],
                vec![],
                "poetry install".to_owned(),
            ),
        ] {
            let all = [vec![environment, (pip.as_str(), "")], present].concat();
            assert_eq!(commands(&files, &all), expected, "{files:?}");
        }
    }

    #[test]
    fn unbuilt_package_is_told_from_one_whose_name_is_part_of_another() {
        let root = ("package.json", r#"{"workspaces": ["packages/*"]}"#);
        let kit = (
            "packages/kit/package.json",
            r#"{"name": "kit", "main": "dist/index.js", "scripts": {"build": "tsup"}}"#,
        );
        let app = (
            "packages/app/package.json",
            r#"{"name": "kit-app", "dependencies": {"kit": "workspace:*"}}"#,
        );
        let link = ("node_modules/kit/package.json", "{}");
        for (config, expected) in [
            (
                "{moduleNameMapper: {'^kit-app$': 'a'}}",
                "npm run build --workspace kit",
            ),
            ("{moduleNameMapper: {'^kit$': '../kit/src'}}", ""),
        ] {
            let files = [root, kit, app, ("jest.config.js", config)];
            assert_eq!(commands(&files, &[link]), expected, "{config}");
        }
    }

    #[test]
    fn variables_that_a_schema_requires_are_copied_from_the_example() {
        let example = (".env.example", "UNSET_BY_ANYBODY=a\n");
        let schema =
            |rule: &str| format!("require('dotenv');\nUNSET_BY_ANYBODY: Joi.string(){rule},\n");
        let (needs, may) = (schema(".required()"), schema(""));
        assert_eq!(
            commands(&[example, ("a.js", &needs)], &[]),
            "cp .env.example .env"
        );
        assert_eq!(commands(&[example, ("a.js", &may)], &[]), "");
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
