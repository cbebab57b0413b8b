//! Set-ups made by hand as the tools make them: none of the tools is needed.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{self, Repo};

/// A project with a test that wants a 2 where a 1 is.
pub(crate) struct SetUp {
    pub(crate) name: &'static str,
    pub(crate) programs: &'static [&'static str],
    pub(crate) build: fn(&Repo),
    pub(crate) test: &'static str,
    /// The file that is wrong; `1` in it must be `2`.
    pub(crate) file: &'static str,
    pub(crate) more: &'static [&'static str],
}

pub(crate) const SET_UPS: &[SetUp] = &[
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
                crate::support::skip("no setuptools with `develop`");
            }
        },
        test: ".venv/bin/python -m unittest discover -s tests",
        file: "src/pkg/__init__.py",
        more: &[],
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
            support::write_program(&script, &text);
        },
        test: ".venv/bin/check",
        file: "src/pkg/__init__.py",
        more: &[],
    },
    SetUp {
        name: "npm workspaces",
        programs: &["node"],
        build: npm_workspaces,
        test: "node packages/app/test.js",
        file: "packages/core/index.js",
        more: &[],
    },
    SetUp {
        name: "npm test -w",
        programs: &["node", "npm"],
        build: |repo| {
            npm_workspaces(repo);
            std::fs::remove_dir_all(repo.root().join("node_modules")).unwrap();
            let install = [
                "install", "--offline", "--no-audit", "--no-fund", "--silent",
            ];
            let mut npm = Command::new("npm");
            let done = npm.args(install).current_dir(repo.root()).status();
            assert!(done.unwrap().success());
        },
        test: "npm test -w app",
        file: "packages/core/index.js",
        more: &[],
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
    },
];

pub(crate) const TEST: &str = "\
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

pub(crate) fn python_project(repo: &Repo, package: &str) {
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

// The path file that replaces it is deleted when the tool has written its own.
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
