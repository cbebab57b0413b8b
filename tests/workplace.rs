//! Real set-ups of projects: what runs must be what was changed. In each a right patch ends fixed,
//! a wrong one does not, and the worktree is byte for byte as before; in an overlay and in a copy.

#![expect(clippy::print_stderr, reason = "a test says what it skips")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use support::Repo;

/// How a right patch ends in a copy.
#[derive(Clone, Copy, PartialEq)]
enum Copy {
    Fixed,
    /// What is installed elsewhere leads to the worktree, and that is said.
    LeadsOut,
}

struct SetUp {
    name: &'static str,
    programs: &'static [&'static str],
    build: fn(&Repo),
    test: &'static str,
    /// The file that is wrong; `1` in it must be `2`.
    file: &'static str,
    more: &'static [&'static str],
    copy: Copy,
}

const SET_UPS: &[SetUp] = &[
    SetUp {
        name: "setuptools, editable, src",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "src/pkg");
            environment(repo, ".venv", "__editable__.pkg-0.1.pth", "{root}/src\n");
        },
        test: ".venv/bin/python -m unittest discover -s tests",
        file: "src/pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "setuptools, editable, flat, by a finder",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "lib/pkg");
            environment(repo, ".venv", "__editable___pkg_0_1_finder.py", FINDER);
            let line = "import __editable___pkg_0_1_finder; __editable___pkg_0_1_finder.install()";
            packages(repo, ".venv", "__editable__.pkg-0.1.pth", line);
        },
        test: ".venv/bin/python -m unittest discover -s tests",
        file: "lib/pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "setuptools, editable, strict",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "src/pkg");
            let links = "build/__editable__.pkg-0.1-py3-none-any";
            let folder = repo.root().join(links).join("pkg");
            std::fs::create_dir_all(&folder).unwrap();
            let target = repo.root().join("src/pkg/__init__.py");
            std::os::unix::fs::symlink(target, folder.join("__init__.py")).unwrap();
            let text = format!("{{root}}/{links}\n");
            environment(repo, ".venv", "__editable__.pkg-0.1.pth", &text);
        },
        test: ".venv/bin/python -m unittest discover -s tests",
        file: "src/pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "setup.py develop, run by the environment's own setuptools",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "src/pkg");
            let setup = "from setuptools import setup\nsetup(name='pkg', version='0.1', \
                         packages=['pkg'], package_dir={'': 'src'})\n";
            repo.write("setup.py", setup);
            environment(repo, ".venv", "_pkg.pth", "{root}/src\n");
            if !develop(repo) {
                eprintln!("made by hand: there is no setuptools with `develop`");
            }
        },
        test: ".venv/bin/python -m unittest discover -s tests",
        file: "src/pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "hatchling, editable",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "src/pkg");
            environment(repo, "venv", "_pkg.pth", "{root}/src\n");
        },
        test: "venv/bin/python -m unittest discover -s tests",
        file: "src/pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "an environment outside the repository",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "src/pkg");
            environment(repo, "../venv", "__editable__.pkg-0.1.pth", "{root}/src\n");
        },
        test: "$VENV/bin/python -m unittest discover -s tests",
        file: "src/pkg/__init__.py",
        more: &[],
        copy: Copy::LeadsOut,
    },
    SetUp {
        name: "a console script of the environment",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "src/pkg");
            environment(repo, ".venv", "_pkg.pth", "{root}/src\n");
            let script = repo.root().join(".venv/bin/check");
            let root = repo.root();
            let text = format!(
                "#!{}/.venv/bin/python\nimport pkg\nassert pkg.f() == 2, pkg.f()\n",
                root.display()
            );
            write_program(&script, &text);
        },
        test: ".venv/bin/check",
        file: "src/pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "npm workspaces",
        programs: &["node"],
        build: npm_workspaces,
        test: "node packages/app/test.js",
        file: "packages/core/index.js",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "npm test -w",
        programs: &["node", "npm"],
        build: |repo| {
            npm_workspaces(repo);
            std::fs::remove_dir_all(repo.root().join("node_modules")).unwrap();
            let install = [
                "install",
                "--offline",
                "--no-audit",
                "--no-fund",
                "--silent",
            ];
            let mut npm = Command::new("npm");
            let done = npm.args(install).current_dir(repo.root()).status();
            assert!(done.unwrap().success());
        },
        test: "npm test -w app",
        file: "packages/core/index.js",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "the output of a set-up",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "pkg");
            repo.write(
                "tests/test_pkg.py",
                TEST.replace("import pkg", "import pkg, made"),
            );
            repo.commit();
        },
        test: "python3 -m unittest discover -s tests -t .",
        file: "pkg/__init__.py",
        more: &["--setup", "echo x = 1 > made.py"],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "a generated file that is ignored",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "pkg");
            repo.write("pkg/_version.py", "version = '1'\n");
            repo.write(
                "pkg/__init__.py",
                "from pkg._version import version\ndef f():\n    return 1\n",
            );
            repo.git(&["add", "pkg/__init__.py"]);
            repo.git(&["commit", "-q", "-m", "version"]);
        },
        test: "python3 -m unittest discover -s tests -t .",
        file: "pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "a submodule",
        programs: &["python3", "git"],
        build: |repo| {
            let other = repo.outside().join("other");
            std::fs::create_dir(&other).unwrap();
            std::fs::write(other.join("dep.py"), "two = 2\n").unwrap();
            for words in [
                &["init", "-q"][..],
                &["add", "."],
                &["commit", "-q", "-m", "dep"],
            ] {
                support::git(&other, words);
            }
            python_project(repo, "pkg");
            let other = other.to_str().unwrap();
            repo.git(&["submodule", "--quiet", "add", other, "dep"]);
            repo.write(
                "tests/test_pkg.py",
                TEST.replace("import pkg", "import pkg\nfrom dep import dep"),
            );
            repo.commit();
        },
        test: "python3 -m unittest discover -s tests -t .",
        file: "pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
    SetUp {
        name: "a test that writes beside its package",
        programs: &["python3"],
        build: |repo| {
            python_project(repo, "pkg");
            let writes = "import pkg\nopen('pkg/made.txt', 'w').write('x')\n\
                          open('.git/made', 'w').close() if False else None";
            repo.write("tests/test_pkg.py", TEST.replace("import pkg", writes));
            repo.commit();
        },
        test: "python3 -m unittest discover -s tests -t .",
        file: "pkg/__init__.py",
        more: &[],
        copy: Copy::Fixed,
    },
];

const TEST: &str = "\
import unittest
import pkg

class Test(unittest.TestCase):
    def test_f(self):
        self.assertEqual(pkg.f(), 2)
";

// As setuptools writes it, without what a package of one module does not need.
const FINDER: &str = "\
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

MAPPING = {'pkg': '{root}/lib/pkg'}

class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            return spec_from_file_location(fullname, Path(MAPPING[fullname], '__init__.py'))
        return None

def install():
    if not any(finder == _EditableFinder for finder in sys.meta_path):
        sys.meta_path.append(_EditableFinder)
";

fn python_project(repo: &Repo, package: &str) {
    let ignored = "__pycache__/\n.venv/\nvenv/\nbuild/\n_version.py\nmade.py\nmade.txt\n";
    repo.write(".gitignore", ignored);
    repo.write(
        "pyproject.toml",
        "[project]\nname = \"pkg\"\nversion = \"0.1\"\n",
    );
    repo.write(
        &format!("{package}/__init__.py"),
        "def f():\n    return 1\n",
    );
    repo.write("tests/__init__.py", "");
    repo.write("tests/test_pkg.py", TEST);
    repo.commit();
}

fn npm_workspaces(repo: &Repo) {
    repo.write(".gitignore", "node_modules/\n");
    repo.write(
        "package.json",
        "{\"private\": true, \"workspaces\": [\"packages/*\"]}\n",
    );
    for name in ["core", "app"] {
        let test = if name == "app" {
            ", \"scripts\": {\"test\": \"node test.js\"}"
        } else {
            ""
        };
        let scoped = if name == "core" { "@acme/core" } else { name };
        repo.write(
            &format!("packages/{name}/package.json"),
            format!("{{\"name\": \"{scoped}\", \"version\": \"1.0.0\"{test}}}\n"),
        );
    }
    repo.write("packages/core/index.js", "exports.f = () => 1;\n");
    repo.write(
        "packages/app/test.js",
        "require('assert').strictEqual(require('@acme/core').f(), 2);\n",
    );
    repo.commit();
    let modules = repo.root().join("node_modules");
    std::fs::create_dir_all(modules.join("@acme")).unwrap();
    let link = std::os::unix::fs::symlink::<&str, PathBuf>;
    link("../../packages/core", modules.join("@acme/core")).unwrap();
    link("../packages/app", modules.join("app")).unwrap();
}

fn environment(repo: &Repo, at: &str, file: &str, text: &str) {
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip", at])
        .current_dir(repo.root())
        .status();
    assert!(made.unwrap().success());
    packages(repo, at, file, text);
}

fn packages(repo: &Repo, at: &str, file: &str, text: &str) {
    let lib = repo.root().join(at).join("lib");
    let python = std::fs::read_dir(lib).unwrap().next().unwrap().unwrap();
    let text = text.replace("{root}", repo.root().to_str().unwrap());
    std::fs::write(python.path().join("site-packages").join(file), text).unwrap();
}

// The path file that stands for it goes when the tool has written its own.
fn develop(repo: &Repo) -> bool {
    let made = Command::new("python3")
        .args(["-m", "venv", ".venv"])
        .current_dir(repo.root())
        .output();
    let developed = Command::new(".venv/bin/python")
        .args(["setup.py", "--quiet", "develop"])
        .current_dir(repo.root())
        .output();
    let done =
        made.is_ok_and(|it| it.status.success()) && developed.is_ok_and(|it| it.status.success());
    if done {
        let lib = repo.root().join(".venv/lib");
        let python = std::fs::read_dir(lib).unwrap().next().unwrap().unwrap();
        std::fs::remove_file(python.path().join("site-packages/_pkg.pth")).unwrap();
    }
    done
}

fn write_program(at: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(at, text).unwrap();
    std::fs::set_permissions(at, std::fs::Permissions::from_mode(0o755)).unwrap();
}

struct Run {
    output: Output,
    result: Value,
}

struct Prepared {
    command: Command,
    folder: PathBuf,
}

fn repair(repo: &Repo, set_up: &SetUp, workplace: &str, answer: &str) -> Run {
    let mut prepared = repair_command(repo, set_up, workplace, answer);
    let output = prepared.command.output().unwrap();
    let result = std::fs::read(prepared.folder.join("result.json")).unwrap_or_default();
    Run {
        result: serde_json::from_slice(&result).unwrap_or_default(),
        output,
    }
}

fn repair_command(repo: &Repo, set_up: &SetUp, workplace: &str, answer: &str) -> Prepared {
    let folder = repo.outside().join(format!("run-{workplace}-{answer}"));
    let old = std::fs::read_to_string(repo.root().join(set_up.file)).unwrap();
    let line = old.lines().find(|line| line.contains('1')).unwrap();
    let new = line.replace('1', answer);
    let reply = serde_json::json!({
        "status": "patch",
        "edits": [{ "path": set_up.file, "old": line, "new": new }],
    });
    let said = repo.outside().join(format!("reply-{answer}.json"));
    std::fs::write(&said, reply.to_string()).unwrap();
    let agent = format!("cat > /dev/null; cat {}", said.display());
    let test = set_up
        .test
        .replace("$VENV", repo.outside().join("venv").to_str().unwrap());
    let mut words = vec![
        "repair",
        "--no-heal",
        "--max-attempts",
        "1",
        "--workplace",
        workplace,
    ];
    words.extend([
        "--test",
        &test,
        "--agent",
        &agent,
        "--out",
        folder.to_str().unwrap(),
    ]);
    words.extend(set_up.more);
    let mut command = support::command(&repo.root(), &words);
    command.env("XDG_CACHE_HOME", repo.outside().join("cache"));
    Prepared { command, folder }
}

// Every file and link of the worktree and its repository, but for the folder of runs.
fn everything(at: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![at.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap();
            if path.ends_with(".git/mendit") {
            } else if kind.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                found.insert(path, target.to_string_lossy().into_owned().into_bytes());
            } else if kind.is_dir() {
                open.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

fn missing(programs: &[&str]) -> bool {
    let missing = programs
        .iter()
        .find(|it| Command::new(it).arg("--version").output().is_err());
    if let Some(program) = missing {
        eprintln!("skipped: there is no {program}");
    }
    missing.is_some()
}

fn can_overlay() -> bool {
    let repo = Repo::with(&[("a", "")]);
    let mut command = support::command(
        &repo.root(),
        &["run", "--workplace", "overlay", "--", "true"],
    );
    command.env("XDG_CACHE_HOME", repo.outside().join("cache"));
    let output = command.output().unwrap();
    let there = output.status.success();
    if !there {
        eprintln!(
            "no overlay here: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    there
}

#[test]
fn in_each_set_up_what_runs_is_what_was_changed() {
    let overlay = can_overlay();
    let mut wrong = Vec::new();
    for set_up in SET_UPS {
        if missing(set_up.programs) {
            continue;
        }
        let repo = Repo::with(&[]);
        (set_up.build)(&repo);
        let before = everything(&repo.root());
        for workplace in ["overlay", "copy"] {
            if workplace == "overlay" && !overlay {
                continue;
            }
            for (answer, right) in [("3", false), ("2", true)] {
                let run = repair(&repo, set_up, workplace, answer);
                let leads_out = workplace == "copy" && set_up.copy == Copy::LeadsOut;
                let expected = match (right, leads_out) {
                    (true, false) => 0,
                    (_, true) => 4,
                    _ => 1,
                };
                let said = String::from_utf8_lossy(&run.output.stderr).into_owned();
                if run.output.status.code() != Some(expected) {
                    wrong.push(format!(
                        "{}, {workplace}, {answer}: {:?}\n{said}{}",
                        set_up.name,
                        run.output.status.code(),
                        String::from_utf8_lossy(&run.output.stdout)
                    ));
                } else if leads_out && run.result["stopReason"] != "workplace_unused" {
                    wrong.push(format!("{}: {}", set_up.name, run.result["stopReason"]));
                } else if run.result["workplace"]["kind"] != workplace {
                    wrong.push(format!("{}: {}", set_up.name, run.result["workplace"]));
                }
            }
        }
        let after = everything(&repo.root());
        let changed = before
            .iter()
            .find(|(path, bytes)| after.get(*path) != Some(bytes));
        let made = after.keys().find(|path| !before.contains_key(*path));
        if changed.is_some() || made.is_some() {
            let at = changed.map(|it| it.0).or(made);
            wrong.push(format!("{}: the worktree changed: {at:?}", set_up.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// Without namespaces there is a copy, and it is no second class.
#[test]
fn where_namespaces_are_refused_a_copy_is_taken_and_said() {
    let none =
        "echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_mnt_namespaces";
    let tried = Command::new("unshare")
        .args(["-U", "-r", "sh", "-c", none])
        .output();
    if !tried.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped: namespaces cannot be refused here");
        return;
    }
    for (set_up, answer, exit) in SET_UPS
        .iter()
        .take(2)
        .flat_map(|it| [(it, "3", 1), (it, "2", 0)])
    {
        if missing(set_up.programs) {
            continue;
        }
        let repo = Repo::with(&[]);
        (set_up.build)(&repo);
        let before = everything(&repo.root());
        let mut inner = repair_command(&repo, set_up, "auto", answer);
        let folder = inner.folder.clone();
        let mut command = Command::new("unshare");
        let line = format!("{none}; exec \"$@\"");
        command.args(["-U", "-r", "sh", "-c", &line, "sh"]);
        command
            .arg(inner.command.get_program())
            .args(inner.command.get_args());
        command.current_dir(repo.root()).envs(
            inner
                .command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        inner.command = command;
        let output = inner.command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit), "{said}");
        let result = std::fs::read(folder.join("result.json")).unwrap();
        let result: Value = serde_json::from_slice(&result).unwrap();
        assert_eq!(result["workplace"]["kind"], "copy", "{said}");
        assert!(
            said.contains("no overlay: no namespaces of its own"),
            "{said}"
        );
        assert_eq!(everything(&repo.root()), before, "{}", set_up.name);
    }
}

#[test]
fn a_set_up_that_fails_ends_the_run_with_its_output() {
    let repo = Repo::with(&[("a.sh", "exit 1\n")]);
    let words = [
        "repair",
        "--test",
        "sh a.sh",
        "--setup",
        "echo no such package; exit 7",
    ];
    let output = repo.mendit(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("L105") && said.contains("no such package"),
        "{said}"
    );
    let output = repo.mendit(&["repair", "--test", "sh a.sh", "--share", "gone"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no `gone`"));
}
