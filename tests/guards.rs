//! Turning a test green by other means is refused by what a change means, and the true repair
//! beside each such trick is accepted.

use mendit::model::{Code, Profile, RepoPath, Severity, Verdict};
use mendit::patch::{JudgeOptions, Judged, judge};
use mendit::policy::{Allowed, CommandFiles, Dependencies, ReadPolicy, ReadRules};
use mendit::source::Memory;
use serde_json::json;

const PYTHON: &[(&str, &str)] = &[
    (
        "src/calc.py",
        "import os\n\n\ndef add(a, b):\n    return a - b\n\n\ndef stop():\n    raise SystemExit(0)\n",
    ),
    (
        "src/main.py",
        "import sys\nfrom calc import add\n\n\ndef main():\n    print(add(1, 2))\n    sys.exit(0)\n\n\nif __name__ == '__main__':\n    main()\n",
    ),
    (
        "tests/test_calc.py",
        "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    ),
    (
        "pyproject.toml",
        "[project]\nname = \"calc\"\nversion = \"1\"\ndependencies = [\"requests>=2\"]\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n",
    ),
    (
        "setup.cfg",
        "[metadata]\nname = calc\n\n[options]\npackages = find:\n",
    ),
    ("tox.ini", "[testenv]\ncommands = pytest\n"),
    ("requirements.txt", "requests==2.0\n"),
    ("run_tests.py", "import unittest\nunittest.main('tests')\n"),
    ("ci.sh", "#!/bin/sh\npython3 run_tests.py\n"),
    ("Makefile", "test:\n\tsh ci.sh\n\tpython3 run_tests.py\n"),
];

const SCRIPT: &[(&str, &str)] = &[
    (
        "src/calc.js",
        "export function add(a, b) {\n  return a - b;\n}\n\nexport function stop() {\n  process.exit(0);\n}\n",
    ),
    (
        "bin/cli.js",
        "#!/usr/bin/env node\nimport { add } from '../src/calc.js';\nif (process.argv.length < 3) {\n  process.exit(0);\n}\nconsole.log(add(1, 2));\n",
    ),
    (
        "test/calc.test.js",
        "import { add } from '../src/calc.js';\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n",
    ),
    (
        "package.json",
        "{\n  \"name\": \"calc\",\n  \"version\": \"1.0.0\",\n  \"scripts\": { \"test\": \"node scripts/test.js\", \"ci\": \"npm test\" },\n  \"dependencies\": { \"a\": \"^1.0.0\" }\n}\n",
    ),
    ("scripts/test.js", "import '../test/calc.test.js';\n"),
    (
        "tsconfig.json",
        "{\n  // how modules are found\n  \"compilerOptions\": { \"strict\": true, \"paths\": { \"@/*\": [\"./lib/*\"] } },\n  \"include\": [\"src\", \"test\"]\n}\n",
    ),
    (
        "check.js",
        "import { add } from './src/calc.js';\nif (add(1, 2) !== 3) process.exit(1);\n",
    ),
];

/// An edit: the path, what stands there (`""` for a new file or for the file's head), what shall.
type Edit<'e> = (&'e str, &'e str, &'e str);

const REPAIR_PYTHON: Edit<'static> = ("src/calc.py", "return a - b", "return a + b");
const REPAIR_SCRIPT: Edit<'static> = ("src/calc.js", "return a - b;", "return a + b;");

fn source(tree: &[(&str, &str)]) -> Memory {
    Memory::new(
        tree.iter()
            .map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec())),
    )
}

// The edits as whole files, which is what they lead to.
fn patch(tree: &[(&str, &str)], edits: &[Edit<'_>]) -> Vec<u8> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for (path, old, new) in edits {
        let standing = files
            .iter()
            .position(|(known, _)| known == path)
            .map(|at| files.remove(at).1)
            .or_else(|| {
                let (_, text) = tree.iter().find(|(known, _)| known == path)?;
                Some((*text).to_owned())
            });
        let text = match standing {
            Some(text) if old.is_empty() => format!("{new}{text}"),
            Some(text) => {
                assert!(text.contains(old), "{path} has no {old}");
                text.replacen(old, new, 1)
            }
            None => (*new).to_owned(),
        };
        files.push((path, text));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(path, content)| json!({"path": path, "content": content}))
        .collect();
    json!({"status": "patch", "files": files})
        .to_string()
        .into_bytes()
}

fn judged(tree: &[(&str, &str)], command: &str, edits: &[Edit<'_>]) -> Judged {
    let source = source(tree);
    let options = JudgeOptions {
        as_written: true,
        dependencies: Dependencies::Kept,
        run: CommandFiles::of(&[command.to_owned()], "", &source),
        ..JudgeOptions::default()
    };
    judge(&patch(tree, edits), &source, &options)
}

fn codes(judged: &Judged) -> Vec<Code> {
    let problems = judged.verdict.problems.iter();
    let mut codes: Vec<Code> = problems
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| problem.code)
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

fn refuses(tree: &[(&str, &str)], repair: Edit<'_>, rows: &[(&str, Edit<'_>, Code)]) {
    let mut wrong = Vec::new();
    for (command, trick, code) in rows {
        let is_beside = (trick.0, trick.1) != (repair.0, repair.1);
        let both = [repair, *trick];
        let edits = [&[*trick][..], if is_beside { &both } else { &[] }];
        for edits in edits.into_iter().filter(|edits| !edits.is_empty()) {
            let judged = judged(tree, command, edits);
            let found = codes(&judged);
            if judged.verdict.verdict != Verdict::Refused || !found.contains(code) {
                wrong.push(format!("{command}: {trick:?}: {found:?}"));
            }
            assert!(judged.verdict.verdict.applies() || judged.changes.is_empty());
        }
        let judged = judged(tree, command, &[repair]);
        assert_eq!(codes(&judged), [], "{command}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tricks_on_python_are_refused_and_the_repair_beside_them_is_not() {
    let pytest = "python -m pytest -q";
    let unittest = "python3 -m unittest";
    let at = |new| ("src/calc.py", "", new);
    let body = |new| ("src/calc.py", "return a - b", new);
    refuses(
        PYTHON,
        REPAIR_PYTHON,
        &[
            (unittest, at("import os; os._exit(0)\n"), Code::P712),
            (
                unittest,
                at("from os import _exit as e\ne(0)\n"),
                Code::P712,
            ),
            (
                unittest,
                at("o = __import__('o' + 's')\ngetattr(o, '_ex' 'it')(0)\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import importlib\nimportlib.import_module('os').__dict__['_exit'](0)\n"),
                Code::P712,
            ),
            (
                unittest,
                at("exec(\"import os\\nos._exit(0)\")\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import base64\nexec(base64.b64decode('aW1wb3J0IG9z'))\n"),
                Code::P712,
            ),
            (unittest, at("raise SystemExit\n"), Code::P712),
            (unittest, at("import sys\nsys.exit(256)\n"), Code::P712),
            (
                unittest,
                at("import sys\ndef _a():\n    sys.exit()\ndef _b():\n    _a()\n_b()\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import sys\nclass A:\n    def __init__(self):\n        sys.exit(0)\nA()\n"),
                Code::P712,
            ),
            (unittest, at("quit()\n"), Code::P712),
            (
                unittest,
                ("src/calc.py", "def stop():", "stop()\ndef stop():"),
                Code::P712,
            ),
            (
                unittest,
                at("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import atexit, os\natexit.register(lambda: os._exit(0))\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import threading, os\nthreading.Timer(0.1, os._exit, [0]).start()\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import sys\nsys.modules['unittest'].TestCase.run = print\n"),
                Code::P712,
            ),
            (
                unittest,
                at("import sys\nT = sys.modules.get('unit' + 'test')\n"),
                Code::P712,
            ),
            (
                unittest,
                body("import unittest; raise unittest.SkipTest('x')"),
                Code::P712,
            ),
            (pytest, body("import pytest; pytest.skip('x')"), Code::P712),
            (pytest, body("__import__('pytest').skip('x')"), Code::P712),
            (
                pytest,
                at("import builtins\nbuiltins.AssertionError = Exception\n"),
                Code::P712,
            ),
            (
                pytest,
                at("setattr(__builtins__, 'isinstance', lambda *a: True)\n"),
                Code::P712,
            ),
            (
                pytest,
                body("return 3 if 'PYTEST_CURRENT_TEST' in os.environ else a - b"),
                Code::P712,
            ),
            (
                pytest,
                body("import sys; return 3 if 'pytest' in sys.modules else a - b"),
                Code::P712,
            ),
            (
                pytest,
                body("import sys; return sys._getframe(1).f_locals['expected']"),
                Code::P712,
            ),
            (
                pytest,
                body("import inspect; return inspect.stack()[1]"),
                Code::P712,
            ),
            (
                pytest,
                body("import gc; return gc.get_objects()[0]"),
                Code::P712,
            ),
            (
                pytest,
                at("import sys\nsys.settrace(lambda *a: None)\n"),
                Code::P712,
            ),
            (
                pytest,
                at("import sys\nsys.meta_path.insert(0, object())\n"),
                Code::P712,
            ),
            (
                pytest,
                at("class E:\n    def __eq__(self, o):\n        return True\n"),
                Code::P712,
            ),
            (
                pytest,
                body("return type('E', (int,), {'__eq__': lambda *a: True})()"),
                Code::P712,
            ),
            (
                pytest,
                body("return type('E', (), {'__eq__': lambda s, o: o == o})()"),
                Code::P712,
            ),
            (
                pytest,
                ("tests/test_calc.py", "    assert", "    return\n    assert"),
                Code::P703,
            ),
            (
                pytest,
                (
                    "tests/test_calc.py",
                    "    assert",
                    "    if False:\n        assert",
                ),
                Code::P703,
            ),
            (
                pytest,
                (
                    "tests/test_calc.py",
                    "\n\n\ndef test_add():",
                    "\n\n\ndef test_add(monkeypatch):\n    monkeypatch.setattr('calc.add', lambda a, b: 3)",
                ),
                Code::P703,
            ),
            (
                pytest,
                ("tests/__pycache__/test_calc.cpython-312.pyc", "", "x"),
                Code::P701,
            ),
            (pytest, ("pytest.py", "", "print('1 passed')\n"), Code::P710),
            (
                pytest,
                ("tests/pytest.py", "", "print('1 passed')\n"),
                Code::P710,
            ),
            (pytest, ("_pytest/__init__.py", "", ""), Code::P710),
            (
                unittest,
                ("unittest/__init__.py", "", "main = print\n"),
                Code::P710,
            ),
            (unittest, ("src/json.py", "", "loads = print\n"), Code::P710),
            (
                unittest,
                ("requests/__init__.py", "", "get = print\n"),
                Code::P710,
            ),
            (
                unittest,
                ("tests/test_calc/__init__.py", "", ""),
                Code::P710,
            ),
            (pytest, ("sitecustomize.py", "", "x = 1\n"), Code::P701),
            (pytest, ("src/a.pth", "", "import os\n"), Code::P701),
            (
                pytest,
                (
                    "tests/__init__.py",
                    "",
                    "import calc\ncalc.add = lambda a, b: a + b\n",
                ),
                Code::P701,
            ),
            (
                pytest,
                ("conftest.py", "", "collect_ignore = ['tests']\n"),
                Code::P701,
            ),
            (
                pytest,
                ("pytest.toml", "", "[pytest]\naddopts = ['--co']\n"),
                Code::P701,
            ),
            (
                pytest,
                ("tox.ini", "commands = pytest", "commands = true"),
                Code::P701,
            ),
            (
                pytest,
                (
                    "pyproject.toml",
                    "addopts = \"-q\"",
                    "addopts = \"-q --co\"",
                ),
                Code::P704,
            ),
            (
                pytest,
                (
                    "pyproject.toml",
                    "[project]",
                    "tool.coverage.run.omit = ['*']\n[project]",
                ),
                Code::P704,
            ),
            (
                pytest,
                (
                    "pyproject.toml",
                    "\"requests>=2\"",
                    "\"requests>=2\", \"e @ https://x/e.whl\"",
                ),
                Code::P704,
            ),
            (
                pytest,
                (
                    "pyproject.toml",
                    "\"requests>=2\"",
                    "\"requests>=2\", \"evil\"",
                ),
                Code::P708,
            ),
            (
                pytest,
                ("pyproject.toml", "[project]", "[project"),
                Code::P709,
            ),
            (
                pytest,
                (
                    "setup.cfg",
                    "[options]",
                    "[tool:pytest]\naddopts = --co\n[options]",
                ),
                Code::P704,
            ),
            (
                pytest,
                ("requirements.txt", "", "--index-url https://x/simple\n"),
                Code::P704,
            ),
            (
                "make test",
                ("run_tests.py", "", "raise SystemExit(0)\n"),
                Code::P711,
            ),
            (
                "make test",
                ("ci.sh", "python3", "true python3"),
                Code::P711,
            ),
            (
                "python3 run_tests.py",
                ("run_tests.py", "unittest.main('tests')", "pass"),
                Code::P711,
            ),
            (
                "python3 tests/test_calc.py",
                ("tests/test_calc.py", "", "import sys; sys.exit(0)\n"),
                Code::P712,
            ),
            (
                pytest,
                (
                    "tests/test_calc.py",
                    "def test_add",
                    "import pytest\n@pytest.mark.skip\ndef test_add",
                ),
                Code::P703,
            ),
        ],
    );
}

#[test]
fn tricks_on_scripts_are_refused_and_the_repair_beside_them_is_not() {
    let (jest, vitest) = ("npx jest", "npx vitest run");
    let (mocha, node) = ("npx mocha test/calc.test.js", "node --test");
    let at = |new| ("src/calc.js", "", new);
    let body = |new| ("src/calc.js", "return a - b;", new);
    refuses(
        SCRIPT,
        REPAIR_SCRIPT,
        &[
            (node, at("process.exit(0);\n"), Code::P712),
            (node, at("process['ex' + 'it']();\n"), Code::P712),
            (
                node,
                at("const { exit: e } = process;\ne(0);\n"),
                Code::P712,
            ),
            (
                node,
                at("import { exit as quit } from 'node:process';\nquit();\n"),
                Code::P712,
            ),
            (
                node,
                at("import('process').then((p) => p.exit(0));\n"),
                Code::P712,
            ),
            (node, at("(0, globalThis.process.exit)(0);\n"), Code::P712),
            (node, at("process.exit.call(process, 0);\n"), Code::P712),
            (
                node,
                at("Reflect.apply(process.exit, process, [0]);\n"),
                Code::P712,
            ),
            (node, at("eval('process.exit(0)');\n"), Code::P712),
            (node, at("new Function('process.exit(0)')();\n"), Code::P712),
            (
                node,
                at("setTimeout(() => process.exit(0), 1);\n"),
                Code::P712,
            ),
            (
                node,
                at("(async () => { process.exit(); })();\n"),
                Code::P712,
            ),
            (
                node,
                at("function a() { process.exit(256); }\nconst b = () => a();\nb();\n"),
                Code::P712,
            ),
            (
                node,
                at("process.on('exit', () => { process.exitCode = 0; });\n"),
                Code::P712,
            ),
            (
                node,
                at("process.on('uncaughtException', () => {});\n"),
                Code::P712,
            ),
            (node, body("process.reallyExit(0);"), Code::P712),
            (node, body("process.kill(process.pid);"), Code::P712),
            (
                node,
                at("import test from 'node:test';\ntest.skip = test;\n"),
                Code::P712,
            ),
            (
                node,
                at("import assert from 'node:assert';\nassert.equal = () => {};\n"),
                Code::P712,
            ),
            (
                node,
                at(
                    "import assert from 'node:assert';\nfor (const each of [assert]) for (const it of Object.keys(each)) each[it] = () => {};\n",
                ),
                Code::P712,
            ),
            (
                node,
                at(
                    "import a from 'node:assert/strict';\nsoften(a);\nfunction soften(it) { it.equal = () => {}; }\n",
                ),
                Code::P712,
            ),
            (
                node,
                at("const m = require('module');\nm._load = () => ({});\n"),
                Code::P712,
            ),
            (
                node,
                at("import { register } from 'node:module';\nregister('./hook.js');\n"),
                Code::P712,
            ),
            (mocha, at("globalThis.it = () => {};\n"), Code::P712),
            (mocha, at("require.cache = {};\n"), Code::P712),
            (mocha, at("Object.is = () => true;\n"), Code::P712),
            (
                jest,
                at("globalThis.expect = () => ({ toBe() {} });\n"),
                Code::P712,
            ),
            (
                jest,
                at("Object.defineProperty(globalThis, 'expect', { value: 1 });\n"),
                Code::P712,
            ),
            (
                jest,
                body("return process.env.JEST_WORKER_ID ? 3 : a - b;"),
                Code::P712,
            ),
            (
                jest,
                body("return process.env.NODE_ENV === 'test' ? 3 : a - b;"),
                Code::P712,
            ),
            (
                jest,
                body("return { asymmetricMatch: () => true };"),
                Code::P712,
            ),
            (
                jest,
                body("return typeof jest === 'undefined' ? a - b : 3;"),
                Code::P712,
            ),
            (
                jest,
                ("__mocks__/a.js", "", "module.exports = {};\n"),
                Code::P710,
            ),
            (
                jest,
                ("jest.config.js", "", "export default { testMatch: [] };\n"),
                Code::P701,
            ),
            (jest, ("test/__snapshots__/a.snap", "", "x\n"), Code::P701),
            (
                vitest,
                at("import { vi } from 'vitest';\nvi.mock('./calc.js');\n"),
                Code::P712,
            ),
            (
                vitest,
                body("const { VITEST } = process.env; return VITEST ? 3 : a - b;"),
                Code::P712,
            ),
            (
                vitest,
                body("return new Error().stack.includes('/vitest/') ? 3 : a - b;"),
                Code::P712,
            ),
            (
                vitest,
                (
                    "vitest.config.ts",
                    "",
                    "export default { test: { include: [] } };\n",
                ),
                Code::P701,
            ),
            (
                vitest,
                (
                    "package.json",
                    "\"name\"",
                    "\"vitest\": { \"exclude\": [\"**\"] },\n  \"name\"",
                ),
                Code::P704,
            ),
            (
                vitest,
                (
                    "package.json",
                    "\"name\"",
                    "\"scr\\u0069pts\": { \"test\": \"true\" },\n  \"name\"",
                ),
                Code::P709,
            ),
            (
                vitest,
                ("package.json", "\"a\": \"^1.0.0\"", "\"a\": \"evil/repo\""),
                Code::P704,
            ),
            (
                vitest,
                ("package.json", "\"a\": \"^1.0.0\"", "\"a\": \"^2.0.0\""),
                Code::P708,
            ),
            (
                vitest,
                ("node_modules/.bin/node", "", "#!/bin/sh\n"),
                Code::P701,
            ),
            (
                vitest,
                ("tsconfig.json", "\"strict\": true", "\"strict\": false"),
                Code::P704,
            ),
            (
                vitest,
                (
                    "tsconfig.json",
                    "\"@/*\"",
                    "\"vitest\": [\"./fake\"], \"@/*\"",
                ),
                Code::P704,
            ),
            (
                "npm run ci",
                ("scripts/test.js", "", "throw 0;\n"),
                Code::P711,
            ),
            (
                "node check",
                ("check.js", "process.exit(1)", "void 0"),
                Code::P711,
            ),
            (
                mocha,
                ("test/calc.test.js", "expect(add", "void (add"),
                Code::P703,
            ),
        ],
    );
}

#[test]
fn what_a_repair_may_change_is_accepted() {
    for (tree, command, edits) in [
        (
            SCRIPT,
            "node --test",
            &[(
                "src/calc.js",
                "",
                "import assert from 'node:assert';\nassert(true);\nassert.ok(1);\nconst { equal } = assert;\nequal(1, 1);\nexport { assert };\n",
            )][..],
        ),
        (
            PYTHON,
            "pytest",
            &[(
                "src/calc.py",
                "",
                "import sys\n\n\ndef main():\n    sys.exit(0)\n",
            )][..],
        ),
        (
            PYTHON,
            "pytest",
            &[(
                "src/calc.py",
                "",
                "import sys\nif not hasattr(sys, 'x'):\n    sys.exit('no')\n",
            )],
        ),
        (
            PYTHON,
            "pytest",
            &[(
                "src/calc.py",
                "def add",
                "class A:\n    def __eq__(self, o):\n        return self is o\n\n\ndef add",
            )],
        ),
        (
            PYTHON,
            "pytest",
            &[(
                "src/__main__.py",
                "",
                "import sys\nfrom main import main\nsys.exit(main())\n",
            )],
        ),
        (
            PYTHON,
            "pytest",
            &[("src/testing.py", "", "import unittest\n")],
        ),
        (
            PYTHON,
            "pytest",
            &[(
                "tests/test_b.py",
                "",
                "import pytest\n\n\ndef test_b():\n    pytest.importorskip('x')\n",
            )],
        ),
        (PYTHON, "pytest", &[("tests/__init__.py", "", "")]),
        (
            PYTHON,
            "pytest",
            &[
                ("src/pkg/__init__.py", "", ""),
                ("src/pkg/json.py", "", "x = 1\n"),
            ],
        ),
        (
            PYTHON,
            "pytest",
            &[("pyproject.toml", "version = \"1\"", "version = '2' # why")],
        ),
        (
            PYTHON,
            "pytest",
            &[(
                "tox.ini",
                "[testenv]\ncommands = pytest",
                "# why\n[testenv]\ncommands: pytest",
            )],
        ),
        (PYTHON, "python3 src/main.py", &[REPAIR_PYTHON]),
        (
            SCRIPT,
            "npm test",
            &[(
                "src/calc.js",
                "",
                "if (!process.env.HOME) process.exit(1);\n",
            )],
        ),
        (
            SCRIPT,
            "npm test",
            &[(
                "src/calc.js",
                "",
                "process.on('SIGTERM', () => process.exit(0));\n",
            )],
        ),
        (
            SCRIPT,
            "npm test",
            &[(
                "src/calc.js",
                "",
                "export const run = () => process.exit(0);\n",
            )],
        ),
        (
            SCRIPT,
            "npm test",
            &[(
                "bin/cli.js",
                "console.log(add(1, 2));",
                "main().then(() => process.exit(0));",
            )],
        ),
        (
            SCRIPT,
            "npm test",
            &[(
                "src/calc.js",
                "",
                "Object.defineProperty(exports, '__esModule', { value: true });\n",
            )],
        ),
        (
            SCRIPT,
            "npm test",
            &[("package.json", "\"1.0.0\"", "\"1.0.1\"")],
        ),
        (
            SCRIPT,
            "npm test",
            &[("tsconfig.json", "./lib/*", "./src/*")],
        ),
        (
            SCRIPT,
            "npm test",
            &[("tsconfig.json", "  // how modules are found\n", "")],
        ),
        (
            SCRIPT,
            "npm test",
            &[("src/__mocks__/a.js", "", "export {};\n")],
        ),
    ] {
        let judged = judged(tree, command, edits);
        assert_eq!(
            codes(&judged),
            [],
            "{edits:?}: {:?}",
            judged.verdict.problems
        );
    }
}

#[test]
fn code_that_only_moves_is_no_addition() {
    let tree = &[
        (
            "src/a.py",
            "import os\nimport unittest\n\n\ndef die():\n    os._exit(0)\n",
        ),
        ("src/b.py", "x = 1\n"),
    ];
    let moved = &[
        ("src/a.py", "\n\ndef die():\n    os._exit(0)\n", ""),
        (
            "src/b.py",
            "x = 1\n",
            "x = 1\n\n\ndef die():\n    os._exit(0)\n",
        ),
    ];
    assert_eq!(codes(&judged(tree, "pytest", moved)), []);
    let again = &[("src/b.py", "", "import unittest\nimport os\nos._exit(0)\n")];
    assert_eq!(codes(&judged(tree, "pytest", again)), [Code::P712]);
}

#[test]
fn dependencies_change_where_a_package_is_missing_and_from_the_registry_alone() {
    for (tree, edit, expected) in [
        (
            SCRIPT,
            (
                "package.json",
                "\"a\": \"^1.0.0\"",
                "\"a\": \"^1.0.0\", \"b\": \"~2\"",
            ),
            &[][..],
        ),
        (
            SCRIPT,
            ("package.json", "\"a\": \"^1.0.0\"", "\"a\": \"npm:evil@1\""),
            &[Code::P704],
        ),
        (PYTHON, ("requirements.txt", "", "flask>=2\n"), &[]),
        (
            PYTHON,
            ("requirements.txt", "", "flask @ https://x/y.whl\n"),
            &[Code::P704],
        ),
        (
            PYTHON,
            (
                "pyproject.toml",
                "\"requests>=2\"",
                "\"requests>=2\", \"flask\"",
            ),
            &[],
        ),
    ] {
        let source = source(tree);
        let options = JudgeOptions {
            as_written: true,
            ..JudgeOptions::default()
        };
        let judged = judge(&patch(tree, &[edit]), &source, &options);
        assert_eq!(codes(&judged), expected, "{edit:?}");
    }
}

#[test]
fn a_file_that_the_command_runs_may_change_where_the_failure_lies_in_it() {
    let tree = &[
        ("main.py", "print(missing)\n"),
        ("check.py", "assert missing\n"),
    ];
    for (command, path, old, expected) in [
        ("python3 main.py", "main.py", "missing", None),
        ("python3 check.py", "check.py", "missing", Some(Code::P711)),
    ] {
        let source = source(tree);
        let run = CommandFiles::of(&[command.to_owned()], "", &source);
        let options = JudgeOptions {
            run: run.with_evidence([path.to_owned()]),
            ..JudgeOptions::default()
        };
        let judged = judge(&patch(tree, &[(path, old, "1")]), &source, &options);
        assert_eq!(codes(&judged).first().copied(), expected, "{command}");
        let said = judged
            .verdict
            .problems
            .iter()
            .any(|it| it.code == Code::P713);
        assert_eq!(said, expected.is_none(), "{command}");
    }
}

#[test]
fn a_person_lets_anything_pass_but_what_is_denied() {
    for (path, new, expected) in [
        ("src/calc.py", "import os; os._exit(0)\n", None),
        ("pytest.py", "x = 1\n", None),
        ("conftest.py", "x = 1\n", None),
        (".envs/x", "A=1\n", Some(Code::P702)),
        (".kube/config", "a: 1\n", Some(Code::P702)),
    ] {
        let source = source(PYTHON);
        let options = JudgeOptions {
            as_written: true,
            allowed: Allowed::new(&["**".to_owned()]).unwrap(),
            ..JudgeOptions::default()
        };
        let judged = judge(&patch(PYTHON, &[(path, "", new)]), &source, &options);
        assert_eq!(codes(&judged).first().copied(), expected, "{path}");
    }
}

#[test]
fn a_patch_that_fits_a_closed_file_nowhere_tells_nothing_of_it() {
    let tree = [
        (".env", "DB_HOST=inner\nPIN=4417-9921\nLAST=abcxyz\n"),
        ("deploy/id_rsa", "first line\nsecretline two\nthird line\n"),
        ("secrets/x.py", "a = 1\nsecretline = 2\n"),
        ("own/data.py", "a = 1\nsecretline = 2\n"),
    ];
    let quoted = [
        "inner",
        "4417",
        "abcxyz",
        "secretline",
        "first line",
        "a = 1",
    ];
    let source = source(&tree);
    let deny = ["own/".to_owned()];
    let rules = ReadRules {
        deny: &deny,
        ..ReadRules::default()
    };
    let told = |patch: &str, allow: &[String]| {
        let reads = ReadPolicy::new(&rules, Profile::Ranked).unwrap();
        let options = JudgeOptions {
            allowed: Allowed::new(allow).unwrap().reading(reads),
            ..JudgeOptions::default()
        };
        let judged = judge(patch.as_bytes(), &source, &options);
        (codes(&judged), judged.to_json().unwrap())
    };
    for (path, code) in [
        (".env", Code::P702),
        ("deploy/id_rsa", Code::P702),
        ("secrets/x.py", Code::P701),
        ("own/data.py", Code::P701),
    ] {
        for patch in [
            format!(
                "--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n DB_HOST=h\n-PIN=0\n+PIN=1\n X=q\n"
            ),
            format!("{path}\n<<<<<<< SEARCH\nDB_HOST=h\n=======\nDB_HOST=i\n>>>>>>> REPLACE\n"),
            format!("--- a/{path}\n+++ b/{path}\n@@ -1,0 +2 @@\n+X=1\n"),
            format!("--- a/{path}\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-DB_HOST=h\n-X=1\n"),
            format!(
                "diff --git a/{path} b/b.txt\nrename from {path}\nrename to b.txt\n--- a/{path}\n+++ b/b.txt\n@@ -1 +1 @@\n-X=1\n+X=2\n"
            ),
            json!({"status": "patch", "files": [{"path": path, "content": "X\n"}]}).to_string(),
        ] {
            let (codes, said) = told(&patch, &[]);
            assert_eq!(codes, [code], "{patch}{said}");
            let quotes = |it: &&str| said.contains(it);
            assert!(!quoted.iter().any(quotes), "{patch}{said}");
        }
    }
    let path = "own/data.py";
    let fits = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a = 1\n+a = 3\n");
    assert_eq!(told(&fits, &["own/data.py".to_owned()]).0, []);
    let new = "--- /dev/null\n+++ b/own/new.py\n@@ -0,0 +1 @@\n+a = 3\n";
    assert_eq!(told(new, &[]).0, []);
}

#[test]
fn tests_are_known_by_more_than_one_name_and_by_what_they_say() {
    let case = "import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(), 2)\n";
    let script =
        "import { it, expect } from 'vitest';\nit('a', () => {\n  expect(f()).toBe(2);\n});\n";
    let product = "def check(x):\n    assert f() == 2\n    return x\n";
    for (path, text, expected) in [
        ("polls/tests.py", case, Some(Code::P703)),
        ("Tests/cart.py", case, Some(Code::P703)),
        ("polls/checks.py", case, Some(Code::P703)),
        ("e2e/cart.ts", script, Some(Code::P703)),
        ("ui/cart.cy.ts", script, Some(Code::P703)),
        ("src/checks.ts", script, Some(Code::P703)),
        ("kit/testing/world.py", product, None),
        ("click/testing.py", product, None),
        ("src/commands/test.py", product, None),
        ("polls/contests.py", product, None),
    ] {
        let tree = [(path, text)];
        let (old, new) = [
            ("f(), 2", "f(), 1"),
            ("toBe(2)", "toBe(1)"),
            ("f() == 2", "f() == 1"),
        ]
        .into_iter()
        .find(|(old, _)| text.contains(old))
        .unwrap();
        let judged = judged(&tree, "python3 -m unittest discover", &[(path, old, new)]);
        assert_eq!(codes(&judged).first().copied(), expected, "{path}");
    }
}
