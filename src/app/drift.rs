use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::install::{INSTALLS, Install};
use super::locked::{Versions, normal};
use crate::model::{Remedy, RepoPath};
use crate::source::{EntryKind, Installed, Source};
use crate::workplace::installed;

/// A package that is installed in another version than the lock file asks for.
struct Drift {
    name: String,
    installed: String,
    locked: String,
}

/// Packages that the log has frames or files of and that are installed otherwise than the lock file asks.
/// `root` is the worktree, `prefix` where the command ran below it.
pub(super) fn drift_in_log(
    log: &str,
    source: &dyn Source,
    root: &Path,
    prefix: &str,
) -> Option<Remedy> {
    let sites = sites_of(log, root);
    let node = of_node_modules(log);
    let python = || {
        let mut found = BTreeMap::new();
        for (site, modules) in &sites {
            found.extend(distributions(site, Some(modules)));
        }
        found
    };
    let javascript = || {
        let there = installed(root);
        let of = |name: &String| Some((name.clone(), version(&there, prefix, name)?));
        node.iter().filter_map(of).collect()
    };
    INSTALLS.iter().find_map(|file| {
        let is_asked = if file.python {
            !sites.is_empty()
        } else {
            !node.is_empty()
        };
        let locked = is_asked.then(|| locked(file, source, prefix)).flatten()?;
        let there = if file.python { python() } else { javascript() };
        remedy(file, &drifts(&there, &locked))
    })
}

/// The same of all that is installed for the worktree: what `site-packages` holds, and the packages that
/// package.json names.
pub(super) fn drift(source: &dyn Source, root: &Path, prefix: &str) -> Vec<Remedy> {
    let there = installed(root);
    let python = || {
        let sites = there.sites().iter();
        sites.flat_map(|site| distributions(site, None)).collect()
    };
    let javascript = || {
        let manifest = read(source, prefix, "package.json").unwrap_or_default();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
        let tables = ["dependencies", "devDependencies"].map(|it| manifest[it].as_object());
        let names = tables.into_iter().flatten().flat_map(|it| it.keys());
        names
            .filter_map(|name| Some((name.clone(), version(&there, prefix, name)?)))
            .collect()
    };
    let mut found = Vec::new();
    for is_python in [true, false] {
        let files = INSTALLS.iter().filter(|it| it.python == is_python);
        let mut read = files.filter_map(|file| Some((file, locked(file, source, prefix)?)));
        if let Some((file, locked)) = read.next() {
            let there = if is_python { python() } else { javascript() };
            found.extend(remedy(file, &drifts(&there, &locked)));
        }
    }
    found
}

/// What the manifests where one stands ask for and is not installed there.
pub(super) fn lacking(source: &dyn Source, root: &Path, prefix: &str) -> Vec<Remedy> {
    let mut found = Vec::new();
    let rows = |python| {
        let mut rows = INSTALLS.iter();
        rows.find(|row| row.python == python && read(source, prefix, &row.file).is_some())
    };
    let upward: Vec<&Path> = Path::new(prefix).ancestors().collect();
    let there = |names: &[&str]| {
        let mut folders = upward.iter();
        folders.any(|below| names.iter().any(|it| root.join(below).join(it).exists()))
    };
    let scripts = read(source, prefix, "package.json").unwrap_or_default();
    let asks = scripts.contains("ependencies\"");
    if let Some(row) = rows(false).filter(|_| asks && !there(&["node_modules", ".pnp.cjs"])) {
        found.push(Remedy::new(
            "package.json asks for packages, and there is no node_modules",
            Some(row.all.clone()),
        ));
    }
    let active = std::env::var_os("VIRTUAL_ENV").is_some();
    let locked = ["uv.lock", "poetry.lock", "Pipfile.lock"];
    let locked = rows(true).filter(|row| locked.contains(&row.file.as_str()));
    if let Some(row) = locked.filter(|_| !active && !there(&[".venv", "venv"])) {
        found.push(Remedy::new(
            format!("{} locks packages, and there is no .venv", row.file),
            Some(row.all.clone()),
        ));
    }
    found
}

/// Submodules that were never fetched; with a log those that it names a file or a module of.
pub(super) fn unfetched(log: Option<&str>, source: &dyn Source, root: &Path) -> Option<Remedy> {
    let entries = source.listing().entries().iter();
    let modules = entries.filter(|it| matches!(it.kind, EntryKind::Submodule { .. }));
    let mut paths = modules.map(|it| it.path.as_str());
    let is_named = |path: &str| {
        let dotted = path.replace('/', ".");
        let ends = [
            format!("{path}/"),
            format!("{dotted}."),
            format!("'{dotted}'"),
        ];
        log.is_none_or(|log| ends.iter().any(|it| log.contains(it)))
    };
    let is_empty = |path: &str| {
        let inside = std::fs::read_dir(root.join(path));
        inside.is_ok_and(|mut it| it.next().is_none())
    };
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_./".contains(it);
    let path = paths.find(|it| is_named(it) && is_empty(it) && it.chars().all(plain))?;
    let message = format!("the submodule {path} was never fetched");
    let command = format!("git submodule update --init -- {path}");
    Some(Remedy::new(message, Some(command)))
}

/// The interpreter of a log, where the repository asks for another: `.python-version`, `.nvmrc`.
pub(super) fn interpreter(log: &str, source: &dyn Source, prefix: &str) -> Option<Remedy> {
    INTERPRETERS.iter().find_map(|(file, name, mark, line)| {
        let requested = read(source, prefix, file)?;
        let requested = requested.trim().trim_start_matches('v').to_owned();
        let library = || log.split_once(LIBRARY).filter(|_| *name == "Python");
        let (_, rest) = log.split_once(mark).or_else(library)?;
        let ran: String = rest
            .chars()
            .take_while(|it| it.is_ascii_digit() || *it == '.')
            .collect();
        let is_version = |text: &str| text.starts_with(|it: char| it.is_ascii_digit());
        // A place of the library tells two parts of it.
        let parts = ran.trim_end_matches('.').split('.').count();
        let head: Vec<&str> = requested.split('.').take(parts.max(1)).collect();
        let head = head.join(".");
        let same = ran == head || ran.starts_with(&format!("{head}."));
        (is_version(&requested) && is_version(&ran) && !same).then(|| {
            let message = format!("{name} {ran} ran it, {file} asks for {requested}");
            let line = match read(source, prefix, "uv.lock") {
                Some(_) if *name == "Python" => "uv sync",
                _ => line,
            };
            Remedy::new(message, Some(line.to_owned()))
        })
    })
}

// What stands before the version of a Python in each traceback.
const LIBRARY: &str = "/lib/python";

// The file, the language, what stands before its version in a log, and what installs the one asked for.
const INTERPRETERS: &[(&str, &str, &str, &str)] = &[
    (
        ".python-version",
        "Python",
        "-- Python ",
        "pyenv install -s",
    ),
    (".nvmrc", "Node.js", "Node.js v", "nvm install"),
];

fn drifts(there: &BTreeMap<String, String>, locked: &Versions) -> Vec<Drift> {
    let drift = |(name, version): (&String, &String)| {
        let versions = locked.get(name).filter(|it| !it.contains(version))?;
        Some(Drift {
            name: name.clone(),
            installed: version.clone(),
            locked: versions.iter().cloned().collect::<Vec<_>>().join(" or "),
        })
    };
    there.iter().filter_map(drift).collect()
}

fn remedy(file: &Install, drifts: &[Drift]) -> Option<Remedy> {
    let (first, rest) = drifts.split_first()?;
    let more = match rest.len() {
        0 => String::new(),
        more => format!(", and {more} more like it"),
    };
    let message = format!(
        "{} {} is installed, {} asks for {}{more}",
        first.name, first.installed, file.file, first.locked
    );
    Some(Remedy::new(message, file.exact.clone()))
}

fn locked(file: &Install, source: &dyn Source, prefix: &str) -> Option<Versions> {
    let versions = file.format?.versions(&read(source, prefix, &file.file)?);
    (!versions.is_empty()).then_some(versions)
}

// The nearest file of that name, from where the command ran upwards.
fn read(source: &dyn Source, prefix: &str, name: &str) -> Option<String> {
    let below = Path::new(prefix).ancestors();
    let paths = below.filter_map(|it| RepoPath::new(it.join(name).to_str()?).ok());
    let mut there = paths.filter(|it| source.listing().has_file(it.as_str()));
    let bytes = source.read(&there.next()?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

// Folders `site-packages` that a log names, each with the modules that it has frames of. Nothing but the
// names of what lies in them is ever read.
fn sites_of(log: &str, root: &Path) -> BTreeMap<PathBuf, BTreeSet<String>> {
    let mut found: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for (at, mark) in log.match_indices(SITE) {
        let head = log.get(..at).unwrap_or_default();
        let start = head.rfind(|it: char| it.is_whitespace() || "\"'()<>=".contains(it));
        let folder = head.get(start.map_or(0, |it| it + 1)..).unwrap_or_default();
        let tail = log.get(at + mark.len()..).unwrap_or_default();
        let module: String = tail
            .chars()
            .take_while(|it| it.is_alphanumeric() || *it == '_')
            .collect();
        let fits = found.len() < MOST_SITES || found.contains_key(&root.join(folder));
        if fits && !module.is_empty() {
            found
                .entry(root.join(folder).join(SITE.trim_matches('/')))
                .or_default()
                .insert(module);
        }
    }
    found
}

const SITE: &str = "/site-packages/";
const MOST_SITES: usize = 4;

// Names of packages of `node_modules` that a log names; pnpm's own folder leads to the same names.
fn of_node_modules(log: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, mark) in log.match_indices("node_modules/") {
        let tail = log.get(at + mark.len()..).unwrap_or_default();
        let stops = |it: char| it.is_whitespace() || "\"'():<>@".contains(it);
        let (scope, rest) = match tail.strip_prefix('@') {
            Some(rest) => match rest.split_once('/') {
                Some((scope, rest)) => (format!("@{scope}/"), rest),
                None => continue,
            },
            None => (String::new(), tail),
        };
        let name = rest
            .split(|it: char| it == '/' || stops(it))
            .next()
            .unwrap_or_default();
        if !name.is_empty() && !name.starts_with('.') && found.len() < MOST_PACKAGES {
            found.insert(format!("{scope}{name}"));
        }
    }
    found
}

const MOST_PACKAGES: usize = 50;

// The distributions of `site-packages` by their normal names; with `modules` those that bring one of them.
fn distributions(site: &Path, modules: Option<&BTreeSet<String>>) -> BTreeMap<String, String> {
    let there = Installed::of_sites(vec![site.to_owned()]);
    let wanted =
        |brought: &[String]| modules.is_none_or(|it| brought.iter().any(|one| it.contains(one)));
    let all = there.distributions().into_iter();
    let all = all.filter(|it| wanted(&it.modules));
    all.map(|it| (normal(&it.name), it.version)).collect()
}

fn version(there: &Installed, prefix: &str, name: &str) -> Option<String> {
    let folder = there.npm(prefix, name)?;
    let manifest = there.read(&folder, &folder.join("package.json"))?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{drift, drift_in_log};
    use crate::source::Memory;

    fn write(root: &std::path::Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn another_interpreter_is_told() {
        let source = Memory::named([(".python-version", "3.12\n"), (".nvmrc", "v22\n")]);
        for (log, expected) in [
            (
                "platform linux -- Python 3.11.7, pytest-8\n",
                Some("Python 3.11.7 ran it, .python-version asks for 3.12"),
            ),
            ("platform linux -- Python 3.12.1, pytest-8\n", None),
            (
                "Node.js v20.20.2\n",
                Some("Node.js 20.20.2 ran it, .nvmrc asks for 22"),
            ),
            ("Node.js v22.1.0\n", None),
        ] {
            let found = super::interpreter(log, &source, "").map(|it| it.problem);
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn what_is_installed_otherwise_than_locked_is_told_with_what_mends_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let site = root.join(".venv/lib/python3.12/site-packages");
        let about = |name: &str| {
            format!(".venv/lib/python3.12/site-packages/{name}.dist-info/top_level.txt")
        };
        write(&root, ".venv/pyvenv.cfg", "");
        write(&root, &about("pytest-9.2.0"), "_pytest\npytest\n");
        write(&root, &about("attrs-25.1.0"), "attr\n");
        write(
            &root,
            "node_modules/vitest/package.json",
            r#"{"version": "4.0.0"}"#,
        );
        let lock = "[[package]]\nname = \"pytest\"\nversion = \"9.0.2\"\n[[package]]\nname = \"attrs\"\nversion = \"25.1.0\"\n";
        let source = Memory::named([
            ("uv.lock", lock),
            ("package.json", r#"{"devDependencies": {"vitest": "^3"}}"#),
            (
                "package-lock.json",
                r#"{"packages": {"node_modules/vitest": {"version": "3.2.4"}}}"#,
            ),
        ]);
        let python = (
            "pytest 9.2.0 is installed, uv.lock asks for 9.0.2",
            "uv sync",
        );
        let node = (
            "vitest 4.0.0 is installed, package-lock.json asks for 3.2.4",
            "npm ci",
        );
        let frame = format!(
            "ImportError: cannot import name 'notset' ({}/_pytest/monkeypatch.py)\n",
            site.display()
        );
        let other = format!("  File \"{}/attr/_make.py\", line 3\n", site.display());
        for (log, expected) in [
            (frame.as_str(), Some(python)),
            (other.as_str(), None),
            (
                "    at run (node_modules/vitest/dist/index.js:3:1)\n",
                Some(node),
            ),
            (
                "    at node_modules/.pnpm/vitest@4.0.0/node_modules/vitest/dist/a.js:3:1\n",
                Some(node),
            ),
            ("AssertionError\n", None),
        ] {
            let found = drift_in_log(log, &source, &root, "");
            let found = found.map(|it| (it.problem, it.command.unwrap()));
            assert_eq!(
                found,
                expected.map(|(a, b)| (a.to_owned(), b.to_owned())),
                "{log}"
            );
        }
        let all: Vec<_> = drift(&source, &root, "")
            .into_iter()
            .map(|it| it.problem)
            .collect();
        assert_eq!(all, [python.0, node.0]);
    }
}
