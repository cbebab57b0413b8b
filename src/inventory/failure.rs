use super::Project;
use super::compare::{node_problem, python_problem, unfetched_submodule};
use super::managers::is_python_tool;
use super::modules::{missing_modules, missing_plugin};
use super::versions::wrong_version;
use crate::model::{Diagnosis, FailureKind, Remedy, Subkind};
use crate::runners::pattern;

const COMPOSE: &[&str] = &[
    "compose.yaml",
    "compose.yml",
    "docker-compose.yml",
    "docker-compose.yaml",
];
const EXAMPLES: &[&str] = &[".env.test", ".env.example", ".env.sample", ".env.template"];

pattern!(
    PYTHON_VERSION,
    r"(?:-- Python |/lib/python)([0-9]+(?:\.[0-9]+)+)"
);
pattern!(NODE_VERSION, r"Node\.js v([0-9.]+)");

/// Returns what lies outside the code in a log: submodules that were never fetched, packages and interpreters in
/// other versions than the repository asks for.
#[must_use]
pub fn environment_problems(project: &Project<'_>, log: &str) -> Vec<Remedy> {
    let submodule = unfetched_submodule(project, Some(log));
    // Frames of packages: in the version that the lock does not hold, or of one that is half installed.
    let python = log
        .contains("site-packages/")
        .then(|| python_problem(project));
    let node = log.contains("node_modules/").then(|| node_problem(project));
    let versions = [(true, &PYTHON_VERSION), (false, &NODE_VERSION)];
    let interpreters = versions.iter().filter_map(|(python, pattern)| {
        let found = pattern.captures(log)?;
        wrong_version(project, *python, &found[1])
    });
    let packages = python.into_iter().chain(node).flatten();
    submodule
        .into_iter()
        .chain(packages)
        .chain(interpreters)
        .collect()
}

/// Returns what fixes a failure by hand. `again` is the line that runs the command again with a variable.
#[must_use]
pub fn explain_failure(
    project: &Project<'_>,
    diagnosis: &Diagnosis,
    command: &str,
    again: &dyn Fn(&str) -> String,
) -> Vec<Remedy> {
    let evidence = diagnosis.evidence.iter();
    let texts: Vec<&str> = evidence.map(|line| line.text.trim()).collect();
    if let Some(remedy) = missing_plugin(project, &texts) {
        return vec![remedy];
    }
    match diagnosis.kind {
        FailureKind::ImportError => missing_modules(project, diagnosis, command),
        FailureKind::CommandNotFound | FailureKind::DependencyError => {
            let found = missing_packages(project, diagnosis, command);
            found.into_iter().collect()
        }
        FailureKind::MissingEnvVar => {
            let names = variable_names(&texts).into_iter();
            names
                .map(|name| unset_variable(project, &name, again))
                .collect()
        }
        FailureKind::ConnectionRefused => {
            let has_services = COMPOSE.iter().any(|name| project.read(name).is_some());
            let message = "a service that the tests call is not running";
            let remedy = || Remedy::new(message, Some("docker compose up -d".to_owned()));
            has_services.then(remedy).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the program that a shell did not find, by its message.
#[must_use]
pub fn missing_program(text: &str) -> Option<&str> {
    let ends = [": command not found", ": not found"];
    let head = ends.iter().find_map(|end| text.trim().strip_suffix(end))?;
    head.rsplit(": ").next()
}

// What the manifest asks for, where installing it may help.
fn missing_packages(project: &Project<'_>, diagnosis: &Diagnosis, command: &str) -> Option<Remedy> {
    let manager = project.manager(is_python_tool(command))?;
    let (message, line) = match diagnosis.subkind {
        Some(Subkind::LockfileMismatch) => {
            let message = "the lock does not hold what the manifest asks for";
            (message, manager.renew.clone()?)
        }
        None | Some(Subkind::MissingPackage) => {
            let message = "what the manifest asks for may not be installed";
            (message, project.command(&manager.all))
        }
        Some(_) => return None,
    };
    (!command.contains(&line)).then(|| Remedy::new(message, Some(line)))
}

// A variable that is not set, with the value that an example of settings has.
fn unset_variable(project: &Project<'_>, name: &str, again: &dyn Fn(&str) -> String) -> Remedy {
    if std::env::var_os(name).is_some() {
        let message = format!("`{name}` is set here and was not passed on");
        return Remedy::new(message, Some(again(name)));
    }
    let value = |file: &&str| {
        let text = project.read(file)?;
        let mut lines = text
            .lines()
            .map(|line| line.trim_start_matches("export ").trim());
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/@,+".contains(letter);
        let is_plain = !value.is_empty() && value.chars().all(plain);
        is_plain.then(|| (file.to_string(), format!("{name}={value}")))
    };
    match EXAMPLES.iter().find_map(value) {
        Some((file, pair)) => {
            let message = format!("`{name}` is not set; {file} has a value for it");
            Remedy::new(message, Some(again(&pair)))
        }
        None => Remedy::new(format!("`{name}` is not set"), None),
    }
}

// Words that look like names of variables.
fn variable_names(texts: &[&str]) -> Vec<String> {
    let is_name =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let words = texts
        .iter()
        .flat_map(|text| text.split(|letter| !is_name(letter)));
    let telling = |word: &&str| word.len() > 3 && word.contains('_') && !word.starts_with('_');
    let mut found: Vec<String> = words.filter(telling).map(str::to_owned).collect();
    found.dedup();
    found.truncate(3);
    found
}
