use std::sync::LazyLock;

use serde::Deserialize;

use super::locked::Format;
use super::remedy::words;

/// How a manifest's packages are installed.
#[derive(Deserialize)]
pub(super) struct Install {
    pub(super) file: String,
    #[serde(default)]
    pub(super) python: bool,
    /// Installs what the manifest asks for.
    pub(super) all: String,
    /// Adds one package.
    pub(super) one: String,
    /// Installs what a lock file asks for, and nothing else.
    pub(super) exact: Option<String>,
    /// How the versions of a lock file are read.
    pub(super) format: Option<Format>,
}

/// In the order in which they are looked for.
pub(super) static INSTALLS: LazyLock<Vec<Install>> = LazyLock::new(|| {
    let read = crate::model::read_table::<InstallFile>(embedded!("app/installs.toml"));
    read.map(|it| it.install).unwrap_or_default()
});

#[derive(Deserialize)]
struct InstallFile {
    install: Vec<Install>,
}

pub(super) const PIP: &str = "python3 -m pip install";

/// What installs everything, with the extra or the group of pyproject.toml that alone has the package.
pub(super) fn with_extra(all: &str, pyproject: Option<String>, package: &str) -> String {
    let table = pyproject.and_then(|text| text.parse::<toml::Table>().ok());
    let has = |list: &toml::Value| {
        let mut names = list.as_array().into_iter().flatten();
        names.any(|line| {
            let name = line.as_str().and_then(|it| words(it).next());
            name.is_some_and(|it| it.eq_ignore_ascii_case(package))
        })
    };
    let at = |path: &[&str]| {
        let table = table.as_ref()?;
        let (last, above) = path.split_last()?;
        let inner = above
            .iter()
            .try_fold(table, |table, key| table.get(*key)?.as_table())?;
        inner.get(*last)
    };
    let group = |path: &[&str]| {
        let groups = at(path)?.as_table()?;
        let (name, _) = groups.iter().find(|(_, list)| has(list))?;
        let plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
        name.chars().all(plain).then(|| name.clone())
    };
    let extra = group(&["project", "optional-dependencies"]);
    let other = group(&["dependency-groups"]);
    if at(&["project", "dependencies"]).is_some_and(has) {
        return all.to_owned();
    }
    match (all, extra, other) {
        ("python3 -m pip install -e .", Some(extra), _) => {
            format!("python3 -m pip install -e '.[{extra}]'")
        }
        ("python3 -m pip install -e .", None, Some(group)) => {
            format!("python3 -m pip install --group {group}")
        }
        ("uv sync", Some(extra), _) => format!("uv sync --extra {extra}"),
        ("uv sync", None, Some(group)) => format!("uv sync --group {group}"),
        _ => all.to_owned(),
    }
}
/// What writes the lock anew, of the tool that a line names.
pub(super) fn writes_lock(line: &str) -> Option<&'static str> {
    let mut words = line.split(|it: char| !it.is_alphanumeric());
    let (_, command) = words.find_map(|word| LOCKS.iter().find(|it| it.0 == word))?;
    Some(command)
}

const LOCKS: &[(&str, &str)] = &[
    ("npm", "npm install"),
    ("pnpm", "pnpm install --no-frozen-lockfile"),
    ("PNPM", "pnpm install --no-frozen-lockfile"),
    ("yarn", "yarn install"),
    ("bun", "bun install"),
    ("uv", "uv lock"),
    ("poetry", "poetry lock"),
    ("pipenv", "pipenv lock"),
];

/// Whether a command line begins with a program of Python.
pub(super) fn is_python_tool(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let tool = words
        .next()
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    tool.is_some_and(|it| it.starts_with("py") || PYTHON_TOOLS.contains(&it))
}

const PYTHON_TOOLS: &[&str] = &[
    "coverage", "hatch", "mypy", "nox", "poetry", "ruff", "tox", "uv",
];
