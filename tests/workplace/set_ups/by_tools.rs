//! Set-ups that the real tools make. `scripts/test_tools.sh FOLDER` brings the tools, and
//! `TEST_TOOLS=FOLDER` names them.

use super::by_hand::{SetUp, TEST, python_project};
use super::repaired::problems;
use super::tools::{KIT, run};
use crate::support::Repo;

macro_rules! set_ups {
    ($($test:ident: $set_up:expr;)*) => {$(
        #[test]
        fn $test() {
            let wrong = problems(&$set_up);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    )*};
}

const PYTHON: SetUp = SetUp {
    name: "",
    programs: &["python3", KIT],
    build: |_| {},
    test: ".venv/bin/pytest -q",
    file: "src/pkg/__init__.py",
    more: &[],
};

const NODE: SetUp = SetUp {
    name: "",
    programs: &["node", "npm", KIT],
    build: |_| {},
    test: "npm test",
    file: "packages/core/index.js",
    more: &[],
};

set_ups! {
    setuptools_src: SetUp {
        name: "pip install -e, setuptools, src",
        build: |repo| installed(repo, "src/pkg", SETUPTOOLS, ""),
        ..PYTHON
    };
    setuptools_flat: SetUp {
        name: "pip install -e, setuptools, flat",
        build: |repo| installed(repo, "pkg", SETUPTOOLS_FLAT, ""),
        // Beside its own folder, so that the installed one is what is found.
        test: "cd tests && ../.venv/bin/python -m pytest -q --import-mode=importlib .",
        file: "pkg/__init__.py",
        ..PYTHON
    };
    setuptools_strict: SetUp {
        name: "pip install -e, setuptools, strict",
        build: |repo| {
            installed(repo, "src/pkg", SETUPTOOLS, "--config-settings editable_mode=strict");
        },
        ..PYTHON
    };
    hatchling: SetUp {
        name: "pip install -e, hatchling",
        build: |repo| installed(repo, "src/pkg", HATCHLING, ""),
        ..PYTHON
    };
    environment_outside: SetUp {
        name: "pip install -e into an environment outside",
        build: |repo| {
            project(repo, "src/pkg", SETUPTOOLS);
            run(repo, "python3 -m venv ../venv && ../venv/bin/pip install -q -e . pytest");
        },
        test: "../venv/bin/pytest -q",
        ..PYTHON
    };
    poetry: SetUp {
        name: "poetry",
        programs: &["python3", "poetry", KIT],
        build: |repo| {
            project(repo, "src/pkg", POETRY);
            run(repo, "poetry install -q --no-interaction");
        },
        test: "poetry run python -m unittest discover -s tests",
        ..PYTHON
    };
    poetry_in_project: SetUp {
        name: "poetry, .venv in the project",
        programs: &["python3", "poetry", KIT],
        build: |repo| {
            project(repo, "src/pkg", POETRY);
            repo.write("poetry.toml", "[virtualenvs]\nin-project = true\n");
            repo.commit_tracked();
            run(repo, "poetry install -q --no-interaction");
        },
        test: "poetry run python -m unittest discover -s tests",
        ..PYTHON
    };
    uv: SetUp {
        name: "uv",
        programs: &["python3", "uv"],
        build: |repo| {
            project(repo, "src/pkg", UV);
            run(repo, "uv sync -q --offline");
        },
        test: "uv run --offline python -m unittest discover -s tests",
        ..PYTHON
    };
    tox: SetUp {
        name: "tox",
        programs: &["python3", "tox", KIT],
        build: |repo| {
            repo.write("tox.ini", TOX);
            project(repo, "src/pkg", SETUPTOOLS);
            run(repo, "tox -q -e py --notest");
        },
        test: "tox -q -e py",
        ..PYTHON
    };
    nox: SetUp {
        name: "nox",
        programs: &["python3", "nox", KIT],
        build: |repo| {
            repo.write("noxfile.py", NOX);
            project(repo, "src/pkg", SETUPTOOLS);
            run(repo, "nox -s tests --install-only");
        },
        test: "nox -R -s tests",
        ..PYTHON
    };
    django: SetUp {
        name: "manage.py test",
        build: |repo| {
            repo.write("app/__init__.py", "def f():\n    return 1\n");
            repo.write("app/tests.py", DJANGO_TEST);
            repo.write("manage.py", MANAGE);
            repo.write("requirements.txt", "django\n");
            repo.write(".gitignore", ".venv/\n__pycache__/\n");
            repo.commit();
            run(repo, "python3 -m venv .venv && .venv/bin/pip install -q django");
        },
        test: ".venv/bin/python manage.py test",
        file: "app/__init__.py",
        ..PYTHON
    };
    npm: SetUp {
        name: "npm workspaces",
        build: |repo| {
            workspaces(repo, "\"*\"", "npm test -w app");
            run(repo, "npm install -q --no-audit --no-fund");
        },
        ..NODE
    };
    pnpm: SetUp {
        name: "pnpm workspaces",
        programs: &["node", "pnpm"],
        build: |repo| {
            repo.write("pnpm-workspace.yaml", "packages:\n  - packages/*\n");
            workspaces(repo, "\"workspace:*\"", "pnpm --filter app test");
            run(repo, "pnpm install --offline");
        },
        test: "pnpm test",
        ..NODE
    };
    yarn: SetUp {
        name: "yarn workspaces",
        programs: &["node", "yarn"],
        build: |repo| {
            workspaces(repo, "\"1.0.0\"", "yarn workspace app test");
            run(repo, "yarn install --offline --silent");
        },
        test: "yarn test",
        ..NODE
    };
    vitest: SetUp {
        name: "vitest",
        build: |repo| runner(repo, "vitest@3", "vitest run", "src/f.ts", VITEST_TEST),
        file: "src/f.ts",
        ..NODE
    };
    jest: SetUp {
        name: "jest",
        build: |repo| runner(repo, "jest@29", "jest", "src/f.js", JEST_TEST),
        file: "src/f.js",
        ..NODE
    };
}

fn project(repo: &Repo, package: &str, manifest: &str) {
    python_project(repo, package);
    repo.write("pyproject.toml", manifest);
    let ignored = ".venv/\n.tox/\n.nox/\nbuild/\n*.egg-info/\n__pycache__/\n.pytest_cache/\n";
    repo.write(".gitignore", ignored);
    repo.write("tests/test_pkg.py", TEST);
    repo.commit();
}

fn installed(repo: &Repo, package: &str, manifest: &str, more: &str) {
    project(repo, package, manifest);
    let line = format!("python3 -m venv .venv && .venv/bin/pip install -q {more} -e . pytest");
    run(repo, &line);
}

fn workspaces(repo: &Repo, version: &str, test: &str) {
    repo.write(".gitignore", "node_modules/\n");
    let root = format!(
        "{{\"name\": \"root\", \"private\": true, \"workspaces\": [\"packages/*\"], \
         \"scripts\": {{\"test\": \"{test}\"}}}}\n"
    );
    repo.write("package.json", root);
    let core = "{\"name\": \"@acme/core\", \"version\": \"1.0.0\", \"main\": \"index.js\"}\n";
    repo.write("packages/core/package.json", core);
    let app = format!(
        "{{\"name\": \"app\", \"version\": \"1.0.0\", \"scripts\": {{\"test\": \"node test.js\"}}, \
         \"dependencies\": {{\"@acme/core\": {version}}}}}\n"
    );
    repo.write("packages/app/package.json", app);
    repo.write("packages/core/index.js", "exports.f = () => 1;\n");
    let test = "require('assert').strictEqual(require('@acme/core').f(), 2);\n";
    repo.write("packages/app/test.js", test);
    repo.commit();
}

fn runner(repo: &Repo, package: &str, script: &str, file: &str, test: &str) {
    repo.write(".gitignore", "node_modules/\n");
    let manifest = format!(
        "{{\"name\": \"x\", \"private\": true, \"scripts\": {{\"test\": \"{script}\"}}}}\n"
    );
    repo.write("package.json", manifest);
    let exported = if script == "jest" {
        "exports.f = () => 1;\n"
    } else {
        "export const f = (): number => 1;\n"
    };
    repo.write(file, exported);
    let test_file = file.replace("/f.", "/f.test.");
    repo.write(&test_file, test);
    repo.commit();
    run(
        repo,
        &format!("npm install -q --no-audit --no-fund -D {package}"),
    );
    repo.commit_tracked();
}

const SETUPTOOLS: &str = "\
[build-system]
requires = [\"setuptools\"]
build-backend = \"setuptools.build_meta\"
[project]
name = \"pkg\"
version = \"0.1\"
[tool.setuptools.packages.find]
where = [\"src\"]
";

const SETUPTOOLS_FLAT: &str = "\
[build-system]
requires = [\"setuptools\"]
build-backend = \"setuptools.build_meta\"
[project]
name = \"pkg\"
version = \"0.1\"
[tool.setuptools]
packages = [\"pkg\"]
";

const HATCHLING: &str = "\
[build-system]
requires = [\"hatchling\"]
build-backend = \"hatchling.build\"
[project]
name = \"pkg\"
version = \"0.1\"
[tool.hatch.build.targets.wheel]
packages = [\"src/pkg\"]
";

const POETRY: &str = "\
[build-system]
requires = [\"poetry-core\"]
build-backend = \"poetry.core.masonry.api\"
[project]
name = \"pkg\"
version = \"0.1\"
requires-python = \">=3.9\"
[tool.poetry]
packages = [{ include = \"pkg\", from = \"src\" }]
";

const UV: &str = "\
[build-system]
requires = [\"uv_build>=0.7,<2\"]
build-backend = \"uv_build\"
[project]
name = \"pkg\"
version = \"0.1\"
requires-python = \">=3.9\"
";

const TOX: &str = "\
[tox]
env_list = py
[testenv]
package = editable
commands = python -m unittest discover -s tests
";

const NOX: &str = "\
import nox

@nox.session
def tests(session):
    session.install(\"-e\", \".\")
    session.run(\"python\", \"-m\", \"unittest\", \"discover\", \"-s\", \"tests\")
";

const DJANGO_TEST: &str = "\
from django.test import TestCase
from app import f

class Test(TestCase):
    def test_f(self):
        self.assertEqual(f(), 2)
";

const MANAGE: &str = "\
import sys
from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    INSTALLED_APPS=[\"app\"],
    DATABASES={\"default\": {\"ENGINE\": \"django.db.backends.sqlite3\", \"NAME\": \"db.sqlite3\"}},
)
execute_from_command_line(sys.argv)
";

const VITEST_TEST: &str = "\
import { expect, test } from 'vitest';
import { f } from './f';

test('f', () => expect(f()).toBe(2));
";

const JEST_TEST: &str = "\
const { f } = require('./f');

test('f', () => expect(f()).toBe(2));
";
