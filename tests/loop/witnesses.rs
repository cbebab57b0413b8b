//! What lies outside of what changed and made a command fail: each is made to happen, `run` names it with what to
//! type, and what can be typed here makes the command pass.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use crate::support::{Repo, command, git, needs, stderr};
use serde_json::Value;

/// What is typed, and whether that can be done here: without a registry, a service or another program.
type Typed<'t> = (&'t str, bool);

// Runs a command that fails and takes what the first screen and `why` say of what lies around it.
fn named(repo: &Repo, line: &str, variables: &[(&str, &str)], (typed, works): Typed<'_>) {
    let run = |words: &[&str]| {
        let mut program = command(&repo.root(), words);
        program.envs(variables.iter().copied()).output().unwrap()
    };
    let ran = run(&["run", "--no-why", line]);
    assert!([Some(2), Some(4)].contains(&ran.status.code()), "{line}");
    let told = stderr(&ran);
    assert!(told.contains(typed), "{typed}: {told}");
    let why = run(&["why", "--format", "json"]);
    let why: Value = serde_json::from_slice(&why.stdout).unwrap();
    let around = why["around"].as_array().unwrap();
    assert!(
        around.iter().any(|it| it["command"] == typed),
        "{typed}: {why}"
    );
    if !works {
        return;
    }
    let words = typed.strip_prefix("mendit ").map(|it| it.split(' ').collect::<Vec<_>>());
    let done = if let Some(words) = words {
        run(&words)
    } else {
        let mut shell = Command::new("sh");
        shell.args(["-c", typed]).current_dir(repo.root());
        shell.envs([
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "protocol.file.allow"),
        ]);
        shell.env("GIT_CONFIG_VALUE_0", "always").output().unwrap()
    };
    assert!(done.status.success(), "{typed}: {}", stderr(&done));
    if !typed.starts_with("mendit ") {
        let again = run(&["run", "--no-why", line]);
        assert!(again.status.success(), "{typed}: {}", stderr(&again));
    }
}

const UNIT: &str =
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        ";
const PYTHON: &str = "python3 -m unittest";

fn python(body: &str, files: &[(&str, &str)]) -> Repo {
    let test = format!("{UNIT}{body}\n");
    Repo::with(&[&[("test_it.py", test.as_str())], files].concat())
}

#[test]
fn doctor_names_missing_python_parts() {
    needs!("python3");
    let imports = "from acmeclient import fetch\n        self.assertTrue(fetch)";
    let extra = "[project]\nname = \"shop\"\nversion = \"1\"\n\n[project.optional-dependencies]\ntest = [\"acmeclient>=1\"]\n";
    let members: &[(&str, &str)] = &[
        ("uv.lock", "version = 1\n"),
        (
            "app/pyproject.toml",
            "[project]\nname = \"app\"\nversion = \"1\"\n",
        ),
        ("app/test_app.py", "import unittest\nimport acmeclient\n"),
        (
            "lib/pyproject.toml",
            "[project]\nname = \"acmeclient\"\nversion = \"1\"\n",
        ),
    ];
    // A package that is declared, one of an extra, a member of the workspace that nobody declared.
    named(
        &python(imports, &[("requirements.txt", "acmeclient==1.0\n")]),
        PYTHON,
        &[],
        ("python3 -m pip install -r requirements.txt", false),
    );
    named(
        &python(imports, &[("pyproject.toml", extra)]),
        PYTHON,
        &[],
        ("python3 -m pip install -e '.[test]'", false),
    );
    named(
        &Repo::with(members),
        "python3 -m unittest discover -s app",
        &[],
        ("uv add --package app acmeclient", false),
    );
    // Another interpreter than the one that is asked for.
    named(
        &python(
            "from typing import no_such_name",
            &[(".python-version", "3.99\n")],
        ),
        PYTHON,
        &[],
        ("pyenv install -s", false),
    );
}

#[test]
fn names_package_off_its_lock() {
    needs!("python3", "node");
    let lock = "version = 1\n\n[[package]]\nname = \"acmeclient\"\nversion = \"2.0.0\"\n";
    let repo = python(
        "from acmeclient import fetch_all",
        &[("uv.lock", lock), (".gitignore", ".venv\nnode_modules\n")],
    );
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip", ".venv"])
        .current_dir(repo.root())
        .status();
    assert!(made.unwrap().success());
    let lib = std::fs::read_dir(repo.root().join(".venv/lib")).unwrap();
    let site = lib.flatten().next().unwrap().path().join("site-packages");
    let write = |path: &str, text: &str| {
        let path = site.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("acmeclient/__init__.py", "def fetch():\n    return 1\n");
    write(
        "acmeclient-1.0.0.dist-info/METADATA",
        "Name: acmeclient\nVersion: 1.0.0\n",
    );
    write("acmeclient-1.0.0.dist-info/top_level.txt", "acmeclient\n");
    named(
        &repo,
        ".venv/bin/python -m unittest",
        &[],
        ("uv sync", false),
    );

    let lock = "{\"lockfileVersion\": 3, \"packages\": {\"node_modules/acme\": {\"version\": \"2.0.0\"}}}\n";
    let repo = Repo::with(&[
        (".gitignore", "node_modules\n"),
        (
            "package.json",
            "{\"name\": \"w\", \"dependencies\": {\"acme\": \"^2\"}}\n",
        ),
        ("package-lock.json", lock),
        (
            "a.test.js",
            "require('node:test')('a', () => require('acme').fetch({}));\n",
        ),
    ]);
    repo.write(
        "node_modules/acme/package.json",
        "{\"name\": \"acme\", \"version\": \"1.0.0\"}\n",
    );
    repo.write(
        "node_modules/acme/index.js",
        "exports.fetch = (it) => it.done();\n",
    );
    named(&repo, "node --test", &[], ("npm ci", false));
}

#[test]
fn doctor_names_missing_node_parts() {
    needs!("node", "npm");
    let member = |name: &str, more: &str| {
        format!("{{\"name\": \"{name}\", \"version\": \"1.0.0\"{more}}}\n")
    };
    let test = "require('node:test')('a', () => require('@w/lib').one());\n";
    let repo = Repo::with(&[
        (".gitignore", "node_modules\n"),
        (
            "package.json",
            "{\"name\": \"w\", \"private\": true, \"workspaces\": [\"packages/*\"]}\n",
        ),
        (
            "package-lock.json",
            "{\"name\": \"w\", \"lockfileVersion\": 3, \"packages\": {}}\n",
        ),
        (
            "packages/app/package.json",
            &member("@w/app", ", \"dependencies\": {\"@w/lib\": \"1.0.0\"}"),
        ),
        ("packages/app/a.test.js", test),
        ("packages/lib/package.json", &member("@w/lib", "")),
        ("packages/lib/index.js", "exports.one = () => 1;\n"),
    ]);
    repo.write("node_modules/.keep", "");
    named(
        &repo,
        "node --test packages/app/a.test.js",
        &[],
        ("npm install", true),
    );

    // A program of a script, where nothing is installed; a lock that does not hold what is asked for.
    let lock = "{\"name\": \"w\", \"version\": \"1.0.0\", \"lockfileVersion\": 3, \"packages\": {\"\": {\"name\": \"w\", \"version\": \"1.0.0\"}}}\n";
    let scripts = ", \"scripts\": {\"test\": \"acme-runner run\"}, \"devDependencies\": {\"acme-runner\": \"1.0.0\"}";
    named(
        &Repo::with(&[
            ("package.json", &member("w", scripts)),
            ("package-lock.json", lock),
        ]),
        "npm test",
        &[],
        ("npm ci", false),
    );
    let repo = Repo::with(&[
        (".gitignore", "node_modules\n"),
        (
            "package.json",
            &member("w", ", \"dependencies\": {\"lib\": \"file:./lib\"}"),
        ),
        ("package-lock.json", lock),
        ("lib/package.json", &member("lib", "")),
    ]);
    named(&repo, "npm ci --offline", &[], ("npm install", true));
    named(
        &Repo::with(&[(".nvmrc", "v99\n"), ("a.js", "null.name;\n")]),
        "node a.js",
        &[],
        ("nvm install 99", false),
    );
}

#[test]
fn names_variables_services_and_submodules() {
    needs!("python3");
    let reads = "import os\n        self.assertTrue(os.environ['ACME_REGION_URL'])";
    let handed = format!("mendit run --env ACME_REGION_URL {PYTHON}");
    let set = [("ACME_REGION_URL", "http://localhost")];
    named(&python(reads, &[]), PYTHON, &set, (&handed, true));
    let example = "# Where it is\nACME_REGION_URL=http://localhost:8080\n";
    let valued = format!("mendit run --env ACME_REGION_URL=http://localhost:8080 {PYTHON}");
    named(
        &python(reads, &[(".env.example", example)]),
        PYTHON,
        &[],
        (&valued, true),
    );

    let calls = "import socket\n        socket.create_connection(('127.0.0.1', 9))";
    let compose = "services:\n  db:\n    image: postgres\n";
    named(
        &python(calls, &[("compose.yaml", compose)]),
        PYTHON,
        &[],
        ("docker compose up -d", false),
    );
    let lib = Repo::with(&[("data.py", "ROWS = [1]\n"), ("__init__.py", "")]);
    let repo = python(
        "from vendor.data import ROWS\n        self.assertTrue(ROWS)",
        &[],
    );
    let from = lib.root();
    repo.git(&[
        "submodule",
        "--quiet",
        "add",
        from.to_str().unwrap(),
        "vendor",
    ]);
    repo.commit();
    let clone = python("pass", &[]);
    std::fs::remove_dir_all(clone.root()).unwrap();
    let words = ["clone", "-q", repo.root().to_str().unwrap(), "r"].map(str::to_owned);
    git(
        Path::new(clone.outside()),
        &words.each_ref().map(String::as_str),
    );
    named(
        &clone,
        PYTHON,
        &[],
        ("git submodule update --init -- vendor", true),
    );
    let checked = clone.mendit(&["doctor"]);
    assert!(!String::from_utf8_lossy(&checked.stdout).contains("never fetched"));
}
