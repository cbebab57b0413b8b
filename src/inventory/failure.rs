use super::Project;
use super::compare::{node_problem, python_problem, unfetched_submodule, wrong_node};
use super::managers::{is_python_tool, renews_lock};
use super::modules::{missing_modules, missing_plugin};
use crate::model::{Diagnosis, FailureKind, Remedy, RepoPath, Subkind};
use crate::runners::pattern;
use crate::source::{EntryKind, Source};

/// Returns what lies outside the code in a log: submodules that were never fetched, packages and interpreters in
/// other versions than the repository asks for.
#[must_use]
pub fn environment_problems(project: &Project<'_>, log: &str) -> Vec<Remedy> {
    let submodule = unfetched_submodule(project, Some(log));
    let interpreter = wrong_interpreter(project, log);
    // Frames of packages: in the version that the lock does not hold, or of one that is half installed.
    let python = log
        .contains("site-packages/")
        .then(|| python_problem(project));
    let node = log.contains("node_modules/").then(|| node_problem(project));
    let packages = python.into_iter().chain(node).flatten();
    submodule
        .into_iter()
        .chain(packages)
        .chain(interpreter)
        .collect()
}

/// Returns what fixes a failure by hand, each with the module that it brings, where it is about one. `again` is the
/// line that runs the command again with a variable.
#[must_use]
pub fn explain_failure(
    project: &Project<'_>,
    diagnosis: &Diagnosis,
    command: &str,
    again: &dyn Fn(&str) -> String,
) -> Vec<(String, Remedy)> {
    let texts: Vec<&str> = diagnosis
        .evidence
        .iter()
        .map(|line| line.text.trim())
        .collect();
    if let Some(path) = in_submodule(diagnosis, project.source) {
        let message = format!("the files of the log lie in the submodule {path}: run it there");
        let line = format!("mendit -C {path} run CMD");
        return vec![(String::new(), Remedy::new(message, Some(line)))];
    }
    if let Some(remedy) = missing_plugin(project, &texts) {
        return vec![(String::new(), remedy)];
    }
    let remedies: Vec<Remedy> = match diagnosis.kind {
        FailureKind::ImportError => return missing_modules(project, diagnosis, command),
        FailureKind::CommandNotFound | FailureKind::DependencyError => {
            missing_packages(project, diagnosis, command, &texts)
                .into_iter()
                .collect()
        }
        FailureKind::MissingEnvVar => {
            let names = variable_names(&texts).into_iter();
            names
                .map(|name| unset_variable(project, &name, again))
                .collect()
        }
        FailureKind::PortInUse => {
            let port = texts.iter().find_map(|text| port_in_use(text)).into_iter();
            let message = |port| format!("something else listens on port {port}");
            port.map(|port| Remedy::new(message(port), Some(format!("lsof -i :{port}"))))
                .collect()
        }
        FailureKind::ConnectionRefused => {
            let compose = COMPOSE
                .iter()
                .find_map(|name| project.read(name))
                .into_iter();
            let message = "a service that the tests call is not running";
            compose
                .map(|_| Remedy::new(message, Some("docker compose up -d".to_owned())))
                .collect()
        }
        _ => missing_migration(project, command, &texts)
            .into_iter()
            .collect(),
    };
    remedies
        .into_iter()
        .map(|remedy| (String::new(), remedy))
        .collect()
}

const COMPOSE: &[&str] = &[
    "compose.yaml",
    "compose.yml",
    "docker-compose.yml",
    "docker-compose.yaml",
];
const EXAMPLES: &[&str] = &[".env.test", ".env.example", ".env.sample", ".env.template"];

/// Returns the submodule that holds what a log names, when no file of the repository itself is named.
#[must_use]
pub fn in_submodule<'s>(diagnosis: &Diagnosis, source: &'s dyn Source) -> Option<&'s str> {
    if diagnosis.files.iter().any(|file| file.in_repository) {
        return None;
    }
    let entries = source.listing().entries().iter();
    let modules = entries.filter(|entry| matches!(entry.kind, EntryKind::Submodule { .. }));
    let mut modules = modules.map(|entry| entry.path.as_str());
    modules.find(|module| {
        let (below, inner) = (format!("{module}/"), format!("/{module}/"));
        let named = |path: &str| path.starts_with(&below) || path.contains(&inner);
        diagnosis.files.iter().any(|file| named(&file.path))
    })
}

/// Returns the program that a shell did not find, by its message.
#[must_use]
pub fn missing_program(text: &str) -> Option<&str> {
    let ends = [": command not found", ": not found"];
    let head = ends.iter().find_map(|end| text.trim().strip_suffix(end))?;
    head.rsplit(": ").next()
}

pattern!(
    PYTHON_VERSION,
    r"(?:-- Python |/lib/python)([0-9]+(?:\.[0-9]+)+)"
);
pattern!(NODE_VERSION, r"Node\.js v([0-9.]+)");

// The interpreter of a log, where the repository asks for another.
fn wrong_interpreter(project: &Project<'_>, log: &str) -> Option<Remedy> {
    let node = NODE_VERSION
        .captures(log)
        .and_then(|found| wrong_node(project, &found[1]));
    node.or_else(|| {
        let ran = PYTHON_VERSION.captures(log)?;
        let asked = project.read(".python-version")?;
        let asked = asked.trim();
        // A path of the library has two parts of the version.
        let parts = ran[1].split('.').count();
        let head = asked.split('.').take(parts).collect::<Vec<_>>().join(".");
        let same = ran[1] == head || ran[1].starts_with(&format!("{head}."));
        let is_version = asked.starts_with(|first: char| first.is_ascii_digit());
        (is_version && !same).then(|| {
            let message = format!(
                "Python {} ran it, .python-version asks for {asked}",
                &ran[1]
            );
            let line = if project.read("uv.lock").is_some() {
                "uv sync"
            } else {
                "pyenv install -s"
            };
            Remedy::new(message, Some(line.to_owned()))
        })
    })
}

fn missing_packages(
    project: &Project<'_>,
    diagnosis: &Diagnosis,
    command: &str,
    texts: &[&str],
) -> Option<Remedy> {
    let message = match diagnosis.subkind {
        Some(Subkind::Engine | Subkind::VersionMismatch) => {
            "the installed version of the language or the tool does not fit"
        }
        Some(Subkind::PackageNotFound | Subkind::NoVersion) => {
            "the registry has nothing of that name and version: correct the manifest"
        }
        Some(Subkind::LockfileMismatch) => {
            let line = std::iter::once(&command)
                .chain(texts)
                .find_map(|line| renews_lock(line))?;
            let message = "the lock does not hold what the manifest asks for";
            return Some(Remedy::new(message, Some(line.to_owned())));
        }
        _ => "",
    };
    if !message.is_empty() {
        return Some(Remedy::new(message, None));
    }
    let manager = project.manager(is_python_tool(command))?;
    let line = project.command(&manager.all);
    let message = "what the manifest asks for may not be installed";
    (!command.contains(&line)).then(|| Remedy::new(message, Some(line)))
}

// A column or a table that the models have and the database has not: Django writes the migration.
fn missing_migration(project: &Project<'_>, command: &str, texts: &[&str]) -> Option<Remedy> {
    let marks = ["no column named ", "no such column: ", "no such table: "];
    let tail = texts.iter().find_map(|text| {
        let rest = marks
            .iter()
            .find_map(|mark| Some(text.split_once(mark)?.1))?;
        rest.rsplit('.').next()
    })?;
    let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let start = format!("{} = ", tail.split(is_end).next()?);
    let is_model =
        |path: &&RepoPath| path.stem() == "models" || path.directory().ends_with("models");
    let files = project.source.listing().files().map(|entry| &entry.path);
    let mut models = files.filter(is_model);
    let has = |path: &RepoPath| {
        let text = project.source.read(path).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .any(|line| line.trim_start().starts_with(&start))
    };
    project.read("manage.py")?;
    models.any(has).then(|| {
        let word = start.trim_end_matches(" = ");
        let head = command
            .split_once("manage.py")
            .map_or("python ", |(head, _)| head);
        let python = if head.contains(['&', ';', '|']) {
            "python "
        } else {
            head
        };
        let message = format!("`{word}` is in the models and not in a migration");
        Remedy::new(message, Some(format!("{python}manage.py makemigrations")))
    })
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

pattern!(PORT, r"(?i)(?::|port |', )([0-9]+)");

fn port_in_use(text: &str) -> Option<u16> {
    let ports = PORT
        .captures_iter(text)
        .filter_map(|found| found[1].parse().ok());
    ports.filter(|port| *port >= 80).last()
}
