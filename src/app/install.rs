use super::remedy::words;

/// How a manifest's packages are installed.
pub(super) struct Install {
    pub(super) file: &'static str,
    pub(super) python: bool,
    /// Installs what the manifest asks for.
    pub(super) all: &'static str,
    /// Adds one package.
    pub(super) one: &'static str,
}

const fn row(file: &'static str, python: bool, all: &'static str, one: &'static str) -> Install {
    Install {
        file,
        python,
        all,
        one,
    }
}

pub(super) const PIP: &str = "python3 -m pip install";
/// In the order in which they are looked for.
pub(super) const INSTALLS: &[Install] = &[
    row("pnpm-lock.yaml", false, "pnpm install", "pnpm add"),
    row("yarn.lock", false, "yarn install", "yarn add"),
    row("bun.lock", false, "bun install", "bun add"),
    row("bun.lockb", false, "bun install", "bun add"),
    row("package-lock.json", false, "npm ci", "npm install"),
    row("package.json", false, "npm install", "npm install"),
    row("uv.lock", true, "uv sync", "uv add"),
    row("poetry.lock", true, "poetry install", "poetry add"),
    row("Pipfile.lock", true, "pipenv sync --dev", "pipenv install"),
    row(
        "requirements.txt",
        true,
        "python3 -m pip install -r requirements.txt",
        PIP,
    ),
    row("pyproject.toml", true, "python3 -m pip install -e .", PIP),
    row("setup.py", true, "python3 -m pip install -e .", PIP),
];

/// What installs everything, with the extra or the group of pyproject.toml that alone has the package.
pub(super) fn with_extra(all: &str, pyproject: Option<String>, package: &str) -> String {
    let table = pyproject.and_then(|text| text.parse::<toml::Table>().ok());
    let has = |list: &toml::Value| {
        let mut names = list.as_array().into_iter().flatten();
        names.any(|it| {
            let name = it.as_str().and_then(|it| words(it).next());
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
