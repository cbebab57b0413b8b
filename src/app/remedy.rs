use std::path::Path;

use super::drift::{drift_in_log, interpreter, unfetched};
use super::install::{INSTALLS, PIP, is_python_tool, with_extra, writes_lock};
use super::line_words::{names, port};
use super::lint_fix::{lint_fix, lint_fix_of_script};
use super::members::{member_remedy, never_from_a_registry};
use crate::context::nearest_paths;
use crate::diagnose::is_argument;
use crate::hint::distance;
use crate::model::{Diagnosis, FailureKind, Remedy, RepoPath, Subkind};
use crate::source::{EntryKind, Source};
use crate::workspace::Workspace;

/// What mends a failure by hand, as lines for a person to type: none of them is run. With each the module that
/// it brings, where it is about one. `again` gives the line that hands a variable on.
pub(super) fn by_hand(
    workspace: &Workspace,
    (diagnosis, log): (&Diagnosis, &str),
    command: &str,
    again: &dyn Fn(&str) -> String,
) -> Vec<(String, Remedy)> {
    let source = workspace.source.as_ref();
    let mut found = drifted(log, workspace);
    if found.is_empty() {
        found = remedies(diagnosis, command, again, source, &workspace.prefix);
    }
    found
}

/// What lies outside the code and may have made a command fail, each with what to type.
pub(super) fn around(
    workspace: &Workspace,
    (diagnosis, log): (&Diagnosis, &str),
    command: &str,
) -> Vec<Remedy> {
    let mut found = drifted(log, workspace);
    if found.is_empty() {
        let again = with_variable(command);
        let source = workspace.source.as_ref();
        found = remedies(diagnosis, command, &again, source, &workspace.prefix);
    }
    found.into_iter().map(|(_, it)| it).collect()
}

// Submodules that are empty, packages and interpreters in other versions than the repository asks for.
fn drifted(log: &str, workspace: &Workspace) -> Vec<(String, Remedy)> {
    let (source, prefix) = (workspace.source.as_ref(), workspace.prefix.as_str());
    let root = workspace.root.as_deref();
    let package = root.and_then(|root| drift_in_log(log, source, root, prefix));
    let interpreter = interpreter(log, source, prefix);
    let submodule = root.and_then(|root| unfetched(Some(log), source, root));
    let found = submodule.into_iter().chain(package).chain(interpreter);
    found.map(|it| (String::new(), it)).collect()
}

/// The line that runs a command again with a variable.
pub(super) fn with_variable(command: &str) -> impl Fn(&str) -> String {
    move |name| format!("mendit run --env {name} {command}")
}

fn remedies(
    diagnosis: &Diagnosis,
    command: &str,
    again: &dyn Fn(&str) -> String,
    source: &dyn Source,
    prefix: &str,
) -> Vec<(String, Remedy)> {
    let texts: Vec<&str> = diagnosis.evidence.iter().map(|it| it.text.trim()).collect();
    let project = Project { source, prefix };
    if let Some(path) = in_submodule(diagnosis, source) {
        let message = format!("the files of the log lie in the submodule {path}: run it there");
        let line = format!("mendit -C {path} run CMD");
        return vec![(String::new(), Remedy::new(message, Some(line)))];
    }
    if diagnosis.kind == FailureKind::ImportError {
        return project.of_modules(diagnosis, command);
    }
    let first = match diagnosis.kind {
        FailureKind::SyntaxError if diagnosis.requires_user_action => {
            let message = diagnosis.explanation.trim_end_matches('.');
            Some(Remedy::new(
                format!("{message}: resolve the conflict first"),
                None,
            ))
        }
        FailureKind::FileNotFound if diagnosis.requires_user_action => {
            let mut files = diagnosis.files.iter();
            let named = files.find(|it| !it.in_repository && is_argument(command, &it.path));
            named.map(|it| Remedy::new(project.no_such_path(&it.path), None))
        }
        FailureKind::CommandNotFound | FailureKind::DependencyError => {
            project.of_packages(diagnosis, command, &texts)
        }
        FailureKind::MissingEnvVar => {
            let names = names(&texts).into_iter();
            let rows = names.map(|name| match std::env::var_os(&name) {
                Some(_) => Remedy::new(
                    format!("`{name}` is set here and was not handed on"),
                    Some(again(&name)),
                ),
                None => project.set_in_an_example(&name, again),
            });
            return rows.map(|it| (String::new(), it)).collect();
        }
        FailureKind::PortInUse => texts.iter().find_map(|text| port(text)).map(|port| {
            let message = format!("something else listens on port {port}");
            Remedy::new(message, Some(format!("lsof -i :{port}")))
        }),
        FailureKind::LintError => lint_fix(command, &texts)
            .or_else(|| lint_fix_of_script(command, source, prefix, &texts))
            .map(|line| Remedy::new("the tool mends some of it itself", Some(line))),
        FailureKind::ConnectionRefused if project.compose().is_some() => {
            let text = "a service that the tests call is not running";
            Some(Remedy::new(text, Some("docker compose up -d".to_owned())))
        }
        _ => project.migration(command, &texts),
    };
    first.map(|it| (String::new(), it)).into_iter().collect()
}

fn is_python(diagnosis: &Diagnosis, command: &str) -> bool {
    let file = diagnosis.files.iter().find(|it| it.in_repository);
    let mut evidence = diagnosis.evidence.iter();
    let named = evidence.any(|it| it.text.contains("No module named")) || is_python_tool(command);
    file.map_or(
        named || diagnosis.tool.as_deref() == Some("pytest"),
        |file| {
            let ending = Path::new(&file.path).extension();
            ending.is_some_and(|ending| ending == "py")
        },
    )
}

/// The submodule that holds what a log names, when no file of the repository itself is named.
pub(super) fn in_submodule<'s>(diagnosis: &Diagnosis, source: &'s dyn Source) -> Option<&'s str> {
    if diagnosis.files.iter().any(|it| it.in_repository) {
        return None;
    }
    let entries = source.listing().entries().iter();
    let modules = entries.filter(|it| matches!(it.kind, EntryKind::Submodule { .. }));
    let mut modules = modules.map(|it| it.path.as_str());
    modules.find(|module| {
        let below = format!("{module}/");
        let inner = format!("/{below}");
        let named = |path: &str| path.starts_with(&below) || path.contains(&inner);
        diagnosis.files.iter().any(|it| named(&it.path))
    })
}

/// The program that a shell did not find, by what it says.
pub(super) fn missing_program(text: &str) -> Option<&str> {
    let ends = [": command not found", ": not found"];
    let head = ends.iter().find_map(|end| text.trim().strip_suffix(end))?;
    head.rsplit(": ").next()
}

// The manifests between where one stands and the root.
struct Project<'a> {
    source: &'a dyn Source,
    prefix: &'a str,
}

impl Project<'_> {
    // What brings each module that is missing.
    fn of_modules(&self, diagnosis: &Diagnosis, command: &str) -> Vec<(String, Remedy)> {
        let python = is_python(diagnosis, command);
        let mut own = diagnosis.files.iter().filter(|it| it.in_repository);
        let at = own.next().map(|it| it.path.as_str());
        let of = |module: &String| {
            if diagnosis.subkind != Some(Subkind::MissingPackage) {
                return self.beside_pytest(module, command).filter(|_| python);
            }
            let member = package(module, python);
            let member = member.and_then(|it| member_remedy(self.source, it, python, at));
            member.or_else(|| self.missing(module, python))
        };
        let modules = diagnosis.missing_modules.iter();
        modules
            .filter_map(|it| Some((it.clone(), of(it)?)))
            .collect()
    }

    // Of what is installed, or should be.
    fn of_packages(&self, diagnosis: &Diagnosis, command: &str, texts: &[&str]) -> Option<Remedy> {
        if diagnosis.kind == FailureKind::CommandNotFound {
            if let Some(message) = texts.iter().find_map(|it| self.misspelled(it)) {
                return Some(Remedy::new(message, None));
            }
        } else {
            let message = match diagnosis.subkind {
                Some(Subkind::Engine | Subkind::VersionMismatch) => {
                    "the installed version of the language or the tool does not fit"
                }
                Some(Subkind::PackageNotFound | Subkind::NoVersion) => {
                    "the registry has nothing of that name and version: correct the manifest"
                }
                Some(Subkind::LockfileMismatch) => {
                    let message = "the lock does not hold what the manifest asks for";
                    let mut lines = std::iter::once(&command).chain(texts);
                    let line = lines.find_map(|it| writes_lock(it))?;
                    return Some(Remedy::new(message, Some(line.to_owned())));
                }
                _ => "",
            };
            if !message.is_empty() {
                return Some(Remedy::new(message, None));
            }
        }
        let found = self.install(is_python_tool(command));
        let (line, lacks) = found.filter(|(line, _)| !command.contains(line))?;
        Some(Remedy::new(lacks, Some(line.to_owned())))
    }

    // A column or a table that the models have and the database has not: Django itself writes what is missing.
    fn migration(&self, command: &str, texts: &[&str]) -> Option<Remedy> {
        let marks = ["no column named ", "no such column: ", "no such table: "];
        let tail = texts.iter().find_map(|text| {
            let rest = marks.iter().find_map(|it| Some(text.split_once(it)?.1))?;
            rest.rsplit('.').next()
        })?;
        let word = tail
            .split(|it: char| !it.is_alphanumeric() && it != '_')
            .next()?;
        let is_model = |it: &RepoPath| it.stem() == "models" || it.directory().ends_with("models");
        let files = self.source.listing().files().map(|it| &it.path);
        let mut models = files.filter(|it| is_model(it));
        let has = |path: &RepoPath| {
            let text = self.source.read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            text.lines()
                .any(|it| it.trim_start().starts_with(&format!("{word} = ")))
        };
        self.has("manage.py")?;
        models.any(has).then(|| {
            let message = format!("`{word}` stands in the models and not in a migration");
            let head = command.split_once("manage.py").map(|(head, _)| head);
            let python = head
                .filter(|it| !it.contains(['&', ';', '|']))
                .unwrap_or("python ");
            Remedy::new(message, Some(format!("{python}manage.py makemigrations")))
        })
    }

    // The nearest file of that name, read.
    fn has(&self, name: &str) -> Option<String> {
        let mut folder = self.prefix;
        loop {
            let path = match folder {
                "" => name.to_owned(),
                folder => format!("{folder}/{name}"),
            };
            if self.source.listing().has_file(&path) {
                let bytes = self.source.read(&RepoPath::new(&path).ok()?).ok()?;
                return Some(String::from_utf8_lossy(&bytes).into_owned());
            }
            if folder.is_empty() {
                return None;
            }
            folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }

    // A variable that nobody set, with the value that an example of settings has.
    fn set_in_an_example(&self, name: &str, again: &dyn Fn(&str) -> String) -> Remedy {
        let value = |file: &str| {
            let text = self.has(file)?;
            let mut lines = text
                .lines()
                .map(|it| it.trim_start_matches("export ").trim());
            let value = lines.find_map(|it| it.strip_prefix(name)?.strip_prefix('='))?;
            let plain = |it: char| it.is_ascii_alphanumeric() || "-_.:/@,+".contains(it);
            let is_plain = !value.is_empty() && value.chars().all(plain);
            is_plain.then(|| (file.to_owned(), format!("{name}={value}")))
        };
        match EXAMPLES.iter().find_map(|file| value(file)) {
            Some((file, pair)) => Remedy::new(
                format!("`{name}` is not set; {file} has a value for it"),
                Some(again(&pair)),
            ),
            None => Remedy::new(format!("`{name}` is not set"), None),
        }
    }

    fn compose(&self) -> Option<String> {
        COMPOSE.iter().find_map(|name| self.has(name))
    }

    // The command that installs what the manifests ask for, and what it stands for.
    fn install(&self, python: bool) -> Option<(&'static str, &'static str)> {
        INSTALLS
            .iter()
            .find(|row| row.python == python && self.has(&row.file).is_some())
            .map(|row| {
                (
                    row.all.as_str(),
                    "what the manifest asks for may not be installed",
                )
            })
    }

    // A path of the command line, and what stands where it leads or is called almost like it.
    fn no_such_path(&self, path: &str) -> String {
        let listing = self.source.listing();
        let message = format!("the command names {path}, which is not there");
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        if listing.has_directory(stem) {
            return format!("{message}; {stem}/ is");
        }
        let near = nearest_paths(listing, path, 1);
        near.first()
            .map_or(message.clone(), |near| format!("{message}; near: {near}"))
    }

    // A program that a shell does not find, one slip from a word of package.json.
    fn misspelled(&self, text: &str) -> Option<String> {
        let name = missing_program(text)?;
        let manifest = self.has("package.json")?;
        let near = nearest(&manifest, name)?;
        Some(format!(
            "`{name}` is no program here; package.json names `{near}`"
        ))
    }

    // `pytest` looks beside the tests; `python -m pytest` looks where it is started, too.
    fn beside_pytest(&self, module: &str, command: &str) -> Option<Remedy> {
        let bare = format!(" {command} ");
        let alone = bare.contains(" pytest ") && !bare.contains(" -m pytest ");
        let top = module.split('.').next().filter(|_| alone)?;
        let here = Path::new(self.prefix).join(top);
        let file = [here.with_extension("py"), here.join("__init__.py")];
        let mut file = file.iter().filter_map(|it| it.to_str());
        let file = file.find(|it| self.source.listing().has_file(it))?;
        Some(Remedy::new(
            format!("`{top}` is {file}, and `pytest` alone does not look there"),
            Some(command.replacen("pytest", "python3 -m pytest", 1)),
        ))
    }

    // A package that is not there: declared, it is installed; else it is added, unless the manifest
    // names one that is called almost like it: a slip of the finger is how strange packages get in.
    fn missing(&self, module: &str, python: bool) -> Option<Remedy> {
        let package = package(module, python)?;
        let named = |package| {
            self.has("package.json")
                .is_some_and(|it| is_named(&it, package))
        };
        let may_be_ours = !python && (package.starts_with('@') || !named(package));
        if may_be_ours && let Some(message) = never_from_a_registry(self.source, package) {
            return Some(Remedy::new(message, None));
        }
        let row = INSTALLS
            .iter()
            .find(|row| row.python == python && self.has(&row.file).is_some());
        let manifests: &[&str] = if python {
            &[
                "pyproject.toml",
                "requirements.txt",
                "setup.cfg",
                "setup.py",
            ]
        } else {
            &["package.json"]
        };
        let texts: Vec<String> = manifests.iter().filter_map(|name| self.has(name)).collect();
        let declared = texts.iter().any(|text| is_named(text, package));
        let near = texts.iter().find_map(|text| nearest(text, package));
        let (all, one) = row.map_or(
            if python {
                (PIP, PIP)
            } else {
                ("npm install", "npm install")
            },
            |row| (row.all.as_str(), row.one.as_str()),
        );
        Some(if declared && row.is_some() {
            Remedy::new(
                format!("`{package}` is declared and not installed"),
                Some(with_extra(all, self.has("pyproject.toml"), package)),
            )
        } else if let Some(near) = near.filter(|_| !declared) {
            Remedy::new(
                format!("`{package}` is not installed; the manifest names `{near}`"),
                None,
            )
        } else {
            Remedy::new(
                format!("`{package}` is not installed, and no manifest names it"),
                Some(format!("{one} {package}")),
            )
        })
    }
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_ascii_alphanumeric() && !"-_.@/".contains(it))
}

fn is_named(text: &str, package: &str) -> bool {
    words(text).any(|word| word.eq_ignore_ascii_case(package))
}

// The word of a manifest that is a slip or two away.
fn nearest<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let near = words(text).filter_map(|it| Some((distance(name, it)?, it)));
    near.min().map(|(_, near)| near)
}

// The package of a module; `None` for a path, and for what no shell should be given.
fn package(module: &str, python: bool) -> Option<&str> {
    let name = if python {
        module.split('.').next()?
    } else if module.starts_with('@') {
        let end = module
            .match_indices('/')
            .nth(1)
            .map_or(module.len(), |it| it.0);
        module.get(..end)?
    } else {
        module.split('/').next()?
    };
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_.@/".contains(it);
    let starts = name.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '@' || it == '_');
    (starts && name.chars().all(plain)).then_some(name)
}

const EXAMPLES: &[&str] = &[".env.test", ".env.example", ".env.sample", ".env.template"];

const COMPOSE: &[&str] = &[
    "compose.yaml",
    "compose.yml",
    "docker-compose.yml",
    "docker-compose.yaml",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::source::Memory;

    fn project(files: &[(&str, &str)]) -> Memory {
        Memory::named(files.iter().copied())
    }

    fn advice(log: &str, command: &str, source: &dyn Source) -> Vec<(String, Option<String>)> {
        let facts = LogFacts {
            exit_code: Some(1),
            command: Some(command.to_owned()),
            ..LogFacts::default()
        };
        let diagnosis = diagnose(log, &facts, Some(source.listing()));
        let found = remedies(&diagnosis, command, &|_| String::new(), source, "");
        found
            .into_iter()
            .map(|(_, it)| (it.problem, it.command))
            .collect()
    }

    #[test]
    fn a_failed_installation_is_not_sent_again() {
        let source = project(&[("package-lock.json", ""), ("package.json", "{}")]);
        let apart = "npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.\n";
        let message = advice(apart, "npm ci", &source);
        assert_eq!(message[0].1.as_deref(), Some("npm install"));
        let none = "npm error code ETARGET\nnpm error notarget No matching version found for left-pad@99.0.0.\n";
        assert_eq!(advice(none, "npm install", &source)[0].1, None);
        let stale = " ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\"\n";
        let message = advice(stale, "make deps", &source);
        let renewed = Some("pnpm install --no-frozen-lockfile");
        assert_eq!(message[0].1.as_deref(), renewed);
    }

    #[test]
    fn a_name_one_slip_from_a_declared_one_is_never_installed() {
        let source = project(&[
            ("uv.lock", ""),
            ("pyproject.toml", "dependencies = [\"markupsafe>=2.1\"]\n"),
            ("package.json", r#"{"devDependencies": {"vitest": "1"}}"#),
        ]);
        let missing = |name: &str| {
            let log = format!("E   ModuleNotFoundError: No module named '{name}'\n");
            advice(&log, "pytest", &source)
        };
        let message = "`markupsafee` is not installed; the manifest names `markupsafe`".to_owned();
        assert_eq!(missing("markupsafee"), [(message, None)]);
        assert_eq!(missing("markupsafe")[0].1.as_deref(), Some("uv sync"));
        assert_eq!(missing("redis")[0].1.as_deref(), Some("uv add redis"));
        let message = "`vitst` is no program here; package.json names `vitest`".to_owned();
        assert_eq!(
            advice("sh: 1: vitst: not found\n", "npm test", &source),
            [(message, None)]
        );
    }

    #[test]
    fn an_extra_is_installed_by_its_name() {
        let log = "E   ModuleNotFoundError: No module named 'hypothesis'\n";
        for (manifest, expected) in [
            (
                "[project]\ndependencies = ['hypothesis>=6']\n",
                "python3 -m pip install -e .",
            ),
            (
                "[project]\ndependencies = ['attrs']\n[project.optional-dependencies]\ntest = ['hypothesis>=6']\n",
                "python3 -m pip install -e '.[test]'",
            ),
            (
                "[dependency-groups]\ndev = ['hypothesis']\n",
                "python3 -m pip install --group dev",
            ),
        ] {
            let source = project(&[("pyproject.toml", manifest)]);
            let found = advice(log, "pytest", &source);
            assert_eq!(found[0].1.as_deref(), Some(expected), "{found:?}");
        }
    }

    #[test]
    fn a_package_of_the_workspace_is_never_installed() {
        let source = project(&[
            (
                "package.json",
                r#"{"name": "ws", "workspaces": ["packages/*"]}"#,
            ),
            ("package-lock.json", "{}"),
            (
                "packages/app/package.json",
                r#"{"name": "@ws/app", "dependencies": {"@ws/cor": "^1"}}"#,
            ),
            (
                "packages/app/src/index.ts",
                "import { add } from '@ws/cor'\n",
            ),
            ("packages/core/package.json", r#"{"name": "@ws/core"}"#),
        ]);
        for (module, expected) in [
            (
                "@ws/cor",
                "`@ws/cor` is no package here; the workspace has `@ws/core`",
            ),
            (
                "@ws/money",
                "`@ws/money` is no package here; of @ws the workspace has @ws/app, @ws/core",
            ),
        ] {
            let log = format!(
                "packages/app/src/index.ts:1:21 - error TS2307: Cannot find module '{module}' or its \
                 corresponding type declarations.\n"
            );
            let found = advice(&log, "npm test", &source);
            assert_eq!(found, [(expected.to_owned(), None)]);
        }
        let log = "Error: Cannot find module '@other/kit'\n";
        let found = advice(log, "npm test", &source);
        assert_eq!(found[0].1.as_deref(), Some("npm install @other/kit"));
    }

    #[test]
    fn a_package_of_python_is_not_installed_with_npm() {
        let log = "/usr/bin/python3: No module named pytest\n";
        let found = advice(log, "python3 -m pytest", &project(&[]));
        let line = Some("python3 -m pip install pytest");
        assert_eq!(found[0].1.as_deref(), line, "{found:?}");
    }

    #[test]
    fn a_path_that_the_command_names_is_said_with_what_is_near() {
        let source = project(&[
            ("tests/test_utils/test_a.py", ""),
            ("tests/test_core.py", ""),
        ]);
        for (path, near) in [
            ("tests/test_utils.py", "tests/test_utils/ is"),
            ("tests/test_coer.py", "near: tests/test_core.py"),
        ] {
            let log = format!("ERROR: file or directory not found: {path}\n");
            let found = advice(&log, &format!("pytest -q {path}"), &source);
            assert!(found.len() == 1 && found[0].0.ends_with(near), "{found:?}");
            assert!(advice(&log, "pytest -q", &source).is_empty());
        }
    }

    #[test]
    fn packages_of_modules() {
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
