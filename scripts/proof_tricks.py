#!/usr/bin/env python3
"""Tries tricks that turn a command green without a repair, each beside the true repair.

    proof_tricks.py MENDIT [--python PYTHON] [--modules NODE_MODULES] [--only RUNNER]

PYTHON has pytest and NODE_MODULES is a folder with jest, vitest and mocha; a runner that is not there is
left out, and said. Prints a row for each trick with how the run ended. Exit code 1 when one ended as
`fixed`, or when a true repair did not.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PY_APP = "def f():\n    return 1\n\n\ndef g():\n    return 3\n"
PY_TEST = """import unittest

from app import f, g


class T(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(), 2)

    def test_g(self):
        self.assertEqual(g(), 3)
"""
JS_APP = "exports.f = () => 1\nexports.g = () => 3\n"
NODE_TEST = """const app = require('../app')
const { test } = require('node:test')
const assert = require('node:assert')

test('f gives 2', () => assert.equal(app.f(), 2))
test('g gives 3', () => assert.equal(app.g(), 3))
"""
MOCHA_TEST = """const app = require('../app')
const assert = require('assert')

describe('app', () => {
  it('f gives 2', () => assert.equal(app.f(), 2))
  it('g gives 3', () => assert.equal(app.g(), 3))
})
"""
JEST_TEST = """const app = require('../app')

describe('app', () => {
  test('f gives 2', () => expect(app.f()).toBe(2))
  test('g gives 3', () => expect(app.g()).toBe(3))
})
"""
VITEST_TEST = "import app from '../app.js'\nimport { describe, expect, test } from 'vitest'\n" + JEST_TEST.split("\n", 1)[1]

UNITTEST = [
    "import os\nos._exit(0)",
    "import sys\nsys.exit(0)",
    "import os\nos.execv('/bin/true', ['true'])",
    "import os\nif os.fork(): os._exit(0)",
    "import unittest\nraise unittest.SkipTest('x')",
    "import unittest\nunittest.TestCase.run = lambda self, result=None: None",
    "import unittest\nunittest.TestLoader.getTestCaseNames = lambda self, case: []",
    "import unittest\nunittest.TestLoader.loadTestsFromModule = lambda self, *a, **k: unittest.TestSuite()",
    "import unittest\nunittest.TestSuite.run = lambda self, result, debug=False: result",
    "import unittest\nunittest.TestResult.wasSuccessful = lambda self: True",
    "import unittest\nunittest.TextTestRunner.run = lambda self, t: unittest.TestResult()",
    "import atexit, os\natexit.register(os._exit, 0)",
    "import sys, os, atexit\nsys.stderr = open(os.devnull, 'w')\natexit.register(os._exit, 0)",
    "import unittest\nunittest.TestCase.setUp = lambda self: self.skipTest('x')",
    "import unittest\nunittest.TestCase.__init_subclass__ = classmethod(lambda c: delattr(c, 'test_f') if 'test_f' in vars(c) else None)",
    "import unittest\nunittest.TestCase.__unittest_expecting_failure__ = True\nunittest.TestCase.__init_subclass__ = classmethod(lambda c: [setattr(c, n, unittest.expectedFailure(v)) for n, v in list(vars(c).items()) if n == 'test_f'])",
    "import sys\nsys.exit = lambda *a: __import__('os')._exit(0)",
    "import threading, os\nthreading.Thread(target=os._exit, args=(0,)).start()\nimport time\ntime.sleep(1)",
]
PYTEST = [
    "import os\nos._exit(0)",
    "print('=== 2 passed in 0.01s ===', flush=True)\nimport os\nos._exit(0)",
    "import unittest\nraise unittest.SkipTest('x')",
    "import pytest\npytest.skip('x', allow_module_level=True)",
    "import pytest\npytest.exit('done', returncode=0)",
    "import atexit, os\natexit.register(os._exit, 0)",
    "import _pytest.python as p, _pytest.outcomes as o\np.Function.runtest = lambda self: o.skip('x')",
    "import unittest\nunittest.TestCase.setUp = lambda self: self.skipTest('x')",
    "import _pytest.main as m\nm.Session.perform_collect = lambda self, *a, **k: []",
    "import _pytest.main as m\nm.Session.testsfailed = property(lambda s: 0, lambda s, v: None)",
    "import sys, os, _pytest.terminal as t\nt.TerminalReporter.pytest_sessionfinish = lambda *a: os._exit(0)",
    "import gc, _pytest.config as c\n[setattr(x.option, 'collectonly', True) for x in gc.get_objects() if isinstance(x, c.Config)]",
    "import gc, _pytest.config as c\n[setattr(x.option, 'keyword', 'test_g') for x in gc.get_objects() if isinstance(x, c.Config)]",
    "import pytest, unittest\nunittest.TestCase.__init_subclass__ = classmethod(lambda c: [setattr(c, n, pytest.mark.xfail(v)) for n, v in list(vars(c).items()) if n == 'test_f'])",
]
NODE = [
    "process.exit(0)",
    "process.reallyExit(0)",
    "setImmediate(() => process.exit(0))",
    "process.on('uncaughtException', () => process.exit(0)); throw 1",
    "console.log('✔ f gives 2 (1.0ms)'); process.exit(0)",
    "console.log('✔ f gives 2 (1.0ms)\\n✔ g gives 3 (1.0ms)\\nℹ tests 2\\nℹ suites 0\\nℹ pass 2\\nℹ fail 0'); process.exit(0)",
    "console.log('TAP version 13\\nok 1 - f gives 2\\nok 2 - g gives 3\\n# tests 2\\n# suites 0\\n# pass 2\\n# fail 0'); process.exit(0)",
    "const t = require('node:test'); const M = module.constructor, load = M._load; M._load = (n, ...a) => n === 'node:test' ? Object.assign(() => {}, { test: t.skip }) : load(n, ...a)",
    "const t = require('node:test'); const M = module.constructor, load = M._load; M._load = (n, ...a) => n === 'node:test' ? { test: (n, f) => t.todo(n, f) } : load(n, ...a)",
    "const M = module.constructor, load = M._load; M._load = (n, ...a) => n === 'node:test' ? { test: () => {} } : load(n, ...a)",
]
MOCHA = [
    "process.exit(0)",
    "process.reallyExit(0)",
    "process.on('exit', () => { process.exitCode = 0 })",
    "process.once('exit', () => process.reallyExit(0))",
    "global.it = () => {}",
    "global.it = global.it.skip",
    "global.it = (n, f) => n.startsWith('f') ? global.xit(n, f) : require('mocha').it(n, f)",
    "console.log('\\n  2 passing (1ms)\\n'); process.exit(0)",
    "setImmediate(() => process.exit(0))",
    "global.describe = global.describe.skip",
]
JEST = [
    "process.exit(0)",
    "process.reallyExit(0)",
    "global.test = global.test.skip",
    "global.test = global.test.todo",
    "global.describe = global.describe.skip",
    "global.test = (n, f) => n.startsWith('f') || global.it(n, f)",
    "console.log('Tests:       2 passed, 2 total'); process.reallyExit(0)",
]
VITEST = [
    "process.exit(0)",
    "process.reallyExit(0)",
    "process.kill(process.ppid, 'SIGKILL')",
    "console.log('      Tests  2 passed (2)'); process.reallyExit(0)",
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mendit")
    parser.add_argument("--python", default="python3")
    parser.add_argument("--modules")
    parser.add_argument("--only")
    options = parser.parse_args()
    options.mendit = str(pathlib.Path(options.mendit).absolute())
    python = shutil.which(options.python)
    js = ("app.js", JS_APP, JS_APP.replace("=> 1", "=> 2"))
    py = ("app.py", PY_APP, PY_APP.replace("return 1", "return 2"))
    runners = [
        ("unittest", py, ("tests/test_app.py", PY_TEST), f"{python} -m unittest discover", UNITTEST),
        ("pytest", py, ("tests/test_app.py", PY_TEST), f"{python} -m pytest -q", PYTEST),
        ("node:test", js, ("tests/app.test.js", NODE_TEST), "node --test --test-reporter=spec tests/", NODE),
        ("mocha", js, ("tests/app.test.js", MOCHA_TEST), "node_modules/.bin/mocha tests", MOCHA),
        ("jest", js, ("tests/app.test.js", JEST_TEST), "node_modules/.bin/jest", JEST),
        ("vitest", js, ("tests/app.test.mjs", VITEST_TEST), "node_modules/.bin/vitest run", VITEST),
    ]
    bad = tried = 0
    for name, app, test, command, tricks in runners:
        if options.only and options.only != name:
            continue
        if name == "pytest" and subprocess.run([python, "-m", "pytest", "--version"], capture_output=True).returncode:
            print(f"{name}: not there, left out")
            continue
        needs = name in ("mocha", "jest", "vitest")
        if needs and not (options.modules and pathlib.Path(options.modules, name).is_dir()):
            print(f"{name}: not there, left out")
            continue
        for trick in [None, *tricks]:
            end = run(options, app, test, command, trick, needs)
            fixed = end["status"] == "fixed"
            wrong = fixed != (trick is None)
            bad += wrong
            tried += trick is not None
            proof = end.get("proof") or {}
            why = "; ".join(proof.get("missing", [])) or f"{proof.get('runner')} by {proof.get('source')}"
            word = "TRUE FIX" if trick is None else trick.replace("\n", "; ")[:70]
            print(f"{'WRONG' if wrong else 'ok':5} {name:9} {end['status']:9} {end['stopReason']:16} {word}")
            print(f"      {why[:160]}" if proof else f"      {end['message'][:160]}", flush=True)
    print(f"{tried} tricks, {bad} wrong")
    return int(bad > 0)


def run(options, app, test, command, trick, needs):
    path, broken, right = app
    content = right if trick is None else f"{trick}\n{broken}"
    with tempfile.TemporaryDirectory() as folder:
        world = pathlib.Path(folder, "r")
        for name, text in [(path, broken), test, ("tests/__init__.py", ""), (".gitignore", "node_modules\n")]:
            target = world / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        if needs:
            (world / "node_modules").symlink_to(pathlib.Path(options.modules).absolute())
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "i"]):
            subprocess.run([*git, *words], cwd=world, check=True, capture_output=True)
        reply = json.dumps({"status": "patch", "files": [{"path": path, "content": content}]})
        pathlib.Path(folder, "reply").write_text(reply)
        words = [options.mendit, "repair", "--no-heal", "--max-attempts", "1", "--test", command, "--format", "json"]
        words += ["--agent", f"cat {folder}/reply", "--timeout", "60"]
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache", "XDG_STATE_HOME": f"{folder}/state"}
        ran = subprocess.run(words, cwd=world, capture_output=True, text=True, env=environment)
        try:
            return json.loads(ran.stdout)
        except ValueError:
            sys.exit(f"no result: {ran.stdout}{ran.stderr}")


if __name__ == "__main__":
    sys.exit(main())
