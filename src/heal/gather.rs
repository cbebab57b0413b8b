use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Probe;
use super::manifest::{compose_ports, packages, variable_names};
use super::programs::{PROGRAMS, Registry};
use crate::exec::{is_program, on_path};
use crate::model::file_name;
use crate::policy::python_name;

/// Looks at what stands around a probe in its directory. Reads only; what cannot be read is taken
/// as not there.
pub(super) fn gather(directory: &Path, probe: &Probe) -> Surroundings {
    let mut found = Surroundings::default();
    let names = PROGRAMS.program.iter().flat_map(|row| &row.names);
    let starts = PROGRAMS.way.iter().filter_map(|way| way.start.first());
    let names: BTreeSet<&String> = names.chain(starts).collect();
    let there = names.into_iter().filter(|name| on_path(name).is_some());
    found.programs.extend(there.cloned());
    // The program, and the package that a runner is told to run.
    let words = probe.words();
    let named = words.iter().filter(|word| !word.starts_with('-')).take(2);
    for word in named {
        let name = program_of(word);
        for place in LOCAL {
            if is_program(&directory.join(place).join(name)) {
                let file = format!("{place}/{name}");
                found.local.entry(name.to_owned()).or_insert(file);
            }
        }
        let mut usual = usual_directories()
            .into_iter()
            .map(|place| place.join(name));
        if let Some(file) = usual
            .find(|file| is_program(file))
            .as_deref()
            .and_then(Path::to_str)
        {
            found.elsewhere.insert(name.to_owned(), file.to_owned());
        }
    }
    let read = |name: &str| read(&directory.join(name)).unwrap_or_default();
    for manifest in &PROGRAMS.manifest {
        let into = match manifest.of {
            Registry::Npm => &mut found.npm,
            Registry::Python => &mut found.python,
        };
        for file in &manifest.files {
            into.extend(packages(file, &read(file), manifest));
        }
    }
    for name in [
        "compose.yaml",
        "compose.yml",
        "docker-compose.yml",
        "docker-compose.yaml",
    ] {
        found.compose.extend(compose_ports(&read(name)));
    }
    for name in [".env.example", ".env.sample", ".env.template", ".env.dist"] {
        let names = variable_names(&read(name));
        if !names.is_empty() {
            found.examples.insert(name.to_owned(), names);
        }
    }
    found.env_file = variable_names(&read(".env"));
    found
}

/// The name of a program in a word of a command line: no directory, no `@version`.
pub(super) fn program_of(word: &str) -> &str {
    let name = file_name(word);
    match name.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => name,
    }
}

const LOCAL: &[&str] = &["node_modules/.bin", ".venv/bin", "venv/bin"];

fn usual_directories() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|it| it.is_absolute());
    let below = [
        ".local/bin",
        ".npm-global/bin",
        ".cargo/bin",
        ".bun/bin",
        "go/bin",
    ];
    let mut all: Vec<PathBuf> = home
        .iter()
        .flat_map(|home| below.map(|it| home.join(it)))
        .collect();
    all.extend(["/usr/local/bin", "/opt/homebrew/bin"].map(PathBuf::from));
    all
}

fn read(file: &Path) -> Option<String> {
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return None;
    }
    std::fs::read_to_string(file).ok()
}

const MAX_BYTES: u64 = 32 << 20;

/// What stands around a probe, as far as a fix may use it. Gathered before the choice, so that the
/// choice itself is a function over values. Names only: no value of a variable is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Of the programs a fix may use, those on the search path.
    pub programs: BTreeSet<String>,
    /// Program to its file in `node_modules/.bin` or in a virtual environment of the project.
    pub local: BTreeMap<String, String>,
    /// Program to its file in a usual directory that is not on the search path.
    pub elsewhere: BTreeMap<String, String>,
    /// Packages that `package.json` or its lock names.
    pub npm: BTreeSet<String>,
    /// Packages that Python manifests or locks name, lower case, with `-` for `_` and `.`.
    pub python: BTreeSet<String>,
    /// Ports that compose files publish.
    pub compose: Vec<ComposePort>,
    /// Example files of variables, each with the names it sets.
    pub examples: BTreeMap<String, BTreeSet<String>>,
    /// Names that `.env` sets.
    pub env_file: BTreeSet<String>,
}

/// A port of the host that a service of a compose file publishes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComposePort {
    /// The service.
    pub service: String,
    /// The port on the host.
    pub published: u16,
    /// The port inside the container.
    pub target: u16,
}

impl Surroundings {
    /// Whether a Python manifest or lock names the package.
    #[must_use]
    pub fn has_python(&self, name: &str) -> bool {
        self.python.contains(&python_name(name))
    }

    /// The first of these programs that is on the search path.
    #[must_use]
    pub fn program<'n, N: AsRef<str>>(&self, names: &'n [N]) -> Option<&'n str> {
        let mut names = names.iter().map(AsRef::as_ref);
        names.find(|name| self.programs.contains(*name))
    }
}
