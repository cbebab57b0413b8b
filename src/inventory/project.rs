//! The project that an inventory is about: files, installed packages, directory, package managers.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::exec::on_path;
use crate::model::{Remedy, RepoPath, parse_rows};
use crate::source::{Installed, Source};
use crate::workplace::installed;
use crate::workspace::Workspace;

/// A project as commands see it: its files, the packages installed for it, and the directory they run in.
pub struct Project<'a> {
    pub(super) source: &'a dyn Source,
    /// The worktree; `None` in a bare repository.
    pub(super) root: Option<PathBuf>,
    pub(super) prefix: &'a str,
    pub(super) installed: Installed,
    /// Whether a program is on the path.
    pub(super) has_program: fn(&str) -> bool,
}

impl<'a> Project<'a> {
    /// Opens the project of a workspace.
    pub fn open(workspace: &'a Workspace) -> Self {
        let source = workspace.source.as_ref();
        Self {
            has_program: |name| on_path(name).is_some(),
            ..Self::new(source, workspace.root.as_deref(), &workspace.prefix)
        }
    }

    pub(super) fn new(source: &'a dyn Source, root: Option<&Path>, prefix: &'a str) -> Self {
        let mut project = Self {
            source,
            root: root.map(Path::to_owned),
            prefix,
            installed: root.map_or_else(Installed::default, installed),
            has_program: |_| true,
        };
        // The environment of a folder below the root.
        if let (Some(root), Some(name)) = (root, project.find_environment()) {
            let folders = Path::new(prefix).ancestors();
            let all: Vec<PathBuf> = folders.map(|folder| root.join(folder).join(name)).collect();
            project.installed = Installed::scan(root, &all);
        }
        project
    }

    /// Reads the nearest file of that name, from the directory of the command upward.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        read_text(self.source, self.folder_of(name)?.join(name).to_str()?)
    }

    /// Reads the nearest manifest of that name, JSON, YAML or TOML; null where there is none that can be read.
    pub(super) fn manifest(&self, name: &str) -> Value {
        let text = self.read(name).unwrap_or_default();
        match name.rsplit('.').next() {
            Some("json") => return text.parse().unwrap_or_default(),
            Some("yaml") => return serde_yaml_ng::from_str(&text).unwrap_or_default(),
            _ => {}
        }
        let table = text.parse::<toml::Table>().unwrap_or_default();
        serde_json::to_value(table).unwrap_or_default()
    }

    /// Returns the folder of that file.
    pub(super) fn folder_of(&self, name: &str) -> Option<&'a Path> {
        let mut folders = Path::new(self.prefix).ancestors();
        let listing = self.source.listing();
        folders.find(|folder| folder.join(name).to_str().is_some_and(|path| listing.has_file(path)))
    }

    pub(super) fn find_manager(&self, python: bool) -> Option<&'static Manager> {
        let mut rows = MANAGERS.iter().filter(|row| row.python == python);
        let found = rows.find(|row| self.read(&row.file).is_some())?;
        // Without a lock the manifest may name the manager.
        let manifest = self.manifest(&found.file);
        let named = match found.file.as_str() {
            "package.json" => {
                manifest["packageManager"].as_str().and_then(|named| named.split('@').next())
            }
            _ if manifest["tool"]["poetry"]["dependencies"].is_object() => Some("poetry"),
            _ => return Some(found),
        };
        MANAGERS.iter().find(|row| row.all.split(' ').next() == named).or(Some(found))
    }

    /// Returns how the manager is installed that a line starts, where it is not there.
    pub(super) fn missing_manager(&self, line: &str) -> Option<Remedy> {
        let name = line.split(' ').next()?;
        let mut rows = MANAGERS.iter();
        let get = rows.find(|row| row.all.split(' ').next() == Some(name))?.get.clone()?;
        // Node.js brings Corepack up to version 24 (nodejs.org/api/corepack.html).
        let line = match ["pnpm", "yarn"].contains(&name) && (self.has_program)("corepack") {
            true => format!("corepack enable {name}"),
            false => get,
        };
        let message = format!("this project uses `{name}`, which is not installed");
        (!(self.has_program)(name)).then(|| Remedy::new(message, line))
    }

    /// Puts the manager first that the commands of remedies need and that is not there.
    pub(super) fn with_manager(&self, remedies: Vec<Remedy>) -> Vec<Remedy> {
        let mut lines = remedies.iter().filter_map(|remedy| remedy.command.as_deref());
        let first = lines.find_map(|line| self.missing_manager(line));
        let first = first.filter(|one| !remedies.contains(one));
        first.into_iter().chain(remedies).collect()
    }

    /// Finds a path of the worktree, in the directory of the command or above it.
    pub(super) fn find_path(&self, path: &str) -> Option<PathBuf> {
        let root = self.root.as_deref()?;
        let mut folders = Path::new(self.prefix).ancestors();
        folders.find_map(|folder| Some(root.join(folder).join(path)).filter(|path| path.exists()))
    }

    /// Checks whether the worktree has a path, in the directory of the command or above it.
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.find_path(path).is_some()
    }

    /// Lists the paths of all files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.source.listing().files().map(|file| file.path.as_str())
    }

    /// Checks whether the source has a file in a folder, named from the root and ending in a slash.
    pub(super) fn has_file_below(&self, folder: &str) -> bool {
        self.paths().any(|path| path.starts_with(folder))
    }

    /// Returns the virtual environment of the worktree.
    pub(super) fn find_environment(&self) -> Option<&'static str> {
        let mut names = [".venv", "venv"].into_iter();
        names.find(|name| self.has_path(&format!("{name}/pyvenv.cfg")))
    }

    /// Returns how a command runs in the environment that has a module, where it did not.
    pub(super) fn other_environment(&self, module: &str, command: &str) -> Option<Remedy> {
        let bin = format!("{}/bin", self.find_environment()?);
        let mut all = self.installed.distributions().into_iter();
        let is_there = all.any(|one| one.modules.iter().any(|name| name == module));
        let program = command.split_whitespace().next().filter(|one| !one.contains('/'))?;
        let line = match self.has_path(&format!("{bin}/{program}")) {
            true => format!("mendit run {bin}/{command}"),
            false => format!("mendit run {bin}/python -m {command}"),
        };
        let message = format!("`{module}` is installed in {bin}, but the command did not use it");
        is_there.then(|| Remedy::new(message, line))
    }

    /// Fills `{pip}` in a command: the pip of the environment, or uv where the environment has none.
    pub(super) fn command(&self, line: &str) -> String {
        let sites = self.installed.sites().iter();
        let has_pip = sites.map(|site| site.join("pip")).any(|pip| pip.is_dir());
        let pip = match self.find_environment() {
            Some(environment) if has_pip => format!("{environment}/bin/python -m pip"),
            Some(_) if on_path("uv").is_some() => "uv pip".to_owned(),
            _ => "python3 -m pip".to_owned(),
        };
        line.replace("{pip}", &pip)
    }
}

/// Reads a file of the source.
pub(super) fn read_text(source: &dyn Source, path: &str) -> Option<String> {
    let path = RepoPath::new(path).ok();
    let path = path.filter(|path| source.listing().has_file(path.as_str()))?;
    let bytes = source.read(&path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Checks whether a name can be typed in a command line as it is.
pub(super) fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters.all(|letter| letter.is_ascii_alphanumeric() || "-_.@/".contains(letter))
}

/// A row of `managers.toml`: how the packages of a manifest or lock file are installed.
#[derive(Deserialize)]
pub(super) struct Manager {
    pub(super) file: String,
    #[serde(default)]
    pub(super) python: bool,
    /// Installs what the file asks for.
    pub(super) all: String,
    /// Adds one package.
    pub(super) one: String,
    /// Writes the lock anew.
    pub(super) renew: Option<String>,
    /// Installs an extra as well.
    pub(super) extra: Option<String>,
    /// Installs a dependency group as well.
    pub(super) group: Option<String>,
    /// Installs the manager itself.
    pub(super) get: Option<String>,
    /// Adds a package of the workspace to another one.
    pub(super) link: Option<String>,
    /// Installs the packages of the workspace.
    pub(super) members: Option<String>,
}

/// All managers, in the order in which their files are looked for.
pub(super) static MANAGERS: LazyLock<Vec<Manager>> =
    LazyLock::new(|| parse_rows(embedded!("inventory/managers.toml")));
