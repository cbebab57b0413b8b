//! Finds the package that provides a missing module.

use std::collections::BTreeMap;

use super::compare::Tree;
use super::declared::{install_command, python_requirements};
use super::members::{link_member, list_members};
use super::project::Project;
use crate::hint::distance;
use crate::languages::{normal, package_part};
use crate::model::{Diagnosis, Remedy, Subkind};
use crate::runners::is_python_tool;
use crate::source::Distribution;

/// Returns what brings the modules that a log calls missing.
pub(super) fn missing_modules(
    project: &Project<'_>,
    diagnosis: &Diagnosis,
    command: &str,
) -> Vec<Remedy> {
    let mut own = diagnosis.files.iter().filter(|file| file.in_repository);
    let at = own.next().map(|file| file.path.as_str());
    let mut evidence = diagnosis.evidence.iter();
    let python = at.map_or_else(
        || evidence.any(|line| line.text.contains("No module named")) || is_python_tool(command),
        |at| at.ends_with(".py"),
    );
    let remedy = |module: &String| {
        let top = module.split('.').next()?;
        let is_src = project.has_file_below(&format!("src/{top}/"));
        let asked = Some(module.as_str()).filter(|_| !is_src);
        let own = || Tree::open(project, true)?.own_package(asked);
        let found = || project.other_environment(top, command).or_else(own);
        python.then(found).flatten().or_else(|| {
            let is_package = diagnosis.subkind == Some(Subkind::MissingPackage);
            let package = package_name(module, python).filter(|_| is_package)?;
            let linked = link_member(project, package, python, at);
            linked.or_else(|| Some(missing_package(project, package, python)))
        })
    };
    diagnosis.missing_modules.iter().filter_map(remedy).collect()
}

// A declared package is installed, another is added, unless the project has one of almost the same name or scope,
// because a typo is how malicious packages get in.
fn missing_package(project: &Project<'_>, package: &str, python: bool) -> Remedy {
    let of_python = "pyproject.toml requirements.txt setup.cfg setup.py";
    let files = if python { of_python } else { "package.json" };
    let texts: Vec<_> = files.split(' ').filter_map(|name| project.read(name)).collect();
    let ends_word = |letter: char| !letter.is_ascii_alphanumeric() && !"-_.@/".contains(letter);
    let declared: Vec<&str> = texts.iter().flat_map(|text| text.split(ends_word)).collect();
    let plain = |name: &str| if python { normal(name) } else { name.to_ascii_lowercase() };
    let is_declared = declared.iter().any(|word| plain(word) == plain(package));
    // What another package brings is not added: the installed tree is not whole.
    let is_known =
        |tree: &Tree<'_>| is_declared || tree.lock.versions.contains_key(&plain(package));
    if let Some(tree) = Tree::open(project, python).filter(is_known) {
        let by = if is_declared { "the manifest" } else { &tree.manager.file };
        let message = format!("`{package}` is not installed, but {by} requires it");
        return Remedy::new(message, install_command(project, tree.manager, package));
    }
    let members = list_members(project.source, python);
    let own = members.iter().map(|member| member.name.as_str());
    let scope = |name: &str| name.split_once('/').map(|(scope, _)| scope.to_owned());
    let has_scope = |name: &&str| scope(name).is_some() && scope(name) == scope(package);
    let is_near = |name: &&str| distance(package, name).is_some();
    let mut declared = declared.into_iter().filter(is_near);
    let near = own.filter(|name| has_scope(name) || is_near(name)).chain(&mut declared);
    if let Some(near) = near.min() {
        let message = format!("`{package}` is not installed; did you mean `{near}`?");
        return Remedy::new(message, None);
    }
    let note = if python { "; its name on PyPI may differ" } else { "" };
    let message = format!("`{package}` is neither installed nor declared{note}");
    Remedy::new(message, add_command(project, package, python))
}

fn add_command(project: &Project<'_>, package: &str, python: bool) -> String {
    let usual = if python { "{pip} install" } else { "npm install" };
    let one = project.find_manager(python).map_or(usual, |manager| manager.one.as_str());
    project.command(&format!("{one} {package}"))
}

// The package of a module; `None` for a path, and for what no shell should be given.
fn package_name(module: &str, python: bool) -> Option<&str> {
    let name = if python { module.split('.').next()? } else { package_part(module)? };
    let starts =
        name.starts_with(|first: char| first.is_ascii_alphanumeric() || "@_".contains(first));
    (starts && super::project::is_plain(name)).then_some(name)
}

// Rows `plugin word`: a word of an option, a setting or a message about a fixture (docs.pytest.org, plugin list).
const PLUGINS: &str = include_str!("plugins.txt");

// Returns the plugin that an option, a setting or a fixture of a line needs.
fn pytest_plugin(line: &str) -> Option<&'static str> {
    let mut rows = PLUGINS.lines().filter_map(|row| row.split_once(' '));
    rows.find(|(_, cue)| line.contains(cue)).map(|(plugin, _)| plugin)
}

/// Returns how the plugin is installed that one of the lines with a mark needs: by the extra or group that has it, else
/// by its name.
pub(super) fn missing_plugin<'l>(
    project: &Project<'_>,
    mut lines: impl Iterator<Item = &'l str>,
    marks: [&str; 2],
    present: &BTreeMap<String, Distribution>,
    command: &str,
) -> Option<Remedy> {
    let plugin = lines.find_map(|line| {
        let is_marked = marks.iter().any(|mark| line.contains(mark));
        pytest_plugin(line).filter(|plugin| is_marked && !present.contains_key(*plugin))
    })?;
    let other = project.other_environment(&plugin.replace('-', "_"), command);
    if other.is_some() {
        return other;
    }
    let manager = project.find_manager(true);
    let requirements = python_requirements(project);
    let line = match manager.filter(|_| requirements.iter().any(|one| one.name == plugin)) {
        Some(manager) => install_command(project, manager, plugin),
        None => add_command(project, plugin, true),
    };
    let message = format!("pytest needs the plugin `{plugin}`, which is not installed");
    Some(Remedy::new(message, line))
}

#[cfg(test)]
mod tests {
    use super::package_name;

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
            assert_eq!(package_name(module, python), expected, "{module}");
        }
    }
}
