use std::path::Path;

use super::compare::{own_package_missing, plugin_remedy, python_packages};
use super::declared::with_extra;
use super::managers::is_python_tool;
use super::members::{link_member, members, never_from_a_registry};
use super::project::Project;
use crate::hint::distance;
use crate::model::{Diagnosis, Remedy, Subkind};

/// Returns what brings each module that a log calls missing.
pub(super) fn missing_modules(
    project: &Project<'_>,
    diagnosis: &Diagnosis,
    command: &str,
) -> Vec<(String, Remedy)> {
    let python = is_python(diagnosis, command);
    let mut own = diagnosis.files.iter().filter(|file| file.in_repository);
    let at = own.next().map(|file| file.path.as_str());
    let remedy = |module: &String| {
        if let Some(remedy) = own_module(project, module, python) {
            return Some(remedy);
        }
        if diagnosis.subkind != Some(Subkind::MissingPackage) {
            return beside_pytest(project, module, command).filter(|_| python);
        }
        let package = package(module, python)?;
        let member = unbuilt_member(project, package).filter(|_| !python);
        member
            .or_else(|| link_member(project, package, python, at))
            .or_else(|| Some(missing_package(project, package, python)))
    };
    let modules = diagnosis.missing_modules.iter();
    modules
        .filter_map(|module| Some((module.clone(), remedy(module)?)))
        .collect()
}

fn is_python(diagnosis: &Diagnosis, command: &str) -> bool {
    if let Some(file) = diagnosis.files.iter().find(|file| file.in_repository) {
        return Path::new(&file.path)
            .extension()
            .is_some_and(|ending| ending == "py");
    }
    let mut evidence = diagnosis.evidence.iter();
    evidence.any(|line| line.text.contains("No module named"))
        || is_python_tool(command)
        || diagnosis.tool.as_deref() == Some("pytest")
}

// A module of the project's own package, which is not installed.
fn own_module(project: &Project<'_>, module: &str, python: bool) -> Option<Remedy> {
    let top = module.split('.').next().filter(|_| python)?;
    let folder = format!("src/{top}/");
    let mut files = project.source.listing().files();
    let is_own = files.any(|entry| entry.path.as_str().starts_with(&folder));
    own_package_missing(project, &python_packages(project)).filter(|_| is_own)
}

// A package of the workspace that is linked, and whose build has not written what `main` names.
fn unbuilt_member(project: &Project<'_>, package: &str) -> Option<Remedy> {
    let members = members(project.source, false);
    let member = members.iter().find(|member| member.name == package)?;
    let manifest: serde_json::Value = serde_json::from_str(&member.manifest).ok()?;
    let root = project.root.as_ref()?;
    let is_linked = root.join("node_modules").join(package).exists();
    let entry = manifest["exports"]
        .as_str()
        .or(manifest["exports"]["."].as_str());
    let entry = entry.or(manifest["exports"]["."]["import"].as_str());
    let entry = entry.or(manifest["main"].as_str())?;
    let is_built = root.join(&member.folder).join(entry).exists();
    (is_linked && !is_built && manifest["scripts"]["build"].is_string()).then(|| {
        let line = match project
            .manager(false)
            .map_or("", |manager| manager.tool.as_str())
        {
            "pnpm" => format!("pnpm --filter {package} build"),
            "yarn" => format!("yarn workspace {package} build"),
            _ => format!("npm run build --workspace {package}"),
        };
        Remedy::new(
            format!(
                "`{package}` is not built: there is no {}/{entry}",
                member.folder
            ),
            Some(line),
        )
    })
}

// `pytest` looks beside the tests; `python -m pytest` looks where it is started, too.
fn beside_pytest(project: &Project<'_>, module: &str, command: &str) -> Option<Remedy> {
    let bare = format!(" {command} ");
    let alone = bare.contains(" pytest ") && !bare.contains(" -m pytest ");
    let top = module.split('.').next().filter(|_| alone)?;
    let here = Path::new(project.prefix).join(top);
    let files = [here.with_extension("py"), here.join("__init__.py")];
    let mut files = files.iter().filter_map(|file| file.to_str());
    let file = files.find(|file| project.source.listing().has_file(file))?;
    Some(Remedy::new(
        format!("`{top}` is {file}, and `pytest` alone does not look there"),
        Some(command.replacen("pytest", "python3 -m pytest", 1)),
    ))
}

// A package that is declared is installed; else it is added, unless the manifest names one that is called almost like
// it: a typo is how strange packages get in.
fn missing_package(project: &Project<'_>, package: &str, python: bool) -> Remedy {
    let files: &[&str] = if python {
        &[
            "pyproject.toml",
            "requirements.txt",
            "setup.cfg",
            "setup.py",
        ]
    } else {
        &["package.json"]
    };
    let texts: Vec<String> = files.iter().filter_map(|name| project.read(name)).collect();
    let is_named = |word: &str| word.eq_ignore_ascii_case(package);
    let is_declared = texts.iter().any(|text| words(text).any(is_named));
    let may_be_ours = !python && (package.starts_with('@') || !is_declared);
    let refusal = may_be_ours
        .then(|| never_from_a_registry(project.source, package))
        .flatten();
    if let Some(message) = refusal {
        return Remedy::new(message, None);
    }
    let manager = project.manager(python);
    let one = if python {
        "{pip} install"
    } else {
        "npm install"
    };
    let one = manager.map_or(one, |manager| manager.one.as_str());
    if let Some(manager) = manager.filter(|_| is_declared) {
        let line = with_extra(project, &manager.all, package);
        let message = format!("`{package}` is declared and not installed");
        return Remedy::new(message, Some(project.command(&line)));
    }
    let near = texts.iter().find_map(|text| nearest_word(text, package));
    if let Some(near) = near.filter(|_| !is_declared) {
        let message = format!("`{package}` is not installed; the manifest names `{near}`");
        return Remedy::new(message, None);
    }
    let message = format!("`{package}` is not installed, and no manifest names it");
    Remedy::new(message, Some(project.command(&format!("{one} {package}"))))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_.@/".contains(letter))
}

// The word of a manifest that is a typo away from a name.
fn nearest_word<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let near = words(text).filter_map(|word| Some((distance(name, word)?, word)));
    near.min().map(|(_, near)| near)
}

// The package of a module; `None` for a path, and for what no shell should be given.
fn package(module: &str, python: bool) -> Option<&str> {
    let parts = if module.starts_with('@') { 2 } else { 1 };
    let separator = if python { '.' } else { '/' };
    let end = module.match_indices(separator).nth(parts - 1);
    let name = module.get(..end.map_or(module.len(), |(at, _)| at))?;
    let starts =
        name.starts_with(|first: char| first.is_ascii_alphanumeric() || "@_".contains(first));
    (starts && super::project::is_plain(name)).then_some(name)
}

// Options, settings and fixtures of pytest, each with the plugin that has it (docs.pytest.org, plugin list).
const PLUGINS: &[(&str, &str)] = &[
    ("--cov", "pytest-cov"),
    ("-n ", "pytest-xdist"),
    ("-n=", "pytest-xdist"),
    ("--numprocesses", "pytest-xdist"),
    ("--timeout", "pytest-timeout"),
    ("--reruns", "pytest-rerunfailures"),
    ("--ds", "pytest-django"),
    ("asyncio_mode", "pytest-asyncio"),
    ("--asyncio-mode", "pytest-asyncio"),
    ("fixture 'mocker'", "pytest-mock"),
    ("fixture 'benchmark'", "pytest-benchmark"),
    ("fixture 'httpx_mock'", "pytest-httpx"),
    ("fixture 'requests_mock'", "requests-mock"),
    ("fixture 'snapshot'", "syrupy"),
];

/// Returns the plugin that an option, a setting or a fixture of a line needs.
pub(super) fn pytest_plugin(line: &str) -> Option<&'static str> {
    PLUGINS
        .iter()
        .find(|(cue, _)| line.contains(cue))
        .map(|(_, plugin)| *plugin)
}

/// Returns how the plugin is installed that a line of pytest misses.
pub(super) fn missing_plugin(project: &Project<'_>, lines: &[&str]) -> Option<Remedy> {
    let speaks =
        |line: &&&str| line.contains("unrecognized arguments") || line.contains("' not found");
    let plugin = lines
        .iter()
        .filter(speaks)
        .find_map(|line| pytest_plugin(line))?;
    Some(plugin_remedy(project, project.manager(true), plugin))
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn modules_have_packages() {
        for (module, python, expected) in [
            ("yaml.loader", true, Some("yaml")),
            ("@scope/pkg/sub", false, Some("@scope/pkg")),
            ("zod/v4", false, Some("zod")),
            ("./local", false, None),
            ("x; rm -rf ~", false, None),
            ("$(id)", true, None),
            ("-r", true, None),
        ] {
            assert_eq!(package(module, python), expected, "{module}");
        }
    }
}
