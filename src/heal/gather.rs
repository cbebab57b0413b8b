use std::path::{Path, PathBuf};

use super::manifest::{
    compose_ports, package_json, package_lock, pyproject, python_lock, requirements, variable_names,
};
use super::{Probe, Surroundings};
use crate::exec::{is_program, on_path};
use crate::model::file_name;

/// Looks at what stands around a probe in its directory. Reads only; what cannot be read is taken
/// as not there.
pub(super) fn gather(directory: &Path, probe: &Probe) -> Surroundings {
    let mut found = Surroundings::default();
    let there = RUNNERS.iter().filter(|name| on_path(name).is_some());
    found.programs.extend(there.map(|name| (*name).to_owned()));
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
    found.npm = package_json(&read("package.json"));
    found.npm.extend(package_lock(&read("package-lock.json")));
    found.python = pyproject(&read("pyproject.toml"));
    for name in [
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.txt",
    ] {
        found.python.extend(requirements(&read(name)));
    }
    for name in ["uv.lock", "poetry.lock"] {
        found.python.extend(python_lock(&read(name)));
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

const RUNNERS: &[&str] = &[
    "npx", "bunx", "pnpm", "uvx", "pipx", "python3", "python", "node", "nodejs", "pip3", "sh",
    "docker",
];

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
