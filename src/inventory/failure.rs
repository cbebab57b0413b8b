//! Explains a failure by its environment, with the command that corrects it. Commands are only printed,
//! never run.

use std::collections::{BTreeMap, BTreeSet};

use super::Project;
use super::compare::{node_problem, python_problem, unfetched_submodule};
use super::modules::{missing_modules, missing_plugin};
use super::project::read_text;
use super::versions::wrong_version;
use crate::model::{Diagnosis, FailureKind, Remedy, Subkind};
use crate::runners::{is_python_tool, missing_program, pattern};

/// Files in which a variable is looked for.
pub(super) const MAX_FILES: usize = 2_000;
/// Where pytest has its settings.
pub(super) const PYTEST_SETTINGS: &str = "pyproject.toml pytest.ini tox.ini setup.cfg";
const EXAMPLES: &[&str] = &[".env.test", ".env.example", ".env.sample", ".env.template"];

pattern!(
    PYTHON_VERSION,
    r"(?:-- Python |/lib/python)([0-9]+(?:\.[0-9]+)+)"
);
pattern!(COMPOSE, r"(?:^|/|docker-)compose\.ya?ml$");
// A word that looks like the name of a variable.
pattern!(VARIABLE, r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b");
// A value that no shell changes.
pattern!(PLAIN_VALUE, r"^[A-Za-z0-9_.:/@,+-]+$");
// A setting of pytest that makes warnings errors.
pattern!(FATAL, r#"(?m)^\s*filterwarnings\s*=[\s\["']*error\b"#);
pattern!(NODE_VERSION, r"Node\.js v([0-9.]+)");

// Returns what lies outside the code in a log: submodules that were never fetched, packages and interpreters in
// other versions than the repository asks for.
fn environment_problems(project: &Project<'_>, log: &str) -> Vec<Remedy> {
    let mut found = Vec::from_iter(unfetched_submodule(project, Some(log)));
    // Frames of packages: in the version that the lock does not hold, or of one that is half installed.
    found.extend(log.contains("site-packages/").then(|| python_problem(project)).flatten());
    found.extend(log.contains("node_modules/").then(|| node_problem(project)).flatten());
    let patterns = [(true, &PYTHON_VERSION), (false, &NODE_VERSION)].into_iter();
    found.extend(patterns.filter_map(|(python, pattern)| {
        wrong_version(project, python, &pattern.captures(log)?[1])
    }));
    found
}

/// Returns what fixes a failure by hand, as lines for a person to type; none of them is run.
pub fn explain_failure(
    project: &Project<'_>,
    diagnosis: &Diagnosis,
    log: &str,
    command: &str,
) -> Vec<Remedy> {
    let mut found = list_remedies(project, diagnosis, command);
    let mut around = environment_problems(project, log);
    around.retain(|one| found.iter().all(|other| other.command != one.command));
    found.extend(around);
    project.with_manager(found)
}

fn list_remedies(project: &Project<'_>, diagnosis: &Diagnosis, command: &str) -> Vec<Remedy> {
    let evidence = diagnosis.evidence.iter();
    let texts: Vec<&str> = evidence.map(|line| line.text.trim()).collect();
    let marks = ["unrecognized arguments", "' not found"];
    let (lines, none) = (texts.iter().copied(), BTreeMap::new());
    let plugin = missing_plugin(project, lines, marks, &none, command);
    let warning = || texts.iter().find_map(|text| fatal_warning(project, text, command));
    if let Some(remedy) = plugin.or_else(warning) {
        return vec![remedy];
    }
    match diagnosis.kind {
        FailureKind::ImportError => missing_modules(project, diagnosis, command),
        FailureKind::CommandNotFound | FailureKind::DependencyError => {
            Vec::from_iter(missing_packages(project, diagnosis, command))
        }
        FailureKind::MissingEnvVar => {
            let names = texts.iter().flat_map(|text| VARIABLE.find_iter(text));
            let names: BTreeSet<&str> = names.map(|found| found.as_str()).take(3).collect();
            let again = |name: &str| format!("mendit run --env {name} {command}");
            names.into_iter().map(|name| unset_variable(project, name, &again)).collect()
        }
        FailureKind::ConnectionRefused => {
            let has_services = project.paths().any(|path| COMPOSE.is_match(path));
            let message = "a service that the tests call is not running";
            let remedy = Remedy::new(message, "docker compose up -d".to_owned());
            has_services.then_some(remedy).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

// A warning that a setting makes an error.
fn fatal_warning(project: &Project<'_>, text: &str, command: &str) -> Option<Remedy> {
    let name = text.split(' ').find(|word| word.ends_with("Warning:"))?.trim_end_matches(':');
    let is_fatal = |file: &&str| project.read(file).is_some_and(|text| FATAL.is_match(&text));
    let file = PYTEST_SETTINGS.split(' ').find(is_fatal)?;
    let message = format!("`{name}` is a warning that `filterwarnings` in {file} makes an error");
    let line = format!("mendit run {command} -W default::{name}");
    let line = Some(line).filter(|_| command.contains("pytest"));
    Some(Remedy::new(message, line))
}

// What the manifest asks for, where installing it may help.
fn missing_packages(project: &Project<'_>, diagnosis: &Diagnosis, command: &str) -> Option<Remedy> {
    let mut programs = diagnosis.evidence.iter().filter_map(|line| missing_program(&line.text));
    if let Some(manager) = programs.find_map(|program| project.missing_manager(program)) {
        return Some(manager);
    }
    let manager = project.find_manager(is_python_tool(command))?;
    let stale = "the lock file does not match the manifest";
    let absent = "packages that the manifest lists may be missing";
    let (message, line) = match diagnosis.subkind {
        Some(Subkind::LockfileMismatch) => (stale, manager.renew.as_ref()?),
        None | Some(Subkind::MissingPackage) => (absent, &manager.all),
        Some(_) => return None,
    };
    let line = project.command(line);
    (!command.contains(&line)).then(|| Remedy::new(message, line))
}

/// Returns a variable that an example of settings names, the code cannot do without, and nothing sets.
pub(super) fn needed_variable(project: &Project<'_>) -> Option<Remedy> {
    let (file, text) = EXAMPLES.iter().find_map(|file| Some((file, project.read(file)?)))?;
    if [".env", ".env.local"].iter().any(|file| project.has_path(file)) {
        return None;
    }
    let names = text.lines().filter_map(|line| line.split_once('='));
    let names = names.map(|(name, _)| name.trim_start_matches("export ").trim());
    let mut unset = names.filter(|name| std::env::var_os(name).is_none());
    let files = project.paths();
    let is_code = |path: &&str| [".py", ".js", ".mjs", ".ts"].iter().any(|end| path.ends_with(end));
    let texts = files.filter(is_code).take(MAX_FILES);
    let texts = texts.filter_map(|path| read_text(project.source, path));
    let code = texts.collect::<Vec<_>>().join("\n");
    let name = unset.find(|name| {
        // Both fail without it: a look-up of Python, and a guard of JavaScript.
        let needs = ["environ[\"{}\"]", "environ['{}']", "!process.env.{})"];
        let needs = needs.map(|need| need.replace("{}", name));
        // What the code or its tests set themselves is nobody else's to set.
        let uses = needs.iter().flat_map(|need| code.split(need.as_str()).skip(1));
        let mut uses = uses.peekable();
        // A schema of joi, and a loader that asks for all that the example has.
        let joi = format!("{name}: Joi.");
        let mut rows = code.lines().filter(|row| row.contains(&joi));
        rows.any(|row| row.contains(".required()"))
            || uses.peek().is_some() && !uses.any(|rest| rest.trim_start().starts_with('='))
    })?;
    let again = |pair: &str| match code.contains("dotenv") {
        true => format!("cp {file} .env"),
        false => format!("export {pair}"),
    };
    Some(unset_variable(project, name, &again))
}

// A variable that is not set, with the value that an example of settings has.
fn unset_variable(project: &Project<'_>, name: &str, again: &dyn Fn(&str) -> String) -> Remedy {
    if std::env::var_os(name).is_some() {
        let message = format!("`{name}` is set here, but was not passed to the command");
        return Remedy::new(message, again(name));
    }
    let value = |file: &&str| {
        let text = project.read(file)?;
        let mut lines = text.lines().map(|line| line.trim_start_matches("export ").trim());
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        let pair = PLAIN_VALUE.is_match(value).then(|| format!("{name}={value}"));
        Some((format!("`{name}` is not set, but {file} lists it"), pair))
    };
    let found = EXAMPLES.iter().find_map(value);
    let (problem, pair) = found.unwrap_or_else(|| (format!("`{name}` is not set"), None));
    Remedy::new(problem, pair.map(|pair| again(&pair)))
}

#[cfg(test)]
mod tests {
    use super::explain_failure;
    use crate::diagnose::{LogFacts, diagnose_in};
    use crate::inventory::Project;
    use crate::source::Memory;

    fn explained(files: &[(&str, &str)], log: &str, command: &str) -> Vec<String> {
        let source = Memory::named(files.iter().copied());
        let mut project = Project::new(&source, None, "");
        project.has_program = |name| name == "npm";
        let diagnosis = diagnose_in(log, &LogFacts::default(), &source);
        let found = explain_failure(&project, &diagnosis, log, command);
        found.into_iter().filter_map(|remedy| remedy.command).collect()
    }

    #[test]
    fn missing_manager_is_installed_first() {
        let files = [("package.json", r#"{"packageManager": "pnpm@9.0.0"}"#)];
        let found = explained(&files, "sh: 1: pnpm: not found\n", "npm test");
        assert_eq!(found, ["npm install --global pnpm"]);
        let log = "Error: Cannot find package 'is-what' imported from /w/a.js\n";
        let found = explained(&files, log, "node a.js");
        assert_eq!(found, ["npm install --global pnpm", "pnpm add is-what"]);
    }

    #[test]
    fn warning_that_a_setting_makes_an_error_is_named() {
        let settings = "[tool.pytest]\nfilterwarnings = [ \"error\" ]\n";
        let log = "INTERNALERROR> pytest.PytestDeprecationWarning: The option \"x\" is unset.\n";
        let line = "mendit run pytest -q -W default::pytest.PytestDeprecationWarning";
        for (settings, expected) in [(settings, &[line][..]), ("[tool.pytest]\n", &[])] {
            assert_eq!(
                explained(&[("pyproject.toml", settings)], log, "pytest -q"),
                expected
            );
        }
    }

    #[test]
    fn package_without_metadata_is_the_own_one() {
        let files = [
            ("pyproject.toml", "[project]\nname = \"toolz\"\n"),
            ("toolz/__init__.py", ""),
        ];
        let log =
            "importlib.metadata.PackageNotFoundError: No package metadata was found for toolz\n";
        assert_eq!(
            explained(&files, log, "pytest"),
            ["python3 -m pip install -e ."]
        );
    }

    #[test]
    fn package_of_group_is_installed_by_name() {
        let manifest = "[dependency-groups]\ndev = [\"freezegun>=1,<2\", \"pytest' x\"]\n";
        let files = [("pyproject.toml", manifest), ("tests/test_a.py", "")];
        let log = "tests/test_a.py:1: in <module>\nE   ModuleNotFoundError: No module named 'freezegun'\n";
        let expected = ["python3 -m pip install 'freezegun>=1,<2' 'pytest'"];
        assert_eq!(explained(&files, log, "pytest"), expected);
    }

    #[test]
    fn module_of_environment_is_not_called_missing() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join(".venv/lib/python3.12/site-packages");
        for (path, text) in [
            ("freezegun-1.0.dist-info/top_level.txt", "freezegun\n"),
            ("freezegun/__init__.py", ""),
        ] {
            let path = site.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(folder.path().join(".venv/pyvenv.cfg"), "version = 3.12.1\n").unwrap();
        let source = Memory::named([("requirements.txt", "freezegun\n"), ("tests/test_a.py", "")]);
        let project = Project::new(&source, Some(folder.path()), "");
        let log = "tests/test_a.py:1: in <module>\nE   ModuleNotFoundError: No module named 'freezegun'\n";
        let diagnosis = diagnose_in(log, &LogFacts::default(), &source);
        let found = explain_failure(&project, &diagnosis, log, "pytest -q");
        let line = "mendit run .venv/bin/python -m pytest -q";
        assert_eq!(found[0].command.as_deref(), Some(line), "{found:?}");
        // So with a plugin that only its options name.
        std::fs::create_dir_all(site.join("pytest_cov")).unwrap();
        std::fs::create_dir_all(site.join("pytest_cov-1.0.dist-info")).unwrap();
        let top = site.join("pytest_cov-1.0.dist-info/top_level.txt");
        std::fs::write(top, "pytest_cov\n").unwrap();
        std::fs::write(folder.path().join(".venv/pyvenv.cfg"), "version = 3.12.2\n").unwrap();
        let project = Project::new(&source, Some(folder.path()), "");
        let log = "pytest: error: unrecognized arguments: --cov-report\n";
        let diagnosis = diagnose_in(log, &LogFacts::default(), &source);
        let found = explain_failure(&project, &diagnosis, log, "pytest -q");
        assert_eq!(found[0].command.as_deref(), Some(line), "{found:?}");
    }
}
